"""Divides the images of exports: each by its own lists, as if it were alone.

The lists of `anna` divide her images, and those of `ben` his. The train of the set is that of both.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.core.errors import join_names, several
from voc_seg_tfrecord.core.split_names import TO_TRAIN_ON
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import BY_LISTS, SplitCandidate
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.folders import first_folder
from voc_seg_tfrecord.folder.splits.join_candidates import join_if_compatible
from voc_seg_tfrecord.folder.splits.rules import RULES

_SEVERAL_WAYS_TO_DIVIDE = "several ways to divide"
"""The kind of the questions."""


@dataclasses.dataclass(frozen=True)
class UnitedCandidates:
    """The candidates of a folder, in which those of single exports are one.

    Attributes:
      candidates: the candidates.
      lost: why others lost within their export.
    """

    candidates: Sequence[SplitCandidate]
    lost: Mapping[SplitCandidate, Reason[SplitCandidate]] = dataclasses.field(default_factory=dict)


def unite_exports(
    candidates: Sequence[SplitCandidate], evidence: SplitEvidence
) -> UnitedCandidates:
    """Joins the candidates that name images of one export each, of each export the one it takes.

    If an export leaves several, all candidates stay as they are, and the user is asked.
    """
    by_export: dict[frozenset[str], list[SplitCandidate]] = {}
    others: list[SplitCandidate] = []
    for candidate in candidates:
        if candidate.exports:
            by_export.setdefault(candidate.exports, []).append(candidate)
        else:
            others.append(candidate)
    if len(by_export) < 2:
        return UnitedCandidates(candidates)
    taken: list[SplitCandidate] = []
    lost: dict[SplitCandidate, Reason[SplitCandidate]] = {}
    for candidates_of_export in by_export.values():
        decision = decide(candidates_of_export, RULES, evidence)
        left = [decision.taken] if decision.taken else join_if_compatible(decision.alternatives)
        if len(left) > 1:
            return UnitedCandidates(candidates)
        taken += left
        lost.update(decision.lost)
    return UnitedCandidates([functools.reduce(SplitCandidate.joined, taken), *others], lost)


def check_exports_are_divided_alike(chosen: SplitCandidate, evidence: SplitEvidence) -> None:
    """Checks that the lists of exports leave out no export, and train on splits of the same names.

    If anna's lists are `train` and `val` and ben's is `trainval`, his images are in no `train`.

    Raises:
      QuestionError: if they do, with the options that put all images to train on into train.
    """
    if chosen.kind != BY_LISTS or not chosen.exports:
        return
    options = {source.split: source.option for source in chosen.sources}
    splits_by_export: dict[str, set[str]] = {}
    for image_id, split in chosen.split_by_id.items():
        splits_by_export.setdefault(first_folder(image_id), set()).add(split)
    names = [export.name for export in evidence.exports if export.name not in splits_by_export]
    if names:
        raise _ask_about_exports_in_no_list(evidence, options, names)
    training_splits = [TO_TRAIN_ON & splits for splits in splits_by_export.values()]
    # An export that is only tested on has none.
    differing = {splits for splits in training_splits if splits}
    if len(differing) > 1:
        raise _ask_what_to_train_on(evidence, options, splits_by_export)


def _ask_about_exports_in_no_list(
    evidence: SplitEvidence, options: Mapping[str, str], names: Sequence[str]
) -> QuestionError:
    """Returns the question which split the images of some exports are in."""
    folders = "+".join(f"{name}/" for name in names)
    with_train = {**options, "train": "+".join(filter(None, [options.get("train"), folders]))}
    alternatives = [
        Alternative("", {"splits": with_train}),
        Alternative("", {"splits": options}),
        Alternative("", {"splits": {"train": 1.0}}),
    ]
    return QuestionError(
        evidence.tree.given,
        alternatives,
        task=f"divide the images into splits, of which no list names those of {several(names)}",
        expected="lists in each export, or one list for all",
        kind=_SEVERAL_WAYS_TO_DIVIDE,
    )


def _ask_what_to_train_on(
    evidence: SplitEvidence, options: Mapping[str, str], splits_by_export: Mapping[str, set[str]]
) -> QuestionError:
    """Returns the question whether all images to train on are in train."""
    to_train_on = [option for split, option in options.items() if split in TO_TRAIN_ON]
    others = {split: option for split, option in options.items() if split not in TO_TRAIN_ON}
    alternatives = [
        Alternative("", {"splits": {"train": "+".join(to_train_on), **others}}),
        Alternative("", {"splits": options}),
    ]
    found = [
        f"{name} has {join_names(sorted(splits), 'and')}"
        for name, splits in splits_by_export.items()
    ]
    return QuestionError(
        evidence.tree.given,
        alternatives,
        task=f"divide the images into splits, because {several(found, len(found))}",
        expected="lists of the same splits in each export",
        kind=_SEVERAL_WAYS_TO_DIVIDE,
    )
