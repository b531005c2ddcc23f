"""Chooses the images and masks of a folder, or tells between which the user has to choose.

`choose_files` has the steps: the rules, then copies, then other files whose names have the same
ids, then labeled images that nothing has used.
"""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.folder.decide import Reason
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate, list_pairings
from voc_seg_tfrecord.folder.files.choice_by_rules import ReasonByLoser, choose_by_rules
from voc_seg_tfrecord.folder.files.choice_leftovers import find_leftovers, find_repeating
from voc_seg_tfrecord.folder.files.choice_originals import separate_copies
from voc_seg_tfrecord.folder.files.companions import compare_with_companions
from voc_seg_tfrecord.folder.files.copies import Copies, find_copies, folders_of_copies
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.pairings import Pairing


@dataclasses.dataclass(frozen=True)
class FileChoice:
    """The outcome of choosing among the pairings of a folder.

    Attributes:
      chosen: the pairings that make the set.
      rivals: pairings between which the user has to choose.
      beside: pairings of labeled images beside the chosen ones, which may belong to the set.
      copied_folders: folders of images and masks that are copies or drawings of chosen ones.
      reasons: why each candidate lost that may have been meant, in words that a user reads.
    """

    chosen: Sequence[Pairing] = ()
    rivals: Sequence[Pairing] = ()
    beside: Sequence[Pairing] = ()
    copied_folders: Sequence[str] = ()
    reasons: Sequence[str] = ()


def choose_files(pairings: Sequence[Pairing], evidence: FileEvidence) -> FileChoice:
    """Chooses among all pairings of a folder by the evidence."""
    by_rules = choose_by_rules(pairings, evidence)

    copies = find_copies(list_pairings(by_rules.best), evidence)
    originals = separate_copies(by_rules.best, copies, evidence)

    compared = compare_with_companions(originals.pairings, originals.rivals, pairings, evidence)

    repeating = _list_repeating(compared.chosen, evidence)
    chosen = [pairing for pairing in compared.chosen if pairing not in repeating]
    beaten = list_pairings(by_rules.beaten_sets)
    leftovers = find_leftovers(
        pairings,
        chosen=chosen,
        used_sets=_list_sets([*compared.chosen, *compared.in_question, *beaten]),
        evidence=evidence,
    )
    copied = [*copies.list_copies(), *leftovers.copies]
    return FileChoice(
        chosen=tuple(chosen),
        rivals=tuple(compared.in_question),
        beside=(*repeating, *leftovers.pairings),
        copied_folders=_list_copied_folders(copied, pairings, evidence),
        reasons=_word_reasons(by_rules.reason_by_loser | _reasons_of_copies(copies), chosen),
    )


def _list_repeating(chosen: Sequence[Pairing], evidence: FileEvidence) -> list[Pairing]:
    """Returns the chosen pairing that repeats names of the others, if one does.

    If the user named the folders of images and of masks, all pairings in them are meant.
    """
    both_are_named = evidence.given >= {"images", "masks"}
    if both_are_named:
        return []
    repeating = find_repeating(chosen)
    return [] if repeating is None else [repeating]


def _list_sets(pairings: Iterable[Pairing]) -> set[FileSet]:
    """Returns the images and masks of pairings."""
    sets: set[FileSet] = set()
    for pairing in pairings:
        sets |= {pairing.images, pairing.masks}
    return sets


def _list_copied_folders(
    copied: Iterable[Pairing], pairings: Iterable[Pairing], evidence: FileEvidence
) -> tuple[str, ...]:
    """Returns the folders of copies, and those of drawings, each once."""
    folders: list[str] = []
    for pairing in copied:
        folders += folders_of_copies(pairing)
    folders += _list_drawn_flat_folders(pairings, evidence)
    return tuple(dict.fromkeys(folders))


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


def _reasons_of_copies(copies: Copies) -> ReasonByLoser:
    """Returns why copies of images and masks lost."""
    reasons: ReasonByLoser = {}
    for copy, original in copies.original_of_copy.items():
        winner = PairingCandidate((original,))
        reasons[PairingCandidate((copy,))] = Reason(
            "copies", winner, "its images and masks are copies"
        )
    return reasons


def _word_reasons(reason_by_loser: ReasonByLoser, chosen: Iterable[Pairing]) -> tuple[str, ...]:
    """Returns why candidates lost whose images or masks are not used.

    Example: `images_aug lost to images: same masks, and its name says augmented`.
    """
    used_sets = _list_sets(chosen)
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
