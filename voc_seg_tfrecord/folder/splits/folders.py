"""The folders of a set that are called as splits are, and which split each makes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import (
    are_names_of_splits,
    as_split_name,
    canonical_split,
    is_plain_name,
    only_split_in,
    parse_split_name,
    words,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

FoldersBySplit = Mapping[str, Sequence[str]]
"""The folders of each split, each with a slash at its end; `*` stands for any one folder.

A *literal split* is called as its folder is: `test1` and `test2` are two literal splits.
"""


@dataclasses.dataclass(frozen=True)
class SplitFolders:
    """The folders of a set in which the images of splits lie.

    Attributes:
      tree: the set.
    """

    tree: VocTree

    @functools.cached_property
    def dividing_first_folders(self) -> Sequence[str]:
        """The first folders of all ids; none if these do not divide the images into splits.

        They do not:

        - if a mask lies at the top, in no folder
        - if no image lies in a folder
        - if the names of folders do not divide images; see `_divide_images`
        """
        tree = self.tree
        has_masks_at_top = any("/" not in mask_id for mask_id in tree.masks)
        if has_masks_at_top:
            return ()
        ids_in_folders = [image_id for image_id in tree.images if "/" in image_id]
        folders = {first_folder(image_id) for image_id in ids_in_folders}
        labeled_folders = {first_folder(one) for one in ids_in_folders if one in tree.masks}
        if _divide_images(sorted(labeled_folders or folders)):
            return sorted(folders)
        return ()

    def folders_by_split(self) -> FoldersBySplit:
        """Returns the folders of each split, by the first of `FOLDER_RULES` that finds any.

        Raises:
          LayoutError: if two folders would make the same literal split.
        """
        for rule in FOLDER_RULES:
            folders_by_split = rule.find(self)
            if folders_by_split:
                return folders_by_split
        return {}

    def images(self, folder: str) -> list[str]:
        """Returns the ids below a folder that ends with a slash; `*` stands for any one folder."""
        pattern = re.compile(re.escape(folder).replace(re.escape("*"), "[^/]+"))
        return [image_id for image_id in self.tree.images if pattern.match(image_id)]

    def images_at(self, path: str) -> list[str]:
        """Returns the ids of images at or below a path that ends with a slash: `images/val/`.

        The path starts at the given folder, or at the root of the set.
        """
        tree = self.tree
        paths = (path, posixpath.join(tree.root_below_given, path))
        return [image_id for image_id in tree.images if tree.images[image_id].startswith(paths)]

    def labeled_parts(self) -> list[Part]:
        """Returns the parts of the set that have masks."""
        if not self.tree.layout.parts:
            return []
        labeled_folders = set[str]()
        for mask_id in self.tree.masks:
            folder = posixpath.dirname(mask_id)
            while folder and folder not in labeled_folders:
                labeled_folders.add(folder)
                folder = posixpath.dirname(folder)
        return [part for part in self.tree.layout.parts if part.name in labeled_folders]


def find_first_folders(folders: SplitFolders) -> FoldersBySplit:
    """The folders directly below the image folder are named like splits.

    If several say one split, each makes its literal split.

    Example: `images/train/a.jpg` and `images/val/b.jpg`.
    """
    where = folders.tree.root / folders.tree.layout.images
    folder_by_split = choose_folder_of_each_split(folders.dividing_first_folders, where)
    return {split: [f"{name}/"] for split, name in folder_by_split.items()}


def find_folders_at_one_depth(folders: SplitFolders) -> FoldersBySplit:
    """Folders at one depth are named like splits, with at most one other word or number.

    Each labeled image lies in one, one says train, and each says another split. The first such
    depth counts.

    | folders of labeled images | splits |
    | --- | --- |
    | `train_2019`, `val_2019` | train: `train_2019/`, validation: `val_2019/` |
    | `road_train`, `road_val` | train: `road_train/`, validation: `road_val/` |
    | `rome/train`, `bonn/val` | train: `*/train/`, validation: `*/val/` |
    | `road_train`, `sky_val` | none |
    """
    names_above = [image_id.split("/")[:-1] for image_id in folders.tree.labeled_ids]
    depth = min(map(len, names_above), default=0)
    for level in range(depth):
        names = sorted({names_of_image[level] for names_of_image in names_above})
        if _say_splits_alike(names):
            stars = "*/" * level
            return {parse_split_name(name).split: [f"{stars}{name}/"] for name in names}
    return {}


def _say_splits_alike(names: Sequence[str]) -> bool:
    """Says whether names say train and other splits, each once, and beside them the same word."""
    splits = set[str]()
    other_words = set[str]()
    for name in names:
        parsed = parse_split_name(name)
        if parsed.split in ("", *splits):
            return False
        splits.add(parsed.split)
        if not parsed.rest.isdigit():
            other_words.add(parsed.rest)
    return "train" in splits and len(splits) > 1 and len(other_words) <= 1


def find_parts(folders: SplitFolders) -> FoldersBySplit:
    """Folders above the image folders are named like splits, one of them train.

    Parts whose folders say no split belong to train, as `aug/imgs` beside `train/imgs`. If several
    folders say one split other than train, each makes its literal split.

    Example: `train/imgs` and `test1/imgs/CVC`.

    Raises:
      LayoutError: if a part of no split lies where parts of splits lie, and is not called
        augmented: `rome/calib/images` beside `rome/train/images` and `rome/val/images`. If two
        folders would make the same literal split.
    """
    parts_by_folder: dict[str, list[Part]] = {}
    for part in folders.labeled_parts():
        parts_by_folder.setdefault(first_folder_of_split(part.images), []).append(part)
    folders_by_split: dict[str, list[str]] = {}
    for folder in parts_by_folder:
        split = parse_split_name(folder).split or "train"
        folders_by_split.setdefault(split, []).append(folder)
    if "train" not in folders_by_split or len(folders_by_split) == 1:
        return {}
    root = folders.tree.root
    _check_parts_without_split(root, parts_by_folder)
    with_literal = _with_literal_splits(folders_by_split, root, "train")
    parts_by_split: dict[str, Sequence[str]] = {}
    for split, folders_of_split in with_literal.items():
        parts_of_split = [part for one in folders_of_split for part in parts_by_folder[one]]
        parts_by_split[split] = [f"{part.name}/" for part in parts_of_split]
    return parts_by_split


def _check_parts_without_split(
    root: epath.Path, parts_by_folder: Mapping[str, Sequence[Part]]
) -> None:
    """Checks that no part of no split, which is `parts_by_folder[""]`, lies among those of splits.

    Raises:
      LayoutError: if one does; see `find_parts`.
    """
    places = set[str]()
    for folder, parts in parts_by_folder.items():
        if folder:
            places.update(_with_placeholder(part.images, folder) for part in parts)
    for part in parts_by_folder.get("", ()):
        for folder in part.images.split("/"):
            is_augmented = any(word.startswith("aug") for word in words(folder))
            if _with_placeholder(part.images, folder) in places and not is_augmented:
                raise LayoutError(
                    root / part.images,
                    found=f"images in the folder {folder}, next to folders that are named "
                    "after splits",
                    expected="a folder named after a split, such as train, val or test",
                    remedy="rename the folder, or give the folder of each split with --images "
                    "and --masks, such as --images train=a/images,test=b/images",
                )


@dataclasses.dataclass(frozen=True)
class FolderRule:
    """One row of the table of rules that find folders of splits.

    Attributes:
      name: what the rule looks at, for the page of rules.
      find: returns the folders of each split; none if the rule does not hold.
    """

    name: str
    find: Callable[[SplitFolders], FoldersBySplit]


FOLDER_RULES = (
    FolderRule("first folders", find_first_folders),
    FolderRule("folders at one depth", find_folders_at_one_depth),
    FolderRule("folders of parts", find_parts),
)
"""The rules, in the order in which they are tried. The first that finds folders counts."""


def _with_placeholder(path: str, folder: str) -> str:
    """Returns a path with `*` in place of a folder: `rome/*/images` for `rome/train/images`."""
    return "/".join("*" if name == folder else name for name in path.split("/"))


def _divide_images(folders: Sequence[str]) -> bool:
    """Says whether folders divide the images in them into splits, by their names.

    folders           they do
    train, extra      yes: one is called as a split in a plain word
    tr, ts            yes: each is called as another split
    tr                yes: the only one is called as a split
    tr, extra         no
    """
    has_plain_name = any(is_plain_name(name) for name in folders)
    is_only_split = len(folders) == 1 and only_split_in(folders[0]) != ""
    return has_plain_name or is_only_split or are_names_of_splits(folders)


def first_folder(image_id: str) -> str:
    """Returns the first folder of an id; the id itself if it lies in none."""
    return image_id.partition("/")[0]


def first_folder_of_split(path: str) -> str:
    """Returns the first folder of a path that says a split; empty if none does."""
    for folder in path.split("/"):
        if parse_split_name(folder).split:
            return folder
    return ""


def option_for_folders(folder_by_split: Mapping[str, str], above: str = "") -> str:
    """Returns the option `splits` that takes a folder for each split; `above` is `*/` or empty."""
    sources = [f"{split}={above}{name}/" for split, name in folder_by_split.items()]
    return command(splits=",".join(sources))


def choose_folder_of_each_split(folders: Iterable[str], where: object) -> dict[str, str]:
    """Returns the folder of each split: `val` is of `validation`, `training` of `train`.

    If several folders say the same split, each of these makes its literal split: `training`, `val`
    and `eval` are of `train`, `validation` and `eval`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    folders_by_split: dict[str, list[str]] = {}
    for folder in folders:
        named_split = only_split_in(folder) or as_split_name(canonical_split(folder))
        folders_by_split.setdefault(named_split, []).append(folder)
    literal = _with_literal_splits(folders_by_split, where)
    return {split: folder for split, (folder,) in literal.items()}


def _with_literal_splits(
    folders_by_split: Mapping[str, Sequence[str]], where: object, joined_split: str | None = None
) -> dict[str, Sequence[str]]:
    """Returns folders by split, of which several of one split are each of its literal split.

    It is called as the folder is, as TFDS takes it: `Test_1` of `Test 1`. A usual name counts as
    its split: `val` gives `validation`.

    Args:
      folders_by_split: the folders by the split that their names say.
      where: where they lie, for the error.
      joined_split: the split of which several folders stay together; None if none do.

    Raises:
      LayoutError: if two folders of one split would make the same literal split.
    """
    with_literal: dict[str, Sequence[str]] = {}
    for named_split, folders in folders_by_split.items():
        if len(folders) == 1 or named_split == joined_split:
            with_literal[named_split] = folders
            continue
        folder_by_literal: dict[str, str] = {}
        for folder in folders:
            split = as_split_name(canonical_split(folder))
            first = folder_by_literal.setdefault(split, folder)
            if first != folder:
                raise LayoutError(
                    where,
                    found=f"{first!r} and {folder!r}, which are both the split {split!r}",
                    expected="one folder for each split",
                    remedy=f"choose one: {command(splits=f'{split}={folder}/,...')}",
                )
            with_literal[split] = [folder]
    return with_literal
