"""A PNG's header, and whether its palette is a known one; `png_chunks` reads on.

References:
  Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.
"""

import dataclasses
import enum
import struct
import zlib

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import PNG_SIGNATURE, describe


class ColorType(enum.IntEnum):
    """PNG's colour types."""

    GREY = 0
    RGB = 2
    PALETTE = 3
    GREY_ALPHA = 4
    RGBA = 6


_HEADER = b"\0\0\0\rIHDR"  # 13 bytes
_LARGEST_SIDE = (1 << 31) - 1
_DEPTHS = {
    ColorType.GREY: (1, 2, 4, 8, 16),
    ColorType.RGB: (8, 16),
    ColorType.PALETTE: (1, 2, 4, 8),
    ColorType.GREY_ALPHA: (8, 16),
    ColorType.RGBA: (8, 16),
}


@dataclasses.dataclass(frozen=True)
class Header:
    """What IHDR says: sizes in pixels, bits per sample, colour type, Adam7 or not."""

    width: int
    height: int
    depth: int
    color: ColorType
    interlaced: bool

    def describe(self) -> str:
        """Returns such as `8-bit palette PNG`."""
        return f"{self.depth}-bit {self.color.name.lower().replace('_', '+')} PNG"


def read_header(file: File) -> Header:
    """Reads IHDR alone; nothing is decompressed.

    Args:
      file: the file, or at least its first 33 bytes.

    Returns:
      The header.

    Raises:
      MaskError: if this is not a PNG, or its header is not one.
    """
    data = file.data
    if not data.startswith(PNG_SIGNATURE):
        raise MaskError(
            file.where,
            found=f"not a PNG, but {describe(data)}",
            expected="a PNG that holds one class index per pixel",
            remedy="export the masks as PNG; JPEG's compression would change class indices",
        )
    if len(data) < 33 or data[8:16] != _HEADER:
        raise damaged(file, f"PNG header truncated after {len(data)} bytes, or not in front")
    if zlib.crc32(data[12:29]) != struct.unpack(">I", data[29:33])[0]:
        raise damaged(file, "PNG header's checksum does not match")
    width, height, depth, color, *methods, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if (
        not 0 < width <= _LARGEST_SIDE
        or not 0 < height <= _LARGEST_SIDE
        or depth not in _DEPTHS.get(color, ())
        or methods != [0, 0]
        or interlace > 1
    ):
        raise damaged(
            file,
            f"impossible PNG header: {width} x {height}, {depth} bits, colour type {color}, "
            f"compression {methods[0]}, filter {methods[1]}, interlace {interlace}",
        )
    return Header(width, height, depth, ColorType(color), bool(interlace))


def has_palette(data: bytes, palette: bytes) -> bool:
    """Says whether a PNG's palette, right behind its header, is the first part of this one."""
    if data[12:16] != b"IHDR" or data[37:41] != b"PLTE":
        return False
    (length,) = struct.unpack_from(">I", data, 33)
    return data[41 : 41 + length] == palette[:length]


def damaged(file: File, found: str) -> MaskError:
    """Returns the error about a PNG that breaks the format's rules."""
    return MaskError(
        file.where,
        found=found,
        expected="a complete PNG",
        remedy="copy or export the file again",
        kind="damaged file",
    )
