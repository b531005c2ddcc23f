"""Random scales, and the crop that DeepLab trains on: scaled, placed and flipped in one step.

A crop may be placed on pixels of a class, and not where one class fills it. Both rules look at the
mask before the image is decoded, so that no more of the image is decoded than without them. A mask
has to be decoded completely in any case.

The offset of a crop is its top left corner in the image. Along an axis on which the image is
shorter than the crop, it is the corner of the image in the padding.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.arrays import Size, scale_step, sides
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import LABELS, MASK, VOID
from voc_seg_tfrecord.pipeline.geometry import coin, random_offsets, uniform, up_to
from voc_seg_tfrecord.pipeline.window import Example, Window, decode, image_size, sources

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
    step: float | None = None,
) -> Example:
    """Resizes the complete image by a random factor.

    Args:
      example: image and masks.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between neighboring factors; 0 allows any number between. By default
        0.25 if both ends are multiples of it, and else 0.

    Returns:
      The example with image and masks of the new size, at least 1 x 1. Before a crop use
      `random_scaled_crop`: it resizes only what is kept.
    """
    scale = _random_scale(seed, scales, step)
    return Window(size=_scale_sides(image_size(example), scale)).apply(example)


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

    Only what the crop will show is decoded and resized. Cropping before resizing rounds
    the crop's edges to full pixels of the unscaled image, and changes nothing else.

    Args:
      example: image and masks.
      size: size of the result.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between neighboring factors; 0 allows any number between. By default
        0.25 if both ends are multiples of it, and else 0.
      flip: whether to flip with probability 0.5.
      class_crop: probability with which the crop is placed so that it shows a pixel of a class
        (0). The class is one of `labels`, so it is neither background nor void. Where the scale
        would pass over all its pixels, the image is not scaled.
      class_weights: by class index, in what proportion the classes of an image are sampled for
        that; None, the default, samples each of them equally often.
      cat_max_ratio: the share of the crop's pixels, void not counted, that every class must
        stay below; up to 10 offsets are tried, as in MMSegmentation (1: any share).

    Returns:
      The example with image and masks of that size.

    Raises:
      ConfigError: if an argument is out of its range, or the example lacks `labels` or the mask
        that `class_crop` or `cat_max_ratio` need.
    """
    _check_placing(example, class_crop, cat_max_ratio)
    height, width = sides("size", size)
    canvas = tf.constant((height, width))
    image_sides = image_size(example)
    example = dict(example)
    if class_crop or cat_max_ratio < 1:
        example[MASK] = decode({MASK: example[MASK]})[MASK]
    options = CropOffsets.at_scale(image_sides, canvas, _random_scale(seed, scales, step))
    if class_crop:
        weights = [1.0] * VOID if class_weights is None else class_weights
        options = on_a_class(
            options,
            CropOffsets.at_scale(image_sides, canvas, tf.constant(1.0)),
            example[MASK],
            example[LABELS],
            tf.constant(weights, tf.float32),
            seed=seed,
            probability=class_crop,
        )
    if cat_max_ratio < 1:
        offset = sample_mixed(options, example[MASK], seed=seed, cat_max_ratio=cat_max_ratio)
    else:
        (offset,) = options.sample(seed)
    window = Window(
        cut=tf.concat([tf.where(options.is_cropped, offset, 0), options.cut_sides], axis=0),
        size=options.result_sides,
        flip=coin(seed) if flip else None,
        before=tf.where(options.is_cropped, 0, offset),
        canvas=(height, width),
    )
    return window.apply(example)


def _check_placing(example: Mapping[str, Any], class_crop: float, cat_max_ratio: float) -> None:
    if not (0 <= class_crop <= 1 and 0 < cat_max_ratio <= 1):
        raise ConfigError(
            "class_crop, cat_max_ratio",
            found=f"{class_crop}, {cat_max_ratio}",
            expected="a probability of 0 to 1, and a share above 0, up to 1",
        )
    needed = []
    if class_crop or cat_max_ratio < 1:
        needed.append(MASK)
    if class_crop:
        needed.append(LABELS)
    lacking = [name for name in needed if name not in example]
    if lacking:
        raise ConfigError(
            "class_crop, cat_max_ratio",
            found=f"an example without {' and '.join(lacking)}",
            expected=f"{' and '.join(needed)} among its features",
            remedy="read these features too, and crop before anything else changes the image",
        )


def _random_scale(seed: tf.Tensor, scales: tuple[float, float], step: float | None) -> tf.Tensor:
    """Samples a scale, float32."""
    step = scale_step(scales, step)
    smallest, largest = scales
    (fraction,) = uniform(seed, "scale", 1)
    if not step:
        return smallest + fraction * (largest - smallest)
    step_count = round((largest - smallest) / step)
    steps = up_to(fraction, tf.constant(step_count))
    return smallest + step * tf.cast(steps, tf.float32)


def _scale_sides(sides: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns height and width at a scale, int32 `[2]`, each at least 1."""
    scaled = tf.round(tf.cast(sides, tf.float32) * scale)
    return tf.maximum(tf.cast(scaled, tf.int32), 1)


MAX_TRIES = 10
"""How many offsets are tried before one is taken as it is."""

_MAX_GRID_SIDE = 64
"""Rows and columns of a crop by which the share of a class is estimated."""

_NO_WEIGHTS = np.zeros([0], np.int32)


class CropOffsets(NamedTuple):
    """The offsets that a crop may have at one scale.

    Attributes:
      cut_sides: height and width of the crop in the image, not scaled, int32 `[2]`.
      result_sides: height and width of it in the result, int32 `[2]`.
      is_cropped: whether the image is larger than the crop along an axis, bool `[2]`. Along the
        others all of the image is in the crop, with padding around it.
      rows: offsets along the rows, int32 `[R]`.
      columns: offsets along the columns, int32 `[C]`.
    """

    cut_sides: tf.Tensor
    result_sides: tf.Tensor
    is_cropped: tf.Tensor
    rows: tf.Tensor
    columns: tf.Tensor

    @classmethod
    def at_scale(cls, image_sides: tf.Tensor, canvas: tf.Tensor, scale: tf.Tensor) -> "CropOffsets":
        """Returns all offsets of a crop.

        Args:
          image_sides: height and width of the image, int32 `[2]`.
          canvas: height and width of the result, int32 `[2]`.
          scale: float32.
        """
        scaled = _scale_sides(image_sides, scale)
        is_cropped = scaled > canvas
        crop_sides = tf.clip_by_value(_scale_sides(canvas, 1 / scale), 1, image_sides)
        cut_sides = tf.where(is_cropped, crop_sides, image_sides)
        last_offset = tf.where(is_cropped, image_sides - cut_sides, canvas - scaled)
        return cls(
            cut_sides,
            tf.minimum(scaled, canvas),
            is_cropped,
            rows=tf.range(last_offset[0] + 1),
            columns=tf.range(last_offset[1] + 1),
        )

    def sample(self, seed: tf.Tensor, count: int = 1) -> list[tf.Tensor]:
        """Samples offsets, int32 `[2]` each."""
        last = tf.stack([tf.size(self.rows), tf.size(self.columns)]) - 1
        offsets = []
        for index in random_offsets(seed, last, count):
            row = tf.gather(self.rows, index[0])
            column = tf.gather(self.columns, index[1])
            offsets.append(tf.stack([row, column]))
        return offsets

    def shown_lines(self, axis: int) -> tf.Tensor:
        """Returns which rows (axis 0) or columns (axis 1) of a crop are in the result, int32.

        Scaling down passes over some of them.
        """
        return sources(self.cut_sides[axis], self.result_sides[axis])

    def visible_lines(self, axis: int, length: tf.Tensor) -> tf.Tensor:
        """Returns which rows or columns of the image are shown at some offset, bool `[length]`."""
        offsets = (self.rows, self.columns)[axis]
        starts = tf.where(self.is_cropped[axis], offsets, [0])
        lines = tf.reshape(starts[:, tf.newaxis] + self.shown_lines(axis), [-1, 1])
        hits = tf.scatter_nd(lines, tf.ones_like(lines[:, 0]), [length])
        return hits > 0

    def only_showing(self, pixel: tf.Tensor) -> "CropOffsets":
        """Returns the offsets at which a pixel, int32 `[2]`, is shown; there must be some."""
        return self._replace(
            rows=self._offsets_showing(pixel, 0), columns=self._offsets_showing(pixel, 1)
        )

    def _offsets_showing(self, pixel: tf.Tensor, axis: int) -> tf.Tensor:
        """Returns the offsets along an axis at which a pixel is shown."""
        offsets = (self.rows, self.columns)[axis]
        candidates = pixel[axis] - self.shown_lines(axis)
        is_offset = (candidates >= 0) & (candidates <= offsets[-1])
        return tf.cond(self.is_cropped[axis], lambda: candidates[is_offset], lambda: offsets)


def on_a_class(
    options: CropOffsets,
    unscaled: CropOffsets,
    mask: tf.Tensor,
    classes: tf.Tensor,
    weights: tf.Tensor,
    *,
    seed: tf.Tensor,
    probability: float,
) -> CropOffsets:
    """Limits the offsets, with some probability, to crops that show a pixel of a class.

    The class is sampled from those in the image, then one of its pixels that can be seen at the
    scale. If it has none, because it has few pixels and scaling down passes over them, the image is
    not scaled. This is how nnU-Net chooses patches with foreground, except that the pixel may lie
    anywhere in the crop and not only in its middle.

    Args:
      options: all offsets.
      unscaled: all offsets at scale 1.
      mask: uint8 `[H, W, 1]`.
      classes: int64 `[N]`, the classes in the mask to sample from; without any, all offsets stay.
      weights: float32 `[classes of the dataset]`; a class is sampled in proportion to its weight.
      seed: integer `[2]`.
      probability: 0 to 1.

    References:
      Isensee et al., "nnU-Net: a self-configuring method for deep learning-based biomedical
      image segmentation", Nature Methods 18, 2021, oversampling of foreground.
    """
    chance, class_fraction, pixel_fraction = uniform(seed, "class", 3)

    def limit() -> CropOffsets:
        sampled_class = _sample_class(classes, weights, class_fraction)
        of_class = mask[..., 0] == tf.cast(sampled_class, mask.dtype)
        height, width = tf.shape(of_class)[0], tf.shape(of_class)[1]
        visible_rows = options.visible_lines(0, height)
        visible_columns = options.visible_lines(1, width)
        visible = of_class & visible_rows[:, tf.newaxis] & visible_columns
        return tf.cond(
            tf.reduce_any(visible),
            lambda: options.only_showing(_sample_pixel(visible, pixel_fraction)),
            lambda: unscaled.only_showing(_sample_pixel(of_class, pixel_fraction)),
        )

    is_limited = tf.logical_and(chance < probability, tf.size(classes) > 0)
    return tf.cond(is_limited, limit, lambda: options)


def sample_mixed(
    options: CropOffsets, mask: tf.Tensor, *, seed: tf.Tensor, cat_max_ratio: float
) -> tf.Tensor:
    """Samples an offset at which no class of the mask, uint8 `[H, W, 1]`, fills the crop.

    Void is not counted.

    As in MMSegmentation's `RandomCrop`, up to 10 offsets are tried. If a class has too much of the
    crop at each of them, one more is sampled and taken as it is. In a crop larger than 64 x 64
    pixels every second, third, ... row and column is counted, which is as good for a share.

    Returns:
      int32 `[2]`, as `CropOffsets.sample` gives it.

    References:
      MMSegmentation, mmseg/datasets/transforms/transforms.py, RandomCrop.
    """
    offsets = tf.stack(options.sample(seed, MAX_TRIES + 1))
    step = (options.cut_sides + _MAX_GRID_SIDE - 1) // _MAX_GRID_SIDE
    # Where a crop shows the whole image, it shows the same at every offset.
    has_choice = tf.stack([tf.size(options.rows), tf.size(options.columns)]) > 1
    is_movable = tf.reduce_any(tf.logical_and(options.is_cropped, has_choice))
    tries = tf.where(is_movable, MAX_TRIES, 0)

    def is_filled(number: tf.Tensor) -> tf.Tensor:
        top, left = tf.unstack(tf.where(options.is_cropped, offsets[number], 0))
        bottom = top + options.cut_sides[0]
        right = left + options.cut_sides[1]
        part = mask[top : bottom : step[0], left : right : step[1], 0]
        values = tf.cast(tf.reshape(part, [-1]), tf.int32)
        # tf.math.bincount is the same with many small steps around it.
        counts = tf.raw_ops.DenseBincount(input=values, size=VOID + 1, weights=_NO_WEIGHTS)[:VOID]
        total = tf.reduce_sum(counts)
        largest = tf.cast(tf.reduce_max(counts), tf.float32)
        share = largest / tf.cast(tf.maximum(total, 1), tf.float32)
        return tf.logical_or(total == 0, share >= cat_max_ratio)

    def tries_another(number: tf.Tensor) -> tf.Tensor:
        return tf.cond(number < tries, lambda: is_filled(number), lambda: False)

    (chosen,) = tf.while_loop(tries_another, lambda number: (number + 1,), (0,))
    return offsets[chosen]


def _sample_class(classes: tf.Tensor, weights: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Samples one of the classes, int64 `[N]`, in proportion to the weights of all classes."""
    ends = tf.cumsum(tf.gather(weights, classes))
    total = tf.reduce_max(ends)  # and not ends[-1]: a graph may know that there are no classes
    index = tf.searchsorted(ends, [fraction * total], side="right")[0]
    return tf.gather(classes, tf.minimum(index, tf.size(classes) - 1))


def _sample_pixel(is_candidate: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Samples one of the pixels that are true, bool `[H, W]`, each equally likely; int32 `[2]`.

    A list of all of them is never made: only of those in one row.
    """
    ends = tf.cumsum(tf.reduce_sum(tf.cast(is_candidate, tf.int32), axis=1))
    total = tf.cast(ends[-1], tf.float64)
    number = tf.cast(tf.cast(fraction, tf.float64) * total, tf.int32)
    last_row = tf.shape(is_candidate)[0] - 1
    row = tf.minimum(tf.searchsorted(ends, [number], side="right")[0], last_row)
    before_row = tf.where(row > 0, ends[tf.maximum(row - 1, 0)], 0)
    columns = tf.cast(tf.where(is_candidate[row])[:, 0], tf.int32)
    return tf.stack([row, columns[number - before_row]])
