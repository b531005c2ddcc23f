"""Lists of folds, such as `fold_0.txt` to `fold_4.txt`: the user says which one validates.

They are asked about wherever they lie, and as keys of one text too. Nothing is asked if other lists
or folders divide the images into train and validation, or if a column of splits has the same folds,
as that of `splits.csv` of `export --layout voc` does.
"""

import collections
from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.core.split_names import fold_in
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList


def find_folds(evidence: SplitEvidence) -> list[list[SplitList]]:
    """Returns the lists of each division into folds: side by side, and without overlap.

    Those among results are none, and those of which a column says that each is a split.
    """
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    stated_splits = set()
    for split_list in evidence.lists:
        if split_list.rank == ListRank.RESULTS:
            continue
        if split_list.key and split_list.split:
            stated_splits.add(frozenset(split_list.ids))
        elif fold_in(split_list.innermost_name) and split_list.image_count:
            lists_by_scope[split_list.scope].append(split_list)
    divisions = []
    for lists in lists_by_scope.values():
        ids = [image_id for split_list in lists for image_id in {*split_list.ids}]
        are_stated = stated_splits.issuperset(frozenset(one.ids) for one in lists)
        if len(lists) > 1 and len({*ids}) == len(ids) and not are_stated:
            lists.sort(key=lambda one: int(fold_in(one.innermost_name)))
            divisions.append(lists)
    return divisions


def without_splits(evidence: SplitEvidence, folds: Sequence[Sequence[SplitList]]) -> SplitEvidence:
    """Returns the evidence in which lists of folds make no splits."""
    names = {split_list.name for lists in folds for split_list in lists}
    lists = [
        dataclasses.replace(one, split="") if one.name in names else one for one in evidence.lists
    ]
    return dataclasses.replace(evidence, lists=lists)


def check_folds(
    evidence: SplitEvidence,
    folds: Sequence[Sequence[SplitList]],
    candidates: Sequence[SplitCandidate],
) -> None:
    """Checks that no lists of folds are left for which nobody said which one validates.

    Raises:
      QuestionError: if some are, with a line for each fold that validates, and one for all folds as
        splits.
    """
    if any(candidate.ids.keys() >= {"train", "validation"} for candidate in candidates):
        return
    alternatives: list[Alternative] = []
    for lists in folds:
        alternatives += _alternatives(evidence, lists, candidates)
    if alternatives:
        raise QuestionError(
            evidence.tree.given,
            alternatives,
            task="divide the images into splits",
            expected="the fold that validates, because lists of folds do not say it",
            kind="several ways to divide",
        )


def _alternatives(
    evidence: SplitEvidence, lists: Sequence[SplitList], candidates: Sequence[SplitCandidate]
) -> list[Alternative]:
    """Returns the lines of the question; other splits of other images, such as test, stay."""
    options = [evidence.option_for(split_list) for split_list in lists]
    ids = {image_id for split_list in lists for image_id in split_list.ids}
    others: dict[str, str] = {}
    for candidate in candidates:
        for source in candidate.sources:
            if ids.isdisjoint(source.ids):
                others.setdefault(source.split, source.option)
    choices = []
    for option in options:
        train = "+".join(other for other in options if other != option)
        choices.append({**others, "train": train, "validation": option})
    names = [f"fold_{fold_in(split_list.innermost_name)}" for split_list in lists]
    all_folds = {**others, **dict(zip(names, options, strict=True))}
    # People take the first fold, or all: both come first, however many folds there are.
    choices.insert(1, all_folds)
    return [Alternative("", {"splits": choice}) for choice in choices]
