"""Decodes the files of a folder that may be damaged, as far as a page can show them."""

import contextlib
import dataclasses
import threading

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images, mask_samples, pillow

_DAMAGED_FILE_LOCK = threading.Lock()
"""Pillow decodes damaged files only by a setting of the process, so one thread at a time may."""


@dataclasses.dataclass(frozen=True, eq=False)
class DecodedImage:
    """An image, as far as it could be decoded.

    Attributes:
      pixels: uint8 `[H, W, 3]`; None if it shows nothing.
      size: height and width in the file; 0 if it shows nothing.
    """

    pixels: np.ndarray | None = None
    size: tuple[int, int] = (0, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class StoredMask:
    """A mask as it is in its file, with no meaning given to its values.

    Attributes:
      values: uint8 `[H, W]`, or `[H, W, 3]` if the file holds colors.
      palette: the colors of the values, uint8 `[256, 3]`; None if the file has none.
    """

    values: np.ndarray
    palette: np.ndarray | None = None


def decode_image(path: epath.Path | None, *, side: int | None) -> DecodedImage:
    """Decodes an image.

    Args:
      path: the file; None gives an image that shows nothing.
      side: pixels of the shorter side that are enough; None for the full image.
    """
    if path is None:
        return DecodedImage()
    with contextlib.suppress(VocSegError):
        file = File.read(path, ImageError)
        if side is None:
            with contextlib.suppress(VocSegError):
                pixels = images.pixels(file)
                return DecodedImage(pixels, pixels.shape[:2])
        still = _decode_even_if_damaged(file, ImageError, side)
        return DecodedImage(still.rgb(), still.full_size)
    return DecodedImage()


def decode_stored_mask(path: epath.Path | None) -> StoredMask | None:
    """Decodes a mask; returns None if there is none, or it cannot be read."""
    if path is None:
        return None
    try:
        file = File.read(path, MaskError)
        if path.suffix == ".npy":
            return StoredMask(mask_samples.read_samples(file).values.astype(np.uint8))
        still = _decode_even_if_damaged(file, MaskError)
        if still.values().ndim != 2:
            return StoredMask(still.rgb())
        palette = still.palette()
        if palette is not None:
            missing = np.zeros((256 - len(palette), 3), np.uint8)
            palette = np.concatenate([palette, missing])
        return StoredMask(still.values().astype(np.uint8), palette)
    except Exception:  # a page is written, whatever a file does to a decoder
        return None


def _decode_even_if_damaged(
    file: File, error: type[VocSegError], side: int | None = None
) -> pillow.Still:
    """Decodes a file, one that is truncated as far as it goes."""
    try:
        return images.decode(file, side=side)
    except VocSegError:
        with _DAMAGED_FILE_LOCK:
            return pillow.decode(file, error, damaged=True)
