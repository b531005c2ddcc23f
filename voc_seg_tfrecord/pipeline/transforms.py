"""Transforms of one example: sizes, crops, padding, flips, layers of Keras, and targets of losses.

Every function takes one example, decoded or not, and works as the package's docstring says. Those
that move pixels move the image and its masks alike. `sample_weights` and `one_hot` come after them.
A size is one number for a square, or height and width. Wherever the size of the result is given, it
is static.
"""

from collections.abc import Callable, Iterable, Mapping
import dataclasses
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.arrays import SAMPLE_WEIGHT, Size, find_fill_values, parse_size
from voc_seg_tfrecord.core.names import IMAGE, MASK, VOID, WHOLE_IMAGE_FEATURES
from voc_seg_tfrecord.pipeline.seeds import coin, random_offsets
from voc_seg_tfrecord.pipeline.window import (
    Example,
    Padding,
    Window,
    decode,
    image_names,
    image_size,
)


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


def augment(example: Mapping[str, Any], layers: Iterable[Callable[..., Any]]) -> Example:
    """Moves image and masks by random Keras layers, such as `keras.layers.RandomRotation`.

    Masks take the nearest pixel, whatever the layer's `interpolation`. Where the layer fills the
    image with its `fill_value`, masks become 255 (void). With other fill modes, masks are extended
    in the same way as the image. Layers that change colors do not change masks.

    Args:
      example: image and masks.
      layers: Keras layers that take a dictionary of `images` and `segmentation_masks`. Make them
        outside of the mapped function. Random numbers come from the layers' own seeds, not from the
        example's.

    Returns:
      The example with image and masks moved. The image keeps its dtype; uint8 values are rounded
      and clipped to 0 to 255.

    Raises:
      tf.errors.InvalidArgumentError: when the dataset is read, if a layer made new mask values, as
        `RandomCrop` does if it resizes.
    """
    image_names(example)  # it must be one, and no batch
    decoded = decode(example)
    before = {name: value for name, value in decoded.items() if name not in WHOLE_IMAGE_FEATURES}
    mask_fills = {name: fill for name, fill in find_fill_values(before).items() if name != IMAGE}
    masks = {name: _with_channel_axis(before[name]) for name in mask_fills}
    data = {"images": before[IMAGE], "segmentation_masks": _stack_planes(before[IMAGE], masks)}
    for layer in layers:
        data = layer(data, training=True)
    planes = _split_planes(data["segmentation_masks"], masks)
    after = {**before, IMAGE: _cast_image(data["images"], before[IMAGE].dtype)}
    for name, fill in mask_fills.items():
        mask = tf.where(planes.is_filled, tf.cast(fill, tf.float32), planes.masks[name])
        checks = [_check_values(masks[name], mask, name)] if fill == VOID else []
        with tf.control_dependencies(checks):
            mask = tf.cast(mask, before[name].dtype)
        after[name] = mask if _has_channel_axis(before[name]) else mask[..., 0]
    return after


def _has_channel_axis(mask: tf.Tensor) -> bool:
    """Returns whether the last axis of a mask is that of channels, which weights `[H, W]` lack."""
    return mask.shape.rank != 2


def _with_channel_axis(mask: tf.Tensor) -> tf.Tensor:
    return mask if _has_channel_axis(mask) else mask[..., tf.newaxis]


@dataclasses.dataclass(frozen=True)
class _MovedPlanes:
    """What layers made of the planes of `_stack_planes`.

    Attributes:
      masks: each mask by its feature, float32 `[H, W, channels]`.
      is_filled: where a layer filled all planes with one value, bool `[H, W, 1]`.
    """

    masks: Mapping[str, tf.Tensor]
    is_filled: tf.Tensor


def _stack_planes(image: tf.Tensor, masks: Mapping[str, tf.Tensor]) -> tf.Tensor:
    """Stacks all masks, a plane of zeros and a plane of ones, so that they are moved together.

    The last two planes tell where a layer filled the image: only there do they become the same.

    Args:
      image: `[H, W, 3]`.
      masks: each mask by its feature, `[H, W, channels]`.

    Returns:
      float32 `[H, W, all channels]`.
    """
    zeros_plane = tf.zeros_like(image[..., :1], tf.float32)
    ones_plane = tf.ones_like(zeros_plane)
    mask_planes = [tf.cast(mask, tf.float32) for mask in masks.values()]
    return tf.concat([*mask_planes, zeros_plane, ones_plane], axis=-1)


def _split_planes(stacked: tf.Tensor, masks: Mapping[str, tf.Tensor]) -> _MovedPlanes:
    """Takes apart what `_stack_planes` stacked, after it was moved.

    Args:
      stacked: `[H, W, all channels]`.
      masks: the masks before they were moved, which have the same channels.
    """
    channel_counts = [mask.shape[-1] for mask in masks.values()]
    planes = tf.split(tf.cast(stacked, tf.float32), [*channel_counts, 1, 1], axis=-1)
    *moved_masks, zeros_plane, ones_plane = planes
    return _MovedPlanes(
        masks=dict(zip(masks, moved_masks, strict=True)), is_filled=ones_plane == zeros_plane
    )


def _cast_image(image: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Returns an image of numbers in its old dtype: integers are rounded and cut off."""
    values = tf.cast(image, tf.float32)
    if dtype.is_integer:
        values = tf.round(values)
    return tf.saturate_cast(values, dtype)


def _check_values(before: tf.Tensor, after: tf.Tensor, name: str) -> tf.Operation | None:
    """Fails if a mask, float32 after it was moved, has values that it did not have before."""
    values = tf.reshape(tf.cast(before, tf.int32), [-1, 1])
    counts = tf.scatter_nd(values, tf.ones([tf.size(before)], tf.int32), [256])
    index = tf.cast(after, tf.int32)
    is_old_value = (tf.gather(counts, index) > 0) | (index == VOID)
    is_whole = tf.cast(index, tf.float32) == after
    return tf.debugging.Assert(
        tf.reduce_all(is_old_value & is_whole),
        [
            f"pipeline.augment: a layer made values in {name} that were not there; crop with "
            "pipeline.random_crop_or_pad, and leave out layers that mix images"
        ],
    )


def sample_weights(example: Mapping[str, Any]) -> Example:
    """Adds `sample_weight`: 0 for void, which includes padding, and 1 elsewhere.

    Keras takes it as the third of `(image, segmentation_mask, sample_weight)`. The mask still holds
    255: give a loss that takes class indices `ignore_class=255` too.

    Args:
      example: its `segmentation_mask` is uint8 `[..., H, W, 1]`.

    Returns:
      The example with `sample_weight`, float32 `[..., H, W]`.
    """
    mask = example[MASK][..., 0]
    return {**example, SAMPLE_WEIGHT: tf.cast(tf.not_equal(mask, VOID), tf.float32)}


def one_hot(example: Mapping[str, Any], num_classes: int) -> Example:
    """Turns the mask into one channel per class; void is 0 in all of them.

    Args:
      example: its `segmentation_mask` is uint8 `[..., H, W, 1]`.
      num_classes: number of classes, counting background but not void; 21 for VOC.

    Returns:
      The example with `segmentation_mask` as float32 `[..., H, W, num_classes]`. The categorical
      cross-entropy of a pixel of zeros is 0, so void needs no weights.
    """
    return {**example, MASK: tf.one_hot(example[MASK][..., 0], num_classes)}
