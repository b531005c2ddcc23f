import numpy as np
import pytest
import tensorflow as tf

from voc_seg_tfrecord.pipeline.window import Window

PIXELS = np.arange(4 * 6, dtype=np.uint8).reshape(4, 6, 1)
EXAMPLE = {"image": np.repeat(PIXELS, 3, axis=2), "segmentation_mask": PIXELS, "labels": [1]}


def applied(**parts):
    window = Window(**parts)
    moved = window.apply({n: tf.constant(value) for n, value in EXAMPLE.items()})
    assert set(moved) == {"image", "segmentation_mask"}
    return [moved[n].numpy()[..., 0] for n in ("image", "segmentation_mask")]


def test_an_empty_window_changes_no_pixel():
    for pixels in applied():
        assert (pixels == PIXELS[..., 0]).all()


def test_image_and_mask_are_cropped_and_flipped_alike():
    for pixels in applied(cut=tf.constant([1, 2, 2, 3]), flip=tf.constant(True)):
        assert (pixels == PIXELS[1:3, 2:5, 0][:, ::-1]).all()


def test_padding_is_0_around_the_image_and_255_around_the_mask():
    image, mask = applied(before=tf.constant([1, 2]), canvas=(6, 9))
    for pixels, fill in ((image, 0), (mask, 255)):
        expected = np.full((6, 9), fill)
        expected[1:5, 2:8] = PIXELS[..., 0]
        assert (pixels == expected).all()


@pytest.mark.parametrize("size", [(2, 3), (8, 12), (3, 7), (1, 1)])
def test_masks_get_the_pixels_that_tensorflows_nearest_gives(size):
    _, mask = applied(size=tf.constant(size))
    expected = tf.image.resize(PIXELS, size, "nearest").numpy()[..., 0]
    assert (mask == expected).all()
