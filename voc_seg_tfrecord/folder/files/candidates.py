"""The candidates of the files step: all folders of images and masks that lie to each other alike.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`. What is chosen is chosen for all of them.
"""

import collections
from collections.abc import Callable, Hashable, Iterable, Mapping
import dataclasses
import functools
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import common_folder, without_split_word
from voc_seg_tfrecord.folder.files.pairings import SAMPLE, Pairing, few


class FileInSet(NamedTuple):
    """A file, as a set of files and its name without the ending."""

    files: FileSet
    stem: str

    @property
    def path(self) -> str:
        """The path below the root of the listing."""
        return self.files.path(self.stem)


class SampledPair(NamedTuple):
    """An image and its mask, by their names without the ending, in a pairing."""

    pairing: Pairing
    image: str
    mask: str

    @property
    def image_path(self) -> str:
        """The path of the image below the root of the listing."""
        return self.pairing.images.path(self.image)

    @property
    def mask_path(self) -> str:
        """The path of the mask below the root of the listing."""
        return self.pairing.masks.path(self.mask)


@dataclasses.dataclass(frozen=True)
class PairingCandidate:
    """Folders of images and masks that may be the set, or a part of it.

    Attributes:
      pairings: the folders of images with those of their masks; they lie to each other in the same
        way, their files are named alike, and no file is in two of them.
    """

    pairings: tuple[Pairing, ...]

    @functools.cached_property
    def image_sets(self) -> frozenset[FileSet]:
        """The files of images."""
        return frozenset(pairing.images for pairing in self.pairings)

    @functools.cached_property
    def mask_sets(self) -> frozenset[FileSet]:
        """The files of masks."""
        return frozenset(pairing.masks for pairing in self.pairings)

    @functools.cached_property
    def pair_count(self) -> int:
        """How many images have a mask."""
        return sum(len(pairing.pairs) for pairing in self.pairings)

    @functools.cached_property
    def shared_words(self) -> int:
        """How many words the folders of images and masks share, but for those of splits."""
        image_words, mask_words = (collections.Counter(words(f)) for f in self._typical_folders)
        return (image_words & mask_words).total()

    @functools.cached_property
    def distance(self) -> int:
        """How many words only one of the two folders has."""
        return sum(len(words(folder)) for folder in self._typical_folders) - 2 * self.shared_words

    @property
    def _typical_folders(self) -> list[str]:
        """The folders of images and masks, without the word of a split."""
        return [without_split_word(folder) for folder in self.pairings[0].folders]

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.pairings[0].is_flat

    @property
    def crosses_splits(self) -> bool:
        """Whether the folder of images is called as another split than that of masks."""
        image_split, mask_split = self.pairings[0].splits
        return bool(image_split) and bool(mask_split) and image_split != mask_split

    @property
    def is_of_splits(self) -> bool:
        """Whether the folders of images are those of splits."""
        return all(pairing.is_of_split for pairing in self.pairings)

    @property
    def pairs_few_masks_by_number(self) -> bool:
        """See `Pairing.pairs_few_masks_by_number`."""
        return any(pairing.pairs_few_masks_by_number for pairing in self.pairings)

    @property
    def has_arrays_as_masks(self) -> bool:
        """Whether all masks are files of arrays."""
        names = [name for files in self.mask_sets for name in files.names.values()]
        return all(name.endswith(".npy") for name in names)

    @property
    def has_augmented_images(self) -> bool:
        """Whether the images alone lie in a folder that is called as augmented ones are."""
        image_folder, mask_folder = self.pairings[0].folders
        return _is_called_augmented(image_folder) and not _is_called_augmented(mask_folder)

    @functools.cached_property
    def image_of_mask(self) -> Mapping[FileSet, Mapping[str, FileInSet]]:
        """By the files of masks, and the name of each without the ending: its image."""
        images: dict[FileSet, dict[str, FileInSet]] = {}
        for pairing in self.pairings:
            image_by_mask = images.setdefault(pairing.masks, {})
            for image, mask in pairing.pairs.items():
                image_by_mask[mask] = FileInSet(pairing.images, image)
        return images

    @functools.cached_property
    def mask_of_image(self) -> Mapping[FileSet, Mapping[str, FileInSet]]:
        """By the files of images, and the name of each without the ending: its mask."""
        masks: dict[FileSet, dict[str, FileInSet]] = {}
        for pairing in self.pairings:
            mask_by_image = masks.setdefault(pairing.images, {})
            for image, mask in pairing.pairs.items():
                mask_by_image[image] = FileInSet(pairing.masks, mask)
        return masks

    def has_all_masks_of(self, other: "PairingCandidate") -> bool:
        """Says whether this has an image for each mask for which the other one has one."""
        return _includes(self.image_of_mask, other.image_of_mask)

    def has_all_images_of(self, other: "PairingCandidate") -> bool:
        """Says whether this has a mask for each image for which the other one has one."""
        return _includes(self.mask_of_image, other.mask_of_image)

    def sample(self) -> list[SampledPair]:
        """Returns a few pairs, spread over all folders."""
        pairings = few(self.pairings)
        pairs_per_pairing = max(1, SAMPLE // len(pairings))
        sample: list[SampledPair] = []
        for pairing in pairings:
            for image in few([*pairing.pairs], pairs_per_pairing):
                sample.append(SampledPair(pairing, image, pairing.pairs[image]))
        return sample

    @property
    def image_words(self) -> str:
        """The folders of the images for a message, with the pattern of their names."""
        return _in_words([p.images.folder for p in self.pairings], self.pairings[0].image_name)

    @property
    def mask_words(self) -> str:
        """The folders of the masks for a message, likewise."""
        return _in_words([p.masks.folder for p in self.pairings], self.pairings[0].mask_name)


def _is_called_augmented(folder: str) -> bool:
    return any(word.startswith("aug") for word in words(folder))


def _in_words(folders: Iterable[str], pattern: str) -> str:
    """Returns the first of some folders with the pattern of the files in it, and how many more."""
    first, *more = dict.fromkeys(folder or "." for folder in folders)
    if pattern:
        first = posixpath.normpath(posixpath.join(first, pattern))
    return f"{first} and {len(more)} more folders" if more else first


def _includes(
    outer: Mapping[FileSet, Mapping[str, object]], inner: Mapping[FileSet, Mapping[str, object]]
) -> bool:
    """Says whether the files of `inner` are all among those of `outer`."""
    for files, names in inner.items():
        if files not in outer or not names.keys() <= outer[files].keys():
            return False
    return True


def list_candidates(
    pairings: Iterable[Pairing], role_key: Callable[[Pairing], Hashable]
) -> list[PairingCandidate]:
    """Returns the candidates of a folder, those of the most folders first.

    Args:
      pairings: all pairings of the folder.
      role_key: what names say that the files of a pairing are; it is the same for all pairings of
        a candidate.
    """
    alike: dict[Hashable, list[Pairing]] = {}
    for pairing in pairings:
        alike.setdefault((_arrangement_of(pairing), role_key(pairing)), []).append(pairing)
    candidates: list[PairingCandidate] = []
    for group in alike.values():
        for same_kind in _separate_from_splits(group):
            candidates += _without_common_files(same_kind)
    return sorted(candidates, key=lambda candidate: -len(candidate.pairings))


@dataclasses.dataclass(frozen=True)
class _Arrangement:
    """How the folders of images and masks lie to each other, and how files in them are named.

    The words of splits do not count, but whether folders have some.

    Attributes:
      depth: how many folders above both have.
      common_end: how many folders both end with.
      image_folders: the names of the folders in between that only images have.
      mask_folders: those that only masks have.
      are_of_one_split: whether both are called as the same split, or as none.
      are_images_of_split: whether only the folder of images is called as a split.
      image_name: the pattern of the images' names.
      mask_name: the pattern of the masks' names.
    """

    depth: int
    common_end: int
    image_folders: tuple[str, ...]
    mask_folders: tuple[str, ...]
    are_of_one_split: bool
    are_images_of_split: bool
    image_name: str
    mask_name: str


def _arrangement_of(pairing: Pairing) -> Hashable:
    """Returns what is the same for folders that lie to each other alike and are named alike.

    It is the same for `train/images` with `train/masks` and `val/images` with `val/masks`, for
    `s1/images` with `s1/masks` and `s2/images` with `s2/masks`, and for `images/ulm` with
    `masks/ulm` and `images/bonn` with `masks/bonn`. Folders of two splits are like no others.
    """
    image_split, mask_split = pairing.splits
    if image_split and mask_split and image_split != mask_split:
        return pairing.folders, pairing.image_name, pairing.mask_name
    image_folder, mask_folder = (without_split_word(folder) for folder in pairing.folders)
    top = common_folder([image_folder, mask_folder])
    image_parts, mask_parts = _parts_below(image_folder, top), _parts_below(mask_folder, top)
    common_end = 0
    while image_parts and mask_parts and image_parts[-1] == mask_parts[-1]:
        image_parts.pop()
        mask_parts.pop()
        common_end += 1
    return _Arrangement(
        depth=len(_parts_below(top, "")),
        common_end=common_end,
        image_folders=tuple(image_parts),
        mask_folders=tuple(mask_parts),
        are_of_one_split=image_split == mask_split,
        are_images_of_split=bool(image_split) and not mask_split,
        image_name=pairing.image_name,
        mask_name=pairing.mask_name,
    )


def _parts_below(folder: str, top: str) -> list[str]:
    """Returns the names of the folders between a folder and one above it."""
    path = folder[len(top) :].strip("/")
    return path.split("/") if path else []


def _separate_from_splits(pairings: list[Pairing]) -> list[list[Pairing]]:
    """Separates folders without the name of a split from others, if one is called train.

    If none is called train, the folders without a name are train.
    """
    of_splits = [pairing for pairing in pairings if any(pairing.splits)]
    others = [pairing for pairing in pairings if not any(pairing.splits)]
    if others and any("train" in pairing.splits for pairing in of_splits):
        return [of_splits, others]
    return [pairings]


def _without_common_files(pairings: Iterable[Pairing]) -> list[PairingCandidate]:
    """Makes candidates of pairings that lie alike: one, unless a file is in two of the pairings."""
    groups: list[_DisjointPairings] = []
    for pairing in pairings:
        group = _first_disjoint(groups, pairing)
        if group is None:
            group = _DisjointPairings()
            groups.append(group)
        group.add(pairing)
    return [PairingCandidate(tuple(group.pairings)) for group in groups]


def _first_disjoint(
    groups: Iterable["_DisjointPairings"], pairing: Pairing
) -> "_DisjointPairings | None":
    for group in groups:
        if group.is_apart_from(pairing):
            return group
    return None


class _DisjointPairings:
    """Pairings that have no file in common."""

    def __init__(self) -> None:
        self.pairings: list[Pairing] = []
        self._images: dict[str, list[str]] = {}
        self._masks: dict[str, list[str]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing that is apart from the others."""
        images, masks = _files(pairing)
        self.pairings.append(pairing)
        self._images.setdefault(pairing.images.folder, []).extend(images)
        self._masks.setdefault(pairing.masks.folder, []).extend(masks)

    def is_apart_from(self, pairing: Pairing) -> bool:
        """Says whether a pairing has no file in common with those of the group."""
        images, masks = _files(pairing)
        other_images = self._images.get(pairing.images.folder, ())
        other_masks = self._masks.get(pairing.masks.folder, ())
        return set(images).isdisjoint(other_images) and set(masks).isdisjoint(other_masks)


def _files(pairing: Pairing) -> tuple[list[str], list[str]]:
    """Returns the names of the paired images and masks in their folders."""
    images = [pairing.images.names[stem] for stem in pairing.pairs]
    masks = [pairing.masks.names[stem] for stem in pairing.pairs.values()]
    return images, masks
