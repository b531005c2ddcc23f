"""How many pixels of an array have each value.

Masks are mostly runs of one value. To add up the lengths of the runs takes a fifth of the time of
adding one per pixel, which waits for the sum before it at each pixel of a run.
"""

import functools

import numpy as np

from voc_seg_tfrecord.formats import pillow

_PIXELS = 1 << 20  # looked at together, so that large masks take no memory to speak of
_SHORT = 16  # mean length of runs, in pixels, below which there is nothing to gain


def count_values(pixels: np.ndarray) -> np.ndarray:
    """Returns how many pixels, uint8 `[H, W]`, have each value, int64 `[256]`."""
    counts = np.zeros(256, np.int64)
    step = max(1, _PIXELS // max(1, pixels.shape[1]))
    for top in range(0, len(pixels), step):
        counts += _counts(pixels[top : top + step].ravel())
    return counts


def occurring(counts: np.ndarray) -> dict[int, int]:
    """Returns the counts int64 `[256]` of the values that occur, by value, ascending."""
    values = np.flatnonzero(counts)
    return dict(zip(values.tolist(), counts[values].tolist(), strict=True))


def run_ends(*arrays: np.ndarray) -> np.ndarray:
    """Returns which pixels are the last of a run, row after row, in which no array changes.

    Args:
      *arrays: masks of one image, uint8 `[H, W]`.

    Returns:
      Ascending indices into the ravelled arrays, int64 `[N]`; the last one is that of the last
      pixel.
    """
    changes = functools.reduce(np.logical_or, map(_changes, arrays))
    return np.append(np.flatnonzero(changes), changes.size)


def _changes(array: np.ndarray) -> np.ndarray:
    values = array.ravel()
    return values[1:] != values[:-1]


def _counts(values: np.ndarray) -> np.ndarray:
    """Returns the counts of values uint8 `[N]`."""
    counts = np.zeros(256, np.int64)
    if not values.size:
        return counts
    ends = np.flatnonzero(_changes(values))  # all runs' but the last one's
    if ends.size * _SHORT > values.size:
        return pillow.count_values(values[None])
    if not ends.size:
        counts[values[0]] = values.size
        return counts
    # The sums are exact: floats hold all integers below 2 to the power of 53.
    counts += np.bincount(values[ends[1:]], ends[1:] - ends[:-1], 256).astype(np.int64)
    counts[values[0]] += ends[0] + 1
    counts[values[-1]] += values.size - ends[-1] - 1
    return counts
