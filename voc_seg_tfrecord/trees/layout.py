"""The names of a Pascal VOC layout's folders, and where its root lies."""

import dataclasses

from etils import epath

from voc_seg_tfrecord.trees.naming import Naming

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
