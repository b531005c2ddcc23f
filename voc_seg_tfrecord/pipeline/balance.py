"""Reads by TensorFlow how often each record has to be drawn; see `reading.balance`."""

from collections.abc import Sequence

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILENAME, LABELS, MASK
from voc_seg_tfrecord.pipeline import records
from voc_seg_tfrecord.pipeline.records import in_order
from voc_seg_tfrecord.pipeline.selection import Selection
from voc_seg_tfrecord.reading.balance import Balance, BalanceBy, balance_classes, check_balance


def balanced(
    builder: tfds.core.DatasetBuilder,
    selection: Selection,
    by: BalanceBy | None,
    threshold: float | None,
) -> Balance | None:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: None, which returns None; or `classes`, those of the feature `labels`, without background
        and void.
      threshold: above 0, up to 1; None is 1. See `balance_classes`.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.
    """
    check_balance(by, threshold)
    if by is None:
        return None
    filenames, has_class = _read_labels(builder, selection)
    return balance_classes(filenames, has_class, threshold)


def _read_labels(
    builder: tfds.core.DatasetBuilder, selection: Selection
) -> tuple[Sequence[bytes], np.ndarray]:
    """Returns each record's file name, and which classes it has, bool `[N, classes]`."""
    if LABELS not in builder.info.features or MASK not in builder.info.features:
        raise ConfigError(
            builder.info.full_name,
            found=f"features {', '.join(sorted(builder.info.features))}",
            expected=f"{LABELS} among them, which balance needs",
            remedy="leave balance out, or build the dataset with masks",
        )
    class_count = len(builder.info.features[MASK].names)
    parse = records.parser(builder, [LABELS])

    def name_and_classes(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = parse(record)
        one_hot = tf.one_hot(example[LABELS], class_count, on_value=True, off_value=False)
        return example[FILENAME], tf.reduce_any(one_hot, axis=0)

    filenames: list[bytes] = []
    batches = []
    stream = in_order(selection.records, name_and_classes).batch(256)
    for names, has_class in stream.as_numpy_iterator():
        filenames += names.tolist()
        batches.append(has_class)
    return filenames, np.concatenate(batches)
