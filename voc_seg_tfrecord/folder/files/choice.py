"""Chooses the images and masks of a folder by the rules of `rules`, or says what it cannot choose.

First the images of each set of masks are chosen, then the masks of each set of images, then what
is left is compared: whole sets that are copies of others, files whose names have the same ids, and
labeled images that nothing has used.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.role_words import EXTRA
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate, list_candidates
from voc_seg_tfrecord.folder.files.companions import compare_with_companions
from voc_seg_tfrecord.folder.files.copies import find_copies, folders_of_copies, is_copy
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import common_folder, role, role_of
from voc_seg_tfrecord.folder.files.pairings import Pairing
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
    lost: LostCandidates = {}
    candidates = _list_possible(pairings, evidence)
    candidates = _choose_images(candidates, evidence, lost)
    candidates = _choose_masks(candidates, evidence, lost)
    sets = _decide(candidates, SET_RULES, _are_any_two, evidence, lost)
    lost_sets = [candidate for candidate in candidates if candidate in lost]
    copies = find_copies(_pairings_of(sets), evidence)
    for copy, original in copies.copies.items():
        reason = Reason("copies", PairingCandidate((original,)), "its images and masks are copies")
        lost[PairingCandidate((copy,))] = reason
    copied_masks = {pairing.masks for pairing in copies.copies}
    sets = _without_masks(sets, copied_masks)
    rivals = _rivals(sets, evidence)
    for relabeled, sources in copies.relabeled.items():
        rivals += [pairing for pairing in (*sources, relabeled) if pairing not in rivals]
    rivals = [rival for rival in rivals if rival.masks not in copied_masks]
    originals = set(copies.originals)
    left = [pairing for pairing in _pairings_of(sets) if pairing in originals]
    chosen, rivals = compare_with_companions(left, rivals, pairings, evidence)
    repeating = _repeating_others(chosen)
    chosen = [pairing for pairing in chosen if pairing not in repeating]
    settled = [*chosen, *rivals, *repeating, *_pairings_of(lost_sets)]
    beside = _beside(settled, chosen, pairings, evidence)
    copied_folders = [
        folder
        for copy in (*copies.copies, *copies.relabeled, *beside.copies)
        for folder in folders_of_copies(copy)
    ]
    copied_folders += _drawn_flat_folders(pairings, evidence)
    return FileChoice(
        chosen=tuple(chosen),
        rivals=tuple(rivals),
        beside=(*repeating, *beside.pairings),
        copies=tuple(dict.fromkeys(copied_folders)),
        reasons=_reason_texts(lost, chosen),
    )


LostCandidates = dict[PairingCandidate, Reason[PairingCandidate]]
"""Why each candidate lost."""


def _reason_texts(lost: LostCandidates, chosen: Iterable[Pairing]) -> tuple[str, ...]:
    """Returns why candidates lost whose images or masks nothing has used."""
    used = {files for pairing in chosen for files in (pairing.images, pairing.masks)}
    texts = []
    for candidate, reason in lost.items():
        winner = reason.winner
        if not candidate.image_sets <= used:
            texts.append(_lost_text(candidate.image_words, winner.image_words, reason.words))
        elif not candidate.mask_sets <= used:
            texts.append(_lost_text(candidate.mask_words, winner.mask_words, reason.words))
    return tuple(dict.fromkeys(texts))


def _lost_text(loser: str, winner: str, words_of_reason: str) -> str:
    return f"{loser} lost to {winner}: {words_of_reason}"


# Candidates, and what of them is left.


def _list_possible(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[PairingCandidate]:
    """Returns the candidates whose names do not forbid them.

    Images do not lie in a folder that is called masks or drawings, and masks in none that is
    called images. If both lie in one folder, its name only tells drawings. Masks that are those
    of other images are no images of more masks.
    """

    def role_key(pairing: Pairing) -> tuple[str, str, bool]:
        is_extra = bool(EXTRA.intersection(words(common_folder(pairing.folders))))
        return evidence.image_role(pairing), evidence.mask_role(pairing), is_extra

    possible: list[Pairing] = []
    doubtful: list[Pairing] = []
    for pairing in pairings:
        image_role, mask_role = evidence.image_role(pairing), evidence.mask_role(pairing)
        if mask_role == "images" or image_role == "drawn":
            continue
        if image_role != "masks":
            possible.append(pairing)
        elif pairing.is_flat:
            doubtful.append(pairing)
    masks_by_folder: dict[str, list[FileSet]] = {}
    for pairing in possible:
        masks_by_folder.setdefault(pairing.masks.folder, []).append(pairing.masks)
    for pairing in doubtful:
        masks = masks_by_folder.get(pairing.images.folder, ())
        if not any(files.has_first_of(pairing.images) for files in masks):
            possible.append(pairing)
    return list_candidates(possible, role_key)


def _choose_images(
    candidates: Sequence[PairingCandidate], evidence: FileEvidence, lost: LostCandidates
) -> list[PairingCandidate]:
    """Chooses the images of each set of masks, and drops those of other sizes than the masks.

    Sizes do not matter if both folders are called as what they are.
    """
    left = []
    for group in _groups_sharing(candidates, lambda candidate: candidate.mask_sets):
        for candidate in _decide(group, IMAGE_RULES, _share_masks, evidence, lost):
            are_called_so = evidence.are_called_images(candidate) and evidence.are_called_masks(
                candidate
            )
            if are_called_so or evidence.sizes_agree(candidate):
                left.append(candidate)
    return left


def _choose_masks(
    candidates: Sequence[PairingCandidate], evidence: FileEvidence, lost: LostCandidates
) -> list[PairingCandidate]:
    """Chooses the masks of each set of images, which look like masks or are called so."""
    candidates = [
        candidate
        for candidate in candidates
        if evidence.are_called_masks(candidate) or evidence.masks_look_like_masks(candidate)
    ]
    left: list[PairingCandidate] = []
    for group in _groups_sharing(candidates, lambda candidate: candidate.image_sets):
        left += _decide(group, MASK_RULES, _share_images, evidence, lost)
    return left


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
    lost: LostCandidates,
) -> list[PairingCandidate]:
    """Returns the candidates that no rule beats, in their order; adds why others lost."""

    def only_compared(rule: FileRule) -> FileRule:
        def loses(
            candidate: PairingCandidate, other: PairingCandidate, evidence: FileEvidence
        ) -> str | None:
            if not are_compared(candidate, other):
                return None
            return rule.loses(candidate, other, evidence)

        return dataclasses.replace(rule, loses=loses)

    decision = decide(candidates, [only_compared(rule) for rule in rules], evidence)
    lost.update(decision.lost)
    return [candidate for candidate in candidates if candidate not in decision.lost]


def _groups_sharing(
    candidates: Iterable[PairingCandidate],
    sets_of: Callable[[PairingCandidate], frozenset[FileSet]],
) -> list[list[PairingCandidate]]:
    """Groups candidates that share images, or masks, directly or by others between them."""
    groups: list[tuple[set[FileSet], list[PairingCandidate]]] = []
    for candidate in candidates:
        sets, members = set(sets_of(candidate)), [candidate]
        apart = []
        for other_sets, other_members in groups:
            if sets.isdisjoint(other_sets):
                apart.append((other_sets, other_members))
            else:
                sets |= other_sets
                members = other_members + members
        groups = [*apart, (sets, members)]
    return [members for _, members in groups]


def _pairings_of(candidates: Iterable[PairingCandidate]) -> list[Pairing]:
    return [pairing for candidate in candidates for pairing in candidate.pairings]


def _without_masks(
    candidates: Iterable[PairingCandidate], masks: Collection[FileSet]
) -> list[PairingCandidate]:
    """Returns candidates without the pairings of some masks."""
    left = []
    for candidate in candidates:
        pairings = tuple(pairing for pairing in candidate.pairings if pairing.masks not in masks)
        if pairings:
            left.append(PairingCandidate(pairings))
    return left


# Questions.


def _rivals(candidates: Sequence[PairingCandidate], evidence: FileEvidence) -> list[Pairing]:
    """Returns the pairings of candidates between which the user has to choose.

    They share images or masks, or nothing but them is left and their names or looks speak against
    them, and the user did not name them.
    """
    rivals = [
        candidate
        for candidate in candidates
        if any(
            other != candidate
            and (_share_images(candidate, other) or _share_masks(candidate, other))
            for other in candidates
        )
        or _is_doubtful(candidate, evidence)
    ]
    rivals.sort(
        key=lambda candidate: (-candidate.pair_count, len(candidate.pairings[0].masks.folder))
    )
    return _pairings_of(rivals)


def _is_doubtful(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether a candidate that is left has masks called predictions, or masks as images."""
    if not evidence.given & {"masks", "mask_name"} and evidence.are_called_drawings(candidate):
        masks = candidate.pairings[0].masks
        names = f"{masks.folder} {' '.join(masks.affix)}"
        if not any(role(word) == "masks" for word in words(names)):
            return True
    is_given = bool(evidence.given & {"images", "image_name"})
    return not is_given and evidence.may_be_masks_alone(candidate)


def _repeating_others(pairings: Sequence[Pairing]) -> list[Pairing]:
    """Returns a pairing whose images have the ids of those of several others, one each.

    It may show them once more, smaller or mirrored.
    """
    if len(pairings) < 3:
        return []
    pairings_by_id: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            pairings_by_id.setdefault(stem, []).append(pairing)
    for pairing in pairings:
        having = [pairings_by_id[stem] for stem in pairing.pairs]
        others = {other for of_id in having if len(of_id) == 2 for other in of_id}
        # The pairing itself is one of them.
        if len(others) > 2 and all(len(of_id) == 2 for of_id in having):
            return [pairing]
    return []


def _drawn_flat_folders(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[str]:
    """Returns the folders of images beside masks that are called drawings or backups.

    A set whose halves lie in one folder would have these below it.
    """
    flat = sorted({pairing.images.folder for pairing in pairings if pairing.is_flat})
    return [
        folder
        for folder in flat
        if role_of(posixpath.relpath(folder or ".", evidence.common or ".")) == "drawn"
    ]


@dataclasses.dataclass(frozen=True)
class _Beside:
    """Labeled images that nothing has used, and others of which all files are copies."""

    pairings: Sequence[Pairing]
    copies: Sequence[Pairing]


def _beside(
    settled: Sequence[Pairing],
    chosen: Sequence[Pairing],
    pairings: Iterable[Pairing],
    evidence: FileEvidence,
) -> _Beside:
    """Finds pairings whose images and masks are in nothing that was chosen or is asked about."""
    used = {files for pairing in settled for files in (pairing.images, pairing.masks)}
    beside: list[Pairing] = []
    copies: list[Pairing] = []
    for pairing in pairings:
        is_used = pairing.images in used or pairing.masks in used
        if is_used or not _may_be_left_out(pairing, evidence):
            continue
        if is_copy(pairing, chosen, evidence):
            copies.append(pairing)
        elif (
            not _has_files_of(pairing, chosen)
            and not _has_masks_of(pairing, chosen, evidence)
            and _shows_images_and_masks(PairingCandidate((pairing,)), evidence)
        ):
            used |= {pairing.images, pairing.masks}
            beside.append(pairing)
    return _Beside(beside, copies)


def _may_be_left_out(pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether names allow images and masks, of one split."""
    image_split, mask_split = pairing.splits
    image_role = evidence.role(pairing.images, pairing.image_affix)
    mask_role = evidence.mask_role(pairing)
    return image_split == mask_split and image_role in ("images", "") and mask_role in ("masks", "")


def _has_files_of(pairing: Pairing, chosen: Iterable[Pairing]) -> bool:
    """Says whether a file of a pairing lies among the images or masks of chosen ones."""
    images, masks = pairing.paths()
    own = {*images, *masks}
    return any(
        not own.isdisjoint(files.path(stem) for stem in files.names)
        for other in chosen
        for files in (other.images, other.masks)
        if files.folder in pairing.folders
    )


def _has_masks_of(pairing: Pairing, chosen: Iterable[Pairing], evidence: FileEvidence) -> bool:
    """Says whether all masks of a pairing are copies of chosen ones of the same names."""
    masks = set(pairing.pairs.values())
    return any(
        masks <= other.masks.names.keys()
        and all(
            evidence.are_same(pairing.masks.path(mask), other.masks.path(mask)) for mask in masks
        )
        for other in chosen
    )


def _shows_images_and_masks(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether images look like photos, and masks like masks, of the same sizes."""
    return (
        evidence.sizes_agree(candidate)
        and evidence.masks_look_like_masks(candidate)
        and not evidence.images_look_like_masks(candidate)
    )
