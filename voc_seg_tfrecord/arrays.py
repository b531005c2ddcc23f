"""Crops, padding and flips of examples, and stitching of tiles, in NumPy: without TensorFlow.

The counterpart of `voc_seg_tfrecord.pipeline` for examples of `voc_seg_tfrecord.data_source`: map
these functions in Grain, or call them in a PyTorch `Dataset`. Image, masks and `sample_weight` move
together. Padding is 0 in images, one-hot masks and weights, and 255, void, in other masks. `labels`
and `objects` describe the complete image, so they are left out. Other features of two or more axes
may belong to pixels too, so they are refused. All others are returned unchanged. A size is one
number for a square, or height and width. `stitch` puts predictions of tiles together.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import Any, TypeAlias

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILL, IMAGE, MASKS, WHOLE_IMAGE_FEATURES
from voc_seg_tfrecord.reading.stitching import stitch, tiles_of

__all__ = [
    "SAMPLE_WEIGHT",
    "Size",
    "center_crop_or_pad",
    "random_crop_or_pad",
    "random_flip",
    "random_scaled_crop",
    "stitch",
    "tiles_of",
]

Size: TypeAlias = int | tuple[int, int]

ImageResizer: TypeAlias = Callable[[np.ndarray, tuple[int, int]], np.ndarray]
"""Makes an image `[H, W, N]` one of a height and a width."""

SAMPLE_WEIGHT: str = "sample_weight"
"""Name of one weight per pixel beside the features, `[H, W]`."""

_DEFAULT_SCALE_STEP = 0.25
_MAX_ROUNDING_ERROR = 1e-6


def center_crop_or_pad(example: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """Crops to the middle where the image is larger than `size`, pads all sides where smaller.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: height and width of the result, or one number for both.

    Returns:
      The example with image and masks `[height, width, channels]`, with the same pixels as from
      `pipeline.center_crop_or_pad`.
    """
    canvas = _size_array(size)
    middle = np.abs(_size_of(example) - canvas) // 2
    return _crop_or_pad(example, canvas, middle)


def random_crop_or_pad(
    example: Mapping[str, Any], size: Size, rng: np.random.Generator
) -> dict[str, Any]:
    """Crops at random where the image is larger, pads at random where it is smaller.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: height and width of the result, or one number for both.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks `[height, width, channels]`.
    """
    _check_generator(rng)
    canvas = _size_array(size)
    offset = rng.integers(0, np.abs(_size_of(example) - canvas), endpoint=True)
    return _crop_or_pad(example, canvas, offset)


def _check_generator(rng: object) -> None:
    """Checks that random numbers come from a generator, not from a seed or NumPy's old module."""
    if not isinstance(rng, np.random.Generator):
        raise ConfigError(
            "rng",
            found=repr(rng),
            expected="a NumPy generator, such as numpy.random.default_rng(0)",
        )


def random_scaled_crop(
    example: Mapping[str, Any],
    size: Size,
    rng: np.random.Generator,
    *,
    scales: tuple[float, float] = (0.5, 2.0),
    step: float | None = None,
    flip: bool = True,
    out: Mapping[str, np.ndarray] | None = None,
    resize_image: ImageResizer | None = None,
) -> dict[str, Any]:
    """Random scale, then random crop or pad, then random flip, as DeepLab trains.

    The image is resized bilinearly, and masks take the nearest pixel, as in
    `pipeline.random_scaled_crop`. Only the pixels of the crop are resized.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: height and width of the result, or one number for both.
      rng: the random generator; Grain's `random_map` gives one per example.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
      out: the arrays to write image and masks into, by feature name, such as slices of a batch.
        They have the shapes and dtypes of the result. By default arrays are new.
      resize_image: the function that resizes the image; by default bilinear, as above.

    Returns:
      The example with image and masks `[height, width, channels]`.

    Raises:
      ConfigError: if sizes, scales or step are out of range, or an array of `out` is missing or
        has another shape or dtype.
    """
    _check_generator(rng)
    height, width = parse_size("size", size)
    image_height, image_width = _size_of(example).tolist()
    scale = _random_scale(scales, step, rng)
    rows = _CropAxis.at_scale(image_height, height, scale)
    columns = _CropAxis.at_scale(image_width, width, scale)
    offsets = rng.integers(0, [rows.max_offset, columns.max_offset], endpoint=True)
    row_offset, column_offset = offsets.tolist()
    is_flipped = flip and rng.random() < 0.5
    part_of_image = (rows.part_at(row_offset), columns.part_at(column_offset))
    padding = (rows.padding_before(row_offset), columns.padding_before(column_offset))
    moved = _without_whole_image_features(example)
    for name, fill in find_fill_values(moved).items():
        resize: ImageResizer = _resize_nearest
        if name == IMAGE:
            resize = resize_image or _resize_bilinear
        part = resize(moved[name][part_of_image], (rows.shown_length, columns.shown_length))
        target = _target_array(name, (height, width, *part.shape[2:]), part.dtype, out)
        _write_padded(part, target, padding, fill, is_flipped=is_flipped)
        moved[name] = target
    return moved


def random_flip(example: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Swaps left and right with probability 0.5.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks of the same size.
    """
    _check_generator(rng)
    step = -1 if rng.random() < 0.5 else 1
    moved = _without_whole_image_features(example)
    for name in find_fill_values(moved):
        moved[name] = np.ascontiguousarray(moved[name][:, ::step])
    return moved


@dataclasses.dataclass(frozen=True)
class _CropAxis:
    """The rows, or the columns, of a crop. Along them the image is either cropped or padded.

    An offset is where the crop begins in the image; or, if it is padded, where the image begins in
    the crop.

    Attributes:
      is_cropped: whether the image, at the scale, is longer than the crop.
      part_length: pixels of the image that are in the crop. They are cut out before they are
        resized.
      shown_length: pixels of the crop that they become; the others are padding.
      max_offset: the largest offset.
    """

    is_cropped: bool
    part_length: int
    shown_length: int
    max_offset: int

    @classmethod
    def at_scale(cls, image_length: int, crop_length: int, scale: float) -> "_CropAxis":
        """Returns an axis of a crop of an image at a scale; lengths are in pixels."""
        scaled_length = _scale_length(image_length, scale)
        if scaled_length <= crop_length:
            return cls(
                is_cropped=False,
                part_length=image_length,
                shown_length=scaled_length,
                max_offset=crop_length - scaled_length,
            )
        part_length = min(_scale_length(crop_length, 1 / scale), image_length)
        return cls(
            is_cropped=True,
            part_length=part_length,
            shown_length=crop_length,
            max_offset=image_length - part_length,
        )

    def part_at(self, offset: int) -> slice:
        """Returns which pixels of the image are in the crop."""
        start = offset if self.is_cropped else 0
        return slice(start, start + self.part_length)

    def padding_before(self, offset: int) -> int:
        """Returns how many pixels of padding are before the image in the crop."""
        return 0 if self.is_cropped else offset


def _crop_or_pad(
    example: Mapping[str, Any], canvas: np.ndarray, offset: np.ndarray
) -> dict[str, Any]:
    """Crops the axes that are longer than the canvas, and pads the others.

    Args:
      example: image and masks of one size.
      canvas: height and width of the result, int `[2]`.
      offset: int `[2]`. On an axis that is cropped it is the first pixel that stays; on one that is
        padded it is the padding before the first pixel.
    """
    moved = _without_whole_image_features(example)
    for name, fill in find_fill_values(moved).items():
        source = moved[name]
        current = np.array(source.shape[:2])
        is_cropped = current > canvas
        source_y, source_x = np.where(is_cropped, offset, 0)
        target_y, target_x = np.where(is_cropped, 0, offset)
        height, width = np.minimum(current, canvas)
        part = source[source_y : source_y + height, source_x : source_x + width]
        target = np.empty((*canvas, *source.shape[2:]), source.dtype)
        _write_padded(part, target, (target_y, target_x), fill)
        moved[name] = target
    return moved


def _target_array(
    name: str,
    shape: tuple[int, ...],
    dtype: np.dtype,
    out: Mapping[str, np.ndarray] | None,
) -> np.ndarray:
    """Returns the array of `out` for a feature, or a new one without `out`."""
    if out is None:
        return np.empty(shape, dtype)
    target = out.get(name)
    if target is None:
        raise ConfigError(
            "out", found=f"no array for {name}", expected="one for the image and for each mask"
        )
    if target.shape != shape or target.dtype != dtype:
        raise ConfigError(
            f"out, {name}",
            found=f"{target.dtype} {target.shape}",
            expected=f"{dtype} {tuple(map(int, shape))}",
        )
    return target


def _write_padded(
    part: np.ndarray,
    target: np.ndarray,
    padding: Sequence[int] | np.ndarray,
    fill: int,
    *,
    is_flipped: bool = False,
) -> None:
    """Writes an array into a larger one, and fills the rest of that.

    Args:
      part: `[h, w, ...]`.
      target: `[H, W, ...]`, at least as large.
      padding: the rows above and the columns left of the part.
      fill: the value of padding.
      is_flipped: whether left and right of the result are swapped.
    """
    if is_flipped:
        target = target[:, ::-1]
    top, left = padding
    bottom = top + part.shape[0]
    right = left + part.shape[1]
    target[:top] = fill
    target[bottom:] = fill
    target[top:bottom, :left] = fill
    target[top:bottom, right:] = fill
    covered = target[top:bottom, left:right]
    if is_flipped and part.ndim == 3:
        # NumPy copies a flipped image pixel by pixel, and one channel in a fifth of the time.
        for channel in range(part.shape[2]):
            covered[..., channel] = part[..., channel]
    else:
        covered[...] = part


def find_fill_values(example: Mapping[str, Any]) -> dict[str, int]:
    """Finds the features that are moved with the image, and the value of padding in each.

    Padding is 0 in a one-hot mask `[H, W, classes]`, and 255 in a mask `[H, W]` or `[H, W, 1]`.

    Args:
      example: arrays or tensors, or what describes tensors; no batch.

    Raises:
      ConfigError: naming an unknown feature that may belong to pixels.
    """
    fill_by_name = {}
    for name, value in example.items():
        if name in WHOLE_IMAGE_FEATURES or not hasattr(value, "shape"):
            continue
        shape = value.shape
        rank = shape.rank if hasattr(shape, "rank") else len(shape)
        if name in FILL:
            is_one_hot = name in MASKS and rank == 3 and shape[-1] not in (1, None)
            fill_by_name[name] = 0 if is_one_hot else FILL[name]
        elif name == SAMPLE_WEIGHT:
            fill_by_name[name] = 0
        elif rank is None or rank >= 2:
            axes = "of unknown axes" if rank is None else shape
            raise ConfigError(
                name,
                found=f"a feature that cannot be moved with the image, {axes}",
                expected=f"{', '.join(FILL)} or {SAMPLE_WEIGHT}",
                remedy="add it after the steps that move pixels, or give a mask one of these names",
            )
    return fill_by_name


def scale_step(scales: tuple[float, float], step: float | None) -> float:
    """Returns the difference between neighboring scales; 0 where any number between is a scale.

    Args:
      scales: the smallest and the largest.
      step: as the functions on examples take it. None is a quarter if both ends are multiples of
        it, and else 0.

    Raises:
      ConfigError: if there is no scale between them, one is not above 0, or steps from the smallest
        do not lead to the largest.
    """
    smallest, largest = scales
    is_range = 0 < smallest <= largest < np.inf  # and neither is NaN
    if step is None:
        are_multiples = is_range and all(_is_whole(s / _DEFAULT_SCALE_STEP) for s in scales)
        step = _DEFAULT_SCALE_STEP if are_multiples else 0
    if is_range:
        is_step = step == 0 or (step > 0 and _is_whole((largest - smallest) / step))
    else:
        is_step = False
    if not is_step:
        raise ConfigError(
            "scales, step",
            found=f"{scales}, {step}",
            expected="a smallest scale above 0, a largest scale that is not smaller, and a step "
            "of 0, or a step that divides their difference",
            remedy="give step=0 for any scale between them",
        )
    return step


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < _MAX_ROUNDING_ERROR


def _random_scale(
    scales: tuple[float, float], step: float | None, rng: np.random.Generator
) -> float:
    step = scale_step(scales, step)
    smallest, largest = scales
    if not step:
        return rng.uniform(smallest, largest)
    step_count = round((largest - smallest) / step)
    return smallest + step * rng.integers(0, step_count, endpoint=True)


def _scale_length(length: int, scale: float) -> int:
    """Returns a length at a scale, in whole pixels and at least 1."""
    return max(round(length * scale), 1)


def _resize_bilinear(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resizes an image `[H, W, N]` by the rule of `tf.image.resize`; whole numbers are rounded.

    The middle of a new pixel mostly lies between two old ones, and so does the new value. A mask
    takes the value of one of them, so image and mask are up to half an old pixel apart. At a scale
    of 0.5, where the middle lies on the edge between two, the mask takes the right and lower one.
    """
    dtype = image.dtype
    for axis, target in enumerate(size):
        length = image.shape[axis]
        if length == target:
            continue
        # The places of the new middles, in old pixels, where the first one has its middle at 0.
        middles = (np.arange(target, dtype=np.float32) + 0.5) * np.float32(length / target) - 0.5
        lower = np.floor(middles)
        weight_shape = [1, 1, 1]
        weight_shape[axis] = -1
        weight = (middles - lower).reshape(weight_shape)
        indices = lower.astype(int)
        first = np.take(image, np.clip(indices, 0, length - 1), axis=axis)
        second = np.take(image, np.clip(indices + 1, 0, length - 1), axis=axis)
        image = first + weight * (second - first.astype(np.float32))
    return image.astype(dtype) if dtype.kind == "f" else np.round(image).astype(dtype)


def _resize_nearest(mask: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Takes the pixel of a mask `[H, W, ...]` that lies under the middle of each new one."""
    for axis, target in enumerate(size):
        length = mask.shape[axis]
        if length == target:
            continue
        scale = np.float32(length) / np.float32(target)
        middles = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * scale
        mask = np.take(mask, np.minimum(middles.astype(int), length - 1), axis=axis)
    return mask


def parse_size(argument: str, size: Size) -> tuple[int, int]:
    """Returns height and width of a size.

    Args:
      argument: the name of the argument that has the size, for the error.
      size: the size.

    Raises:
      ConfigError: if it is not a size.
    """
    pair: Any = (size, size) if _is_side(size) else size
    is_pair = isinstance(pair, Sequence | np.ndarray) and len(pair) == 2
    if not is_pair or not all(_is_side(side) for side in pair):
        expected = "a whole number of 1 or more, or a height and a width"
        raise ConfigError(argument, found=repr(size), expected=expected)
    height, width = pair
    return int(height), int(width)


def _is_side(side: object) -> bool:
    return isinstance(side, int | np.integer) and bool(side >= 1)


def _size_array(size: Size) -> np.ndarray:
    """Returns height and width of a size, int `[2]`."""
    return np.array(parse_size("size", size))


def _without_whole_image_features(example: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in example.items() if name not in WHOLE_IMAGE_FEATURES}


def _size_of(example: Mapping[str, Any]) -> np.ndarray:
    """Returns height and width of an example, int `[2]`."""
    for name in FILL:
        if name in example:
            return np.array(example[name].shape[:2])
    raise ConfigError(
        "example",
        found=f"features {sorted(example)}",
        expected=f"one of {', '.join(FILL)}",
    )
