"""The pixels of a PNG: complete, and not one byte more; their values, and how often each occurs.

Decoders fill what is missing with zeros or stop with an error, each as it likes. Inflating the
stream is enough to know that nothing is missing.

Rows that are not filtered, which is how masks are mostly written, are the values already. They need
not be inflated again by a decoder, after they were inflated to see that they are all there.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import functools
import struct
import zlib

import numpy as np
from PIL import Image
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import ImageError, MaskError
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.png import Chunk, ColorType, Header, damaged, read_header

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
_PIECE = 1 << 16  # bytes of a stream that are inflated at a time, as what is left is copied
_PIECE_BY_ROWS = 1 << 12
_MOST = 1 << 22  # bytes of pixels that are made at a time


def check(file: File, header: Header, chunks: tuple[Chunk, ...]) -> None:
    """Inflates the pixels piece by piece and checks that they are all there.

    Raises:
      MaskError: as `inflate` does.
    """
    for _ in _pieces(file, header, chunks):
        pass


def inflate(file: File, header: Header, chunks: tuple[Chunk, ...]) -> bytearray:
    """Inflates the pixels and checks that they are all there.

    Returns:
      The rows one behind the other, each with the number of its filter, 0 to 4, in front.

    Raises:
      MaskError: if there are more than `file.MAX_PIXELS` pixels, the stream or its checksum
        is damaged, it holds more or fewer rows than the header says, something lies behind it,
        or a row has an unknown filter.
    """
    check_pixels(header.width, header.height, file, MaskError)
    rows, end = bytearray(sum(count * row for count, row in _parts(header))), 0
    for piece in _pieces(file, header, chunks):
        rows[end : end + len(piece)] = piece
        end += len(piece)
    return rows


def _pieces(file: File, header: Header, chunks: tuple[Chunk, ...]) -> Iterator[bytes]:
    """Yields the pixels, with the filters of the rows, and checks them; see `inflate`."""
    check_pixels(header.width, header.height, file, MaskError)
    parts = list(_parts(header))
    size, shortest = sum(n * row for n, row in parts), min(row for _, row in parts)
    contents = [chunk.content for chunk in chunks if chunk.kind == b"IDAT" and chunk.content]
    end = 0
    for piece in _inflated(file, contents, size, shortest):
        filters = b"".join(_filters(piece, end, parts))
        if filters.translate(None, _FILTERS):
            raise damaged(file, f"row filter {max(filters)}, which PNG does not know")
        end += len(piece)
        if end > size:
            raise damaged(file, f"more than {size} bytes of pixels")
        yield piece
    if end < size:
        raise damaged(file, f"{end} of {size} bytes of pixels")


def _filters(piece: bytes, start: int, parts: list[tuple[int, int]]) -> Iterator[bytes]:
    """Yields the filters of the rows that begin in a piece, which begins at byte `start`."""
    top = 0
    for count, row in parts:
        bottom = top + count * row
        first = max(top, start + (top - start) % row)
        if first < min(bottom, start + len(piece)):
            yield piece[first - start : bottom - start : row]
        top = bottom


def are_samples(rows: bytes | bytearray, header: Header) -> bool:
    """Says whether inflated rows hold the samples as they are: not interlaced, not filtered."""
    return not header.interlaced and not rows[:: _row_size(header.width, header)].strip(b"\0")


def _inflated(
    file: File, contents: Sequence[bytes | memoryview], size: int, row: int
) -> Iterator[bytes]:
    """Yields the bytes of a stream, one more than `size` at most.

    Of a small window decoders take `row` bytes at a time, and refuse what refers to bytes before
    the window. So that is done here too.
    """
    window = 1 << (contents[0][0] >> 4) + 8 if contents else 0
    by_rows = window < min(size, _LARGEST_WINDOW)
    # zlib-ng takes a fifth of the time, and zlib is the one that decoders use.
    library = zlib if by_rows else zlib_ng
    inflater = library.decompressobj(wbits=0)  # the window is that of the stream's own header
    step, most = (_PIECE_BY_ROWS, row) if by_rows else (_PIECE, _MOST)
    slices = (part[at : at + step] for part in contents for at in range(0, len(part), step))
    left, behind = size + 1, False
    try:
        for rest in slices:
            if behind := inflater.eof:
                break  # as what is behind the end would be copied each time
            while left and (piece := inflater.decompress(rest, min(most, left))):
                rest = inflater.unconsumed_tail
                left -= len(piece)
                yield piece
    except (zlib.error, zlib_ng.error) as error:  # type: ignore[misc]
        raise damaged(file, f"pixels that cannot be inflated: {error}") from None
    if left == 1 and (not inflater.eof or inflater.unused_data or behind):
        raise damaged(file, "pixels whose end is missing, or that have bytes behind their end")


def _parts(header: Header) -> Iterator[tuple[int, int]]:
    """Yields number of rows and bytes per row, filter included, of each pass over the image."""
    for left, top, across, down in _ADAM7 if header.interlaced else ((0, 0, 1, 1),):
        width = len(range(left, header.width, across))
        height = len(range(top, header.height, down))
        if width and height:
            yield height, _row_size(width, header)


def _row_size(width: int, header: Header) -> int:
    return 1 + (width * header.depth * header.channels + 7) // 8


@dataclasses.dataclass(frozen=True)
class Values:
    """The values of one PNG.

    Attributes:
      gray: the 8-bit grayscale PNG that holds them, see `png.gray_index_png`.
      rows: uint8 `[H, W]`, or `[H, 1 + W]` where each row has its filter, 0, in front.
      filters: whether it has.
    """

    gray: bytes
    rows: np.ndarray
    filters: bool

    def pixels(self) -> np.ndarray:
        """Returns the values, uint8 `[H, W]`."""
        return np.ascontiguousarray(self.rows[:, 1:]) if self.filters else self.rows

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`, without a copy of the pixels."""
        counts = count_values(self.rows)
        counts[0] -= len(self.rows) if self.filters else 0
        return counts


def holds_values(header: Header) -> bool:
    """Says whether a PNG with this header has one value of 8 bits per pixel."""
    return header.depth == 8 and header.color in (ColorType.GRAY, ColorType.PALETTE)


def read_values(file: File, header: Header, chunks: tuple[Chunk, ...]) -> Values:
    """Returns the values of a PNG for which `holds_values` is true.

    Raises:
      MaskError: if pixels are missing, damaged, or too many.
    """
    rows = inflate(file, header, chunks)
    gray = png.gray_index_png(file, header, chunks)
    if are_samples(rows, header) and png.is_bare(gray, chunks):
        return Values(gray, np.frombuffer(rows, np.uint8).reshape(header.height, -1), True)
    del rows  # which may be many
    return Values(gray, pillow.decode(File(gray, file.where), MaskError).values(), False)


def decode_values(file: File) -> np.ndarray:
    """Returns the values of a PNG file, uint8 `[H, W]`.

    Raises:
      MaskError: if it is not such a PNG, or is damaged in any way.
    """
    header = read_header(file)
    if not holds_values(header):
        raise MaskError(
            file.where,
            found=header.describe(),
            expected="an 8-bit grayscale or palette PNG",
            remedy="save the mask with one class index per pixel",
        )
    return read_values(file, header, png.read_chunks(file, header)).pixels()


def in_rows(file: File, header: Header) -> pillow.Still:
    """Returns an image that is not interlaced, whose rows are decoded when they are needed.

    Pillow decodes some at a time, as a PNG of their own. The last row of those before stands above
    them, as rows may be stored as what differs from the one above.
    """
    size, row = (header.height, header.width), _row_size(header.width, header)

    def decoded(step: int) -> Iterator[np.ndarray]:
        rows, above, left = bytearray(), bytes(row), header.height
        with MaskError.raised_as(ImageError):
            for piece in _pieces(file, header, png.read_chunks(file, header)):
                rows += piece
                while len(rows) >= (count := min(step, left) * row) > 0:
                    values = _decode_rows(header, above + rows[:count], file.where)[1:]
                    above = b"\0" + values[-1].tobytes()
                    left -= len(values)
                    del rows[:count]
                    yield values

    return pillow.Still(None, file.where, ImageError, size, decoded)


def _decode_rows(header: Header, rows: bytes, where: str) -> np.ndarray:
    size = header.width, len(rows) // _row_size(header.width, header)
    contents = {
        b"IHDR": struct.pack(">IIBBBBB", *size, header.depth, header.color, 0, 0, 0),
        b"IDAT": zlib.compress(rows, 0),
        b"IEND": b"",
    }
    data = png.join_chunks(png.make_chunk(kind, content) for kind, content in contents.items())
    return pillow.decode(File(data, where), ImageError).values()


_PIXELS = 1 << 20  # looked at together, so that large masks take no memory to speak of


def count_values(pixels: np.ndarray) -> np.ndarray:
    """Returns how many pixels, uint8 `[H, W]`, have each value, int64 `[256]`."""
    if not pixels.size:
        return np.zeros(256, np.int64)
    return np.array(Image.fromarray(pixels).histogram(), np.int64)


def occurring(counts: np.ndarray) -> dict[int, int]:
    """Returns the counts int64 `[256]` of the values that occur, by value, ascending."""
    values = np.flatnonzero(counts)
    return dict(zip(values.tolist(), counts[values].tolist(), strict=True))


def count_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Returns how many pixels of two masks, uint8 `[H, W]`, have each pair of values.

    Returns:
      int64 `[65536]`; the index is 256 times the first value and the second one.
    """
    counts = np.zeros(1 << 16, np.int64)
    step = max(1, _PIXELS // max(1, first.shape[1]))
    for top in range(0, len(first) if first.size else 0, step):
        # Runs of equal pairs are counted, not pixels: rows of a mask are mostly runs.
        one, other = first[top : top + step], second[top : top + step]
        last = run_ends(one, other)
        codes = one.ravel()[last].astype(np.int64) << 8 | other.ravel()[last]
        lengths = np.bincount(codes, np.diff(last, prepend=-1))
        counts[: len(lengths)] += lengths.astype(np.int64)
    return counts


def run_ends(*arrays: np.ndarray) -> np.ndarray:
    """Returns which pixels of masks, uint8 `[H, W]`, are the last of a run in which none changes.

    Returns:
      Ascending indices into the ravelled arrays, int64 `[N]`; the last one is that of the last
      pixel.
    """
    flat = (array.ravel() for array in arrays)
    changes = functools.reduce(np.logical_or, (of[1:] != of[:-1] for of in flat))
    return np.append(np.flatnonzero(changes), changes.size)
