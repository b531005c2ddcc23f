"""Regions of a mask: their shares, what touches them, and a smaller mask that keeps each class."""

import numpy as np

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.formats.png_pixels import count_values


def common_first(mask: np.ndarray) -> list[int]:
    """Returns the values of a mask, uint8 `[H, W]`, the most common first."""
    counts = count_values(mask)
    return [v for v in np.argsort(-counts, kind="stable").tolist() if counts[v]]


def shares(mask: np.ndarray) -> tuple[tuple[int, float], ...]:
    """Returns each value of a mask, uint8 `[H, W]`, and its share of the pixels, largest first."""
    counts = count_values(mask)
    return tuple((value, float(counts[value] / mask.size)) for value in common_first(mask))


def shrink(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns a mask in another size, so that no class of it disappears.

    The nearest pixel decides. Where an object would be lost between two of them, one pixel of
    the result has its class all the same.

    Args:
      mask: uint8 `[H, W]`, class indices and 255 for void.
      height: of the result, 1 or more.
      width: of the result, 1 or more.

    Returns:
      uint8 `[height, width]`.
    """
    rows, columns = (
        ((np.arange(new) + 0.5) * old / new).astype(int)
        for new, old in zip((height, width), mask.shape, strict=True)
    )
    small: np.ndarray = mask[rows[:, None], columns]
    if height >= mask.shape[0] and width >= mask.shape[1]:
        return small
    for value in common_first(mask)[1:]:  # the rarest is painted last
        if value != VOID:
            lost = _anywhere(mask == value, height, width) & ~grown(small == value)
            small[lost] = value
    return small


def _anywhere(region: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns the pixels of a smaller mask in whose area a region has any pixel."""
    for new in (height, width):  # rows, then columns as rows
        starts = np.arange(new) * len(region) // new
        ends = np.maximum(np.append(starts[1:], len(region)) - 1, starts)
        taken = region[starts]
        for step in range(1, int((ends - starts).max()) + 1):  # 9 times as fast as `reduceat`
            taken |= region[np.minimum(starts + step, ends)]
        region = np.ascontiguousarray(taken.T)
    return region


def grown(region: np.ndarray) -> np.ndarray:
    """Returns a region with all pixels that touch it."""
    padded = np.pad(region, 1)
    wide = padded[:, :-2] | padded[:, 1:-1] | padded[:, 2:]
    return np.asarray(wide[:-2] | wide[1:-1] | wide[2:])


def inner(region: np.ndarray) -> np.ndarray:
    """Returns a region without its pixels that touch others, or the border."""
    padded = np.pad(region, 1)
    inner = padded[1:-1, :-2] & padded[1:-1, 2:] & padded[:-2, 1:-1] & padded[2:, 1:-1]
    return np.asarray(region & inner)
