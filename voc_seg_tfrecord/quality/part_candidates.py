"""Proposes pairs of images that may share a part, because some of their keypoints are close.

The keypoints of the second images are sorted by their signs in 20 ways: each begins with another
three of six groups of signs. Two keypoints that differ in at most three signs have three groups in
common, so that in one of these orders they stand close to each other. Each keypoint of the first
images is compared with the few that stand around its place in each order. So a common keypoint,
such as a round dark spot, takes no longer than a rare one.

Each comparison of two close keypoints is a vote for their images. For each image, the pairs with
most votes are proposed. So a film, in which every frame is like many others, has few candidates.
"""

from collections.abc import Iterator
import dataclasses
import functools
import itertools

import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.quality.keypoints import MIRRORED_SIGNS, SIGN_BITS
from voc_seg_tfrecord.reading.epoch_order import concatenate_ranges

MAX_CANDIDATES_PER_IMAGE = 8
"""How many pairs with most votes are proposed for each image, beside those of the other images.

With it, 0.930 of 400 crops of 60 % are found among 3,698 images, and 0.925 among 100,000.
"""

MAX_DIFFERENT_SIGNS = 6
"""Of 47, of two keypoints that vote for their images."""

COMPARED_NEIGHBORS = 16
"""With so many keypoints a keypoint is compared in each order."""

_GROUPS = 6
_GROUPS_OF_KEY = 3

_IMAGE_BITS = 16  # below the 48 bits of the signs in an entry
_IMAGE_MASK = np.uint64((1 << _IMAGE_BITS) - 1)
_SIGNS_MASK = ~_IMAGE_MASK
_MAX_SECOND_IMAGES = 1 << _IMAGE_BITS  # that are sorted at once; their 20 orders take 250 MB
_MAX_FIRST_IMAGES = 1 << 11  # that are compared at once; the votes in a film take 130 MB


@dataclasses.dataclass(frozen=True, eq=False)
class CandidatePairs:
    """Pairs of images, in ascending order.

    Attributes:
      first: the number of the first image of each pair, int64 `[P]`.
      second: the number of the second image, int64 `[P]`.
      votes: how often keypoints of both were found to be close, int64 `[P]`.
    """

    first: np.ndarray
    second: np.ndarray
    votes: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def take(self, index: np.ndarray) -> "CandidatePairs":
        """Returns some of the pairs, by their numbers or by a bool `[P]`."""
        return CandidatePairs(self.first[index], self.second[index], self.votes[index])


def propose_pairs(
    first: np.ndarray, second: np.ndarray, *, progress: bool = False
) -> CandidatePairs:
    """Returns the pairs of images that may share a part.

    Args:
      first: the keypoints of N images, `KEYPOINT` `[N, 24]`.
      second: the keypoints of M images, `KEYPOINT` `[M, 24]`.
      progress: whether to show a progress bar.
    """
    max_pairs_in_memory = 4 * MAX_CANDIDATES_PER_IMAGE * (len(first) + len(second))
    parts: list[CandidatePairs] = []
    for pairs in _compare_blocks(first, second, progress=progress):
        parts.append(pairs)
        if sum(map(len, parts)) > max_pairs_in_memory:
            parts = [_keep_most_voted(_join(parts))]
    kept = _keep_most_voted(_join(parts))
    return kept.take(np.lexsort((kept.second, kept.first)))


def _join(parts: list[CandidatePairs]) -> CandidatePairs:
    nothing = np.zeros(0, np.int64)
    return CandidatePairs(
        np.concatenate([nothing, *(part.first for part in parts)]),
        np.concatenate([nothing, *(part.second for part in parts)]),
        np.concatenate([nothing, *(part.votes for part in parts)]),
    )


def _keep_most_voted(pairs: CandidatePairs) -> CandidatePairs:
    is_kept = is_among_best(pairs.first, pairs.second, pairs.votes, MAX_CANDIDATES_PER_IMAGE)
    return pairs.take(is_kept)


def is_among_best(
    first: np.ndarray,
    second: np.ndarray,
    scores: np.ndarray,
    max_per_image: int,
) -> np.ndarray:
    """Returns which pairs are among the best ones of either of their images.

    Of equal scores, the pairs that come first are better.

    Args:
      first: the number of the first image of each pair, int64 `[P]`.
      second: the number of the second image, int64 `[P]`.
      scores: int64 `[P]`.
      max_per_image: how many pairs of an image are kept, and those that other images keep.

    Returns:
      bool `[P]`.
    """
    second = second + first.max(initial=0) + 1  # no number is that of two images
    ranks = _rank_within(np.concatenate([first, second]), np.concatenate([scores, scores]))
    is_best_of_first, is_best_of_second = np.split(ranks < max_per_image, 2)
    return np.asarray(is_best_of_first | is_best_of_second)


def _rank_within(images: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Returns the rank of each pair among those of its image, from 0, int64 `[P]`."""
    order = np.lexsort((-scores, images))
    _, counts = np.unique(images, return_counts=True)
    ranks = np.empty(len(images), np.int64)
    ranks[order] = concatenate_ranges(0, counts)
    return ranks


def _compare_blocks(
    first: np.ndarray, second: np.ndarray, *, progress: bool
) -> Iterator[CandidatePairs]:
    """Yields the candidates of each block of first images and each block of second images."""
    first_starts = range(0, len(first), _MAX_FIRST_IMAGES)
    second_starts = range(0, len(second), _MAX_SECOND_IMAGES)
    total = len(first_starts) * len(second_starts)
    with tqdm(
        total=total, desc="Comparing parts...", unit=" blocks", leave=False, disable=not progress
    ) as bar:
        for second_start in second_starts:
            block = _list_keypoints(second, second_start, _MAX_SECOND_IMAGES)
            sorted_block = [_sort_entries(block, groups) for groups in _list_orders()]
            count_votes = functools.partial(_count_votes, first, second_start, sorted_block)
            for _, pairs in ordered_map(count_votes, first_starts):
                bar.update()
                yield pairs


def _list_orders() -> list[tuple[int, ...]]:
    """Returns the orders of the six groups of signs; the first three of each are another three."""
    orders = []
    for key in itertools.combinations(range(_GROUPS), _GROUPS_OF_KEY):
        others = [group for group in range(_GROUPS) if group not in key]
        orders.append((*key, *others))
    return orders


@dataclasses.dataclass(frozen=True, eq=False)
class _ListedKeypoints:
    """The keypoints of a block of images.

    Attributes:
      groups: the signs of each in six groups of up to 8, uint8 `[N, 6]`.
      images: the number of each one's image in the block, uint64 `[N]`.
    """

    groups: np.ndarray
    images: np.ndarray

    def mirrored(self) -> "_ListedKeypoints":
        """Returns the keypoints of the mirrored images."""
        inverted = _deal_into_groups(np.array([MIRRORED_SIGNS]))
        return _ListedKeypoints(self.groups ^ inverted, self.images)


def _list_keypoints(keypoints: np.ndarray, start: int, count: int) -> _ListedKeypoints:
    """Returns the keypoints of so many images, from this one on."""
    block = keypoints[start : start + count]
    images, _ = np.nonzero(block["exists"])
    signs = block["signs"][block["exists"]]
    return _ListedKeypoints(_deal_into_groups(signs), images.astype(np.uint64))


def _deal_into_groups(signs: np.ndarray) -> np.ndarray:
    """Returns uint64 `[N]` as six groups of signs, uint8 `[N, 6]`.

    Group g has the signs g, g + 6, g + 12 and so on, so that each has low and high frequencies.
    """
    as_bytes = signs.astype("<u8").view(np.uint8).reshape(-1, 8)
    bits = np.unpackbits(as_bytes, axis=1, bitorder="little")
    by_group = [bits[:, group:SIGN_BITS:_GROUPS] for group in range(_GROUPS)]
    return np.concatenate([np.packbits(group, axis=1) for group in by_group], axis=1)


def _sort_entries(keypoints: _ListedKeypoints, order: tuple[int, ...]) -> np.ndarray:
    """Returns an entry for each keypoint, ascending, uint64 `[N]`.

    The high 48 bits of an entry are the signs, in this order of their groups. The other 16 are the
    number of the image.
    """
    in_order = np.zeros((len(keypoints.groups), 8), np.uint8)
    in_order[:, :_GROUPS] = keypoints.groups[:, order]
    signs = in_order.view(">u8")[:, 0].astype(np.uint64)
    return np.sort(signs | keypoints.images)


def _count_votes(
    first: np.ndarray,
    second_start: int,
    sorted_block: list[np.ndarray],
    first_start: int,
) -> CandidatePairs:
    """Compares a block of first images with a block of second images.

    Args:
      first: the keypoints of all first images.
      second_start: the number of the first image of the second block.
      sorted_block: the entries of that block in each of the orders, uint64 `[N]` each.
      first_start: the number of the first image of the first block.
    """
    upright = _list_keypoints(first, first_start, _MAX_FIRST_IMAGES)
    votes = [np.zeros(0, np.uint32)]
    for keypoints in (upright, upright.mirrored()):
        for order, entries in zip(_list_orders(), sorted_block, strict=True):
            votes += _vote(_sort_entries(keypoints, order), entries)
    ballots, counts = np.unique(np.concatenate(votes), return_counts=True)
    in_first_block, in_second_block = np.divmod(ballots.astype(np.int64), 1 << _IMAGE_BITS)
    pairs = CandidatePairs(in_first_block + first_start, in_second_block + second_start, counts)
    return _keep_most_voted(pairs)


def _vote(queries: np.ndarray, entries: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the votes of entries that are close to a query and stand around its place.

    Args:
      queries: entries of first images, uint64 `[Q]`, ascending.
      entries: those of second images, uint64 `[N]`, ascending.

    Yields:
      The number of the first image times 2**16 plus that of the second image, uint32 `[V]`.
    """
    if not len(entries):
        return
    places = np.searchsorted(entries, queries)
    for distance in range(-COMPARED_NEIGHBORS // 2, COMPARED_NEIGHBORS // 2):
        neighbors = entries.take(places + distance, mode="clip")
        differing = np.bitwise_count((queries ^ neighbors) & _SIGNS_MASK)
        is_close = differing <= MAX_DIFFERENT_SIGNS
        first_images = (queries[is_close] & _IMAGE_MASK) << np.uint64(_IMAGE_BITS)
        second_images = neighbors[is_close] & _IMAGE_MASK
        yield (first_images | second_images).astype(np.uint32)
