"""Asks about folders of splits and of folds that are left out beside those that are read."""

from collections.abc import Callable, Collection, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.split_names import fold_in, parse_split_name
from voc_seg_tfrecord.folder.account import Account
from voc_seg_tfrecord.folder.companions import MASKS_WITHOUT_IMAGES, PAIRS_IN_NO_SPLIT
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


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


def check_no_split_left_out(tree: VocTree, used: Collection[str], unused: Account) -> None:
    """Checks that no folder of a split or fold is left out that may belong to the images.

    Examples: `images/val` beside `images/train`, whose images share `masks` and restart at 0; and
    `fold2/train` beside `fold1/train`.

    Raises:
      QuestionError: if one is.
    """
    ids_by_folder: dict[str, list[str]] = {}
    for image_id in tree.images:
        if image_id in used:
            folder = posixpath.dirname(tree.images[image_id])
            ids_by_folder.setdefault(folder, []).append(image_id)
    folds = _find_left_out(ids_by_folder, unused, fold_in)
    if folds:
        options = tree.layout.options(tree.root_below_given)
        used_part = folds[0].used_part
        alternatives = []
        for part in dict.fromkeys([used_part, *(fold.part for fold in folds)]):
            of_fold = {
                name: _replace_part(paths, used_part, part) for name, paths in options.items()
            }
            alternatives.append(Alternative("", of_fold))
        raise QuestionError(
            tree.given,
            alternatives,
            task="choose the fold that is read",
            expected="one fold, or lists of the folds",
            kind="several ways to divide",
        )
    if tree.labels.origin:  # the file that has the shapes says whose they are
        return
    for left_out in _find_left_out(ids_by_folder, unused, _split_in):
        reason = _reason_to_ask(tree, ids_by_folder[left_out.used_folder], unused, left_out)
        if reason:
            raise QuestionError(
                tree.given,
                [
                    Alternative(
                        f"only {left_out.used_folder}", tree.layout.options(tree.root_below_given)
                    )
                ],
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


def _split_in(name: str) -> str:
    """Returns the split that the name of a folder says."""
    return parse_split_name(name).split


def _find_left_out(
    used_folders: Collection[str], unused: Account, part_of_set_in: Callable[[str], str]
) -> list[_LeftOutFolder]:
    """Returns the unused folders of pictures whose path differs from one in use by its part.

    Args:
      used_folders: the folders of images in use.
      unused: the files that are not used.
      part_of_set_in: gives the split or fold that a name says; empty if it says none.
    """

    def list_patterns(folder: str) -> list[tuple[str, str]]:
        """Returns a path with `*` in place of each name that says a split or fold, and the name."""
        names = folder.split("/")
        return [
            ("/".join([*names[:number], "*", *names[number + 1 :]]), name)
            for number, name in enumerate(names)
            if part_of_set_in(name)
        ]

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
    tree: VocTree, used_ids: Collection[str], unused: Account, left_out: _LeftOutFolder
) -> str:
    """Returns why masks in use may belong to the images left out; empty if nothing says so."""
    mask_folders = {posixpath.dirname(tree.masks[one]) for one in used_ids if one in tree.masks}
    if any(_split_in(name) for folder in mask_folders for name in folder.split("/")):
        return ""
    used_stems = {stem(tree.images[image_id]) for image_id in used_ids}
    same_name = next((name for name in left_out.names if stem(name) in used_stems), "")
    if same_name:
        return f"{left_out.used_folder} has an image {stem(same_name)}, too"
    for group, names in unused.items():
        are_masks = group.kind in (MASKS_WITHOUT_IMAGES, PAIRS_IN_NO_SPLIT)
        if are_masks and group.folder in mask_folders:
            return f"{counted(len(names), 'mask')} in {group.folder or '.'} belong to no image"
    return ""
