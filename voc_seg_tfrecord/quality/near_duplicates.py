"""Finds near-duplicates: images that look alike, though their files differ.

They were scaled or encoded again, or are frames of one film. Each image is first reduced to its
brightness in 16 x 18 cells. Two images are near-duplicates if both of these hold:

1. Their hashes differ in few of 64 bits. A bit says which of two neighboring cells is brighter, in
   a grid of 8 x 9 larger cells (a difference hash).
2. The 16 x 18 brightness values differ little on average.

Images without contrast are skipped, because they all look alike. Mirrored, rotated and cropped
copies are not found.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import itertools

import numpy as np

HEIGHT = 16
"""Rows of cells that an image is reduced to."""

WIDTH = 18
"""Columns of cells that an image is reduced to."""

_HASH_BITS = 64
_MAX_DIFFERENT_BITS = 4
_MAX_MEAN_DIFFERENCE_LEVELS = 6  # of 256
_MIN_DEVIATION_LEVELS = 8  # of 256; a smaller standard deviation is no contrast
_MAX_BLOCK_IMAGES = 2048  # hashes are compared in blocks of this many by this many: 16 MB


@dataclasses.dataclass(frozen=True)
class NearDuplicates:
    """The near-duplicates among some images.

    Attributes:
      pairs: numbers of two images that look alike, the smaller number first.
      groups: numbers of images that pairs connect, ascending within each group.
    """

    pairs: Sequence[tuple[int, int]]
    groups: Sequence[Sequence[int]]


def find_pairs(brightness: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields the numbers of two images that look alike, the smaller number first.

    Args:
      brightness: uint8 `[N, 16, 18]`, each image reduced to that size.
    """
    for candidates in _pairs_with_close_hashes(brightness):
        yield from _as_tuples(_keep_close_pairs(brightness, candidates))


def find_pairs_and_groups(brightness: np.ndarray, max_pairs: int) -> NearDuplicates:
    """Finds pairs of images that look alike, and the groups that all such pairs connect.

    A film of N frames has up to N * (N - 1) / 2 pairs. So only the first `max_pairs` are returned,
    in the order of `find_pairs`. Further pairs are compared only if they connect two groups.

    Args:
      brightness: uint8 `[N, 16, 18]`, each image reduced to that size.
      max_pairs: how many pairs are returned at most.
    """
    pairs: list[tuple[int, int]] = []
    group_of = np.arange(len(brightness))  # a group is named after its first image
    for candidates in _pairs_with_close_hashes(brightness):
        if len(pairs) >= max_pairs:
            candidates = _pairs_between_groups(candidates, group_of)
        close = _keep_close_pairs(brightness, candidates)
        room = max_pairs - len(pairs)
        pairs += _as_tuples(close[:room])
        _merge_groups(group_of, close)
    return NearDuplicates(pairs, _members_of_groups(group_of))


def _as_tuples(pairs: np.ndarray) -> list[tuple[int, int]]:
    return [(first, second) for first, second in pairs.tolist()]


def _merge_groups(group_of: np.ndarray, pairs: np.ndarray) -> None:
    """Gives the images of each pair, int64 `[M, 2]`, one group, in place."""
    pairs = _pairs_between_groups(pairs, group_of)
    while len(pairs):
        first, second = group_of[pairs[0]]
        group_of[group_of == max(first, second)] = min(first, second)
        pairs = _pairs_between_groups(pairs, group_of)


def _pairs_between_groups(pairs: np.ndarray, group_of: np.ndarray) -> np.ndarray:
    """Returns the pairs whose images are in two groups, int64 `[K, 2]`."""
    return pairs[group_of[pairs[:, 0]] != group_of[pairs[:, 1]]]


def _members_of_groups(group_of: np.ndarray) -> list[list[int]]:
    """Returns the numbers of the images of each group that has several."""
    order = np.argsort(group_of, kind="stable")
    is_last_of_group = np.diff(group_of[order]) != 0
    members = np.split(order, np.flatnonzero(is_last_of_group) + 1)
    return [numbers.tolist() for numbers in members if len(numbers) > 1]


def _pairs_with_close_hashes(brightness: np.ndarray) -> Iterator[np.ndarray]:
    """Yields arrays of pairs whose hashes are close, the smaller number first, int64 `[M, 2]`."""
    signs = _hash_signs(brightness)
    # The scalar product of two hashes is 64 less 2 for each bit that differs.
    min_product = _HASH_BITS - 2 * _MAX_DIFFERENT_BITS
    block_starts = range(0, len(brightness), _MAX_BLOCK_IMAGES)
    for top, left in itertools.combinations_with_replacement(block_starts, 2):
        rows = signs[top : top + _MAX_BLOCK_IMAGES]
        columns = signs[left : left + _MAX_BLOCK_IMAGES]
        pairs = np.argwhere(rows @ columns.T >= min_product)
        pairs += np.array((top, left))
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        for start in range(0, len(pairs), _MAX_BLOCK_IMAGES):
            yield pairs[start : start + _MAX_BLOCK_IMAGES]


def _keep_close_pairs(brightness: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Returns the pairs whose brightness values differ little, int64 `[K, 2]`."""
    first = brightness[pairs[:, 0]].astype(np.int16)
    second = brightness[pairs[:, 1]]
    mean_differences = np.abs(first - second).mean((1, 2))
    return pairs[mean_differences <= _MAX_MEAN_DIFFERENCE_LEVELS]


def _hash_signs(brightness: np.ndarray) -> np.ndarray:
    """Returns the hash of each image as 1 and -1 in place of bits, float32 `[N, 64]`.

    An image without contrast has 0 everywhere, which is close to no hash.
    """
    # Four values make one larger cell, of which there are 8 rows and 9 columns.
    blocks = brightness.reshape(-1, HEIGHT // 2, 2, WIDTH // 2, 2)
    cells = blocks.astype(np.float32).sum((2, 4))
    is_right_brighter = cells[:, :, 1:] > cells[:, :, :-1]
    signs = np.where(is_right_brighter, 1, -1).reshape(-1, _HASH_BITS)
    has_contrast = brightness.reshape(-1, HEIGHT * WIDTH).std(1) >= _MIN_DEVIATION_LEVELS
    return (signs * has_contrast[:, np.newaxis]).astype(np.float32)
