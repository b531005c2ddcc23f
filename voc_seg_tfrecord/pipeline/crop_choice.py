"""Which offsets of a crop are taken by what the mask shows: a class, or no class too often."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.pipeline.crop_offsets import CropOffsets
from voc_seg_tfrecord.pipeline.seeds import uniform


def limit_to_class(
    offsets: CropOffsets,
    unscaled_offsets: CropOffsets,
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
      offsets: all offsets.
      unscaled_offsets: all offsets at scale 1.
      mask: uint8 `[H, W, 1]`.
      classes: int64 `[N]`, the classes in the mask to sample from. If there is none, or all of
        them have weight 0, all offsets stay.
      weights: float32 `[classes of the dataset]`; a class is sampled in proportion to its weight.
      seed: integer `[2]`.
      probability: 0 to 1.

    References:
      Isensee et al., "nnU-Net: a self-configuring method for deep learning-based biomedical
      image segmentation", Nature Methods 18, 2021, oversampling of foreground.
    """
    limit_fraction, class_fraction, pixel_fraction = uniform(seed, "class", 3)
    weights_in_image = tf.gather(weights, classes)

    def limited_offsets() -> CropOffsets:
        sampled_class = classes[_sample_index(weights_in_image, class_fraction)]
        is_class = mask[..., 0] == tf.cast(sampled_class, mask.dtype)
        return _offsets_on_class(offsets, unscaled_offsets, is_class, pixel_fraction)

    has_class = tf.reduce_sum(weights_in_image) > 0
    is_limited = tf.logical_and(limit_fraction < probability, has_class)
    return tf.cond(is_limited, limited_offsets, lambda: offsets)


def _offsets_on_class(
    offsets: CropOffsets,
    unscaled_offsets: CropOffsets,
    is_class: tf.Tensor,
    pixel_fraction: tf.Tensor,
) -> CropOffsets:
    """Returns the offsets at which a crop shows one pixel of a class, which is sampled.

    Args:
      offsets: all offsets at the scale.
      unscaled_offsets: all offsets at scale 1, at which every pixel of the class can be seen. They
        are taken if none can be seen at the scale.
      is_class: bool `[H, W]`, which pixels of the mask have the class; at least one has.
      pixel_fraction: float32, uniform, 0 or more and below 1; by which the pixel is sampled.
    """
    mask_sides = tf.shape(is_class)
    visible_rows = offsets.visible_lines(0, mask_sides[0])
    visible_columns = offsets.visible_lines(1, mask_sides[1])
    is_visible = is_class & visible_rows[:, tf.newaxis] & visible_columns
    return tf.cond(
        tf.reduce_any(is_visible),
        lambda: offsets.only_showing(_sample_pixel(is_visible, pixel_fraction)),
        lambda: unscaled_offsets.only_showing(_sample_pixel(is_class, pixel_fraction)),
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


_MAX_CHECKED_OFFSETS = 10
"""How many offsets are checked before one is taken unchecked."""

_MAX_COUNTED_LINES = 64
"""Rows, and columns, of a crop in which the pixels of classes are counted."""

_NO_WEIGHTS = np.zeros([0], np.int32)


def sample_mixed_offset(
    offsets: CropOffsets, mask: tf.Tensor, *, seed: tf.Tensor, cat_max_ratio: float
) -> tf.Tensor:
    """Samples an offset at which no class fills the crop, as MMSegmentation's `RandomCrop` does.

    Up to 10 offsets are checked, and the first at which every class stays below the share is
    taken. Void is not counted, and a crop that shows void alone does not pass. If none of the 10
    passes, one more is sampled and taken unchecked.

    In a crop larger than 64 x 64 pixels every second, third, ... row and column is counted, which
    is as good for a share.

    Args:
      offsets: the offsets to sample from.
      mask: uint8 `[H, W, 1]`.
      seed: integer `[2]`.
      cat_max_ratio: the share of the crop's pixels that every class must stay below.

    Returns:
      int32 `[2]`, as `CropOffsets.sample` gives it.

    References:
      MMSegmentation, mmseg/datasets/transforms/transforms.py, RandomCrop.
    """
    sampled = tf.stack(offsets.sample(seed, _MAX_CHECKED_OFFSETS + 1))
    # Where a crop shows the whole image, it shows the same at every offset.
    has_choice = tf.stack([tf.size(offsets.rows), tf.size(offsets.columns)]) > 1
    is_movable = tf.reduce_any(tf.logical_and(offsets.is_cropped, has_choice))
    checked_count = tf.where(is_movable, _MAX_CHECKED_OFFSETS, 0)

    def is_rejected(attempt: tf.Tensor) -> tf.Tensor:
        """Says whether an offset is checked and does not pass."""
        return tf.cond(
            attempt < checked_count,
            lambda: _is_filled(offsets, sampled[attempt], mask, cat_max_ratio),
            lambda: False,
        )

    # As the last of the offsets is never checked, there is always one that is not rejected.
    return sampled[_find_first_accepted(is_rejected)]


def _find_first_accepted(is_rejected: Callable[[tf.Tensor], tf.Tensor]) -> tf.Tensor:
    """Returns the first of the numbers 0, 1, 2, ... that is not rejected, scalar int32."""
    (number,) = tf.while_loop(is_rejected, lambda number: (number + 1,), (0,))
    return number


def _is_filled(
    offsets: CropOffsets, offset: tf.Tensor, mask: tf.Tensor, cat_max_ratio: float
) -> tf.Tensor:
    """Returns whether a class has too large a share of a crop, or the crop shows only void.

    Args:
      offsets: give the size of the crop.
      offset: int32 `[2]`, the one of the crop.
      mask: uint8 `[H, W, 1]`.
      cat_max_ratio: the share that is too large.

    Returns:
      Scalar bool.
    """
    top, left = tf.unstack(offsets.crop_corner(offset))
    height, width = tf.unstack(offsets.crop_sides)
    row_step, column_step = tf.unstack(
        (offsets.crop_sides + _MAX_COUNTED_LINES - 1) // _MAX_COUNTED_LINES
    )
    part = mask[top : top + height : row_step, left : left + width : column_step, 0]
    values = tf.cast(tf.reshape(part, [-1]), tf.int32)
    # tf.math.bincount is the same with many small steps around it.
    counts = tf.raw_ops.DenseBincount(input=values, size=VOID + 1, weights=_NO_WEIGHTS)
    class_counts = counts[:VOID]
    total = tf.reduce_sum(class_counts)
    largest = tf.cast(tf.reduce_max(class_counts), tf.float32)
    largest_share = largest / tf.cast(tf.maximum(total, 1), tf.float32)
    return tf.logical_or(total == 0, largest_share >= cat_max_ratio)
