"""Chooses the images and masks of a folder, or tells between which the user has to choose.

`choose_files` has the steps: the rules, then copies, then labeled images that repeat others.
"""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.folder.files.candidates import list_pairings
from voc_seg_tfrecord.folder.files.choice_by_rules import ReasonByLoser, choose_by_rules
from voc_seg_tfrecord.folder.files.choice_originals import separate_copies
from voc_seg_tfrecord.folder.files.copies import find_copies, folders_of_copies
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
      notes: which other masks the images have, and why they are not used.
    """

    chosen: Sequence[Pairing] = ()
    rivals: Sequence[Pairing] = ()
    beside: Sequence[Pairing] = ()
    copied_folders: Sequence[str] = ()
    notes: Sequence[str] = ()


def choose_files(pairings: Sequence[Pairing], evidence: FileEvidence) -> FileChoice:
    """Chooses among all pairings of a folder by the evidence."""
    by_rules = choose_by_rules(pairings, evidence)

    copies = find_copies(list_pairings(by_rules.best), evidence)
    originals = separate_copies(by_rules.best, copies, evidence)

    repeating = _list_repeating(originals.pairings, evidence)
    chosen = [pairing for pairing in originals.pairings if pairing not in repeating]
    return FileChoice(
        chosen=tuple(chosen),
        rivals=tuple(originals.rivals),
        beside=tuple(repeating),
        copied_folders=_list_copied_folders(copies.list_copies(), pairings, evidence),
        notes=_note_unused_masks(by_rules.lost_masks, chosen),
    )


def _list_repeating(chosen: Sequence[Pairing], evidence: FileEvidence) -> list[Pairing]:
    """Returns the chosen pairing that repeats names of the others, if one does.

    If the user named the folders of images and of masks, all pairings in them are meant.
    """
    both_are_named = evidence.given >= {"images", "masks"}
    if both_are_named:
        return []
    repeating = _find_repeating(chosen)
    return [] if repeating is None else [repeating]


def _find_repeating(pairings: Sequence[Pairing]) -> Pairing | None:
    """Returns the first pairing that may show the images of others once more, smaller or mirrored.

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
        with_its_ids = {other for stem in pairing.pairs for other in pairings_by_id[stem]}
        others = with_its_ids - {pairing}
        if len(others) > 1 and _share_no_id(others):
            return pairing
    return None


def _share_no_id(pairings: Iterable[Pairing]) -> bool:
    ids = [stem for pairing in pairings for stem in pairing.pairs]
    return len(set(ids)) == len(ids)


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


def _note_unused_masks(lost_masks: ReasonByLoser, chosen: Iterable[Pairing]) -> tuple[str, ...]:
    """Returns a note on each folder of other masks that the images have, unless it has copies.

    Example: `Used masks_png; masks holds arrays.`
    """
    used_sets = _list_sets(chosen)
    notes: list[str] = []
    for candidate, reason in lost_masks.items():
        is_used = candidate.mask_sets <= used_sets
        if reason.note and not is_used and reason.winner.mask_sets <= used_sets:
            winner, loser = reason.winner.describe_masks(), candidate.describe_masks()
            notes.append(f"Used {winner}; {loser} {reason.note}.")
    return tuple(dict.fromkeys(notes))
