"""Decodes images and masks that may be damaged, as far as a page can show them."""

import contextlib
import dataclasses

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.formats import images, mask_samples, pillow, stills


@dataclasses.dataclass(frozen=True, eq=False)
class DecodedImage:
    """An image, as far as it could be decoded.

    Attributes:
      pixels: uint8 `[H, W, 3]`; None if it could not be decoded.
      size: height and width in the file; 0 if it could not be decoded.
    """

    pixels: np.ndarray | None = None
    size: tuple[int, int] = (0, 0)


@dataclasses.dataclass(frozen=True, eq=False)
class StoredMask:
    """A mask as it is in its file, with no meaning given to its values.

    Attributes:
      values: uint8 `[H, W]`, with values above 255 as 255; or `[H, W, 3]` if the file holds colors.
      palette: the colors of the values, uint8 `[256, 3]`; None if the file has none.
    """

    values: np.ndarray
    palette: np.ndarray | None = None


def decode_image(path: epath.Path | None, *, side: int | None) -> DecodedImage:
    """Decodes an image; if it is truncated, as far as it goes.

    Args:
      path: the file; None if there is none, which counts as an image that cannot be decoded.
      side: how many pixels the shorter side needs, if a smaller image will do: a JPEG is then
        decoded to a part of its size. None for all pixels, as a build decodes them.
    """
    if path is None:
        return DecodedImage()
    try:
        file = File.read(path, ImageError)
    except VocSegError:
        return DecodedImage()
    # A page is written, whatever error a strange file leads a decoder to.
    with contextlib.suppress(Exception):
        return _decode_sound_image(file, side)
    with contextlib.suppress(Exception):
        return _decode_damaged_image(file)
    return DecodedImage()


def _decode_sound_image(file: File, side: int | None) -> DecodedImage:
    """Decodes an image that is complete.

    Raises:
      ImageError: if it is not.
    """
    if side is None:
        pixels = images.decode_rgb(file)
        return DecodedImage(pixels, pixels.shape[:2])
    still = images.decode(file, side=side)
    return DecodedImage(still.rgb(), still.full_size)


def _decode_damaged_image(file: File) -> DecodedImage:
    """Decodes an image that may be truncated.

    Raises:
      ImageError: if it is damaged otherwise.
    """
    still = pillow.decode(file, ImageError, damaged=True)
    return DecodedImage(still.rgb(), still.full_size)


def decode_stored_mask(path: epath.Path | None) -> StoredMask | None:
    """Decodes a mask; if it is truncated, as far as it goes.

    Returns:
      None if there is none, or it cannot be decoded.
    """
    if path is None:
        return None
    try:
        return _decode_mask(File.read(path, MaskError))
    except Exception:  # a page is written, whatever error a strange file leads a decoder to
        return None


def _decode_mask(file: File) -> StoredMask:
    """Decodes a mask that may be truncated.

    Raises:
      MaskError: if it is damaged otherwise.
    """
    if file.kind is Kind.NUMPY:
        return StoredMask(_limit_to_bytes(mask_samples.read_samples(file).values))
    still = _decode_mask_by_pillow(file)
    values = still.values()
    if values.ndim != 2:
        return StoredMask(still.rgb())
    palette = still.palette()
    if palette is not None:
        palette = _pad_palette(palette)
    return StoredMask(_limit_to_bytes(values), palette)


def _decode_mask_by_pillow(file: File) -> stills.Still:
    # Truncated files are accepted only in the second try, because it stops all other decoding.
    with contextlib.suppress(MaskError):
        return pillow.decode(file, MaskError)
    return pillow.decode(file, MaskError, damaged=True)


def _limit_to_bytes(values: np.ndarray) -> np.ndarray:
    """Returns numbers of any dtype, `[H, W]`, as uint8: those outside of 0 to 255 as 0 or 255."""
    if values.dtype == np.uint8:
        return values
    numbers = np.nan_to_num(values.astype(np.float32))
    return np.clip(numbers, 0, 255).astype(np.uint8)


def _pad_palette(palette: np.ndarray) -> np.ndarray:
    """Returns a palette, uint8 `[N, 3]`, with black for the values that it lacks, `[256, 3]`."""
    missing_colors = np.zeros((256 - len(palette), 3), np.uint8)
    return np.concatenate([palette, missing_colors])
