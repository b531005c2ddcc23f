"""A tree in the Pascal VOC layout: its folders, its id lists, its files."""

from collections.abc import Collection, Iterable, Iterator, Sequence
import dataclasses
import functools
import posixpath

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, SplitError, VocSegError
from voc_seg_tfrecord.lists import IMAGE_SUFFIXES, parse_ids

IMAGES = "JPEGImages"
MASKS = "SegmentationClass"
INSTANCES = "SegmentationObject"
ANNOTATIONS = "Annotations"
LISTS = "ImageSets/Segmentation"

# Where releases put VOC<year> below the folder that was unpacked into; 2011's tar alone
# starts with TrainVal.
_DEVKITS = ("", "VOCdevkit", "TrainVal/VOCdevkit")


@dataclasses.dataclass(frozen=True)
class RawExample:
    """One example's files, read but not looked into.

    Attributes:
      image: the image file's bytes.
      filename: the image's name below its folder.
      image_where: the image's path, for errors.
      mask: the mask file's bytes.
      mask_where: likewise.
      instances: the instance mask file's bytes, None where there is none.
      instances_where: likewise.
      annotation: the XML file's bytes, None where there is none.
      annotation_where: likewise.
    """

    image: bytes
    filename: str
    image_where: str
    mask: bytes
    mask_where: str
    instances: bytes | None = None
    instances_where: str = ""
    annotation: bytes | None = None
    annotation_where: str = ""


@dataclasses.dataclass(frozen=True)
class Pair:
    """One id's files. Cheap to make, to pickle and to send to a worker.

    Attributes:
      id: the image id, the example's key.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the mask's path.
      instances: the instance mask's path, where asked for.
      annotation: the XML's path, where asked for.
    """

    id: str
    filename: str
    image: epath.Path
    mask: epath.Path
    instances: epath.Path | None = None
    annotation: epath.Path | None = None

    def read(self) -> RawExample:
        """Reads each file once."""
        return RawExample(
            image=self.image.read_bytes(),
            filename=self.filename,
            image_where=str(self.image),
            mask=self.mask.read_bytes(),
            mask_where=str(self.mask),
            instances=self.instances and self.instances.read_bytes(),
            instances_where=str(self.instances or ""),
            annotation=self.annotation and self.annotation.read_bytes(),
            annotation_where=str(self.annotation or ""),
        )


class VocTree:
    """A folder that holds JPEGImages, SegmentationClass and ImageSets/Segmentation.

    Args:
      root: the folder, `VOC2012` in a devkit.
    """

    def __init__(self, root: epath.PathLike):
        self.root = epath.Path(root)

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not."""
        return self.root / LISTS / f"{name}.txt"

    def read_ids(self, name: str) -> list[str]:
        """Returns the ids of the list `name`, in its order.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            folder = path.parent
            there = sorted(p.name for p in folder.iterdir()) if folder.exists() else []
            raise LayoutError(
                path,
                found="no such list" + (f", but {', '.join(there)}" if there else ""),
                expected="a text file of image ids, one a line",
                remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
            )
        return parse_ids(path.read_bytes(), path, self._images)

    def pairs(
        self,
        split: str,
        ids: Sequence[str],
        *,
        instances: bool = False,
        annotations: bool = False,
    ) -> list[Pair]:
        """Finds the files of ids; no file is opened.

        Args:
          split: the split's name, for the error.
          ids: image ids.
          instances: whether an instance mask is needed as well.
          annotations: whether an XML annotation is needed as well.

        Returns:
          A pair an id, in the order of `ids`.

        Raises:
          SplitError: naming the first files that are missing, and how many are.
        """
        parts = [(IMAGES, self._images, True), (MASKS, self._masks, True)]
        parts += [(INSTANCES, self._instances if instances else {}, instances)]
        parts += [(ANNOTATIONS, self._annotations if annotations else {}, annotations)]
        missing: list[VocSegError] = []
        pairs = []
        for image_id in ids:
            paths: list[epath.Path | None] = []
            for folder, names, needed in parts:
                name = names.get(image_id)
                paths.append(self.root / folder / name if name else None)
                if needed and not name:
                    missing.append(self._missing(folder, image_id))
            image, mask, *others = paths
            if image and mask:
                pairs.append(Pair(image_id, self._images[image_id], image, mask, *others))
        if missing:
            raise SplitError(split, missing, len(ids))
        return pairs

    def _missing(self, folder: str, image_id: str) -> LayoutError:
        kind = "an image" if folder == IMAGES else "a file"
        return LayoutError(
            self.root / folder / image_id,
            found="no such file",
            expected=f"{kind} for the listed id {image_id!r}",
            remedy="put the file there, or take the id out of the list",
        )

    @functools.cached_property
    def _images(self) -> dict[str, str]:
        return index_files(self.root / IMAGES, IMAGE_SUFFIXES)

    @functools.cached_property
    def _masks(self) -> dict[str, str]:
        return index_files(self.root / MASKS, (".png",))

    @functools.cached_property
    def _instances(self) -> dict[str, str]:
        return index_files(self.root / INSTANCES, (".png",))

    @functools.cached_property
    def _annotations(self) -> dict[str, str]:
        return index_files(self.root / ANNOTATIONS, (".xml",))


@dataclasses.dataclass(frozen=True)
class SplitList:
    """Where a split's ids come from: a list in a tree.

    Attributes:
      tree: the tree.
      name: the list's name in it, `val` for `validation`.
    """

    tree: VocTree
    name: str

    @property
    def path(self) -> epath.Path:
        """The list's path."""
        return self.tree.list_path(self.name)

    def read_ids(self) -> list[str]:
        """Returns the ids; see `VocTree.read_ids`."""
        return self.tree.read_ids(self.name)


def find_release(folder: epath.Path, year: str) -> epath.Path | None:
    """Returns the root of VOC<year> at or below a folder, None where there is none.

    Args:
      folder: the devkit's parent, `VOCdevkit`, or `VOC<year>` itself.
      year: the release, such as `2012`.
    """
    below = [folder / devkit / f"VOC{year}" for devkit in _DEVKITS]
    return next((root for root in [*below, folder] if _is_root(root)), None)


def find_roots(folder: epath.Path) -> list[epath.Path]:
    """Returns all VOC trees at or below a folder, of whatever name, the nearest ones only."""
    if _is_root(folder):
        return [folder]
    below = [folder / devkit for devkit in _DEVKITS]
    parents = [parent for parent in below if parent.is_dir()]
    return [root for parent in parents for root in sorted(_folders(parent)) if _is_root(root)]


def index_files(folder: epath.Path, suffixes: Collection[str]) -> dict[str, str]:
    """Lists a folder and its sub-folders.

    Args:
      folder: an existing folder or not.
      suffixes: endings in lower case; other files are passed over, and hidden ones.

    Returns:
      Names below `folder` by id, which is the name without its ending.
    """
    names = sorted(_walk(folder, "", suffixes)) if folder.is_dir() else []
    return {posixpath.splitext(name)[0]: name for name in names}


def _walk(folder: epath.Path, prefix: str, suffixes: Collection[str]) -> Iterator[str]:
    for path in folder.iterdir():
        name = path.name
        if name.startswith("."):
            continue
        # Only what has no known ending is asked whether it is a folder: in a bucket that
        # is a request each.
        if posixpath.splitext(name)[1].lower() in suffixes:
            yield prefix + name
        elif path.is_dir():
            yield from _walk(path, f"{prefix}{name}/", suffixes)


def _is_root(folder: epath.Path) -> bool:
    return (folder / IMAGES).is_dir() or (folder / LISTS).is_dir() or (folder / MASKS).is_dir()


def _folders(folder: epath.Path) -> Iterable[epath.Path]:
    return (path for path in folder.iterdir() if path.is_dir())
