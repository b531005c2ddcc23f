"""Random scales, and the crop that DeepLab trains on: scaled, placed and flipped in one step.

A crop may be placed on pixels of a class, and not where one class fills it. Both rules look at the
mask before the image is decoded, so that no more of the image is decoded than without them. A mask
has to be decoded completely in any case.
"""

from collections.abc import Mapping, Sequence
import math
from typing import Any

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.arrays import Size, parse_size, scale_step
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import LABELS, MASK, VOID
from voc_seg_tfrecord.pipeline.crop_choice import limit_to_class, sample_mixed_offset
from voc_seg_tfrecord.pipeline.crop_offsets import CropOffsets, scale_sides
from voc_seg_tfrecord.pipeline.seeds import coin, uniform, up_to
from voc_seg_tfrecord.pipeline.window import Example, Window, decode, image_size

DEEPLAB_SCALES = (0.5, 2.0)
"""Smallest and largest random scale.

References:
  Chen et al., "Rethinking Atrous Convolution for Semantic Image Segmentation",
  arXiv:1706.05587, section 4.1.
"""

_EQUAL_WEIGHTS = np.ones([VOID], np.float32)
"""One weight for each index that a class may have, 0 to 254."""


def random_scale(
    example: Mapping[str, Any],
    *,
    seed: tf.Tensor,
    scales: tuple[float, float] = DEEPLAB_SCALES,
    step: float | None = None,
) -> Example:
    """Resizes the complete image by a random factor.

    If you crop afterwards, use `random_scaled_crop`, which resizes only the pixels of the crop.

    Args:
      example: image and masks.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between possible factors; 0 allows any factor between the ends. By default
        0.25 if both ends are multiples of 0.25, otherwise 0.

    Returns:
      The example with image and masks of the new size, at least 1 x 1.
    """
    scale = _sample_scale(seed, scales, step)
    return Window(size=scale_sides(image_size(example), scale)).apply(example)


def random_scaled_crop(
    example: Mapping[str, Any],
    size: Size,
    *,
    seed: tf.Tensor,
    scales: tuple[float, float] = DEEPLAB_SCALES,
    step: float | None = None,
    flip: bool = True,
    class_crop: float = 0,
    class_weights: Sequence[float] | None = None,
    cat_max_ratio: float = 1,
) -> Example:
    """Random scale, then random crop or pad, then random flip, as DeepLab trains.

    Only the pixels of the crop are decoded and resized. The crop's edges are rounded to full pixels
    of the unscaled image; apart from that, the result is the same.

    Args:
      example: image and masks.
      size: height and width of the result, or one number for both.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between possible factors; 0 allows any factor between the ends. By default
        0.25 if both ends are multiples of 0.25, otherwise 0.
      flip: whether to flip with probability 0.5.
      class_crop: probability of placing the crop so that it has a pixel of one class (0). The class
        is one of `labels`, so it is neither background nor void. If scaling would drop all pixels
        of the class, the image is not scaled.
      class_weights: the weight of each class, by index, for sampling that class; None, the default,
        samples the classes of an image equally often. A class of weight 0 is never sampled. If an
        image has only such classes, it is cropped as without `class_crop`.
      cat_max_ratio: the share of the crop's pixels, void not counted, that each class should stay
        below, as in MMSegmentation; 1, the default, allows any share. Up to 10 offsets are tried;
        if all fail, another one is taken. A crop of only void fails too.

    Returns:
      The example with image and masks of that size.

    Raises:
      ConfigError: if an argument is out of range, or the example has no `labels` or no mask, which
        `class_crop` and `cat_max_ratio` need.
    """
    _check_choice(class_crop, class_weights, cat_max_ratio)
    if class_crop:
        _check_features(example, "class_crop", (MASK, LABELS))
    if cat_max_ratio < 1:
        _check_features(example, "cat_max_ratio", (MASK,))
    height, width = parse_size("size", size)
    canvas = tf.constant((height, width))
    image_sides = image_size(example)
    example = dict(example)
    if class_crop or cat_max_ratio < 1:
        example[MASK] = decode({MASK: example[MASK]})[MASK]
    offsets = CropOffsets.at_scale(image_sides, canvas, _sample_scale(seed, scales, step))
    if class_crop:
        offsets = limit_to_class(
            offsets,
            CropOffsets.at_scale(image_sides, canvas, tf.constant(1.0)),
            example[MASK],
            example[LABELS],
            tf.constant(_EQUAL_WEIGHTS if class_weights is None else class_weights, tf.float32),
            seed=seed,
            probability=class_crop,
        )
    if cat_max_ratio < 1:
        offset = sample_mixed_offset(offsets, example[MASK], seed=seed, cat_max_ratio=cat_max_ratio)
    else:
        (offset,) = offsets.sample(seed)
    flipped = coin(seed) if flip else None
    # Without a resize that would never be done, an epoch begins sooner.
    is_scaled = tuple(scales) != (1, 1)
    window = offsets.window(offset, canvas=(height, width), is_scaled=is_scaled, flip=flipped)
    return window.apply(example)


def _check_choice(
    class_crop: float, class_weights: Sequence[float] | None, cat_max_ratio: float
) -> None:
    """Raises a ConfigError if one of these arguments is out of its range."""
    if not 0 <= class_crop <= 1:
        raise ConfigError("class_crop", found=f"{class_crop}", expected="a probability of 0 to 1")
    if not 0 < cat_max_ratio <= 1:
        raise ConfigError(
            "cat_max_ratio", found=f"{cat_max_ratio}", expected="a share above 0, up to 1"
        )
    for index, weight in enumerate([] if class_weights is None else class_weights):
        if not 0 <= weight < math.inf:
            raise ConfigError(
                "class_weights",
                found=f"{weight} for class {index}",
                expected="finite weights of 0 or more, one per class",
            )


def _check_features(example: Mapping[str, Any], option: str, needed: Sequence[str]) -> None:
    """Raises a ConfigError if an example lacks a feature that an option needs."""
    for name in needed:
        if name not in example:
            raise ConfigError(
                option,
                found=f"an example without {name}",
                expected=f"{' and '.join(needed)} among its features",
                remedy="read these features too, and crop first",
            )


def _sample_scale(seed: tf.Tensor, scales: tuple[float, float], step: float | None) -> tf.Tensor:
    """Samples a scale, scalar float32: any between the ends, or one of equal steps."""
    step = scale_step(scales, step)
    smallest, largest = scales
    (fraction,) = uniform(seed, "scale", 1)
    if not step:
        return smallest + fraction * (largest - smallest)
    step_count = round((largest - smallest) / step)
    steps = up_to(fraction, tf.constant(step_count))
    return smallest + step * tf.cast(steps, tf.float32)
