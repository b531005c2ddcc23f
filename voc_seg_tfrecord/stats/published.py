"""Compares a dataset's statistics with published tables of pixels, images and objects."""

from collections.abc import Iterable, Iterator
import dataclasses
import functools

from voc_seg_tfrecord.facts import named_lists, tables
from voc_seg_tfrecord.labels import VOC_CLASSES
from voc_seg_tfrecord.stats.figures import Stats

# What is counted, the figure that was found, and the published figure.
Figure = tuple[str, int, int]

# For each id list: the table's year and the split's name in the table.
_TABLES = {
    "voc2012_train": ("2012", "train"),
    "voc2012_val": ("2012", "val"),
    "voc2012_trainval": ("2012", "trainval"),
    "trainaug": ("2012", "trainaug"),
    "voc2007_train": ("2007", "train"),
    "voc2007_val": ("2007", "val"),
    "voc2007_trainval": ("2007", "trainval"),
    "voc2007_test": ("2007", "test"),
    "voc2007_train_in_2012": ("2007", "train"),
    "voc2007_val_in_2012": ("2007", "val"),
    "voc2007_trainval_in_2012": ("2007", "trainval"),
    "voc2007_test_in_2012": ("2007", "test"),
}
# VOC2012's own page counts boxes; statistics of masks must equal the counts of the masks.
_COUNTED_IN_MASKS = {"2012": "masks_", "2007": ""}


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A split compared with the published tables.

    Attributes:
      name: the named list that has the split's ids.
      compared: how many figures were compared.
      differences: one sentence per figure that differs.
      doubtful: the same for tables that do not say whether they count masks or boxes.
    """

    name: str
    compared: int
    differences: tuple[str, ...]
    doubtful: tuple[str, ...]


def compare(stats: Stats) -> Comparison | None:
    """Compares statistics with the published statistics of the same ids.

    Args:
      stats: statistics of a split, or of a sum of splits.

    Returns:
      The comparison; None if no table has these ids, or the classes are not VOC's.
    """
    name = named_lists.identify(stats.ids_sha256)
    if name not in _TABLES or len(set(stats.ids)) != len(stats.ids):
        return None
    if stats.class_names != VOC_CLASSES:  # the tables count VOC's classes, by their index
        return None
    year, split = _TABLES[name]
    pixels = [*_pixel_figures(stats, year, split)]
    others = [*_image_and_object_figures(stats, year, split)]
    certain, doubtful = (pixels + others, []) if year == "2012" else (pixels, others)
    compared = len(pixels) + len(others)
    return Comparison(name, compared, _differences(certain), _differences(doubtful))


def _differences(figures: Iterable[Figure]) -> tuple[str, ...]:
    return tuple(f"{what}: {found}, published {p}" for what, found, p in figures if found != p)


def _pixel_figures(stats: Stats, year: str, split: str) -> Iterator[Figure]:
    for row in _table(f"voc{year}_pixels"):
        index = int(row["index"])
        if index < len(stats.pixels) or index == 255:
            found = stats.void if index == 255 else int(stats.pixels[index])
            yield f"pixels of {row['class']}", found, int(row[split])


def _image_and_object_figures(stats: Stats, year: str, split: str) -> Iterator[Figure]:
    prefix = _COUNTED_IN_MASKS[year]
    for row in _table(f"voc{year}_images_objects"):
        for kind in ("images", "objects"):
            counts, column = getattr(stats, kind), f"{prefix}{split}_{kind}"
            if counts is not None and row["class"] in stats.class_names and column in row:
                index = stats.class_names.index(row["class"])
                yield f"{kind} of {row['class']}", int(counts[index]), int(row[column])


@functools.cache
def _table(name: str) -> list[dict[str, str]]:
    return tables.read(tables.folder("facts") / "published" / f"{name}.tsv")
