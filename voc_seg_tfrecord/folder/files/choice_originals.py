"""Separates the originals from their copies, and lists between which the user has to choose."""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.role_words import MODEL_NAMES, MODEL_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate, list_pairings
from voc_seg_tfrecord.folder.files.copies import Copies
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.pairings import Pairing


@dataclasses.dataclass(frozen=True)
class UncopiedPairings:
    """The pairings that are used, and those that rival them.

    Attributes:
      pairings: those that are no copies.
      rivals: those between which the user has to choose; some are in `pairings` too.
    """

    pairings: Sequence[Pairing]
    rivals: Sequence[Pairing]


def separate_copies(
    best: Iterable[PairingCandidate], copies: Copies, evidence: FileEvidence
) -> UncopiedPairings:
    """Separates the pairings of the best candidates.

    | pairing                                   | in `pairings` | in `rivals`                      |
    |-------------------------------------------|---------------|----------------------------------|
    | original                                  | yes           | if its candidate has rivals or   |
    |                                           |               | is doubtful                      |
    | relabeled copy: same images, other masks  | no            | yes, and so are its originals    |
    | copy of images and masks                  | no            | no                               |
    | any other that has the masks of a copy    | no            | no                               |
    """
    candidates = _without_copied_masks(best, copies)
    originals = set(copies.originals)
    return UncopiedPairings(
        pairings=[pairing for pairing in list_pairings(candidates) if pairing in originals],
        rivals=_list_rivals(candidates, copies, evidence),
    )


def _without_copied_masks(
    candidates: Iterable[PairingCandidate], copies: Copies
) -> list[PairingCandidate]:
    """Returns candidates without the pairings that have the masks of a copy."""
    remaining: list[PairingCandidate] = []
    for candidate in candidates:
        pairings = [p for p in candidate.pairings if p.masks not in copies.copied_masks]
        if pairings:
            remaining.append(PairingCandidate(tuple(pairings)))
    return remaining


def _list_rivals(
    candidates: Sequence[PairingCandidate], copies: Copies, evidence: FileEvidence
) -> list[Pairing]:
    """Returns the pairings between which the user has to choose.

    Args:
      candidates: the best candidates, without masks of copies.
      copies: what is a copy of what.
      evidence: what names and pixels tell.
    """
    asked = [c for c in candidates if _has_rival(c, candidates) or _is_doubtful(c, evidence)]
    asked.sort(key=_rank_in_question)
    rivals = list_pairings(asked)
    for pairing in _list_relabeled_with_originals(copies):
        if pairing not in rivals:
            rivals.append(pairing)
    return rivals


def _list_relabeled_with_originals(copies: Copies) -> list[Pairing]:
    """Returns the originals of each relabeled copy and then the copy, without masks of copies."""
    pairings: list[Pairing] = []
    for relabeled, originals in copies.originals_of_relabeled.items():
        pairings += [*originals, relabeled]
    return [pairing for pairing in pairings if pairing.masks not in copies.copied_masks]


def _has_rival(candidate: PairingCandidate, candidates: Iterable[PairingCandidate]) -> bool:
    """Says whether another candidate has images or masks of one."""
    for other in candidates:
        if other == candidate:
            continue
        if candidate.shares_images_with(other) or candidate.shares_masks_with(other):
            return True
    return False


def _rank_in_question(candidate: PairingCandidate) -> tuple[int, int]:
    """Returns a rank by which most pairs come first in a question, then the shortest name."""
    return -candidate.pair_count, len(candidate.pairings[0].masks.folder)


def _is_doubtful(candidate: PairingCandidate, evidence: FileEvidence) -> bool:
    """Says whether names or pixels are evidence against a candidate, and no option names it.

    Its masks are called predictions or the like, or after a model, its images look like masks, or
    only numbers pair them and most masks have no image.
    """
    if candidate.pairs_few_masks_by_number and "mask_name" not in evidence.given:
        return True
    masks_are_given = bool(evidence.given & {"masks", "mask_name"})
    images_are_given = bool(evidence.given & {"images", "image_name"})
    are_drawings = evidence.are_called_drawings(candidate) and not _are_called_masks_too(candidate)
    if are_drawings and not masks_are_given:
        return True
    if _are_called_after_a_model(candidate) and not masks_are_given:
        return True
    return not images_are_given and evidence.may_be_masks_alone(candidate)


def _are_called_after_a_model(candidate: PairingCandidate) -> bool:
    """Says whether masks are called as what a model made: `unet`, `y_hat`, `pseudo_labels`."""
    pairing = candidate.pairings[0]
    folder = "" if pairing.is_flat else posixpath.basename(pairing.masks.folder)
    names = " ".join([folder, *pairing.masks.affix, *pairing.mask_affix])
    words_of_masks = words(names)
    joined = f" {' '.join(words_of_masks)} "
    has_model_name = any(f" {name} " in joined for name in MODEL_NAMES)
    return has_model_name or not MODEL_WORDS.isdisjoint(words_of_masks)


def _are_called_masks_too(candidate: PairingCandidate) -> bool:
    """Says whether a word for masks is in the name of the masks' folder or in their own names."""
    masks = candidate.pairings[0].masks
    names = " ".join([masks.folder, *masks.affix])
    return any(role_of_name(word) == "masks" for word in words(names))
