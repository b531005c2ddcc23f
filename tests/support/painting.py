"""Images whose pixels say where they were, to see whether image and masks stay together."""

import numpy as np
import tensorflow as tf


def painted(height, width):
    """Returns an example whose pixels hold their row and column (modulo 250).

    The image holds (row, column, 1), so that no pixel is 0 in every channel as padding is;
    `segmentation_mask` holds the row, `instance_mask` the column, neither of them ever 255.
    """
    rows, columns = np.mgrid[:height, :width].astype(np.int64) % 250
    return {
        "image": np.stack([rows, columns, np.ones_like(rows)], axis=-1).astype(np.uint8),
        "segmentation_mask": rows[..., None].astype(np.uint8),
        "instance_mask": columns[..., None].astype(np.uint8),
        "image/filename": b"painted.jpg",
        "image/height": np.int32(height),
        "image/width": np.int32(width),
        "labels": np.array([1, 2]),
    }


def dataset(sizes):
    """Returns the painted examples of these sizes, whose static height and width are unknown."""

    def generate():
        yield from (painted(*size) for size in sizes)

    spec = {k: tf.TensorSpec(np.shape(v), np.asarray(v).dtype) for k, v in painted(1, 1).items()}
    spec |= {
        name: tf.TensorSpec([None, None, channels], tf.uint8)
        for name, channels in (("image", 3), ("segmentation_mask", 1), ("instance_mask", 1))
    }
    spec |= {
        "image/filename": tf.TensorSpec([], tf.string),
        "labels": tf.TensorSpec([None], tf.int64),
    }
    return tf.data.Dataset.from_generator(generate, output_signature=spec)


def padding(example):
    """Returns which pixels are padding, bool `[H, W]`, by the image's third channel."""
    return np.asarray(example["image"])[..., 2] == 0


def assert_together(example, tolerance=0):
    """Asserts that all pixels come from one place in image and masks, or are padding.

    Args:
      example: what became of a painted one.
      tolerance: in pixels, for what was resized: a mask takes the nearest pixel, an image
        the mean of the nearest.
    """
    image, mask, instances = (
        np.asarray(example[name]).astype(int)
        for name in ("image", "segmentation_mask", "instance_mask")
    )
    outside = padding(example)
    assert (image[outside] == 0).all()
    assert (mask[outside] == 255).all()
    assert (instances[outside] == 255).all()
    assert (mask[~outside] < 250).all()
    assert (instances[~outside] < 250).all()
    assert (abs(image[..., :1] - mask)[~outside] <= tolerance).all()
    assert (abs(image[..., 1:2] - instances)[~outside] <= tolerance).all()


def assert_same(one, other):
    """Asserts that two examples have the same features, equal to the bit."""
    assert set(one) == set(other)
    for name in one:
        assert np.array_equal(np.asarray(one[name]), np.asarray(other[name])), name


def padded_sides(example):
    """Says on which side an image has its padding: `left` or `right`."""
    return "left" if padding(example)[:, 0].all() else "right"
