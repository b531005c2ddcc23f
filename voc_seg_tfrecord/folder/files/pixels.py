"""What a few files show, where the names of folders leave several readings of them."""

import hashlib

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.formats import mask_samples, pillow

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


_MAX_DIFFERENCE = 4
"""Of a pixel of a photo and of its copy in a JPEG of good quality, in levels."""

_MIN_CORRELATION = 0.85
"""Of the edges of a photo and of a drawing over it. Visible and infrared light have less."""


def sizes_agree(image: epath.Path, mask: epath.Path) -> bool:
    """Says whether an image and a mask may belong together by their size, rotated or not.

    If one cannot be read, they may: whoever reads it reports what is wrong with it.
    """
    try:
        image_size = pillow.read_size(File.read(image, ImageError), ImageError)
        mask_size = mask_samples.size_of(File.read(mask, MaskError))
    except VocSegError:
        return True
    return sorted(image_size) == sorted(mask_size)


def digest(path: epath.Path) -> bytes:
    """Returns the digest of the bytes of a file; empty if it cannot be read."""
    try:
        return hashlib.sha256(File.read(path, ImageError).data).digest()
    except (OSError, VocSegError):  # a link to nowhere, a named pipe
        return b""


def are_same(first: epath.Path, other: epath.Path) -> bool:
    """Says whether two files have the same bytes. A file that cannot be read is like none."""
    digest_of_first = digest(first)
    return bool(digest_of_first) and digest_of_first == digest(other)


def length(path: PathLike) -> int:
    """Returns how many bytes a file has; -1 if it leads nowhere."""
    try:
        return storage.size(path)
    except OSError:
        return -1


def is_photo(path: epath.Path) -> bool:
    """Says whether a file has so many colors that no table of classes can have them all.

    Small files are not opened.
    """
    if length(path) < _MIN_BYTES_OF_PHOTO:
        return False
    try:
        samples = mask_samples.read_samples(File.read(path, MaskError))
    except VocSegError:
        return False
    if samples.kind != "rgb":
        return False
    height, width = samples.values.shape[:2]
    count = len(mask_samples.counts_by_color(samples.values).numbers)
    return count > max(_MIN_COLORS_OF_PHOTO, height * width // _MIN_PIXELS_PER_COLOR)


def shows(drawing: epath.Path, image: epath.Path) -> bool:
    """Says whether a drawing shows an image, with labels painted over parts of it or all of it.

    Then half of its pixels are those of the image, or most edges are those of the image, fainter.
    If one file cannot be read, it says no.
    """
    try:
        drawn = _read_gray(drawing)
        original = _read_gray(image)
    except VocSegError:
        return False
    if drawn.shape != original.shape:
        return False
    if (np.abs(drawn - original) <= _MAX_DIFFERENCE).mean() >= 0.5:
        return True
    correlation = np.corrcoef(_faint_edges(drawn), _faint_edges(original))[0, 1]
    return bool(correlation >= _MIN_CORRELATION)


def _read_gray(path: epath.Path) -> np.ndarray:
    """Returns the brightness of an image, float64 `[H, W]`."""
    return pillow.decode(File.read(path, ImageError), ImageError).rgb().mean(axis=2)


def _faint_edges(gray: np.ndarray) -> np.ndarray:
    """Returns the differences of neighbors, without the strong ones at borders of colors."""
    differences = np.diff(gray, axis=1).ravel()
    limit = np.percentile(np.abs(differences), 80)
    return np.clip(differences, -limit, limit)


def looks_like_mask(path: epath.Path) -> bool:
    """Says whether a file has few colors or values, as masks and drawings of them have."""
    try:
        samples = mask_samples.read_samples(File.read(path, MaskError))
    except VocSegError:
        return False
    height, width = samples.values.shape[:2]
    if samples.kind == "rgb":
        count = len(mask_samples.counts_by_color(samples.values).numbers)
    else:
        count = len(mask_samples.counts_by_value(samples.values))
    return count <= min(_MAX_COLORS_OF_MASK, height * width // _MIN_PIXELS_PER_COLOR)
