"""Scaled crops, padding and flips of decoded examples in NumPy, for readers without TensorFlow.

The counterpart of `voc_seg_tfrecord.pipeline` for what `voc_seg_tfrecord.data_source` gives: to
be mapped in Grain, or called in a PyTorch `Dataset`. Image, masks and `sample_weight` move
together. Padding is 0 in images, one-hot masks and weights, and 255, void, in other masks. `labels`
and `objects` describe the complete image, so they are left out. Other features of two or more axes,
which may belong to pixels too, are refused, and all others are returned unchanged. A size is one
number for a square, or height and width.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILL, IMAGE, MASKS, OF_THE_WHOLE

Size: TypeAlias = int | tuple[int, int]


def center_crop_or_pad(example: Mapping[str, Any], size: Size) -> dict[str, Any]:
    """Keeps the middle of what is larger than `size`, pads what is smaller on all sides.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: size of the result.

    Returns:
      The example with image and masks `[height, width, channels]`, the same pixels that
      `pipeline.center_crop_or_pad` gives.
    """
    canvas = _pair(size)
    return _crop_or_pad(example, canvas, np.abs(_size(example) - canvas) // 2)


def random_crop_or_pad(
    example: Mapping[str, Any], size: Size, rng: np.random.Generator
) -> dict[str, Any]:
    """Crops at random where the image is larger, pads at random where it is smaller.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: size of the result.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks `[height, width, channels]`.
    """
    canvas = _pair(size)
    place = rng.integers(0, np.abs(_size(example) - canvas), endpoint=True)
    return _crop_or_pad(example, canvas, place)


def random_scaled_crop(
    example: Mapping[str, Any],
    size: Size,
    rng: np.random.Generator,
    *,
    scales: tuple[float, float] = (0.5, 2.0),
    step: float | None = None,
    flip: bool = True,
) -> dict[str, Any]:
    """Random scale, then random crop or pad, then random flip, as DeepLab trains.

    The image is resized bilinearly, masks take the nearest pixel, by the rule of
    `pipeline.random_scaled_crop`. Only what the crop will show is resized.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: size of the result.
      rng: the random generator; Grain's `random_map` gives one per example.
      scales: the smallest and the largest factor (0.5 and 2).
      step: difference between neighbouring factors; 0 allows any number between. By default
        0.25 if both ends are multiples of it, and else 0.
      flip: whether to flip with probability 0.5 (True).

    Returns:
      The example with image and masks `[height, width, channels]`.

    Raises:
      ConfigError: if sizes, scales or step are out of range.
    """
    canvas, current = _pair(size), _size(example)
    scale = _scale(scales, step, rng)
    scaled = _scaled(current, scale)
    larger = scaled > canvas
    kept = np.where(larger, np.clip(_scaled(canvas, 1 / scale), 1, current), current)
    place = rng.integers(0, np.where(larger, current - kept, canvas - scaled), endpoint=True)
    (top, left), (height, width) = np.where(larger, place, 0), kept
    moved = _without_whole(example)
    for name in fills(moved):
        cut = moved[name][top : top + height, left : left + width]
        resize = _bilinear if name == IMAGE else _nearest
        moved[name] = resize(cut, np.minimum(scaled, canvas))
    # What was cropped is as large as the canvas by now, so that only padding has a place.
    padded = _crop_or_pad(moved, canvas, np.where(larger, 0, place))
    return random_flip(padded, rng) if flip else padded


def random_flip(example: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Swaps left and right with probability 0.5.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks of the same size.
    """
    step = -1 if rng.random() < 0.5 else 1
    moved = _without_whole(example)
    return moved | {name: np.ascontiguousarray(moved[name][:, ::step]) for name in fills(moved)}


def _crop_or_pad(
    example: Mapping[str, Any], canvas: np.ndarray, place: np.ndarray
) -> dict[str, Any]:
    """Crops at `place` along the axes that are too long, pads by it along the others."""
    moved = _without_whole(example)
    for name, fill in fills(moved).items():
        source = moved[name]
        current = np.array(source.shape[:2])
        top, left = np.where(current > canvas, place, 0)
        y, x = np.where(current > canvas, 0, place)
        height, width = np.minimum(current, canvas)
        target = np.full((*canvas, *source.shape[2:]), fill, source.dtype)
        target[y : y + height, x : x + width] = source[top : top + height, left : left + width]
        moved[name] = target
    return moved


SAMPLE_WEIGHT: str = "sample_weight"
"""Name of one weight per pixel beside the features, `[H, W]`."""


def fills(example: Mapping[str, Any]) -> dict[str, int]:
    """Returns the features that are moved with the image, and the value that padding has in them.

    Args:
      example: arrays or tensors, or what describes tensors.

    Raises:
      ConfigError: naming a feature that may belong to pixels, and that nothing is known of.
    """
    found = {}
    for name, value in example.items():
        if name in OF_THE_WHOLE or not hasattr(value, "shape"):
            continue
        shape = value.shape
        rank = shape.rank if hasattr(shape, "rank") else len(shape)
        if name in FILL:
            is_one_hot = name in MASKS and rank and shape[-1] not in (1, None)
            found[name] = 0 if is_one_hot else FILL[name]
        elif name == SAMPLE_WEIGHT:
            found[name] = 0
        elif rank is None or rank >= 2:
            raise ConfigError(
                name,
                found=f"a feature beside the image, {'of unknown axes' if rank is None else shape}",
                expected=f"{', '.join(FILL)} or {SAMPLE_WEIGHT}, which are moved with the image",
                remedy="add it after all that moves pixels, or give a mask one of these names",
            )
    return found


def scale_step(scales: tuple[float, float], step: float | None) -> float:
    """Returns the difference between neighbouring scales; 0 where any number between is a scale.

    Args:
      scales: the smallest and the largest.
      step: as the functions on examples take it. None is a quarter if both ends are multiples of
        it, and else 0.

    Raises:
      ConfigError: if there is no scale between them, one is not above 0, or steps from the smallest
        do not lead to the largest.
    """
    smallest, largest = scales
    if step is None:
        step = _QUARTER if all(_is_whole(scale / _QUARTER) for scale in scales) else 0
    in_steps = step >= 0 and (not step or _is_whole((largest - smallest) / step))
    if not (0 < smallest <= largest < np.inf and in_steps):
        raise ConfigError(
            "scales, step",
            found=f"{scales}, {step}",
            expected="a smallest scale above 0, a largest at least that, and a step of 0 or one "
            "that leads from the one to the other",
            remedy="give step=0 for any number between",
        )
    return step


_QUARTER = 0.25


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6


def _scale(scales: tuple[float, float], step: float | None, rng: np.random.Generator) -> float:
    step = scale_step(scales, step)
    smallest, largest = scales
    if not step:
        return rng.uniform(smallest, largest)
    return smallest + step * rng.integers(0, round((largest - smallest) / step), endpoint=True)


def _scaled(size: np.ndarray, scale: float) -> np.ndarray:
    return np.maximum(np.round(size * scale).astype(int), 1)


def _bilinear(image: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Resizes an image `[H, W, N]` by the rule of `tf.image.resize`; whole numbers are rounded.

    The middle of a new pixel mostly lies between old ones, and the new value between theirs. A mask
    takes one of them. So the two of them are up to half an old pixel apart, and at a scale of 0.5,
    where the middle lies on the edge between two, always: the mask takes the right and lower one.
    """
    dtype = image.dtype
    for axis, target in enumerate(size):
        length = image.shape[axis]
        middles = (np.arange(target, dtype=np.float32) + 0.5) * np.float32(length / target) - 0.5
        below = np.floor(middles)
        share = (middles - below).reshape([-1 if a == axis else 1 for a in range(3)])
        first, second = (
            np.take(image, np.clip(below.astype(int) + more, 0, length - 1), axis=axis)
            for more in (0, 1)
        )
        image = first + share * (second - first.astype(np.float32))
    return image.astype(dtype) if dtype.kind == "f" else np.round(image).astype(dtype)


def _nearest(mask: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Takes the pixel of a mask `[H, W, ...]` that lies under the middle of each new one."""
    for axis, target in enumerate(size):
        length = mask.shape[axis]
        middles = (np.arange(target, dtype=np.float32) + np.float32(0.5)) * (
            np.float32(length) / np.float32(target)
        )
        mask = np.take(mask, np.minimum(middles.astype(int), length - 1), axis=axis)
    return mask


def sides(name: str, size: Size) -> tuple[int, int]:
    """Returns height and width of a size; raises a ConfigError if it is none."""
    whole = (int, np.integer)
    pair = (size, size) if isinstance(size, whole) else size
    found = tuple(pair) if isinstance(pair, Sequence | np.ndarray) else ()
    if len(found) != 2 or not all(isinstance(side, whole) and side >= 1 for side in found):
        expected = "a whole number of 1 or more, or a height and a width"
        raise ConfigError(name, found=repr(size), expected=expected)
    height, width = map(int, found)
    return height, width


def _pair(size: Size) -> np.ndarray:
    return np.array(sides("size", size))


def _without_whole(example: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in example.items() if k not in OF_THE_WHOLE}


def _size(example: Mapping[str, Any]) -> np.ndarray:
    for name in FILL:
        if name in example:
            return np.array(example[name].shape[:2])
    raise ConfigError(
        "example",
        found=f"features {sorted(example)}",
        expected=f"one of {', '.join(FILL)}",
    )
