import numpy as np
import pytest
from scipy import ndimage

from voc_seg_tfrecord import VOID
from voc_seg_tfrecord.evaluation.boundary import band


@pytest.mark.parametrize("width", [1, 2, 5, 40])
@pytest.mark.parametrize("size", [(1, 1), (7, 30), (31, 17)])
def test_the_band_is_void_dilated_by_a_square(width, size):
    mask = np.random.default_rng(width).choice([0, VOID], size, p=[0.97, 0.03]).astype(np.uint8)
    square = np.ones((2 * width + 1,) * 2)
    assert (band(mask, width) == ndimage.binary_dilation(mask == VOID, square)).all()
