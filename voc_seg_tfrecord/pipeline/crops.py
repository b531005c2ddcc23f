"""Random scales, and the crop that DeepLab trains on: scaled, placed and flipped in one step.

A crop may be placed on pixels of a class, and not where one class fills it. Both rules look at the
mask before the image is decoded, so that no more of the image is decoded than without them. A mask
has to be decoded completely in any case.

A size is int32 `[2]`, height and width. Axis 0 is that of the rows, axis 1 that of the columns.
"""

from collections.abc import Callable, Mapping, Sequence
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.arrays import Size, parse_size, scale_step
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import LABELS, MASK, VOID
from voc_seg_tfrecord.pipeline.seeds import coin, random_offsets, uniform, up_to
from voc_seg_tfrecord.pipeline.window import (
    Example,
    Padding,
    Window,
    decode,
    image_size,
    nearest_positions,
)

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
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.

    Returns:
      The example with image and masks of the new size, at least 1 x 1.
    """
    scale = _sample_scale(seed, scales, step)
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

    Only the pixels of the crop are decoded and resized. The crop's edges are rounded to full pixels
    of the unscaled image; apart from that, the result is the same.

    Args:
      example: image and masks.
      size: height and width of the result, or one number for both.
      seed: integer `[2]`, such as `example_seed` returns.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
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
    places = _CropPlaces.at_scale(image_sides, canvas, _sample_scale(seed, scales, step))
    if class_crop:
        places = _limit_to_class(
            places,
            _CropPlaces.at_scale(image_sides, canvas, tf.constant(1.0)),
            example[MASK],
            example[LABELS],
            tf.constant(_EQUAL_WEIGHTS if class_weights is None else class_weights, tf.float32),
            seed=seed,
            probability=class_crop,
        )
    if cat_max_ratio < 1:
        place = _sample_mixed_place(places, example[MASK], seed=seed, cat_max_ratio=cat_max_ratio)
    else:
        (place,) = places.sample(seed)
    # Without a resize that would never be done, an epoch begins sooner.
    is_scaled = tuple(scales) != (1, 1)
    window = Window(
        crop=tf.concat([place.corner, places.crop_sides], axis=0),
        size=places.result_sides if is_scaled else None,
        flip=coin(seed) if flip else None,
        padding=Padding(before=place.padding_before, result_size=(height, width)),
    )
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


def _scale_sides(sides: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Returns height and width at a scale, int32 `[2]`, each at least 1."""
    scaled = tf.round(tf.cast(sides, tf.float32) * scale)
    return tf.maximum(tf.cast(scaled, tf.int32), 1)


class _CropPlace(NamedTuple):
    """One place of a crop.

    Along an axis, either the crop begins somewhere in the image, or the image somewhere in the
    padding. The other number is 0.

    Attributes:
      corner: the first row and column of the image in the crop, not scaled, int32 `[2]`.
      padding_before: the rows of padding above the image, and the columns to its left, int32 `[2]`.
    """

    corner: tf.Tensor
    padding_before: tf.Tensor


class _PlacesAlongAxis(NamedTuple):
    """The places that a crop may have along one axis; see `_CropPlace`.

    It is a named tuple because `tf.cond` returns tuples of tensors, and no other class.

    Attributes:
      corners: the first row or column of the image in the crop, int32 `[N]`.
      paddings: the rows or columns of padding before it, int32 `[N]`.
      shown_lines: which rows or columns of a crop the result shows, int32, counted in the crop.
        Scaling down takes the nearest pixel and passes over others. Of the 4 rows 0, 1, 2, 3 of a
        crop, a result of 2 rows shows 1 and 3.
    """

    corners: tf.Tensor
    paddings: tf.Tensor
    shown_lines: tf.Tensor

    def visible_lines(self, length: tf.Tensor) -> tf.Tensor:
        """Returns which of so many rows or columns are shown at some place, bool `[length]`."""
        lines = tf.reshape(self.corners[:, tf.newaxis] + self.shown_lines, [-1, 1])
        times_shown = tf.scatter_nd(lines, tf.ones_like(lines[:, 0]), [length])
        return times_shown > 0

    def only_showing(self, line: tf.Tensor) -> "_PlacesAlongAxis":
        """Returns the places at which a row or column of the image is shown.

        It must be shown at one of them; see `visible_lines`.
        """
        # A crop shows the line as its k-th where corner + shown_lines[k] == line.
        candidates = line - self.shown_lines
        is_corner = (candidates >= 0) & (candidates <= self.corners[-1])
        corners = candidates[is_corner]
        is_cropped = self.corners[-1] > 0
        # Along an axis that is padded, every place shows all lines.
        return tf.cond(
            is_cropped,
            lambda: self._replace(corners=corners, paddings=tf.zeros_like(corners)),
            lambda: self,
        )


class _CropPlaces(NamedTuple):
    """The places that a crop may have at one scale.

    Attributes:
      crop_sides: height and width of the crop in the image, not scaled, int32 `[2]`.
      result_sides: height and width of the crop in the result, without padding, int32 `[2]`.
      rows: the places along the rows.
      columns: the places along the columns.
    """

    crop_sides: tf.Tensor
    result_sides: tf.Tensor
    rows: _PlacesAlongAxis
    columns: _PlacesAlongAxis

    @classmethod
    def at_scale(cls, image_sides: tf.Tensor, canvas: tf.Tensor, scale: tf.Tensor) -> "_CropPlaces":
        """Returns all places of a crop.

        Args:
          image_sides: height and width of the image, int32 `[2]`.
          canvas: height and width of the result with padding, int32 `[2]`.
          scale: float32.
        """
        scaled_sides = _scale_sides(image_sides, scale)
        is_cropped = scaled_sides > canvas
        canvas_in_image = tf.clip_by_value(_scale_sides(canvas, 1 / scale), 1, image_sides)
        crop_sides = tf.where(is_cropped, canvas_in_image, image_sides)
        result_sides = tf.minimum(scaled_sides, canvas)
        last_corner = image_sides - crop_sides  # 0 along an axis that is not cropped
        last_padding = canvas - result_sides  # 0 along an axis that is cropped
        along_axes = []
        for axis in (0, 1):
            count = last_corner[axis] + last_padding[axis] + 1
            along_axes.append(
                _PlacesAlongAxis(
                    corners=tf.minimum(tf.range(count), last_corner[axis]),
                    paddings=tf.minimum(tf.range(count), last_padding[axis]),
                    shown_lines=nearest_positions(crop_sides[axis], result_sides[axis]),
                )
            )
        return cls(crop_sides, result_sides, rows=along_axes[0], columns=along_axes[1])

    def sample(self, seed: tf.Tensor, count: int = 1) -> list[_CropPlace]:
        """Samples places."""
        last_index = tf.stack([tf.size(self.rows.corners), tf.size(self.columns.corners)]) - 1
        places = []
        for index in random_offsets(seed, last_index, count):
            row, column = index[0], index[1]
            corner = tf.stack([self.rows.corners[row], self.columns.corners[column]])
            padding = tf.stack([self.rows.paddings[row], self.columns.paddings[column]])
            places.append(_CropPlace(corner, padding))
        return places

    def only_showing(self, pixel: tf.Tensor) -> "_CropPlaces":
        """Returns the places at which a pixel, int32 `[2]`, is shown.

        The pixel must be shown at one of them; see `_PlacesAlongAxis.visible_lines`.
        """
        return self._replace(
            rows=self.rows.only_showing(pixel[0]), columns=self.columns.only_showing(pixel[1])
        )


def _limit_to_class(
    places: _CropPlaces,
    unscaled_places: _CropPlaces,
    mask: tf.Tensor,
    classes: tf.Tensor,
    weights: tf.Tensor,
    *,
    seed: tf.Tensor,
    probability: float,
) -> _CropPlaces:
    """Limits the places, with some probability, to crops that show a pixel of a class.

    The class is sampled from those in the image, then one of its pixels that can be seen at the
    scale. If it has none, because it has few pixels and scaling down passes over them, the image is
    not scaled. This is how nnU-Net chooses patches with foreground, except that the pixel may lie
    anywhere in the crop and not only in its middle.

    Args:
      places: all places.
      unscaled_places: all places at scale 1.
      mask: uint8 `[H, W, 1]`.
      classes: int64 `[N]`, the classes in the mask to sample from. If there is none, or all of
        them have weight 0, all places stay.
      weights: float32 `[classes of the dataset]`; a class is sampled in proportion to its weight.
      seed: integer `[2]`.
      probability: 0 to 1.

    References:
      Isensee et al., "nnU-Net: a self-configuring method for deep learning-based biomedical
      image segmentation", Nature Methods 18, 2021, oversampling of foreground.
    """
    limit_fraction, class_fraction, pixel_fraction = uniform(seed, "class", 3)
    weights_in_image = tf.gather(weights, classes)

    def limited_places() -> _CropPlaces:
        sampled_class = classes[_sample_index(weights_in_image, class_fraction)]
        is_class = mask[..., 0] == tf.cast(sampled_class, mask.dtype)
        return _places_on_class(places, unscaled_places, is_class, pixel_fraction)

    has_class = tf.reduce_sum(weights_in_image) > 0
    is_limited = tf.logical_and(limit_fraction < probability, has_class)
    return tf.cond(is_limited, limited_places, lambda: places)


def _places_on_class(
    places: _CropPlaces,
    unscaled_places: _CropPlaces,
    is_class: tf.Tensor,
    pixel_fraction: tf.Tensor,
) -> _CropPlaces:
    """Returns the places at which a crop shows one pixel of a class, which is sampled.

    Args:
      places: all places at the scale.
      unscaled_places: all places at scale 1, at which every pixel of the class can be seen. They
        are taken if none can be seen at the scale.
      is_class: bool `[H, W]`, which pixels of the mask have the class; at least one has.
      pixel_fraction: float32, uniform, 0 or more and below 1; by which the pixel is sampled.
    """
    mask_sides = tf.shape(is_class)
    visible_rows = places.rows.visible_lines(mask_sides[0])
    visible_columns = places.columns.visible_lines(mask_sides[1])
    is_visible = is_class & visible_rows[:, tf.newaxis] & visible_columns
    return tf.cond(
        tf.reduce_any(is_visible),
        lambda: places.only_showing(_sample_pixel(is_visible, pixel_fraction)),
        lambda: unscaled_places.only_showing(_sample_pixel(is_class, pixel_fraction)),
    )


def _sample_index(weights: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Returns the index of one of the weights, float32 `[N]`, sampled in proportion to them.

    Weights of 1, 0 and 3 end at 1, 1 and 4: fractions below 1/4 give index 0, others give 2.

    Args:
      weights: 0 or more, and not all 0.
      fraction: float32, uniform, 0 or more and below 1.
    """
    ends = tf.cumsum(weights)
    total = tf.reduce_max(ends)  # `ends[-1]` fails when a graph is traced for no classes
    index = tf.searchsorted(ends, [fraction * total], side="right")[0]
    return tf.minimum(index, tf.size(weights) - 1)


def _sample_pixel(is_candidate: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Returns one of the pixels that are true, each equally likely.

    A list of all of them is never made: only of those in one row.

    Args:
      is_candidate: bool `[H, W]`.
      fraction: float32, uniform, 0 or more and below 1.

    Returns:
      Its row and column, int32 `[2]`.
    """
    # The candidates are numbered in reading order. Row r has those of row_ends[r - 1] up to, and
    # without, row_ends[r].
    row_ends = tf.cumsum(tf.reduce_sum(tf.cast(is_candidate, tf.int32), axis=1))
    total = tf.cast(row_ends[-1], tf.float64)
    number = tf.cast(tf.cast(fraction, tf.float64) * total, tf.int32)
    last_row = tf.shape(is_candidate)[0] - 1
    row = tf.minimum(tf.searchsorted(row_ends, [number], side="right")[0], last_row)
    first_in_row = tf.where(row > 0, row_ends[tf.maximum(row - 1, 0)], 0)
    columns = tf.cast(tf.where(is_candidate[row])[:, 0], tf.int32)
    return tf.stack([row, columns[number - first_in_row]])


_MAX_CHECKED_PLACES = 10
"""How many places are checked before one is taken unchecked."""

_MAX_COUNTED_LINES = 64
"""Rows, and columns, of a crop in which the pixels of classes are counted."""

_NO_WEIGHTS = np.zeros([0], np.int32)


def _sample_mixed_place(
    places: _CropPlaces, mask: tf.Tensor, *, seed: tf.Tensor, cat_max_ratio: float
) -> _CropPlace:
    """Samples a place at which no class fills the crop, as MMSegmentation's `RandomCrop` does.

    Up to 10 places are checked, and the first at which every class stays below the share is
    taken. Void is not counted, and a crop that shows void alone does not pass. If none of the 10
    passes, one more is sampled and taken unchecked.

    In a crop larger than 64 x 64 pixels every second, third, ... row and column is counted, which
    is as good for a share.

    Args:
      places: the places to sample from.
      mask: uint8 `[H, W, 1]`.
      seed: integer `[2]`.
      cat_max_ratio: the share of the crop's pixels that every class must stay below.

    References:
      MMSegmentation, mmseg/datasets/transforms/transforms.py, RandomCrop.
    """
    sampled = places.sample(seed, _MAX_CHECKED_PLACES + 1)
    corners = tf.stack([place.corner for place in sampled])
    paddings = tf.stack([place.padding_before for place in sampled])
    # Where a crop shows the whole image, it shows the same at every place.
    last_corner = tf.stack([places.rows.corners[-1], places.columns.corners[-1]])
    first_corner = tf.stack([places.rows.corners[0], places.columns.corners[0]])
    is_movable = tf.reduce_any(first_corner != last_corner)
    checked_count = tf.where(is_movable, _MAX_CHECKED_PLACES, 0)

    def is_rejected(number: tf.Tensor) -> tf.Tensor:
        """Says whether a place is checked and does not pass."""
        return tf.cond(
            number < checked_count,
            lambda: _is_filled(mask, corners[number], places.crop_sides, cat_max_ratio),
            lambda: False,
        )

    # As the last of the places is never checked, there is always one that is not rejected.
    number = _find_first_accepted(is_rejected)
    return _CropPlace(corners[number], paddings[number])


def _find_first_accepted(is_rejected: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    """Returns the first of the numbers 0, 1, 2, ... that is not rejected, scalar int32."""
    (number,) = tf.while_loop(is_rejected, lambda number: (number + 1,), (0,))
    return number


def _is_filled(
    mask: tf.Tensor, corner: tf.Tensor, crop_sides: tf.Tensor, cat_max_ratio: float
) -> tf.Tensor:
    """Returns whether a class has too large a share of a crop, or the crop shows only void.

    Args:
      mask: uint8 `[H, W, 1]`.
      corner: the first row and column of the crop, int32 `[2]`.
      crop_sides: its height and width, int32 `[2]`.
      cat_max_ratio: the share that is too large.

    Returns:
      Scalar bool.
    """
    top, left = tf.unstack(corner)
    height, width = tf.unstack(crop_sides)
    steps = tf.math.floordiv(crop_sides + _MAX_COUNTED_LINES - 1, _MAX_COUNTED_LINES)  # rounded up
    row_step, column_step = tf.unstack(steps)
    rows = slice(top, top + height, row_step)
    columns = slice(left, left + width, column_step)
    values = tf.cast(tf.reshape(mask[rows, columns, 0], [-1]), tf.int32)
    # tf.math.bincount is the same with many small steps around it.
    counts = tf.raw_ops.DenseBincount(input=values, size=VOID + 1, weights=_NO_WEIGHTS)
    class_counts = counts[:VOID]
    total = tf.reduce_sum(class_counts)
    is_only_void = total == 0
    largest = tf.cast(tf.reduce_max(class_counts), tf.float32)
    largest_share = largest / tf.cast(tf.maximum(total, 1), tf.float32)
    return is_only_void | (largest_share >= cat_max_ratio)
