"""Crops, padding, sizes and flips, the same for image and mask; their random numbers; targets.

Every function on examples takes one, decoded or not, and works as the package's docstring says. A
size is one number for a square, or height and width. Wherever the size of the result is given, it
is static. Random numbers depend on the example, not on a thread, a worker or a run. Call `one_hot`
and `sample_weights`, which give what losses need from a mask, after all geometry.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.arrays import SAMPLE_WEIGHT, Size, find_fill_values, parse_size
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, MASK, VOID, WHOLE_IMAGE_FEATURES
from voc_seg_tfrecord.pipeline.window import Example, Window, decode, image_names, image_size


def center_crop_or_pad(example: Mapping[str, Any], size: Size) -> Example:
    """Keeps the middle of what is larger than `size`, pads what is smaller on all sides.

    Args:
      example: image and masks.
      size: size of the result.

    Returns:
      The example with image and masks of that size. Where the number of rows or columns to
      crop or pad is odd, the extra one is at the bottom or at the right.
    """
    canvas = parse_size("size", size)
    room = tf.abs(image_size(example) - canvas)
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
    canvas = parse_size("size", size)
    room = tf.abs(image_size(example) - canvas)
    (offset,) = random_offsets(seed, room)
    return _crop_or_pad(example, canvas, offset)


def resize(example: Mapping[str, Any], size: Size) -> Example:
    """Resizes without keeping the aspect ratio.

    Args:
      example: image and masks.
      size: size of the result.

    Returns:
      The example with image and masks of that size. Nothing is smoothed before it is scaled down.
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


def augment(example: Mapping[str, Any], layers: Iterable[Callable[..., Any]]) -> Example:
    """Moves image and masks with random layers of Keras, such as `keras.layers.RandomRotation`.

    Masks take the nearest pixel, whatever the `interpolation` of the layer. They become 255, which
    is void, wherever the layer fills the image with its `fill_value`; with the other fill modes
    they are continued as the image is. Layers that change colors leave masks as they are.

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
    image_names(example)  # it must be one, and no batch
    decoded = decode(example)
    moved = {name: value for name, value in decoded.items() if name not in WHOLE_IMAGE_FEATURES}
    mask_fills = {name: fill for name, fill in find_fill_values(moved).items() if name != IMAGE}
    masks = {}
    for name in mask_fills:
        has_channels = moved[name].shape.rank != 2  # weights have none
        masks[name] = moved[name] if has_channels else moved[name][..., tf.newaxis]
    # Two more masks, of zeros and of ones: only where a layer filled them are they the same.
    zeros = tf.zeros_like(moved[IMAGE][..., :1], tf.float32)
    planes = [*(tf.cast(mask, tf.float32) for mask in masks.values()), zeros, zeros + 1]
    data = {"images": moved[IMAGE], "segmentation_masks": tf.concat(planes, axis=-1)}
    for layer in layers:
        data = layer(data, training=True)
    channels = [plane.shape[-1] for plane in planes]
    *moved_masks, moved_zeros, moved_ones = tf.split(
        tf.cast(data["segmentation_masks"], tf.float32), channels, axis=-1
    )
    is_filled = moved_ones == moved_zeros
    for (name, fill), values in zip(mask_fills.items(), moved_masks, strict=True):
        mask = tf.where(is_filled, tf.cast(fill, tf.float32), values)
        checks = [_check_values(masks[name], mask, name)] if fill == VOID else []
        with tf.control_dependencies(checks):
            mask = tf.cast(mask, moved[name].dtype)
        moved[name] = tf.reshape(mask, tf.shape(mask)[: len(moved[name].shape)])
    moved[IMAGE] = _cast_image(data["images"], moved[IMAGE].dtype)
    return moved


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


def _crop_or_pad(example: Mapping[str, Any], canvas: tuple[int, int], offset: tf.Tensor) -> Example:
    """Crops at an offset along the axes that are too long, pads by it along the others."""
    current = image_size(example)
    is_cropped = current > canvas
    cut_sides = tf.minimum(current, canvas)
    cut = tf.concat([tf.where(is_cropped, offset, 0), cut_sides], axis=0)
    return Window(cut=cut, before=tf.where(is_cropped, 0, offset), canvas=canvas).apply(example)


def check_count(name: str, count: int) -> None:
    """Raises a ConfigError if a number is not a whole one of 1 or more."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigError(name, found=repr(count), expected="a whole number of 1 or more")


SEED = "seed"
"""Name under which `read` puts an example's seed beside its features."""

_SEEDS_PER_RUN = 1 << 32
"""How many epochs a run may have before its seeds reach those of the next run."""


def example_seed(
    example: Mapping[str, Any],
    *,
    seed: int,
    epoch: int | tf.Tensor = 0,
    copy: int | tf.Tensor = 0,
) -> tf.Tensor:
    """Makes the seed for everything random about an example in an epoch.

    It depends on nothing else: not on order, batch, number of threads, shards or hosts.

    Args:
      example: its `image/filename`, scalar string, identifies it.
      seed: the run's seed, 0 to 2**31 - 1.
      epoch: how often the example was seen before (0).
      copy: which one it is, if an epoch has the example more than once (0). Each copy has
        numbers of its own, and copy 0 has those of an epoch that has the example once.

    Returns:
      int64 `[2]`, for the `seed` argument of this package's functions and of
      `tf.random.stateless_*`.

    Raises:
      ConfigError: if the example has no file name, or the seed is out of range.
    """
    check_seed(seed)
    if FILENAME not in example:
        raise ConfigError(
            "example", found=f"features {sorted(example)}", expected=f"{FILENAME} among them"
        )
    # No file name has a line end, so no copy is taken for another example.
    mark = tf.where(tf.equal(copy, 0), "", tf.strings.join(["\n", tf.strings.as_string(copy)]))
    marked = tf.strings.join([example[FILENAME], mark])
    name = tf.strings.to_hash_bucket_fast(marked, (1 << 63) - 1)
    return tf.stack([name, seed * _SEEDS_PER_RUN + tf.cast(epoch, tf.int64)])


def check_seed(seed: int) -> None:
    """Raises a ConfigError if a seed is not in 0 to 2**31 - 1."""
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 1 << 31:
        raise ConfigError("seed", found=repr(seed), expected="0 to 2147483647")


def shuffle_seed(seed: int, epoch: tf.Tensor) -> tf.Tensor:
    """Makes the int64 seed of an epoch's order."""
    return seed * _SEEDS_PER_RUN + epoch


def uniform(seed: tf.Tensor, purpose: str, count: int) -> list[tf.Tensor]:
    """Draws float32 scalars, 0 or more and below 1.

    Another purpose, which is any name, draws other numbers, so that flips are independent of crops.
    """
    salt = int.from_bytes(purpose.encode()[:7], "little")
    salted = tf.bitwise.bitwise_xor(tf.cast(seed, tf.int64), tf.constant([salt, 0], tf.int64))
    return tf.unstack(tf.random.stateless_uniform([count], salted), num=count)


def up_to(fraction: tf.Tensor, largest: tf.Tensor) -> tf.Tensor:
    """Turns a uniform number into an int32 of 0 to `largest`, each equally likely."""
    number = tf.cast(fraction * tf.cast(largest + 1, tf.float32), tf.int32)
    return tf.minimum(number, largest)  # float32 may round up


def random_offsets(seed: tf.Tensor, largest: tf.Tensor, count: int = 1) -> list[tf.Tensor]:
    """Samples offsets of a crop or of padding: int32 `[2]` each, 0 to `largest` inclusive.

    The first one is the same, however many are sampled.
    """
    fractions = uniform(seed, "place", 2)
    if count > 1:
        fractions += uniform(seed, "places", 2 * (count - 1))
    offsets = []
    for number in range(count):
        row = up_to(fractions[2 * number], largest[0])
        column = up_to(fractions[2 * number + 1], largest[1])
        offsets.append(tf.stack([row, column]))
    return offsets


def coin(seed: tf.Tensor) -> tf.Tensor:
    """Draws whether to flip, a scalar bool that is true with probability 0.5."""
    (fraction,) = uniform(seed, "flip", 1)
    return fraction < 0.5


def sample_weights(example: Mapping[str, Any]) -> Example:
    """Adds `sample_weight`: 0 for void, which includes padding, and 1 elsewhere.

    Keras takes it as the third of `(image, segmentation_mask, sample_weight)`. A loss that
    looks up the class of each pixel still finds 255 there: give it `ignore_class=255`.

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
      num_classes: number of classes with background and without void; 21 for VOC.

    Returns:
      The example with `segmentation_mask` as float32 `[..., H, W, num_classes]`. Categorical
      cross-entropy of a pixel of zeros is 0, so no weights are needed to leave void out.
    """
    return {**example, MASK: tf.one_hot(example[MASK][..., 0], num_classes)}
