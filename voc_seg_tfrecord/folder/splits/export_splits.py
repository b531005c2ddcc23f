"""Divides the images of exports: each by its own lists, as if it were alone.

The lists of `anna` divide her images, and those of `ben` his. The train of the set is that of both.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.candidates import BY_LISTS, SplitCandidate
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.folders import first_folder
from voc_seg_tfrecord.folder.splits.join_candidates import join_if_compatible
from voc_seg_tfrecord.folder.splits.rules import RULES


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


def check_no_export_left_out(chosen: SplitCandidate, evidence: SplitEvidence) -> None:
    """Checks that the lists of exports leave out no export as a whole.

    Raises:
      QuestionError: if they do, with the options that put its images into train.
    """
    if chosen.kind != BY_LISTS or not chosen.exports:
        return
    used = {first_folder(image_id) for image_id in chosen.split_by_id}
    names = [export.name for export in evidence.exports if export.name not in used]
    if not names:
        return
    options = {source.split: source.option for source in chosen.sources}
    folders = "+".join(f"{name}/" for name in names)
    with_train = {**options, "train": "+".join(filter(None, [options.get("train"), folders]))}
    alternatives = [
        Alternative("", {"splits": with_train}),
        Alternative("", {"splits": options}),
        Alternative("", {"splits": {"train": 1.0}}),
    ]
    raise QuestionError(
        evidence.tree.given,
        alternatives,
        task=f"divide the images into splits, of which no list names those of {several(names)}",
        expected="lists in each export, or one list for all",
        kind="several ways to divide",
    )
