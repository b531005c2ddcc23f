"""Random scales, and the crop that DeepLab trains on: scaled, placed and flipped in one step.

A crop may be placed on pixels of a class, and not where one class fills it. Both rules look at the
mask before the image is decoded, so that no more of the image is decoded than without them. A mask
has to be decoded completely in any case.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.arrays import Size, scale_step, sides
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import LABELS, MASK, VOID
from voc_seg_tfrecord.pipeline.geometry import coin, random_places, uniform, up_to
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
    scale = _scale(seed, scales, step)
    return Window(size=_scaled(image_size(example), scale)).apply(example)


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
    height, width = sides("size", size)
    canvas = tf.constant((height, width))
    current = image_size(example)
    example = dict(example)
    if class_crop or cat_max_ratio < 1:
        example[MASK] = decode({MASK: example[MASK]})[MASK]
    room = Room.of(current, canvas, _scale(seed, scales, step))
    if class_crop:
        weights = [1.0] * VOID if class_weights is None else class_weights
        room = on_a_class(
            room,
            Room.of(current, canvas, tf.constant(1.0)),
            example[MASK],
            example[LABELS],
            tf.constant(weights, tf.float32),
            seed=seed,
            probability=class_crop,
        )
    if cat_max_ratio < 1:
        place = mixed(room, example[MASK], seed=seed, cat_max_ratio=cat_max_ratio)
    else:
        place = room.places(seed)[0]
    window = Window(
        cut=tf.concat([tf.where(room.larger, place, 0), room.kept], axis=0),
        size=room.size,
        flip=coin(seed) if flip else None,
        before=tf.where(room.larger, 0, place),
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


def _scale(seed: tf.Tensor, scales: tuple[float, float], step: float | None) -> tf.Tensor:
    step = scale_step(scales, step)
    smallest, largest = scales
    (fraction,) = uniform(seed, "scale", 1)
    if not step:
        return smallest + fraction * (largest - smallest)
    steps = up_to(fraction, tf.constant(round((largest - smallest) / step)))
    return smallest + step * tf.cast(steps, tf.float32)


def _scaled(size: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    return tf.maximum(tf.cast(tf.round(tf.cast(size, tf.float32) * scale), tf.int32), 1)


TRIES = 10
"""How many places are looked at before one is taken as it is."""

_GRID = 64  # rows and columns of a crop that are looked at to see how much a class has of it

_NO_WEIGHTS = np.zeros([0], np.int32)


class Room(NamedTuple):
    """Where a crop may lie, at one scale.

    Attributes:
      kept: int32 `[2]`, height and width of the crop in the image, not scaled.
      size: int32 `[2]`, height and width of it in the result.
      larger: bool `[2]`, whether the image is larger than the crop along an axis. Along the
        others all of the image is kept, and it is placed in the padding.
      rows: int32 `[R]`, where the top of the crop, or of the image in the padding, may lie.
      columns: int32 `[C]`, likewise its left side.
    """

    kept: tf.Tensor
    size: tf.Tensor
    larger: tf.Tensor
    rows: tf.Tensor
    columns: tf.Tensor

    @classmethod
    def of(cls, current: tf.Tensor, canvas: tf.Tensor, scale: tf.Tensor) -> "Room":
        """Returns all of the room that an image of a size leaves on a canvas at a scale."""
        scaled = _scaled(current, scale)
        larger = scaled > canvas
        shown = tf.clip_by_value(_scaled(canvas, 1 / scale), 1, current)
        size = tf.where(larger, shown, current)
        highest = tf.where(larger, current - size, canvas - scaled)
        places = (tf.range(highest[axis] + 1) for axis in (0, 1))
        return cls(size, tf.minimum(scaled, canvas), larger, *places)

    def places(self, seed: tf.Tensor, count: int = 1) -> list[tf.Tensor]:
        """Draws places, int32 `[2]` each."""
        last = tf.stack([tf.size(self.rows), tf.size(self.columns)]) - 1
        return [
            tf.stack([tf.gather(self.rows, drawn[0]), tf.gather(self.columns, drawn[1])])
            for drawn in random_places(seed, last, count)
        ]

    def shown(self, axis: int) -> tf.Tensor:
        """Returns which rows, or columns, of a crop the nearest pixels are taken from."""
        return sources(self.kept[axis], self.size[axis])

    def can_show(self, axis: int, length: tf.Tensor) -> tf.Tensor:
        """Returns which rows, or columns, of the image can be seen at some place, bool `[length]`.

        Scaling down passes over pixels. So a crop shows a pixel not wherever it lies around it.
        """
        starts = tf.where(self.larger[axis], (self.rows, self.columns)[axis], [0])
        seen = tf.reshape(starts[:, tf.newaxis] + self.shown(axis), [-1, 1])
        hits = tf.scatter_nd(seen, tf.ones_like(seen[:, 0]), [length])
        return hits > 0

    def showing(self, pixel: tf.Tensor) -> "Room":
        """Returns the places at which a pixel that can be seen, int32 `[2]`, is seen."""

        def places(axis: int) -> tf.Tensor:
            all_of_them = (self.rows, self.columns)[axis]
            fitting = pixel[axis] - self.shown(axis)
            inside = (fitting >= 0) & (fitting <= all_of_them[-1])
            return tf.cond(self.larger[axis], lambda: fitting[inside], lambda: all_of_them)

        return self._replace(rows=places(0), columns=places(1))


def on_a_class(
    room: Room,
    unscaled: Room,
    mask: tf.Tensor,
    classes: tf.Tensor,
    weights: tf.Tensor,
    *,
    seed: tf.Tensor,
    probability: float,
) -> Room:
    """Limits the room, with some probability, to crops that show a pixel of a class.

    The class is drawn from those in the image, then one of its pixels that can be seen at the
    scale. If it has none, because it has few pixels and scaling down passes over them, the image is
    not scaled. This is how nnU-Net chooses patches with foreground, except that the pixel may lie
    anywhere in the crop and not only in its middle.

    Args:
      room: all of the room.
      unscaled: all of it at scale 1.
      mask: uint8 `[H, W, 1]`.
      classes: int64 `[N]`, the classes in the mask to draw from; without any, the room stays.
      weights: float32 `[classes of the dataset]`; a class is drawn in proportion to its weight.
      seed: integer `[2]`.
      probability: 0 to 1.

    References:
      Isensee et al., "nnU-Net: a self-configuring method for deep learning-based biomedical
      image segmentation", Nature Methods 18, 2021, oversampling of foreground.
    """
    chance, which, where = uniform(seed, "class", 3)

    def limited() -> Room:
        of_class = mask[..., 0] == tf.cast(_drawn(classes, weights, which), mask.dtype)
        seen = [room.can_show(axis, tf.shape(of_class)[axis]) for axis in (0, 1)]
        visible = of_class & seen[0][:, tf.newaxis] & seen[1]
        return tf.cond(
            tf.reduce_any(visible),
            lambda: room.showing(_pixel(visible, where)),
            lambda: unscaled.showing(_pixel(of_class, where)),
        )

    drawn = tf.logical_and(chance < probability, tf.size(classes) > 0)
    return tf.cond(drawn, limited, lambda: room)


def mixed(room: Room, mask: tf.Tensor, *, seed: tf.Tensor, cat_max_ratio: float) -> tf.Tensor:
    """Draws a place at which no class of the mask, uint8 `[H, W, 1]`, has too much of the crop.

    Void is not counted.

    As in MMSegmentation's `RandomCrop`, up to 10 places are looked at. If a class has too much of
    each of them, one more is drawn and taken as it is. Of a crop larger than 64 x 64 pixels
    every second, third, ... row and column is looked at, which is as good for a share.

    Returns:
      int32 `[2]`, as `geometry.random_places` draws it.

    References:
      MMSegmentation, mmseg/datasets/transforms/transforms.py, RandomCrop.
    """
    drawn = tf.stack(room.places(seed, TRIES + 1))
    step = (room.kept + _GRID - 1) // _GRID
    # Where a crop shows the whole image, every place shows the same.
    free = tf.stack([tf.size(room.rows), tf.size(room.columns)]) > 1
    movable = tf.reduce_any(tf.logical_and(room.larger, free))
    tries = tf.where(movable, TRIES, 0)

    def one_has_too_much(number: tf.Tensor) -> tf.Tensor:
        top, left = tf.unstack(tf.where(room.larger, drawn[number], 0))
        bottom, right = top + room.kept[0], left + room.kept[1]
        part = mask[top : bottom : step[0], left : right : step[1], 0]
        values = tf.cast(tf.reshape(part, [-1]), tf.int32)
        # tf.math.bincount is the same with many small steps around it.
        counts = tf.raw_ops.DenseBincount(input=values, size=VOID + 1, weights=_NO_WEIGHTS)[:VOID]
        largest, total = tf.reduce_max(counts), tf.reduce_sum(counts)
        share = tf.cast(largest, tf.float32) / tf.cast(tf.maximum(total, 1), tf.float32)
        return tf.logical_or(total == 0, share >= cat_max_ratio)

    def goes_on(number: tf.Tensor) -> tf.Tensor:
        return tf.cond(number < tries, lambda: one_has_too_much(number), lambda: False)

    return drawn[tf.while_loop(goes_on, lambda number: (number + 1,), (0,))[0]]


def _drawn(classes: tf.Tensor, weights: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Draws one of the classes."""
    ends = tf.cumsum(tf.gather(weights, classes))
    total = tf.reduce_max(ends)  # and not ends[-1]: a graph may know that there are no classes
    index = tf.searchsorted(ends, [fraction * total], side="right")[0]
    return tf.gather(classes, tf.minimum(index, tf.size(classes) - 1))


def _pixel(of_class: tf.Tensor, fraction: tf.Tensor) -> tf.Tensor:
    """Draws one of the pixels that are true, bool `[H, W]`, each equally likely; int32 `[2]`.

    A list of all of them is never made: only of those in one row.
    """
    ends = tf.cumsum(tf.reduce_sum(tf.cast(of_class, tf.int32), axis=1))
    total = tf.cast(ends[-1], tf.float64)
    number = tf.cast(tf.cast(fraction, tf.float64) * total, tf.int32)
    row = tf.minimum(tf.searchsorted(ends, [number], side="right")[0], tf.shape(of_class)[0] - 1)
    before = tf.where(row > 0, ends[tf.maximum(row - 1, 0)], 0)
    columns = tf.cast(tf.where(of_class[row])[:, 0], tf.int32)
    return tf.stack([row, columns[number - before]])
