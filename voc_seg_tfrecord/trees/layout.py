"""The names of a Pascal VOC layout's folders, and the files in them."""

from collections.abc import Collection, Iterator
import dataclasses
import posixpath

from etils import epath

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
