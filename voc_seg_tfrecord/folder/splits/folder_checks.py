"""Checks of folders whose names say splits in a way that would put images into a wrong split."""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.core.split_names import (
    SPLIT_BY_WORD,
    is_mixed_name,
    is_plain_name,
    list_splits_in,
    parse_split_name,
    split_but_for_number,
    words,
)
from voc_seg_tfrecord.folder.splits.folders import (
    SplitFolders,
    choose_folder_of_each_split,
    first_folder,
    first_folder_of_split,
    folders_of_id,
    option_for_folders,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_NOT_TO_TRAIN_ON = ("validation", "test")
_MIN_LETTERS_OF_SPLIT = 3
_MIN_SHARE_OF_OUTER_WORDS = 0.01
"""Of so many images and more, names that begin or end with a split are no accident."""


def check_masks_have_images(split_folders: SplitFolders) -> None:
    """Checks that no folder other than one of test has masks alone, which would be lost.

    Masks in a folder of test without images are reported as unused: they are often published before
    the images.

    Raises:
      LayoutError: if another folder has masks and no images.
    """
    if not split_folders.dividing_first_folders:
        return
    tree = split_folders.tree
    folders_of_masks = {first_folder(name) for name in tree.masks if "/" in name}
    without_images = folders_of_masks - {*split_folders.dividing_first_folders}
    lost = {folder for folder in without_images if parse_split_name(folder).split != "test"}
    if not lost:
        return
    first_mask_id = min(mask_id for mask_id in tree.masks if first_folder(mask_id) in lost)
    folder_by_split = choose_folder_of_each_split(split_folders.dividing_first_folders, tree.root)
    raise LayoutError(
        tree.root / tree.layout.masks / tree.masks[first_mask_id],
        found=f"masks for a split {min(lost)!r} without images. The splits with images are "
        f"{', '.join(split_folders.dividing_first_folders)}",
        expected="images and masks in the folders of a split",
        remedy="name the folder of its images as in the other splits, or choose the splits, as "
        f"with {option_for_folders(folder_by_split)}",
    )


def check_parts_not_mixed(tree: VocTree) -> None:
    """Checks that no part of the set lies in a folder whose name says test and another split.

    Nobody knows which of its images are which. A folder of train and validation is one to train on.

    Raises:
      LayoutError: if one does.
    """
    for part in tree.layout.folders():
        if _makes_its_own_split(part):
            continue
        for folder in part.images.split("/"):
            _check_name_not_mixed(folder, tree.root / part.images)


def _makes_its_own_split(part: Part) -> bool:
    """Says whether a part makes a split that is called as its folder is, so that the user sees it.

    Example: `train_test/images`, whose part is `train_test`, makes the split `train_test`.
    """
    is_whole_set = part.name == ""
    is_called_as_its_folder = part.name in part.images.split("/")
    return is_whole_set or is_called_as_its_folder


def check_not_mixed(tree: VocTree, image_ids: Iterable[str]) -> None:
    """Checks that no unsplit image lies in a folder whose name says test and another split.

    No file of shapes, and no folder of one, may have such a name either.

    Raises:
      LayoutError: if one has.
    """
    paths = {posixpath.dirname(tree.paths.image(image_id)) for image_id in image_ids}
    paths |= {posixpath.splitext(file)[0] for file in tree.labels.label_files}
    for path in sorted(paths):
        for name in path.split("/"):
            _check_name_not_mixed(name, tree.given / path)


def _check_name_not_mixed(name: str, path: epath.Path) -> None:
    """Checks that the name of a folder or file does not say test and another split.

    Raises:
      LayoutError: if it does.
    """
    if not is_mixed_name(name):
        return
    raise LayoutError(
        path,
        found=f"a name with several splits: {', '.join(list_splits_in(name))}",
        expected="a folder or file for each split",
        remedy="move the images of each split into a folder of its own, or write a list for each "
        "split. To divide all images by ratio, give --splits train=0.8,validation=0.2; to put all "
        "into train, give --splits train=1",
        kind="folder of several splits",
    )


def check_all_train(split_folders: SplitFolders) -> None:
    """Checks that no folder and no image is called as another split, before all become train.

    Raises:
      LayoutError: if one is.
    """
    check_not_mixed(split_folders.tree, split_folders.tree.labeled_ids)
    _check_no_part_of_other_split(split_folders)
    _check_no_folder_of_split(split_folders.tree)
    _check_names_of_images(split_folders.tree)


def _check_names_of_images(tree: VocTree) -> None:
    """Checks that no names of images say a split other than that of the images around them.

    | names of images | all are train |
    | --- | --- |
    | `scan_01`, `scan_02` | yes |
    | `train_01`, `train_02`; `test_01`, `test_02` | yes: all are named alike |
    | `train_01`, `val_01` | no: most say a split, and not the same one |
    | `train_01`, `bonus_01` | no: some begin or end with a split, and others say none |
    | `bus_01`, `a_crash_test_video` | yes: a word within a name may mean anything |

    Raises:
      LayoutError: if some do.
    """
    names = _read_split_words(tree)
    image_count = len(tree.labeled_ids)
    if len(names.first_by_split) > 1 and 2 * names.count_with_split >= image_count:
        raise _names_of_images_error(
            tree,
            "images of one folder with names of different splits",
            list(names.first_by_split.values()),
        )
    are_few = names.count_of_outer_words < _MIN_SHARE_OF_OUTER_WORDS * image_count
    if names.first_without_split and names.first_of_outer_word and not are_few:
        raise _names_of_images_error(
            tree,
            "images of one folder of which only some are named after a split",
            [names.first_of_outer_word, names.first_without_split],
        )


@dataclasses.dataclass
class _SplitWordsOfImages:
    """What the names of labeled images say about splits.

    Attributes:
      first_by_split: the first image whose name says each split, in any of its words.
      count_with_split: how many names say a split.
      first_without_split: the first image whose name says none; empty if all say one.
      first_of_outer_word: the first image whose name begins or ends with a split, likewise.
      count_of_outer_words: how many names do.
    """

    first_by_split: dict[str, str] = dataclasses.field(default_factory=dict)
    count_with_split: int = 0
    first_without_split: str = ""
    first_of_outer_word: str = ""
    count_of_outer_words: int = 0


def _read_split_words(tree: VocTree) -> _SplitWordsOfImages:
    names = _SplitWordsOfImages()
    for image_id in tree.labeled_ids:
        name = posixpath.basename(image_id)
        splits = _splits_in_name_of_image(name)
        if not splits:
            names.first_without_split = names.first_without_split or image_id
            continue
        names.count_with_split += 1
        for split in splits:
            names.first_by_split.setdefault(split, image_id)
        if _begins_or_ends_with_split(name):
            names.count_of_outer_words += 1
            names.first_of_outer_word = names.first_of_outer_word or image_id
    return names


def _splits_in_name_of_image(name: str) -> set[str]:
    """Returns the splits that words of three letters and more say: two of `train_test_3`."""
    return {SPLIT_BY_WORD[word] for word in words(name) if _is_word_for_split(word)}


def _begins_or_ends_with_split(name: str) -> bool:
    """Says whether the first or last word of a name says a split: `train_3`, `3_train_07`."""
    without_numbers = [word for word in words(name) if not word.isdecimal()]
    outer_words = (*without_numbers[:1], *without_numbers[-1:])
    return any(_is_word_for_split(word) for word in outer_words)


def _is_word_for_split(word: str) -> bool:
    """Says whether a word in the name of an image says a split. Short ones may be anything."""
    return len(word) >= _MIN_LETTERS_OF_SPLIT and word in SPLIT_BY_WORD


def _names_of_images_error(tree: VocTree, found: str, image_ids: Sequence[str]) -> LayoutError:
    """Returns the error about image names with splits, with examples."""
    examples = ", ".join(tree.images[image_id] for image_id in image_ids)
    return LayoutError(
        tree.root / tree.layout.images,
        found=f"{found}, such as {examples}",
        expected="a folder or a list for each split",
        remedy="write the names into a list for each split, such as train.txt and val.txt; or put "
        "all images into train with --splits train=1",
        kind="image names with splits",
    )


def _check_no_part_of_other_split(split_folders: SplitFolders) -> None:
    """Checks that no part of the set lies in a folder of validation or test.

    Raises:
      LayoutError: if one does.
    """
    tree = split_folders.tree
    for part in split_folders.labeled_parts() or tree.layout.folders():
        path = posixpath.normpath(posixpath.join(tree.root_below_given, part.images))
        folder = first_folder_of_split(path)
        if parse_split_name(folder).split not in _NOT_TO_TRAIN_ON:
            continue
        raise LayoutError(
            tree.given / path,
            found=f"images in the folder {folder}, but neither a folder nor a list for train",
            expected="a folder or a list for train and for each other split",
            remedy="give the folder of each split with --images and --masks, such as "
            "--images train=a/images,test=b/images; or put all images into one split with "
            "--splits train=1 or --splits test=1",
        )


def _check_no_folder_of_split(tree: VocTree) -> None:
    """Checks that no labeled image lies in a folder that is called as a split.

    Raises:
      LayoutError: if one does.
    """
    paths = [folders_of_id(image_id) for image_id in tree.labeled_ids]
    depth = max((len(path) for path in paths), default=0)
    for level in range(depth):
        names = {path[level] for path in paths if len(path) > level}
        called_as_splits = _choose_called_as_splits(names)
        if called_as_splits:
            raise _folders_beside_others_error(tree, called_as_splits, level)


def _choose_called_as_splits(folders: Iterable[str]) -> list[str]:
    """Returns the folders that are called as splits, also with other words if they say several.

    Example: `train_a` and `val_b`; but none of `train_a` and `extra`.
    """
    split_by_folder = {name: parse_split_name(name).split for name in folders}
    with_split = sorted(name for name, split in split_by_folder.items() if split)
    if len({split_by_folder[name] for name in with_split}) > 1:
        return with_split
    return [name for name in with_split if _is_called_as_split(name)]


def _is_called_as_split(folder: str) -> bool:
    """Says whether a folder is called as a split in a plain word, or as one that is not train.

    Examples: `val`, `dev`, `test1`.
    """
    return is_plain_name(folder) or split_but_for_number(folder) in _NOT_TO_TRAIN_ON


def _folders_beside_others_error(tree: VocTree, folders: Sequence[str], level: int) -> LayoutError:
    """Returns the error that folders of splits do not divide the images.

    Args:
      tree: the set.
      folders: the folders that are called as splits.
      level: how many other folders they lie in, below the folder of images.
    """
    found = f"images in folders that are called as splits, {', '.join(folders)}"
    ids_elsewhere = [
        image_id for image_id in tree.labeled_ids if _folder_at(level, image_id) not in folders
    ]
    if ids_elsewhere:
        found += f", and others in none, such as {tree.images[ids_elsewhere[0]]}"
    else:
        found += ", and none in a folder of train"
    folder_by_split = choose_folder_of_each_split(folders, tree.root)
    choice = option_for_folders(folder_by_split, above="*/" * level)
    return LayoutError(
        tree.root / tree.layout.images,
        found=found,
        expected="images in the folders of splits, or lists",
        remedy=f"to use the folders as splits, add {choice}; to put all images into train, add "
        "--splits train=1",
    )


def _folder_at(level: int, image_id: str) -> str:
    """Returns the folder of an id that lies in as many others; empty if there is none."""
    folders = folders_of_id(image_id)
    return folders[level] if level < len(folders) else ""
