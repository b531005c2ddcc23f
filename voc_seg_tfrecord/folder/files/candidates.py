"""The candidates of the files step: folders of images and masks with the same relative position.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`. A candidate is chosen or loses as a whole.

A stem is the name of a file without its ending.
"""

import collections
from collections.abc import Callable, Hashable, Iterable, Mapping
import dataclasses
import functools
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.endings import ending_of
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import SAMPLE, Pairing, few
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names


class FileInSet(NamedTuple):
    """A file, as a set of files and its stem in it."""

    files: FileSet
    stem: str

    @property
    def path(self) -> str:
        """The path below the root of the listing."""
        return self.files.path(self.stem)


PartnerByFile = Mapping[FileSet, Mapping[str, FileInSet]]
"""The image of each mask, or the mask of each image: `partners[files][stem]`.

It has two levels so that sets of files, which compare all of their names, are looked up seldom.
"""


class SampledPair(NamedTuple):
    """An image and its mask, by their stems, in a pairing."""

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

    The pairings have the same relative position (see `_Arrangement`), their files are named alike,
    and names tell the same roles. So properties of the words in names read the first
    pairing, which stands for all. Properties of files read all pairings.

    Attributes:
      pairings: the folders of images with those of their masks. No image is in two of them, and no
        mask is.
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
    def shared_word_count(self) -> int:
        """How many words the folder of images shares with that of masks, without words of splits.

        More shared words are evidence that the two folders belong together: `kitchen_images` shares
        1 with `kitchen_masks`, and none with `garden_masks`.
        """
        image_folder, mask_folder = self._folders_without_split
        image_words = collections.Counter(words(image_folder))
        mask_words = collections.Counter(words(mask_folder))
        return (image_words & mask_words).total()

    @functools.cached_property
    def different_word_count(self) -> int:
        """How many words only one of the two folders has, likewise.

        Example: 2 for `kitchen_images` with `kitchen_masks`.
        """
        image_folder, mask_folder = self._folders_without_split
        word_count = len(words(image_folder)) + len(words(mask_folder))
        return word_count - 2 * self.shared_word_count

    @property
    def _folders_without_split(self) -> list[str]:
        """The folders of images and masks, without the word of a split."""
        return [without_split_word(folder) for folder in self.pairings[0].folders]

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.pairings[0].is_flat

    @property
    def image_and_mask_splits_differ(self) -> bool:
        """Whether the names of the two folders have different splits: `train` with `val_masks`."""
        return _have_different_splits(self.pairings[0])

    @property
    def has_split_folders(self) -> bool:
        """Whether each folder of images has the name of a split."""
        return all(pairing.is_of_split for pairing in self.pairings)

    @property
    def pairs_few_masks_by_number(self) -> bool:
        """See `Pairing.pairs_few_masks_by_number`."""
        return any(pairing.pairs_few_masks_by_number for pairing in self.pairings)

    @property
    def has_arrays_as_masks(self) -> bool:
        """Whether all masks are files of arrays."""
        for files in self.mask_sets:
            if not all(ending_of(name) == ".npy" for name in files.names.values()):
                return False
        return True

    @property
    def has_augmented_images(self) -> bool:
        """Whether the images alone lie in a folder that is called as augmented ones are."""
        image_folder, mask_folder = self.pairings[0].folders
        return _is_called_augmented(image_folder) and not _is_called_augmented(mask_folder)

    @functools.cached_property
    def image_of_mask(self) -> PartnerByFile:
        """The image of each mask."""
        images: dict[FileSet, dict[str, FileInSet]] = {}
        for pairing in self.pairings:
            image_by_mask = images.setdefault(pairing.masks, {})
            for image, mask in pairing.pairs.items():
                image_by_mask[mask] = FileInSet(pairing.images, image)
        return images

    @functools.cached_property
    def mask_of_image(self) -> PartnerByFile:
        """The mask of each image."""
        masks: dict[FileSet, dict[str, FileInSet]] = {}
        for pairing in self.pairings:
            mask_by_image = masks.setdefault(pairing.images, {})
            for image, mask in pairing.pairs.items():
                mask_by_image[image] = FileInSet(pairing.masks, mask)
        return masks

    def shares_images_with(self, other: "PairingCandidate") -> bool:
        """Says whether both have files of images in common."""
        return not self.image_sets.isdisjoint(other.image_sets)

    def shares_masks_with(self, other: "PairingCandidate") -> bool:
        """Says whether both have files of masks in common."""
        return not self.mask_sets.isdisjoint(other.mask_sets)

    def has_all_masks_of(self, other: "PairingCandidate") -> bool:
        """Says whether this has an image for each mask for which the other one has one."""
        return _has_all_files(self.image_of_mask, other.image_of_mask)

    def has_all_images_of(self, other: "PairingCandidate") -> bool:
        """Says whether this has a mask for each image for which the other one has one."""
        return _has_all_files(self.mask_of_image, other.mask_of_image)

    def sample(self) -> list[SampledPair]:
        """Returns a few pairs, spread over all folders."""
        pairings = few(self.pairings)
        pairs_per_pairing = max(1, SAMPLE // len(pairings))
        sample: list[SampledPair] = []
        for pairing in pairings:
            for image in few([*pairing.pairs], pairs_per_pairing):
                sample.append(SampledPair(pairing, image, pairing.pairs[image]))
        return sample

    def describe_images(self) -> str:
        """Returns the folders of the images for a message, with the pattern of their names."""
        folders = [pairing.images.folder for pairing in self.pairings]
        return _describe_folders(folders, self.pairings[0].image_name)

    def describe_masks(self) -> str:
        """Returns the folders of the masks for a message, likewise."""
        folders = [pairing.masks.folder for pairing in self.pairings]
        return _describe_folders(folders, self.pairings[0].mask_name)


def list_pairings(candidates: Iterable[PairingCandidate]) -> list[Pairing]:
    """Returns the pairings of candidates, in their order."""
    return [pairing for candidate in candidates for pairing in candidate.pairings]


def _is_called_augmented(folder: str) -> bool:
    return any(word.startswith("aug") for word in words(folder))


def _have_different_splits(pairing: Pairing) -> bool:
    """Says whether both folders have the name of a split, and not of the same one."""
    image_split, mask_split = pairing.splits
    return bool(image_split) and bool(mask_split) and image_split != mask_split


def _describe_folders(folders: Iterable[str], pattern: str) -> str:
    """Returns the first of some folders with a pattern of names, and how many more folders.

    Example: `train/{id}_mask.png and 1 more folder`.
    """
    different_folders = list(dict.fromkeys(folders))
    first_folder = different_folders[0] or "."
    description = posixpath.normpath(posixpath.join(first_folder, pattern))
    if len(different_folders) == 1:
        return description
    return f"{description} and {counted(len(different_folders) - 1, 'more folder')}"


def _has_all_files(outer: PartnerByFile, inner: PartnerByFile) -> bool:
    """Says whether the files with a partner in `inner` all have one in `outer`."""
    for files, partners in inner.items():
        if files not in outer or not partners.keys() <= outer[files].keys():
            return False
    return True


def list_candidates(
    pairings: Iterable[Pairing], role_key: Callable[[Pairing], Hashable]
) -> list[PairingCandidate]:
    """Returns the candidates of a folder, those of the most folders first.

    Args:
      pairings: all pairings of the folder.
      role_key: returns the roles that names of a pairing's folders and files tell of its images
        and masks. Pairings of different keys are in different candidates.
    """
    pairings_by_key: dict[Hashable, list[Pairing]] = {}
    for pairing in pairings:
        key = (_arrangement_of(pairing), role_key(pairing))
        pairings_by_key.setdefault(key, []).append(pairing)
    candidates: list[PairingCandidate] = []
    for group in pairings_by_key.values():
        for same_kind in _separate_from_splits(group):
            candidates += _separate_overlapping(same_kind)
    return sorted(candidates, key=lambda candidate: -len(candidate.pairings))


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Arrangement:
    """The relative position of the folders of images and masks, and how files in them are named.

    It is the same for

    - `train/images` with `train/masks`, and `val/images` with `val/masks`;
    - `s1/images` with `s1/masks`, and `s2/images` with `s2/masks`;
    - `images/ulm` with `masks/ulm`, and `images/bonn` with `masks/bonn`.

    The words of splits are left out of folders; whether a folder has one is not.

    Attributes:
      image_name: the pattern of the images' names.
      mask_name: the pattern of the masks' names.
      depth: how many folders above both have.
      common_end_depth: how many folders at their ends have the same names.
      image_folders: the names of the folders in between that only images have.
      mask_folders: those that only masks have.
      same_split: whether both folders have the name of the same split, or of none.
      only_images_have_split: whether only the folder of images has the name of a split.
    """

    image_name: str
    mask_name: str
    depth: int
    common_end_depth: int
    image_folders: tuple[str, ...]
    mask_folders: tuple[str, ...]
    same_split: bool
    only_images_have_split: bool


@dataclasses.dataclass(frozen=True)
class _FoldersOfTwoSplits:
    """Folders of images and masks that have the names of different splits: `train` and `val_masks`.

    They lie to each other like no other folders do.

    Attributes:
      folders: both folders.
      image_name: the pattern of the images' names.
      mask_name: the pattern of the masks' names.
    """

    folders: tuple[str, str]
    image_name: str
    mask_name: str


def _arrangement_of(pairing: Pairing) -> _Arrangement | _FoldersOfTwoSplits:
    """Returns the relative position of the folders of a pairing."""
    if _have_different_splits(pairing):
        return _FoldersOfTwoSplits(pairing.folders, pairing.image_name, pairing.mask_name)
    image_split, mask_split = pairing.splits
    image_folder, mask_folder = (without_split_word(folder) for folder in pairing.folders)
    top = common_folder([image_folder, mask_folder])
    depth = len(folder_names(top))
    image_parts = folder_names(image_folder)[depth:]
    mask_parts = folder_names(mask_folder)[depth:]
    # `images/ulm` and `masks/ulm` become `images` and `masks`, with a common end of 1.
    common_end_depth = 0
    while image_parts and mask_parts and image_parts[-1] == mask_parts[-1]:
        image_parts.pop()
        mask_parts.pop()
        common_end_depth += 1
    return _Arrangement(
        image_name=pairing.image_name,
        mask_name=pairing.mask_name,
        depth=depth,
        common_end_depth=common_end_depth,
        image_folders=tuple(image_parts),
        mask_folders=tuple(mask_parts),
        same_split=image_split == mask_split,
        only_images_have_split=bool(image_split) and not mask_split,
    )


def _separate_from_splits(pairings: list[Pairing]) -> list[list[Pairing]]:
    """Separates folders without the name of a split from folders of splits, if one is train.

    - `images`, `images_train` and `images_val`: two groups, `images` alone and the other two.
    - `images` and `images_val`: one group, in which `images` is train.
    """
    of_splits = [pairing for pairing in pairings if any(pairing.splits)]
    others = [pairing for pairing in pairings if not any(pairing.splits)]
    has_train = any("train" in pairing.splits for pairing in of_splits)
    if others and has_train:
        return [of_splits, others]
    return [pairings]


def _separate_overlapping(pairings: Iterable[Pairing]) -> list[PairingCandidate]:
    """Makes candidates of pairings that are alike: one, unless an image or a mask is in two.

    Each pairing goes to the first candidate in which its images and masks are new.
    """
    groups: list[_DisjointPairings] = []
    for pairing in pairings:
        group = next((group for group in groups if group.is_apart_from(pairing)), None)
        if group is None:
            group = _DisjointPairings()
            groups.append(group)
        group.add(pairing)
    return [PairingCandidate(tuple(group.pairings)) for group in groups]


class _DisjointPairings:
    """Pairings of which no two have an image in common, or a mask.

    Names are kept by folder, so that a pairing of other folders needs no comparison.
    """

    def __init__(self) -> None:
        self.pairings: list[Pairing] = []
        self._images_by_folder: dict[str, set[str]] = {}
        self._masks_by_folder: dict[str, set[str]] = {}

    def add(self, pairing: Pairing) -> None:
        """Adds a pairing that is apart from the others."""
        self.pairings.append(pairing)
        images = self._images_by_folder.setdefault(pairing.images.folder, set())
        images.update(_image_names(pairing))
        masks = self._masks_by_folder.setdefault(pairing.masks.folder, set())
        masks.update(_mask_names(pairing))

    def is_apart_from(self, pairing: Pairing) -> bool:
        """Says whether no image and no mask of a pairing is in the group."""
        images = self._images_by_folder.get(pairing.images.folder, set())
        masks = self._masks_by_folder.get(pairing.masks.folder, set())
        return images.isdisjoint(_image_names(pairing)) and masks.isdisjoint(_mask_names(pairing))


def _image_names(pairing: Pairing) -> list[str]:
    """Returns the names of the images that have a mask."""
    return [pairing.images.names[stem] for stem in pairing.pairs]


def _mask_names(pairing: Pairing) -> list[str]:
    """Returns the names of the masks that have an image."""
    return [pairing.masks.names[stem] for stem in pairing.pairs.values()]
