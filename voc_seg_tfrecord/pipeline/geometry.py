"""Crops, padding, sizes and flips, the same for an image and its masks.

Every function takes one example, decoded or not, and works as the package's docstring says. A size
is one number for a square, or height and width. Wherever the size of the result is given, it is
static.
"""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.arrays import Size, parse_size
from voc_seg_tfrecord.pipeline.seeds import coin, random_offsets
from voc_seg_tfrecord.pipeline.window import Example, Padding, Window, image_size


def center_crop_or_pad(example: Mapping[str, Any], size: Size) -> Example:
    """Crops to the middle where the image is larger than `size`, pads all sides where smaller.

    Args:
      example: image and masks.
      size: height and width of the result, or one number for both.

    Returns:
      The example with image and masks of that size. If the number of rows or columns to crop or pad
      is odd, the extra one is at the bottom or right.
    """
    canvas = parse_size("size", size)
    room = tf.abs(image_size(example) - canvas)
    return _crop_or_pad(example, canvas, room // 2)


def random_crop_or_pad(example: Mapping[str, Any], size: Size, *, seed: tf.Tensor) -> Example:
    """Crops at random where the image is larger, pads at random where it is smaller.

    Args:
      example: image and masks.
      size: height and width of the result, or one number for both.
      seed: integer `[2]`, such as `example_seed` returns.

    Returns:
      The example with image and masks of that size.
    """
    canvas = parse_size("size", size)
    room = tf.abs(image_size(example) - canvas)
    (offset,) = random_offsets(seed, room)
    return _crop_or_pad(example, canvas, offset)


def resize(example: Mapping[str, Any], size: Size) -> Example:
    """Resizes without keeping the aspect ratio.

    Args:
      example: image and masks.
      size: height and width of the result, or one number for both.

    Returns:
      The example with image and masks of that size. Images are scaled down without smoothing.
    """
    return Window(size=tf.constant(parse_size("size", size))).apply(example)


def random_flip(example: Mapping[str, Any], *, seed: tf.Tensor) -> Example:
    """Swaps left and right with probability 0.5.

    Args:
      example: image and masks.
      seed: integer `[2]`, such as `example_seed` returns.

    Returns:
      The example with image and masks of the same size.
    """
    return Window(flip=coin(seed)).apply(example)


def _crop_or_pad(example: Mapping[str, Any], canvas: tuple[int, int], offset: tf.Tensor) -> Example:
    """Crops at an offset along the axes that are too long, pads by it along the others."""
    current = image_size(example)
    is_cropped = current > canvas
    crop_sides = tf.minimum(current, canvas)
    crop = tf.concat([tf.where(is_cropped, offset, 0), crop_sides], axis=0)
    padding = Padding(before=tf.where(is_cropped, 0, offset), result_size=canvas)
    return Window(crop=crop, padding=padding).apply(example)
