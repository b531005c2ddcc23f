"""Finds images that share a part: crops, overlapping tiles, mirrored and turned parts.

Two images share a part if enough of their keypoints agree, and one similarity (a scaling, turn,
shift and mirroring) carries all of them from one image onto the other:

1. Each keypoint has 20 keys, each made of half of its 47 signs. Keypoints that share a key are
   compared. A mirrored image has some signs inverted, so the second images are looked up twice.
2. Two images become a candidate if at most 6 signs of two such keypoints differ. All keypoints of
   both are compared: two agree if at most 10 of 47 signs differ.
3. A similarity is sought that at least three agreements follow, in position, size and direction.
"""

from collections.abc import Iterator
import dataclasses
import itertools

import numpy as np

from voc_seg_tfrecord.core.ranges import concatenate_ranges
from voc_seg_tfrecord.quality.keypoints import (
    KEYPOINTS_PER_IMAGE,
    MIRRORED_SIGNS,
    SIGN_BITS,
    Keypoints,
    unpack,
)
from voc_seg_tfrecord.quality.similarity import Similarity, fit_similarity

MIN_AGREEMENTS = 4
"""So many agreements that follow one similarity are a shared part."""

MIN_AGREEMENTS_TO_CONFIRM = 3
"""So many agreements are a shared part if the pixels confirm it."""

_MAX_DIFFERENT_SIGNS = 10  # of 47, of two keypoints that agree
_MAX_DIFFERENT_SIGNS_OF_CANDIDATES = 6  # of two keypoints that make a candidate


_BLOCKS = 6  # the signs are dealt into so many blocks; a key is three of them
_MAX_PAIRS_PER_KEY = 4096  # a key that more pairs share is no evidence: it is common in images
_MAX_CANDIDATES_AT_ONCE = 4096  # their sign differences take 19 MB

# How far an agreement may be off from where the similarity puts it.
_MAX_SHIFT = 0.03  # of the long side
_MAX_LOG_SCALE = 0.35
_MAX_TURN_RADIANS = np.deg2rad(18)
_MAX_EXAMINED_SIMILARITIES = 8  # of two images
_MIN_DISTANCE = 0.03  # of the long side; nearer keypoints are one piece of evidence


@dataclasses.dataclass(frozen=True)
class SharedPart:
    """Two images that share a part.

    Attributes:
      first: number of the first image.
      second: number of the second image.
      agreements: how many keypoints agree and follow the similarity.
      similarity: carries the second image onto the first.
    """

    first: int
    second: int
    agreements: int
    similarity: Similarity


@dataclasses.dataclass(frozen=True, eq=False)
class _Agreements:
    """The keypoints of two images that agree. Points are complex numbers `x + iy`.

    A turn and a scaling are then the product with one complex number.

    Attributes:
      first_points: where they are in the first image, complex128 `[M]`.
      second_points: where they are in the second image, upside down if it is mirrored.
      log_scales: how much larger each is in the first image, natural logarithm, `[M]`.
      turns: how far each is turned in the first image, radians, `[M]`.
      is_mirrored: whether the second image is mirrored.
    """

    first_points: np.ndarray
    second_points: np.ndarray
    log_scales: np.ndarray
    turns: np.ndarray
    is_mirrored: bool


def find_between(first: np.ndarray, second: np.ndarray) -> Iterator[SharedPart]:
    """Yields the pairs of images, one of each set, that share a part.

    Args:
      first: packed keypoints of N images, uint8 `[N, 24, 9]`; see `keypoints.describe`.
      second: packed keypoints of M images, uint8 `[M, 24, 9]`.

    Yields:
      Pairs of at least `MIN_AGREEMENTS_TO_CONFIRM` agreements, in ascending order.
    """
    first_keypoints = unpack(first)
    second_keypoints = unpack(second)
    candidates = _candidates(first_keypoints, second_keypoints)
    for start in range(0, len(candidates), _MAX_CANDIDATES_AT_ONCE):
        pairs = candidates[start : start + _MAX_CANDIDATES_AT_ONCE]
        yield from _examine(first_keypoints, second_keypoints, pairs)


def _candidates(first: Keypoints, second: Keypoints) -> np.ndarray:
    """Returns pairs of images that may share a part, ascending, int64 `[K, 2]`."""
    second_count = len(second.signs)
    codes = [
        _pair_images_by_keys(first.signs, first.exists, signs, second.exists)
        for signs in (second.signs, second.signs ^ np.uint64(MIRRORED_SIGNS))
    ]
    pairs = np.unique(np.concatenate(codes))
    return np.stack(np.divmod(pairs, max(1, second_count)), axis=1)


def _pair_images_by_keys(
    first_signs: np.ndarray,
    first_exists: np.ndarray,
    second_signs: np.ndarray,
    second_exists: np.ndarray,
) -> np.ndarray:
    """Returns the candidates as numbers `first * len(second) + second`, ascending, int64 `[K]`."""
    first_numbers = np.flatnonzero(first_exists)
    second_numbers = np.flatnonzero(second_exists)
    first_signs = first_signs.ravel()[first_numbers]
    second_signs = second_signs.ravel()[second_numbers]
    image_pairs = []
    for selection in _key_selections():
        rows, columns = _pairs_of_equal_values(first_signs & selection, second_signs & selection)
        differing = np.bitwise_count(first_signs[rows] ^ second_signs[columns])
        is_close = differing <= _MAX_DIFFERENT_SIGNS_OF_CANDIDATES
        first_images = first_numbers[rows[is_close]] // KEYPOINTS_PER_IMAGE
        second_images = second_numbers[columns[is_close]] // KEYPOINTS_PER_IMAGE
        image_pairs.append(np.unique(first_images * len(second_exists) + second_images))
    return np.unique(np.concatenate(image_pairs))


def _key_selections() -> list[np.uint64]:
    """Returns the bits that each of the 20 keys takes: three of six interleaved blocks.

    Keypoints that differ in at most three signs share one key at least.
    """
    blocks = [0] * _BLOCKS
    for bit in range(SIGN_BITS):
        blocks[bit % _BLOCKS] |= 1 << bit
    return [
        np.uint64(blocks[a] | blocks[b] | blocks[c])
        for a, b, c in itertools.combinations(range(_BLOCKS), 3)
    ]


def _pairs_of_equal_values(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns i and j of all pairs with `first[i] == second[j]`.

    Values with more than `_MAX_PAIRS_PER_KEY` pairs are left out. Example: `[5, 7, 5]` and `[5]`
    give `[0, 2]` and `[0, 0]`.
    """
    first_order = np.argsort(first, kind="stable")
    second_order = np.argsort(second, kind="stable")
    values, first_starts, first_counts = np.unique(
        first[first_order], return_index=True, return_counts=True
    )
    second_sorted = second[second_order]
    second_starts = np.searchsorted(second_sorted, values, "left")
    second_counts = np.searchsorted(second_sorted, values, "right") - second_starts
    pair_counts = first_counts * second_counts
    chosen = np.flatnonzero((pair_counts > 0) & (pair_counts <= _MAX_PAIRS_PER_KEY))

    # Pair number p of a value is its first index p // n and its second index p % n.
    pair_counts = pair_counts[chosen]
    value_of_pair = np.repeat(chosen, pair_counts)
    number_within = concatenate_ranges(0, pair_counts)
    down, across = np.divmod(number_within, second_counts[value_of_pair])
    first_indices = first_order[first_starts[value_of_pair] + down]
    second_indices = second_order[second_starts[value_of_pair] + across]
    return first_indices, second_indices


def _examine(first: Keypoints, second: Keypoints, pairs: np.ndarray) -> Iterator[SharedPart]:
    """Yields those of some image pairs, int64 `[K, 2]`, that share a part."""
    agree_upright = _find_agreements(first, second, pairs, is_mirrored=False)
    agree_mirrored = _find_agreements(first, second, pairs, is_mirrored=True)
    for number, (first_image, second_image) in enumerate(pairs.tolist()):
        fits = []
        for is_mirrored, agree in ((False, agree_upright[number]), (True, agree_mirrored[number])):
            if np.count_nonzero(agree) >= MIN_AGREEMENTS_TO_CONFIRM:
                agreements = _read_agreements(
                    first, first_image, second, second_image, agree, is_mirrored=is_mirrored
                )
                fits += _find_fits(agreements)
        if fits:
            best_fit = max(fits, key=lambda fit: fit.count)
            yield SharedPart(first_image, second_image, best_fit.count, best_fit.similarity)


def _find_agreements(
    first: Keypoints, second: Keypoints, pairs: np.ndarray, *, is_mirrored: bool
) -> np.ndarray:
    """Returns which keypoints of each image pair agree, bool `[K, 24, 24]`."""
    first_images, second_images = pairs[:, 0], pairs[:, 1]
    inverted = np.uint64(MIRRORED_SIGNS if is_mirrored else 0)
    first_signs = first.signs[first_images][:, :, np.newaxis]
    second_signs = second.signs[second_images][:, np.newaxis, :] ^ inverted
    agree = np.bitwise_count(first_signs ^ second_signs) <= _MAX_DIFFERENT_SIGNS
    agree &= first.exists[first_images][:, :, np.newaxis]
    agree &= second.exists[second_images][:, np.newaxis, :]
    return agree


def _read_agreements(
    first: Keypoints,
    first_image: int,
    second: Keypoints,
    second_image: int,
    agree: np.ndarray,
    *,
    is_mirrored: bool,
) -> _Agreements:
    """Returns the keypoints of two images that agree, from bool `[24, 24]`."""
    of_first, of_second = np.nonzero(agree)
    first_points = first.x[first_image] + 1j * first.y[first_image]
    second_points = second.x[second_image] + 1j * second.y[second_image]
    second_directions = second.direction[second_image]
    if is_mirrored:
        second_points = np.conj(second_points)
        second_directions = -second_directions
    return _Agreements(
        first_points=first_points[of_first],
        second_points=second_points[of_second],
        log_scales=first.log_size[first_image][of_first] - second.log_size[second_image][of_second],
        turns=first.direction[first_image][of_first] - second_directions[of_second],
        is_mirrored=is_mirrored,
    )


@dataclasses.dataclass(frozen=True)
class _FittedSimilarity:
    """A similarity, and how many agreements follow it."""

    count: int
    similarity: Similarity


def _find_fits(agreements: _Agreements) -> list[_FittedSimilarity]:
    """Returns the similarities that at least three agreements follow.

    Each two agreements that lie apart fix one similarity by their positions. Those are examined
    that most agreements follow.
    """
    follows = _find_followers(agreements)
    most_followed = np.argsort(-follows.sum(axis=1), kind="stable")[:_MAX_EXAMINED_SIMILARITIES]
    fits = []
    for followers in map(np.flatnonzero, follows[most_followed]):
        count = _count_apart(agreements, followers)
        if count >= MIN_AGREEMENTS_TO_CONFIRM:
            similarity = fit_similarity(
                agreements.first_points[followers],
                agreements.second_points[followers],
                is_mirrored=agreements.is_mirrored,
            )
            fits.append(_FittedSimilarity(count, similarity))
    return fits


def _find_followers(agreements: _Agreements) -> np.ndarray:
    """Returns which agreements follow each similarity that two of them fix, bool `[P, M]`."""
    first, second = agreements.first_points, agreements.second_points
    one, other = np.triu_indices(len(first), 1)
    first_apart = first[other] - first[one]
    second_apart = second[other] - second[one]
    lies_apart = np.minimum(np.abs(first_apart), np.abs(second_apart)) >= _MIN_DISTANCE
    one = one[lies_apart]
    turn_and_scale = (first_apart[lies_apart] / second_apart[lies_apart])[:, np.newaxis]
    shift = first[one, np.newaxis] - turn_and_scale * second[one, np.newaxis]

    is_in_position = np.abs(turn_and_scale * second + shift - first) <= _MAX_SHIFT
    log_scale = np.log(np.abs(turn_and_scale))
    has_scale = np.abs(agreements.log_scales - log_scale) <= _MAX_LOG_SCALE
    # The angle between two directions, whatever the number of full turns.
    turned_back = np.exp(1j * agreements.turns) * np.conj(turn_and_scale)
    has_turn = np.abs(np.angle(turned_back)) <= _MAX_TURN_RADIANS
    return is_in_position & has_scale & has_turn


def _count_apart(agreements: _Agreements, followers: np.ndarray) -> int:
    """Counts agreements without those beside another one, in either image.

    Keypoints of one spot in several sizes or directions are one piece of evidence.
    """
    counted: list[int] = []
    for follower in followers.tolist():
        distances = np.minimum(
            np.abs(agreements.first_points[counted] - agreements.first_points[follower]),
            np.abs(agreements.second_points[counted] - agreements.second_points[follower]),
        )
        if (distances >= _MIN_DISTANCE).all():
            counted.append(follower)
    return len(counted)
