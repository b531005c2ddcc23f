"""PNG files: header, chunks, and index masks made of palette masks with pixels untouched.

Decoders differ in which faults they tolerate, and in the pixels that they then return. So every
fault is refused here: all decoders read a PNG that passes to the same pixels.

References:
  Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import enum
import struct
from typing import NamedTuple
import zlib

import numpy as np
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


_HEADER = b"\0\0\0\rIHDR"  # 13 bytes
_LARGEST_SIDE = (1 << 31) - 1
_DEPTHS = {
    ColorType.GRAY: (1, 2, 4, 8, 16),
    ColorType.RGB: (8, 16),
    ColorType.PALETTE: (1, 2, 4, 8),
    ColorType.GRAY_ALPHA: (8, 16),
    ColorType.RGBA: (8, 16),
}


@dataclasses.dataclass(frozen=True)
class Header:
    """What IHDR says: sizes in pixels, bits per sample, color type, Adam7 or not."""

    width: int
    height: int
    depth: int
    color: ColorType
    interlaced: bool

    @property
    def channels(self) -> int:
        """Samples per pixel: 1 of a palette."""
        return {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[self.color]

    def describe(self) -> str:
        """Returns such as `8-bit palette PNG`."""
        return f"{self.depth}-bit {self.color.name.lower().replace('_', '+')} PNG"


@once_per_file
def read_header(file: File) -> Header:
    """Reads IHDR alone, which the first 33 bytes of a file hold; nothing is decompressed.

    Raises:
      MaskError: if this is not a PNG, or its header is not one.
    """
    data = file.data
    if file.kind is not Kind.PNG:
        raise MaskError(
            file.where,
            found=f"not a PNG, but {describe_kind(file)}",
            expected="a PNG that holds one class index per pixel",
            remedy="export the masks as PNG; JPEG's compression would change class indices"
            if file.kind in IMAGE_KINDS
            else "put the mask as it was exported in its place",
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
            f"impossible PNG header: {width} x {height}, {depth} bits, color type {color}, "
            f"compression {methods[0]}, filter {methods[1]}, interlace {interlace}",
        )
    return Header(width, height, depth, ColorType(color), bool(interlace))


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


class Chunk(NamedTuple):
    """One chunk: its type, and its raw bytes (length, type, content, checksum), not copied."""

    kind: bytes
    raw: bytes | memoryview

    @property
    def content(self) -> bytes | memoryview:
        """What stands between type and checksum."""
        return self.raw[8:-4]


def read_chunks(file: File, header: Header) -> tuple[Chunk, ...]:
    """Returns the chunks of a PNG, from IHDR to IEND.

    Raises:
      MaskError: if a chunk is truncated or damaged, is unknown but needed for decoding, stands
        at the wrong place or has an impossible size, or the PNG is animated.
    """
    chunks = tuple(_chunks(file))
    kinds = [chunk.kind for chunk in chunks]
    for kind in kinds:
        if not kind.isalpha() or (kind[:1].isupper() and kind not in _CRITICAL):
            raise damaged(file, f"a chunk {kind!r}, which no decoder of PNG knows")
    if kinds.count(b"IHDR") > 1 or chunks[-1].content:
        raise damaged(file, "a second header, or content in the chunk that ends a PNG")
    first = kinds.index(b"IDAT") if b"IDAT" in kinds else len(kinds)
    if set(kinds[first : first + kinds.count(b"IDAT")]) != {b"IDAT"}:
        raise damaged(file, "pixels (IDAT) that are missing, or have other chunks among them")
    before = dict(chunks[:first])
    for kind in (b"PLTE", b"tRNS"):
        if kinds.count(kind) > (kind in before):
            raise damaged(file, f"{kind.decode()} twice, or behind the pixels")
    lengths = {kind: len(raw) - 12 for kind, raw in before.items()}
    _check_palette(file, header, kinds, lengths)
    return chunks


def join_chunks(chunks: Iterable[Chunk]) -> bytes:
    """Returns the PNG that some chunks make."""
    return b"".join([PNG_SIGNATURE, *(chunk.raw for chunk in chunks)])


def critical_chunks(chunks: Iterable[Chunk], *more: bytes) -> bytes:
    """Returns the PNG without what no decoder needs (texts, profiles, transparency) but `more`."""
    return join_chunks(chunk for chunk in chunks if chunk.kind in (*_CRITICAL, *more))


def make_chunk(kind: bytes, content: bytes) -> Chunk:
    """Returns a chunk."""
    body = kind + content
    return Chunk(kind, struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body)))


_AT_ONCE = 1 << 22  # bytes of rows that are compressed together


def encode(pixels: np.ndarray, *, runs: bool = False) -> bytes:
    """Returns pixels as a PNG, the same bytes wherever zlib-ng is the same.

    Args:
      pixels: uint8 or uint16 `[H, W]` or `[H, W, N]`, N being 1, 3 or 4.
      runs: whether runs of equal values are all that they have, as drawn masks do. To look for
        nothing else takes a fifth of the time and makes smaller files.
    """
    height, width, channels = (*pixels.shape, 1)[:3]
    color = {1: ColorType.GRAY, 3: ColorType.RGB, 4: ColorType.RGBA}[channels]
    big_endian, row = pixels.dtype.newbyteorder(">"), width * channels * pixels.itemsize
    deflate = zlib_ng.compressobj(strategy=zlib_ng.Z_RLE) if runs else zlib_ng.compressobj(3)
    step, above, parts = max(1, _AT_ONCE // row), np.zeros(row, np.uint8), list[bytes]()
    for top in range(0, height, step):
        band = np.ascontiguousarray(pixels[top : top + step], big_endian)
        plain = band.view(np.uint8).reshape(-1, row)
        rows = np.zeros((len(plain), 1 + row), np.uint8)  # each begins with its filter: none, or up
        rows[:, 1:] = plain
        if not runs:
            rows[:, 0] = 2
            rows[0, 1:] -= above
            rows[1:, 1:] -= plain[:-1]
            above = plain[-1].copy()
        parts.append(deflate.compress(rows))
    header = struct.pack(">IIBBBBB", width, height, 8 * pixels.itemsize, color, 0, 0, 0)
    data = b"".join([*parts, deflate.flush()])
    chunks = ((b"IHDR", header), (b"IDAT", data), (b"IEND", b""))
    return join_chunks(make_chunk(*chunk) for chunk in chunks)


def _check_palette(
    file: File, header: Header, kinds: Sequence[bytes], lengths: Mapping[bytes, int]
) -> None:
    palette, alpha = lengths.get(b"PLTE"), lengths.get(b"tRNS")
    if palette is None and header.color is ColorType.PALETTE:
        raise damaged(file, "a palette image without its palette (PLTE)")
    if palette is not None and header.color in (ColorType.GRAY, ColorType.GRAY_ALPHA):
        raise damaged(file, f"a palette (PLTE) in an image of another kind: {header.describe()}")
    colors, rest = divmod(palette or 0, 3)
    most = 1 << header.depth if header.color is ColorType.PALETTE else 256
    if palette is not None and (rest or not 1 <= colors <= most):
        raise damaged(file, f"a palette of {palette} bytes, which is not 1 to {most} colors")
    allowed: dict[ColorType, Collection[int]] = {
        ColorType.GRAY: (2,),
        ColorType.RGB: (6,),
        ColorType.PALETTE: range(colors + 1),
    }
    if alpha is not None and alpha not in allowed.get(header.color, ()):
        raise damaged(file, f"transparency (tRNS) of {alpha} bytes: {header.describe()}")
    if None not in (palette, alpha) and kinds.index(b"tRNS") < kinds.index(b"PLTE"):
        raise damaged(file, "transparency (tRNS) in front of the palette (PLTE)")


def _chunks(file: File) -> Iterator[Chunk]:
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
        if zlib.crc32(data[position + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            name = kind.decode("latin-1")
            raise damaged(file, f"checksum of the {name} chunk at byte {position} does not match")
        if kind == b"acTL":  # the chunk that makes a PNG an APNG
            raise animated_error(file, MaskError, Kind.PNG)
        yield Chunk(kind, data[position:end])
        if kind == b"IEND":
            return
        position = end


# Ancillary chunks by which some decoder changes gray values or adds a channel.
_VALUE_CHANGING = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT"})


def gray_index_png(file: File, header: Header, chunks: tuple[Chunk, ...]) -> bytes:
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
        if not any(chunk.kind in _VALUE_CHANGING for chunk in chunks):
            return file.data
        return join_chunks(c for c in chunks if c.kind not in _VALUE_CHANGING)
    return join_chunks([_recolored(chunks[0], ColorType.GRAY), *_pixels(chunks)])


def is_bare(gray: bytes, chunks: tuple[Chunk, ...]) -> bool:
    """Says whether `gray_index_png` kept no chunk on which a decoder could stumble."""
    bare = sum(len(c.raw) for c in chunks if c.kind in (b"IHDR", b"IDAT", b"IEND"))
    return len(gray) == len(PNG_SIGNATURE) + bare


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
    header = _recolored(chunks[0], ColorType.PALETTE)
    transparent = [make_chunk(b"tRNS", alpha)] if alpha else []
    return join_chunks([header, make_chunk(b"PLTE", palette), *transparent, *_pixels(chunks)])


def _pixels(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.kind in (b"IDAT", b"IEND")]


def _recolored(header: Chunk, color: ColorType) -> Chunk:
    content = bytearray(header.content)
    content[9] = color
    return make_chunk(b"IHDR", bytes(content))
