"""One example of a built dataset, decoded for people to look at."""

from collections.abc import Collection, Iterator
import dataclasses
import itertools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.errors import ConfigError, RecordError
from voc_seg_tfrecord.features import IMAGE, LABEL, MASK
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.interop import shards
from voc_seg_tfrecord.wording.near_names import did_you_mean


@dataclasses.dataclass(frozen=True)
class Example:
    """One example, decoded.

    Attributes:
      id: the image id.
      image: uint8 `[H, W, 3]`.
      mask: uint8 `[H, W]`, class indices and 255 for void; None if the dataset has no masks.
      label: class of the whole image, if the dataset has one in place of a mask.
    """

    id: str
    image: np.ndarray
    mask: np.ndarray | None = None
    label: int | None = None


def decoded(record: Record) -> Example:
    """Returns the example of a record.

    Raises:
      RecordError: if its image or its mask cannot be decoded.
    """
    file = File(record.bytes(IMAGE), f"{record.id}, {IMAGE}")
    label = next(iter(record.ints(LABEL)), None)
    return Example(record.id, pillow.decode(file, RecordError).rgb(), mask_of(record), label)


def mask_of(record: Record) -> np.ndarray | None:
    """Returns the mask of a record, uint8 `[H, W]`; None if it has none.

    Raises:
      RecordError: if it cannot be decoded.
    """
    data = record.bytes(MASK)
    return records.pixels(File(data, f"{record.id}, {MASK}")) if data else None


def read_at(
    builder: tfds.core.DatasetBuilder, split: str, places: Collection[int]
) -> Iterator[tuple[int, Record]]:
    """Yields the records at these places of a split, counted from 0, in the split's order.

    Raises:
      RecordError: if they cannot be read.
    """
    wanted = set(places)
    serialized = itertools.islice(shards.read(builder, split), max(wanted, default=-1) + 1)
    for place, one in enumerate(serialized):
        if place in wanted:
            yield place, records.parse(one)


def count(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split or a slice of one has.

    Raises:
      ConfigError: if the dataset has no such split.
    """
    try:
        return builder.info.splits[split].num_examples
    except (ValueError, KeyError):
        raise ConfigError(
            f"split {split!r}",
            found=f"no such split{did_you_mean(split, builder.info.splits)}",
            expected=f"one of {', '.join(builder.info.splits)}, or a slice such as train[20:26]",
        ) from None
