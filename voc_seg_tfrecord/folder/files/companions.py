"""Compares what would be chosen with other files whose names have the same ids.

`companion_search` finds these files: other photos, and other masks.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.companion_search import find_companions
from voc_seg_tfrecord.folder.files.evidence import RANK_BY_ROLE_IN_NAME, FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.pairings import Pairing

_MAX_CHOSEN_FOLDERS = 40
"""If more folders are chosen, none is compared with all files."""


@dataclasses.dataclass(frozen=True)
class ChosenAndInQuestion:
    """Pairings that are chosen, and those about which the user is asked."""

    chosen: list[Pairing]
    in_question: list[Pairing]


def compare_with_companions(
    chosen: Sequence[Pairing],
    in_question: Sequence[Pairing],
    pairings: Sequence[Pairing],
    evidence: FileEvidence,
) -> ChosenAndInQuestion:
    """Compares what would be chosen with other files that have the same ids in their names.

    - Photos take the place of images in which labels are painted.
    - If nothing else is asked, other masks of the same images are a question.
    - A pairing whose masks are in the question is not chosen; see `_without_masks_in_question`.

    Args:
      chosen: what would be chosen.
      in_question: what the user would be asked about.
      pairings: all pairings of the folder.
      evidence: what names and pixels tell.
    """
    if evidence.given >= {"images", "masks"} or len(chosen) > _MAX_CHOSEN_FOLDERS:
        return ChosenAndInQuestion(list(chosen), list(in_question))
    best_first = sorted(
        chosen, key=lambda pairing: _rank_as_images(pairing, evidence), reverse=True
    )
    with_photos = [_with_photos(pairing, pairings, evidence) for pairing in best_first]
    if in_question:
        asked = [_with_photos(pairing, pairings, evidence) for pairing in in_question]
    else:
        asked = _list_mask_rivals(with_photos, pairings, evidence)
    return ChosenAndInQuestion(_without_masks_in_question(with_photos, asked), asked)


def _without_masks_in_question(
    chosen: Sequence[Pairing], asked: Sequence[Pairing]
) -> list[Pairing]:
    """Leaves out pairings whose masks are asked about as those of other images.

    Example: `overlays` with `ids` is left out if the question is whether `photos` have `ids` or
    `colors` as masks. A pairing that is itself in the question stays.
    """
    masks_asked = [pairing.masks for pairing in asked]
    still_chosen: list[Pairing] = []
    for pairing in chosen:
        is_in_question = _is_one_of(pairing.masks, masks_asked)
        if pairing in asked or not is_in_question:
            still_chosen.append(pairing)
    return still_chosen


@dataclasses.dataclass(frozen=True, order=True)
class _ImageRank:
    """How likely files are images, by names. Fields are compared in their order; more is likelier.

    Attributes:
      rank_of_role: how well the role in their names fits images; see `RANK_BY_ROLE_IN_NAME`.
      is_outside_masks: whether their folder is not called as masks.
    """

    rank_of_role: int
    is_outside_masks: bool


def _rank_as_images(pairing: Pairing, evidence: FileEvidence) -> _ImageRank:
    """Returns how likely the images of a pairing are images, by their names."""
    folder_name = posixpath.basename(pairing.images.folder)
    return _ImageRank(
        rank_of_role=RANK_BY_ROLE_IN_NAME["images"][evidence.image_role(pairing)],
        is_outside_masks=role_of_name(folder_name) != "masks",
    )


def _with_photos(pairing: Pairing, pairings: Sequence[Pairing], evidence: FileEvidence) -> Pairing:
    """Returns a pairing with the photos in place of images in which labels are painted."""
    if evidence.given & {"images", "image_name"}:
        return pairing
    rank = _rank_as_images(pairing, evidence)
    for companion in find_companions(evidence.listing, pairing):
        other = companion.as_images
        if _rank_as_images(other, evidence) < rank or _was_compared(other, pairings):
            continue
        if _are_photos_of_painted(other, pairing, evidence):
            return other
    return pairing


def _are_photos_of_painted(other: Pairing, pairing: Pairing, evidence: FileEvidence) -> bool:
    """Says whether other images are photos, and those of a pairing show labels painted on them."""
    candidate = PairingCandidate((other,))
    if evidence.images_look_like_masks(candidate):
        return False
    return evidence.is_painted(PairingCandidate((pairing,)), candidate)


def _list_mask_rivals(
    chosen: Sequence[Pairing], pairings: Sequence[Pairing], evidence: FileEvidence
) -> list[Pairing]:
    """Returns each chosen pairing that has rivals with other masks, followed by its rivals."""
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

    Masks that are chosen for other images are no rivals, if these images rank as high or higher.
    """
    rank = _rank_as_images(pairing, evidence)
    used_masks = []
    for other in chosen:
        if other != pairing and _rank_as_images(other, evidence) >= rank:
            used_masks.append(other.masks)
    rivals = []
    for companion in find_companions(evidence.listing, pairing):
        other = companion.as_masks
        if _is_one_of(other.masks, used_masks) or _was_compared(other, pairings):
            continue
        if _may_be_masks(other, pairing, evidence):
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


def _was_compared(pairing: Pairing, pairings: Sequence[Pairing]) -> bool:
    """Says whether the rules have already compared the files of a pairing.

    The sets of a folder are kinds of names, so they have all files of a kind or none: the first
    file tells which set it is.

    Args:
      pairing: the pairing.
      pairings: all pairings that the rules have compared.
    """
    return any(
        other.images.has_first_of(pairing.images) and other.masks.has_first_of(pairing.masks)
        for other in pairings
    )


def _is_one_of(files: FileSet, sets: Sequence[FileSet]) -> bool:
    """Says whether files are one of several sets, as the first of them tells."""
    return any(other.has_first_of(files) for other in sets)
