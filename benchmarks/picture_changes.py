"""Changes images as people do who copy them: encode again, scale, brighten, mirror, turn, crop.

What was changed is a JPEG, as most copies are.
"""

from collections.abc import Callable, Mapping
import math

import numpy as np
from PIL import Image

from voc_seg_tfrecord.formats.pillow import encode_jpeg

_QUALITY = 85  # of copies that were changed in another way too

Change = Callable[[np.ndarray], bytes]
"""Returns an image, uint8 `[H, W, 3]`, changed and encoded."""


def _encode(pixels: np.ndarray, quality: int = _QUALITY) -> bytes:
    return encode_jpeg(np.ascontiguousarray(pixels), quality)


def _scale(pixels: np.ndarray, factor: float) -> bytes:
    height, width = pixels.shape[:2]
    size = (max(1, round(width * factor)), max(1, round(height * factor)))
    scaled = Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC)
    return _encode(np.asarray(scaled))


def _brighten(pixels: np.ndarray) -> bytes:
    brighter = np.minimum(pixels.astype(np.float32) * 1.15, 255)
    return _encode(brighter.astype(np.uint8))


CHANGES: Mapping[str, Change] = {
    "encoded as JPEG 75": lambda pixels: _encode(pixels, 75),
    "encoded as JPEG 30": lambda pixels: _encode(pixels, 30),
    "half the size": lambda pixels: _scale(pixels, 0.5),
    "double the size": lambda pixels: _scale(pixels, 2),
    "15 % brighter": _brighten,
    "mirrored": lambda pixels: _encode(pixels[:, ::-1]),
    "flipped": lambda pixels: _encode(pixels[::-1]),
    "rotated by 90 degrees": lambda pixels: _encode(np.rot90(pixels, -1)),
    "rotated by 180 degrees": lambda pixels: _encode(np.rot90(pixels, 2)),
}
"""The changes of a whole picture, by what people call them."""


def _crop(pixels: np.ndarray, share: float) -> np.ndarray:
    """Returns a part with this share of the area, right of and below the middle."""
    height, width = pixels.shape[:2]
    cropped_height = max(1, round(height * math.sqrt(share)))
    cropped_width = max(1, round(width * math.sqrt(share)))
    top = (height - cropped_height) * 2 // 3
    left = (width - cropped_width) * 2 // 3
    return pixels[top : top + cropped_height, left : left + cropped_width]


CROPS: Mapping[str, Change] = {
    "crop of 80 %": lambda pixels: _encode(_crop(pixels, 0.8)),
    "crop of 60 %": lambda pixels: _encode(_crop(pixels, 0.6)),
    "mirrored crop of 60 %": lambda pixels: _encode(_crop(pixels, 0.6)[:, ::-1]),
}
"""The changes that leave a part of a picture, of which the share of the area is said."""
