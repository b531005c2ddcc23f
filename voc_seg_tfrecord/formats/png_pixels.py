"""The pixels of a PNG: complete, and not one byte more; their values, and how often each occurs.

If pixels are missing, some decoders fill them with zeros, others stop with an error. Inflating the
stream is enough to know that nothing is missing.

Rows that are not filtered are the values already; most masks are written so. After such rows were
inflated to see that they are all there, no decoder has to inflate them again.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import functools
import types
import zlib

import numpy as np
from PIL import Image
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import ImageError, MaskError
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.png import Chunk, ColorType, PngHeader, damaged, read_header


@dataclasses.dataclass(frozen=True)
class _Grid:
    """The pixels of one pass over an interlaced image: the first column and row, and the steps."""

    left: int
    top: int
    across: int
    down: int


_ALL_PIXELS = _Grid(left=0, top=0, across=1, down=1)
_ADAM7 = (
    _Grid(left=0, top=0, across=8, down=8),
    _Grid(left=4, top=0, across=8, down=8),
    _Grid(left=0, top=4, across=4, down=8),
    _Grid(left=2, top=0, across=4, down=4),
    _Grid(left=0, top=2, across=2, down=4),
    _Grid(left=1, top=0, across=2, down=2),
    _Grid(left=0, top=1, across=1, down=2),
)
"""The passes of an interlaced PNG."""


@dataclasses.dataclass(frozen=True)
class _Pass:
    """One pass over an image; an interlaced PNG has up to seven, and any other has one.

    Attributes:
      rows: the number of rows.
      row_bytes: bytes of a row, the number of its filter included.
    """

    rows: int
    row_bytes: int

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return self.rows * self.row_bytes


_KNOWN_FILTERS = bytes(range(5))
_MAX_WINDOW_BYTES = 1 << 15

_COMPRESSED_BYTES_AT_ONCE = 1 << 16
"""Bytes of a stream that are inflated at a time, as what is left of them is copied."""

_COMPRESSED_BYTES_BY_ROWS = 1 << 12
"""The same where no more than a row may be inflated at a time."""

_INFLATED_BYTES_AT_ONCE = 1 << 22


def check(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> None:
    """Inflates the pixels piece by piece and checks that they are all there.

    Raises:
      MaskError: as `inflate` does.
    """
    for _ in _inflate_in_pieces(file, header, chunks):
        pass


def inflate(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> bytearray:
    """Inflates the pixels and checks that they are all there.

    Returns:
      The rows one behind the other, each with the number of its filter, 0 to 4, in front.

    Raises:
      MaskError: if there are more than `file.MAX_PIXELS` pixels, the stream or its checksum
        is damaged, it holds more or fewer rows than the header says, something lies behind it,
        or a row has an unknown filter.
    """
    check_pixels(header.width, header.height, file, MaskError)
    rows = bytearray(sum(each.size for each in _list_passes(header)))
    position = 0
    for piece in _inflate_in_pieces(file, header, chunks):
        rows[position : position + len(piece)] = piece
        position += len(piece)
    return rows


def _inflate_in_pieces(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Iterator[bytes]:
    """Yields the pixels, with the filters of the rows, and checks them; see `inflate`."""
    check_pixels(header.width, header.height, file, MaskError)
    passes = _list_passes(header)
    size = sum(each.size for each in passes)
    shortest_row_bytes = min(each.row_bytes for each in passes)
    contents = [chunk.content for chunk in chunks if chunk.kind == b"IDAT" and chunk.content]
    position = 0
    for piece in _inflate_stream(file, contents, size, shortest_row_bytes):
        filters = b"".join(_filters_in_piece(piece, position, passes))
        if filters.translate(None, delete=_KNOWN_FILTERS):
            raise damaged(file, f"row filter {max(filters)}, which PNG does not know")
        position += len(piece)
        if position > size:
            raise damaged(file, f"more than {size} bytes of pixels")
        yield piece
    if position < size:
        raise damaged(file, f"{position} of {size} bytes of pixels")


def _filters_in_piece(piece: bytes, start: int, passes: Sequence[_Pass]) -> Iterator[bytes]:
    """Yields the filters of the rows that begin in a piece, which begins at byte `start`."""
    end = start + len(piece)
    top = 0
    for each in passes:
        bottom = top + each.size
        bytes_to_next_row = (top - start) % each.row_bytes
        first = max(top, start + bytes_to_next_row)
        if first < min(bottom, end):
            yield piece[first - start : bottom - start : each.row_bytes]
        top = bottom


def are_samples(rows: bytes | bytearray, header: PngHeader) -> bool:
    """Says whether inflated rows hold the samples as they are: not interlaced, not filtered."""
    if header.interlaced:
        return False
    filters = rows[:: _row_bytes(header.width, header)]
    return not filters.strip(b"\0")


def _inflate_stream(
    file: File, contents: Sequence[bytes | memoryview], size: int, row_bytes: int
) -> Iterator[bytes]:
    """Inflates a stream, and checks its end.

    With a small window decoders inflate a row at a time, and refuse what refers to bytes before
    the window. So that is done here too.

    Args:
      file: the file.
      contents: the stream, in parts.
      size: how many bytes it should have.
      row_bytes: bytes of the shortest row.

    Yields:
      The bytes of the stream; of one that is too long one byte more than `size`.
    """
    window_bytes = _window_bytes(contents[0]) if contents else 0
    is_by_rows = window_bytes < min(size, _MAX_WINDOW_BYTES)
    library: types.ModuleType
    if is_by_rows:
        library = zlib  # the one that decoders use
        compressed_at_once = _COMPRESSED_BYTES_BY_ROWS
        inflated_at_once = row_bytes
    else:
        library = zlib_ng  # which takes a fifth of the time
        compressed_at_once = _COMPRESSED_BYTES_AT_ONCE
        inflated_at_once = _INFLATED_BYTES_AT_ONCE
    inflater = library.decompressobj(wbits=0)  # the window is that of the stream's own header
    bytes_left = size + 1
    has_bytes_behind_end = False
    try:
        for compressed in _slices(contents, compressed_at_once):
            if inflater.eof:
                has_bytes_behind_end = True
                break  # as they would be copied each time
            rest = compressed
            while bytes_left:
                piece = inflater.decompress(rest, min(inflated_at_once, bytes_left))
                if not piece:
                    break
                rest = inflater.unconsumed_tail
                bytes_left -= len(piece)
                yield piece
    except (zlib.error, zlib_ng.error) as error:  # type: ignore[misc]
        raise damaged(file, f"pixels that cannot be inflated: {error}") from None
    is_end_right = inflater.eof and not inflater.unused_data and not has_bytes_behind_end
    has_right_size = bytes_left == 1
    if has_right_size and not is_end_right:
        raise damaged(file, "pixels whose end is missing, or that have bytes behind their end")


def _window_bytes(content: bytes | memoryview) -> int:
    """Returns the size of a stream's window, the upper half of its first byte (RFC 1950, 2.2)."""
    return 1 << (content[0] >> 4) + 8


def _slices(contents: Sequence[bytes | memoryview], length: int) -> Iterator[bytes | memoryview]:
    """Yields the contents in slices of at most this length."""
    for content in contents:
        for start in range(0, len(content), length):
            yield content[start : start + length]


def _list_passes(header: PngHeader) -> list[_Pass]:
    """Returns the passes over an image that have pixels."""
    passes = []
    for grid in _ADAM7 if header.interlaced else (_ALL_PIXELS,):
        width = len(range(grid.left, header.width, grid.across))
        height = len(range(grid.top, header.height, grid.down))
        if width and height:
            passes.append(_Pass(height, _row_bytes(width, header)))
    return passes


def _row_bytes(width: int, header: PngHeader) -> int:
    """Returns the bytes of a row of so many pixels: its filter, and bits filled up to a byte."""
    bits = width * header.depth * header.channels
    return 1 + (bits + 7) // 8


@dataclasses.dataclass(frozen=True)
class Values:
    """The values of one PNG.

    Attributes:
      gray: the 8-bit grayscale PNG that holds them, see `png.gray_index_png`.
      rows: uint8 `[H, W]`; or `[H, 1 + W]` where each row has its filter, 0, in front.
      has_filters: whether it has.
    """

    gray: bytes
    rows: np.ndarray
    has_filters: bool

    def pixels(self) -> np.ndarray:
        """Returns the values, uint8 `[H, W]`."""
        return np.ascontiguousarray(self.rows[:, 1:]) if self.has_filters else self.rows

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`, without a copy of the pixels."""
        counts = count_values(self.rows)
        if self.has_filters:
            counts[0] -= len(self.rows)
        return counts


def holds_values(header: PngHeader) -> bool:
    """Says whether a PNG with this header has one value of 8 bits per pixel."""
    return header.depth == 8 and header.color in (ColorType.GRAY, ColorType.PALETTE)


def read_values(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Values:
    """Returns the values of a PNG for which `holds_values` is true.

    Raises:
      MaskError: if pixels are missing, damaged, or too many.
    """
    rows = inflate(file, header, chunks)
    gray = png.gray_index_png(file, header, chunks)
    if are_samples(rows, header) and png.is_bare(gray, chunks):
        samples = np.frombuffer(rows, np.uint8).reshape(header.height, -1)
        return Values(gray, samples, has_filters=True)
    del rows  # which may be many
    decoded = pillow.decode(File(gray, file.where), MaskError).values()
    return Values(gray, decoded, has_filters=False)


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


def open_in_strips(file: File, header: PngHeader) -> pillow.Still:
    """Returns an image that is not interlaced, whose rows are decoded when they are needed."""

    def read_strips(rows_of_strip: int) -> Iterator[np.ndarray]:
        with MaskError.raised_as(ImageError):
            yield from _decode_in_strips(file, header, rows_of_strip)

    return pillow.still_of_strips(
        read_strips, file.where, ImageError, (header.height, header.width)
    )


def _decode_in_strips(file: File, header: PngHeader, rows_of_strip: int) -> Iterator[np.ndarray]:
    """Decodes an image that is not interlaced, some rows at a time.

    Pillow decodes each strip as a PNG of its own. The last row of the strip before stands above it,
    as rows may be stored as what differs from the one above.
    """
    row_bytes = _row_bytes(header.width, header)
    row_above = bytes(row_bytes)
    rows_left = header.height
    inflated = bytearray()
    for piece in _inflate_in_pieces(file, header, png.read_chunks(file, header)):
        inflated += piece
        while rows_left:
            strip_bytes = min(rows_of_strip, rows_left) * row_bytes
            if len(inflated) < strip_bytes:
                break
            decoded = _decode_rows(header, row_above + inflated[:strip_bytes], file.where)
            strip = decoded[1:]
            row_above = bytes([png.FILTER_NONE]) + strip[-1].tobytes()
            rows_left -= len(strip)
            del inflated[:strip_bytes]
            yield strip


def _decode_rows(header: PngHeader, rows: bytes, where: str) -> np.ndarray:
    """Decodes rows that are inflated, each behind its filter."""
    height = len(rows) // _row_bytes(header.width, header)
    part_of_image = dataclasses.replace(header, height=height)
    data = png.join_chunks(
        [
            png.make_header(part_of_image),
            png.make_chunk(b"IDAT", zlib.compress(rows, 0)),
            png.make_chunk(b"IEND", b""),
        ]
    )
    return pillow.decode(File(data, where), ImageError).values()


def count_values(pixels: np.ndarray) -> np.ndarray:
    """Returns how many pixels, uint8 `[H, W]`, have each value, int64 `[256]`."""
    if not pixels.size:
        return np.zeros(256, np.int64)
    return np.array(Image.fromarray(pixels).histogram(), np.int64)


def nonzero_counts(counts: np.ndarray) -> dict[int, int]:
    """Returns the counts, int64 `[256]`, of the values that occur, by value, ascending."""
    values = np.flatnonzero(counts)
    return dict(zip(values.tolist(), counts[values].tolist(), strict=True))


def count_pairs(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Returns how many pixels of two masks, uint8 `[H, W]`, have each pair of values.

    Returns:
      int64 `[65536]`; the index is 256 times the first value and the second one.
    """
    counts = np.zeros(1 << 16, np.int64)
    if not first.size:
        return counts
    rows_at_once = max(1, _PIXELS_AT_ONCE // first.shape[1])
    for top in range(0, len(first), rows_at_once):
        first_rows = first[top : top + rows_at_once]
        second_rows = second[top : top + rows_at_once]
        # Runs of equal pairs are counted, not pixels: rows of a mask are mostly runs.
        ends = run_ends(first_rows, second_rows)
        pairs = first_rows.ravel()[ends].astype(np.int64) << 8 | second_rows.ravel()[ends]
        run_lengths = np.diff(ends, prepend=-1)
        pixels = np.bincount(pairs, run_lengths)
        counts[: len(pixels)] += pixels.astype(np.int64)
    return counts


_PIXELS_AT_ONCE = 1 << 20
"""Pixels that are looked at together, so that large masks take no memory to speak of."""


def run_ends(*arrays: np.ndarray) -> np.ndarray:
    """Returns which pixels of masks, uint8 `[H, W]`, are the last of a run in which none changes.

    Returns:
      Ascending indices into the ravelled arrays, int64 `[N]`; the last one is that of the last
      pixel.
    """
    changes_of_each = [flat[1:] != flat[:-1] for flat in map(np.ravel, arrays)]
    changes = functools.reduce(np.logical_or, changes_of_each)
    return np.append(np.flatnonzero(changes), changes.size)
