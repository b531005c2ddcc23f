"""Folders that are called as splits are, such as `train` and `val`, and the splits they make."""

from collections.abc import Mapping, Sequence

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.plain_folders import split_word, subfolders
from voc_seg_tfrecord.splitting.ratios import named_by_split
from voc_seg_tfrecord.trees.layout import SPLIT
from voc_seg_tfrecord.trees.listing import index_files
from voc_seg_tfrecord.trees.tree import VocTree


def find(tree: VocTree) -> list[str]:
    """Returns the folders of images that name splits; none if no folder is called as one is."""
    # Masks that lie at the top say that folders below name no splits.
    if any("/" not in mask_id for mask_id in tree.masks):
        return []
    folders = {image_id.partition("/")[0] for image_id in tree.images if "/" in image_id}
    return sorted(folders) if any(map(split_word, folders)) else []


def note_beside_lists(tree: VocTree, splits: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns a note if lists make other splits than the folders that are called as splits."""
    folders = find(tree)
    of_folder = by_folder(folders, tree.root / tree.layout.images)
    same = all(
        i.startswith(f"{of_folder.get(split)}/") for split, ids in splits.items() for i in ids
    )
    if not folders or (same and sum(map(len, splits.values())) == len(tree.images)):
        return []
    choice = ",".join(f"{split}={name}/" for split, name in of_folder.items())
    return [
        f"The lists make the splits, and the folders {', '.join(folders)} hold other images. "
        f"--splits {choice} takes the folders."
    ]


def sources(tree: VocTree, folders: Sequence[str]) -> dict[str, str]:
    """Returns the folder of each split.

    Raises:
      LayoutError: if a folder has masks and no images, which would be lost.
    """
    found = by_folder(folders, tree.root / tree.layout.images)
    lost = {name.partition("/")[0] for name in tree.masks if "/" in name} - set(folders)
    if lost:
        choice = ",".join(f"{split}={name}/" for split, name in found.items())
        first = min(name for name in tree.masks if name.partition("/")[0] in lost)
        raise LayoutError(
            tree.root / tree.layout.masks / tree.masks[first],
            found=f"masks for a split {min(lost)!r}, which has no images. The splits with images "
            f"are {', '.join(folders)}",
            expected="images and masks in the folders of a split",
            remedy="give the folder of its images the same name as in the other splits, or say "
            f"which splits you want, such as --splits {choice}",
        )
    return {split: f"{name}/" for split, name in found.items()}


def unread_notes(tree: VocTree, folders: Sequence[str]) -> list[str]:
    """Returns notes about images in no split: beside its folder, or in other folders in it."""
    outside = [name for image_id, name in tree.images.items() if "/" not in image_id]
    if outside:
        return [
            f"Images in no folder of a split are left out: {len(outside)}, such as {min(outside)}."
        ]
    if SPLIT not in tree.layout.image_name:
        return []
    lost = [name for name in subfolders(tree.root) if split_word(name) and name not in folders]
    return [
        f"{name}/ makes no split, because its {count} images are not named as "
        f"{tree.layout.image_name} says."
        for name in lost
        if (count := len(index_files(tree.root / name, IMAGE_SUFFIXES)))
    ]


def check_all_train(tree: VocTree) -> None:
    """Checks that images that shall all be in train do not lie in folders of other splits.

    Raises:
      LayoutError: if some do, and others in no folder of a split.
    """
    folders = sorted({name.partition("/")[0] for name in tree.images if "/" in name})
    called = [name for name in folders if split_word(name)]
    if called:
        first = next(name for name in tree.masks if "/" not in name)
        choice = ",".join(
            f"{split}={name}/" for split, name in by_folder(called, tree.root).items()
        )
        raise LayoutError(
            tree.root / tree.layout.images,
            found=f"images in folders that are called as splits, {', '.join(called)}, and others "
            f"in none, such as {tree.images.get(first, first)}",
            expected="images in the folders of splits, or lists",
            remedy=f"take the folders with --splits {choice}, or all images with --splits train=1",
        )


# How datasets of folders call them; lists of these names keep them.
_FOLDERS = {"training": "train", "testing": "test"}


def by_folder(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that folders make, as `by_split` does; `training` makes `train`."""
    called = {_FOLDERS.get(name.lower(), name): name for name in names}
    if len(called) < len(names):
        called = {name: name for name in names}
    return {split: called[name] for split, name in by_split(list(called), where).items()}


def by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists or folders of these names make.

    `val` and `valid` become `validation`, and known names are taken in any case: a list
    `Train` is the split `train`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    splits = named_by_split(names)
    for split, (first, *others) in splits.items():
        if others:
            raise LayoutError(
                where,
                found=f"{first!r} and {others[0]!r}, which would both be the split {split!r}",
                expected="one list or folder for each split",
                remedy=f"say which: --splits {split}={others[0]},...",
            )
    return {split: name for split, (name,) in splits.items()}
