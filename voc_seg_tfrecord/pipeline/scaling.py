"""Random scales, and the crop that DeepLab trains on: scaled, placed and flipped in one step."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.arrays import check_scales
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import LABELS, MASK
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.pipeline import contents, decoding, placing
from voc_seg_tfrecord.pipeline.contents import Example
from voc_seg_tfrecord.pipeline.geometry import Size, pair
from voc_seg_tfrecord.pipeline.randomness import coin, places, uniform, up_to
from voc_seg_tfrecord.pipeline.window import Window

DEEPLAB_SCALES = (0.5, 2.0)
"""Smallest and largest random scale.

References:
  Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation",
  arXiv:1706.05587, section 4.1.
"""


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
    class_crop: float = 0,
    class_weights: Sequence[float] | None = None,
    cat_max_ratio: float = 1,
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
      class_crop: probability with which the crop is placed so that it shows a pixel of a class
        (0). The class is one of `labels`, so it is neither background nor void.
      class_weights: by class index, in what proportion the classes of an image are drawn for
        that; None, the default, draws each of them equally often.
      cat_max_ratio: the share of the crop's pixels, void not counted, that every class must
        stay below; up to 10 places are tried, as in MMSegmentation (1: any place will do).

    Returns:
      The example with image and masks of that size.

    Raises:
      ConfigError: if an argument is out of its range, or the example lacks `labels` or the mask
        that `class_crop` or `cat_max_ratio` need.
    """
    _check_placing(example, class_crop, cat_max_ratio)
    canvas = tf.constant(pair("size", size))
    current = contents.size(example)
    scale = _scale(seed, scales, step)
    scaled = _scaled(current, scale)
    larger = scaled > canvas
    shown = tf.clip_by_value(_scaled(canvas, 1 / scale), 1, current)
    kept = tf.where(larger, shown, current)
    room = placing.Room(
        lowest=tf.zeros([2], tf.int32),
        highest=tf.where(larger, current - kept, canvas - scaled),
        kept=kept,
        larger=larger,
    )
    example = dict(example)
    if class_crop or cat_max_ratio < 1:
        example[MASK] = decoding.decode({MASK: example[MASK]})[MASK]
    if class_crop:
        weights = [1.0] * VOID if class_weights is None else class_weights
        room = placing.on_a_class(
            room,
            example[MASK],
            example[LABELS],
            tf.constant(weights, tf.float32),
            seed=seed,
            probability=class_crop,
        )
    if cat_max_ratio < 1:
        place = placing.mixed(room, example[MASK], seed=seed, cat_max_ratio=cat_max_ratio)
    else:
        (place,) = places(seed, room.lowest, room.highest)
    window = Window(
        cut=tf.concat([tf.where(larger, place, 0), kept], axis=0),
        size=tf.minimum(scaled, canvas),
        flip=coin(seed) if flip else None,
        before=tf.where(larger, 0, place),
        canvas=pair("size", size),
    )
    return window.apply(example)


def _check_placing(example: Mapping[str, Any], class_crop: float, cat_max_ratio: float) -> None:
    if not (0 <= class_crop <= 1 and 0 < cat_max_ratio <= 1):
        raise ConfigError(
            "class_crop, cat_max_ratio",
            found=f"{class_crop}, {cat_max_ratio}",
            expected="a probability of 0 to 1, and a share above 0, up to 1",
        )
    needed = [MASK] if class_crop or cat_max_ratio < 1 else []
    needed += [LABELS] if class_crop else []
    lacking = [name for name in needed if name not in example]
    if lacking:
        raise ConfigError(
            "class_crop, cat_max_ratio",
            found=f"an example without {' and '.join(lacking)}",
            expected=f"{' and '.join(needed)} among its features",
            remedy="read these features too, and crop before anything else changes the image",
        )


def _scale(seed: tf.Tensor, scales: tuple[float, float], step: float) -> tf.Tensor:
    check_scales(scales, step)
    smallest, largest = scales
    (fraction,) = uniform(seed, "scale", 1)
    if not step:
        return smallest + fraction * (largest - smallest)
    steps = up_to(fraction, tf.constant(int((largest - smallest) / step + 1e-6)))
    return smallest + step * tf.cast(steps, tf.float32)


def _scaled(size: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return tf.maximum(tf.cast(tf.round(tf.cast(size, tf.float32) * scale), tf.int32), 1)
