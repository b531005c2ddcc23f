"""The names that all rooms share: classes, void, VOC's colors, and the features of a dataset.

Every other module takes the names from here.
"""

from collections.abc import Sequence
import functools
import unicodedata

import numpy as np
import numpy.typing as npt

VOID = 255
"""Mask value of pixels that losses and metrics must ignore (VOC's object borders)."""

VOC_CLASSES = (
    "background",
    "aeroplane",
    "bicycle",
    "bird",
    "boat",
    "bottle",
    "bus",
    "car",
    "cat",
    "chair",
    "cow",
    "diningtable",
    "dog",
    "horse",
    "motorbike",
    "person",
    "pottedplant",
    "sheep",
    "sofa",
    "train",
    "tvmonitor",
)
"""The 21 names in mask order. Source: VOC2012 development kit, section 4.3."""

Color = tuple[int, int, int]
"""Red, green and blue, 0 to 255 each."""

BLACK: Color = (0, 0, 0)
WHITE: Color = (255, 255, 255)

VOID_COLOR: Color = (224, 224, 192)
"""VOC's color of void, which Supervisely and datumaro write too."""


def describe_color(color: Color) -> str:
    """Returns a color as class files and messages have it: `128,64,0`."""
    return ",".join(map(str, color))


VOC_POSES = ("frontal", "rear", "left", "right", "unspecified")
"""Poses of annotated objects, in the order of TFDS's `voc`."""

_BACKGROUND_NAMES = ("background", "_background_")  # VOC's and labelme's
_BACKGROUND_WORDS = ("background", "bg")


@functools.cache
def voc_palette() -> npt.NDArray[np.uint8]:
    """Returns VOC's palette, uint8 `[256, 3]` RGB; row 255 is `VOID_COLOR`.

    Bit k of red, green and blue, counted from the highest bit, is bit 3k, 3k + 1 and 3k + 2 of the
    index, counted from the lowest bit.

    References:
      VOC2012 development kit, VOCcode/VOClabelcolormap.m.
    """
    indices = np.arange(256)
    palette = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            index_bit = (indices >> (3 * bit + channel)) & 1
            palette[:, channel] |= (index_bit << (7 - bit)).astype(np.uint8)
    palette.setflags(write=False)
    return palette


VOC_NUMBERS: dict[Color, int] = {
    (r, g, b): number for number, (r, g, b) in enumerate(voc_palette().tolist())
}
"""VOC's number of each color of its palette, 0 to 255."""


_UNPRINTABLE_CATEGORIES = ("Cc", "Cs", "Zl", "Zp")


def unprintable(name: str) -> str:
    """Returns the first character of a name that no class and no id may have; empty if none is.

    These are control characters, line ends and halves of surrogate pairs. TFDS keeps class
    names as the lines of a file and drops or splits lines that hold such characters, so that
    all later numbers would shift. Half a surrogate pair cannot be written as UTF-8 at all.
    """
    if name.isprintable():  # as most names are; this is a hundred times as fast
        return ""
    for character in name:
        if unicodedata.category(character) in _UNPRINTABLE_CATEGORIES:
            return character
    return ""


def background_index(class_names: Sequence[str], named: str = "") -> int | None:
    """Returns the index of the class that means background.

    Args:
      class_names: names in mask order.
      named: the name that the user gave; it decides alone if it is not empty.

    Returns:
      The index of the class with the name that the user gave; with VOC's or labelme's name; or
      of the one class that is called background or bg in any spelling (`Background`, `__bg__`).
      None if there is no such class, or more than one of the last kind.
    """
    names = list(class_names)
    if named:
        return names.index(named) if named in names else None
    for index, name in enumerate(names):
        if name in _BACKGROUND_NAMES:
            return index
    spelled_otherwise = [name for name in names if plain(name) in _BACKGROUND_WORDS]
    if len(spelled_otherwise) != 1:
        return None
    return names.index(spelled_otherwise[0])


def plain(name: str) -> str:
    """Returns a class name without what its spelling adds: capitals and marks at its ends."""
    return name.casefold().strip("_- \t")


IMAGE = "image"
FILENAME = "image/filename"
IMAGE_SHAPE = "image/shape"
IMAGE_VALUE = "image/value"
"""What a record has in place of `image`, if the image is stored as an array."""
HEIGHT = "image/height"
WIDTH = "image/width"
MASK = "segmentation_mask"
INSTANCES = "instance_mask"
LABELS = "labels"
OBJECTS = "objects"
MASK_SOURCE = "mask_source"
TILE_IMAGE_ID = "tile/image_id"
TILE_Y = "tile/y"
TILE_X = "tile/x"
TILE_IMAGE_HEIGHT = "tile/image_height"
TILE_IMAGE_WIDTH = "tile/image_width"
TILE_POSITION = (TILE_Y, TILE_X, TILE_IMAGE_HEIGHT, TILE_IMAGE_WIDTH)
TILE = (TILE_IMAGE_ID, *TILE_POSITION)
"""Where a tile lies in its image; the other features are then those of the tile."""
LABEL = "label"
"""Class of the whole image, in place of a mask, where the task is classification."""

SEGMENTATION = (IMAGE, MASK, FILENAME, HEIGHT, WIDTH)
"""What is read by default: features of every segmentation dataset of this package, except
`labels`, whose length differs from example to example."""

IMAGE_AND_SIZE = (IMAGE, FILENAME, HEIGHT, WIDTH)
"""The features of images alone, without masks or labels."""

MASKS = (MASK, INSTANCES)

FILL = {IMAGE: 0, **dict.fromkeys(MASKS, VOID)}
"""Every feature that is an image or a mask, and the value that padding has in it."""

CHANNELS = {IMAGE: 3, **dict.fromkeys(MASKS, 1)}

LABEL_FEATURES = (*MASKS, LABELS, OBJECTS, MASK_SOURCE)
"""Features that say what is in an image."""

WHOLE_IMAGE_FEATURES = (LABELS, OBJECTS)
"""Features that are right for a complete image only, not for a part or a flipped one."""
