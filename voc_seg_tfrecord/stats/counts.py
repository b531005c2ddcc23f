"""Counts pixels, images and objects of each class in the records of a built dataset."""

from collections.abc import Iterable
import dataclasses

import numpy as np
import numpy.typing as npt
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.dataset import check_features, class_names
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.features import INSTANCES, MASK
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.histogram import count_values
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.stats.figures import Stats


def compute(
    builder: tfds.core.DatasetBuilder,
    splits: Iterable[str] | None = None,
    *,
    progress: bool = False,
) -> dict[str, Stats]:
    """Reads each record of the splits once and counts.

    Args:
      builder: of a built dataset, as `tfds.builder` returns it.
      splits: names of splits (all).
      progress: whether to show one progress bar per split on standard error.

    Returns:
      One `Stats` per split. Add two for the statistics of both splits together.

    Raises:
      ConfigError: if voc_seg_tfrecord did not build the dataset.
      RecordError: if a record cannot be read.
    """
    check_features(builder)
    names = class_names(builder)
    return {
        split: _gather(names, records.scan(builder, split, _count, progress=progress))
        for split in splits or builder.info.splits
    }


@dataclasses.dataclass(frozen=True)
class _Counts:
    id: str
    size: tuple[int, ...]
    pixels: np.ndarray
    objects: np.ndarray | None


def _count(record: Record) -> _Counts:
    """Counts one record's pixels and objects per mask value, int64 `[256]` each."""
    mask = _pixels(record, MASK)
    objects = None
    if INSTANCES in record.features:
        objects = count_objects(mask, _pixels(record, INSTANCES))
    return _Counts(record.id, mask.shape, count_values(mask), objects)


def _pixels(record: Record, name: str) -> np.ndarray:
    return records.pixels(File(record.bytes(name), f"{record.id}, {name}"))


def count_objects(mask: np.ndarray, instances: np.ndarray) -> npt.NDArray[np.int64]:
    """Counts the objects of each class.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`; 0 and 255 are not objects.

    Returns:
      Objects per mask value, int64 `[256]`. An object has the class that most of its pixels
      have, void left out; an object whose pixels are all void is not counted.
    """
    # Runs of equal pairs are counted, not pixels: rows of a mask are mostly runs.
    pairs = (instances.astype(np.uint16) << 8 | mask).ravel()
    starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
    lengths = np.diff(np.append(starts, len(pairs)))
    table = np.bincount(pairs[starts], weights=lengths, minlength=1 << 16).reshape(256, 256)
    table = table[1:VOID, :VOID]
    return np.bincount(table[table.any(1)].argmax(1), minlength=256)


def _gather(class_names: tuple[str, ...], counted: Iterable[_Counts]) -> Stats:
    ids: list[str] = []
    sizes: list[tuple[int, ...]] = []
    pixels, images, image_pixels, objects = np.zeros((4, 256), np.int64)
    all_have_objects = True
    for counts in counted:
        ids.append(counts.id)
        sizes.append(counts.size)
        present = counts.pixels > 0
        pixels += counts.pixels
        images += present
        image_pixels += present * counts.pixels[:VOID].sum()
        if counts.objects is None:
            all_have_objects = False
        else:
            objects += counts.objects
    classes = len(class_names)
    return Stats(
        class_names,
        tuple(ids),
        pixels[:classes],
        images[:classes],
        image_pixels[:classes],
        objects[:classes] if all_have_objects and ids else None,
        int(pixels[VOID]),
        np.array(sizes, np.int64).reshape(-1, 2),
    )
