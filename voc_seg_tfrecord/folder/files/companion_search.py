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
"""How many ids have to be sampled to be looked for within words."""


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
    """The ids of a pairing: what differs between the names of its images.

    Example: 7 and 8 of `scan_7_rgb` and `scan_8_rgb`.

    Attributes:
      pairing: the pairing.
      image_by_id: the image of each id, by its name without the ending.
      image_affix: what all names of images have around the ids.
      mask_affix: what all names of masks have around them.
      sampled: a few of the ids, by which kinds of names are found.
      sampled_paths: the paths of the images and masks of these.
    """

    pairing: Pairing
    image_by_id: Mapping[str, str]
    image_affix: Affix
    mask_affix: Affix
    sampled: Sequence[str]
    sampled_paths: Set[str]

    def find_affix(self, stem: str, image_id: str) -> Affix | None:
        """Returns what a file's name has around an id; None if it does not have the id.

        Names have a letter or two by chance, so fewer than `_MIN_IDS_IN_WORDS` ids are not looked
        for within words.
        """
        may_be_in_word = len(self.sampled) >= _MIN_IDS_IN_WORDS
        return affix_around(stem, image_id, may_touch_words=may_be_in_word)


def find_companions(listing: Listing, pairing: Pairing) -> Iterator[Companion]:
    """Finds files whose names have the ids of a pairing, whatever stands around them.

    Yields:
      A companion for each kind of such files.
    """
    ids = _find_ids(pairing)
    for kind, count in _count_kinds(listing, ids).items():
        around_ids = _AroundIds(kind.affix, ids.image_affix, ids.mask_affix)
        if count > _MIN_SHARE * len(ids.sampled) and around_ids.may_be_same_ids():
            yield _make_companion(listing, ids, kind)


def _find_ids(pairing: Pairing) -> _PairingIds:
    """Finds the ids of a pairing, and samples a few.

    Images and masks are paired by what stands within their own affixes. Of this, only what differs
    between the images is an id. An image whose name has nothing that differs has no id.
    """
    text_by_image = {image: core_of(image, pairing.image_affix) for image in pairing.pairs}
    around_all_ids = common_affix([*text_by_image.values()])
    image_by_id: dict[str, str] = {}
    for image, text in text_by_image.items():
        image_id = core_of(text, around_all_ids)
        if image_id:
            image_by_id[image_id] = image
    sampled_images = few([*pairing.pairs])
    sampled_paths: set[str] = set()
    for image in sampled_images:
        sampled_paths.add(pairing.images.path(image))
        sampled_paths.add(pairing.masks.path(pairing.pairs[image]))
    return _PairingIds(
        pairing,
        image_by_id,
        image_affix=_wrap(around_all_ids, pairing.image_affix),
        mask_affix=_wrap(around_all_ids, pairing.mask_affix),
        sampled=[image_id for image_id, image in image_by_id.items() if image in sampled_images],
        sampled_paths=sampled_paths,
    )


def _wrap(inner: Affix, outer: Affix) -> Affix:
    """Returns what an affix is together with another one around it."""
    return Affix(outer.before + inner.before, inner.after + outer.after)


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


@dataclasses.dataclass(frozen=True)
class _AroundIds:
    """What three kinds of names have around ids that may be the same.

    Attributes:
      files: in names of files that may be companions.
      images: in names of a pairing's images.
      masks: in names of its masks.
    """

    files: Affix
    images: Affix
    masks: Affix

    def may_be_same_ids(self) -> bool:
        """Says whether ids may be the same: no number around them is evidence of other ids.

        Examples for the id 1:

        | files   | images  | masks   | may be the same ids                                    |
        |---------|---------|---------|--------------------------------------------------------|
        | `1_f2`  | `1_f0`  | any     | no: both have numbers, and they differ                 |
        | `1_2`   | `1`     | any     | yes: ids are whole names, so the 2 is no part of an id |
        | `1`     | `1_2`   | any     | yes, for the same reason                               |
        | `a_1_2` | `b_1_2` | any     | yes: images have the same number                       |
        | `a_1_2` | `b_1`   | `c_1_2` | yes: masks have the same number                        |
        | `a_1_2` | `b_1`   | `c_1`   | no: the id may be `1_2`                                |
        """
        numbers = _numbers_in(self.files)
        numbers_of_images = _numbers_in(self.images)
        if numbers and numbers_of_images and numbers != numbers_of_images:
            return False
        if self.files == NO_AFFIX or self.images == NO_AFFIX:
            return True
        own_numbers = numbers_alone(self.files)
        return own_numbers in (numbers_alone(self.images), numbers_alone(self.masks))


def _numbers_in(affix: Affix) -> list[str]:
    return re.findall(r"\d+", " ".join(affix))


def _make_companion(listing: Listing, ids: _PairingIds, kind: _NameKind) -> Companion:
    """Returns the files of a kind, as images and as masks of a pairing."""
    names_in_folder = set(listing.files_by_folder[kind.folder])
    file_of_image: dict[str, str] = {}
    for image_id, image in ids.image_by_id.items():
        file = kind.stem_of(image_id)
        if file + kind.ending in names_in_folder:
            file_of_image[image] = file
    return Companion(
        as_images=_as_images(ids, kind, file_of_image),
        as_masks=_as_masks(ids, kind, file_of_image),
    )


def _as_images(ids: _PairingIds, kind: _NameKind, file_of_image: Mapping[str, str]) -> Pairing:
    """Returns a pairing with files of a kind in place of its images.

    Args:
      ids: the ids of the pairing.
      kind: how the files are named.
      file_of_image: the file of each image, both by their names without the ending.
    """
    masks = ids.pairing.masks
    mask_of_image = ids.pairing.pairs
    file_affix, mask_affix = drop_common_parts(kind.affix, ids.mask_affix)
    files = _make_set(kind, file_affix, file_of_image.values())
    mask_of_file = {file: mask_of_image[image] for image, file in file_of_image.items()}
    return Pairing(files, masks, file_affix, mask_affix, mask_of_file)


def _as_masks(ids: _PairingIds, kind: _NameKind, file_of_image: Mapping[str, str]) -> Pairing:
    """Returns a pairing with files of a kind in place of its masks; see `_as_images`."""
    images = ids.pairing.images
    image_affix, file_affix = drop_common_parts(ids.image_affix, kind.affix)
    files = _make_set(kind, file_affix, file_of_image.values())
    return Pairing(images, files, image_affix, file_affix, file_of_image)


def _make_set(kind: _NameKind, affix: Affix, stems: Iterable[str]) -> FileSet:
    names = {stem: stem + kind.ending for stem in stems}
    return FileSet(kind.folder, names, affix, kind.ending.lower())
