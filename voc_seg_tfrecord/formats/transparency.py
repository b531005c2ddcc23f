"""What lies under the transparent pixels of masks: transparency changes no index.

Files say it by an alpha channel, by the chunk tRNS of a PNG (the alpha of palette entries, or one
value or color that is transparent), or by the transparent value of a GIF.

1. A palette mask is read by its indices, whatever the alpha of its entries.
2. All fully transparent pixels of another mask must have the same gray or color, which is read.
   `folder.meaning.rules` decides by all masks of the set whether it is background.
3. A mask with partly transparent pixels is refused.
"""

from collections.abc import Sequence
import struct

import numpy as np

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import Color
from voc_seg_tfrecord.formats.png import Chunk, ColorType, PngHeader

_OPAQUE = 255
_EXPECTED = "a mask of opaque pixels, or of one color under all transparent ones"
_REMEDY = "export the mask without transparency and without soft edges"


def find_clear_pixels(alpha: np.ndarray, file: File) -> np.ndarray:
    """Returns which pixels are fully transparent, bool `[H, W]`.

    Args:
      alpha: an alpha channel, integers `[H, W]`.
      file: the mask, for errors.

    Raises:
      MaskError: if some are partly transparent.
    """
    is_clear = alpha == 0
    is_partly = ~is_clear & (alpha != np.iinfo(alpha.dtype).max)
    pixels = int(np.count_nonzero(is_partly))
    if pixels:
        found = f"{counted(pixels, 'pixel')} that are partly transparent"
        raise MaskError(file.where, found=found, expected=_EXPECTED, remedy=_REMEDY)
    return is_clear


def read_under(values: np.ndarray, is_clear: np.ndarray, file: File) -> frozenset[int | Color]:
    """Returns the one gray or color under transparent pixels; an empty set without such pixels.

    Args:
      values: grays `[H, W]` or colors uint8 `[H, W, 3]`.
      is_clear: which pixels are fully transparent, bool `[H, W]`.
      file: the mask, for errors.

    Raises:
      MaskError: if they have several.
    """
    hidden = values[is_clear]
    if not len(hidden):
        return frozenset()
    different = hidden[(hidden != hidden[0]).reshape(len(hidden), -1).any(axis=1)]
    if len(different):
        shown = " and ".join(_describe(key) for key in (_as_key(hidden[0]), _as_key(different[0])))
        found = f"several colors under transparent pixels, such as {shown}"
        raise MaskError(file.where, found=found, expected=_EXPECTED, remedy=_REMEDY)
    return frozenset([_as_key(hidden[0])])


def _as_key(pixel: np.ndarray) -> int | Color:
    """Returns a gray or a color `[3]` as numbers of Python."""
    numbers = pixel.reshape(-1).tolist()
    if len(numbers) == 1:
        return int(numbers[0])
    red, green, blue = numbers
    return red, green, blue


def _describe(key: int | Color) -> str:
    return f"gray {key}" if isinstance(key, int) else color_key(key)


def transparent_values(header: PngHeader, chunks: Sequence[Chunk]) -> frozenset[int]:
    """Returns the values of a palette or grayscale PNG that are not opaque, in use or not."""
    content = _transparency(chunks)
    if header.color is ColorType.PALETTE:
        return frozenset(value for value, alpha in enumerate(content) if alpha != _OPAQUE)
    if header.color is ColorType.GRAY and content:
        return frozenset(_unpack_samples(header, content))
    return frozenset()


def transparent_color(header: PngHeader, chunks: Sequence[Chunk]) -> tuple[int, ...] | None:
    """Returns the color of an RGB PNG that is not opaque, of 8 or 16 bits; None if all are."""
    content = _transparency(chunks)
    if header.color is not ColorType.RGB or not content:
        return None
    return _unpack_samples(header, content)


def _unpack_samples(header: PngHeader, content: bytes) -> tuple[int, ...]:
    """Returns the samples in tRNS, 2 bytes each; bits that the image does not have do not count."""
    samples = struct.unpack(f">{len(content) // 2}H", content)
    return tuple(sample % (1 << header.depth) for sample in samples)


def _transparency(chunks: Sequence[Chunk]) -> bytes:
    """Returns what the chunk tRNS holds; empty if there is none."""
    for chunk in chunks:
        if chunk.kind == b"tRNS":
            return bytes(chunk.content)
    return b""


def check_is_black(transparent: frozenset[int | Color], file: File) -> None:
    """Checks that what lies under transparent pixels is 0 or black.

    White in a black and white mask may be outside of the class there.

    Raises:
      MaskError: if they are not.
    """
    for key in transparent:
        if key not in (0, (0, 0, 0)):
            found = f"{_describe(key)} under transparent pixels"
            expected = "0 or black under transparent pixels"
            raise MaskError(file.where, found=found, expected=expected, remedy=_REMEDY)
