"""The folders of a set that are called as splits are, and which split each makes."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.split_names import (
    are_names_of_splits,
    as_split_name,
    is_plain_name,
    only_split_in,
    parse_split_name,
    split_of,
    words,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


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

    def folders_by_split(self) -> dict[str, Sequence[str]]:
        """Returns the folders of each split, each with a slash at its end.

        A literal split is called as its folder is: `test1` and `test2` are two literal splits.

        Three rules find the folders, and the first one that finds any counts:

            rule                      finds                      if several folders say one split
            _find_by_first_folders    train/, val/               literal splits
            _find_by_words_around     rome/train/, bonn/val/     the rule finds none
            _find_by_parts            train/imgs/, test1/imgs/   one train, else literal splits

        Raises:
          LayoutError: if two folders would make the same literal split.
        """
        rules = (self._find_by_first_folders, self._find_by_words_around, self._find_by_parts)
        for find_folders in rules:
            folders_by_split = find_folders()
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
        return [
            image_id for image_id in tree.images if tree.paths.image(image_id).startswith(paths)
        ]

    def _find_by_first_folders(self) -> dict[str, Sequence[str]]:
        """Finds the first folders of ids: `train/a`, `val/b`."""
        tree = self.tree
        folder_by_split = choose_folder_of_each_split(
            self.dividing_first_folders, tree.root / tree.layout.images
        )
        return {split: [f"{name}/"] for split, name in folder_by_split.items()}

    def _find_by_words_around(self) -> dict[str, Sequence[str]]:
        """Finds folders whose names say splits and a word more, the same in all, or a number.

        They may lie below others. There are none unless each labeled image lies in one.

            folders of labeled images        returned
            train_2019, val_2019             train: train_2019/, validation: val_2019/
            road_train, road_val             train: road_train/, validation: road_val/
            rome/train, bonn/val             train: */train/, validation: */val/
            road_train, sky_val              none
        """
        paths = [folders_of_id(image_id) for image_id in self.tree.labeled_ids]
        depth = min((len(path) for path in paths), default=0)
        for level in range(depth):
            folder_by_split = _folders_of_one_level({path[level] for path in paths})
            if "train" in folder_by_split:
                above = "*/" * level
                return {split: [f"{above}{name}/"] for split, name in folder_by_split.items()}
        return {}

    def _find_by_parts(self) -> dict[str, Sequence[str]]:
        """Finds the parts of the set whose folders say splits: `train/imgs`, `test1/imgs/CVC`.

        Parts whose folders say none belong to train, as in `aug/imgs` beside these.

        Raises:
          LayoutError: if such a part lies where parts of splits lie, and is not called augmented.
        """
        parts_by_folder = self._parts_by_folder_of_split()
        folders_by_split = _group_by_named_split(parts_by_folder)
        if "train" not in folders_by_split or len(folders_by_split) == 1:
            return {}
        self._check_no_part_in_place_of_split()
        parts_by_split: dict[str, Sequence[str]] = {}
        for split, folders in self._with_literal_splits_beside_train(folders_by_split).items():
            parts = list[str]()
            for folder in folders:
                parts += parts_by_folder[folder]
            parts_by_split[split] = parts
        return parts_by_split

    def _check_no_part_in_place_of_split(self) -> None:
        """Checks that no part lies where parts of splits lie, in a folder that says no split.

        Example: `rome/calib/images` beside `rome/train/images` and `rome/val/images`.

        Raises:
          LayoutError: if one does, and its folder is not called augmented.
        """
        places = set[str]()
        parts_without_split = []
        for part in self.labeled_parts():
            folder = first_folder_of_split(part.images)
            if folder:
                places.add(_with_placeholder(part.images, folder))
            else:
                parts_without_split.append(part)
        for part in parts_without_split:
            for folder in part.images.split("/"):
                is_augmented = any(word.startswith("aug") for word in words(folder))
                if _with_placeholder(part.images, folder) in places and not is_augmented:
                    raise self._part_in_place_of_split_error(part, folder)

    def _part_in_place_of_split_error(self, part: Part, folder: str) -> LayoutError:
        return LayoutError(
            self.tree.root / part.images,
            found=f"images in the folder {folder}, next to folders that are named after splits",
            expected="a folder named after a split, such as train, val or test",
            remedy="rename the folder, or give the folder of each split with --images and "
            "--masks, such as --images train=a/images,test=b/images",
        )

    def _with_literal_splits_beside_train(
        self, folders_by_split: Mapping[str, Sequence[str]]
    ) -> dict[str, Sequence[str]]:
        """Returns folders by split, of which several of one split other than train are literal.

        Example: `test1` and `test2` in place of `test`. Those of train stay together.

        Raises:
          LayoutError: if two folders would make the same literal split.
        """
        with_literal_splits: dict[str, Sequence[str]] = {}
        for split, folders in folders_by_split.items():
            if split == "train" or len(folders) == 1:
                with_literal_splits[split] = folders
                continue
            for literal_split, folder in _folder_by_literal_split(folders, self.tree.root).items():
                with_literal_splits[literal_split] = [folder]
        return with_literal_splits

    def _parts_by_folder_of_split(self) -> dict[str, list[str]]:
        """Returns the parts of the set, each with a slash, by the folder that says their split.

        Example: `test1/imgs/CVC/` and `test1/imgs/ETIS/` by `test1`. Those whose folders say no
        split are under the empty text.
        """
        parts_by_folder: dict[str, list[str]] = {}
        for part in self.labeled_parts():
            folder = first_folder_of_split(part.images)
            parts_by_folder.setdefault(folder, []).append(f"{part.name}/")
        return parts_by_folder

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


def _group_by_named_split(folders: Iterable[str]) -> dict[str, list[str]]:
    """Returns folders by the split that their names say; those that say none are of train."""
    folders_by_split: dict[str, list[str]] = {}
    for folder in folders:
        split = parse_split_name(folder).split or "train"
        folders_by_split.setdefault(split, []).append(folder)
    return folders_by_split


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


def folders_of_id(image_id: str) -> list[str]:
    """Returns the folders of an id, the outermost first: `train` and `a` of `train/a/0001`."""
    return image_id.split("/")[:-1]


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


def choose_folder_of_each_split(folders: Sequence[str], where: object) -> dict[str, str]:
    """Returns the folder of each split: `val` is of `validation`, `training` of `train`.

    If several folders say the same split, each of these makes its literal split: `training`, `val`
    and `eval` are of `train`, `validation` and `eval`.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    folders_by_named_split: dict[str, list[str]] = {}
    for folder in folders:
        named_split = only_split_in(folder) or _literal_split_of(folder)
        folders_by_named_split.setdefault(named_split, []).append(folder)
    folder_by_split = {}
    for named_split, same_split in folders_by_named_split.items():
        if len(same_split) == 1:
            folder_by_split[named_split] = same_split[0]
        else:
            folder_by_split.update(_folder_by_literal_split(same_split, where))
    return folder_by_split


def _folder_by_literal_split(folders: Sequence[str], where: object) -> dict[str, str]:
    """Returns folders that say the same split by their literal splits.

    Raises:
      LayoutError: if two of them would be one split; `where` says where they lie.
    """
    folder_by_split: dict[str, str] = {}
    for folder in folders:
        split = _literal_split_of(folder)
        first = folder_by_split.setdefault(split, folder)
        if first != folder:
            raise LayoutError(
                where,
                found=f"{first!r} and {folder!r}, which are both the split {split!r}",
                expected="one folder for each split",
                remedy=f"choose one: {command(splits=f'{split}={folder}/,...')}",
            )
    return folder_by_split


def _literal_split_of(folder: str) -> str:
    """Returns the split that is called as a folder is, as TFDS takes it: `Test_1` of `Test 1`.

    A usual name counts as its split: `val` gives `validation`.
    """
    return as_split_name(split_of(folder))
