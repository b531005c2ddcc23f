"""How often each value of a mask occurs, and each pair of values of two masks."""

import numpy as np
from PIL import Image

_PIXELS_AT_ONCE = 1 << 20
"""Pixels that are compared at a time, so that large masks take little more memory."""


def count_values(pixels: np.ndarray) -> np.ndarray:
    """Returns how many pixels, uint8 `[H, W]`, have each value, int64 `[256]`."""
    if not pixels.size:
        return np.zeros(256, np.int64)
    return np.array(Image.fromarray(pixels).histogram(), np.int64)


def nonzero_counts(counts: np.ndarray) -> dict[int, int]:
    """Returns the counts, int64 `[256]`, of the values that occur, by value, ascending."""
    values = np.flatnonzero(counts)
    return dict(zip(values.tolist(), counts[values].tolist(), strict=True))


def count_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Returns how many pixels of two masks, uint8 `[H, W]`, have each pair of values.

    Returns:
      int64 `[65536]`; the index is 256 times the first value and the second one.
    """
    counts = np.zeros(1 << 16, np.int64)
    if not first.size:
        return counts
    rows_at_once = max(1, _PIXELS_AT_ONCE // first.shape[1])
    for top in range(0, len(first), rows_at_once):
        first_rows = first[top : top + rows_at_once]
        second_rows = second[top : top + rows_at_once]
        # Runs of equal pairs are counted, not pixels: rows of a mask are mostly runs.
        ends = run_ends(first_rows, second_rows)
        first_values = first_rows.ravel()[ends].astype(np.int64)
        second_values = second_rows.ravel()[ends]
        pairs = 256 * first_values + second_values
        run_lengths = np.diff(ends, prepend=-1)
        pixels = np.bincount(pairs, run_lengths)
        counts[: len(pixels)] += pixels.astype(np.int64)
    return counts


def run_ends(*arrays: np.ndarray) -> np.ndarray:
    """Returns which pixels of masks, uint8 `[H, W]`, are the last of a run in which none changes.

    Returns:
      Ascending indices into the ravelled arrays, int64 `[N]`; the last one is that of the last
      pixel.
    """
    changes = _find_changes(arrays[0])
    for array in arrays[1:]:
        changes |= _find_changes(array)
    return np.append(np.flatnonzero(changes), changes.size)


def _find_changes(array: np.ndarray) -> np.ndarray:
    """Returns which pixels differ from the one after, bool `[H * W - 1]`."""
    flat = array.ravel()
    return np.asarray(flat[1:] != flat[:-1])
