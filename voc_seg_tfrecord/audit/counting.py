"""Counts pixels, images and objects of each class."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools

import numpy as np
import numpy.typing as npt
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit.statistics import Stats
from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.names import INSTANCES, MASK, VOID
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.formats.png_pixels import count_pairs, count_values
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import (
    BuiltDataset,
    as_builder,
    bands_of,
    check_features,
    class_names,
)
from voc_seg_tfrecord.reading.records import Record


def compute(
    dataset: BuiltDataset,
    splits: Iterable[str] | None = None,
    *,
    progress: bool = False,
    data_dir: PathLike | None = None,
) -> dict[str, Stats]:
    """Reads each record of the splits once and counts.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      splits: names of splits (all).
      progress: whether to show one progress bar per split on standard error.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      One `Stats` per split. Add two for the statistics of both splits together.

    Raises:
      ConfigError: if voc_seg_tfrecord did not build the dataset.
      RecordError: if a record cannot be read.
    """
    builder = as_builder(dataset, data_dir)
    check_features(builder)
    names = class_names(builder)
    count = functools.partial(_count_record, bool(bands_of(builder)))
    return {
        split: Tally(records.scan(builder, split, count, progress=progress)).stats(names)
        for split in splits or builder.info.splits
    }


@dataclasses.dataclass(frozen=True)
class Counts:
    """What one record adds to the statistics.

    Attributes:
      size: height and width.
      pixels: pixels of each mask value, int64 `[256]`.
      objects: objects of each class, int64 `[256]`; None without an instance mask.
      bands: of each band the number of values, their sum, and that of their squares, float64
        `[3, N]`; None of RGB of 8 bits.
    """

    id: str
    size: tuple[int, ...]
    pixels: np.ndarray
    objects: np.ndarray | None
    bands: np.ndarray | None = None


def _count_record(with_bands: bool, record: Record) -> Counts:
    mask = record.pixels(MASK)
    objects = None
    if INSTANCES in record.features:
        objects = count_objects(mask, record.pixels(INSTANCES))
    sums = _sums(record.bands()) if with_bands else None
    return Counts(record.id, mask.shape, count_values(mask), objects, sums)


def _sums(pixels: np.ndarray) -> npt.NDArray[np.float64]:
    """Returns what `Counts.bands` holds of an image, `[H, W, N]`."""
    bands = []
    for band in np.moveaxis(pixels, 2, 0):
        values = band[np.isfinite(band)].astype(np.float64)
        bands.append((values.size, values.sum(), np.dot(values, values)))
    return np.array(bands).T


def count_objects(mask: np.ndarray, instances: np.ndarray) -> npt.NDArray[np.int64]:
    """Counts the objects of each class.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`; 0 and 255 are not objects.

    Returns:
      Objects per mask value, int64 `[256]`. An object has the class that most of its pixels
      have, void left out; an object whose pixels are all void is not counted.
    """
    return np.bincount(find_objects(mask, instances)[:, 1], minlength=256)


def find_objects(mask: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Returns number, class and pixels without void of each object that `count_objects` counts.

    Both arrays are uint8 `[H, W]`; the result is int64 `[N, 3]`, ascending by number.
    """
    table = count_pairs(instances, mask).reshape(256, 256)[:VOID, :VOID]
    table[0] = 0  # no object
    numbers = np.flatnonzero(table.any(1))
    return np.stack([numbers, table[numbers].argmax(1), table[numbers].sum(1)], axis=1)


class Tally:
    """Adds up what records hold."""

    def __init__(self, counted: Iterable[Counts] = ()) -> None:
        self._ids: list[str] = []
        self._sizes: list[tuple[int, ...]] = []
        self._pixels, self._images, self._image_pixels, self._objects = np.zeros((4, 256), np.int64)
        self._all_have_objects = True
        self._bands: np.ndarray | None = None
        for counts in counted:
            self.add(counts)

    def add(self, counts: Counts) -> None:
        """Adds one record."""
        self._ids.append(counts.id)
        self._sizes.append(counts.size)
        present = counts.pixels > 0
        self._pixels += counts.pixels
        self._images += present
        self._image_pixels += present * counts.pixels[:VOID].sum()
        if counts.bands is not None:
            self._bands = counts.bands if self._bands is None else self._bands + counts.bands
        if counts.objects is None:
            self._all_have_objects = False
        else:
            self._objects += counts.objects

    def stats(self, class_names: tuple[str, ...]) -> Stats:
        """Returns the statistics of all records so far; the classes are in mask order."""
        classes = len(class_names)
        return Stats(
            class_names,
            tuple(self._ids),
            self._pixels[:classes],
            self._images[:classes],
            self._image_pixels[:classes],
            self._objects[:classes] if self._all_have_objects and self._ids else None,
            int(self._pixels[VOID]),
            np.array(self._sizes, np.int64).reshape(-1, 2),
            self._bands,
        )


@dataclasses.dataclass
class ClassCounts:
    """How many masks of a split have each value, and how many pixels, int64 `[256]`."""

    images: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))
    pixels: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))

    def __add__(self, other: "ClassCounts") -> "ClassCounts":
        return ClassCounts(self.images + other.images, self.pixels + other.pixels)

    def add(self, histogram: np.ndarray) -> None:
        """Adds one mask, by how many pixels each of the 256 values has in it."""
        self.images += histogram > 0
        self.pixels += histogram


def missing_classes(
    class_names: Sequence[str], by_split: Mapping[str, ClassCounts]
) -> Iterator[str]:
    """Yields a sentence about the classes that no image has, and one for each split's."""
    indices = range(len(class_names))
    absent = {i for i in indices if not any(c.images[i] for c in by_split.values())}
    if absent:
        sentence = f"no image has {_named(class_names, sorted(absent))}"
        if len(absent) >= len(class_names) - 1 and any(c.images[VOID] for c in by_split.values()):
            sentence += f". {VOID} is void here; if it is a class, say --classes {VOID}=NAME"
        yield sentence
    for split, counts in by_split.items():
        lacking = [i for i in indices if not counts.images[i] and i not in absent]
        if lacking:
            yield f"{split} has no image of {_named(class_names, lacking)}"


def _named(class_names: Sequence[str], indices: Sequence[int]) -> str:
    names = several((class_names[i] for i in indices), 12)
    return f"{len(indices)} of {len(class_names)} classes: {names}"


def count_classes(builder: tfds.core.DatasetBuilder) -> dict[str, ClassCounts]:
    """Returns how many images and pixels each class has in each split of a built dataset."""
    counts = {}
    for split in builder.info.splits:
        counts[split] = ClassCounts()
        for histogram in records.scan(builder, split, lambda r: count_values(r.pixels(MASK))):
            counts[split].add(histogram)
    return counts
