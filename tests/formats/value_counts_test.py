from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from voc_seg_tfrecord.formats import value_counts


def check(pixels):
    counts = value_counts.count_values(pixels)
    assert (counts.dtype, counts.shape) == (np.int64, (256,))
    assert counts.tolist() == np.bincount(pixels.ravel(), minlength=256).tolist()


@given(st.integers(0, 2**32), st.integers(1, 60), st.integers(1, 60), st.integers(1, 100))
def test_each_pixel_is_counted_once_whatever_the_runs(seed, height, width, run):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 256, -(-height * width // run), np.uint8)
    check(np.repeat(values, run)[: height * width].reshape(height, width))


@pytest.mark.parametrize("pixels", [1, 7, 100])
def test_the_pieces_of_a_large_mask_are_counted_as_one(monkeypatch, pixels):
    monkeypatch.setattr(value_counts, "_PIXELS_AT_ONCE", pixels)
    check(np.repeat(np.arange(250, dtype=np.uint8), 30).reshape(75, 100))
    check(np.random.default_rng(0).integers(0, 256, (31, 17), np.uint8))


def test_parts_of_an_array_and_columns_in_front_of_rows_are_counted():
    pixels = np.repeat(np.arange(200, dtype=np.uint8), 40).reshape(80, 100)
    check(pixels[3:60, 20:81])
    check(pixels.T)
    check(pixels[::-1, ::2])
