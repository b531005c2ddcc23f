"""Chooses among the pairings of a folder by the tables of `rules`.

First the images of each set of masks are chosen, then the masks of each set of images, then what is
left is compared: any two candidates.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.role_words import EXTRA_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.files.arrangements import list_candidates
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.files.rules import (
    IMAGE_RULES,
    MASK_RULES,
    SET_RULES,
    FileRule,
)

ReasonByLoser = dict[PairingCandidate, Reason[PairingCandidate]]
"""Why each candidate lost."""


@dataclasses.dataclass(frozen=True)
class ChoiceByRules:
    """The outcome of the rules.

    Attributes:
      best: the candidates that no rule beats.
      lost_masks: the candidates that lost by their masks, with the reason.
    """

    best: Sequence[PairingCandidate]
    lost_masks: ReasonByLoser


def choose_by_rules(pairings: Sequence[Pairing], evidence: FileEvidence) -> ChoiceByRules:
    """Applies the three tables of rules, one after the other."""
    candidates = _list_possible(pairings, evidence)
    after_image_rules = _choose_images(candidates, evidence)
    after_mask_rules = _choose_masks(after_image_rules.best, evidence)
    after_set_rules = _decide(after_mask_rules.best, SET_RULES, _are_any_two, evidence)
    return ChoiceByRules(after_set_rules.best, after_mask_rules.reason_by_loser)


# Which candidates there are.


def _list_possible(pairings: Sequence[Pairing], evidence: FileEvidence) -> list[PairingCandidate]:
    """Returns the candidates whose names do not forbid them."""
    possible = [pairing for pairing in pairings if _do_names_allow(pairing, evidence)]
    possible += _list_images_called_masks(pairings, possible, evidence)
    return list_candidates(possible, lambda pairing: _find_roles(pairing, evidence))


@dataclasses.dataclass(frozen=True)
class _Roles:
    """What names tell of a pairing. Pairings of one candidate have the same roles.

    Attributes:
      of_images: the role of its images: `images`, `masks`, `drawn` or empty.
      of_masks: the role of its masks.
      is_extra: whether the folder in which all of them lie is called as a sample, a fold or the
        like; see `EXTRA_WORDS`.
    """

    of_images: str
    of_masks: str
    is_extra: bool


def _find_roles(pairing: Pairing, evidence: FileEvidence) -> _Roles:
    words_of_common_folder = words(common_folder(pairing.folders))
    return _Roles(
        of_images=evidence.image_role(pairing),
        of_masks=evidence.mask_role(pairing),
        is_extra=not EXTRA_WORDS.isdisjoint(words_of_common_folder),
    )


def _do_names_allow(pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether images are not called masks or drawings, and masks are not called images.

    If both lie in one folder, its name tells only drawings; see `FileEvidence.role`.
    """
    are_images_misnamed = evidence.image_role(pairing) in ("masks", "drawn")
    return not are_images_misnamed and evidence.mask_role(pairing) != "images"


def _list_images_called_masks(
    pairings: Iterable[Pairing], possible: Iterable[Pairing], evidence: FileEvidence
) -> list[Pairing]:
    """Returns the pairings in one folder whose images are called masks, but are masks of nothing.

    `1_mask.png` is no image of `1_mask_small.png` if it is the mask of `1.jpg`.

    Args:
      pairings: all pairings of the folder.
      possible: those that their names allow.
      evidence: what names tell of roles.
    """
    masks_by_folder: dict[str, list[FileSet]] = {}
    for pairing in possible:
        masks_by_folder.setdefault(pairing.masks.folder, []).append(pairing.masks)
    with_images_called_masks: list[Pairing] = []
    for pairing in pairings:
        if not pairing.is_flat or evidence.image_role(pairing) != "masks":
            continue
        if evidence.mask_role(pairing) == "images":
            continue
        if not _are_masks_of_others(pairing.images, masks_by_folder):
            with_images_called_masks.append(pairing)
    return with_images_called_masks


def _are_masks_of_others(
    images: FileSet, masks_by_folder: Mapping[str, Collection[FileSet]]
) -> bool:
    """Says whether images are the masks of other images in their folder."""
    masks_in_folder = masks_by_folder.get(images.folder, ())
    return any(masks.has_first_of(images) for masks in masks_in_folder)


# Which candidates are not beaten.


@dataclasses.dataclass(frozen=True)
class _BestCandidates:
    """The outcome of one table of rules.

    Attributes:
      best: the candidates that no rule beats, group by group.
      reason_by_loser: why each other one lost.
    """

    best: list[PairingCandidate]
    reason_by_loser: ReasonByLoser


def _choose_images(
    candidates: Sequence[PairingCandidate], evidence: FileEvidence
) -> _BestCandidates:
    """Chooses the images of each set of masks, and drops those of other sizes than the masks.

    Candidates that are dropped for their sizes have no reason in `reason_by_loser`.
    """
    best: list[PairingCandidate] = []
    reason_by_loser: ReasonByLoser = {}
    for group in _groups_sharing(candidates, lambda candidate: candidate.mask_sets):
        outcome = _decide(group, IMAGE_RULES, PairingCandidate.shares_masks_with, evidence)
        best += [candidate for candidate in outcome.best if _may_have_sizes(candidate, evidence)]
        reason_by_loser |= outcome.reason_by_loser
    return _BestCandidates(best, reason_by_loser)


def _may_have_sizes(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether images have the sizes of masks, which does not matter if names tell both."""
    if evidence.are_called_images(candidate) and evidence.are_called_masks(candidate):
        return True
    return evidence.sizes_agree(candidate)


def _choose_masks(
    candidates: Sequence[PairingCandidate], evidence: FileEvidence
) -> _BestCandidates:
    """Chooses the masks of each set of images, which look like masks or are called so."""
    with_masks: list[PairingCandidate] = []
    for candidate in candidates:
        if evidence.are_called_masks(candidate) or evidence.masks_look_like_masks(candidate):
            with_masks.append(candidate)
    best: list[PairingCandidate] = []
    reason_by_loser: ReasonByLoser = {}
    for group in _groups_sharing(with_masks, lambda candidate: candidate.image_sets):
        outcome = _decide(group, MASK_RULES, PairingCandidate.shares_images_with, evidence)
        best += outcome.best
        reason_by_loser |= outcome.reason_by_loser
    return _BestCandidates(best, reason_by_loser)


def _are_any_two(candidate: PairingCandidate, other: PairingCandidate) -> bool:
    return candidate != other


def _decide(
    candidates: Sequence[PairingCandidate],
    rules: Sequence[FileRule],
    may_lose_to: Callable[[PairingCandidate, PairingCandidate], bool],
    evidence: FileEvidence,
) -> _BestCandidates:
    """Applies a table of rules to candidates, of which only some are compared with each other."""
    limited_rules = [_limit_rule(rule, may_lose_to) for rule in rules]
    decision = decide(candidates, limited_rules, evidence)
    best = [candidate for candidate in candidates if candidate not in decision.lost]
    return _BestCandidates(best, dict(decision.lost))


def _limit_rule(
    rule: FileRule, may_lose_to: Callable[[PairingCandidate, PairingCandidate], bool]
) -> FileRule:
    """Returns a rule by which a candidate loses only to those with which it is compared."""
    loses_to_any = rule.loses
    if loses_to_any is None:
        return rule

    def loses(candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence) -> bool:
        return may_lose_to(candidate, other) and loses_to_any(candidate, other, evidence)

    return dataclasses.replace(rule, loses=loses)


@dataclasses.dataclass(frozen=True)
class _Group:
    """Candidates that share images, or masks.

    Attributes:
      sets: all their images, or masks.
      members: the candidates.
    """

    sets: frozenset[FileSet]
    members: Sequence[PairingCandidate]


def _groups_sharing(
    candidates: Iterable[PairingCandidate],
    sets_of: Callable[[PairingCandidate], frozenset[FileSet]],
) -> list[Sequence[PairingCandidate]]:
    """Groups candidates that share images, or masks, directly or by others between them."""
    groups: list[_Group] = []
    for candidate in candidates:
        joined = _Group(sets_of(candidate), [candidate])
        separate: list[_Group] = []
        for group in groups:
            if joined.sets.isdisjoint(group.sets):
                separate.append(group)
            else:
                joined = _Group(joined.sets | group.sets, [*group.members, *joined.members])
        groups = [*separate, joined]
    return [group.members for group in groups]
