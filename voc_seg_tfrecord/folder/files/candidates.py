"""A candidate of the files step: folders of images and masks with the same relative position.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`. A candidate is chosen or loses as a whole.

A stem is the name of a file without its ending.
"""

import collections
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
import dataclasses
import functools
import operator
import posixpath
import re

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.words import EXTRA_WORDS, words
from voc_seg_tfrecord.folder.files.align import Affix, core_of
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import (
    list_roles,
    role_of_name,
    without_split_word,
)
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.pairings import SAMPLE, Pairing, few
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names


class FileEvidence:
    """What the rules look at beside the candidates.

    Args:
      given: the folder, and the user's options.
      pairings: all pairings of the folder.

    Attributes:
      given: see above.
      looks: what files show. No file is opened twice for one question.
      common: the folder in which all files of all pairings lie.
    """

    def __init__(self, given: GivenLayout, pairings: Iterable[Pairing]):
        self.given = given
        self.looks = given.looks
        self.common = common_folder([folder for p in pairings for folder in p.folders])
        self._roles: dict[tuple[str, str, bool], str] = {}

    def role(self, files: FileSet, affix: Affix, *, is_flat: bool = False) -> str:
        """Returns the role in names of files and folders: `images`, `masks`, `drawn` or empty.

        Args:
          files: the files.
          affix: what their names have around the ids, and those of their other halves do not have.
          is_flat: whether images and masks lie in one folder. The name of such a folder gives no
            role, except `drawn`.
        """
        key = (files.folder, " ".join([*files.affix, *affix]), is_flat)
        if key not in self._roles:
            self._roles[key] = self._find_role(*key)
        return self._roles[key]

    def _find_role(self, folder: str, affixes: str, is_flat: bool) -> str:
        own_role = role_of_name(affixes)
        roles_of_folders = list_roles(posixpath.relpath(folder or ".", self.common or "."))
        if "drawn" in (own_role, *roles_of_folders):
            return "drawn"
        if not is_flat and roles_of_folders:
            return roles_of_folders[0]
        return own_role

    def image_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the images of a pairing."""
        return self.role(pairing.images, pairing.image_affix, is_flat=pairing.is_flat)

    def mask_role(self, pairing: Pairing) -> str:
        """Returns the role that names give the masks of a pairing."""
        return self.role(pairing.masks, pairing.mask_affix, is_flat=pairing.is_flat)

    def lies_among_masks(self, pairing: Pairing) -> bool:
        """Says whether the images of a pairing lie in a folder that is called masks."""
        return self.role(pairing.images, pairing.image_affix) == "masks"


@dataclasses.dataclass(frozen=True)
class PairingCandidate:
    """Folders of images and masks that may be the set, or a part of it.

    The pairings have the same relative position, their files are named alike, and names tell the
    same roles. So properties of the words in names read the first pairing alone, and properties of
    files read all.

    Attributes:
      pairings: the folders of images with those of their masks. No image is in two of them, and no
        mask is.
      image_role: what names tell of the images: `images`, `masks`, `drawn` or empty.
      mask_role: what names tell of the masks.
    """

    pairings: tuple[Pairing, ...]
    image_role: str
    mask_role: str

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
    def mask_of_image(self) -> Mapping[str, str]:
        """The path of each image's mask."""
        return {
            image: mask
            for pairing in self.pairings
            for image, mask in zip(*pairing.paths(), strict=True)
        }

    @functools.cached_property
    def image_of_mask(self) -> Mapping[str, str]:
        """The path of each mask's image."""
        return {mask: image for image, mask in self.mask_of_image.items()}

    @functools.cached_property
    def shared_word_count(self) -> int:
        """How many words the folder of images shares with that of masks, without words of splits.

        More shared words are evidence that the two folders belong together: `kitchen_images` shares
        1 with `kitchen_masks`, and none with `garden_masks`.
        """
        folders = map(without_split_word, self.pairings[0].folders)
        image_words, mask_words = (collections.Counter(words(folder)) for folder in folders)
        return (image_words & mask_words).total()

    def shares_images_with(self, other: "PairingCandidate") -> bool:
        """Says whether both have files of images in common."""
        return not self.image_sets.isdisjoint(other.image_sets)

    def shares_masks_with(self, other: "PairingCandidate") -> bool:
        """Says whether both have files of masks in common."""
        return not self.mask_sets.isdisjoint(other.mask_sets)

    def has_all_masks_of(self, other: "PairingCandidate") -> bool:
        """Says whether this has an image for each mask for which the other one has one."""
        return other.image_of_mask.keys() <= self.image_of_mask.keys()

    def sample(self) -> list[tuple[str, str]]:
        """Returns the paths of a few images and of their masks, spread over all folders."""
        pairings = few(self.pairings)
        pairs_per_pairing = max(1, SAMPLE // len(pairings))
        sample: list[tuple[str, str]] = []
        for pairing in pairings:
            for image in few([*pairing.pairs], pairs_per_pairing):
                mask = pairing.pairs[image]
                sample.append((pairing.images.path(image), pairing.masks.path(mask)))
        return sample

    def describe_masks(self) -> str:
        """Returns the masks for a message, such as `train/{id}_mask.png and 1 more folder`."""
        folders = [*dict.fromkeys(pairing.masks.folder for pairing in self.pairings)]
        pattern = posixpath.join(folders[0] or ".", self.pairings[0].mask_name)
        description = posixpath.normpath(pattern)
        if len(folders) > 1:
            description += f" and {counted(len(folders) - 1, 'more folder')}"
        return description


@dataclasses.dataclass(frozen=True)
class FileChoice:
    """The outcome of choosing among the pairings of a folder.

    Attributes:
      pairings: all pairings of the folder.
      chosen: the pairings that make the set.
      rivals: groups of pairings between which the user has to choose.
      copied_folders: folders of images and masks that are copies or drawings of chosen ones.
      notes: which other masks the images have, and why they are not used.
    """

    pairings: Sequence[Pairing] = dataclasses.field(hash=False)
    chosen: tuple[Pairing, ...] = ()
    rivals: tuple[tuple[Pairing, ...], ...] = ()
    copied_folders: Sequence[str] = ()
    notes: Sequence[str] = ()


def list_candidates(pairings: Sequence[Pairing], evidence: FileEvidence) -> list[PairingCandidate]:
    """Returns the candidates whose names do not forbid them, those of the most pairings first."""
    pairings_by_key: dict[tuple[Hashable, ...], list[Pairing]] = {}
    for pairing in _list_possible(pairings, evidence):
        position = position_of(pairing)
        words_of_folder = words(common_folder(pairing.folders))
        is_extra = not EXTRA_WORDS.isdisjoint(words_of_folder)
        roles = (evidence.image_role(pairing), evidence.mask_role(pairing))
        pairings_by_key.setdefault((position, is_extra, *roles), []).append(pairing)
    candidates: list[PairingCandidate] = []
    for group in pairings_by_key.values():
        roles = (evidence.image_role(group[0]), evidence.mask_role(group[0]))
        for disjoint in _separate_overlapping(group):
            candidates.append(PairingCandidate(tuple(disjoint), *roles))
    return sorted(candidates, key=lambda candidate: -len(candidate.pairings))


def _list_possible(pairings: Sequence[Pairing], evidence: FileEvidence) -> list[Pairing]:
    """Returns the pairings whose images are not called masks or drawings, nor masks images.

    Images that are called masks are possible if they lie in one folder with their masks and are
    masks of nothing: `1_mask.png` is no image of `1_mask_small.png` if it is the mask of `1.jpg`.
    """
    possible: list[Pairing] = []
    with_images_called_masks: list[Pairing] = []
    for pairing in pairings:
        if evidence.mask_role(pairing) == "images":
            continue
        image_role = evidence.image_role(pairing)
        if image_role not in ("masks", "drawn"):
            possible.append(pairing)
        elif image_role == "masks" and pairing.is_flat:
            with_images_called_masks.append(pairing)
    all_masks = [pairing.masks for pairing in possible]
    for pairing in with_images_called_masks:
        if not any(masks.has_first_of(pairing.images) for masks in all_masks):
            possible.append(pairing)
    return possible


def position_of(pairing: Pairing) -> Hashable:
    """Returns the relative position of the folders of images and masks, and how files are named.

    It is the same for

    - `train/images` with `train/masks`, and `val/images` with `val/masks`;
    - `s1/images` with `s1/masks`, and `s2/images` with `s2/masks`;
    - `images/ulm` with `masks/ulm`, and `images/bonn` with `masks/bonn`.

    The words of splits are left out of folders; whether a folder has one is not. Folders of two
    splits, such as `train` and `val_masks`, have a position of their own.
    """
    names = (pairing.image_name, pairing.mask_name)
    if pairing.image_and_mask_splits_differ:
        return pairing.folders, names
    image_split, mask_split = pairing.splits
    image_folder, mask_folder = map(without_split_word, pairing.folders)
    depth = len(folder_names(common_folder([image_folder, mask_folder])))
    only_images_have = folder_names(image_folder)[depth:]
    only_masks_have = folder_names(mask_folder)[depth:]
    # `images/ulm` and `masks/ulm` become `images` and `masks`, with a common end of 1.
    common_end = 0
    while only_images_have and only_masks_have and only_images_have[-1] == only_masks_have[-1]:
        only_images_have.pop()
        only_masks_have.pop()
        common_end += 1
    folders = (depth, common_end, tuple(only_images_have), tuple(only_masks_have))
    has_split = (image_split == mask_split, bool(image_split) and not mask_split)
    return folders, has_split, names


def _separate_overlapping(pairings: list[Pairing]) -> list[list[Pairing]]:
    """Groups pairings that are alike: into one group, unless an image or a mask is in two.

    Each pairing goes to the first group in which its images and masks are new.
    """
    if len(pairings) == 1:
        return [pairings]
    groups: list[tuple[list[Pairing], set[str], set[str]]] = []
    for pairing in pairings:
        images, masks = pairing.paths()
        for group, images_of_group, masks_of_group in groups:
            if images_of_group.isdisjoint(images) and masks_of_group.isdisjoint(masks):
                group.append(pairing)
                images_of_group.update(images)
                masks_of_group.update(masks)
                break
        else:
            groups.append(([pairing], {*images}, {*masks}))
    return [group for group, *_ in groups]


def list_pairings(candidates: Iterable[PairingCandidate]) -> list[Pairing]:
    """Returns the pairings of candidates, in their order."""
    return [pairing for candidate in candidates for pairing in candidate.pairings]


_DATE = r"\d{6,}"
_DATE_OR_NUMBER_OF_FOLDER = re.compile(rf"{_DATE}|(?<=[^\W\d_])\d$")


def are_parts_of_one_set(pairings: Sequence[Pairing], are_same: Callable[[str, str], bool]) -> bool:
    """Says whether pairings that no layout has as one set differ in a number alone.

    | the images of the pairings | the number |
    | --- | --- |
    | `20180807/cam/20180807_cam_{id}`, `20180925/cam/20180925_cam_{id}` | the date in the names |
    | `images/{id}`, `images2/{id}` | at the end of the folders of images and masks |

    Sizes and scales have no date, and more digits or a sign before them: `images_512`,
    `images_x2`. In the first case no image is there again. In the second case no id is: `images2`
    may show `images` in another size.

    Args:
      pairings: the pairings.
      are_same: says whether the files at two paths have the same bytes.
    """
    if len(pairings) < 2:  # one that has no layout: images of train with masks of validation
        return False
    names = [(*p.folders, p.image_name, p.mask_name) for p in pairings]
    without_number = [
        tuple(_DATE_OR_NUMBER_OF_FOLDER.sub("", text) for text in texts) for texts in names
    ]
    have_dates = all(re.search(_DATE, pairing.image_name) for pairing in pairings)
    is_one_without_number = any(map(operator.eq, names, without_number))
    if len({*without_number}) > 1 or not (have_dates or is_one_without_number):
        return False
    path_by_id: dict[str, str] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            path = pairing.images.path(stem)
            first_path = path_by_id.setdefault(core_of(stem, pairing.image_affix), path)
            if first_path != path and (not have_dates or are_same(first_path, path)):
                return False
    return True
