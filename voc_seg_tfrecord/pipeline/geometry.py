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
from voc_seg_tfrecord.pipeline.randomness import uniform, up_to
from voc_seg_tfrecord.pipeline.window import Window

Size: TypeAlias = int | tuple[int, int]

DEEPLAB_SCALES = (0.5, 2.0)
"""Smallest and largest random scale.

References:
  Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation",
  arXiv:1706.05587, section 4.1.
"""


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
    return _crop_or_pad(example, canvas, _place(seed, room))


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
    return Window(flip=_coin(seed)).apply(example)


def random_scale(
    example: Mapping[str, Any],
    *,
    seed: tf.Tensor,
    scales: tuple[float, float] = DEEPLAB_SCALES,
    step: float = 0.25,
) -> Example:
    """Resizes the complete image by a random factor.

    Args:
      example: image and masks.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between neighbouring factors (0.25); 0 allows any number between.

    Returns:
      The example with image and masks of the new size, at least 1 x 1. Before a crop use
      `random_scaled_crop`: it resizes only what is kept.
    """
    scale = _scale(seed, scales, step)
    return Window(size=_scaled(contents.size(example), scale)).apply(example)


def random_scaled_crop(
    example: Mapping[str, Any],
    size: Size,
    *,
    seed: tf.Tensor,
    scales: tuple[float, float] = DEEPLAB_SCALES,
    step: float = 0.25,
    flip: bool = True,
) -> Example:
    """Random scale, then random crop or pad, then random flip, as DeepLab trains.

    Only what the crop will show is decoded and resized. Cropping before resizing rounds
    the crop's edges to full pixels of the unscaled image, and changes nothing else.

    Args:
      example: image and masks.
      size: size of the result.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between neighbouring factors (0.25); 0 allows any number between.
      flip: whether to flip with probability 0.5.

    Returns:
      The example with image and masks of that size.
    """
    canvas = tf.constant(pair("size", size))
    current = contents.size(example)
    scale = _scale(seed, scales, step)
    scaled = _scaled(current, scale)
    larger = scaled > canvas
    shown = tf.clip_by_value(_scaled(canvas, 1 / scale), 1, current)
    kept = tf.where(larger, shown, current)
    place = _place(seed, tf.where(larger, current - kept, canvas - scaled))
    window = Window(
        cut=tf.concat([tf.where(larger, place, 0), kept], axis=0),
        size=tf.minimum(scaled, canvas),
        flip=_coin(seed) if flip else None,
        before=tf.where(larger, 0, place),
        canvas=pair("size", size),
    )
    return window.apply(example)


def _crop_or_pad(example: Mapping[str, Any], canvas: tuple[int, int], place: tf.Tensor) -> Example:
    """Crops at `place` along the axes that are too long, pads by it along the others."""
    current = contents.size(example)
    larger = current > canvas
    cut = tf.concat([tf.where(larger, place, 0), tf.minimum(current, canvas)], axis=0)
    return Window(cut=cut, before=tf.where(larger, 0, place), canvas=canvas).apply(example)


def _place(seed: tf.Tensor, room: tf.Tensor) -> tf.Tensor:
    """Draws int32 `[2]`, each of 0 to `room` inclusive."""
    fractions = uniform(seed, "place", 2)
    return tf.stack([up_to(fractions[axis], room[axis]) for axis in (0, 1)])


def _coin(seed: tf.Tensor) -> tf.Tensor:
    (fraction,) = uniform(seed, "flip", 1)
    return fraction < 0.5


def _scale(seed: tf.Tensor, scales: tuple[float, float], step: float) -> tf.Tensor:
    smallest, largest = scales
    if not 0 < smallest <= largest or step < 0:
        raise ConfigError(
            "scales, step",
            found=f"{scales}, {step}",
            expected="a smallest scale above 0, a largest at least that, a step of 0 or more",
        )
    (fraction,) = uniform(seed, "scale", 1)
    if not step:
        return smallest + fraction * (largest - smallest)
    steps = up_to(fraction, tf.constant(int((largest - smallest) / step + 1e-6)))
    return smallest + step * tf.cast(steps, tf.float32)


def _scaled(size: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return tf.maximum(tf.cast(tf.round(tf.cast(size, tf.float32) * scale), tf.int32), 1)


def pair(name: str, size: Size) -> tuple[int, int]:
    """Returns height and width of a size; raises a ConfigError if one is below 1."""
    height, width = (size, size) if isinstance(size, int) else size
    if height < 1 or width < 1:
        raise ConfigError(name, found=str(size), expected="1 or more, or a height and a width")
    return height, width
