"""Counts pixels, images and objects of each class in the records of a dataset.

Enter at `compute` for the statistics of splits. `Tally` adds up records one by one.
"""

from collections.abc import Iterable
import dataclasses
import functools

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.audit.statistics import Stats
from voc_seg_tfrecord.core.names import INSTANCES, MASK, VOID
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.formats.value_counts import count_pairs, count_values
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.metadata import bands_of, check_features, class_names
from voc_seg_tfrecord.reading.records import Record


def compute(
    dataset: BuiltDataset,
    splits: Iterable[str] | None = None,
    *,
    progress: bool = False,
    data_dir: PathLike | None = None,
) -> dict[str, Stats]:
    """Reads each record of the splits once, and counts pixels, images and objects.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      splits: names of splits (all).
      progress: whether to show a progress bar on standard error (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      One `Stats` per split. The sum of two, `a + b`, has the statistics of both splits.

    Raises:
      ConfigError: if this package did not build the dataset.
      RecordError: if a record cannot be read.
    """
    builder = as_builder(dataset, data_dir)
    check_features(builder)
    names = class_names(builder)
    count = functools.partial(_count_record, counts_bands=bool(bands_of(builder)))
    statistics = {}
    for split in splits or builder.info.splits:
        tally = Tally()
        for counts in records.scan(builder, split, count, progress=progress):
            tally.add(counts)
        statistics[split] = tally.stats(names)
    return statistics


@dataclasses.dataclass(frozen=True)
class RecordCounts:
    """The counts of one record, which are added up to statistics.

    Attributes:
      id: the record's id.
      size: height and width.
      pixels: pixels of each mask value, int64 `[256]`.
      objects: objects of each class, int64 `[256]`; None without an instance mask.
      bands: of each band the number of values without void, their sum, and that of their squares,
        float64 `[3, N]`; None of RGB of 8 bits.
    """

    id: str
    size: tuple[int, ...]
    pixels: np.ndarray
    objects: np.ndarray | None
    bands: np.ndarray | None = None


def _count_record(record: Record, *, counts_bands: bool) -> RecordCounts:
    mask = record.pixels(MASK)
    objects = None
    if INSTANCES in record.features:
        objects = count_objects(mask, record.pixels(INSTANCES))
    bands = _sum_bands(record.bands(), mask != VOID) if counts_bands else None
    return RecordCounts(record.id, mask.shape, count_values(mask), objects, bands)


def _sum_bands(pixels: np.ndarray, is_labeled: np.ndarray) -> npt.NDArray[np.float64]:
    """Returns `RecordCounts.bands` of an image.

    Args:
      pixels: all bands, `[H, W, N]`; only finite values count.
      is_labeled: which pixels count, bool `[H, W]`: those that are not void.
    """
    sums = []
    for band in np.moveaxis(pixels, 2, 0):
        values = band[np.isfinite(band) & is_labeled].astype(np.float64)
        sums.append((values.size, values.sum(), np.dot(values, values)))
    return np.array(sums).T


def count_objects(mask: np.ndarray, instances: np.ndarray) -> npt.NDArray[np.int64]:
    """Counts the objects of each class.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`; 0 and 255 are not objects.

    Returns:
      Objects per mask value, int64 `[256]`. An object has the class of most of its pixels, void not
      counted. An object of void alone is not counted.
    """
    return np.bincount(find_objects(mask, instances)[:, 1], minlength=256)


def find_objects(mask: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Returns number, class and pixels without void of each object that `count_objects` counts.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`; 0 and 255 are not objects.

    Returns:
      int64 `[N, 3]`, ascending by number.
    """
    pairs = count_pairs(instances, mask).reshape(256, 256)
    pixels = pairs[:VOID, :VOID]  # of each object and class
    pixels[0] = 0  # no object
    numbers = np.flatnonzero(pixels.any(1))
    of_objects = pixels[numbers]
    return np.stack([numbers, of_objects.argmax(1), of_objects.sum(1)], axis=1)


class Tally:
    """Adds up what records hold."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._sizes: list[tuple[int, ...]] = []
        self._pixels = np.zeros(256, np.int64)
        self._images = np.zeros(256, np.int64)
        self._image_pixels = np.zeros(256, np.int64)
        self._objects = np.zeros(256, np.int64)
        self._all_have_objects = True
        self._bands: np.ndarray | None = None

    def add(self, counts: RecordCounts) -> None:
        """Adds one record."""
        self._ids.append(counts.id)
        self._sizes.append(counts.size)
        present = counts.pixels > 0
        self._pixels += counts.pixels
        self._images += present
        self._image_pixels += present * counts.pixels[:VOID].sum()
        if counts.objects is None:
            self._all_have_objects = False
        else:
            self._objects += counts.objects
        if counts.bands is not None:
            self._bands = counts.bands if self._bands is None else self._bands + counts.bands

    def stats(self, class_names: tuple[str, ...]) -> Stats:
        """Returns the statistics of all records so far; the classes are in mask order."""
        classes = len(class_names)
        has_objects = self._all_have_objects and bool(self._ids)
        return Stats(
            class_names=class_names,
            ids=tuple(self._ids),
            pixels=self._pixels[:classes],
            images=self._images[:classes],
            image_pixels=self._image_pixels[:classes],
            objects=self._objects[:classes] if has_objects else None,
            void=int(self._pixels[VOID]),
            sizes=np.array(self._sizes, np.int64).reshape(-1, 2),
            bands=self._bands,
        )
