"""Crops, padding and flips of decoded examples in NumPy, for readers without TensorFlow.

The counterpart of `voc_seg_tfrecord.pipeline` for what `tfds.data_source` gives: to be
mapped in Grain, or called in a PyTorch `Dataset`. Image and masks move together, padding is
0 in images and 255, void, in masks. `labels` and `objects` describe the complete image, so they
are left out. All other features are returned unchanged.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILL, OF_THE_WHOLE


def center_crop_or_pad(example: Mapping[str, Any], size: int) -> dict[str, Any]:
    """Keeps the middle of what is larger than `size`, pads what is smaller on all sides.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: height and width of the result.

    Returns:
      The example with image and masks `[size, size, channels]`, the same pixels that
      `pipeline.center_crop_or_pad` gives.
    """
    height, width = _size(example)
    return _crop_or_pad(example, size, abs(height - size) // 2, abs(width - size) // 2)


def random_crop_or_pad(
    example: Mapping[str, Any], size: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Crops at random where the image is larger, pads at random where it is smaller.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      size: height and width of the result.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks `[size, size, channels]`.
    """
    height, width = _size(example)
    row, column = rng.integers(0, [abs(height - size), abs(width - size)], endpoint=True)
    return _crop_or_pad(example, size, row, column)


def random_flip(example: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Swaps left and right with probability 0.5.

    Args:
      example: image uint8 `[H, W, 3]`, masks uint8 `[H, W, 1]`.
      rng: the random generator; Grain's `random_map` gives one per example.

    Returns:
      The example with image and masks of the same size.
    """
    step = -1 if rng.random() < 0.5 else 1
    return {
        name: np.ascontiguousarray(value[:, ::step]) if name in FILL else value
        for name, value in _without_whole(example).items()
    }


def _crop_or_pad(example: Mapping[str, Any], size: int, row: int, column: int) -> dict[str, Any]:
    """Crops at `row`, `column` along the axes that are too long, pads by them along the others."""
    moved = _without_whole(example)
    for name, fill in FILL.items():
        if name in moved:
            source = moved[name]
            target = np.full((size, size, source.shape[-1]), fill, source.dtype)
            height, width = np.minimum(source.shape[:2], size)
            top, y = (row, 0) if source.shape[0] > size else (0, row)
            left, x = (column, 0) if source.shape[1] > size else (0, column)
            target[y : y + height, x : x + width] = source[top : top + height, left : left + width]
            moved[name] = target
    return moved


def _without_whole(example: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in example.items() if k not in OF_THE_WHOLE}


def _size(example: Mapping[str, Any]) -> tuple[int, int]:
    for name in FILL:
        if name in example:
            return example[name].shape[:2]
    raise ConfigError(
        "example",
        found=f"features {sorted(example)}",
        expected=f"one of {', '.join(FILL)}",
    )
