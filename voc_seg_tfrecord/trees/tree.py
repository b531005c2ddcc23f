"""A tree in the Pascal VOC layout: its id lists and its files."""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
import unicodedata

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, ListError, SplitError, VocSegError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES, any_id, parse_ids
from voc_seg_tfrecord.trees.layout import (
    IMAGES,
    LISTS,
    MASK_SUFFIXES,
    MASKS,
    VOC,
    Layout,
)
from voc_seg_tfrecord.trees.listing import Names, index_files
from voc_seg_tfrecord.trees.pair import IMAGE_AND_MASK, Pair, Parts
from voc_seg_tfrecord.wording.near_names import did_you_mean

LIST_NAMES = ("train", "val", "valid", "validation", "test", "trainval", "trainaug", "default")
"""Names of text files that are lists of ids whatever they hold."""

_FILE_OF = {
    "image": "an image",
    "mask": "a mask",
    "instances": "an instance mask",
    "annotation": "an XML file",
}

# How to build without a feature that needs more files than image and mask.
_LEAVE_OUT = {
    "instances": ', or leave instance masks out: "instance_mask": false in the config',
    "annotation": ', or leave boxes out: "objects": false in the config',
}


@dataclasses.dataclass(frozen=True)
class Place:
    """Where one part of examples lies.

    Attributes:
      folder: the folder.
      names: the names of the files below it, by id.
      needed: whether a file that is missing is an error.
    """

    folder: epath.Path
    names: Mapping[str, str]
    needed: bool = True

    @property
    def twins(self) -> Mapping[str, Sequence[str]]:
        """By id, the names of its files, where it has several of which none can be preferred."""
        return self.names.twins if isinstance(self.names, Names) else {}

    def path(self, image_id: str) -> epath.Path | None:
        """Returns the path of an id's file, None if there is none."""
        return self.folder / self.names[image_id] if image_id in self.names else None


class VocTree:
    """A folder that holds images, masks and id lists.

    Args:
      root: the folder, such as `VOC2012` in a devkit.
      layout: the names of the folders in it.
    """

    def __init__(self, root: epath.PathLike, layout: Layout = VOC):
        self.root = epath.Path(root)
        self.layout = layout

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not."""
        return self.root / self.layout.lists / self._text_files.get(name, f"{name}.txt")

    def list_names(self) -> list[str]:
        """Returns the names of all lists that are there.

        Other texts may lie beside lists: class files, readmes, and what has no line that is an
        id. `train`, `val` and the like are lists whatever they hold.
        """
        return [name for name in self._text_files if self._is_list(name)]

    def other_texts(self) -> list[str]:
        """Returns the names of the text files beside the lists that are no lists."""
        return [file for name, file in self._text_files.items() if not self._is_list(name)]

    @functools.cached_property
    def _text_files(self) -> dict[str, str]:
        """The text files in the folder of lists, by their name without `.txt`."""
        folder = self.root / self.layout.lists
        files = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        # macOS leaves ._train.txt on other systems' disks. Of train.TXT and train.txt, train.txt.
        texts = [f for f in files if f.lower().endswith(".txt") and not f.startswith(".")]
        return {file[: -len(".txt")]: file for file in texts}

    def _is_list(self, name: str) -> bool:
        if name.lower() in LIST_NAMES:
            return True
        file = self._text_files[name]
        if file in class_files.NAMES or name.lower().startswith("readme"):
            return False
        if self.layout.lists == LISTS:  # nothing but lists belongs there
            return True
        data = File.read(self.list_path(name), ListError).data
        return not data.strip() or any_id(data, self.list_path(name), self._ids)

    def read_ids(self, name: str) -> list[str]:
        """Returns the ids of the list `name`, in its order.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            names = self.list_names()
            there = ", ".join(f"{n}.txt" for n in names) + did_you_mean(name, names)
            raise LayoutError(
                path,
                found="no such list" + (f", but {there}" if there else ""),
                expected="a text file of image ids, one per line",
                remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
            )
        return parse_ids(File.read(path, ListError).data, path, self._ids)

    def pairs(self, split: str, ids: Sequence[str], parts: Parts = IMAGE_AND_MASK) -> list[Pair]:
        """Finds the files of ids; no file is opened.

        Args:
          split: the split's name, for the error.
          ids: image ids.
          parts: what is needed beside the image.

        Returns:
          One pair per id, in the order of `ids`.

        Raises:
          SplitError: naming the first files that are missing, and how many are.
        """
        problems: list[VocSegError] = []
        pairs = []
        for image_id in ids:
            places = self.places(image_id, parts)
            lacking = [part for part, p in places.items() if p.needed and image_id not in p.names]
            several = [part for part, p in places.items() if image_id in p.twins]
            if lacking:
                problems.append(self._missing(lacking[0], places[lacking[0]], image_id))
            elif several:
                problems.append(_several(several[0], places[several[0]], image_id))
            elif not problems:
                pairs.append(self.make_pair(image_id, places, parts))
        if problems:
            raise SplitError(split, problems, len(ids))
        return pairs

    def places(self, image_id: str, parts: Parts) -> dict[str, Place]:
        """Returns where each part of an id has to lie, by the part's name in `Pair`.

        A tree that keeps its files elsewhere answers this in its own way.
        """
        del image_id  # here all ids lie in the same folders
        needed = not parts.background
        layout = self.layout
        places = {"image": Place(self.root / layout.images, self.images)}
        if parts.masks:
            places["mask"] = Place(self.root / layout.masks, self.masks, needed)
        if parts.instances:
            places["instances"] = Place(self.root / layout.instances, self.instances, needed)
        if parts.annotations:
            places["annotation"] = Place(self.root / layout.annotations, self.annotations)
        return places

    def make_pair(self, image_id: str, places: Mapping[str, Place], parts: Parts) -> Pair:
        """Returns the pair of an id whose needed files are all there."""
        del parts  # for trees whose pairs say more than where their files are
        paths = {name: place.path(image_id) for name, place in places.items()}
        return Pair(image_id, places["image"].names[image_id], **paths)

    def _missing(self, part: str, place: Place, image_id: str) -> LayoutError:
        other = place.names.alike(image_id) if isinstance(place.names, Names) else ""
        return LayoutError(
            place.folder / image_id,
            found="no such file" + (f", but {_difference(image_id, other)}" if other else ""),
            expected=f"{_FILE_OF[part]} for each id",
            remedy="write the ids exactly as the files are named, or rename the files"
            if other
            else f"put the file there, or remove the id from the list{_LEAVE_OUT.get(part, '')}",
            kind=f"missing in {str(place.folder).removeprefix(f'{self.root}/')}",
        )

    @functools.cached_property
    def _ids(self) -> Mapping[str, str]:
        """The id of each name that a list may have for an image."""
        found = {}
        for image_id, name in self.images.items():
            found[posixpath.splitext(name)[0]] = image_id
        return found | {image_id: image_id for image_id in self.images}

    @functools.cached_property
    def images(self) -> Names:
        """The images' names below their folder, by id."""
        layout = self.layout
        masks = layout.mask_naming if layout.images == layout.masks else None
        folder = self.root / layout.images
        return index_files(folder, IMAGE_SUFFIXES, layout.image_naming, masks)

    @functools.cached_property
    def masks(self) -> Names:
        """The masks' names below their folder, by id."""
        folder = self.root / self.layout.masks
        return index_files(folder, MASK_SUFFIXES, self.layout.mask_naming)

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / self.layout.instances, MASK_SUFFIXES)

    @functools.cached_property
    def annotations(self) -> Names:
        """The XML files' names below their folder, by id."""
        return index_files(self.root / self.layout.annotations, (".xml",))


def _several(part: str, place: Place, image_id: str) -> LayoutError:
    names = place.twins[image_id]
    return LayoutError(
        place.folder / names[0],
        found=f"{len(names)} files for one id: {' and '.join(names)}",
        expected=f"{_FILE_OF[part]} for each id, and no second one",
        remedy="keep one of the files in the folder, and rename the others or take them out",
        kind="several files for one id",
    )


def _difference(image_id: str, other: str) -> str:
    """Says in words how two ids differ that look alike."""
    forms = [
        next((form for form in ("NFC", "NFD") if unicodedata.is_normalized(form, text)), "mixed")
        for text in (image_id, other)
    ]
    if unicodedata.normalize("NFC", image_id) != unicodedata.normalize("NFC", other):
        return f"{other!r} is there, which differs in upper and lower case"
    return (
        f"one whose name looks the same is there. The id has the Unicode form {forms[0]}, and "
        f"the name of the file has {forms[1]}"
    )
