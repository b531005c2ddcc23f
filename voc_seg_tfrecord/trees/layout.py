"""The names of a VOC layout's folders, where its root lies, and patterns of file names in it."""

import dataclasses
import functools
import posixpath
import re
from typing import Self

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError

ID = "{id}"
SPLIT = "{split}"


@dataclasses.dataclass(frozen=True)
class Naming:
    """What a file's name has around its id.

    Attributes:
      prefix: what stands before the id; with a `/`, the folders below the first one too.
      suffix: what stands between the id and the ending.
      ending: the ending, in lower case; empty means any.
      whole: whether the pattern names folders, and so is compared with the whole name below
        the folder of images or masks in place of its last part.
      split: what stands between the folder of a split and the id, such as `/images/` in
        `{split}/images/{id}`; empty if the pattern has no `{split}`. Ids begin with the
        split's folder then, and `prefix` stands before it.
    """

    prefix: str = ""
    suffix: str = ""
    ending: str = ""
    whole: bool = False
    split: str = ""

    @classmethod
    def parse(cls, pattern: str, option: str = "mask_name") -> Self:
        """Reads a pattern.

        Args:
          pattern: a name with one `{id}` in it, with or without an ending: `gt_{id}.png`. In
            a folder before it may stand one `{split}`: `{split}_masks/{id}.png`.
          option: for the error.

        Raises:
          ConfigError: if there is not exactly one `{id}`, or `{split}` is not in a folder.
        """
        prefix, *rest = pattern.split(ID)
        prefix, *below = prefix.split(SPLIT)
        split = below[0] if below else ""
        wrong = len(rest) != 1 or len(below) > 1 or bool(below) != ("/" in split)
        if wrong or SPLIT in rest[0] or "\\" in pattern or pattern.startswith("/"):
            raise ConfigError(
                f"option {option}",
                found=repr(pattern),
                expected=f"a file name with one {ID} where the id stands, such as gt_{ID}.png, and "
                f"at most one {SPLIT} in a folder before it, such as {SPLIT}/masks/{ID}.png",
                remedy="change the pattern",
            )
        # Not splitext, which takes the .png of `{id}.png` for the name of a hidden file.
        suffix, dot, ending = rest[0].rpartition(".") if "." in rest[0] else (rest[0], "", "")
        return cls(prefix, suffix, dot + ending.lower(), "/" in pattern, split)

    def id_of(self, name: str) -> str | None:
        """Returns the id of a file by its name below its folder, None if it does not fit."""
        stem, ending = posixpath.splitext(name)
        if self.ending and ending.lower() != self.ending:
            return None
        return self.core_of(stem)

    def core_of(self, stem: str) -> str | None:
        """Returns the id in a name without its ending, None if it does not fit."""
        if self.split:
            found = self._with_split.fullmatch(stem)
            return f"{found[1]}/{found[2]}" if found else None
        if not self.prefix and not self.suffix:
            return None if not stem or stem.endswith("/") else stem
        folder, slash, last = ("", "", stem) if self.whole else stem.rpartition("/")
        inner = last[len(self.prefix) : len(last) - len(self.suffix)]
        fits = last.startswith(self.prefix) and last.endswith(self.suffix)
        return folder + slash + inner if fits and inner else None

    def name_of(self, image_id: str, ending: str) -> str:
        """Returns the name with an id and an ending: what `id_of` takes apart."""
        if self.split:
            split, _, rest = image_id.partition("/")
            return f"{self.prefix}{split}{self.split}{rest}{self.suffix}{ending}"
        folder, slash, last = ("", "", image_id) if self.whole else image_id.rpartition("/")
        return f"{folder}{slash}{self.prefix}{last}{self.suffix}{ending}"

    @functools.cached_property
    def _with_split(self) -> re.Pattern[str]:
        prefix, split, suffix = map(re.escape, (self.prefix, self.split, self.suffix))
        return re.compile(f"{prefix}([^/]+){split}(.+){suffix}", re.DOTALL)

    def __str__(self) -> str:
        split = SPLIT + self.split if self.split else ""
        return f"{self.prefix}{split}{ID}{self.suffix}{self.ending}"


ANY = Naming()


IMAGES = "JPEGImages"
MASKS = "SegmentationClass"
LISTS = "ImageSets/Segmentation"

MASK_FOLDERS = (MASKS, "SegmentationClassPNG", "SegmentationClassAug", "SegmentationClassRaw")
"""Names of mask folders, in the order in which they are tried."""

MASK_SUFFIXES = (".png", ".npy", ".bmp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in a mask folder a mask."""

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
      image_name: pattern of the images' names, such as `image_{id}.jpg`, in place of a suffix.
        Folders in it are below that of images; one of them may hold `{split}`.
      mask_name: pattern of the masks' names, such as `gt_{id}.png`, in place of a suffix.
      lists: the folder of id lists; empty means the root.
      instances: the folder of instance masks.
      annotations: the folder of XML files.
    """

    images: str = IMAGES
    masks: str = MASKS
    image_suffix: str = ""
    mask_suffix: str = ""
    image_name: str = ""
    mask_name: str = ""
    lists: str = LISTS
    instances: str = "SegmentationObject"
    annotations: str = "Annotations"

    @property
    def image_naming(self) -> Naming:
        """What images' names have around their id."""
        if self.image_name:
            return Naming.parse(self.image_name, "image_name")
        return Naming(suffix=self.image_suffix)

    @property
    def mask_naming(self) -> Naming:
        """What masks' names have around their id."""
        if self.mask_name:
            return Naming.parse(self.mask_name, "mask_name")
        return Naming(suffix=self.mask_suffix)


VOC = Layout()


def find_release(folder: epath.Path, year: str) -> epath.Path | None:
    """Returns the root of VOC<year> at or below a folder, None where there is none.

    Args:
      folder: the devkit's parent, `VOCdevkit`, or `VOC<year>` itself.
      year: the release, such as `2012`.
    """
    below = [folder / devkit / f"VOC{year}" for devkit in _DEVKITS]
    return next((root for root in [*below, folder] if _is_root(root)), None)


def _is_root(folder: epath.Path) -> bool:
    """Says whether a folder is a VOC tree, a broken one among them."""
    return (folder / IMAGES).is_dir() or (folder / LISTS).is_dir() or (folder / MASKS).is_dir()
