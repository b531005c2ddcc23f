"""Crops, padding, sizes and flips, the same for image and masks.

Every function here takes one example, decoded or not, and works as the package's docstring
says. A size is one number for a square, or height and width. Wherever the size of the
result is given, it is static.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.pipeline import contents
from voc_seg_tfrecord.pipeline.contents import Example
from voc_seg_tfrecord.pipeline.randomness import coin, places
from voc_seg_tfrecord.pipeline.window import Window

Size: TypeAlias = int | tuple[int, int]


def center_crop_or_pad(example: Mapping[str, Any], size: Size) -> Example:
    """Keeps the middle of what is larger than `size`, pads what is smaller on all sides.

    Args:
      example: image and masks.
      size: size of the result.

    Returns:
      The example with image and masks of that size. Where the number of rows or columns to
      crop or pad is odd, the extra one is at the bottom or at the right.
    """
    canvas = pair("size", size)
    room = tf.abs(contents.size(example) - canvas)
    return _crop_or_pad(example, canvas, room // 2)


def random_crop_or_pad(example: Mapping[str, Any], size: Size, *, seed: tf.Tensor) -> Example:
    """Crops at random where the image is larger, pads at random where it is smaller.

    Args:
      example: image and masks.
      size: size of the result.
      seed: integer `[2]`, such as `example_seed` returns.

    Returns:
      The example with image and masks of that size.
    """
    canvas = pair("size", size)
    room = tf.abs(contents.size(example) - canvas)
    return _crop_or_pad(example, canvas, places(seed, 0, room)[0])


def resize(example: Mapping[str, Any], size: Size) -> Example:
    """Resizes without keeping the aspect ratio.

    Args:
      example: image and masks.
      size: size of the result.

    Returns:
      The example with image and masks of that size. Neither smooths before it scales down: see
      `decode(ratio=)` for that.
    """
    return Window(size=tf.constant(pair("size", size))).apply(example)


def random_flip(example: Mapping[str, Any], *, seed: tf.Tensor) -> Example:
    """Swaps left and right with probability 0.5.

    Args:
      example: image and masks.
      seed: integer `[2]`, such as `example_seed` returns.

    Returns:
      The example with image and masks of the same size.
    """
    return Window(flip=coin(seed)).apply(example)


def _crop_or_pad(example: Mapping[str, Any], canvas: tuple[int, int], place: tf.Tensor) -> Example:
    """Crops at `place` along the axes that are too long, pads by it along the others."""
    current = contents.size(example)
    larger = current > canvas
    cut = tf.concat([tf.where(larger, place, 0), tf.minimum(current, canvas)], axis=0)
    return Window(cut=cut, before=tf.where(larger, 0, place), canvas=canvas).apply(example)


def pair(name: str, size: Size) -> tuple[int, int]:
    """Returns height and width of a size; raises a ConfigError if one is below 1."""
    height, width = (size, size) if isinstance(size, int) else size
    if height < 1 or width < 1:
        raise ConfigError(name, found=str(size), expected="1 or more, or a height and a width")
    return height, width
