"""A candidate of the files step: folders of images and masks with the same relative position.

`train/images` with `train/masks` and `val/images` with `val/masks` are one candidate, and so are
ten scenes that each have `images` and `masks`. A candidate is chosen or loses as a whole.

A stem is the name of a file without its ending.
"""

import collections
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.role_words import EXTRA_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.align import core_of
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import without_split_word
from voc_seg_tfrecord.folder.files.pairings import SAMPLE, Pairing, few
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names


@dataclasses.dataclass(frozen=True)
class PairingCandidate:
    """Folders of images and masks that may be the set, or a part of it.

    The pairings have the same relative position, their files are named alike, and names tell the
    same roles. So properties of the words in names read the first pairing alone, `_representative`.
    Properties of files read all pairings.

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
        image_words, mask_words = self._words_of_folders
        return (image_words & mask_words).total()

    @functools.cached_property
    def different_word_count(self) -> int:
        """How many words only one of the two folders has, without words of splits.

        Example: 2 for `kitchen_images` with `kitchen_masks`.
        """
        image_words, mask_words = self._words_of_folders
        return image_words.total() + mask_words.total() - 2 * self.shared_word_count

    @property
    def _words_of_folders(self) -> list[collections.Counter[str]]:
        """The words of the folders of images and masks, without the word of a split."""
        folders = self._representative.folders
        return [collections.Counter(words(without_split_word(folder))) for folder in folders]

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
        pattern = posixpath.join(folders[0] or ".", self._representative.mask_name)
        description = posixpath.normpath(pattern)
        if len(folders) > 1:
            description += f" and {counted(len(folders) - 1, 'more folder')}"
        return description


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
    return _position_of_folders(pairing), pairing.image_name, pairing.mask_name


def _position_of_folders(pairing: Pairing) -> Hashable:
    if pairing.image_and_mask_splits_differ:
        return pairing.folders
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
    return folders, has_split


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


_DATE = re.compile(r"\d{6,}")
_NUMBER_OF_FOLDER = re.compile(r"(?<=[^\W\d_])\d$")


def are_parts_of_one_set(pairings: Sequence[Pairing], are_same: Callable[[str, str], bool]) -> bool:
    """Says whether pairings that no layout has as one set differ in a number alone.

    | the images of the pairings | the number |
    | --- | --- |
    | `20180807/cam/20180807_cam_{id}`, `20180925/cam/20180925_cam_{id}` | the date in the names |
    | `images/{id}`, `images2/{id}` | at the end of the folders of images and masks |

    In the first case it is in the path, too, and has six digits, so that it is no size; and no
    image is there again. In the second case no id is: `images2` may show `images` in another size.

    Args:
      pairings: the pairings.
      are_same: says whether the files at two paths have the same bytes.
    """
    patterns = [(pairing.image_name, pairing.mask_name) for pairing in pairings]
    positions_of_any_date: set[Hashable] = set()
    for pairing, names in zip(pairings, patterns, strict=True):
        names_of_any_date = [_DATE.sub("", name) for name in names]
        positions_of_any_date.add((_position_of_folders(pairing), *names_of_any_date))
    if len(positions_of_any_date) > 1:
        return _are_numbered(pairings) and not any(_images_of_one_id(pairings))
    for pairing, names in zip(pairings, patterns, strict=True):
        dates = {*_DATE.findall(" ".join(names))}
        digits_of_folder = re.sub(r"\D", "", common_folder(pairing.folders))
        if len(dates) != 1 or dates.pop() not in digits_of_folder:
            return False
    return not any(are_same(*paths) for paths in _images_of_one_id(pairings))


def _images_of_one_id(pairings: Sequence[Pairing]) -> Iterator[tuple[str, str]]:
    """Yields the first image of each id and another one that another pairing has."""
    path_by_id: dict[str, str] = {}
    for pairing in pairings:
        for stem in pairing.pairs:
            path = pairing.images.path(stem)
            first_path = path_by_id.setdefault(core_of(stem, pairing.image_affix), path)
            if first_path != path:
                yield first_path, path


def _are_numbered(pairings: Iterable[Pairing]) -> bool:
    """Says whether the folders are those of one pairing, with one more digit: `images2`, `masks2`.

    Sizes and scales have more digits, or a sign before them: `images_512`, `images_x2`.
    """
    arrangements: set[Hashable] = set()
    numbers_of_pairings: list[set[str]] = []
    for pairing in pairings:
        without_number = [_NUMBER_OF_FOLDER.sub("", folder) for folder in pairing.folders]
        numbers = {
            folder.removeprefix(shorter)
            for folder, shorter in zip(pairing.folders, without_number, strict=True)
        }
        numbers_of_pairings.append(numbers)
        arrangements.add((*without_number, pairing.image_name, pairing.mask_name))
    have_one_number = all(len(numbers) == 1 for numbers in numbers_of_pairings)
    return have_one_number and {""} in numbers_of_pairings and len(arrangements) == 1
