"""What single files show: their bytes, their size, and how many colors or values they have.

Where names leave several readings of a folder, a few files are opened. The functions read a file;
`Looks` remembers what they return, so that no file is opened twice for one question.
"""

from collections.abc import Callable
import functools
import hashlib
import os
from typing import NamedTuple, TypeVar

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.formats import mask_samples, pillow

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
      kind: that of `mask_samples.Samples`.
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
