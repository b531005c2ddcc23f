from fractions import Fraction

import pytest

from voc_seg_tfrecord.trees.apportion import apportion


@pytest.mark.parametrize(
    ("count", "parts"),
    [
        (0, [0, 0, 0]),
        (1, [1, 0, 0]),
        (2, [1, 1, 0]),
        (3, [1, 1, 1]),
        (4, [2, 1, 1]),
        (5, [3, 1, 1]),
        (9, [5, 2, 2]),
        (100, [60, 20, 20]),
        (101, [61, 20, 20]),
    ],
)
def test_a_number_is_divided_by_the_largest_remainder_and_first_one_for_each(count, parts):
    shares = [Fraction("0.6"), Fraction("0.2"), Fraction("0.2")]
    assert apportion(count, shares) == parts


def test_small_shares_get_one_too():
    shares = [Fraction("0.98"), Fraction("0.01"), Fraction("0.01")]
    assert apportion(10, shares) == [8, 1, 1]
