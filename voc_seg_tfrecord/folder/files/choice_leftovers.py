"""Finds labeled images that may be a set of their own, beside those that are chosen.

The user is asked about them: they repeat chosen ones, or nothing has chosen them.
"""

from collections.abc import Iterable, Sequence, Set
import dataclasses

from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.copies import is_copy
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.pairings import Pairing


def find_repeating(pairings: Sequence[Pairing]) -> Pairing | None:
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


@dataclasses.dataclass(frozen=True)
class Leftovers:
    """Labeled images that nothing has chosen.

    Attributes:
      pairings: those that the user may have meant.
      copies: those of which all images and masks are copies of chosen ones.
    """

    pairings: Sequence[Pairing]
    copies: Sequence[Pairing]


def find_leftovers(
    pairings: Iterable[Pairing],
    *,
    chosen: Sequence[Pairing],
    used_sets: Set[FileSet],
    evidence: FileEvidence,
) -> Leftovers:
    """Finds labeled images that nothing has chosen.

    Pairings are tried in their order; one that has images or masks of an earlier leftover is left
    out.

    Args:
      pairings: all pairings of the folder.
      chosen: those that are chosen.
      used_sets: the images and masks that are chosen, are asked about, or have lost to others.
      evidence: what names and pixels tell.
    """
    sets_in_use = set(used_sets)
    leftovers: list[Pairing] = []
    copies: list[Pairing] = []
    for pairing in pairings:
        is_used = pairing.images in sets_in_use or pairing.masks in sets_in_use
        if is_used or not _are_names_of_one_set(pairing, evidence):
            continue
        if is_copy(pairing, chosen, evidence):
            copies.append(pairing)
        elif _is_labeled_set_of_its_own(pairing, chosen, evidence):
            leftovers.append(pairing)
            sets_in_use |= {pairing.images, pairing.masks}
    return Leftovers(leftovers, copies)


def _are_names_of_one_set(pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether names have the roles of images and masks or none, and the same split."""
    image_split, mask_split = pairing.splits
    # Unlike in `choice_by_rules`, the name of a folder that has images and masks tells a role, too.
    image_role = evidence.role(pairing.images, pairing.image_affix)
    mask_role = evidence.mask_role(pairing)
    return image_split == mask_split and image_role in ("images", "") and mask_role in ("masks", "")


def _is_labeled_set_of_its_own(
    pairing: Pairing, chosen: Sequence[Pairing], evidence: FileEvidence
) -> bool:
    """Says whether files look like images and masks, and are not those of chosen pairings."""
    if _has_files_of(pairing, chosen) or _has_masks_of(pairing, chosen, evidence):
        return False
    candidate = PairingCandidate((pairing,))
    return (
        evidence.sizes_agree(candidate)
        and evidence.masks_look_like_masks(candidate)
        and not evidence.images_look_like_masks(candidate)
    )


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
