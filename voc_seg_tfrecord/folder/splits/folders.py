"""The folders of a set that are called as splits are."""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, command
from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.core.split_names import (
    are_names_of_splits,
    is_mixed_name,
    is_plain_name,
    list_splits_in,
    named_by_split,
    only_split_in,
    parse_split_name,
    split_but_for_number,
    split_of,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_NOT_TO_TRAIN_ON = ("validation", "test")


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

        They do if one of those with labeled images is called as a split is, in a plain word. They
        also do if each is called as another split, in any word, or if the only one is.
        """
        tree = self.tree
        has_masks_at_top = any("/" not in mask_id for mask_id in tree.masks)
        if has_masks_at_top:
            return ()
        ids_in_folders = [image_id for image_id in tree.images if "/" in image_id]
        folders = {_first_folder(image_id) for image_id in ids_in_folders}
        labeled_folders = {_first_folder(one) for one in ids_in_folders if one in tree.masks}
        named = sorted(labeled_folders or folders)
        has_plain_name = any(is_plain_name(name) for name in named)
        is_only_split = len(named) == 1 and only_split_in(named[0]) != ""
        if has_plain_name or is_only_split or are_names_of_splits(named):
            return sorted(folders)
        return ()

    def folders_by_split(self) -> dict[str, Sequence[str]]:
        """Returns the folders of each split, each with a slash at its end.

        Raises:
          LayoutError: if a folder has masks and no images, which would be lost; if train is a
            folder that is called as train and test.
        """
        self._check_parts_not_mixed()
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
        lost = {folder for folder in without_images if parse_split_name(folder).split != "test"}
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

    def _check_parts_not_mixed(self) -> None:
        """Checks that no part of the set lies in a folder that is called as test and another split.

        Nobody knows which of its images are which. A folder of train and validation is one to train
        on.

        Raises:
          LayoutError: if one is.
        """
        for part in self.tree.layout.folders():
            folders = part.images.split("/")
            # The name of such a part is the beginning of its ids, so its folder is a first folder.
            is_first_folder = not part.name or part.name in folders
            if is_first_folder:
                continue
            for folder in folders:
                self._check_not_mixed(folder, self.tree.root / part.images)

    def check_not_mixed(self, image_ids: Iterable[str]) -> None:
        """Checks that images of no split lie in no folder of test and another split.

        A file of shapes, or its folder, may not be called so either.

        Raises:
          LayoutError: if one is.
        """
        tree = self.tree
        paths = {posixpath.dirname(tree.paths.image(image_id)) for image_id in image_ids}
        paths |= {posixpath.splitext(sheet)[0] for sheet in tree.labels.label_files}
        for path in sorted(paths):
            for name in path.split("/"):
                self._check_not_mixed(name, tree.given / path)

    def _check_not_mixed(self, name: str, path: epath.Path) -> None:
        """Checks that the name of a folder or file does not say test and another split.

        Raises:
          LayoutError: if it does.
        """
        if not is_mixed_name(name):
            return
        raise LayoutError(
            path,
            found=f"a name that says several splits: {', '.join(list_splits_in(name))}",
            expected="a folder or file for each split",
            remedy="move the images of each split into a folder of its own, or write lists of "
            "splits. All images of the set are divided by ratio with --splits "
            "train=0.8,validation=0.2, or are in train with --splits train=1",
            kind="folder of several splits",
        )

    def _folders_with_words_around(self) -> dict[str, Sequence[str]]:
        """Returns folders whose names say splits and a word more, the same in all, or a number.

        They may lie below others. There are none unless each labeled image lies in one.

            folders of labeled images        returned
            train_2019, val_2019             train: train_2019/, validation: val_2019/
            road_train, road_val             train: road_train/, validation: road_val/
            rome/train, bonn/val             train: */train/, validation: */val/
            road_train, sky_val              none
        """
        tree = self.tree
        labeled = [image_id for image_id in tree.images if image_id in tree.masks]
        paths = [image_id.split("/")[:-1] for image_id in labeled]
        depth = min((len(path) for path in paths), default=0)
        for level in range(depth):
            folder_by_split = _folders_of_one_level({path[level] for path in paths})
            if "train" in folder_by_split:
                above = "*/" * level
                return {split: [f"{above}{name}/"] for split, name in folder_by_split.items()}
        return {}

    def _parts_by_split(self) -> dict[str, Sequence[str]]:
        """Returns the parts whose folders say splits, as in `train/imgs` and `test1/imgs/CVC`.

        Parts whose folders say none belong to train, as in `aug/imgs` beside these. Of several
        folders for validation or test, such as `test1` and `test2`, each makes a split of its own
        name.
        """
        parts_by_folder: dict[str, list[str]] = collections.defaultdict(list)
        for part in self._labeled_parts():
            parts_by_folder[_first_folder_of_split(part.images)].append(f"{part.name}/")
        split_by_folder = {
            folder: parse_split_name(folder).split or "train" for folder in parts_by_folder
        }
        folder_count_by_split = collections.Counter(split_by_folder.values())
        if "train" not in folder_count_by_split or len(folder_count_by_split) == 1:
            return {}
        parts_by_split: dict[str, list[str]] = collections.defaultdict(list)
        for folder, split in split_by_folder.items():
            is_one_of_several = split != "train" and folder_count_by_split[split] > 1
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
          LayoutError: if some do.
        """
        tree = self.tree
        self.check_not_mixed(image_id for image_id in tree.images if image_id in tree.masks)
        self._check_no_part_of_other_split()
        self._check_no_folder_of_split()

    def _check_no_part_of_other_split(self) -> None:
        """Checks that no part of the set lies in a folder of validation or test.

        Raises:
          LayoutError: if one does.
        """
        tree = self.tree
        for part in self._labeled_parts() or tree.layout.folders():
            path = posixpath.normpath(posixpath.join(tree.root_below_given, part.images))
            folder = _first_folder_of_split(path)
            if parse_split_name(folder).split not in _NOT_TO_TRAIN_ON:
                continue
            raise LayoutError(
                tree.given / path,
                found=f"images in a folder {folder}, while no text and no other folder says "
                "which images are in train",
                expected="folders of train and of the other splits, or lists",
                remedy="say which folders are which splits with --images and --masks, such as "
                "--images train=a/images,test=b/images; or put all images into one split with "
                "--splits train=1 or --splits test=1",
            )

    def _check_no_folder_of_split(self) -> None:
        """Checks that no labeled image lies in a folder that is called as a split.

        Raises:
          LayoutError: if one does.
        """
        tree = self.tree
        labeled = [image_id for image_id in tree.images if image_id in tree.masks]
        paths = [image_id.split("/")[:-1] for image_id in labeled]
        for level in range(max((len(path) for path in paths), default=0)):
            names = {path[level] for path in paths if len(path) > level}
            called_as_splits = sorted(name for name in names if _is_called_as_split(name))
            if called_as_splits:
                raise self._folders_beside_others(called_as_splits, level)

    def _folders_beside_others(self, folders: Sequence[str], level: int) -> LayoutError:
        """Returns the error that folders of splits do not divide the images.

        Args:
          folders: the folders that are called as splits.
          level: how many other folders they lie in, below the folder of images.
        """
        tree = self.tree
        found = f"images in folders that are called as splits, {', '.join(folders)}"
        outside = [
            path
            for image_id, path in tree.images.items()
            if image_id in tree.masks and _folder_at(level, image_id) not in folders
        ]
        if outside:
            found += f", and others in none, such as {outside[0]}"
        else:
            found += ", and none in a folder of train"
        folder_by_split = _folder_by_split(folders, tree.root)
        choice = _option_for(folder_by_split, above="*/" * level)
        return LayoutError(
            tree.root / tree.layout.images,
            found=found,
            expected="images in the folders of splits, or lists",
            remedy=f"take the folders with {choice}, or all images with --splits train=1",
        )


def _folders_of_one_level(names: set[str]) -> dict[str, str]:
    """Returns the folder of each split; none if the folders do not divide images in one way.

    Each has to be of another split, and the words around the splits have to be the same.
    """
    folder_by_split: dict[str, str] = {}
    words_around = set()
    for name in sorted(names):
        parsed = parse_split_name(name)
        if not parsed.split or parsed.split in folder_by_split:
            return {}
        folder_by_split[parsed.split] = name
        if not parsed.rest.isdigit():
            words_around.add(parsed.rest)
    if len(folder_by_split) < 2 or len(words_around) > 1:
        return {}
    return folder_by_split


def _is_called_as_split(folder: str) -> bool:
    """Says whether a folder is called as a split in a plain word, or as one that is not train.

    Examples: `val`, `dev`, `test1`.
    """
    return is_plain_name(folder) or split_but_for_number(folder) in _NOT_TO_TRAIN_ON


def _folder_at(level: int, image_id: str) -> str:
    """Returns the folder of an id that lies in as many others; empty if there is none."""
    folders = image_id.split("/")[:-1]
    return folders[level] if level < len(folders) else ""


def _first_folder_of_split(path: str) -> str:
    """Returns the first folder of a path that says a split; empty if none does."""
    for folder in path.split("/"):
        if parse_split_name(folder).split:
            return folder
    return ""


def _first_folder(image_id: str) -> str:
    return image_id.partition("/")[0]


def _option_for(folder_by_split: Mapping[str, str], above: str = "") -> str:
    sources = [f"{split}={above}{name}/" for split, name in folder_by_split.items()]
    return command(splits=",".join(sources))


def _folder_by_split(folders: Sequence[str], where: object) -> dict[str, str]:
    """Returns the folder of each split: `val` is of `validation`, `training` of `train`.

    If several folders say the same split, each of these makes one of its own name: `training`,
    `val` and `eval` are of `train`, `validation` and `eval`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    folders_by_said_split: dict[str, list[str]] = {}
    for folder in folders:
        said_split = only_split_in(folder) or split_of(folder)
        folders_by_said_split.setdefault(said_split, []).append(folder)
    folder_by_split = {}
    for said_split, same_split in folders_by_said_split.items():
        if len(same_split) == 1:
            folder_by_split[said_split] = same_split[0]
        else:
            folder_by_split.update(_folder_by_own_name(same_split, where))
    return folder_by_split


def _folder_by_own_name(folders: Sequence[str], where: object) -> dict[str, str]:
    """Returns folders that say the same split by their own names, as `split_of` makes them.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    folder_by_split = {}
    for split, names in named_by_split(folders).items():
        if len(names) > 1:
            raise LayoutError(
                where,
                found=f"{names[0]!r} and {names[1]!r}, which would both be the split {split!r}",
                expected="one folder for each split",
                remedy=f"say which: {command(splits=f'{split}={names[1]}/,...')}",
            )
        folder_by_split[split] = names[0]
    return folder_by_split
