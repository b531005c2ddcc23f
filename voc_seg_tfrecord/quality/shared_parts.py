"""Finds images that share a part: crops, overlapping tiles, mirrored and turned parts.

Two images share a part if enough of their keypoints agree, and one similarity (a scaling, turn,
shift and mirroring) carries all of them from one image onto the other:

1. `part_candidates` proposes pairs of images that have close keypoints, at most a few per image.
2. All keypoints of both are compared: two agree if at most 10 of 47 signs differ. A mirrored image
   has some signs inverted, so they are compared twice.
3. A similarity is sought that at least three agreements follow, in position, size and direction.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.quality import part_candidates
from voc_seg_tfrecord.quality.keypoints import MIRRORED_SIGNS, SIGN_BITS
from voc_seg_tfrecord.quality.similarity import Similarity, fit_similarity

MIN_AGREEMENTS = 4
"""So many agreements that follow one similarity are a shared part."""

MIN_AGREEMENTS_TO_CONFIRM = 3
"""So many agreements are a shared part if the pixels confirm it."""

MAX_PARTS_PER_IMAGE = 3
"""How many shared parts of an image `keep_best` keeps, beside those that other images keep."""

_MAX_DIFFERENT_SIGNS = 10  # of 47, of two keypoints that agree
_MAX_CANDIDATES_AT_ONCE = 4096  # their sign differences take 19 MB
_MAX_COMPARED_AGREEMENTS = 32  # of two images; textures and grids have hundreds

# How far an agreement may be off from where the similarity puts it.
_MAX_SHIFT = 0.03  # of the long side
_MAX_LOG_SCALE = 0.35
_MAX_TURN_RADIANS = np.deg2rad(18)
_MAX_EXAMINED_SIMILARITIES = 8  # of two images
_MIN_DISTANCE = 0.03  # of the long side; nearer keypoints are one piece of evidence

CONSTANTS: Mapping[str, float] = {
    "min_agreements": MIN_AGREEMENTS,
    "min_agreements_to_confirm": MIN_AGREEMENTS_TO_CONFIRM,
    "max_parts_per_image": MAX_PARTS_PER_IMAGE,
    "max_different_signs": _MAX_DIFFERENT_SIGNS,
    "max_different_signs_of_candidates": part_candidates.MAX_DIFFERENT_SIGNS,
    "max_candidates_per_image": part_candidates.MAX_CANDIDATES_PER_IMAGE,
    "compared_neighbors": part_candidates.COMPARED_NEIGHBORS,
}
"""What it depends on which parts are found, for files that state them."""


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


def find_between(
    first: np.ndarray, second: np.ndarray, *, progress: bool = False
) -> Iterator[SharedPart]:
    """Yields pairs of images, one of each set, that share a part.

    An image that shares a part with very many others, such as a frame of a film, comes with a few
    of them; see `part_candidates`.

    Args:
      first: the keypoints of N images, `KEYPOINT` `[N, 24]`; see `keypoints.describe`.
      second: those of M images, `KEYPOINT` `[M, 24]`.
      progress: whether to show a progress bar.

    Yields:
      Pairs of at least `MIN_AGREEMENTS_TO_CONFIRM` agreements, in ascending order.
    """
    candidates = part_candidates.propose_pairs(first, second, progress=progress)
    pairs = np.stack([candidates.first, candidates.second], axis=1)
    for start in range(0, len(pairs), _MAX_CANDIDATES_AT_ONCE):
        yield from _examine(first, second, pairs[start : start + _MAX_CANDIDATES_AT_ONCE])


def keep_best(parts: Sequence[SharedPart]) -> list[SharedPart]:
    """Returns the shared parts that are among the best ones of either of their images.

    In a film, nearly all frames share parts with each other. So only `MAX_PARTS_PER_IMAGE` of each
    image are kept, those of most agreements, and those that other images keep.

    Args:
      parts: of the images of two sets.
    """
    is_kept = part_candidates.is_among_best(
        np.array([part.first for part in parts], np.int64),
        np.array([part.second for part in parts], np.int64),
        np.array([part.agreements for part in parts], np.int64),
        MAX_PARTS_PER_IMAGE,
    )
    return [part for part, is_one_kept in zip(parts, is_kept.tolist(), strict=True) if is_one_kept]


def _examine(first: np.ndarray, second: np.ndarray, pairs: np.ndarray) -> Iterator[SharedPart]:
    """Yields those of some image pairs, int64 `[K, 2]`, that share a part; see `find_between`."""
    differing = {
        is_mirrored: _count_differing_signs(first, second, pairs, is_mirrored=is_mirrored)
        for is_mirrored in (False, True)
    }
    for number, (first_image, second_image) in enumerate(pairs.tolist()):
        fits = []
        for is_mirrored, differing_signs in differing.items():
            of_first, of_second = _find_agreements(differing_signs[number])
            if len(of_first) >= MIN_AGREEMENTS_TO_CONFIRM:
                agreements = _read_agreements(
                    first[first_image][of_first],
                    second[second_image][of_second],
                    is_mirrored=is_mirrored,
                )
                fits += _find_fits(agreements)
        if fits:
            best_fit = max(fits, key=lambda fit: fit.count)
            yield SharedPart(first_image, second_image, best_fit.count, best_fit.similarity)


def _count_differing_signs(
    first: np.ndarray, second: np.ndarray, pairs: np.ndarray, *, is_mirrored: bool
) -> np.ndarray:
    """Returns how many signs of the keypoints of each image pair differ, uint8 `[K, 24, 24]`.

    Where an image has fewer keypoints, all signs differ.
    """
    first_of_pairs = first[pairs[:, 0]]
    second_of_pairs = second[pairs[:, 1]]
    second_signs = second_of_pairs["signs"]
    if is_mirrored:
        second_signs = second_signs ^ MIRRORED_SIGNS
    first_signs = first_of_pairs["signs"]
    differing = np.bitwise_count(first_signs[:, :, np.newaxis] ^ second_signs[:, np.newaxis, :])
    differing[~first_of_pairs["exists"]] = SIGN_BITS
    differing.swapaxes(1, 2)[~second_of_pairs["exists"]] = SIGN_BITS
    return differing


def _find_agreements(differing_signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns which keypoints of two images agree, of very many those that are nearest.

    Args:
      differing_signs: of each two keypoints, uint8 `[24, 24]`.

    Returns:
      The number of the keypoint in each image, int64 `[M]`.
    """
    of_first, of_second = np.nonzero(differing_signs <= _MAX_DIFFERENT_SIGNS)
    if len(of_first) <= _MAX_COMPARED_AGREEMENTS:
        return of_first, of_second
    nearest_first = np.argsort(differing_signs[of_first, of_second], kind="stable")
    nearest = nearest_first[:_MAX_COMPARED_AGREEMENTS]
    return of_first[nearest], of_second[nearest]


def _read_agreements(first: np.ndarray, second: np.ndarray, *, is_mirrored: bool) -> _Agreements:
    """Returns the agreements of the n-th keypoints of two images, `KEYPOINT` `[M]` each."""
    second_points = second["x"] + 1j * second["y"]
    second_directions = second["direction"]
    if is_mirrored:
        second_points = np.conj(second_points)
        second_directions = -second_directions
    return _Agreements(
        first_points=first["x"] + 1j * first["y"],
        second_points=second_points,
        log_scales=first["log_size"] - second["log_size"],
        turns=first["direction"] - second_directions,
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
    most_followed_first = np.argsort(-follows.sum(axis=1), kind="stable")
    examined = follows[most_followed_first[:_MAX_EXAMINED_SIMILARITIES]]
    # In a film, nearly all of these similarities have the same followers.
    _, first_of_equal = np.unique(examined, axis=0, return_index=True)
    is_beside = _find_neighbors(agreements)
    fits = []
    for followers in map(np.flatnonzero, examined[np.sort(first_of_equal)]):
        count = _count_apart(is_beside, followers)
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


def _find_neighbors(agreements: _Agreements) -> np.ndarray:
    """Returns which agreements are beside which other ones, in either image, bool `[M, M]`."""
    first, second = agreements.first_points, agreements.second_points
    distances = np.minimum(
        np.abs(first[:, np.newaxis] - first), np.abs(second[:, np.newaxis] - second)
    )
    return np.asarray(distances < _MIN_DISTANCE)


def _count_apart(is_beside: np.ndarray, followers: np.ndarray) -> int:
    """Counts agreements without those beside another one.

    Keypoints of one spot in several sizes or directions are one piece of evidence.

    Args:
      is_beside: which agreements are beside which other ones, bool `[M, M]`.
      followers: the numbers of the agreements to count, int64 `[F]`.
    """
    counted: list[int] = []
    for follower in followers.tolist():
        if not is_beside[follower, counted].any():
            counted.append(follower)
    return len(counted)
