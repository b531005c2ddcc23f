"""A candidate of the files step: folders of images and masks with the same relative position.

`arrangements` makes the candidates. Each is chosen or loses as a whole.

A stem is the name of a file without its ending.
"""

import collections
from collections.abc import Iterable, Mapping
import dataclasses
import functools
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import SAMPLE, Pairing, few
from voc_seg_tfrecord.folder.tree.endings import ending_of


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

    The pairings have the same relative position (see `arrangements`), their files are named alike,
    and names tell the same roles. So properties of the words in names read the first pairing alone,
    `_representative`. Properties of files read all pairings.

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

    @property
    def _representative(self) -> Pairing:
        """The pairing whose names stand for those of all."""
        return self.pairings[0]

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
        """How many words only one of the two folders has, without words of splits.

        Example: 2 for `kitchen_images` with `kitchen_masks`.
        """
        image_folder, mask_folder = self._folders_without_split
        word_count = len(words(image_folder)) + len(words(mask_folder))
        return word_count - 2 * self.shared_word_count

    @property
    def _folders_without_split(self) -> list[str]:
        """The folders of images and masks, without the word of a split."""
        return [without_split_word(folder) for folder in self._representative.folders]

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self._representative.is_flat

    @property
    def image_and_mask_splits_differ(self) -> bool:
        """See `Pairing.image_and_mask_splits_differ`."""
        return self._representative.image_and_mask_splits_differ

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

    def describe_masks(self) -> str:
        """Returns the folders of the masks for a message, likewise."""
        folders = [pairing.masks.folder for pairing in self.pairings]
        return _describe_folders(folders, self._representative.mask_name)


def list_pairings(candidates: Iterable[PairingCandidate]) -> list[Pairing]:
    """Returns the pairings of candidates, in their order."""
    return [pairing for candidate in candidates for pairing in candidate.pairings]


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
