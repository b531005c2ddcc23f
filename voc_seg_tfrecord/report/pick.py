"""Reads the examples of a built dataset that people are to look at."""

import itertools
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.features import FILENAME, IMAGE, MASK
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.interop import shards


def read(builder: tfds.core.DatasetBuilder, split: str, num: int) -> list[dict[str, Any]]:
    """Reads and decodes the first examples of a split, for `sheet`.

    Args:
      builder: of a built dataset.
      split: a split's name, or a slice such as `train[20:26]`.
      num: how many examples; fewer, if the split has no more.

    Raises:
      RecordError: if they cannot be read.
    """
    serialized = itertools.islice(shards.read(builder, split), num)
    return [_decoded(records.parse(one)) for one in serialized]


def _decoded(record: Record) -> dict[str, Any]:
    files = {n: File(record.bytes(n), f"{record.id}, {n}") for n in (IMAGE, MASK)}
    image = pillow.decode(files[IMAGE], RecordError).values()
    return {
        FILENAME: record.bytes(FILENAME),
        IMAGE: _rgb(image),
        MASK: records.pixels(files[MASK])[..., None],
    }


def _rgb(image: np.ndarray) -> np.ndarray:
    """Returns an image's first three channels, or its only one three times, `[H, W, 3]`."""
    if image.ndim == 2:
        image = image[..., None]
    return np.repeat(image[..., :1], 3, axis=-1) if image.shape[-1] < 3 else image[..., :3]
