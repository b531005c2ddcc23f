"""Counts the classes of a built dataset by split, from its masks alone."""

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.features import MASK
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.histogram import count_values
from voc_seg_tfrecord.masks.class_counts import ClassCounts


def count(builder: tfds.core.DatasetBuilder) -> dict[str, ClassCounts]:
    """Returns how many images and pixels each class has in each split of a built dataset.

    Raises:
      RecordError: if a record cannot be read.
    """
    found = {}
    for split in builder.info.splits:
        found[split] = ClassCounts()
        for histogram in records.scan(builder, split, _histogram):
            found[split].add(histogram)
    return found


def _histogram(record: Record) -> np.ndarray:
    return count_values(records.pixels(File(record.bytes(MASK), f"{record.id}, {MASK}")))
