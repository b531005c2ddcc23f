"""A tree in the Pascal VOC layout: its folders, its id lists, its files."""

from collections.abc import Collection, Iterator, Sequence
import dataclasses
import functools
import posixpath

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, SplitError, VocSegError
from voc_seg_tfrecord.examples.raw import Pair
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES, parse_ids

IMAGES = "JPEGImages"
MASKS = "SegmentationClass"
LISTS = "ImageSets/Segmentation"

MASK_SUFFIXES = (".png", ".npy", ".bmp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in a mask folder a mask; the first ones win."""

# Where releases put VOC<year> below the folder that was unpacked into; 2011's tar alone
# starts with TrainVal.
_DEVKITS = ("", "VOCdevkit", "TrainVal/VOCdevkit")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Names of a tree's folders, below its root; the defaults are VOC's.

    Attributes:
      images: the folder of images.
      masks: the folder of masks.
      image_suffix: what an image's name has between its id and its ending.
      mask_suffix: likewise, such as `_mask` of masks that lie beside their images.
      lists: the folder of id lists.
      instances: the folder of instance masks.
      annotations: the folder of XML files.
    """

    images: str = IMAGES
    masks: str = MASKS
    image_suffix: str = ""
    mask_suffix: str = ""
    lists: str = LISTS
    instances: str = "SegmentationObject"
    annotations: str = "Annotations"


VOC = Layout()


class VocTree:
    """A folder that holds images, masks and id lists.

    Args:
      root: the folder, `VOC2012` in a devkit.
      layout: the names of the folders in it.
    """

    def __init__(self, root: epath.PathLike, layout: Layout = VOC):
        self.root = epath.Path(root)
        self.layout = layout

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of the list `name`, whether it exists or not."""
        return self.root / self.layout.lists / f"{name}.txt"

    def list_names(self) -> list[str]:
        """Returns the names of all lists that are there."""
        folder = self.root / self.layout.lists
        files = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
        return [name.removesuffix(".txt") for name in files if name.endswith(".txt")]

    def read_ids(self, name: str) -> list[str]:
        """Returns the ids of the list `name`, in its order.

        Raises:
          LayoutError: if there is no such list.
          ListError: if the list is empty, repeats an id, or leaves the tree.
        """
        path = self.list_path(name)
        if not path.exists():
            there = ", ".join(f"{n}.txt" for n in self.list_names())
            raise LayoutError(
                path,
                found="no such list" + (f", but {there}" if there else ""),
                expected="a text file of image ids, one a line",
                remedy=f"give the folder that holds {IMAGES}, {MASKS} and {LISTS}",
            )
        return parse_ids(path.read_bytes(), path, self.images)

    def pairs(
        self,
        split: str,
        ids: Sequence[str],
        *,
        instances: bool = False,
        annotations: bool = False,
        background: bool = False,
    ) -> list[Pair]:
        """Finds the files of ids; no file is opened.

        Args:
          split: the split's name, for the error.
          ids: image ids.
          instances: whether an instance mask is needed as well.
          annotations: whether an XML annotation is needed as well.
          background: whether an image may do without masks and be all background.

        Returns:
          A pair an id, in the order of `ids`.

        Raises:
          SplitError: naming the first files that are missing, and how many are.
        """
        parts = {
            "image": (self.layout.images, self.images, True),
            "mask": (self.layout.masks, self.masks, not background),
        }
        if instances:
            parts["instances"] = (self.layout.instances, self.instances, not background)
        if annotations:
            parts["annotation"] = (self.layout.annotations, self.annotations, True)
        missing: list[VocSegError] = []
        pairs = []
        for image_id in ids:
            paths = {}
            for part, (folder, names, needed) in parts.items():
                if image_id in names:
                    paths[part] = self.root / folder / names[image_id]
                elif needed:
                    missing.append(self._missing(folder, image_id))
                    break
            if not missing:
                pairs.append(Pair(image_id, self.images[image_id], **paths))
        if missing:
            raise SplitError(split, missing, len(ids))
        return pairs

    def _missing(self, folder: str, image_id: str) -> LayoutError:
        kind = "an image" if folder == self.layout.images else "a file"
        return LayoutError(
            self.root / folder / image_id,
            found="no such file",
            expected=f"{kind} for the listed id {image_id!r}",
            remedy="put the file there, or take the id out of the list",
            kind=f"missing in {folder}",
        )

    @functools.cached_property
    def images(self) -> dict[str, str]:
        """The images' names below their folder, by id."""
        suffix, beside = self.layout.image_suffix, self.layout.images == self.layout.masks
        other = self.layout.mask_suffix if beside else ""
        return index_files(self.root / self.layout.images, IMAGE_SUFFIXES, suffix, other)

    @functools.cached_property
    def masks(self) -> dict[str, str]:
        """The masks' names below their folder, by id."""
        folder = self.root / self.layout.masks
        return index_files(folder, MASK_SUFFIXES, self.layout.mask_suffix)

    @functools.cached_property
    def instances(self) -> dict[str, str]:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / self.layout.instances, MASK_SUFFIXES)

    @functools.cached_property
    def annotations(self) -> dict[str, str]:
        """The XML files' names below their folder, by id."""
        return index_files(self.root / self.layout.annotations, (".xml",))


def find_release(folder: epath.Path, year: str) -> epath.Path | None:
    """Returns the root of VOC<year> at or below a folder, None where there is none.

    Args:
      folder: the devkit's parent, `VOCdevkit`, or `VOC<year>` itself.
      year: the release, such as `2012`.
    """
    below = [folder / devkit / f"VOC{year}" for devkit in _DEVKITS]
    return next((root for root in [*below, folder] if _is_root(root)), None)


def index_files(
    folder: epath.Path, endings: Collection[str], suffix: str = "", without: str = ""
) -> dict[str, str]:
    """Lists a folder and its sub-folders.

    Args:
      folder: an existing folder or not.
      endings: in lower case; other files are passed over, and hidden ones.
      suffix: what a name must have before its ending, and the id has not.
      without: names with this before their ending are passed over, if not empty.

    Returns:
      Names below `folder` by id. Of two files of one id the first of `endings` wins.
    """
    found: dict[str, str] = {}
    names = _walk(folder, "", endings) if folder.is_dir() else []
    rank = {ending: n for n, ending in enumerate(endings)}
    for name in sorted(names, key=lambda n: (-rank[posixpath.splitext(n)[1].lower()], n)):
        stem = posixpath.splitext(name)[0]
        if stem.endswith(suffix) and not (without and stem.endswith(without)):
            found[stem.removesuffix(suffix)] = name
    return dict(sorted(found.items()))


def _walk(folder: epath.Path, prefix: str, endings: Collection[str]) -> Iterator[str]:
    for path in folder.iterdir():
        name = path.name
        if name.startswith("."):
            continue
        # Only what has no known ending is asked whether it is a folder: in a bucket that
        # is a request each.
        if posixpath.splitext(name)[1].lower() in endings:
            yield prefix + name
        elif path.is_dir():
            yield from _walk(path, f"{prefix}{name}/", endings)


def _is_root(folder: epath.Path) -> bool:
    """Says whether a folder is a VOC tree, a broken one among them."""
    return (folder / IMAGES).is_dir() or (folder / LISTS).is_dir() or (folder / MASKS).is_dir()
