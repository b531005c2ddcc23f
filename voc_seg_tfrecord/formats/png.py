"""PNG files: header, chunks, and index masks made of palette masks with pixels untouched.

Decoders differ in which faults they tolerate, and in the pixels that they then return. So every
fault is refused here: all decoders read a PNG that passes to the same pixels.

References:
  Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
import dataclasses
import enum
import math
import struct
from typing import NamedTuple
import zlib

from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import (
    IMAGE_KINDS,
    PNG_SIGNATURE,
    File,
    Kind,
    animated_error,
    damaged_error,
    describe_kind,
    once_per_file,
)
from voc_seg_tfrecord.core.names import voc_palette


class ColorType(enum.IntEnum):
    """PNG's color types."""

    GRAY = 0
    RGB = 2
    PALETTE = 3
    GRAY_ALPHA = 4
    RGBA = 6


_CHANNELS = {
    ColorType.GRAY: 1,
    ColorType.RGB: 3,
    ColorType.PALETTE: 1,
    ColorType.GRAY_ALPHA: 2,
    ColorType.RGBA: 4,
}
"""Samples per pixel."""


_START_OF_HEADER = b"\0\0\0\rIHDR"
"""The length of IHDR's content, 13, and its type."""

HEADER_BYTES = 33
"""Bytes of the signature and IHDR, with which every PNG begins."""

_HEADER_FORMAT = ">IIBBBBB"
"""Width, height, depth, color type, compression method, filter method, interlace method."""

_ONLY_METHOD = 0
"""The one method of compression, and of filters, that PNG has."""

FILTER_NONE = 0
"""The filter of a row whose bytes are stored as they are."""

_MAX_SIDE = (1 << 31) - 1
_DEPTHS = {
    ColorType.GRAY: (1, 2, 4, 8, 16),
    ColorType.RGB: (8, 16),
    ColorType.PALETTE: (1, 2, 4, 8),
    ColorType.GRAY_ALPHA: (8, 16),
    ColorType.RGBA: (8, 16),
}


@dataclasses.dataclass(frozen=True)
class PngHeader:
    """What IHDR says: sizes in pixels, bits per sample, color type, Adam7 or not."""

    width: int
    height: int
    depth: int
    color: ColorType
    interlaced: bool

    @property
    def channels(self) -> int:
        """Samples per pixel: 1 of a palette."""
        return _CHANNELS[self.color]

    def describe(self) -> str:
        """Returns such as `8-bit palette PNG`."""
        return f"{self.depth}-bit {self.color.name.lower().replace('_', '+')} PNG"


@once_per_file
def read_header(file: File) -> PngHeader:
    """Reads IHDR alone, which the first 33 bytes of a file hold; nothing is decompressed.

    Raises:
      MaskError: if this is not a PNG, or its header is not one.
    """
    data = file.data
    if file.kind is not Kind.PNG:
        raise not_a_png_error(file)
    if len(data) < HEADER_BYTES or data[8:16] != _START_OF_HEADER:
        raise damaged(file, f"PNG header truncated after {len(data)} bytes, or not in front")
    (checksum,) = struct.unpack(">I", data[29:33])
    if zlib.crc32(data[12:29]) != checksum:
        raise damaged(file, "PNG header's checksum does not match")
    width, height, depth, color, compression, filter_method, interlace = struct.unpack(
        _HEADER_FORMAT, data[16:29]
    )
    is_possible = (
        0 < width <= _MAX_SIDE
        and 0 < height <= _MAX_SIDE
        and depth in _DEPTHS.get(color, ())
        and compression == _ONLY_METHOD
        and filter_method == _ONLY_METHOD
        and interlace in (0, 1)
    )
    if not is_possible:
        raise damaged(
            file,
            f"impossible PNG header: {width} x {height}, {depth} bits, color type {color}, "
            f"compression {compression}, filter {filter_method}, interlace {interlace}",
        )
    return PngHeader(width, height, depth, ColorType(color), bool(interlace))


def not_a_png_error(file: File) -> MaskError:
    """Returns the error about a mask that has to be a PNG, and is a file of another kind."""
    if file.kind in IMAGE_KINDS:
        remedy = "export the masks as PNG; JPEG's compression would change class indices"
    else:
        remedy = "put the mask as it was exported in its place"
    return MaskError(
        file.where,
        found=f"not a PNG, but {describe_kind(file)}",
        expected="a PNG that holds one class index per pixel",
        remedy=remedy,
    )


def has_voc_palette(data: bytes) -> bool:
    """Says whether a PNG's palette, right behind its header, is VOC's or the first part of it."""
    if data[12:16] != b"IHDR" or data[37:41] != b"PLTE":
        return False
    (length,) = struct.unpack_from(">I", data, 33)
    return data[41 : 41 + length] == voc_palette().tobytes()[:length]


def damaged(file: File, found: str) -> VocSegError:
    """Returns the error about a PNG that breaks the format's rules."""
    return damaged_error(MaskError, file.where, found, "a complete PNG")


_CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")
"""The chunks that a decoder needs; the type of any other begins with a small letter."""

_HEADER_AND_PIXELS = (b"IHDR", b"IDAT", b"IEND")


class Chunk(NamedTuple):
    """One chunk: its type, and its raw bytes (length, type, content, checksum), not copied."""

    kind: bytes
    raw: bytes | memoryview

    @property
    def content(self) -> bytes | memoryview:
        """What stands between type and checksum."""
        return self.raw[8:-4]


def read_chunks(file: File, header: PngHeader) -> tuple[Chunk, ...]:
    """Returns the chunks of a PNG, from IHDR to IEND.

    Raises:
      MaskError: if a chunk is truncated or damaged, is unknown but needed for decoding, stands
        at the wrong place or has an impossible size, or the PNG is animated.
    """
    chunks = tuple(_split_chunks(file))
    kinds = [chunk.kind for chunk in chunks]
    _check_kinds(file, kinds)
    _check_order(file, kinds)
    if chunks[-1].content:
        raise damaged(file, "content in the chunk that ends a PNG")
    number_of_colors = _check_palette(file, header, _find_chunk(chunks, b"PLTE"))
    transparency = _find_chunk(chunks, b"tRNS")
    if transparency is not None:
        _check_transparency(file, header, transparency, number_of_colors)
    return chunks


def _check_kinds(file: File, kinds: Sequence[bytes]) -> None:
    """Checks that decoders know all chunks that they need."""
    for kind in kinds:
        is_unknown_but_needed = kind[:1].isupper() and kind not in _CRITICAL
        if not kind.isalpha() or is_unknown_but_needed:
            raise damaged(file, f"a chunk {kind!r}, which no decoder of PNG knows")


def _check_order(file: File, kinds: Sequence[bytes]) -> None:
    """Checks the order of the chunks: the header once, the palette, transparency, the pixels.

    Other chunks may stand anywhere but among the pixels.
    """
    if kinds.count(b"IHDR") > 1:
        raise damaged(file, "a second header")
    positions = [position for position, kind in enumerate(kinds) if kind == b"IDAT"]
    are_together = bool(positions) and positions[-1] - positions[0] + 1 == len(positions)
    if not are_together:
        raise damaged(file, "pixels (IDAT) that are missing, or have other chunks among them")
    for kind in (b"PLTE", b"tRNS"):
        is_twice = kinds.count(kind) > 1
        is_behind_pixels = kind in kinds[positions[0] :]
        if is_twice or is_behind_pixels:
            raise damaged(file, f"{kind.decode()} twice, or behind the pixels")
    has_both = b"PLTE" in kinds and b"tRNS" in kinds
    if has_both and kinds.index(b"tRNS") < kinds.index(b"PLTE"):
        raise damaged(file, "transparency (tRNS) in front of the palette (PLTE)")


def _find_chunk(chunks: Sequence[Chunk], kind: bytes) -> Chunk | None:
    """Returns the first chunk of a kind; None if there is none."""
    for chunk in chunks:
        if chunk.kind == kind:
            return chunk
    return None


def _check_palette(file: File, header: PngHeader, palette: Chunk | None) -> int:
    """Checks that an image has a palette if it needs one, and returns how many colors it has."""
    if palette is None:
        if header.color is ColorType.PALETTE:
            raise damaged(file, "a palette image without its palette (PLTE)")
        return 0
    if header.color in (ColorType.GRAY, ColorType.GRAY_ALPHA):
        raise damaged(file, f"a palette (PLTE) in an image of another kind: {header.describe()}")
    length = len(palette.content)
    colors, rest = divmod(length, 3)
    max_colors = 1 << header.depth if header.color is ColorType.PALETTE else 256
    if rest or not 1 <= colors <= max_colors:
        raise damaged(file, f"a palette of {length} bytes, which is not 1 to {max_colors} colors")
    return colors


def _check_transparency(
    file: File, header: PngHeader, transparency: Chunk, number_of_colors: int
) -> None:
    """Checks the length of the chunk tRNS.

    Args:
      file: the file.
      header: its header.
      transparency: the chunk.
      number_of_colors: of the palette.
    """
    length = len(transparency.content)
    lengths: dict[ColorType, Collection[int]] = {
        ColorType.GRAY: (2,),
        ColorType.RGB: (6,),
        ColorType.PALETTE: range(number_of_colors + 1),
    }
    if length not in lengths.get(header.color, ()):
        raise damaged(file, f"transparency (tRNS) of {length} bytes: {header.describe()}")


def _split_chunks(file: File) -> Iterator[Chunk]:
    """Yields the chunks up to IEND, each with a checksum that matches."""
    data = memoryview(file.data)
    position = len(PNG_SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise damaged(file, f"PNG truncated after {len(data)} bytes, IEND is missing")
        (length,) = struct.unpack_from(">I", data, position)
        end = position + 12 + length
        if end > len(data):
            raise damaged(file, f"PNG truncated after {len(data)} bytes, in a chunk")
        kind = bytes(data[position + 4 : position + 8])
        (checksum,) = struct.unpack_from(">I", data, end - 4)
        if zlib.crc32(data[position + 4 : end - 4]) != checksum:
            name = kind.decode("latin-1")
            raise damaged(file, f"checksum of the {name} chunk at byte {position} does not match")
        if kind == b"acTL":  # the chunk that makes a PNG an APNG
            raise animated_error(file, MaskError, Kind.PNG)
        yield Chunk(kind, data[position:end])
        if kind == b"IEND":
            return
        position = end


def join_chunks(chunks: Iterable[Chunk]) -> bytes:
    """Returns the PNG that some chunks make."""
    return b"".join([PNG_SIGNATURE, *(chunk.raw for chunk in chunks)])


def critical_chunks(chunks: Iterable[Chunk], *more: bytes) -> bytes:
    """Returns the PNG without what no decoder needs (texts, profiles, transparency) but `more`."""
    return join_chunks(chunk for chunk in chunks if chunk.kind in (*_CRITICAL, *more))


def header_and_pixels(chunks: Iterable[Chunk]) -> bytes:
    """Returns the PNG without its palette and all that no decoder needs."""
    return join_chunks(chunk for chunk in chunks if chunk.kind in _HEADER_AND_PIXELS)


def make_chunk(kind: bytes, content: bytes) -> Chunk:
    """Returns a chunk."""
    body = kind + content
    return Chunk(kind, struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body)))


def make_header(header: PngHeader) -> Chunk:
    """Returns the chunk IHDR."""
    return make_chunk(
        b"IHDR",
        struct.pack(
            _HEADER_FORMAT,
            header.width,
            header.height,
            header.depth,
            header.color,
            _ONLY_METHOD,
            _ONLY_METHOD,
            header.interlaced,
        ),
    )


_VALUE_CHANGING = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT"})
"""Ancillary chunks by which some decoder changes gray values or adds a channel."""


def gray_index_png(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> bytes:
    """Makes the 8-bit grayscale PNG whose pixels are this PNG's stored values.

    The pixel stream of an 8-bit palette PNG is that of a grayscale one, so only IHDR is
    rewritten and of the other chunks only IDAT and IEND are kept: nothing is compressed anew.
    An 8-bit grayscale PNG comes back as it is, but for chunks by which a decoder would change
    its values.

    Args:
      file: the file.
      header: its header, with `depth` 8 and `color` PALETTE or GRAY.
      chunks: its chunks.

    Returns:
      The bytes of a PNG that every decoder reads to the index, uint8 `[H, W, 1]`.
    """
    if header.color == ColorType.GRAY:
        kept_chunks = without_value_changing(chunks)
        return file.data if len(kept_chunks) == len(chunks) else join_chunks(kept_chunks)
    return join_chunks([_with_color(chunks[0], ColorType.GRAY), *_pixel_chunks(chunks)])


def without_value_changing(chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
    """Returns the chunks but those by which a decoder changes the values of a grayscale PNG."""
    return tuple(chunk for chunk in chunks if chunk.kind not in _VALUE_CHANGING)


_MAX_STORED_BYTES = (1 << 16) - 1
"""Bytes of a block of a zlib stream that is not compressed, at most (RFC 1951, 3.2.4)."""


def store_uncompressed(data: bytes | bytearray) -> bytes:
    """Returns a zlib stream that holds data as it is, which a decoder only has to copy."""
    parts: list[bytes | memoryview] = [b"\x78\x01"]  # a window of 32 KiB
    view = memoryview(data)
    for start in range(0, len(view), _MAX_STORED_BYTES):
        block = view[start : start + _MAX_STORED_BYTES]
        is_last = start + len(block) == len(view)
        parts.append(struct.pack("<BHH", is_last, len(block), len(block) ^ 0xFFFF))
        parts.append(block)
    parts.append(struct.pack(">I", zlib_ng.adler32(data)))
    return b"".join(parts)


def is_bare(chunks: tuple[Chunk, ...]) -> bool:
    """Says whether there is no chunk beside header and pixels, on which a decoder could stumble."""
    return all(chunk.kind in _HEADER_AND_PIXELS for chunk in chunks)


def with_one_pixel(header: PngHeader, chunks: tuple[Chunk, ...]) -> bytes:
    """Returns a PNG of one black pixel with all other chunks of a PNG, in their order."""
    small_header = dataclasses.replace(header, width=1, height=1, interlaced=False)
    pixel_bytes = math.ceil(header.channels * header.depth / 8)
    pixel = make_chunk(b"IDAT", zlib.compress(bytes([FILTER_NONE]) + bytes(pixel_bytes)))
    kinds = [chunk.kind for chunk in chunks]
    first_pixels = kinds.index(b"IDAT")
    before_pixels = chunks[1:first_pixels]
    behind_pixels = [chunk for chunk in chunks[first_pixels:] if chunk.kind != b"IDAT"]
    return join_chunks([make_header(small_header), *before_pixels, pixel, *behind_pixels])


def palette_png(gray: File, palette: bytes, alpha: bytes = b"") -> bytes:
    """Makes the palette PNG whose indices are the values of an 8-bit grayscale PNG.

    Args:
      gray: such a PNG, as records hold it.
      palette: RGB bytes of up to 256 entries.
      alpha: of the first entries, 0 to 255; the others are opaque.

    Raises:
      MaskError: if the PNG is damaged.
    """
    chunks = read_chunks(gray, read_header(gray))
    header = _with_color(chunks[0], ColorType.PALETTE)
    before_pixels = [header, make_chunk(b"PLTE", palette)]
    if alpha:
        before_pixels.append(make_chunk(b"tRNS", alpha))
    return join_chunks([*before_pixels, *_pixel_chunks(chunks)])


def _pixel_chunks(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.kind in (b"IDAT", b"IEND")]


def _with_color(header: Chunk, color: ColorType) -> Chunk:
    """Returns the chunk IHDR with another color type, its tenth byte."""
    content = bytearray(header.content)
    content[9] = color
    return make_chunk(b"IHDR", bytes(content))
