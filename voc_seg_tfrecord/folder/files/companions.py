"""Finds files beside a set whose names have its ids: other photos, and other masks."""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.layout import PICTURES
from voc_seg_tfrecord.folder.files.affixes import (
    NO_AFFIX,
    Affix,
    affix_around,
    common_affix,
    core_of,
)
from voc_seg_tfrecord.folder.files.candidates import PairingCandidate
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.pairings import Pairing, drop_common_parts, few, numbers_alone
from voc_seg_tfrecord.folder.tree.listing import Listing

_MIN_SHARE = 0.6
"""More than this share of a few ids has a file of a kind beside them."""
_MAX_CHOSEN_FOLDERS = 40
"""If more folders are chosen, none is compared with all files."""
_MIN_IDS_IN_WORDS = 3
"""Fewer ids are not looked for beside a word without a sign between them."""
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


@dataclasses.dataclass(frozen=True)
class _NameKind:
    """Files of a folder that have the same around their ids, and the same ending.

    Attributes:
      folder: the folder.
      affix: what stands around the ids.
      ending: the ending, as it is written.
    """

    folder: str
    affix: Affix
    ending: str

    def stem_of(self, image_id: str) -> str:
        """Returns the name of an id's file, without the ending."""
        before, after = self.affix
        return f"{before}{image_id}{after}"


def find_companions(listing: Listing, pairing: Pairing) -> Iterator[Companion]:
    """Finds files whose names have the ids of a pairing, whatever stands around them.

    Yields:
      A companion for each kind of such files.
    """
    id_by_stem = _ids_of_images(pairing)
    sampled_stems = few([*pairing.pairs])
    sampled_ids = [id_by_stem[stem] for stem in sampled_stems if stem in id_by_stem]
    own_paths: set[str] = set()
    for stem in sampled_stems:
        own_paths.add(pairing.images.path(stem))
        own_paths.add(pairing.masks.path(pairing.pairs[stem]))
    stem_by_id = {image_id: stem for stem, image_id in id_by_stem.items()}
    may_touch_words = len(sampled_ids) >= _MIN_IDS_IN_WORDS
    counts = _count_kinds(listing, sampled_ids, own_paths, may_touch_words=may_touch_words)
    for kind, count in counts.items():
        if count > _MIN_SHARE * len(sampled_ids):
            companion = _make_companion(
                listing, pairing, stem_by_id, kind, may_touch_words=may_touch_words
            )
            if companion is not None:
                yield companion


def _ids_of_images(pairing: Pairing) -> dict[str, str]:
    """Returns by the names of images what is no part of all names. A name may have no such part."""
    core_by_stem = {stem: core_of(stem, pairing.image_affix) for stem in pairing.pairs}
    affix = common_affix([*core_by_stem.values()])
    ids: dict[str, str] = {}
    for stem, core in core_by_stem.items():
        image_id = core_of(core, affix)
        if image_id:
            ids[stem] = image_id
    return ids


def _count_kinds(
    listing: Listing,
    sampled_ids: Sequence[str],
    own_paths: Collection[str],
    *,
    may_touch_words: bool,
) -> Mapping[_NameKind, int]:
    """Counts the names of each kind that have one of a few ids, but for some files."""
    counts: collections.Counter[_NameKind] = collections.Counter()
    for folder, names in listing.files_by_folder.items():
        for image_id, name in _names_with(sampled_ids, names):
            stem, ending = posixpath.splitext(name)
            if ending.lower() not in PICTURES or posixpath.join(folder, name) in own_paths:
                continue
            affix = affix_around(stem, image_id, may_touch_words=may_touch_words)
            if affix is not None:
                counts[_NameKind(folder, affix, ending)] += 1
    return counts


def _make_companion(
    listing: Listing,
    pairing: Pairing,
    stem_by_id: Mapping[str, str],
    kind: _NameKind,
    *,
    may_touch_words: bool,
) -> Companion | None:
    """Returns the files of a kind as images and as masks; None if they have other ids.

    Args:
      listing: all that lies in the folder.
      pairing: the pairing.
      stem_by_id: the name of the image of each id, without the ending.
      kind: how the files are named.
      may_touch_words: whether a word may stand beside an id without a sign between them.
    """
    names_in_folder = set(listing.files_by_folder[kind.folder])
    ids = [each for each in stem_by_id if kind.stem_of(each) + kind.ending in names_in_folder]
    first_image = stem_by_id[ids[0]]
    first_mask = pairing.pairs[first_image]
    image_affix = affix_around(first_image, ids[0], may_touch_words=may_touch_words)
    mask_affix = affix_around(first_mask, ids[0], may_touch_words=may_touch_words)
    if image_affix is None or mask_affix is None:
        return None
    if not _may_have_ids(kind.affix, image_affix, mask_affix):
        return None
    file_of_image = {stem_by_id[image_id]: kind.stem_of(image_id) for image_id in ids}
    return Companion(
        as_images=_as_images(pairing, kind, mask_affix, file_of_image),
        as_masks=_as_masks(pairing, kind, image_affix, file_of_image),
    )


def _as_images(
    pairing: Pairing, kind: _NameKind, mask_affix: Affix, file_of_image: Mapping[str, str]
) -> Pairing:
    """Returns a pairing with files of a kind in place of its images.

    Args:
      pairing: the pairing.
      kind: how the files are named.
      mask_affix: what the masks' names have around the ids.
      file_of_image: the file of each image, both by their names without the ending.
    """
    own_affix, mask_affix = drop_common_parts(kind.affix, mask_affix)
    files = _make_set(kind, own_affix, file_of_image.values())
    mask_of_file = {file: pairing.pairs[image] for image, file in file_of_image.items()}
    return Pairing(files, pairing.masks, own_affix, mask_affix, mask_of_file)


def _as_masks(
    pairing: Pairing, kind: _NameKind, image_affix: Affix, file_of_image: Mapping[str, str]
) -> Pairing:
    """Returns a pairing with files of a kind in place of its masks; see `_as_images`."""
    image_affix, own_affix = drop_common_parts(image_affix, kind.affix)
    files = _make_set(kind, own_affix, file_of_image.values())
    return Pairing(pairing.images, files, image_affix, own_affix, file_of_image)


def _make_set(kind: _NameKind, affix: Affix, stems: Iterable[str]) -> FileSet:
    names = {stem: stem + kind.ending for stem in stems}
    return FileSet(kind.folder, names, affix, kind.ending.lower())


def _names_with(parts: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields the names that have one of a few texts in them, with the text."""
    # One search of all names takes less than one of each. No name has the character between them.
    lines = "\0".join(["", *names, ""])
    for part in parts:
        hit = lines.find(part)
        while hit >= 0:
            name_start = lines.rfind("\0", 0, hit) + 1
            name_end = lines.find("\0", hit)
            yield part, lines[name_start:name_end]
            hit = lines.find(part, name_end)


def _may_have_ids(affix: Affix, affix_of_image: Affix, affix_of_mask: Affix) -> bool:
    """Says whether the numbers around ids are no parts of other ids.

    Example: `1_f2` does not have the id of `1_f0`. Where ids are whole names, a number that all
    names have is no part of an id: `1_2` and `7_2` may belong to `1` and `7`.
    """
    numbers = re.findall(r"\d+", " ".join(affix))
    numbers_of_image = re.findall(r"\d+", " ".join(affix_of_image))
    if numbers and numbers_of_image and numbers != numbers_of_image:
        return False
    if NO_AFFIX in (affix, affix_of_image):
        return True
    own_numbers = numbers_alone(affix)
    return own_numbers in (numbers_alone(affix_of_image), numbers_alone(affix_of_mask))
