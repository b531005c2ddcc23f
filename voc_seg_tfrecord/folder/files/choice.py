"""Chooses the images and masks of a folder by the rules of `rules`, or says what it cannot choose.

First the images of each set of masks are chosen, then the masks of each set of images, then what
is left is compared: whole sets that are copies of others, files whose names have the same ids, and
labeled images that nothing has used.
"""

from collections.abc import Callable, Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.role_words import EXTRA_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate, list_candidates
from voc_seg_tfrecord.folder.files.companions import compare_with_companions
from voc_seg_tfrecord.folder.files.copies import Copies, find_copies, folders_of_copies, is_copy
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.files.rules import (
    IMAGE_RULES,
    MASK_RULES,
    SET_RULES,
    FileRule,
)


@dataclasses.dataclass(frozen=True)
class FileChoice:
    """What is chosen of the pairings of a folder.

    Attributes:
      chosen: the pairings that make the set.
      rivals: pairings between which the user has to choose.
      beside: pairings of labeled images that are in no chosen one, and are no copies either.
      copies: folders of images and masks that are copies of chosen ones.
      reasons: why each candidate lost that may have been meant, in words that a user reads.
    """

    chosen: Sequence[Pairing] = ()
    rivals: Sequence[Pairing] = ()
    beside: Sequence[Pairing] = ()
    copies: Sequence[str] = ()
    reasons: Sequence[str] = ()


def choose_files(pairings: Sequence[Pairing], evidence: FileEvidence) -> FileChoice:
    """Chooses among the pairings of a folder, all of which are given, by the evidence."""
    by_rules = _choose_by_rules(pairings, evidence)
    copies = find_copies(_pairings_of(by_rules.best), evidence)
    sets_without_copies = _without_masks_of_copies(by_rules.best, copies)
    rivals = _list_rivals(sets_without_copies, copies, evidence)
    all_originals = set(copies.originals)
    originals = [p for p in _pairings_of(sets_without_copies) if p in all_originals]
    compared = compare_with_companions(originals, rivals, pairings, evidence)
    repeating = _find_repeating(compared.chosen)
    chosen = [pairing for pairing in compared.chosen if pairing not in repeating]
    settled = [*chosen, *compared.asked, *repeating, *_pairings_of(by_rules.beaten_sets)]
    beside = _find_beside(settled, chosen, pairings, evidence)
    reason_by_loser = by_rules.reason_by_loser | _reasons_of_copies(copies)
    return FileChoice(
        chosen=tuple(chosen),
        rivals=tuple(compared.asked),
        beside=(*repeating, *beside.pairings),
        copies=_list_copied_folders(copies, beside.copies, pairings, evidence),
        reasons=_reason_texts(reason_by_loser, chosen),
    )


ReasonByLoser = dict[PairingCandidate, Reason[PairingCandidate]]
"""Why each candidate lost."""


@dataclasses.dataclass(frozen=True)
class _ChoiceByRules:
    """What the rules leave of the candidates.

    Attributes:
      best: the candidates that no rule beats.
      beaten_sets: those that only a rule of `SET_RULES` beats.
      reason_by_loser: why each candidate lost that a rule beats.
    """

    best: Sequence[PairingCandidate]
    beaten_sets: Sequence[PairingCandidate]
    reason_by_loser: ReasonByLoser


def _choose_by_rules(pairings: Sequence[Pairing], evidence: FileEvidence) -> _ChoiceByRules:
    """Chooses the images of each set of masks, then the masks of each set of images."""
    of_images = _choose_images(_list_possible(pairings, evidence), evidence)
    of_masks = _choose_masks(of_images.best, evidence)
    of_sets = _decide(of_masks.best, SET_RULES, _are_any_two, evidence)
    return _ChoiceByRules(
        best=of_sets.best,
        beaten_sets=[c for c in of_masks.best if c in of_sets.reason_by_loser],
        reason_by_loser=of_images.reason_by_loser
        | of_masks.reason_by_loser
        | of_sets.reason_by_loser,
    )


def _reasons_of_copies(copies: Copies) -> ReasonByLoser:
    """Returns why copies of images and masks lost."""
    reasons: ReasonByLoser = {}
    for copy, original in copies.original_of_copy.items():
        winner = PairingCandidate((original,))
        reasons[PairingCandidate((copy,))] = Reason(
            "copies", winner, "its images and masks are copies"
        )
    return reasons


def _list_copied_folders(
    copies: Copies,
    copies_beside: Iterable[Pairing],
    pairings: Iterable[Pairing],
    evidence: FileEvidence,
) -> tuple[str, ...]:
    """Returns the folders that are not read because they have copies or drawings of others."""
    folders: list[str] = []
    for copy in (*copies.original_of_copy, *copies.originals_of_relabeled, *copies_beside):
        folders += folders_of_copies(copy)
    folders += _drawn_flat_folders(pairings, evidence)
    return tuple(dict.fromkeys(folders))


def _reason_texts(reason_by_loser: ReasonByLoser, chosen: Iterable[Pairing]) -> tuple[str, ...]:
    """Returns why candidates lost whose images or masks nothing has used."""
    used_sets = {files for pairing in chosen for files in (pairing.images, pairing.masks)}
    texts: list[str] = []
    for candidate, reason in reason_by_loser.items():
        winner = reason.winner
        if not candidate.image_sets <= used_sets:
            loser_words, winner_words = candidate.describe_images(), winner.describe_images()
        elif not candidate.mask_sets <= used_sets:
            loser_words, winner_words = candidate.describe_masks(), winner.describe_masks()
        else:
            continue
        texts.append(f"{loser_words} lost to {winner_words}: {reason.words}")
    return tuple(dict.fromkeys(texts))


# Candidates, and which of them are not beaten.


def _list_possible(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[PairingCandidate]:
    """Returns the candidates whose names do not forbid them.

    Images do not lie in a folder that is called masks or drawings, and masks in none that is
    called images. If both lie in one folder, its name only tells drawings.
    """

    def role_key(pairing: Pairing) -> tuple[str, str, bool]:
        is_extra = bool(EXTRA_WORDS.intersection(words(common_folder(pairing.folders))))
        return evidence.image_role(pairing), evidence.mask_role(pairing), is_extra

    possible: list[Pairing] = []
    with_images_called_masks: list[Pairing] = []
    for pairing in pairings:
        image_role, mask_role = evidence.image_role(pairing), evidence.mask_role(pairing)
        if mask_role == "images" or image_role == "drawn":
            continue
        if image_role != "masks":
            possible.append(pairing)
        elif pairing.is_flat:
            with_images_called_masks.append(pairing)
    masks_by_folder: dict[str, list[FileSet]] = {}
    for pairing in possible:
        masks_by_folder.setdefault(pairing.masks.folder, []).append(pairing.masks)
    # `1_mask.png` is no image of `1_mask_small.png` if it is the mask of `1.jpg`.
    for pairing in with_images_called_masks:
        masks = masks_by_folder.get(pairing.images.folder, ())
        if not any(files.has_first_of(pairing.images) for files in masks):
            possible.append(pairing)
    return list_candidates(possible, role_key)


@dataclasses.dataclass(frozen=True)
class _BestCandidates:
    """What one table of rules leaves of candidates.

    Attributes:
      best: the candidates that no rule beats, in their order.
      reason_by_loser: why each other one lost.
    """

    best: list[PairingCandidate]
    reason_by_loser: ReasonByLoser


def _choose_images(
    candidates: Sequence[PairingCandidate], evidence: FileEvidence
) -> _BestCandidates:
    """Chooses the images of each set of masks, and drops those of other sizes than the masks.

    Sizes do not matter if both folders are called as what they are.
    """
    best: list[PairingCandidate] = []
    reason_by_loser: ReasonByLoser = {}
    for group in _groups_sharing(candidates, lambda candidate: candidate.mask_sets):
        outcome = _decide(group, IMAGE_RULES, _share_masks, evidence)
        reason_by_loser |= outcome.reason_by_loser
        for candidate in outcome.best:
            called_images = evidence.are_called_images(candidate)
            called_masks = evidence.are_called_masks(candidate)
            if (called_images and called_masks) or evidence.sizes_agree(candidate):
                best.append(candidate)
    return _BestCandidates(best, reason_by_loser)


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
        outcome = _decide(group, MASK_RULES, _share_images, evidence)
        best += outcome.best
        reason_by_loser |= outcome.reason_by_loser
    return _BestCandidates(best, reason_by_loser)


def _are_any_two(candidate: PairingCandidate, other: PairingCandidate) -> bool:
    return candidate != other


def _share_masks(candidate: PairingCandidate, other: PairingCandidate) -> bool:
    return not candidate.mask_sets.isdisjoint(other.mask_sets)


def _share_images(candidate: PairingCandidate, other: PairingCandidate) -> bool:
    return not candidate.image_sets.isdisjoint(other.image_sets)


def _decide(
    candidates: Sequence[PairingCandidate],
    rules: Sequence[FileRule],
    are_compared: Callable[[PairingCandidate, PairingCandidate], bool],
    evidence: FileEvidence,
) -> _BestCandidates:
    """Applies a table of rules to candidates, of which only some are compared with each other."""
    limited_rules = [_limit_rule(rule, are_compared) for rule in rules]
    decision = decide(candidates, limited_rules, evidence)
    best = [candidate for candidate in candidates if candidate not in decision.lost]
    return _BestCandidates(best, dict(decision.lost))


def _limit_rule(
    rule: FileRule, are_compared: Callable[[PairingCandidate, PairingCandidate], bool]
) -> FileRule:
    """Returns a rule by which a candidate loses only to those with which it is compared."""

    def loses(
        candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
    ) -> str | None:
        if not are_compared(candidate, other):
            return None
        return rule.loses(candidate, other, evidence)

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
        apart: list[_Group] = []
        for group in groups:
            if joined.sets.isdisjoint(group.sets):
                apart.append(group)
            else:
                joined = _Group(joined.sets | group.sets, [*group.members, *joined.members])
        groups = [*apart, joined]
    return [group.members for group in groups]


def _pairings_of(candidates: Iterable[PairingCandidate]) -> list[Pairing]:
    return [pairing for candidate in candidates for pairing in candidate.pairings]


def _without_masks_of_copies(
    candidates: Iterable[PairingCandidate], copies: Copies
) -> list[PairingCandidate]:
    """Returns candidates without the pairings that have the masks of a copy."""
    remaining: list[PairingCandidate] = []
    for candidate in candidates:
        pairings = [p for p in candidate.pairings if p.masks not in copies.copied_masks]
        if pairings:
            remaining.append(PairingCandidate(tuple(pairings)))
    return remaining


# Questions.


def _list_rivals(
    candidates: Sequence[PairingCandidate], copies: Copies, evidence: FileEvidence
) -> list[Pairing]:
    """Returns the pairings between which the user has to choose."""
    asked = [c for c in candidates if _has_rival(c, candidates) or _is_doubtful(c, evidence)]
    asked.sort(key=_rank_in_question)
    rivals = _pairings_of(asked)
    for relabeled, originals in copies.originals_of_relabeled.items():
        for pairing in (*originals, relabeled):
            if pairing not in rivals:
                rivals.append(pairing)
    return [rival for rival in rivals if rival.masks not in copies.copied_masks]


def _has_rival(candidate: PairingCandidate, candidates: Iterable[PairingCandidate]) -> bool:
    """Says whether another candidate has images or masks of one."""
    for other in candidates:
        is_sharing = _share_images(candidate, other) or _share_masks(candidate, other)
        if other != candidate and is_sharing:
            return True
    return False


def _rank_in_question(candidate: PairingCandidate) -> tuple[int, int]:
    """By which candidates come first in a question: most pairs, then the shortest name."""
    return -candidate.pair_count, len(candidate.pairings[0].masks.folder)


def _is_doubtful(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether names or looks speak against a candidate, and the user did not name it.

    Its masks are called predictions or the like, its images look like masks, or only numbers pair
    them and most masks have no image.
    """
    if candidate.pairs_few_masks_by_number and "mask_name" not in evidence.given:
        return True
    masks_are_given = bool(evidence.given & {"masks", "mask_name"})
    images_are_given = bool(evidence.given & {"images", "image_name"})
    are_drawings = evidence.are_called_drawings(candidate) and not _are_called_masks_too(candidate)
    if are_drawings and not masks_are_given:
        return True
    return not images_are_given and evidence.may_be_masks_alone(candidate)


def _are_called_masks_too(candidate: PairingCandidate) -> bool:
    """Says whether a word for masks is in the name of the masks' folder or in their own names."""
    masks = candidate.pairings[0].masks
    names = " ".join([masks.folder, *masks.affix])
    return any(role_of_name(word) == "masks" for word in words(names))


def _find_repeating(pairings: Sequence[Pairing]) -> list[Pairing]:
    """Returns a pairing that may show the images of others once more, smaller or mirrored.

    Each of its ids is in exactly one other pairing, these are at least two, and they share no id.
    Example: `small` with 1 to 4 beside scenes with 1 and 2, and with 3 and 4. Scenes of which each
    counts its frames anew share ids with one another, too.
    """
    pairings_by_id: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            pairings_by_id.setdefault(stem, []).append(pairing)
    for pairing in pairings:
        if any(len(pairings_by_id[stem]) != 2 for stem in pairing.pairs):
            continue
        others = {other for stem in pairing.pairs for other in pairings_by_id[stem]} - {pairing}
        if len(others) > 1 and _share_no_id(others):
            return [pairing]
    return []


def _share_no_id(pairings: Iterable[Pairing]) -> bool:
    ids = [stem for pairing in pairings for stem in pairing.pairs]
    return len(set(ids)) == len(ids)


def _drawn_flat_folders(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[str]:
    """Returns the folders of images beside masks that are called drawings or backups.

    A set whose halves lie in one folder would have these below it.
    """
    flat = sorted({pairing.images.folder for pairing in pairings if pairing.is_flat})
    return [
        folder
        for folder in flat
        if role_of_path(posixpath.relpath(folder or ".", evidence.common or ".")) == "drawn"
    ]


@dataclasses.dataclass(frozen=True)
class _LabeledBeside:
    """Labeled images that were not chosen.

    Attributes:
      pairings: those that nothing has used.
      copies: those of which all images and masks are copies of chosen ones.
    """

    pairings: Sequence[Pairing]
    copies: Sequence[Pairing]


def _find_beside(
    settled: Sequence[Pairing],
    chosen: Sequence[Pairing],
    pairings: Iterable[Pairing],
    evidence: FileEvidence,
) -> _LabeledBeside:
    """Finds pairings whose images and masks are in nothing that was chosen or is asked about."""
    used_sets = {files for pairing in settled for files in (pairing.images, pairing.masks)}
    beside: list[Pairing] = []
    copies: list[Pairing] = []
    for pairing in pairings:
        is_used = pairing.images in used_sets or pairing.masks in used_sets
        if is_used or not _may_be_left_out(pairing, evidence):
            continue
        if is_copy(pairing, chosen, evidence):
            copies.append(pairing)
        elif (
            not _has_files_of(pairing, chosen)
            and not _has_masks_of(pairing, chosen, evidence)
            and _shows_images_and_masks(PairingCandidate((pairing,)), evidence)
        ):
            used_sets |= {pairing.images, pairing.masks}
            beside.append(pairing)
    return _LabeledBeside(beside, copies)


def _may_be_left_out(pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether names allow images and masks, of one split."""
    image_split, mask_split = pairing.splits
    image_role = evidence.role(pairing.images, pairing.image_affix)
    mask_role = evidence.mask_role(pairing)
    return image_split == mask_split and image_role in ("images", "") and mask_role in ("masks", "")


def _has_files_of(pairing: Pairing, chosen: Iterable[Pairing]) -> bool:
    """Says whether a file of a pairing lies among the images or masks of chosen ones."""
    images, masks = pairing.paths()
    own_paths = {*images, *masks}
    for other in chosen:
        for files in (other.images, other.masks):
            if files.folder not in pairing.folders:
                continue
            if not own_paths.isdisjoint(files.path(stem) for stem in files.names):
                return True
    return False


def _has_masks_of(pairing: Pairing, chosen: Iterable[Pairing], evidence: FileEvidence) -> bool:
    """Says whether all masks of a pairing are copies of chosen ones of the same names."""
    masks = set(pairing.pairs.values())
    for other in chosen:
        has_names = masks <= other.masks.names.keys()
        if has_names and _are_same_masks(masks, pairing, other, evidence):
            return True
    return False


def _are_same_masks(
    masks: Iterable[str], pairing: Pairing, other: Pairing, evidence: FileEvidence
) -> bool:
    """Says whether masks have the same bytes in both of two pairings."""
    for mask in masks:
        if not evidence.are_same(pairing.masks.path(mask), other.masks.path(mask)):
            return False
    return True


def _shows_images_and_masks(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether images look like photos, and masks like masks, of the same sizes."""
    return (
        evidence.sizes_agree(candidate)
        and evidence.masks_look_like_masks(candidate)
        and not evidence.images_look_like_masks(candidate)
    )
