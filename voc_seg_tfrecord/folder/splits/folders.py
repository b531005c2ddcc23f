"""The folders of a set that are called as splits are."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, command
from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.core.split_names import (
    are_names_of_splits,
    is_plain_name,
    list_splits_in,
    named_by_split,
    only_split_in,
    split_in,
)
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


@dataclasses.dataclass(frozen=True)
class SplitFolders:
    """The folders of a set in which the images of splits lie.

    Attributes:
      tree: the set.
    """

    tree: VocTree

    @functools.cached_property
    def first_folders(self) -> Sequence[str]:
        """The first folders of all ids; none if these do not divide the images into splits.

        They do if one of those with labeled images is called as a split is, in plain words, or if
        all are, in any.
        """
        tree = self.tree
        has_masks_at_top = any("/" not in mask_id for mask_id in tree.masks)
        if has_masks_at_top:
            return ()
        in_folders = [image_id for image_id in tree.images if "/" in image_id]
        folders = {_first_folder(image_id) for image_id in in_folders}
        labeled_folders = {_first_folder(i) for i in in_folders if i in tree.masks}
        named = labeled_folders or folders
        divide_images = any(map(is_plain_name, named)) or are_names_of_splits(named)
        return sorted(folders) if divide_images else ()

    def folders_by_split(self) -> dict[str, Sequence[str]]:
        """Returns the folders of each split, each with a slash at its end.

        Raises:
          LayoutError: if a folder has masks and no images, which would be lost; if train is a
            folder that is called as train and test.
        """
        self._check_mixed_parts()
        if not self.first_folders:
            return self._folders_with_words_around() or self._parts_by_split()
        tree = self.tree
        folder_by_split = _folder_by_split(self.first_folders, tree.root / tree.layout.images)
        self._check_masks_have_images(folder_by_split)
        return {split: [f"{name}/"] for split, name in folder_by_split.items()}

    def _check_masks_have_images(self, folder_by_split: Mapping[str, str]) -> None:
        """Checks that no folder of train or validation has masks alone, which would be lost.

        Masks of test images are often published before the images; they stand in the account.

        Raises:
          LayoutError: if one has.
        """
        tree = self.tree
        folders_of_masks = {_first_folder(name) for name in tree.masks if "/" in name}
        without_images = folders_of_masks - {*self.first_folders}
        lost = {folder for folder in without_images if split_in(folder)[0] != "test"}
        if not lost:
            return
        first = min(name for name in tree.masks if _first_folder(name) in lost)
        raise LayoutError(
            tree.root / tree.layout.masks / tree.masks[first],
            found=f"masks for a split {min(lost)!r}, which has no images. The splits with "
            f"images are {', '.join(self.first_folders)}",
            expected="images and masks in the folders of a split",
            remedy="give the folder of its images the same name as in the other splits, or "
            f"say which splits you want, such as {_option_for(folder_by_split)}",
        )

    def images(self, folder: str) -> list[str]:
        """Returns the ids below a folder that ends with a slash; `*` stands for any one folder."""
        pattern = re.compile(re.escape(folder).replace(re.escape("*"), "[^/]+"))
        return [image_id for image_id in self.tree.images if pattern.match(image_id)]

    def _check_mixed_parts(self) -> None:
        """Checks that no part of the set lies in a folder that is called as test and another split.

        Nobody knows which of its images are which. A folder of train and validation is one to train
        on.

        Raises:
          LayoutError: if one is.
        """
        for part in self.tree.layout.folders():
            folders = part.images.split("/")
            if not part.name or part.name in folders:
                continue
            for folder in folders:
                self._check_not_mixed(folder, part.images)

    def _check_not_mixed(self, name: str, path: str) -> None:
        """Checks that the name of a folder or file does not say test and another split.

        Raises:
          LayoutError: if it does.
        """
        splits = list_splits_in(name)
        if len(splits) < 2 or "test" not in splits:
            return
        raise LayoutError(
            self.tree.root / path,
            found=f"a name that says several splits: {', '.join(splits)}",
            expected="a folder or file for each split",
            remedy="move the images of each split into a folder of its own, or write lists of "
            "splits. All images of the set are divided by ratio with --splits "
            "train=0.8,validation=0.2, or are in train with --splits train=1",
            kind="folder of several splits",
        )

    def _folders_with_words_around(self) -> dict[str, Sequence[str]]:
        """Returns folders whose names say splits and a word more, the same in all, or a number.

        They may lie below others, as in `rome/train` and `bonn/val`: `*/train/` and `*/val/`. There
        are none unless each labeled image lies in one.
        """
        tree = self.tree
        paths = [image_id.split("/")[:-1] for image_id in tree.images if image_id in tree.masks]
        depth = min(map(len, paths), default=0)
        for level in range(depth):
            names = sorted({path[level] for path in paths})
            folders_by_split = dict[str, Sequence[str]]()
            words_around = set()
            for name in names:
                split, rest = split_in(name)
                folders_by_split[split] = [f"{'*/' * level}{name}/"]
                if not rest.isdigit():
                    words_around.add(rest)
            all_say_splits = "" not in folders_by_split
            are_distinct = len(folders_by_split) == len(names) > 1
            if len(words_around) > 1 or not all_say_splits or not are_distinct:
                continue
            if "train" in folders_by_split:
                return folders_by_split
        return {}

    def _parts_by_split(self) -> dict[str, Sequence[str]]:
        """Returns the parts whose folders say splits, as in `train/imgs` and `test1/imgs/CVC`.

        Parts whose folders say none belong to train, as in `aug/imgs` beside these. Of several
        folders for validation or test, such as `test1` and `test2`, each makes a split of its own
        name.
        """
        parts_by_folder: dict[str, list[str]] = collections.defaultdict(list)
        for part in self._labeled_parts():
            parts_by_folder[_folder_of_split(part.images)].append(f"{part.name}/")
        split_by_folder = {folder: split_in(folder)[0] or "train" for folder in parts_by_folder}
        folders_of_split = collections.Counter(split_by_folder.values())
        if "train" not in folders_of_split or len(folders_of_split) == 1:
            return {}
        parts_by_split: dict[str, list[str]] = collections.defaultdict(list)
        for folder, split in split_by_folder.items():
            is_one_of_several = split != "train" and folders_of_split[split] > 1
            name = folder if is_one_of_several else split
            parts_by_split[name] += parts_by_folder[folder]
        return {**parts_by_split}

    def _labeled_parts(self) -> list[Part]:
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

    def check_all_train(self) -> None:
        """Checks that images that shall all be in train do not lie in folders of other splits.

        Raises:
          LayoutError: if some do, and others in no folder of a split.
        """
        tree = self.tree
        for folder in sorted({_first_folder(i) for i in tree.masks if "/" in i}):
            self._check_not_mixed(folder, posixpath.join(tree.layout.images, folder))
        for sheet in sorted(tree.labels.sheets):
            self._check_not_mixed(stem(sheet), sheet)
        for part in self._labeled_parts() or tree.layout.folders():
            path = posixpath.normpath(posixpath.join(tree.place, part.images))
            folder = _folder_of_split(path)
            if split_in(folder)[0] in ("validation", "test"):
                raise LayoutError(
                    tree.given / path,
                    found=f"images in a folder {folder}, while no text and no other folder says "
                    "which images are in train",
                    expected="folders of train and of the other splits, or lists",
                    remedy="say which folders are which splits with --images and --masks, such as "
                    "--images train=a/images,test=b/images; or put all images into one split with "
                    "--splits train=1 or --splits test=1",
                )
        labeled = [i for i in tree.images if "/" in i and i in tree.masks]
        folders = {_first_folder(image_id) for image_id in labeled}
        called = sorted(filter(is_plain_name, folders))
        if not called:
            return
        first_at_top = next(name for name in tree.masks if "/" not in name)
        choice = _option_for(_folder_by_split(called, tree.root))
        raise LayoutError(
            tree.root / tree.layout.images,
            found=f"images in folders that are called as splits, {', '.join(called)}, and others "
            f"in none, such as {tree.images.get(first_at_top, first_at_top)}",
            expected="images in the folders of splits, or lists",
            remedy=f"take the folders with {choice}, or all images with --splits train=1",
        )


def _folder_of_split(path: str) -> str:
    """Returns the first folder of a path that says a split; empty if none does."""
    return next((folder for folder in path.split("/") if split_in(folder)[0]), "")


def _first_folder(image_id: str) -> str:
    return image_id.partition("/")[0]


def _option_for(folder_by_split: Mapping[str, str]) -> str:
    sources = [f"{split}={name}/" for split, name in folder_by_split.items()]
    return command(splits=",".join(sources))


def _folder_by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the folder of each split: `val` is of `validation`, `training` of `train`.

    If several folders say the same split, as `val` and `eval` do, each makes one of its own name.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    name_by_split = {only_split_in(name) or name: name for name in names}
    if len(name_by_split) < len(names):
        name_by_split = {name: name for name in names}
    folder_by_split = {}
    for split, words in named_by_split(name_by_split).items():
        if len(words) > 1:
            raise LayoutError(
                where,
                found=f"{words[0]!r} and {words[1]!r}, which would both be the split {split!r}",
                expected="one folder for each split",
                remedy=f"say which: {command(splits=f'{split}={words[1]},...')}",
            )
        folder_by_split[split] = name_by_split[words[0]]
    return folder_by_split
