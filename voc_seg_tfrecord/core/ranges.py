"""Ranges of whole numbers, one after the other in one array."""

import numpy as np


def concatenate_ranges(starts: np.ndarray | int, counts: np.ndarray) -> np.ndarray:
    """Returns `starts[0], starts[0] + 1, ...`, `counts[0]` of them, then those of the next ones.

    Example: the counts 2, 0, 3 and the start 0 give 0, 1, 0, 1, 2.

    Args:
      starts: the first number of each range, int64 `[N]`, or of all of them.
      counts: how many numbers each range has, int64 `[N]`.
    """
    first_positions = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts - first_positions, counts)
