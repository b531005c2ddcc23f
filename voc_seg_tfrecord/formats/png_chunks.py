"""The chunks of a PNG: each one's checksum, and the order and sizes that the format demands.

Decoders differ in which breaches they forgive, and in what they then read. So none is
forgiven here: what passes is read alike by every decoder.

References:
  Portable Network Graphics (PNG) Specification, third edition, sections 5 and 11.
"""

from collections.abc import Iterable, Iterator, Sequence
import struct
from typing import NamedTuple
import zlib

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import PNG_SIGNATURE, Kind
from voc_seg_tfrecord.formats.limits import animated
from voc_seg_tfrecord.formats.png import ColorType, Header, damaged

_CRITICAL = (b"IHDR", b"PLTE", b"IDAT", b"IEND")


class Chunk(NamedTuple):
    """One chunk: its type, and its raw bytes (length, type, content, checksum)."""

    kind: bytes
    raw: bytes

    @property
    def content(self) -> bytes:
        """What stands between type and checksum."""
        return self.raw[8:-4]


def read(file: File, header: Header) -> tuple[Chunk, ...]:
    """Returns the chunks of a PNG, from IHDR to IEND.

    Args:
      file: the file.
      header: its header.

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
    _check_palette(file, header, kinds, {k: raw[8:-4] for k, raw in before.items()})
    return chunks


def joined(chunks: Iterable[Chunk]) -> bytes:
    """Returns the PNG that some chunks make."""
    return b"".join([PNG_SIGNATURE, *(chunk.raw for chunk in chunks)])


def critical(chunks: Iterable[Chunk]) -> bytes:
    """Returns the PNG without all that no decoder needs: texts, profiles, transparency."""
    return joined(chunk for chunk in chunks if chunk.kind in _CRITICAL)


def make(kind: bytes, content: bytes) -> Chunk:
    """Returns a chunk."""
    body = kind + content
    return Chunk(kind, struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body)))


def _check_palette(
    file: File, header: Header, kinds: Sequence[bytes], contents: dict[bytes, bytes]
) -> None:
    palette, alpha = contents.get(b"PLTE"), contents.get(b"tRNS")
    if palette is None and header.color is ColorType.PALETTE:
        raise damaged(file, "a palette image without its palette (PLTE)")
    if palette is not None and header.color in (ColorType.GREY, ColorType.GREY_ALPHA):
        raise damaged(file, f"a palette (PLTE) in an image of another kind: {header.describe()}")
    colors, rest = divmod(len(palette or b""), 3)
    most = 1 << header.depth if header.color is ColorType.PALETTE else 256
    if palette is not None and (rest or not 1 <= colors <= most):
        raise damaged(file, f"a palette of {len(palette)} bytes, which is not 1 to {most} colours")
    fits = {
        ColorType.GREY: alpha is None or len(alpha) == 2,
        ColorType.RGB: alpha is None or len(alpha) == 6,
        ColorType.PALETTE: alpha is None or len(alpha) <= colors,
    }
    if not fits.get(header.color, alpha is None):
        raise damaged(file, f"transparency (tRNS) of {len(alpha)} bytes: {header.describe()}")
    if None not in (palette, alpha) and kinds.index(b"tRNS") < kinds.index(b"PLTE"):
        raise damaged(file, "transparency (tRNS) in front of the palette (PLTE)")


def _chunks(file: File) -> Iterator[Chunk]:
    data = file.data
    position = len(PNG_SIGNATURE)
    while True:
        if position + 12 > len(data):
            raise damaged(file, f"PNG truncated after {len(data)} bytes, IEND is missing")
        (length,) = struct.unpack_from(">I", data, position)
        end = position + 12 + length
        if end > len(data):
            raise damaged(file, f"PNG truncated after {len(data)} bytes, in a chunk")
        kind = data[position + 4 : position + 8]
        if zlib.crc32(data[position + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            name = kind.decode("latin-1")
            raise damaged(file, f"checksum of the {name} chunk at byte {position} does not match")
        if kind == b"acTL":  # the chunk that makes a PNG an APNG
            raise animated(file, MaskError, Kind.PNG)
        yield Chunk(kind, data[position:end])
        if kind == b"IEND":
            return
        position = end
