"""Finds files beside a set whose names have the ids of it: other photos, and other masks."""

import collections
from collections.abc import Collection, Iterator, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.layout import PICTURES
from voc_seg_tfrecord.folder.files.affixes import Affix, common_affix, core_of
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role
from voc_seg_tfrecord.folder.files.pairings import Pairing, few, numbers_alone, reduced
from voc_seg_tfrecord.folder.tree.listing import Listing

_MIN_SHARE = 0.6
"""Of a few ids, at least this share has a file of a kind beside them."""
_MAX_CHOSEN_FOLDERS = 40
"""If more folders are chosen, none is compared with all files."""
_IMAGE_RANKS = {"images": 2, "": 1, "masks": 0, "drawn": -1}


@dataclasses.dataclass(frozen=True)
class Companion:
    """Files whose names have the ids of a pairing.

    Attributes:
      as_images: the pairing with these files in place of its images.
      as_masks: the pairing with these files in place of its masks.
    """

    as_images: Pairing
    as_masks: Pairing


def compare_with_companions(
    chosen: Sequence[Pairing],
    rivals: Sequence[Pairing],
    pairings: Sequence[Pairing],
    evidence: FileEvidence,
) -> tuple[list[Pairing], list[Pairing]]:
    """Compares what would be chosen with other files that have the same ids in their names.

    Painted images give way to the photos. Other masks of the same images are a question, also
    those that would be chosen for images with a worse name.

    Args:
      chosen: what would be chosen.
      rivals: what is asked about.
      pairings: all pairings of the folder.
      evidence: what names and pixels say.

    Returns:
      What is chosen, and what is asked about.
    """
    if evidence.given >= {"images", "masks"} or len(chosen) > _MAX_CHOSEN_FOLDERS:
        return list(chosen), list(rivals)
    rivals_left = [_with_photos(rival, pairings, evidence) for rival in rivals]
    best_first = sorted(chosen, key=lambda p: _photo_rank(p, evidence), reverse=True)
    left = [_with_photos(pairing, pairings, evidence) for pairing in best_first]
    if not rivals:
        for pairing in left:
            for rival in _mask_rivals(pairing, left, pairings, evidence):
                rivals_left += [p for p in (pairing, rival) if p not in rivals_left]
    masks = [rival.masks for rival in rivals_left]
    left = [p for p in left if p in rivals_left or not _is_first_in(masks, p.masks)]
    return left, rivals_left


def _photo_rank(pairing: Pairing, evidence: FileEvidence) -> tuple[int, bool]:
    """Returns how well names allow images; those in a folder of masks come after others."""
    name = posixpath.basename(pairing.images.folder)
    return _IMAGE_RANKS[evidence.image_role(pairing)], role(name) != "masks"


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


def _mask_rivals(
    pairing: Pairing,
    chosen: Sequence[Pairing],
    pairings: Sequence[Pairing],
    evidence: FileEvidence,
) -> list[Pairing]:
    """Returns the pairing with each other masks of its images that may be meant."""
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


def find_companions(listing: Listing, pairing: Pairing) -> Iterator[Companion]:
    """Finds files whose names have the ids of a pairing, whatever stands around them.

    Yields:
      A companion for each kind of such files.
    """
    affix = common_affix([core_of(stem, pairing.image_affix) for stem in pairing.pairs])
    some = few([*pairing.pairs])
    sample = [core for stem in some if (core := core_of(core_of(stem, pairing.image_affix), affix))]
    own = {
        f.path(s) for n in some for f, s in ((pairing.images, n), (pairing.masks, pairing.pairs[n]))
    }
    around = functools.partial(_around, glued=len(sample) > 2)
    kinds: collections.Counter[tuple[str, Affix, str]] = collections.Counter()
    for folder, names_in in listing.folders.items():
        for image_id, name in _names_with(sample, names_in):
            stem, ending = posixpath.splitext(name)
            if ending.lower() in PICTURES and posixpath.join(folder, name) not in own:
                kinds.update((folder, of, ending) for of in [around(stem, image_id)] if of)
    found = [kind for kind, count in kinds.items() if count > _MIN_SHARE * len(sample)]
    cores = ((core_of(core_of(s, pairing.image_affix), affix), s) for s in pairing.pairs if found)
    stems = {core: stem for core, stem in cores if core}
    for folder, affix, ending in found:
        there = set(listing.folders[folder])
        files = {i: s for i in stems if (s := affix[0] + i + affix[1]) + ending in there}
        first = next(iter(files))
        of_image = around(stems[first], first)
        of_mask = around(pairing.pairs[stems[first]], first)
        if of_image and of_mask and _may_have_ids(affix, of_image, of_mask):
            names = {stem: stem + ending for stem in files.values()}
            as_images, as_masks = reduced(affix, of_mask), reduced(of_image, affix)
            images, masks = (
                FileSet(folder, names, own, ending.lower()) for own in (as_images[0], as_masks[1])
            )
            pairs = {stem: pairing.pairs[stems[i]] for i, stem in files.items()}
            masks_of = {stems[i]: stem for i, stem in files.items()}
            yield Companion(
                Pairing(images, pairing.masks, *as_images, pairs),
                Pairing(pairing.images, masks, *as_masks, masks_of),
            )


def _names_with(parts: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the names that have one of a few texts in them, with the text."""
    # One search of all names takes less than one of each. No name has the character between them.
    lines = "\0".join(["", *names, ""])
    for part in parts:
        end = lines.find(part)
        while end >= 0:
            start, end = lines.rfind("\0", 0, end) + 1, lines.find("\0", end)
            yield part, lines[start:end]
            end = lines.find(part, end)


def _around(stem: str, image_id: str, *, glued: bool) -> Affix | None:
    """Returns what a name has before and behind an id; None if the id is a part of a number.

    Unless words may be glued to the id, which several ids have to show, it is no part of a word.
    """
    kinds = (str.isdigit,) if glued else (str.isdigit, str.isalpha)
    at = stem.find(image_id)
    while at >= 0:
        before, after = stem[:at], stem[at + len(image_id) :]
        edges = (before[-1:], image_id[0]), (image_id[-1], after[:1])
        if not any(kind(a) and kind(b) for kind in kinds for a, b in edges):
            return before, after
        at = stem.find(image_id, at + 1)
    return None


def _may_have_ids(affix: Affix, of_image: Affix, of_mask: Affix) -> bool:
    """Says whether numbers around ids are no parts of other ids: `1_f2` beside `1_f0`.

    Where the ids are whole names, a number that all have is none: `1_2` and `7_2` beside `1`.
    """
    numbers, of_images = (re.findall(r"\d+", " ".join(around)) for around in (affix, of_image))
    same = numbers == of_images or not (numbers and of_images)
    whole = ("", "") in (affix, of_image)
    return same and (
        whole or numbers_alone(affix) in (numbers_alone(of_image), numbers_alone(of_mask))
    )
