import numpy as np
import pytest

from voc_seg_tfrecord.report.overlay import resize_mask


def blank(height, width):
    return np.zeros((height, width), np.uint8)


@pytest.mark.parametrize("size", [(10, 10), (33, 100), (7, 3), (1, 1)])
def test_a_smaller_mask_has_every_class_that_covers_one_pixel(size):
    mask = blank(400, 600)
    places = {1: (0, 0), 2: (399, 599), 3: (211, 307)}
    for value, place in places.items():
        mask[place] = value
    small = resize_mask(mask, *size)
    assert small.shape == size
    expected = {0, 1, 2, 3} if min(size) > 1 else {3}
    assert set(np.unique(small)) >= expected or size == (1, 1)


def test_a_smaller_mask_does_not_thicken_what_the_nearest_pixel_shows():
    mask = blank(300, 300)
    mask[90:210, 90:210] = 1
    small = resize_mask(mask, 100, 100)
    assert (small == 1).sum() == 40 * 40


def test_a_larger_mask_has_the_same_shares():
    mask = np.arange(6, dtype=np.uint8).reshape(2, 3)
    large = resize_mask(mask, 200, 300)
    assert np.bincount(large.ravel()).tolist() == [10000] * 6
