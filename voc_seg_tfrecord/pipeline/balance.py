"""Images drawn by class, so that rare classes are seen more often."""

from collections.abc import Sequence
import dataclasses
from typing import Literal

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILENAME, LABELS, MASK
from voc_seg_tfrecord.pipeline import records
from voc_seg_tfrecord.pipeline.randomness import shuffle_seed
from voc_seg_tfrecord.pipeline.selection import Selection

By = Literal["classes"]
"""What images may be drawn by."""


@dataclasses.dataclass(frozen=True, eq=False)
class Balance:
    """How often each example and each class is to be drawn.

    Attributes:
      ends: float64 `[N]`, where the share of each example of an epoch ends, in the order of
        ids. An example whose share reaches from 3.2 to 5.4 is drawn two or three times.
      rank: int64 `[N]`, the place of each record in that order.
      factors: float32 `[classes]`, the repeat factor of each class; 1 if it is in no image.
    """

    ends: np.ndarray
    rank: np.ndarray
    factors: np.ndarray

    def copies(self, seed: int, epoch: tf.Tensor) -> tf.Tensor:
        """Returns how often each record is in an epoch, int64 `[N]`; the sum is N."""
        salted = tf.stack([tf.constant(_SALT, tf.int64), shuffle_seed(seed, epoch)])
        offset = tf.random.stateless_uniform([], salted, dtype=tf.float64)
        ends = tf.cast(tf.floor(self.ends + offset), tf.int64)
        starts = tf.concat([tf.zeros([1], tf.int64), ends[:-1]], axis=0)
        return tf.gather(ends - starts, self.rank)


_SALT = int.from_bytes(b"balance", "little")


def balanced(
    builder: tfds.core.DatasetBuilder, selection: Selection, by: By, threshold: float
) -> Balance:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: `classes`, those of the feature `labels`. Background and void are no classes here.
      threshold: 0 to 1; only classes in a smaller share of the images are drawn more often.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
    if not 0 < threshold <= 1:
        raise ConfigError("balance_threshold", found=str(threshold), expected="above 0, up to 1")
    names, present = _scanned(builder, selection)
    factors = class_factors(present, threshold)
    images = np.where(present, factors, 1).max(axis=1, initial=1)
    order = np.argsort(names, kind="stable")
    ends = np.cumsum(images[order])
    ends *= len(images) / ends[-1]
    ends[-1] = len(images)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Balance(ends, rank, factors.astype(np.float32))


def class_factors(present: np.ndarray, threshold: float) -> np.ndarray:
    """Returns the repeat factor of each class, float64 `[classes]`, from bool `[N, classes]`."""
    share = np.maximum(present.mean(axis=0), 1 / len(present))  # a class in no image repeats none
    return np.where(present.any(axis=0), np.maximum(1, np.sqrt(threshold / share)), 1)


def _scanned(
    builder: tfds.core.DatasetBuilder, selection: Selection
) -> tuple[Sequence[bytes], np.ndarray]:
    """Returns each record's file name, and which classes it has, bool `[N, classes]`."""
    if LABELS not in builder.info.features or MASK not in builder.info.features:
        raise ConfigError(
            builder.info.full_name,
            found=f"features {', '.join(sorted(builder.info.features))}",
            expected=f"{LABELS} among them, by which images are drawn",
            remedy="leave balance out, or build the dataset with masks",
        )
    classes = len(builder.info.features[MASK].names)
    parse = records.parser(builder, [LABELS])

    def looked_at(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = parse(record)
        hot = tf.one_hot(example[LABELS], classes, on_value=True, off_value=False)
        return example[FILENAME], tf.reduce_any(hot, axis=0)

    found = selection.records.map(
        looked_at, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True
    )
    batches = list(found.batch(256).as_numpy_iterator())
    return (
        [name for names, _ in batches for name in names],
        np.concatenate([present for _, present in batches]),
    )
