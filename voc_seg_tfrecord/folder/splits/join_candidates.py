"""Joins candidates that belong together, because each says only a part of the splits.

Such are a list for train and one for test; or nnU-Net's folds, which divide the images of its
folder of training images.
"""

from collections.abc import Sequence
import functools

from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate


def divide_further(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns one candidate for each pair of which the finer one divides the train of the other.

    It has the splits of the finer one, and those that only the coarser one has. Example: nnU-Net's
    folds divide the images of `imagesTr`, and `imagesTs` are the test of each fold.
    """
    divided = []
    for finer in candidates:
        for coarser in candidates:
            has_other_splits = not coarser.ids.keys() <= finer.ids.keys()
            if has_other_splits and finer.divides_train_of(coarser):
                divided.append(finer.with_other_splits_of(coarser))
    return divided


def join_if_compatible(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Merges the candidates that belong together, and returns one for each merged group.

    Two disjoint lists belong together if no split is in both, or if both divide their images into
    the same splits. A candidate that belongs to all others is joined to each of them.

        lists                                   candidates that are returned
        meta/train.txt, other/test.txt          both as one: train and test
        rome: train, val; bonn: train, val      both as one: train and validation
        fold0: train, val; fold1: train, val;   two: each fold with the test
          test.txt
    """
    if len(candidates) < 2:
        return [*candidates]
    belong_to_all = []
    parts_of_divisions = []
    for candidate in candidates:
        if _belongs_to_all(candidate, candidates):
            belong_to_all.append(candidate)
        else:
            parts_of_divisions.append(candidate)
    if not parts_of_divisions:
        return [_join_all(belong_to_all)]
    divisions = _join_parts(parts_of_divisions)
    return [_join_all([division, *belong_to_all]) for division in divisions]


def _join_all(candidates: Sequence[SplitCandidate]) -> SplitCandidate:
    """Returns several candidates as one."""
    return functools.reduce(SplitCandidate.joined, candidates)


def _belongs_to_all(candidate: SplitCandidate, candidates: Sequence[SplitCandidate]) -> bool:
    others = [other for other in candidates if other != candidate]
    return all(_belong_together(candidate, other) for other in others)


def _join_parts(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Joins each candidate to the first division that it belongs to; otherwise it begins one."""
    divisions: list[SplitCandidate] = []
    for candidate in candidates:
        number = _find_division(candidate, divisions)
        if number is None:
            divisions.append(candidate)
        else:
            divisions[number] = divisions[number].joined(candidate)
    return divisions


def _find_division(candidate: SplitCandidate, divisions: Sequence[SplitCandidate]) -> int | None:
    """Returns the number of the first division that a candidate belongs to; None if none."""
    for number, division in enumerate(divisions):
        if _belong_together(candidate, division):
            return number
    return None


def _belong_together(one: SplitCandidate, other: SplitCandidate) -> bool:
    if not one.are_disjoint_lists(other):
        return False
    have_same_splits = one.ids.keys() == other.ids.keys()
    are_parallel = have_same_splits and one.divides_images
    return are_parallel or one.has_other_splits_than(other)
