"""PNGs of one index per pixel: from palette to grey and back, with their pixels untouched."""

from voc_seg_tfrecord.formats import png_chunks
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import PNG_SIGNATURE
from voc_seg_tfrecord.formats.png import ColorType, Header, read_header
from voc_seg_tfrecord.formats.png_chunks import Chunk

# Ancillary chunks by which some decoder changes grey values or adds a channel.
_VALUE_CHANGING = frozenset({b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"cICP", b"sBIT"})


def grey_index_png(file: File, header: Header, chunks: tuple[Chunk, ...]) -> bytes:
    """Makes the 8-bit greyscale PNG whose pixels are this PNG's stored values.

    The pixel stream of an 8-bit palette PNG is that of a greyscale one, so only IHDR is
    rewritten and of the other chunks only IDAT and IEND are kept: nothing is compressed anew.
    An 8-bit greyscale PNG comes back as it is, but for chunks by which a decoder would change
    its values.

    Args:
      file: the file.
      header: its header, with `depth` 8 and `color` PALETTE or GREY.
      chunks: its chunks.

    Returns:
      The bytes of a PNG that every decoder reads to the index, uint8 `[H, W, 1]`.
    """
    if header.color == ColorType.GREY:
        if not any(chunk.kind in _VALUE_CHANGING for chunk in chunks):
            return file.data
        return png_chunks.joined(c for c in chunks if c.kind not in _VALUE_CHANGING)
    return png_chunks.joined([_recolored(chunks[0], ColorType.GREY), *_pixels(chunks)])


def is_bare(grey: bytes, chunks: tuple[Chunk, ...]) -> bool:
    """Says whether `grey_index_png` kept no chunk on which a decoder could stumble."""
    bare = sum(len(c.raw) for c in chunks if c.kind in (b"IHDR", b"IDAT", b"IEND"))
    return len(grey) == len(PNG_SIGNATURE) + bare


def palette_png(grey: File, palette: bytes) -> bytes:
    """Makes the palette PNG whose indices are the values of an 8-bit greyscale PNG.

    Args:
      grey: such a PNG, as records hold it.
      palette: RGB bytes of 256 entries.

    Returns:
      The PNG, its pixel stream untouched.

    Raises:
      MaskError: if the PNG is damaged.
    """
    chunks = png_chunks.read(grey, read_header(grey))
    header = _recolored(chunks[0], ColorType.PALETTE)
    return png_chunks.joined([header, png_chunks.make(b"PLTE", palette), *_pixels(chunks)])


def _pixels(chunks: tuple[Chunk, ...]) -> list[Chunk]:
    return [chunk for chunk in chunks if chunk.kind in (b"IDAT", b"IEND")]


def _recolored(header: Chunk, color: ColorType) -> Chunk:
    content = bytearray(header.content)
    content[9] = color
    return png_chunks.make(b"IHDR", bytes(content))
