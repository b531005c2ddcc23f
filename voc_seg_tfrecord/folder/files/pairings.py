"""All pairings of a folder: files that may be images, files that may be masks, how names pair.

Nothing is chosen here, and no file is opened; `choice` does both. The names of folders do not count
here either: whatever pairs by its name is a pairing.
"""

import collections
from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
from typing import TypeVar

from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.words import EXTRA_WORDS, ROLE_WORDS, words
from voc_seg_tfrecord.folder.files.align import (
    NO_AFFIX,
    Affix,
    AffixPair,
    cut_stems,
    find_affixes,
)
from voc_seg_tfrecord.folder.files.file_sets import FileSet, PatternKey
from voc_seg_tfrecord.folder.files.folder_names import find_split_word, split_of
from voc_seg_tfrecord.tools.nnunet import FIRST_CHANNEL, is_split_word

_Item = TypeVar("_Item")

SAMPLE = 6
"""Files of a set that are opened, at most."""
_MAX_COMPARED_SETS = 80
"""Of so many sets each two are compared, whatever their folders, and each with so many near it."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """Images and masks that belong together by their names: one folder of each.

    Attributes:
      images: the files of the images.
      masks: the files of the masks.
      image_affix: what the images' names have around the id.
      mask_affix: what the masks' names have around it.
      pairs: the mask of each image, both by their keys in the sets.
    """

    images: FileSet
    masks: FileSet
    image_affix: Affix
    mask_affix: Affix
    pairs: Mapping[str, str] = dataclasses.field(hash=False)

    @property
    def folders(self) -> tuple[str, str]:
        """The folders of images and of masks."""
        return self.images.folder, self.masks.folder

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images.folder == self.masks.folder

    @functools.cached_property
    def splits(self) -> tuple[str, str]:
        """The splits as which the two folders are called; of none, the empty text."""
        return split_of(self.images.folder), split_of(self.masks.folder)

    @property
    def image_and_mask_splits_differ(self) -> bool:
        """Whether the two folders are called as different splits: `train` with `val_masks`."""
        image_split, mask_split = self.splits
        return bool(image_split) and bool(mask_split) and image_split != mask_split

    @property
    def is_of_split(self) -> bool:
        """Whether the folder of images is called as a split is, and not as one of a fold."""
        return bool(self.splits[0]) and not EXTRA_WORDS.intersection(words(self.images.folder))

    @property
    def image_name(self) -> str:
        """The pattern of the images' names, empty if they are the ids."""
        key = self.images.key
        if isinstance(key, PatternKey):
            return key.pattern
        return _pattern(self.image_affix, key.ending)

    @functools.cached_property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        key = self.masks.key
        if isinstance(key, PatternKey):
            return key.pattern
        ending = key.ending
        if self.mask_affix != NO_AFFIX:
            names = [self.masks.names[stem] for stem in self.pairs.values()]
            endings = {posixpath.splitext(name)[1] for name in names}
            if len(endings) == 1:
                ending = endings.pop()
        return _pattern(self.mask_affix, ending)

    @property
    def pairs_few_masks_by_number(self) -> bool:
        """Whether masks are numbers, images have a word beside theirs, and most masks no image.

        `photos/im0.jpg` to `im4.jpg` and `masks/0.png` to `14.png` may be five images with three
        masks each, numbered through. Masks called `0_mask.png` are numbered as the images are.
        """
        if self.image_affix == NO_AFFIX or self.mask_affix != NO_AFFIX:
            return False
        has_most_masks = 2 * len(self.pairs) >= len(self.masks.names)
        return not has_most_masks and all(stem.isdigit() for stem in self.pairs.values())

    def paths(self) -> tuple[list[str], list[str]]:
        """Returns the paths of the images and of their masks, below the root of the listing."""
        images = [self.images.path(stem) for stem in self.pairs]
        masks = [self.masks.path(stem) for stem in self.pairs.values()]
        return images, masks


def few(items: Sequence[_Item], most: int = SAMPLE) -> list[_Item]:
    """Returns a few of a sequence, spread over it."""
    return list(items[:: max(1, len(items) // most)][:most])


def _pattern(affix: Affix, ending: str) -> str:
    if affix == NO_AFFIX and not ending:
        return ""
    before, after = affix
    return f"{before}{ID}{after}{ending}"


def all_pairings(images: Sequence[FileSet], masks: Sequence[FileSet]) -> Iterator[Pairing]:
    """Yields a pairing of each two sets that have ids in common and no file.

    One file alone does not tell what stands around its id. It has the same around it as the files
    of folders that lie to one another in the same way: `v4/img_7.jpg` and `v4/lab_7.png` as those
    of `v1`, which has more.
    """
    with_one_file: list[tuple[FileSet, FileSet]] = []
    affixes_by_path: dict[str, dict[AffixPair, None]] = {}  # in place of an ordered set
    for image_files, mask_files in _sets_to_compare(images, masks):
        if _have_common_files(image_files, mask_files):
            continue
        pairing = pair(image_files, mask_files)
        if pairing is None:
            if len(image_files.names) == 1 or len(mask_files.names) == 1:
                with_one_file.append((image_files, mask_files))
            continue
        yield pairing
        if len(pairing.pairs) > 1:
            affixes_of_path = affixes_by_path.setdefault(_path_between(image_files, mask_files), {})
            affixes_of_path[pairing.image_affix, pairing.mask_affix] = None
    for image_files, mask_files in with_one_file:
        for affixes in affixes_by_path.get(_path_between(image_files, mask_files), {}):
            pairing = _pair_by_affixes(image_files, mask_files, affixes)
            if pairing is not None:
                yield pairing


def _have_common_files(images: FileSet, masks: FileSet) -> bool:
    """Says whether a file is in both of two sets."""
    if images.folder != masks.folder:
        return False
    return not set(images.names.values()).isdisjoint(masks.names.values())


def _path_between(images: FileSet, masks: FileSet) -> str:
    """Returns the path from a folder of images to that of masks, without what both end with.

    Example: `../masks` for `a/images/v1` and `a/masks/v1`.
    """
    image_folder, mask_folder = images.folder, masks.folder
    while image_folder and mask_folder:
        if posixpath.basename(image_folder) != posixpath.basename(mask_folder):
            break
        image_folder = posixpath.dirname(image_folder)
        mask_folder = posixpath.dirname(mask_folder)
    return posixpath.relpath(mask_folder or ".", image_folder or ".")


def _sets_to_compare(
    images: Sequence[FileSet], masks: Sequence[FileSet]
) -> Iterator[tuple[FileSet, FileSet]]:
    """Yields each two sets; of many, those whose folders lie near each other or end alike."""
    if len(images) * len(masks) <= _MAX_COMPARED_SETS * _MAX_COMPARED_SETS:
        yield from itertools.product(images, masks)
        return
    masks_by_place: dict[tuple[str, str], list[FileSet]] = {}
    for mask_files in masks:
        for place in _list_places(mask_files.folder):
            masks_by_place.setdefault(place, []).append(mask_files)
    for image_files in images:
        near: dict[FileSet, None] = {}  # in place of an ordered set
        for place in _list_places(image_files.folder):
            masks_of_place = masks_by_place.get(place, [])
            if len(masks_of_place) <= _MAX_COMPARED_SETS:
                near |= dict.fromkeys(masks_of_place)
        for mask_files in near:
            yield image_files, mask_files


def _list_places(folder: str) -> list[tuple[str, str]]:
    """Returns what folders have in common that lie near each other, end alike or are twins.

    - Near are the same folder, one in it or above it, and folders beside each other.
    - `b/c` and `c` are ends of `a/b/c`.
    - The paths of twins, `s7_images` and `s7_masks`, differ only in words for images and masks.
    """
    names = folder.split("/")
    ends = ["/".join(names[start:]) for start in range(1, len(names))]
    own_words = []
    for name in names:
        own_words.append(" ".join(word for word in words(name) if word not in ROLE_WORDS))
    return [
        ("near", folder),
        ("near", posixpath.dirname(folder)),
        *(("end", end) for end in ends),
        ("words", "/".join(own_words)),
    ]


def pair(images: FileSet, masks: FileSet) -> Pairing | None:
    """Pairs the files of two sets by their names; None if no name fits another.

    Names that are the same are pairs, unless more files pair with words around their ids.
    """
    same_names = {stem: stem for stem in images.names if stem in masks.names}
    if len(same_names) < min(len(images.names), len(masks.names)):
        min_count = len(same_names) + 1
        affixes = find_affixes(images.keys_by_guess, masks.keys_by_guess, min_count)
        if affixes is not None:
            return _pair_by_affixes(images, masks, affixes)
    if same_names:
        return Pairing(images, masks, NO_AFFIX, NO_AFFIX, same_names)
    return _pair_first_channel(images, masks)


def _pair_by_affixes(images: FileSet, masks: FileSet, affixes: AffixPair) -> Pairing | None:
    """Pairs the files whose names have the same between what is around ids; None if none have."""
    image_affix, mask_affix = affixes
    mask_by_id = cut_stems(masks.names, mask_affix)
    image_by_id = cut_stems(images.names, image_affix)
    pairs = {image: mask_by_id[each] for each, image in image_by_id.items() if each in mask_by_id}
    return Pairing(images, masks, image_affix, mask_affix, pairs) if pairs else None


def _pair_first_channel(images: FileSet, masks: FileSet) -> Pairing | None:
    """Pairs images if the names of all of them end with that of a first channel.

    Each image has to have a mask, and each mask an image. Folders that are called as one of
    nnU-Net's splits may have others: `imagesTr` and `labelsTr`.
    """
    if not all(stem.endswith(FIRST_CHANNEL) for stem in images.names):
        return None
    pairing = _pair_by_affixes(images, masks, (Affix("", FIRST_CHANNEL), NO_AFFIX))
    if pairing is None:
        return None
    split_word = find_split_word(images.folder)
    is_same_split = split_word.split == split_of(masks.folder)
    are_called_as_split = is_split_word(split_word.word) and is_same_split
    are_complete = len(pairing.pairs) == len(masks.names) == len(images.names)
    return pairing if are_complete or are_called_as_split else None


def are_apart(pairings: Sequence[Pairing]) -> bool:
    """Says whether no file is in two pairings."""
    counts = collections.Counter[tuple[bool, str]]()
    for pairing in pairings:
        images, masks = pairing.paths()
        counts.update((True, path) for path in images)
        counts.update((False, path) for path in masks)
    return max(counts.values(), default=1) == 1
