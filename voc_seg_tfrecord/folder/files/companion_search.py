"""Finds files beside a pairing whose names have its ids: other photos, and other masks."""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.folder.files.affixes import (
    NO_AFFIX,
    Affix,
    affix_around,
    common_affix,
    core_of,
)
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.pairings import Pairing, drop_common_parts, few, numbers_alone
from voc_seg_tfrecord.folder.tree.listing import Listing

_MIN_SHARE = 0.6
"""More than this share of a few ids has a file of a kind beside them."""
_MIN_IDS_IN_WORDS = 3
"""How many ids have to be sampled to be looked for beside a word without a sign between them."""


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
        return f"{self.affix.before}{image_id}{self.affix.after}"


@dataclasses.dataclass(frozen=True)
class _PairingIds:
    """The ids of a pairing, as they stand in names.

    Attributes:
      pairing: the pairing.
      stem_by_id: the name of the image of each id, without the ending.
      sampled: a few of the ids, by which kinds of names are found.
      sampled_paths: the paths of the images and masks of these.
    """

    pairing: Pairing
    stem_by_id: Mapping[str, str]
    sampled: Sequence[str]
    sampled_paths: Set[str]

    def find_affix(self, stem: str, image_id: str) -> Affix | None:
        """Returns what a name has before and behind an id; None if it does not have the id.

        Names have single digits by chance, so fewer than `_MIN_IDS_IN_WORDS` ids are not looked for
        beside a word without a sign between them.
        """
        may_touch_words = len(self.sampled) >= _MIN_IDS_IN_WORDS
        return affix_around(stem, image_id, may_touch_words=may_touch_words)


def find_companions(listing: Listing, pairing: Pairing) -> Iterator[Companion]:
    """Finds files whose names have the ids of a pairing, whatever stands around them.

    Yields:
      A companion for each kind of such files.
    """
    ids = _find_ids(pairing)
    for kind, count in _count_kinds(listing, ids).items():
        if count > _MIN_SHARE * len(ids.sampled):
            companion = _make_companion(listing, ids, kind)
            if companion is not None:
                yield companion


def _find_ids(pairing: Pairing) -> _PairingIds:
    """Finds the ids of a pairing: its images' names without what all of them have.

    Example: 7 and 8 of `scan_7_rgb` and `scan_8_rgb`. A name of which nothing is left has no id.
    """
    id_by_stem = _id_by_image(pairing)
    sampled_stems = few([*pairing.pairs])
    sampled_paths: set[str] = set()
    for stem in sampled_stems:
        sampled_paths.add(pairing.images.path(stem))
        sampled_paths.add(pairing.masks.path(pairing.pairs[stem]))
    return _PairingIds(
        pairing,
        stem_by_id={image_id: stem for stem, image_id in id_by_stem.items()},
        sampled=[id_by_stem[stem] for stem in sampled_stems if stem in id_by_stem],
        sampled_paths=sampled_paths,
    )


def _id_by_image(pairing: Pairing) -> dict[str, str]:
    """Returns the id of each image of a pairing that has one, by its name without the ending."""
    cores = [core_of(stem, pairing.image_affix) for stem in pairing.pairs]
    affix = common_affix(cores)
    id_by_stem: dict[str, str] = {}
    for stem, core in zip(pairing.pairs, cores, strict=True):
        image_id = core_of(core, affix)
        if image_id:
            id_by_stem[stem] = image_id
    return id_by_stem


def _count_kinds(listing: Listing, ids: _PairingIds) -> Mapping[_NameKind, int]:
    """Counts by kind the files, other than the pairing's, whose names have a sampled id."""
    counts: collections.Counter[_NameKind] = collections.Counter()
    for folder, names in listing.files_by_folder.items():
        for name, image_id in _names_with(ids.sampled, names):
            stem, ending = posixpath.splitext(name)
            is_own = posixpath.join(folder, name) in ids.sampled_paths
            if is_own or ending.lower() not in IMAGE_OR_MASK_ENDINGS:
                continue
            affix = ids.find_affix(stem, image_id)
            if affix is not None:
                counts[_NameKind(folder, affix, ending)] += 1
    return counts


def _make_companion(listing: Listing, ids: _PairingIds, kind: _NameKind) -> Companion | None:
    """Returns the files of a kind as images and as masks; None if they have other ids."""
    pairing = ids.pairing
    names_in_folder = set(listing.files_by_folder[kind.folder])
    ids_with_file = [
        each for each in ids.stem_by_id if kind.stem_of(each) + kind.ending in names_in_folder
    ]
    first_id = ids_with_file[0]
    first_image = ids.stem_by_id[first_id]
    image_affix = ids.find_affix(first_image, first_id)
    mask_affix = ids.find_affix(pairing.pairs[first_image], first_id)
    if image_affix is None or mask_affix is None:
        return None
    if not _may_have_ids(kind.affix, image_affix, mask_affix):
        return None
    file_of_image = {ids.stem_by_id[each]: kind.stem_of(each) for each in ids_with_file}
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
    return Pairing(
        images=files,
        masks=pairing.masks,
        image_affix=own_affix,
        mask_affix=mask_affix,
        pairs=mask_of_file,
    )


def _as_masks(
    pairing: Pairing, kind: _NameKind, image_affix: Affix, file_of_image: Mapping[str, str]
) -> Pairing:
    """Returns a pairing with files of a kind in place of its masks; see `_as_images`."""
    image_affix, own_affix = drop_common_parts(image_affix, kind.affix)
    files = _make_set(kind, own_affix, file_of_image.values())
    return Pairing(
        images=pairing.images,
        masks=files,
        image_affix=image_affix,
        mask_affix=own_affix,
        pairs=file_of_image,
    )


def _make_set(kind: _NameKind, affix: Affix, stems: Iterable[str]) -> FileSet:
    names = {stem: stem + kind.ending for stem in stems}
    return FileSet(kind.folder, names, affix, kind.ending.lower())


def _names_with(texts: Sequence[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yields each name that has one of a few texts in it, and the text."""
    # One search of all names takes less than one of each. No name has the character between them.
    lines = "\0".join(["", *names, ""])
    for text in texts:
        hit = lines.find(text)
        while hit >= 0:
            name_start = lines.rfind("\0", 0, hit) + 1
            name_end = lines.find("\0", hit)
            yield lines[name_start:name_end], text
            hit = lines.find(text, name_end)


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
