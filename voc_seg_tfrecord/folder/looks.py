"""What single files show: bytes, size, how many colors or values, a thumbnail of an image.

Where names leave several readings of a folder, a few files are opened. The functions read a file;
`Looks` remembers what they return, so that no file is opened twice for one question.
"""

from collections.abc import Callable
import functools
import hashlib
import os
from typing import NamedTuple, TypeVar

import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.formats import images, mask_samples, pillow

_Fact = TypeVar("_Fact")

MIN_IMAGE_BYTES = 100
"""In fewer bytes no format has more than a few pixels."""

_MAX_COLORS_OF_MASK = 64
"""Distinct colors or values of a mask; photos have more."""

_MIN_BYTES_OF_PHOTO = 3000
"""A thousand colors need them."""

_MIN_COLORS_OF_PHOTO = 1000
"""Smooth borders alone give a mask some hundreds."""

_MIN_PIXELS_PER_COLOR = 4
"""In a mask, on average; a tiny photo has no more than 64 colors either."""

_MAX_DIFFERENCE_OF_COPIES = 0.3
"""Mean difference of the thumbnails of an image and its copy, at most.

Measured on 60 photos: copies at 1/2 to 1/8 of the size differ by 0.04 in the median and 0.27 at
most, unrelated photos by 0.95 in the median and 0.38 at least.
"""

_THUMBNAIL_SIDE_PX = 16
_MIN_CONTRAST = 4  # of 255; less is noise

Thumbnail = np.ndarray
"""An image squeezed to a few brightness values, float32 `[16, 16]` of mean 0 and contrast 1."""


class Looks:
    """What files of one folder show. Plans of the folder with other options share it.

    Args:
      root: the folder. All paths are below it.
    """

    def __init__(self, root: PathLike):
        # A text and no path object: of 100,000 images, paths took longer than the disk.
        self._root = os.fspath(root)
        self.length = self._remember(length)
        self.looks_like_mask = self._remember(looks_like_mask)
        self._digest = self._remember(digest)
        self.sides_of_image = self._remember(read_sides_of_image)
        self._sides_of_mask = self._remember(_read_sides_of_mask)
        self._thumbnail = self._remember(read_thumbnail)

    def _remember(self, read: Callable[[str], _Fact]) -> Callable[[str], _Fact]:
        return functools.cache(lambda path: read(f"{self._root}/{path}"))

    def sizes_agree(self, image: str, mask: str) -> bool:
        """Says whether an image and a mask may belong together by their size, rotated or not.

        If one cannot be read, they may: whoever reads it reports what is wrong with it.
        """
        sides = [self.sides_of_image(image), self._sides_of_mask(mask)]
        return None in sides or sides[0] == sides[1]

    def are_same(self, path: str, other: str) -> bool:
        """Says whether two files have the same bytes. A file that cannot be read is like none."""
        if self.length(path) != self.length(other):
            return False
        return self._digest(path) != b"" and self._digest(path) == self._digest(other)

    def show_same_picture(self, path: str, other: str) -> bool:
        """Says whether two images are copies by their thumbnails; not if one cannot be read."""
        thumbnail, other_thumbnail = self._thumbnail(path), self._thumbnail(other)
        if thumbnail is None or other_thumbnail is None:
            return False
        return difference(thumbnail, other_thumbnail) < _MAX_DIFFERENCE_OF_COPIES


def length(path: PathLike) -> int:
    """Returns how many bytes a file has; -1 if it leads nowhere."""
    try:
        return storage.size(path)
    except OSError:
        return -1


def digest(path: PathLike) -> bytes:
    """Returns the digest of the bytes of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(File.read(path, ImageError).data).digest()
    except (OSError, VocSegError):  # a link to nowhere, a named pipe
        return b""


def read_sides_of_image(path: PathLike) -> list[int] | None:
    """Returns the sides of an image in pixels, the shorter first; None if it cannot be read."""
    try:
        return sorted(pillow.read_size(File.read(path, ImageError), ImageError))
    except VocSegError:
        return None


def _read_sides_of_mask(path: PathLike) -> list[int] | None:
    try:
        return sorted(mask_samples.size_of(File.read(path, MaskError)))
    except VocSegError:
        return None


class _ColorCount(NamedTuple):
    """How many different colors or values a file has.

    Attributes:
      kind: the kind of the file as a mask: `gray`, `palette` or `rgb`.
      number: how many there are.
      most: how many a mask of its size may have.
    """

    kind: str
    number: int
    most: int


def _count_colors(path: PathLike) -> _ColorCount | None:
    """Counts the colors or values of a file; None if it cannot be read as a mask."""
    try:
        samples = mask_samples.read_samples(File.read(path, MaskError))
    except VocSegError:
        return None
    height, width = samples.values.shape[:2]
    if samples.kind == "rgb":
        number = len(mask_samples.counts_by_color(samples.values).numbers)
    else:
        number = len(mask_samples.counts_by_value(samples.values))
    return _ColorCount(samples.kind, number, height * width // _MIN_PIXELS_PER_COLOR)


def looks_like_mask(path: PathLike) -> bool:
    """Says whether a file has few colors or values, as masks and drawings of them have."""
    colors = _count_colors(path)
    return colors is not None and colors.number <= min(_MAX_COLORS_OF_MASK, colors.most)


def is_photo(path: PathLike) -> bool:
    """Says whether a file has so many colors that no table of classes can have them all.

    Small files are not opened.
    """
    colors = _count_colors(path) if length(path) >= _MIN_BYTES_OF_PHOTO else None
    if colors is None or colors.kind != "rgb":
        return False
    return colors.number > max(_MIN_COLORS_OF_PHOTO, colors.most)


def read_thumbnail(path: PathLike) -> Thumbnail | None:
    """Returns the thumbnail of an image; None if it cannot be read.

    It tells whether images show one scene: frames of a film, visits of a place, copies that were
    augmented. The signs of `formats.picture_signs` tell whether two images are the same picture.
    Measured on frames 1 and 10 apart of CamVid's test film, the median difference in parts of the
    lower quartile of unrelated photos: 0.16 and 0.35 by thumbnails, 0.62 and 0.96 by signs.

    The values are what differs from the mean, so photos of one dark class are not alike because
    they are dark.
    """
    try:
        file = File.read(path, ImageError)
        with images.large_in_turn(file):
            decoded = images.decode(file, side=4 * _THUMBNAIL_SIDE_PX)
            pixels = decoded.gray(_THUMBNAIL_SIDE_PX, _THUMBNAIL_SIDE_PX)
    except VocSegError:  # the build says what is wrong with it
        return None
    values = pixels.astype(np.float32) - pixels.mean(dtype=np.float32)
    return np.asarray(values / max(float(values.std()), _MIN_CONTRAST))


def difference(one: Thumbnail, other: Thumbnail) -> float:
    """Returns the mean difference of two images, whichever way one is mirrored and turned."""
    turned = [np.rot90(image, turns) for image in (other, other.T) for turns in range(4)]
    return min(float(np.abs(one - image).mean()) for image in turned)
