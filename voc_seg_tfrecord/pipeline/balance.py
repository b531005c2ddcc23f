"""Finds how often each record has to be drawn so that rare classes are seen more often."""

from collections.abc import Sequence
import dataclasses
from typing import Literal

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILENAME, LABELS, MASK
from voc_seg_tfrecord.pipeline import records
from voc_seg_tfrecord.pipeline.records import in_order
from voc_seg_tfrecord.pipeline.selection import Selection

BalanceBy = Literal["classes"]
"""What images may be balanced by."""


@dataclasses.dataclass(frozen=True, eq=False)
class Balance:
    """How often each example and each class is to be drawn.

    Attributes:
      cumulative_copies: expected copies of each example and all before it, in the order of file
        names, so that the draw does not depend on the order of records, float64 `[N]`. An example
        that follows 3.2 copies and ends at 5.4 is drawn two or three times.
      rank_by_filename: the place of each record in the order of file names, int64 `[N]`.
      factors: the repeat factor of each class, float32 `[classes]`; 1 if it is in no image.
    """

    cumulative_copies: np.ndarray
    rank_by_filename: np.ndarray
    factors: np.ndarray

    def copies(self, rng: np.random.Generator) -> np.ndarray:
        """Returns how often each record is in an epoch, int64 `[N]`; the sum is N."""
        drawn_so_far = np.floor(self.cumulative_copies + rng.random()).astype(np.int64)
        copies_in_order_of_names = np.diff(drawn_so_far, prepend=0)
        return copies_in_order_of_names[self.rank_by_filename]


def balanced(
    builder: tfds.core.DatasetBuilder,
    selection: Selection,
    by: BalanceBy | None,
    threshold: float | None,
) -> Balance | None:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: None, which returns None; or `classes`, those of the feature `labels`, without background
        and void.
      threshold: t, above 0, up to 1; None is 1.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    if by is None:
        if threshold is not None:
            raise ConfigError(
                "balance_threshold",
                found=f"{threshold} without balance",
                expected="balance='classes' beside it",
                remedy="give both, or none",
            )
        return None
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
    threshold = 1 if threshold is None else threshold
    if not 0 < threshold <= 1:
        raise ConfigError("balance_threshold", found=str(threshold), expected="above 0, up to 1")
    filenames, has_class = _read_labels(builder, selection)
    factors = class_factors(has_class, threshold)
    image_factors = np.where(has_class, factors, 1).max(axis=1, initial=1)
    order_of_names = np.argsort(filenames, kind="stable")
    return Balance(
        cumulative_copies=_expected_copies(image_factors[order_of_names]),
        rank_by_filename=_inverse_permutation(order_of_names),
        factors=factors.astype(np.float32),
    )


def _expected_copies(factors: np.ndarray) -> np.ndarray:
    """Returns the expected copies of each image and all before it, float64 `[N]`; the last is N.

    Factors of 1, 2 and 1 give 0.75, 2.25 and 3.
    """
    count = len(factors)
    cumulative = np.cumsum(factors)
    cumulative *= count / cumulative[-1]
    cumulative[-1] = count  # exactly, whatever was rounded
    return cumulative


def _inverse_permutation(order: np.ndarray) -> np.ndarray:
    """Returns the place of each number in an order, int64 `[N]`: of 2, 0, 1 it is 1, 2, 0."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def class_factors(has_class: np.ndarray, threshold: float) -> np.ndarray:
    """Returns the repeat factor of each class, float64 `[classes]`.

    Args:
      has_class: which classes each image has, bool `[N, classes]`.
      threshold: the share of the images below which a class is repeated.
    """
    share = has_class.mean(axis=0)
    share = np.maximum(share, 1 / len(has_class))  # a class in no image would divide by 0
    factors = np.maximum(1, np.sqrt(threshold / share))
    return np.where(has_class.any(axis=0), factors, 1)


def _read_labels(
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
