"""PNG files as chunks: just enough to see what a mask is and to make an index mask grey.

References:
  Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.
"""

from collections.abc import Iterator
import dataclasses
import enum
import struct
import zlib

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import PNG_SIGNATURE, Kind, describe
from voc_seg_tfrecord.formats.limits import animated

# Ancillary chunks by which some decoder changes grey values or adds a channel.
_VALUE_CHANGING = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT"})


class ColorType(enum.IntEnum):
    """PNG's colour types."""

    GREY = 0
    RGB = 2
    PALETTE = 3
    GREY_ALPHA = 4
    RGBA = 6


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
    if len(data) < 33 or data[12:16] != b"IHDR":
        raise _damaged(file, f"PNG header truncated after {len(data)} bytes")
    if zlib.crc32(data[12:29]) != struct.unpack(">I", data[29:33])[0]:
        raise _damaged(file, "PNG header's checksum does not match")
    width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", data[16:29])
    if not width or not height or color not in ColorType.__members__.values():
        raise _damaged(file, f"impossible PNG header: {width} x {height}, colour type {color}")
    return Header(width, height, depth, ColorType(color), bool(interlace))


def grey_index_png(file: File, header: Header) -> bytes:
    """Makes the 8-bit greyscale PNG whose pixels are this PNG's stored values.

    The pixel stream of an 8-bit palette PNG is that of a greyscale one, so only IHDR is
    rewritten and of the other chunks only IDAT and IEND are kept: nothing is decoded. An
    8-bit greyscale PNG comes back as it is, but for chunks by which a decoder would change
    its values.

    Args:
      file: the file.
      header: its header, with `depth` 8 and `color` PALETTE or GREY.

    Returns:
      The bytes of a PNG that every decoder reads to the index, uint8 `[H, W, 1]`.

    Raises:
      MaskError: if a chunk is truncated or damaged, or the PNG is animated.
    """
    data = file.data
    chunks = list(_chunks(file))
    if header.color == ColorType.GREY:
        if not any(kind in _VALUE_CHANGING for kind, _ in chunks):
            return data
        return b"".join(
            [PNG_SIGNATURE, *(raw for kind, raw in chunks if kind not in _VALUE_CHANGING)]
        )
    ihdr = bytearray(data[12:29])
    ihdr[13] = ColorType.GREY
    kept = [raw for kind, raw in chunks if kind in (b"IDAT", b"IEND")]
    return b"".join([PNG_SIGNATURE, _chunk(ihdr), *kept])


def palette_png(grey: File, palette: bytes) -> bytes:
    """Makes the palette PNG whose indices are the values of an 8-bit greyscale PNG.

    Args:
      grey: such a PNG, as records hold it.
      palette: RGB bytes of 256 entries.

    Returns:
      The PNG, its pixel stream untouched.
    """
    kept = [raw for kind, raw in _chunks(grey) if kind in (b"IDAT", b"IEND")]
    ihdr = bytearray(grey.data[12:29])
    ihdr[13] = ColorType.PALETTE
    return b"".join([PNG_SIGNATURE, _chunk(ihdr), _chunk(b"PLTE" + palette), *kept])


def _chunk(kind_and_content: bytes) -> bytes:
    length = struct.pack(">I", len(kind_and_content) - 4)
    return length + kind_and_content + struct.pack(">I", zlib.crc32(kind_and_content))


def has_palette(data: bytes, palette: bytes) -> bool:
    """Says whether a PNG's palette, right behind its header, is the first part of this one."""
    if data[12:16] != b"IHDR" or data[37:41] != b"PLTE":
        return False
    (length,) = struct.unpack_from(">I", data, 33)
    return data[41 : 41 + length] == palette[:length]


def chunk_kinds(file: File) -> set[bytes]:
    """Returns which kinds of chunks a PNG has, after checking each one's checksum.

    Raises:
      MaskError: if a chunk is truncated or damaged, or the PNG is animated.
    """
    return {kind for kind, _ in _chunks(file)}


def _chunks(file: File) -> Iterator[tuple[bytes, bytes]]:
    """Yields each chunk's type and its raw bytes (length, type, content, checksum)."""
    data = file.data
    position = len(PNG_SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise _damaged(file, f"PNG truncated after {len(data)} bytes, IEND is missing")
        (length,) = struct.unpack_from(">I", data, position)
        end = position + 12 + length
        if end > len(data):
            raise _damaged(file, f"PNG truncated after {len(data)} bytes, in a chunk")
        kind = data[position + 4 : position + 8]
        if zlib.crc32(data[position + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            name = kind.decode("latin-1")
            raise _damaged(file, f"checksum of the {name} chunk at byte {position} does not match")
        if kind == b"acTL":  # the chunk that makes a PNG an APNG
            raise animated(file, MaskError, Kind.PNG)
        yield kind, data[position:end]
        if kind == b"IEND":
            return
        position = end


def _damaged(file: File, found: str) -> MaskError:
    return MaskError(
        file.where,
        found=found,
        expected="a complete PNG",
        remedy="copy or export the file again",
        kind="damaged file",
    )
