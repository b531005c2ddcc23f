"""Finds images of two sides that share a part: crops, overlapping tiles, mirrored parts.

The keypoints of `quality.shared_parts` propose pairs, of which the best few of each image are kept.
Where both images are at hand, the pixels of the 2,000 best pairs of two sides are compared. Four
keypoints that agree are reported in any case, three only if the pixels confirm them. A pair that is
one file, or was reported as the same picture, is left out.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.audit.leak_confirmation import read_grays_of_pairs
from voc_seg_tfrecord.audit.leaks import (
    MAX_CONFIRMED_PAIRS,
    Overlap,
    PartPair,
    Side,
)
from voc_seg_tfrecord.quality import pixel_confirmation, shared_parts
from voc_seg_tfrecord.quality.keypoints import KEYPOINT, KEYPOINTS_PER_IMAGE
from voc_seg_tfrecord.quality.shared_parts import SharedPart


def add_shared_parts(overlap: Overlap, *, progress: bool = False) -> Overlap:
    """Returns what two sides share, with the pairs of images that share a part.

    Args:
      overlap: what was found by ids, bytes and signs.
      progress: whether to show a progress bar.
    """
    parts = _find_new_parts(overlap, progress=progress)
    best = shared_parts.keep_best(parts)
    best.sort(key=lambda part: -part.agreements)
    pairs = _confirm(overlap.first, overlap.second, best)
    pairs.sort(key=lambda pair: (-pair.agreements, pair.first_id, pair.second_id))
    return dataclasses.replace(
        overlap,
        part_pairs=tuple(pairs),
        unlisted_part_pairs=_count_certain(parts) - _count_certain(best),
    )


def _find_new_parts(overlap: Overlap, *, progress: bool) -> list[SharedPart]:
    """Returns the pairs of images that share a part, and are no pairs of `overlap` already."""
    first, second = overlap.first, overlap.second
    first_ids = list(first.keypoints_by_id)
    second_ids = list(second.keypoints_by_id)
    known_pairs = {(pair.first_id, pair.second_id) for pair in overlap.similar_pairs}
    new_parts = []
    for part in shared_parts.find_between(
        _stack_keypoints(first), _stack_keypoints(second), progress=progress
    ):
        first_id, second_id = first_ids[part.first], second_ids[part.second]
        is_same_file = first.sha256_by_id[first_id] == second.sha256_by_id[second_id]
        if not is_same_file and (first_id, second_id) not in known_pairs:
            new_parts.append(part)
    return new_parts


def _count_certain(parts: Sequence[SharedPart]) -> int:
    """Counts the pairs that are reported even if their pixels are not compared."""
    return sum(part.agreements >= shared_parts.MIN_AGREEMENTS for part in parts)


def _stack_keypoints(side: Side) -> np.ndarray:
    """Returns the keypoints of a side's images, `KEYPOINT` `[N, 24]`."""
    keypoints = np.array([*side.keypoints_by_id.values()], KEYPOINT)
    return keypoints.reshape(-1, KEYPOINTS_PER_IMAGE)


def _confirm(first: Side, second: Side, best_first: Sequence[SharedPart]) -> list[PartPair]:
    """Returns the pairs that are reported, with whether pixels confirm each.

    Pixels are compared where both images are at hand, of the first 2,000 pairs.
    """
    first_ids = list(first.keypoints_by_id)
    second_ids = list(second.keypoints_by_id)
    part_by_ids = {(first_ids[part.first], second_ids[part.second]): part for part in best_first}
    compared_ids = list(part_by_ids)[:MAX_CONFIRMED_PAIRS]
    grays_by_ids = read_grays_of_pairs(first.read_files, second.read_files, compared_ids)
    pairs = []
    for (first_id, second_id), part in part_by_ids.items():
        is_confirmed = None
        grays = grays_by_ids.get((first_id, second_id))
        if grays is not None:
            is_confirmed = pixel_confirmation.confirm(*grays, part.similarity.matrix()).is_confirmed
        if is_confirmed or part.agreements >= shared_parts.MIN_AGREEMENTS:
            pairs.append(
                PartPair(
                    first_id,
                    second_id,
                    part.agreements,
                    part.similarity.describe(),
                    is_confirmed,
                    part.similarity,
                )
            )
    return pairs
