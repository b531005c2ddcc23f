"""Chooses the images and masks of a folder, or asks the user between which to choose.

`choose_files` has the steps: the rules, then copies, and then the rules that ask about what is
chosen.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
import dataclasses
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.words import MODEL_NAMES, MODEL_WORDS, words
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.files.candidates import (
    FileChoice,
    FileEvidence,
    PairingCandidate,
    list_candidates,
    list_pairings,
)
from voc_seg_tfrecord.folder.files.copies import Copies, find_copies
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import (
    role_of_name,
    role_of_path,
    without_split_word,
)
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.layouts import top_folders
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart
from voc_seg_tfrecord.folder.files.rules import (
    CHOICE_RULES,
    FILE_RULES,
    masks_look_like_masks,
    may_be_masks_alone,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError


def choose_files(given: GivenLayout, pairings: Sequence[Pairing]) -> FileChoice:
    """Chooses among all pairings of a folder.

    Raises:
      QuestionError: if a rule asks, and the user has not chosen all that it asks about.
      LayoutError: if several masks belong to one image.
    """
    evidence = FileEvidence(given, pairings)
    choice = _choose_by_rules(pairings, evidence)
    question = decide([choice], CHOICE_RULES, evidence).question
    if question is None:
        return choice
    if not _is_answered(question, given):
        raise question
    rivals = itertools.chain.from_iterable(choice.rivals)
    return dataclasses.replace(
        choice, chosen=(*choice.chosen, *rivals), rivals=(), copied_folders=()
    )


def _is_answered(question: VocSegError, given: GivenLayout) -> bool:
    """Says whether the only alternative of a question has options that the user gave.

    The same options choose each reading if images are there twice, with different masks, or in two
    files of one name. Then asking again would not help.
    """
    if not isinstance(question, QuestionError) or len(question.alternatives) > 1:
        return False
    answer = question.alternatives[0]
    return isinstance(answer, Alternative) and answer.options.items() <= given.options.items()


def _choose_by_rules(pairings: Sequence[Pairing], evidence: FileEvidence) -> FileChoice:
    """Chooses what no rule beats and what is no copy."""
    candidates = list_candidates(pairings, evidence)
    possible = [candidate for candidate in candidates if _may_be_set(candidate, evidence)]
    decision = decide(possible, FILE_RULES, evidence)
    copies = find_copies(list_pairings(decision.left), evidence.looks)
    best = _without_copied_masks(decision.left, copies)
    originals = {*copies.originals}
    chosen = [pairing for pairing in list_pairings(best) if pairing in originals]
    folders = [*copies.list_folders(), *_list_drawn_flat_folders(pairings, evidence)]
    return FileChoice(
        pairings,
        chosen=tuple(chosen),
        rivals=_group_rivals(best, copies, evidence),
        copied_folders=tuple(dict.fromkeys(folders)),
        notes=_note_unused_masks(decision.lost, chosen),
    )


def _may_be_set(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether a few files look like images and their masks, where names do not tell it."""
    if candidate.mask_role != "masks":
        if not masks_look_like_masks(candidate, evidence):
            return False
    elif candidate.image_role == "images":
        return True
    sample = candidate.sample()
    agreeing = [pair for pair in sample if evidence.looks.sizes_agree(*pair)]
    half = len(sample) / 2
    return len(agreeing) >= half


def _without_copied_masks(
    candidates: Iterable[PairingCandidate], copies: Copies
) -> list[PairingCandidate]:
    """Returns candidates without the pairings that have the masks of a copy."""
    copied_masks = copies.copied_masks
    remaining: list[PairingCandidate] = []
    for candidate in candidates:
        pairings = tuple(p for p in candidate.pairings if p.masks not in copied_masks)
        if pairings:
            remaining.append(dataclasses.replace(candidate, pairings=pairings))
    return remaining


def _list_drawn_flat_folders(pairings: Iterable[Pairing], evidence: FileEvidence) -> list[str]:
    """Returns the folders of images beside masks that are called drawings or backups.

    A set whose halves lie in one folder would have these below it.
    """
    flat = sorted({pairing.images.folder for pairing in pairings if pairing.is_flat})
    drawn: list[str] = []
    for folder in flat:
        path_below_common = posixpath.relpath(folder or ".", evidence.common or ".")
        if role_of_path(path_below_common) == "drawn":
            drawn.append(folder)
    return drawn


def _note_unused_masks(
    lost: Mapping[PairingCandidate, Reason[PairingCandidate]], chosen: Iterable[Pairing]
) -> tuple[str, ...]:
    """Returns a note on each folder of other masks that the images have, unless it has copies.

    Example: `Used masks_png; masks holds arrays.`
    """
    used_masks = {pairing.masks for pairing in chosen}
    notes: list[str] = []
    for candidate, reason in lost.items():
        if not reason.note or candidate.mask_sets <= used_masks:
            continue
        if reason.winner.mask_sets <= used_masks:
            winner = reason.winner.describe_masks()
            notes.append(f"Used {winner}; {candidate.describe_masks()} {reason.note}.")
    return tuple(dict.fromkeys(notes))


# Between what the user has to choose.


def _group_rivals(
    candidates: Sequence[PairingCandidate], copies: Copies, evidence: FileEvidence
) -> tuple[tuple[Pairing, ...], ...]:
    """Returns the groups of pairings between which the user has to choose.

    These are the candidates that share images or masks with another one, or are doubtful: those of
    most pairs first, and then those of the shortest names. After them come copies of images that
    have other masks, with their originals. Those that differ only in a split are a group.

    Args:
      candidates: the best candidates, without masks of copies.
      copies: what is a copy of what.
      evidence: what names and pixels tell.
    """
    asked: list[PairingCandidate] = []
    for candidate in candidates:
        if _has_rival(candidate, candidates) or _is_doubtful(candidate, evidence):
            asked.append(candidate)
    asked.sort(key=_rank_of_rival)
    relabeled = copies.originals_of_relabeled
    groups: list[Sequence[Pairing]] = []
    for candidate in asked:
        groups.append([pairing for pairing in candidate.pairings if pairing not in relabeled])
    listed = {*itertools.chain.from_iterable(groups)}
    for copy, originals in relabeled.items():
        for pairing in (*originals, copy):
            if pairing not in listed and pairing.masks not in copies.copied_masks:
                groups.append([pairing])
                listed.add(pairing)
    return _join_splits(filter(None, groups))


def _rank_of_rival(candidate: PairingCandidate) -> tuple[int, int, int]:
    """Returns the rank of a candidate in a question: most pairs first, then the shortest names."""
    image_folder, mask_folder = candidate.pairings[0].folders
    return -candidate.pair_count, len(mask_folder), len(image_folder)


def _join_splits(groups: Iterable[Sequence[Pairing]]) -> tuple[tuple[Pairing, ...], ...]:
    """Joins groups whose folders and patterns differ in a split, if they have no file in common."""
    groups_by_names: dict[Hashable, list[Sequence[Pairing]]] = {}
    for group in groups:
        names: set[Hashable] = set()
        for pairing in group:
            top = top_folders(pairing)
            texts = (top.images, top.masks, top.image_name, top.mask_name)
            names.add(tuple(map(without_split_word, texts)))
        groups_by_names.setdefault(frozenset(names), []).append(group)
    joined: list[tuple[Pairing, ...]] = []
    for alike in groups_by_names.values():
        together = tuple(pairing for group in alike for pairing in group)
        joined += [together] if are_apart(together) else map(tuple, alike)
    return tuple(joined)


def _has_rival(candidate: PairingCandidate, candidates: Iterable[PairingCandidate]) -> bool:
    """Says whether another candidate has images or masks of one."""
    for other in candidates:
        if other == candidate:
            continue
        if candidate.shares_images_with(other) or candidate.shares_masks_with(other):
            return True
    return False


def _is_doubtful(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether names or pixels are evidence against a candidate, and no option names it.

    Its masks are called predictions or the like, or after a model, its images look like masks, or
    only numbers pair them and most masks have no image.
    """
    given = evidence.given.options.keys()
    if "mask_name" not in given:
        if any(pairing.pairs_few_masks_by_number for pairing in candidate.pairings):
            return True
        if "masks" not in given and _are_called_no_labels(candidate):
            return True
    if given.isdisjoint(["images", "image_name"]):
        return may_be_masks_alone(candidate, evidence)
    return False


def _are_called_no_labels(candidate: PairingCandidate) -> bool:
    """Says whether masks are called predictions or the like and not masks too, or after a model."""
    pairing = candidate.pairings[0]
    if candidate.mask_role == "drawn" and not _are_called_masks_too(pairing.masks):
        return True
    return _are_called_after_a_model(pairing)


def _are_called_after_a_model(pairing: Pairing) -> bool:
    """Says whether masks are called as what a model made: `unet`, `y_hat`, `pseudo_labels`."""
    folder = "" if pairing.is_flat else posixpath.basename(pairing.masks.folder)
    words_of_masks = words(" ".join([folder, *pairing.masks.affix, *pairing.mask_affix]))
    joined = f" {' '.join(words_of_masks)} "
    has_model_name = any(f" {name} " in joined for name in MODEL_NAMES)
    return has_model_name or not MODEL_WORDS.isdisjoint(words_of_masks)


def _are_called_masks_too(masks: FileSet) -> bool:
    """Says whether a word for masks is in the name of the masks' folder or in their own names."""
    names = " ".join([masks.folder, *masks.affix])
    return any(role_of_name(word) == "masks" for word in words(names))
