"""Compares what would be chosen with other files whose names have the same ids.

`companion_search` finds these files: other photos, and other masks.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.companion_search import find_companions
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.pairings import Pairing

_MAX_CHOSEN_FOLDERS = 40
"""If more folders are chosen, none is compared with all files."""
_IMAGE_RANKS = {"images": 2, "": 1, "masks": 0, "drawn": -1}


@dataclasses.dataclass(frozen=True)
class ChosenAndAsked:
    """Pairings that are chosen, and those about which the user is asked."""

    chosen: list[Pairing]
    asked: list[Pairing]


def compare_with_companions(
    chosen: Sequence[Pairing],
    rivals: Sequence[Pairing],
    pairings: Sequence[Pairing],
    evidence: FileEvidence,
) -> ChosenAndAsked:
    """Compares what would be chosen with other files that have the same ids in their names.

    - Painted images give way to the photos.
    - Other masks of the same images are a question, if nothing else is asked yet. What would be
      chosen for images with a worse name leaves the choice if its masks are in the question:
      `overlays` with `ids`, if `photos` may have `ids` or `colors` as masks.

    Args:
      chosen: what would be chosen.
      rivals: what is asked about.
      pairings: all pairings of the folder.
      evidence: what names and pixels say.
    """
    if evidence.given >= {"images", "masks"} or len(chosen) > _MAX_CHOSEN_FOLDERS:
        return ChosenAndAsked(list(chosen), list(rivals))
    best_first = sorted(chosen, key=lambda p: _photo_rank(p, evidence), reverse=True)
    with_photos = [_with_photos(pairing, pairings, evidence) for pairing in best_first]
    if rivals:
        asked = [_with_photos(rival, pairings, evidence) for rival in rivals]
    else:
        asked = _list_mask_rivals(with_photos, pairings, evidence)
    masks_asked = [pairing.masks for pairing in asked]
    still_chosen: list[Pairing] = []
    for pairing in with_photos:
        if pairing in asked or not _is_first_in(masks_asked, pairing.masks):
            still_chosen.append(pairing)
    return ChosenAndAsked(still_chosen, asked)


def _photo_rank(pairing: Pairing, evidence: FileEvidence) -> tuple[int, bool]:
    """Returns how well names allow images; those in a folder of masks come after others."""
    name = posixpath.basename(pairing.images.folder)
    return _IMAGE_RANKS[evidence.image_role(pairing)], role_of_name(name) != "masks"


def _with_photos(pairing: Pairing, pairings: Sequence[Pairing], evidence: FileEvidence) -> Pairing:
    """Returns a pairing with the photos in place of images in which labels are painted."""
    if evidence.given & {"images", "image_name"}:
        return pairing
    rank = _photo_rank(pairing, evidence)
    for companion in find_companions(evidence.listing, pairing):
        other = companion.as_images
        if (
            _photo_rank(other, evidence) >= rank
            and not _is_known(other, pairings)
            and not evidence.images_look_like_masks(PairingCandidate((other,)))
            and evidence.is_painted(PairingCandidate((pairing,)), PairingCandidate((other,)))
        ):
            return other
    return pairing


def _list_mask_rivals(
    chosen: Sequence[Pairing], pairings: Sequence[Pairing], evidence: FileEvidence
) -> list[Pairing]:
    """Returns the pairings of whose images other masks may be meant, and those with these masks."""
    asked: list[Pairing] = []
    for pairing in chosen:
        for rival in _mask_rivals_of(pairing, chosen, pairings, evidence):
            if pairing not in asked:
                asked.append(pairing)
            if rival not in asked:
                asked.append(rival)
    return asked


def _mask_rivals_of(
    pairing: Pairing,
    chosen: Sequence[Pairing],
    pairings: Sequence[Pairing],
    evidence: FileEvidence,
) -> list[Pairing]:
    """Returns the pairing with each set of other masks that may be meant in place of its own.

    Masks of chosen images with a name as good, or better, are not meant.
    """
    rank = _photo_rank(pairing, evidence)
    used_masks = [
        other.masks for other in chosen if other != pairing and _photo_rank(other, evidence) >= rank
    ]
    rivals = []
    for companion in find_companions(evidence.listing, pairing):
        other = companion.as_masks
        if (
            not _is_first_in(used_masks, other.masks)
            and not _is_known(other, pairings)
            and _may_be_masks(other, pairing, evidence)
        ):
            rivals.append(other)
    return rivals


def _may_be_masks(other: Pairing, pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether other masks of the same images may be meant, by names, options and looks."""
    if "mask_name" in evidence.given:
        return False
    if "masks" in evidence.given and other.masks.folder != pairing.masks.folder:
        return False
    if evidence.mask_role(other) not in ("masks", ""):
        return False
    candidate = PairingCandidate((other,))
    are_copies = all(
        evidence.are_same(other.masks.path(mask), pairing.masks.path(pairing.pairs[image]))
        for image, mask in other.pairs.items()
    )
    return (
        not are_copies
        and evidence.sizes_agree(candidate)
        and evidence.masks_look_like_masks(candidate)
    )


def _is_known(pairing: Pairing, pairings: Sequence[Pairing]) -> bool:
    """Says whether the first files of a pairing are in one by which the rules have chosen."""
    return any(
        other.images.has_first_of(pairing.images) and other.masks.has_first_of(pairing.masks)
        for other in pairings
    )


def _is_first_in(sets: Sequence[FileSet], files: FileSet) -> bool:
    """Says whether the first of some files is in one of several sets."""
    return any(other.has_first_of(files) for other in sets)
