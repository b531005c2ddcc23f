"""Rules that ask because names of folders or images would put images into a wrong split."""

from collections.abc import Iterable
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.words import (
    SPLIT_BY_WORD,
    is_mixed_name,
    is_plain_name,
    list_splits_in,
    parse_split_name,
    split_but_for_number,
    words,
)
from voc_seg_tfrecord.folder.splits.candidates import SplitCandidate
from voc_seg_tfrecord.folder.splits.evidence import MIN_LETTERS_OF_SPLIT, SplitEvidence
from voc_seg_tfrecord.folder.splits.folders import (
    choose_folder_of_each_split,
    first_folder,
    first_folder_of_split,
    option_for_folders,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_NOT_TO_TRAIN_ON = ("validation", "test")
_MIN_SHARE_OF_OUTER_WORDS = 0.01
"""Of so many images and more, names that begin or end with a split are no accident."""


def lie_in_mixed_folder(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """The name of a folder of images says test and another split.

    Nobody knows which of its images are which. A folder of train and validation is one to train on.
    A part that makes a split of its own name is none: `train_test/images`, whose part is
    `train_test`, makes the split `train_test`, and the user sees it.

    Example: `images/train_test` beside `images/val`.
    """
    tree = evidence.tree
    if evidence.user_gave_lists:
        return None
    for part in tree.layout.folders():
        names = part.images.split("/")
        makes_its_own_split = part.name == "" or part.name in names
        mixed_names = [name for name in names if is_mixed_name(name)]
        if mixed_names and not makes_its_own_split:
            return _mixed_name_error(mixed_names[0], tree.root / part.images)
    return None


def find_mixed_folder(tree: VocTree, image_ids: Iterable[str]) -> LayoutError | None:
    """Returns the error that images lie in a folder whose name says test and another split.

    No file of shapes, and no folder of one, may have such a name either.
    """
    paths = {posixpath.dirname(tree.images[image_id]) for image_id in image_ids}
    paths |= {posixpath.splitext(file)[0] for file in tree.labels.label_files}
    for path in sorted(paths):
        for name in path.split("/"):
            if is_mixed_name(name):
                return _mixed_name_error(name, tree.given / path)
    return None


def _mixed_name_error(name: str, path: epath.Path) -> LayoutError:
    return LayoutError(
        path,
        found=f"a name with several splits: {', '.join(list_splits_in(name))}",
        expected="a folder or file for each split",
        remedy="move the images of each split into a folder of its own, or write a list for each "
        "split. To divide all images by ratio, give --splits train=0.8,validation=0.2; to put all "
        "into train, give --splits train=1",
        kind="folder of several splits",
    )


def have_masks_without_images(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """A folder of a split other than test has masks and no images.

    Masks in a folder of test without images are reported as unused: they are often published before
    the images.

    Example: `masks/train` and `masks/val`, and only `images/train`.
    """
    tree = evidence.tree
    folders = evidence.split_folders.dividing_first_folders
    if evidence.user_gave_lists or not folders:
        return None
    folders_of_masks = {first_folder(name) for name in tree.masks if "/" in name}
    without_images = folders_of_masks - {*folders}
    lost = {folder for folder in without_images if parse_split_name(folder).split != "test"}
    if not lost:
        return None
    first_mask_id = min(mask_id for mask_id in tree.masks if first_folder(mask_id) in lost)
    return LayoutError(
        tree.given / tree.masks[first_mask_id],
        found=f"masks for a split {min(lost)!r} without images. The splits with images are "
        f"{', '.join(folders)}",
        expected="images and masks in the folders of a split",
        remedy="name the folder of its images as in the other splits, or choose the splits, as "
        f"with {option_for_folders(choose_folder_of_each_split(folders, tree.root))}",
    )


def lie_in_mixed_folder_alone(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """The name of a folder or file says test and another split.

    Example: `images/train_test` alone.
    """
    return find_mixed_folder(evidence.tree, evidence.tree.labeled_ids)


def lie_in_folder_of_test(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """The name of the folder of the images, or of a part of them, says validation or test.

    Example: `test/images` alone.
    """
    tree = evidence.tree
    for part in evidence.split_folders.labeled_parts() or tree.layout.folders():
        path = tree.path_below_given(part.images)
        folder = first_folder_of_split(path)
        if parse_split_name(folder).split in _NOT_TO_TRAIN_ON:
            return LayoutError(
                tree.given / path,
                found=f"images in the folder {folder}, but neither a folder nor a list for train",
                expected="a folder or a list for train and for each other split",
                remedy="give the folder of each split with --images and --masks, such as "
                "--images train=a/images,test=b/images; or put all images into one split with "
                "--splits train=1 or --splits test=1",
            )
    return None


def lie_in_folders_of_splits(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """Names of some folders say splits, and do not divide all images.

    Folders with words beside the split count if they say several splits: `train_a` and `val_b`, but
    none of `train_a` and `extra`.

    Example: `images/rome/val` and `images/bonn/calib`.
    """
    tree = evidence.tree
    folders_by_id = {image_id: image_id.split("/")[:-1] for image_id in tree.labeled_ids}
    depth = max(map(len, folders_by_id.values()), default=0)
    for level in range(depth):
        folder_by_id = {one: "/".join(at[level : level + 1]) for one, at in folders_by_id.items()}
        names = {*folder_by_id.values()}
        split_by_folder = {one: parse_split_name(one).split for one in names}
        with_split = sorted(name for name in names if split_by_folder[name])
        if len({split_by_folder[name] for name in with_split}) < 2:
            with_split = [name for name in with_split if _is_called_as_split(name)]
        if not with_split:
            continue
        found = f"images in folders that are called as splits, {', '.join(with_split)}"
        elsewhere = [one for one, folder in folder_by_id.items() if folder not in with_split]
        if elsewhere:
            found += f", and others in none, such as {tree.filename_of(elsewhere[0])}"
        else:
            found += ", and none in a folder of train"
        folder_by_split = choose_folder_of_each_split(with_split, tree.root)
        choice = option_for_folders(folder_by_split, above="*/" * level)
        return LayoutError(
            tree.root / tree.layout.images,
            found=found,
            expected="images in the folders of splits, or lists",
            remedy=f"to use the folders as splits, add {choice}; to put all images into train, add "
            "--splits train=1",
        )
    return None


def _is_called_as_split(folder: str) -> bool:
    """Says whether a folder is called as a split in a plain word, or as one that is not train.

    Examples: `val`, `dev`, `test1`.
    """
    return is_plain_name(folder) or split_but_for_number(folder) in _NOT_TO_TRAIN_ON


def have_names_of_splits(_: SplitCandidate, evidence: SplitEvidence) -> LayoutError | None:
    """Names of images say splits, and not all the same.

    | names of images | all are train |
    | --- | --- |
    | `scan_01`, `scan_02` | yes |
    | `train_01`, `train_02`; `test_01`, `test_02` | yes: all are named alike |
    | `train_01`, `val_01` | no: most say a split, and not the same one |
    | `train_01`, `bonus_01` | no: some begin or end with a split, and others say none |
    | `bus_01`, `a_crash_test_video` | yes: a word within a name may mean anything |
    """
    tree = evidence.tree
    first_by_split: dict[str, str] = {}
    without_split: list[str] = []
    with_outer_word: list[str] = []  # their names begin or end with a split: train_3, 3_train_07
    for image_id in tree.labeled_ids:
        # Numbers are of no word; short words may be anything.
        words_of_name = [one for one in words(posixpath.basename(image_id)) if not one.isdecimal()]
        split_words = [
            word
            for word in words_of_name
            if len(word) >= MIN_LETTERS_OF_SPLIT and word in SPLIT_BY_WORD
        ]
        if not split_words:
            without_split.append(image_id)
            continue
        for word in split_words:
            first_by_split.setdefault(SPLIT_BY_WORD[word], image_id)
        if words_of_name[0] == split_words[0] or words_of_name[-1] == split_words[-1]:
            with_outer_word.append(image_id)
    image_count = len(tree.labeled_ids)
    if len(first_by_split) > 1 and 2 * len(without_split) <= image_count:
        words_for_names = "images of one folder with names of different splits"
        examples = [*first_by_split.values()]
    elif without_split and len(with_outer_word) >= max(1, _MIN_SHARE_OF_OUTER_WORDS * image_count):
        words_for_names = "images of one folder of which only some are named after a split"
        examples = [with_outer_word[0], without_split[0]]
    else:
        return None
    names = ", ".join(tree.filename_of(image_id) for image_id in examples)
    return LayoutError(
        tree.root / tree.layout.images,
        found=f"{words_for_names}, such as {names}",
        expected="a folder or a list for each split",
        remedy="write the names into a list for each split, such as train.txt and val.txt; or put "
        "all images into train with --splits train=1",
        kind="image names with splits",
    )
