"""A tree in the Pascal VOC layout: its id lists, its files, and the pairs of a split.

A split may have millions of pairs, so each pair is made when it is asked for.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import os
import posixpath
from typing import overload

from etils import epath

from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.errors import LayoutError, ListError, SplitError, did_you_mean
from voc_seg_tfrecord.core.example import ALL_PARTS, IMAGE_AND_MASK, NeededFiles
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.layout import (
    IMAGES,
    LISTS,
    MASK_SUFFIXES,
    MASKS,
    VOC,
    Layout,
)
from voc_seg_tfrecord.folder.tree.completeness import (
    MissingParts,
    find_missing,
    several_missing_error,
)
from voc_seg_tfrecord.folder.tree.listing import Listing, files_below
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.folder.tree.pairs import (
    Labels,
    Pair,
    PartFiles,
    missing_file_error,
    several_files_error,
)
from voc_seg_tfrecord.folder.tree.set_files import SetFiles


class Items(Mapping[str, Pair]):
    """The files of each id of a tree, by id. Each pair is made when it is asked for.

    An id is in it if it has an image, and a mask if that is needed. `find` and `of_split` say what
    else is missing, such as an XML file.

    Args:
      tree: where they lie.
      parts: what is needed beside the image.
    """

    def __init__(self, tree: "VocTree", parts: NeededFiles):
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
        return self.make(image_id)

    def make(self, image_id: str) -> Pair:
        """Returns the pair of an id whose needed files are known to be there."""
        return self._tree.make_pair(image_id, self._parts)

    def of_split(self, split: str, ids: Sequence[str]) -> "Pairs":
        """Finds the files of the ids of a split; no file is opened.

        Returns:
          One pair per id, in the order of `ids`.

        Raises:
          LayoutError: naming all folders that are missing, if several are.
          SplitError: naming the first files that are missing, and how many are.
        """
        faults = (self._find_fault(image_id) for image_id in ids)
        problems = [fault for fault in faults if fault is not None]
        if problems:
            self._tree.check_complete(self._parts)
            raise SplitError(split, problems, len(ids))
        return Pairs(self, ids)

    def _find_fault(self, image_id: str) -> LayoutError | None:
        """Returns what is wrong with the files of an id."""
        files_by_part = self._tree.files_by_part(image_id, self._parts)
        for part, files in files_by_part.items():
            if files.needed and image_id not in files.names:
                return missing_file_error(part, files, image_id)
        for part, files in files_by_part.items():
            if files.twins(image_id):
                return several_files_error(part, files, image_id)
        return None


class Pairs(Sequence[Pair]):
    """The pairs of ids whose files are all there, in their order.

    Args:
      items: the files of each id.
      ids: the ids.

    Attributes:
      ids: the ids, which are the keys of examples.
    """

    def __init__(self, items: Items, ids: Sequence[str]):
        self.ids = ids
        self._items = items

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> Pair: ...

    @overload
    def __getitem__(self, index: slice) -> "Pairs": ...

    def __getitem__(self, index: int | slice) -> "Pair | Pairs":
        if isinstance(index, slice):
            return Pairs(self._items, self.ids[index])
        return self._items.make(self.ids[index])


class _IdsWithImage(Container[str]):
    """The ids of a tree's images, which are listed when the first one is looked up.

    Args:
      tree: the tree.
    """

    def __init__(self, tree: "VocTree"):
        self._tree = tree

    def __contains__(self, name: object) -> bool:
        return name in self._tree.images


@dataclasses.dataclass(frozen=True, eq=False)
class VocTree:
    """A folder that holds images, masks and id lists. What is listed and read of it stays so.

    A release whose files lie elsewhere too overrides `files_by_part`, `make_pair` and
    `image_folders`; see `sources.trainaug.TrainaugTree`.

    Attributes:
      root: the folder, such as `VOC2012` in a devkit.
      layout: the names of the folders in it, for options and messages.
      listing: all files at and below the folder that the user gave, which is the root or above
        it; if there is none, each folder of the tree is listed when it is needed.
      notes: what a user should know about how the tree was found.
      files: the images and masks as the files step has found them; None if they lie in the folders
        of the layout under their ids.
      given_labels: the labels, if they are not just the masks of `files`: shapes, masks in other
        formats, or masks that a text states for images.
      channels: how many files an image has, of which each is a channel; see `Pair`.
      reasons: why each other set of files that may have been meant was not taken, in words.
    """

    root: epath.Path
    layout: Layout = VOC
    listing: Listing | None = None
    notes: Sequence[str] = ()
    files: SetFiles | None = None
    given_labels: Labels | None = None
    channels: int = 1
    reasons: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", epath.Path(self.root))

    @property
    def given(self) -> epath.Path:
        """The folder that the user gave, which is the root or above it."""
        return self.listing.root if self.listing else self.root

    @functools.cached_property
    def place(self) -> str:
        """Where the root lies below the given folder; empty if it is that folder."""
        path = os.fspath(self.root.relative_to(self.given))
        return "" if path == "." else path

    @functools.cached_property
    def labels(self) -> Labels:
        """Where the masks come from."""
        if self.given_labels is not None:
            return self.given_labels
        return Labels(self.root / self.layout.masks, self._set_files.masks)

    @property
    def masks(self) -> Names:
        """The names of the files of masks, or of what they are drawn from, by id."""
        return self.labels.names

    def below(self, folder: str, *, deep: bool = True) -> Iterable[str]:
        """Returns the names of the files below a folder of the tree; none if there is none."""
        return files_below(self.root / folder, self.listing, deep=deep)

    def read_text(
        self, path: epath.Path, error: type[LayoutError] | type[ListError] = LayoutError
    ) -> File:
        """Returns a list or class file, which is read once."""
        if path not in self._texts:
            self._texts[path] = File.read(path, error)
        return self._texts[path]

    @functools.cached_property
    def _texts(self) -> dict[epath.Path, File]:
        return {}

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not."""
        return self.root / self.layout.lists / self._text_files.get(name, f"{name}.txt")

    def list_names(self) -> list[str]:
        """Returns the names of the lists in the folder of lists."""
        return [*self._text_files]

    @functools.cached_property
    def _text_files(self) -> dict[str, str]:
        """The text files in the folder of lists, by their name without `.txt`."""
        file_by_name: dict[str, str] = {}
        for file in sorted(self.below(self.layout.lists, deep=False)):
            if file.lower().endswith(".txt"):
                # train.txt comes after train.TXT, so it wins.
                file_by_name[file[: -len(".txt")]] = file
        return file_by_name

    def read_ids(self, name: str) -> Sequence[str]:
        """Returns the ids of the list `name`, in its order.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            raise self._no_such_list(name)
        # A list of plain ids is read before any folder has been listed.
        data = self.read_text(path, ListError).data
        return parse_ids(data, path, _IdsWithImage(self))

    def _no_such_list(self, name: str) -> LayoutError:
        names = self.list_names()
        found = "no such list"
        if names:
            files = ", ".join(f"{other}.txt" for other in names)
            found += f", but {files}{did_you_mean(name, names)}"
        return LayoutError(
            self.list_path(name),
            found=found,
            expected="a text file of image ids, one per line",
            remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
        )

    def check_complete(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> None:
        """Checks that not several folders and lists are missing.

        One that is missing alone has an error of its own, which says more about it.

        Args:
          parts: what is needed beside the image.
          list_names: the lists that are read.

        Raises:
          LayoutError: naming all that is missing, if that is more than one folder or list.
        """
        missing = self.find_missing(parts, list_names)
        if len(missing.names) > 1:
            raise several_missing_error(self.root, missing)

    def find_missing(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> MissingParts:
        """Returns the folders and lists that are missing; see `check_complete`."""
        lists = [self.list_path(name) for name in list_names]
        return find_missing(self.root, self._find_files_by_part(parts), lists)

    def items(self, parts: NeededFiles = IMAGE_AND_MASK) -> Items:
        """Returns the files of each id.

        Args:
          parts: what is needed beside the image.
        """
        return Items(self, parts)

    def pairs(self, split: str, ids: Sequence[str], parts: NeededFiles = IMAGE_AND_MASK) -> Pairs:
        """Returns the pairs of a split; see `Items.of_split`."""
        return self.items(parts).of_split(split, ids)

    def files_by_part(self, image_id: str, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part of an id has to lie, by the part's name in `Pair`."""
        del image_id  # here the files of all ids lie in the same folders
        if parts not in self._files_by_part:
            self._files_by_part[parts] = self._find_files_by_part(parts)
        return dict(self._files_by_part[parts])

    @functools.cached_property
    def _files_by_part(self) -> dict[NeededFiles, dict[str, PartFiles]]:
        """What `files_by_part` has returned so far, by the parts that were needed."""
        return {}

    def _find_files_by_part(self, parts: NeededFiles) -> dict[str, PartFiles]:
        are_masks_needed = not parts.background
        files = {"image": PartFiles(self.root / self.layout.images, self.images)}
        if parts.masks:
            files["mask"] = PartFiles(self.labels.folder, self.masks, are_masks_needed)
        if parts.instances:
            objects = self.labels.objects
            if objects is None:
                objects = PartFiles(self.root / self.layout.instances, self.instances)
            files["instances"] = dataclasses.replace(objects, needed=are_masks_needed)
        if parts.annotations:
            files["annotation"] = PartFiles(self.root / self.layout.annotations, self.annotations)
        return files

    def files_of(self, image_id: str) -> dict[str, list[epath.Path]]:
        """Returns the files of an id that are there, by the part's name in `Pair`.

        An id that has several files of one part has all of them here.
        """
        paths = {}
        for part, files in self.files_by_part(image_id, ALL_PARTS).items():
            if image_id in files.names:
                names = files.twins(image_id) or (files.names[image_id],)
                paths[part] = [files.folder / name for name in names]
        return paths

    def make_pair(self, image_id: str, parts: NeededFiles) -> Pair:
        """Returns the pair of an id whose needed files are all there."""
        files_by_part = self.files_by_part(image_id, parts)
        paths = {part: files.path(image_id) for part, files in files_by_part.items()}
        image = paths["image"]
        assert image is not None
        pair = Pair(
            id=image_id,
            filename=files_by_part["image"].names[image_id],
            image=image,
            mask=paths.get("mask"),
            instances=paths.get("instances"),
            annotation=paths.get("annotation"),
            channels=self.channels,
        )
        return self.labels.complete_pair(pair, parts)

    def image_folders(self, ids: Iterable[str]) -> list[epath.Path]:
        """Returns the folders in which the images of ids lie."""
        del ids  # here all images lie in one
        return [self.root / self.layout.images]

    @property
    def images(self) -> Names:
        """The images' names below their folder, by id."""
        return self._set_files.images

    def image_path(self, image_id: str) -> str:
        """Returns where an id's image lies below the given folder."""
        return _joined(self._image_folder, self.images[image_id])

    def mask_path(self, image_id: str) -> str:
        """Returns where an id's mask, or the file of its shapes, lies below the given folder."""
        return _joined(self._mask_folder, self.masks[image_id])

    @functools.cached_property
    def _image_folder(self) -> str:
        return posixpath.normpath(posixpath.join(self.place, self.layout.images))

    @functools.cached_property
    def _mask_folder(self) -> str:
        return posixpath.normpath(posixpath.join(self.place, self.layout.masks))

    def record_id(self, image_id: str) -> str:
        """Returns the id that a dataset has for an id: the image's name without its ending.

        Example: `train/images/a` for the id `train/a`, if the folder of images is a part of each
        part of the set; and `a_photo` for the id `a` if `{id}_photo.jpg` is the pattern of images.
        """
        name = self.images.get(image_id)
        if name is None:
            return image_id
        return id_lists.image_id(posixpath.normpath(name))

    def image_file(self, image_id: str) -> epath.Path:
        """Returns the path of an id's image."""
        return self.root / self.layout.images / self.images[image_id]

    def find_masks_with_endings(self, endings: Collection[str]) -> Names:
        """Returns the names of files of other endings that lie and are named as masks do, by id."""
        return self._set_files.find_masks_with_endings(endings)

    def find_masks_in(self, folder: str) -> Names:
        """Returns the names of masks in another folder of the tree, by id.

        Labels that do not lie in the folder of masks stay the same.
        """
        if self.given_labels is not None:
            return self.masks
        return self._set_files.with_mask_folder(folder).masks

    @functools.cached_property
    def _set_files(self) -> SetFiles:
        if self.files is not None:
            return self.files
        return SetFiles(self.root, self.layout, self.listing)

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / self.layout.instances, MASK_SUFFIXES)

    @functools.cached_property
    def annotations(self) -> Names:
        """The XML files' names below their folder, by id."""
        return index_files(self.root / self.layout.annotations, (".xml",))


def _joined(folder: str, name: str) -> str:
    """Returns the path of a file by its name below a folder; the folder `.` adds nothing."""
    if "./" in name:
        return posixpath.normpath(posixpath.join(folder, name))
    return name if folder == "." else f"{folder}/{name}"
