"""The table of classes by split that `build` and `check` print."""

from collections.abc import Iterator, Mapping, Sequence

from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.class_counts import ClassCounts


def lines(
    class_names: Sequence[str], total: ClassCounts, by_split: Mapping[str, ClassCounts]
) -> Iterator[str]:
    """Yields a header and one line per class, and one for void.

    Args:
      class_names: the classes, in mask order.
      total: the counts of all images.
      by_split: the counts of each split; they are shown if there are several splits.
    """
    shown = by_split if len(by_split) > 1 else {}
    header = f"{'class':>5}  {'name':24}{'images':>8}{'pixels':>14}{'share':>9}"
    yield header + "".join(f"{split[:13]:>14}{'pixels':>14}" for split in shown)
    pixels = int(total.pixels.sum()) or 1
    for index, name in [*enumerate(class_names), (VOID, "void")]:
        if name == f"class {index}" and not total.pixels[index]:
            continue  # `check` calls classes so where there are no names
        share = f"{100 * int(total.pixels[index]) / pixels:.3f}%"
        yield (
            f"{index:5}  {name[:23]:24}{total.images[index]:8}{total.pixels[index]:14}{share:>9}"
        ) + "".join(f"{c.images[index]:14}{c.pixels[index]:14}" for c in shown.values())


def total_of(by_split: Mapping[str, ClassCounts]) -> ClassCounts:
    """Returns the sum of the splits."""
    total = ClassCounts()
    for counts in by_split.values():
        total.images += counts.images
        total.pixels += counts.pixels
    return total
