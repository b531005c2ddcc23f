"""Encodes arrays as PNGs and JPEGs, by Pillow."""

import io

import numpy as np
from PIL import Image


def png(pixels: np.ndarray, *, photo: bool = False) -> bytes:
    """Returns uint8 `[H, W]` as a greyscale PNG, or uint8 `[H, W, 3]` as an RGB PNG.

    Args:
      pixels: what to encode.
      photo: whether these are pixels of a photo, which compress as well with less effort: 40
        photos take 0.8 s at level 3 and 1.8 s at the usual level 6, and 1.6 % less space.
    """
    return pillow_png(Image.fromarray(pixels), 3 if photo else -1)


def jpeg(pixels: np.ndarray, quality: int) -> bytes:
    """Returns uint8 `[H, W]` or `[H, W, 3]` as a JPEG of a quality of 1 to 100.

    Colour is stored with half the height and width, as most programs do.
    """
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality, subsampling="4:2:0")
    return buffer.getvalue()


def pillow_png(image: Image.Image, level: int = -1) -> bytes:
    """Returns an image of Pillow's as a PNG, compressed at a level of zlib's."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=level)
    return buffer.getvalue()
