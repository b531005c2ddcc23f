"""Lists of folds, such as `fold_0.txt` to `fold_4.txt`: the user says which one validates.

The lists may lie in any folder, or be keys of one text. The user is not asked if other lists or
folders divide the images into train and validation, nor if a column of splits has the same folds,
as `splits.csv` of `export --layout voc` does.
"""

import collections
from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.words import fold_in
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList


def with_folds(evidence: SplitEvidence) -> SplitEvidence:
    """Returns the evidence with the lists of folds: those of each folder or text, by number.

    Lists of folds share no image. None of them is among results, and not all are splits of a column
    of a table. In the evidence that is returned they make no splits.
    """
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    splits_of_columns = set()
    for split_list in evidence.lists:
        if split_list.rank == ListRank.RESULTS:
            continue
        if split_list.key and split_list.split:
            splits_of_columns.add(frozenset(split_list.ids))
        elif fold_in(split_list.innermost_name) and split_list.image_count:
            lists_by_scope[split_list.scope].append(split_list)
    folds = []
    names_of_folds = set[str]()
    for lists in lists_by_scope.values():
        ids = [image_id for split_list in lists for image_id in {*split_list.ids}]
        share_images = len(set(ids)) < len(ids)
        are_in_column = all(frozenset(one.ids) in splits_of_columns for one in lists)
        if len(lists) > 1 and not share_images and not are_in_column:
            folds.append(sorted(lists, key=lambda one: int(fold_in(one.innermost_name))))
            names_of_folds.update(split_list.name for split_list in lists)
    checked_lists = []
    for split_list in evidence.lists:
        if split_list.name in names_of_folds:
            checked_lists.append(dataclasses.replace(split_list, split=""))
        else:
            checked_lists.append(split_list)
    return dataclasses.replace(evidence, lists=checked_lists, folds=folds)


def ask_for_fold(_: SplitCandidate, evidence: SplitEvidence) -> QuestionError | None:
    """Lists of folds do not say which one validates, and nothing else does.

    There is a line for each fold that may validate, and one for all folds as splits.
    """
    if any(candidate.ids.keys() >= {"train", "validation"} for candidate in evidence.candidates):
        return None
    alternatives: list[Alternative] = []
    for lists in evidence.folds:
        alternatives += _alternatives(evidence, lists)
    if not alternatives:
        return None
    return QuestionError(
        evidence.tree.given,
        alternatives,
        task="divide the images into splits",
        expected="lists that say which fold validates",
        kind="several ways to divide",
    )


def _alternatives(evidence: SplitEvidence, lists: Sequence[SplitList]) -> list[Alternative]:
    """Returns the lines of the question about one division into folds.

    Each line keeps the splits of candidates that share no image with the folds, such as test.
    """
    options = [evidence.option_for(split_list) for split_list in lists]
    ids = {image_id for split_list in lists for image_id in split_list.ids}
    other_splits: dict[str, str] = {}
    for candidate in evidence.candidates:
        for source in candidate.sources:
            if ids.isdisjoint(source.ids):
                other_splits.setdefault(source.split, source.option)
    names = [f"fold_{fold_in(split_list.innermost_name)}" for split_list in lists]
    alternatives: list[Alternative] = []
    for name, option in zip(names, options, strict=True):
        train = "+".join(other for other in options if other != option)
        splits = {**other_splits, "train": train, "validation": option}
        alternatives.append(Alternative(f"{name} validates", {"splits": splits}))
    all_folds = {**other_splits, **dict(zip(names, options, strict=True))}
    # People take the first fold, or all: both come first, however many folds there are.
    alternatives.insert(1, Alternative("each fold is a split", {"splits": all_folds}))
    return alternatives
