"""Finds how often each example has to be drawn so that rare classes are seen more often."""

from collections.abc import Sequence
import dataclasses
from typing import Literal

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError

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


def check_balance(by: BalanceBy | None, threshold: float | None) -> None:
    """Checks the arguments `balance` and `balance_threshold`.

    Raises:
      ConfigError: if one of them is wrong, or there is a threshold without a balance.
    """
    if by is None:
        if threshold is not None:
            raise ConfigError(
                "balance_threshold",
                found=f"{threshold} without balance",
                expected="balance='classes' too",
                remedy="give both, or none",
            )
        return
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
    if threshold is not None and not 0 < threshold <= 1:
        raise ConfigError("balance_threshold", found=str(threshold), expected="above 0, up to 1")


def balance_classes(
    filenames: Sequence[bytes], has_class: np.ndarray, threshold: float | None
) -> Balance:
    """Finds how often each example is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Args:
      filenames: of the examples.
      has_class: which classes each example has, bool `[N, classes]`.
      threshold: t, above 0, up to 1; None is 1.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    factors = class_factors(has_class, 1 if threshold is None else threshold)
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
