"""The rules that ask about what a plan leaves out, as it may belong to the images in use."""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import fold_in, parse_split_name
from voc_seg_tfrecord.folder.companions import MASKS_WITHOUT_IMAGES, PAIRS_IN_NO_SPLIT
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.align import parts_at_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, split_of
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.soft_masks import apply_threshold
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.soft_labels import SoftLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.folder.unused_files import UnusedFiles, list_unexplained

_MIN_NUMBERED_IMAGES = 3
"""Images with numbers, of which fewer may be shifted by chance."""

_MAX_MISSING = 2
"""How many more images than masks there may be, or masks than images, in shifted runs."""

_MAX_SHARE_MISSING = 0.02
"""The same as a share of the images, where that is more."""

_MAX_READ_FILES = 16
"""Files that are read of those with one pattern of names in one folder."""

_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")
"""An id: what is before its last number, the number, and what is behind it."""

_NUMBER = re.compile(r"\d+")


@dataclasses.dataclass(frozen=True)
class Leftovers:
    """What a plan leaves out, and what the rules look at beside it.

    Attributes:
      unused: the files that are not used.
      stated: the pairs that texts state.
      options: the user's options on files.
    """

    unused: UnusedFiles
    stated: StatedPairs
    options: Mapping[str, str]

    def has_option(self, *names: str) -> bool:
        """Says whether the user gave one of some options."""
        return not self.options.keys().isdisjoint(names)

    @functools.cached_property
    def paths(self) -> list[str]:
        """The paths of the files that are not used, below the given folder."""
        paths: list[str] = []
        for group, names in self.unused.items():
            paths += [posixpath.join(group.folder, name) for name in names]
        return paths


# Numbers of masks.


def masks_are_shifted(splits: Splits, leftovers: Leftovers) -> LayoutError | None:
    """Masks are numbered from 1, and images from 0, or the like.

    By their names nearly all of them would be pairs, and each image would get another's mask.
    It may be one mask more or less: images 1 to 8 and masks 0 to 8.
    """
    tree = splits.evidence.tree
    has_pairs_by_name = not tree.images.keys().isdisjoint(tree.masks)
    if leftovers.has_option("masks") or not has_pairs_by_name:
        return None
    image_numbers = _numbers_by_pattern(tree.images)
    mask_numbers = _numbers_by_pattern(tree.masks)
    patterns = sorted(image_numbers.keys() & mask_numbers.keys())
    shifted: list[str] = []
    with_other_start: list[str] = []
    for pattern in patterns:
        images, masks = image_numbers[pattern], mask_numbers[pattern]
        shift = masks[0] - images[0]
        if shift == 0 or min(len(images), len(masks)) < _MIN_NUMBERED_IMAGES:
            continue
        if [number + shift for number in images] == masks:
            shifted.append(pattern)
        if _are_runs_of_alike_length(images, masks):
            with_other_start.append(pattern)
    if not shifted and len(with_other_start) == len(patterns):
        shifted = with_other_start
    if not shifted:
        return None
    images, masks = image_numbers[shifted[0]], mask_numbers[shifted[0]]
    options = command(**tree.options)
    return LayoutError(
        tree.given,
        found=f"images {shifted[0]} numbered {images[0]} to {images[-1]}, and masks numbered "
        f"{masks[0]} to {masks[-1]}. Each image may get the mask of another one",
        expected="the same numbers for an image and its mask",
        remedy="rename the masks. If the names are right, because images or masks are "
        f"missing, add {options}",
        kind="names of masks",
    )


def _numbers_by_pattern(ids: Iterable[str]) -> dict[str, list[int]]:
    """Returns the last numbers of ids, sorted, by the id with `{id}` in place of the number."""
    numbers: dict[str, list[int]] = {}
    for image_id in ids:
        match = _LAST_NUMBER.fullmatch(image_id)
        if match:
            before, number, after = match.groups()
            numbers.setdefault(f"{before}{ID}{after}", []).append(int(number))
    return {pattern: sorted(of_pattern) for pattern, of_pattern in numbers.items()}


def _are_runs_of_alike_length(images: Sequence[int], masks: Sequence[int]) -> bool:
    """Says whether sorted numbers are runs without gaps, and nearly as many.

    If all masks have an image, the others may be without labels, unless one run starts at 0 and the
    other one at 1.
    """
    for numbers in (images, masks):
        end = numbers[-1] + 1
        if [*numbers] != [*range(numbers[0], end)]:
            return False
    most_missing = max(_MAX_MISSING, _MAX_SHARE_MISSING * len(images))
    if abs(len(images) - len(masks)) > most_missing:
        return False
    if {images[0], masks[0]} == {0, 1}:
        return True
    return not {*images}.issuperset(masks)


# Folders of splits.


@dataclasses.dataclass(frozen=True)
class _LeftOutFolder:
    """A folder of pictures that is left out, and a folder in use that is called alike.

    Attributes:
      folder: the folder that is left out, below the given one.
      names: the pictures in it.
      used_folder: the folder of images in use.
      part: the one folder in the path of `folder` that is called otherwise.
      used_part: the same of `used_folder`.
    """

    folder: str
    names: Sequence[str]
    used_folder: str
    part: str
    used_part: str


def a_fold_is_left_out(splits: Splits, leftovers: Leftovers) -> QuestionError | None:
    """A folder of a fold is left out beside one in use.

    Example: `fold2/train` beside `fold1/train`.
    """
    if leftovers.has_option("masks", "images"):
        return None
    folds = _find_left_out(_list_used_by_folder(splits), leftovers.unused, fold_in)
    if not folds:
        return None
    tree = splits.evidence.tree
    options = tree.options
    used_part = folds[0].used_part
    alternatives: list[Alternative] = []
    for part in dict.fromkeys([used_part, *(fold.part for fold in folds)]):
        of_fold = {name: _replace_part(paths, used_part, part) for name, paths in options.items()}
        alternatives.append(Alternative("", of_fold))
    return QuestionError(
        tree.given,
        alternatives,
        task="choose the fold that is read",
        expected="one fold, or lists of the folds",
        kind="several ways to divide",
    )


def a_split_is_left_out(splits: Splits, leftovers: Leftovers) -> QuestionError | None:
    """A folder of a split is left out, and masks in use may belong to its images.

    Example: `images/val` beside `images/train`, whose images share `masks` and restart at 0.
    """
    tree = splits.evidence.tree
    if leftovers.has_option("masks", "images"):
        return None
    if tree.labels.origin:  # the file that has the shapes says whose they are
        return None
    ids_by_folder = _list_used_by_folder(splits)
    for left_out in _find_left_out(ids_by_folder, leftovers.unused, _split_in):
        used_ids = ids_by_folder[left_out.used_folder]
        reason = _reason_to_ask(tree, used_ids, leftovers.unused, left_out)
        if reason:
            options = tree.options
            return QuestionError(
                tree.given,
                [Alternative(f"only {left_out.used_folder}", options)],
                task="read the splits",
                expected="a folder of masks for each split, or names that differ between splits",
                kind="splits without masks",
                facts=[
                    f"{counted(len(left_out.names), 'image')} in {left_out.folder}, such as "
                    f"{left_out.names[0]}, without masks of their own: {reason}"
                ],
                by_hand="put the masks of each split into a folder of its own, such as "
                f"masks/{left_out.used_part} and masks/{left_out.part}",
            )
    return None


def _list_used_by_folder(splits: Splits) -> dict[str, list[str]]:
    """Returns the ids in splits, by the folders of their images."""
    ids_by_folder: dict[str, list[str]] = {}
    for image_id, path in splits.evidence.tree.images.items():
        if image_id in splits.used:
            ids_by_folder.setdefault(posixpath.dirname(path), []).append(image_id)
    return ids_by_folder


def _split_in(name: str) -> str:
    """Returns the split that the name of a folder says."""
    return parse_split_name(name).split


def _find_left_out(
    used_folders: Collection[str], unused: UnusedFiles, part_of_set_in: Callable[[str], str]
) -> list[_LeftOutFolder]:
    """Returns the unused folders of pictures whose path differs from one in use by its part.

    Args:
      used_folders: the folders of images in use.
      unused: the files that are not used.
      part_of_set_in: gives the split or fold that a name says; empty if it says none.
    """

    def list_patterns(folder: str) -> list[tuple[str, str]]:
        """Returns a path with `*` in place of each name that says a split or fold, and the name."""
        patterns: list[tuple[str, str]] = []
        for number, name in enumerate(folder.split("/")):
            if part_of_set_in(name):
                names = folder.split("/")
                names[number] = "*"
                patterns.append(("/".join(names), name))
        return patterns

    folders_by_pattern: dict[str, tuple[str, str]] = {}
    for folder in sorted(used_folders):
        for pattern, part in list_patterns(folder):
            folders_by_pattern.setdefault(pattern, (folder, part))
    left_out = []
    for group, names in unused.items():
        pictures = [name for name in names if ending_of(name) in IMAGE_OR_MASK_ENDINGS]
        if not folders_by_pattern or not pictures or group.folder in used_folders:
            continue
        for pattern, part in list_patterns(group.folder):
            if pattern in folders_by_pattern:
                used_folder, used_part = folders_by_pattern[pattern]
                left_out.append(
                    _LeftOutFolder(group.folder, pictures, used_folder, part, used_part)
                )
    return left_out


def _replace_part(option: str, old: str, new: str) -> str:
    """Returns an option with another name of a folder in all of its paths."""
    values = []
    for value in option.split(","):
        split, equals, path = value.rpartition("=")
        names = [new if name == old else name for name in path.split("/")]
        values.append(split + equals + "/".join(names))
    return ",".join(values)


def _reason_to_ask(
    tree: VocTree, used_ids: Collection[str], unused: UnusedFiles, left_out: _LeftOutFolder
) -> str:
    """Returns why masks in use may belong to the images left out; empty if nothing says so."""
    mask_folders = {posixpath.dirname(tree.masks[one]) for one in used_ids if one in tree.masks}
    for folder in mask_folders:
        if any(map(_split_in, folder.split("/"))):
            return ""
    used_stems = {stem(tree.images[image_id]) for image_id in used_ids}
    for name_left_out in map(stem, left_out.names):
        if name_left_out in used_stems:
            return f"{left_out.used_folder} has an image {name_left_out}, too"
    for group, names in unused.items():
        are_masks = group.kind in (MASKS_WITHOUT_IMAGES, PAIRS_IN_NO_SPLIT)
        if are_masks and group.folder in mask_folders:
            return f"{counted(len(names), 'mask')} in {group.folder or '.'} belong to no image"
    return ""


# Second masks.


@dataclasses.dataclass(frozen=True)
class _SecondMask:
    """A file that is another mask of an image by its name.

    Attributes:
      image_id: the image.
      path: the file, below the given folder.
      pattern: what its name has around that of the image, whatever its numbers are.
    """

    image_id: str
    path: str
    pattern: str


def images_have_second_masks(splits: Splits, leftovers: Leftovers) -> LayoutError | None:
    """A file is another mask of an image: of another person, of one object, or an old one.

    Files of one pattern of names in one folder, such as `x_vis.png`, are of one kind: all of them
    are masks, or none is. So only the first ones are read.
    """
    tree = splits.evidence.tree
    if leftovers.has_option("mask_name") and not tree.layout.options_of_classes:
        return None
    masks = [path for path in leftovers.paths if path.lower().endswith(tree.mask_endings)]
    if not masks:
        return None
    paired_by_name = splits.used - leftovers.stated.image_ids
    second_masks = _find_second_masks(tree, paired_by_name, masks)
    looks = Looks(tree.given)
    read_counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for second_mask in second_masks:
        kind = (posixpath.dirname(second_mask.path), second_mask.pattern)
        read_counts[kind] += 1
        if read_counts[kind] <= _MAX_READ_FILES and _is_mask_of(tree, looks, second_mask):
            other_ids = {other.image_id for other in second_masks} - {second_mask.image_id}
            return _second_mask_error(tree, second_mask, len(other_ids))
    return None


def _second_mask_error(tree: VocTree, second_mask: _SecondMask, other_count: int) -> LayoutError:
    """Returns the error about a second mask, and other images that may have some."""
    others = ""
    if other_count:
        others = f", and several for {counted(other_count, 'other image')} by their names"
    mask = tree.masks[second_mask.image_id]
    layout = tree.options
    layout.setdefault("mask_name", ID + posixpath.splitext(mask)[1])
    options = {name: layout[name] for name in ("image_name", "mask_name") if name in layout}
    return LayoutError(
        tree.given,
        found=f"2 masks for the image {tree.images[second_mask.image_id]}: {mask} and "
        f"{second_mask.path}{others}",
        expected="one mask for each image",
        remedy="If each mask shows one object, one class, or other regions, merge them into "
        "one mask for each image. If one replaces the other, take the other out of the "
        f"folder. To read only masks with names like {posixpath.basename(mask)}, add "
        f"{command(**options)}",
        kind="several masks for one image",
    )


def _find_second_masks(
    tree: VocTree, used: Collection[str], left_over: Sequence[str]
) -> list[_SecondMask]:
    """Returns the files whose names are those of images with more behind or before them.

    They lie where the image or its mask lies. If `a` and `a_2` are both in use, `b_2.png` is the
    mask of an image `b_2` that is not there, and no second mask of `b`.
    """
    ids_in_use = [i for i in tree.images if i in used and i in tree.masks]
    id_by_folder_and_stem = _index_by_names(tree, ids_in_use)
    candidates: dict[str, list[_SecondMask]] = {}
    for path in left_over:
        folder, name = posixpath.dirname(path), stem(path)
        if role_of_name(name) == "drawn":
            continue
        for part, rest in parts_at_ends(name):
            id_of_part = id_by_folder_and_stem.get((folder, part))
            if id_of_part is not None:
                candidate = _SecondMask(id_of_part, path, _NUMBER.sub("0", rest))
                candidates.setdefault(path, []).append(candidate)
    if not candidates:
        return []
    patterns_of_ids = _list_patterns_between({*map(posixpath.basename, ids_in_use)})
    second_masks: list[_SecondMask] = []
    for candidates_of_path in candidates.values():
        remaining = [each for each in candidates_of_path if each.pattern not in patterns_of_ids]
        second_masks += remaining[:1]
    return second_masks


def _index_by_names(tree: VocTree, ids: Sequence[str]) -> dict[tuple[str, str], str]:
    """Returns ids by the folders of their files, and by their names there without endings."""
    id_by_folder_and_stem: dict[tuple[str, str], str] = {}
    for image_id in ids:
        paths = (tree.images[image_id], tree.masks[image_id])
        names = (posixpath.basename(image_id), *map(stem, paths))
        for folder in map(posixpath.dirname, paths):
            for name in names:
                id_by_folder_and_stem[folder, name] = image_id
    return id_by_folder_and_stem


def _list_patterns_between(names: Collection[str]) -> set[str]:
    """Returns what names have around other ones, whatever the numbers are."""
    patterns: set[str] = set()
    for name in names:
        for part, rest in parts_at_ends(name):
            if part in names:
                patterns.add(_NUMBER.sub("0", rest))
    return patterns


def _is_mask_of(tree: VocTree, looks: Looks, mask: _SecondMask) -> bool:
    """Says whether a file may be a mask of an image by its pixels, and is no copy of its mask."""
    if not looks.sizes_agree(tree.images[mask.image_id], mask.path):
        return False
    if not looks.looks_like_mask(mask.path):
        if not isinstance(tree.labels, SoftLabels):
            return False
        try:
            file = File.read(tree.given / mask.path, MaskError)
            apply_threshold(file, tree.labels.threshold)
        except MaskError:
            return False
    return not looks.are_same(tree.masks[mask.image_id], mask.path)


# All other pictures.


def pictures_are_not_explained(splits: Splits, leftovers: Leftovers) -> QuestionError | None:
    """Some pictures or masks are of no kind that may lie beside the data.

    Those in the folder of a split that has no labeled images are only noted, and so are all if a
    part has none: no options name such a part. Where texts state pairs, the options of the question
    would replace these; and listed images that lack their masks are reported elsewhere.
    """
    tree = splits.evidence.tree
    are_files_named = leftovers.has_option("images", "masks", "image_name", "mask_name")
    if are_files_named or leftovers.stated.texts or splits.left_out:
        return None
    if any(_is_unlabeled(part.name, tree) for part in tree.layout.parts):
        return None
    splits_of_asked_folders = ("", *splits.ids)
    asked: UnusedFiles = {
        group: names
        for group, names in leftovers.unused.items()
        if split_of(group.folder) in splits_of_asked_folders
    }
    facts = [f"nothing explains {line}" for line in list_unexplained(asked)]
    if not facts:
        return None
    return QuestionError(
        tree.given,
        [Alternative("leave these out", tree.options)],
        task="read the rest",
        expected="pictures that belong to an image or a mask",
        kind="pictures that nothing explains",
        facts=facts,
    )


def _is_unlabeled(part: str, tree: VocTree) -> bool:
    """Says whether no image of a part has a mask."""
    return not any(image_id.startswith(f"{part}/") for image_id in tree.labeled_ids)


LEFTOVER_RULES: Sequence[Rule[Splits, Leftovers]] = (
    Rule("numbers of masks", asks=masks_are_shifted),
    Rule("folds", asks=a_fold_is_left_out),
    Rule("splits without masks", asks=a_split_is_left_out),
    Rule("second masks", asks=images_have_second_masks),
    Rule("unexplained pictures", asks=pictures_are_not_explained),
)
"""When the user is asked about what is left out, the most specific error first."""
