"""Crops, padding, sizes, flips and the random layers of Keras, the same for image and masks.

Every function here takes one example, decoded or not, and works as the package's docstring
says. A size is one number for a square, or height and width. Wherever the size of the
result is given, it is static.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import IMAGE, OF_THE_WHOLE
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.pipeline import contents, decoding
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


def augment(example: Mapping[str, Any], layers: Iterable[Callable[..., Any]]) -> Example:
    """Moves image and masks with random layers of Keras, such as `keras.layers.RandomRotation`.

    Masks take the nearest pixel, whatever the `interpolation` of the layer. They become 255, which
    is void, wherever the layer fills the image with its `fill_value`; with the other fill modes
    they are continued as the image is. Layers that change colours leave masks as they are.

    Args:
      example: image and masks.
      layers: layers of Keras that take a dictionary of `images` and `segmentation_masks`, made
        outside of the function that is mapped. Random numbers are drawn from the layers' own
        seeds, not from the example's.

    Returns:
      The example, moved. The image keeps its dtype: uint8 is rounded, and cut off at 0 and 255.

    Raises:
      tf.errors.InvalidArgumentError: when the dataset is read, if a layer made mask values that
        were not there, as `RandomCrop` does where it resizes.
    """
    moved = {k: v for k, v in decoding.decode(example).items() if k not in OF_THE_WHOLE}
    masks = [name for name in contents.names(moved) if name != IMAGE]
    zeros = tf.zeros_like(moved[IMAGE][..., :1], tf.float32)
    # Two more masks, of zeros and of ones: only where a layer filled them are they the same.
    planes = [*(tf.cast(moved[name], tf.float32) for name in masks), zeros, zeros + 1]
    data = {"images": moved[IMAGE], "segmentation_masks": tf.concat(planes, axis=-1)}
    for layer in layers:
        data = layer(data, training=True)
    image = tf.cast(data["images"], tf.float32)
    if moved[IMAGE].dtype.is_integer:
        image = tf.round(image)
    image = tf.saturate_cast(image, moved[IMAGE].dtype)
    drawn = tf.unstack(tf.cast(data["segmentation_masks"], tf.float32), len(planes), axis=-1)
    filled = drawn[-1] == drawn[-2]
    for name, values in zip(masks, drawn, strict=False):
        mask = tf.where(filled, tf.cast(VOID, tf.float32), values)[..., tf.newaxis]
        with tf.control_dependencies([_check_values(moved[name], mask, name)]):
            moved[name] = tf.cast(mask, moved[name].dtype)
    return {**moved, IMAGE: image}


def _check_values(before: tf.Tensor, after: tf.Tensor, name: str) -> tf.Operation | None:
    """Fails if a mask has values that it did not have; `after` is float32."""
    known = tf.scatter_nd(
        tf.reshape(tf.cast(before, tf.int32), [-1, 1]), tf.ones([tf.size(before)], tf.int32), [256]
    )
    index = tf.cast(after, tf.int32)
    there = (tf.gather(known, index) > 0) | (index == VOID)
    right = tf.reduce_all(there & (tf.cast(index, tf.float32) == after))
    return tf.debugging.Assert(
        right,
        [
            f"pipeline.augment: a layer made values in {name} that were not there; crop with "
            "pipeline.random_crop_or_pad, and leave out layers that mix images"
        ],
    )


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
