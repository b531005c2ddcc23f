"""Finds images that look alike, though their files differ: scaled, or encoded again.

An image is squeezed to 16 x 18 brightness values. Two images look alike if a hash of which
neighbour is brighter (64 bits) differs in few bits, and the values themselves differ little.
Images without contrast are not compared, since they all look alike; mirrored, rotated and cropped
copies are not found.
"""

from collections.abc import Iterator
import itertools

import numpy as np

HEIGHT, WIDTH = 16, 18
_BITS = 4  # of 64 that may differ
_DIFFERENCE = 6  # of 255, on average
_CONTRAST = 8  # of 255, standard deviation
_ROWS = 2048  # that are compared with as many at once: 16 MB


def find(looks: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields the numbers of two images that look alike, the smaller one first.

    Args:
      looks: each image squeezed to this size, uint8 `[N, 16, 18]`.
    """
    for pairs in _candidates(looks):
        yield from map(tuple, _close(looks, pairs).tolist())


def group(looks: np.ndarray, most: int) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Returns pairs of images that look alike, and the groups that all such pairs connect.

    A film of N frames has up to N * (N - 1) / 2 pairs, so only the first `most` are kept, as `find`
    yields them, and not all are compared. The numbers of each group ascend.
    """
    pairs_alike: list[tuple[int, int]] = []
    group_of = np.arange(len(looks))  # by its first image

    def connect_two(pairs: np.ndarray) -> np.ndarray:
        return pairs[group_of[pairs[:, 0]] != group_of[pairs[:, 1]]]

    for pairs in _candidates(looks):
        if len(pairs_alike) >= most:
            pairs = connect_two(pairs)
        pairs = _close(looks, pairs)
        pairs_alike += map(tuple, pairs[: most - len(pairs_alike)].tolist())
        while len(pairs := connect_two(pairs)):
            left, right = sorted(group_of[pairs[0]])
            group_of[group_of == right] = left
    order = np.argsort(group_of, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1)
    return pairs_alike, [numbers.tolist() for numbers in groups if len(numbers) > 1]


def _candidates(looks: np.ndarray) -> Iterator[np.ndarray]:
    """Yields pairs whose hashes are close, the smaller number first, int64 `[M, 2]`."""
    signs = _signs(looks)
    starts = range(0, len(looks), _ROWS)
    for top, left in itertools.combinations_with_replacement(starts, 2):
        # The product of two rows of signs is 64 less two for each bit that differs.
        alike = signs[top : top + _ROWS] @ signs[left : left + _ROWS].T
        pairs = np.argwhere(alike >= 64 - 2 * _BITS) + np.array((top, left))
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        for start in range(0, len(pairs), _ROWS):
            yield pairs[start : start + _ROWS]


def _close(looks: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Returns those of some pairs whose brightness values differ little."""
    ours, theirs = pairs.T
    differences = np.abs(looks[ours].astype(np.int16) - looks[theirs]).mean((1, 2))
    return pairs[differences <= _DIFFERENCE]


def _signs(looks: np.ndarray) -> np.ndarray:
    """Returns which neighbour is brighter as 1 or -1, float32 `[N, 64]`; 0 without contrast."""
    cells = looks.reshape(-1, HEIGHT // 2, 2, WIDTH // 2, 2).astype(np.float32).sum((2, 4))
    signs = np.where(cells[:, :, 1:] > cells[:, :, :-1], 1, -1).reshape(-1, 64)
    flat = looks.reshape(-1, HEIGHT * WIDTH).std(1) < _CONTRAST
    return (signs * ~flat[:, None]).astype(np.float32)
