"""The table of classes by split that `build` and `check` print."""

from collections.abc import Iterator, Mapping, Sequence

from voc_seg_tfrecord.commands import table
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.class_counts import ClassCounts

_NAMES = 24  # how wide the column of names is at least


def show(
    class_names: Sequence[str], total: ClassCounts, by_split: Mapping[str, ClassCounts]
) -> None:
    """Prints one row per class, and one for void.

    Args:
      class_names: the classes, in mask order.
      total: the counts of all images.
      by_split: the counts of each split; they are shown if there are several splits.
    """
    shown = by_split if len(by_split) > 1 else {}
    columns = ["class", "name", "images", "pixels", "share"]
    columns += [title for split in shown for title in (split, "pixels")]
    pixels = int(total.pixels.sum()) or 1
    rows = []
    for index, name in [*enumerate(class_names), (VOID, "void")]:
        if name == f"class {index}" and not total.pixels[index]:
            continue  # `check` calls classes so where there are no names
        share = f"{100 * int(total.pixels[index]) / pixels:.3f}%"
        row = [index, name, total.images[index], total.pixels[index], share]
        row += [count for c in shown.values() for count in (c.images[index], c.pixels[index])]
        rows.append(row)
    table.show(columns, rows, plain=_plain(columns, rows))


def _plain(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """Yields the lines for a pipe, whose columns are wide enough for any number."""
    names = max(_NAMES, *(len(str(row[1])) + 1 for row in rows))
    widths = [8, 14, 9, *(max(14, len(title) + 1) for title in columns[5:])]
    for index, name, *cells in (columns, *rows):
        shown = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield f"{index:>5}  {name:{names}}{''.join(shown)}"


def total_of(by_split: Mapping[str, ClassCounts]) -> ClassCounts:
    """Returns the sum of the splits."""
    total = ClassCounts()
    for counts in by_split.values():
        total.images += counts.images
        total.pixels += counts.pixels
    return total
