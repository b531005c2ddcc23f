"""All pairings of a folder: files that may be images, files that may be masks, how names pair.

Nothing is chosen here, and no file is opened; `choice` does both. The names of folders do not count
here either: whatever pairs by its name is a pairing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re
from typing import TypeVar

from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.role_words import EXTRA_WORDS, ROLE_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, TOKEN, Affix, core_of
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import find_split_word, split_of
from voc_seg_tfrecord.tools.nnunet import FIRST_CHANNEL, is_split_word

_Item = TypeVar("_Item")

SAMPLE = 6
"""Files of a set that are opened, at most."""
_MAX_COMPARED_SETS = 80
"""Of so many sets each two are compared, whatever their folders, and each with so many near it."""
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT_IN_WORD = re.compile(r"(?<=[^\W\d_])\d(?=[^\W\d_])")

_AFFIX_OF_FIRST_CHANNEL = Affix("", FIRST_CHANNEL)

AffixPair = tuple[Affix, Affix]
"""What the names of images have around their ids, and what those of masks have."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """Images and masks that belong together by their names: one folder of each.

    Attributes:
      images: the files of the images.
      masks: the files of the masks.
      image_affix: what the images' names have around the id.
      mask_affix: what the masks' names have around it.
      pairs: the mask of each image, both by their names without the ending.
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
        return self.images.pattern or _pattern(self.image_affix, self.images.ending)

    @functools.cached_property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        ending = self.masks.ending
        if self.mask_affix != NO_AFFIX:
            names = [self.masks.names[stem] for stem in self.pairs.values()]
            endings = {posixpath.splitext(name)[1] for name in names}
            if len(endings) == 1:
                ending = endings.pop()
        return self.masks.pattern or _pattern(self.mask_affix, ending)

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
            affixes = affixes_by_path.setdefault(_path_between(image_files, mask_files), {})
            affixes[pairing.image_affix, pairing.mask_affix] = None
    for image_files, mask_files in with_one_file:
        affixes = affixes_by_path.get(_path_between(image_files, mask_files), {})
        for image_affix, mask_affix in affixes:
            pairs = _pairs(image_files, mask_files, image_affix, mask_affix)
            if pairs:
                yield Pairing(image_files, mask_files, image_affix, mask_affix, pairs)


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
    nearby = _NearbySets(masks)
    for image_files in images:
        for mask_files in nearby.list_near(image_files):
            yield image_files, mask_files


class _NearbySets:
    """Finds sets of files whose folders lie near another folder, end as it does, or are its twins.

    Near are the same folder, one in it or above it, and folders beside each other. Twins are
    `s7_images` and `s7_masks`: their paths differ only in words for images and masks.

    Args:
      sets: the sets.
    """

    def __init__(self, sets: Iterable[FileSet]):
        self._by_near_folder: dict[str, list[FileSet]] = {}
        self._by_end: dict[str, list[FileSet]] = {}
        self._by_own_words: dict[str, list[FileSet]] = {}
        for files in sets:
            for folder in _near_folders(files):
                self._by_near_folder.setdefault(folder, []).append(files)
            for end in _ends_of_folder(files):
                self._by_end.setdefault(end, []).append(files)
            self._by_own_words.setdefault(_own_words(files), []).append(files)

    def list_near(self, files: FileSet) -> list[FileSet]:
        """Returns the sets near others, each once; groups of more than a few are left out."""
        groups = [self._by_near_folder.get(folder, []) for folder in _near_folders(files)]
        groups += [self._by_end.get(end, []) for end in _ends_of_folder(files)]
        groups.append(self._by_own_words.get(_own_words(files), []))
        near: dict[FileSet, None] = {}  # in place of an ordered set
        for group in groups:
            if len(group) <= _MAX_COMPARED_SETS:
                near |= dict.fromkeys(group)
        return list(near)


def _near_folders(files: FileSet) -> list[str]:
    """Returns the folder of files and the one above it. Two sets near each other share one."""
    return [files.folder, posixpath.dirname(files.folder)]


def _ends_of_folder(files: FileSet) -> list[str]:
    """Returns how the path of a folder ends, but for the whole path: `b/c` and `c` of `a/b/c`."""
    parts = files.folder.split("/")
    return ["/".join(parts[start:]) for start in range(1, len(parts))]


def _own_words(files: FileSet) -> str:
    """Returns the path of a folder without words for images and masks: `a/s 7` of `a/s7_images`."""
    folders = []
    for folder in files.folder.split("/"):
        folders.append(" ".join(word for word in words(folder) if word not in ROLE_WORDS))
    return "/".join(folders)


def pair(images: FileSet, masks: FileSet) -> Pairing | None:
    """Pairs the files of two sets by their names; None if no name fits another.

    Names that are the same are pairs, unless more files pair with words around their ids.
    """
    same_names = {stem: stem for stem in images.names if stem in masks.names}
    if len(same_names) < min(len(images.names), len(masks.names)):
        affixes = _find_affixes(images, masks, min_count=len(same_names) + 1)
        if affixes is not None:
            return Pairing(images, masks, *affixes, _pairs(images, masks, *affixes))
    if same_names:
        return Pairing(images, masks, NO_AFFIX, NO_AFFIX, same_names)
    pairs_of_first_channel = _pairs_of_first_channel(images, masks)
    if pairs_of_first_channel:
        return Pairing(images, masks, _AFFIX_OF_FIRST_CHANNEL, NO_AFFIX, pairs_of_first_channel)
    return None


def _find_affixes(images: FileSet, masks: FileSet, min_count: int) -> AffixPair | None:
    """Returns what stands around the ids of images and of masks, by which most files pair.

    Args:
      images: the files of the images.
      masks: the files of the masks.
      min_count: how many files have to pair.
    """
    best: AffixPair | None = None
    best_count = 0
    for image_affix, stems_of_images in images.stems_by_guess.items():
        for mask_affix, stems_of_masks in masks.stems_by_guess.items():
            count = len(stems_of_images.keys() & stems_of_masks.keys())
            has_affix = image_affix != NO_AFFIX or mask_affix != NO_AFFIX
            if not has_affix or count < min_count or count <= best_count:
                continue
            affixes = drop_common_parts(image_affix, mask_affix)
            if not _have_words_and_same_numbers(*affixes):
                continue
            if count >= _min_pairs_of(images, masks, affixes):
                best = affixes
                best_count = count
    return best


def _min_pairs_of(images: FileSet, masks: FileSet, affixes: AffixPair) -> int:
    """Returns how many files have to pair, so that what is around their ids can be no accident."""
    image_affix, mask_affix = affixes
    count_of_fewer, count_of_more = sorted([len(images.names), len(masks.names)])
    if numbers_alone(image_affix) != numbers_alone(mask_affix):
        return count_of_more  # where some names are `{id}_0`, the id may be `1_0`
    if not (_is_glued(image_affix) and _is_glued(mask_affix)):
        return 0  # `im_1` and `gt_1`: a word behind a sign is no part of an id
    words_around_ids = words(" ".join([*image_affix, *mask_affix]))
    if ROLE_WORDS.issuperset(words_around_ids):
        return count_of_fewer  # `img1` and `lb1`
    return count_of_more  # `u1` and `v1`: many files have a letter and a number


def _is_glued(affix: Affix) -> bool:
    """Says whether a letter of an affix stands beside the id: `u1`."""
    before, after = affix
    return before[-1:].isalpha() or after[:1].isalpha()


def _pairs(
    images: FileSet, masks: FileSet, image_affix: Affix, mask_affix: Affix
) -> dict[str, str]:
    """Returns the masks of images whose names have the same between what is around ids."""
    mask_by_id = masks.stem_by_id(mask_affix)
    image_by_id = images.stem_by_id(image_affix)
    return {image: mask_by_id[each] for each, image in image_by_id.items() if each in mask_by_id}


def _pairs_of_first_channel(images: FileSet, masks: FileSet) -> dict[str, str]:
    """Returns the masks of images if the names of all images end with that of a first channel.

    Each image has to have a mask, and each mask an image. Folders that are called as one of
    nnU-Net's splits may have others: `imagesTr` and `labelsTr`.
    """
    pairs: dict[str, str] = {}
    for stem in images.names:
        core = core_of(stem, _AFFIX_OF_FIRST_CHANNEL)
        if not core:
            return {}
        if core in masks.names:
            pairs[stem] = core
    split_word = find_split_word(images.folder)
    is_same_split = split_word.split == split_of(masks.folder)
    are_called_as_split = is_split_word(split_word.word) and is_same_split
    are_complete = len(pairs) == len(masks.names) == len(images.names)
    return pairs if are_complete or are_called_as_split else {}


def drop_common_parts(affix: Affix, other: Affix) -> AffixPair:
    """Leaves out of two affixes what both have next to the id, in whole words and numbers.

    That is a part of the id: `a_x_` and `b_x_` become `a_` and `b_`.
    """
    before, after = affix
    other_before, other_after = other
    length_before = _common_length(TOKEN.findall(before)[::-1], TOKEN.findall(other_before)[::-1])
    length_after = _common_length(TOKEN.findall(after), TOKEN.findall(other_after))
    return (
        Affix(before[: len(before) - length_before], after[length_after:]),
        Affix(other_before[: len(other_before) - length_before], other_after[length_after:]),
    )


def _common_length(tokens: Sequence[str], other_tokens: Sequence[str]) -> int:
    """Returns how many characters two lists of tokens begin with alike, up to a word or number.

    If all of one list is alike, the signs at its end count too.
    """
    length = 0
    length_to_word = 0
    for token, other_token in zip(tokens, other_tokens, strict=False):
        if token != other_token:
            break
        length += len(token)
        if token.isalnum():
            length_to_word = length
    all_of_one_is_alike = length in (sum(map(len, tokens)), sum(map(len, other_tokens)))
    return length if all_of_one_is_alike else length_to_word


def numbers_alone(affix: Affix) -> list[str]:
    """Returns the numbers around ids that are glued to no word, and so may be parts of ids."""
    return re.findall(r"(?<![^\W_])\d+(?![^\W_])", " ".join(affix))


def _have_words_and_same_numbers(affix: Affix, other: Affix) -> bool:
    """Says whether affixes may be a tool's or a person's: words, and no numbers that differ.

    Examples: `im_` and `gt_` may, `t1_` and `gt_` too. `0_` and `gt_` may not, as 0 is no word, and
    `t1_` and `t2_` may not.
    """
    for text in (*affix, *other):
        if text and not _LETTER.search(text):
            return False
    numbers = _numbers_in(affix)
    other_numbers = _numbers_in(other)
    return numbers == other_numbers or not numbers or not other_numbers


def _numbers_in(affix: Affix) -> list[str]:
    """Returns the numbers in an affix, but for a digit within a word, as in `leftImg8bit`."""
    return re.findall(r"\d+", _DIGIT_IN_WORD.sub("", "".join(affix)))


def are_apart(pairings: Sequence[Pairing]) -> bool:
    """Says whether no file is in two pairings."""
    image_paths: list[str] = []
    mask_paths: list[str] = []
    for pairing in pairings:
        images, masks = pairing.paths()
        image_paths += images
        mask_paths += masks
    return _are_different(image_paths) and _are_different(mask_paths)


def _are_different(paths: Sequence[str]) -> bool:
    return len(set(paths)) == len(paths)
