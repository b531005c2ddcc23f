"""The pixels of a PNG as its compressed stream holds them: complete, and not one byte more.

Decoders fill what is missing with zeros or stop with an error, each as it likes. Inflating the
stream is enough to know that nothing is missing.
"""

from collections.abc import Iterator
from typing import Any
import zlib

from zlib_ng import zlib_ng

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.limits import check_pixels
from voc_seg_tfrecord.formats.png import Header, damaged
from voc_seg_tfrecord.formats.png_chunks import Chunk

_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
_ADAM7 = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)  # first column, first row, column step, row step
_FILTERS = bytes(range(5))
_LARGEST_WINDOW = 1 << 15
_PIECE = 1 << 12  # bytes of a stream that are inflated row by row at a time


def stream(chunks: tuple[Chunk, ...]) -> bytes:
    """Returns the compressed stream, which all IDAT chunks hold together."""
    return b"".join(chunk.content for chunk in chunks if chunk.kind == b"IDAT")


def inflate(file: File, header: Header, chunks: tuple[Chunk, ...]) -> bytes:
    """Inflates the pixels and checks that they are all there.

    Args:
      file: the file, for errors.
      header: its header.
      chunks: its chunks.

    Returns:
      The rows one behind the other, each with the number of its filter, 0 to 4, in front.

    Raises:
      MaskError: if there are more than `limits.MAX_PIXELS` pixels, the stream or its checksum
        is damaged, it holds more or fewer rows than the header says, something lies behind it,
        or a row has an unknown filter.
    """
    check_pixels(header.width, header.height, file, MaskError)
    parts = list(_parts(header))
    shortest = min(size for _, size in parts)
    rows = _inflated(file, stream(chunks), sum(n * size for n, size in parts), shortest)
    start = 0
    for count, size in parts:
        filters = rows[start : start + count * size : size]
        if filters.translate(None, _FILTERS):
            raise damaged(file, f"row filter {max(filters)}, which PNG does not know")
        start += count * size
    return rows


def are_samples(rows: bytes, header: Header) -> bool:
    """Says whether inflated rows hold the samples as they are: not interlaced, not filtered."""
    return not header.interlaced and not rows[:: _row_size(header.width, header)].strip(b"\0")


def _inflated(file: File, packed: bytes, size: int, row: int) -> bytes:
    """Returns the `size` bytes of a stream, of which decoders take `row` bytes at a time."""
    window = 1 << (packed[0] >> 4) + 8 if packed else 0
    by_rows = window < min(size, _LARGEST_WINDOW)
    # zlib-ng takes a fifth of the time, and zlib is the one that decoders use.
    library = zlib if by_rows else zlib_ng
    inflater = library.decompressobj(wbits=0)  # the window is that of the stream's own header
    try:
        if by_rows:
            rows = _by_rows(inflater, packed, size + 1, row)
        else:
            rows = inflater.decompress(packed, size + 1)
        if not inflater.eof:  # the checksum behind the last row
            rows += inflater.decompress(inflater.unconsumed_tail, 1)
    except (zlib.error, zlib_ng.error) as error:
        raise damaged(file, f"pixels that cannot be inflated: {error}") from None
    if len(rows) != size:
        found = f"more than {size}" if len(rows) > size else f"{len(rows)} of {size}"
        raise damaged(file, f"{found} bytes of pixels")
    if not inflater.eof or inflater.unused_data:
        raise damaged(file, "pixels whose end is missing, or that have bytes behind their end")
    return rows


def _by_rows(inflater: Any, packed: bytes, limit: int, row: int) -> bytes:
    """Inflates as decoders do, which refuse what refers to bytes before the window.

    At once, zlib finds them all in what it has just written.
    """
    rows = bytearray()
    rest = b""
    for start in range(0, len(packed), _PIECE):
        rest += packed[start : start + _PIECE]
        while len(rows) < limit:
            piece = inflater.decompress(rest, min(row, limit - len(rows)))
            rest = inflater.unconsumed_tail
            rows += piece
            if not piece:
                break
    return bytes(rows)


def _parts(header: Header) -> Iterator[tuple[int, int]]:
    """Yields number of rows and bytes per row, filter included, of each pass over the image."""
    for left, top, across, down in _ADAM7 if header.interlaced else ((0, 0, 1, 1),):
        width = len(range(left, header.width, across))
        height = len(range(top, header.height, down))
        if width and height:
            yield height, _row_size(width, header)


def _row_size(width: int, header: Header) -> int:
    return 1 + (width * header.depth * _CHANNELS[header.color] + 7) // 8
