"""Joins candidates that belong together, because each says only a part of the splits.

Such are a list for train and one for test; or nnU-Net's folds, which divide the images of its
folder of training images.
"""

from collections.abc import Sequence

from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate


def divide_further(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns candidates whose train others divide, with the division in the place of their train.

    nnU-Net's folds divide the images of `imagesTr`, and `imagesTs` are the test of each fold.
    """
    divided = []
    for finer in candidates:
        for coarse in candidates:
            has_more_splits = not coarse.ids.keys() <= finer.ids.keys()
            if has_more_splits and finer.divides_train_of(coarse):
                divided.append(finer.with_other_splits_of(coarse))
    return divided


def join_if_compatible(candidates: Sequence[SplitCandidate]) -> list[SplitCandidate]:
    """Returns candidates that no rule beats, those that belong together as one.

    Lists of other images belong together if they make other splits, or all the same splits. A
    candidate that belongs to all others is joined to each of them.

        lists                                   candidates that are returned
        meta/train.txt, other/test.txt          both as one: train and test
        rome: train, val; bonn: train, val      both as one: train and validation
        fold0: train, val; fold1: train, val;   two: each fold with the test
          test.txt
    """
    if len(candidates) < 2:
        return [*candidates]
    belonging_to_all = [one for one in candidates if _belongs_to_all(one, candidates)]
    joined = list[SplitCandidate]()
    for candidate in candidates:
        if candidate not in belonging_to_all:
            _join_to_first(candidate, joined)
    for candidate in belonging_to_all:
        if not joined:
            joined.append(candidate)
            continue
        joined = [other.joined(candidate) for other in joined]
    return joined


def _belongs_to_all(candidate: SplitCandidate, candidates: Sequence[SplitCandidate]) -> bool:
    others = [other for other in candidates if other != candidate]
    return all(_belong_together(candidate, other) for other in others)


def _join_to_first(candidate: SplitCandidate, joined: list[SplitCandidate]) -> None:
    """Joins a candidate to the first one that it belongs to, or adds it."""
    for number, other in enumerate(joined):
        if _belong_together(candidate, other):
            joined[number] = other.joined(candidate)
            return
    joined.append(candidate)


def _belong_together(one: SplitCandidate, other: SplitCandidate) -> bool:
    if not one.are_disjoint_lists(other):
        return False
    have_same_splits = one.ids.keys() == other.ids.keys()
    are_parallel = have_same_splits and one.divides_images
    return are_parallel or one.has_other_splits_than(other)
