"""A tree in the Pascal VOC layout: which files each id has, and which ids its lists have.

A split may have millions of pairs, so each pair is made when it is asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import os
import posixpath
from typing import Any, overload

from etils import epath

from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.errors import LayoutError, ListError, SplitError, counted, did_you_mean
from voc_seg_tfrecord.core.example import ALL_FILES, IMAGE_AND_MASK, NeededFiles
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import IMAGES, LISTS, MASK_ENDINGS, MASKS, VOC, Layout
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.folder.tree.pairs import WORDS_BY_PART, Pair, PartFiles
from voc_seg_tfrecord.folder.tree.set_files import SetFiles

_LIST_ENDING = ".txt"


@dataclasses.dataclass(frozen=True)
class MissingParts:
    """The folders and lists that a tree lacks.

    Attributes:
      names: what each of them is, such as `the folder Annotations of XML files`.
      advice: how to build without those that are not needed; begins with a comma if there is any.
    """

    names: Sequence[str]
    advice: str


@dataclasses.dataclass(frozen=True, eq=False)
class VocTree:
    """A folder that holds images, masks and id lists. Each listing and text is read once and kept.

    The methods that say "a release may override it" are overridden by
    `sources.trainaug.TrainaugTree`, whose files lie in several folders.

    Attributes:
      given: the folder that the user gave; or that of a release, such as `VOC2012` in a devkit.
      layout: where the root is, and the names of the folders in it, for options and messages.
      listing: all files at and below the given folder; if there is none, each folder of the tree is
        listed when it is needed.
      notes: what a user should know about how the tree was found.
      set_files: the images and masks of a user's folder, as the files step has found them; None for
        a release, whose files lie in the folders of the layout under their ids.
      given_labels: see `labels`, which always has them. The labels, if they are not just the masks
        of `set_files`: shapes, masks that are read in another way (soft, of MATLAB), or masks that
        a text states for images.
      ignored: the ignore masks, if the user named their folder.
      channels: how many files an image has, of which each is a channel; see `Pair`.
    """

    given: epath.Path
    layout: Layout = VOC
    listing: Listing | None = None
    notes: Sequence[str] = ()
    set_files: SetFiles | None = None
    given_labels: Labels | None = None
    channels: int = 1
    ignored: PartFiles | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", epath.Path(self.given))

    @functools.cached_property
    def root(self) -> epath.Path:
        """The folder in which images, masks and lists lie: the given one, or one below it."""
        return self.given / self.layout.root

    @property
    def root_below_given(self) -> str:
        """The path of the root below the given folder; empty if it is that folder."""
        return self.layout.root

    @property
    def options(self) -> dict[str, str]:
        """The options that choose these images and masks."""
        return self.layout.options()

    @functools.cached_property
    def texts(self) -> "TreeTexts":
        """The lists and class files."""
        return TreeTexts(self.root / self.layout.lists, self.listing)

    @functools.cached_property
    def labels(self) -> Labels:
        """Where the masks come from: the labels that were given, or files of pixels."""
        if self.given_labels is not None:
            return self.given_labels
        masks = self.set_files.masks if self.set_files else self._index("masks", MASK_ENDINGS)
        return Labels(self.given, masks)

    @functools.cached_property
    def images(self) -> Names:
        """The images' paths below the given folder, by id."""
        return self.set_files.images if self.set_files else self._index("images", IMAGE_ENDINGS)

    @property
    def masks(self) -> Names:
        """The paths of the masks, or of what they are drawn from, below `labels.folder`, by id.

        Of a user's folder this is the given folder.
        """
        return self.labels.names

    @property
    def mask_endings(self) -> tuple[str, ...]:
        """The endings of masks, in lower case."""
        return tuple(self.set_files.mask_endings) if self.set_files else MASK_ENDINGS

    @functools.cached_property
    def labeled_ids(self) -> Sequence[str]:
        """The ids of the images that have a mask, in the order of `images`."""
        return [image_id for image_id in self.images if image_id in self.masks]

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' paths below the given folder, by id."""
        return self._index("instances", MASK_ENDINGS)

    @functools.cached_property
    def annotations(self) -> Names:
        """The XML files' paths below the given folder, by id."""
        return self._index("annotations", (".xml",))

    def _index(self, folder_of_layout: str, endings: Sequence[str]) -> Names:
        """Returns the files in one of the folders of the layout, by id."""
        folder = self.folder_below_given(folder_of_layout)
        return index_files(self.given, endings, folder=folder, listing=self.listing)

    def folder_below_given(self, folder_of_layout: str) -> str:
        """Returns the path of one of the folders of the layout; empty for the given folder.

        Args:
          folder_of_layout: the attribute of `Layout`, such as `images`.
        """
        path = self.path_below_given(getattr(self.layout, folder_of_layout))
        return "" if path == "." else path

    def path_below_given(self, path: str) -> str:
        """Returns the path below the given folder of what lies below the root."""
        return posixpath.normpath(posixpath.join(self.root_below_given, path))

    def image_file(self, image_id: str) -> epath.Path:
        """Returns the full path of an id's image."""
        return self.given / self.images[image_id]

    def filename_of(self, image_id: str) -> str:
        """Returns the name of an id's image below the folder of images, as the dataset has it."""
        return self._image_files.name_below_folder(image_id)

    def record_id(self, image_id: str) -> str:
        """Returns the id that the dataset has for an id: the image's name without its ending.

        | image | id in the tree | id in the dataset |
        | --- | --- | --- |
        | `a.jpg` | `a` | `a` |
        | `a_photo.jpg`, by the pattern `{id}_photo.jpg` | `a` | `a_photo` |
        | `train/images/a.jpg`, with masks in `train/masks` | `train/a` | `train/images/a` |
        """
        if image_id not in self.images:
            return image_id
        return id_lists.id_of_file(self.filename_of(image_id))

    @functools.cached_property
    def _image_files(self) -> PartFiles:
        return PartFiles(self.given, self.images, self.folder_below_given("images"))

    def files_by_part(self, image_id: str, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part of an id has to lie, by the part's name in `Pair`.

        A release may override it, and then `find_missing` too. Here the files of all ids lie in the
        same folders.
        """
        del image_id
        if parts not in self._located_parts:
            self._located_parts[parts] = self._locate_parts(parts)
        return dict(self._located_parts[parts])

    @functools.cached_property
    def _located_parts(self) -> dict[NeededFiles, dict[str, PartFiles]]:
        """What `_locate_parts` returned, by its argument."""
        return {}

    def _locate_parts(self, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part lies in the folders of the layout, by its name in `Pair`."""
        files = {"image": self._image_files}
        are_masks_needed = not parts.background
        if parts.masks:
            # Labels in a folder of their own, outside of the given one, have no folder below it.
            are_below_given = self.labels.folder == self.given
            folder = self.folder_below_given("masks") if are_below_given else ""
            files["mask"] = PartFiles(self.labels.folder, self.masks, folder, are_masks_needed)
        if parts.instances:
            objects = self.labels.object_masks
            if objects is None:
                folder = self.folder_below_given("instances")
                objects = PartFiles(self.given, self.instances, folder)
            files["instances"] = dataclasses.replace(objects, needed=are_masks_needed)
        if parts.masks and self.ignored is not None:
            files["ignored"] = self.ignored
        if parts.annotations:
            folder = self.folder_below_given("annotations")
            files["annotation"] = PartFiles(self.given, self.annotations, folder)
        return files

    def existing_paths_by_part(self, image_id: str) -> dict[str, list[epath.Path]]:
        """Returns the paths of an id's files that exist, by the part's name in `Pair`.

        An id that has several files of one part has all of them here.
        """
        parts_of_labels = {"mask"}
        if self.labels.object_masks is not None:
            parts_of_labels.add("instances")
        paths = {}
        for part, files in self.files_by_part(image_id, ALL_FILES).items():
            if image_id not in files.names:
                continue
            names = files.ambiguous_names(image_id) or (files.names[image_id],)
            if part in parts_of_labels:
                names = self.labels.files_of(image_id)
            paths[part] = [files.root / name for name in names]
        return paths

    def image_folders(self, ids: Sequence[str]) -> list[epath.Path]:
        """Returns the folders in which the images of ids lie.

        A release may override it. Here all images lie in one folder.
        """
        del ids
        return [self.root / self.layout.images]

    def items(self, parts: NeededFiles = IMAGE_AND_MASK) -> "Items":
        """Returns the pair of each id.

        Args:
          parts: what is needed beside the image.
        """
        return Items(self, parts)

    def pairs(self, split: str, ids: Sequence[str], parts: NeededFiles = IMAGE_AND_MASK) -> "Pairs":
        """Returns the pairs of a split; see `Items.of_split`."""
        return self.items(parts).of_split(split, ids)

    def make_pair(self, image_id: str, parts: NeededFiles) -> Pair:
        """Returns the pair of an id whose needed files are all there.

        A release may override it.
        """
        files_by_part = self.files_by_part(image_id, parts)
        paths: dict[str, Any] = {
            part: files.path(image_id) for part, files in files_by_part.items()
        }
        filename = files_by_part["image"].name_below_folder(image_id)
        pair = Pair(image_id, filename, **paths, channels=self.channels)
        return self.labels.complete_pair(pair, parts)

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not.

        A release may override it.
        """
        return self.texts.list_path(name)

    def read_ids(self, name: str) -> Sequence[str]:
        """Returns the ids of the list `name`, in its order.

        A release may override it.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            found = "no such list"
            names = self.texts.list_names()
            if names:
                files = ", ".join(f"{other}{_LIST_ENDING}" for other in names)
                found += f", but {files}{did_you_mean(name, names)}"
            raise LayoutError(
                path,
                found=found,
                expected="a text file of image ids, one per line",
                remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
            )
        # A list of plain ids is read before any folder has been listed.
        data = self.texts.read(path, ListError).data
        with_image = self.items(NeededFiles(masks=False))
        return id_lists.parse_ids(data, path, id_lists.IdsOfImages(with_image))

    def check_complete(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> None:
        """Raises an error if more than one folder or list is missing.

        One that is missing alone has an error of its own, which says more about it.

        Args:
          parts: what is needed beside the image.
          list_names: the lists that are read.

        Raises:
          LayoutError: naming all that is missing, if that is more than one folder or list.
        """
        missing = self.find_missing(parts, list_names)
        if len(missing.names) > 1:
            raise LayoutError(
                self.root,
                found=f"{counted(len(missing.names), 'missing part')} of a VOC tree: "
                f"{', '.join(missing.names)}",
                expected="all of them",
                remedy=f"add them{missing.advice}",
            )

    def find_missing(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> MissingParts:
        """Returns the folders and lists that are missing; see `check_complete`.

        A release may override it. It is not about one id, so it does not call `files_by_part`,
        which may depend on the id in a release.
        """
        names: list[str] = []
        advice = ""
        for list_name in list_names:
            path = self.list_path(list_name)
            if not path.exists():
                names.append(f"the list {self._name_below_root(path)}")
        for part, files in self._locate_parts(parts).items():
            if files.needed and not files.names and not files.folder.exists():
                words = WORDS_BY_PART[part]
                folder = self._name_below_root(files.folder)
                names.append(f"the folder {folder} of {words.noun}s")
                if words.without:
                    advice += f", or {words.without}"
        return MissingParts(names, advice)

    def _name_below_root(self, path: epath.Path) -> str:
        is_below = path.is_relative_to(self.root)
        return os.fspath(path.relative_to(self.root) if is_below else path)


class TreeTexts:
    """The text files of a tree: id lists, class files and tables. Each is read once.

    Args:
      lists: the folder of id lists.
      listing: the files that were listed already, or None.
    """

    def __init__(self, lists: epath.Path, listing: Listing | None = None):
        self._lists = lists
        self._listing = listing
        self._file_by_path: dict[epath.Path, File] = {}

    def read(
        self, path: epath.Path, error: type[LayoutError] | type[ListError] = LayoutError
    ) -> File:
        """Returns a text file; a second call with the same path returns the same object.

        Raises:
          VocSegError: of the class `error`, if the file cannot be read.
        """
        if path not in self._file_by_path:
            self._file_by_path[path] = File.read(path, error)
        return self._file_by_path[path]

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the id list `name`, whether it exists or not."""
        return self._lists / self._file_by_list.get(name, f"{name}{_LIST_ENDING}")

    def list_names(self) -> list[str]:
        """Returns the names of the id lists in their folder."""
        return list(self._file_by_list)

    @functools.cached_property
    def _file_by_list(self) -> dict[str, str]:
        """The names of the files of lists, by their names without `.txt`.

        If `train.txt` and `train.TXT` both exist, `train.txt` wins: it comes later in sorted order,
        so it replaces the other one.
        """
        files = sorted(files_below(self._lists, self._listing, deep=False))
        lists = [file for file in files if file.lower().endswith(_LIST_ENDING)]
        return {file[: -len(_LIST_ENDING)]: file for file in lists}


class Items(Mapping[str, Pair]):
    """The pair of each id of a tree.

    An id is in it if it has an image, and a mask if that is needed.

    `items[image_id]` and `find` check that all files are there that are needed, also XML files;
    `of_split` does so for all ids of a split, and names what is missing together.

    Args:
      tree: makes the pairs.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: VocTree, parts: NeededFiles):
        self._tree = tree
        self._parts = parts

    def __getitem__(self, image_id: str) -> Pair:
        if image_id not in self:
            raise KeyError(image_id)
        return self.find(image_id)

    def __contains__(self, image_id: object) -> bool:
        if image_id not in self._tree.images:
            return False
        needs_mask = self._parts.masks and not self._parts.background
        return not needs_mask or image_id in self._tree.masks

    def __iter__(self) -> Iterator[str]:
        return (image_id for image_id in self._tree.images if image_id in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def find(self, image_id: str) -> Pair:
        """Finds the files of one id; no file is opened.

        Raises:
          LayoutError: if a file is missing, or there are several.
        """
        fault = self._find_fault(image_id)
        if fault is not None:
            raise fault
        return self._tree.make_pair(image_id, self._parts)

    def of_split(self, split: str, ids: Sequence[str]) -> "Pairs":
        """Finds the files of the ids of a split; no file is opened.

        Returns:
          One pair per id, in the order of `ids`.

        Raises:
          LayoutError: naming all folders that are missing, if several are.
          SplitError: naming the first files that are missing, and how many are.
        """
        fault_by_id: dict[str, LayoutError] = {}
        for image_id in ids:
            fault = self._find_fault(image_id)
            if fault is not None:
                fault_by_id[image_id] = fault
        if fault_by_id:
            self._tree.check_complete(self._parts)
            raise SplitError(split, [*fault_by_id.values()], len(ids), ids=[*fault_by_id])
        return Pairs(self._tree, self._parts, ids)

    def _find_fault(self, image_id: str) -> LayoutError | None:
        """Returns the error that the files of an id have: one is missing, or there are several."""
        for part, files in self._tree.files_by_part(image_id, self._parts).items():
            fault = files.find_fault(part, image_id)
            if fault is not None:
                return fault
        return None


class Pairs(Sequence[Pair]):
    """The pairs of ids whose files are all there, in their order.

    Args:
      tree: makes the pairs.
      parts: what is needed beside the image.
      ids: the ids.

    Attributes:
      ids: the ids, which are the keys of examples.
    """

    def __init__(self, tree: VocTree, parts: NeededFiles, ids: Sequence[str]):
        self.ids = ids
        self._tree = tree
        self._parts = parts

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> "Pairs": ...

    def __getitem__(self, index: int | slice) -> "Pair | Pairs":
        if isinstance(index, slice):
            return Pairs(self._tree, self._parts, self.ids[index])
        return self._tree.make_pair(self.ids[index], self._parts)
