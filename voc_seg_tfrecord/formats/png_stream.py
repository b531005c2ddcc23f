"""Inflates the pixels of a PNG, and checks that they are complete and that nothing follows them.

If pixels are missing, some decoders fill them with zeros, and others stop with an error. Inflating
the stream is enough to know that nothing is missing.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import types
import zlib

from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File, check_pixels
from voc_seg_tfrecord.formats.png import Chunk, PngHeader, damaged


@dataclasses.dataclass(frozen=True)
class _Grid:
    """The pixels of one pass over an interlaced image."""

    first_column: int
    first_row: int
    column_step: int
    row_step: int


_ALL_PIXELS = _Grid(first_column=0, first_row=0, column_step=1, row_step=1)
_ADAM7 = (
    _Grid(first_column=0, first_row=0, column_step=8, row_step=8),
    _Grid(first_column=4, first_row=0, column_step=8, row_step=8),
    _Grid(first_column=0, first_row=4, column_step=4, row_step=8),
    _Grid(first_column=2, first_row=0, column_step=4, row_step=4),
    _Grid(first_column=0, first_row=2, column_step=2, row_step=4),
    _Grid(first_column=1, first_row=0, column_step=2, row_step=2),
    _Grid(first_column=0, first_row=1, column_step=1, row_step=2),
)
"""The passes of an interlaced PNG."""


@dataclasses.dataclass(frozen=True)
class _Pass:
    """One pass over an image; an interlaced PNG has up to seven, and any other has one.

    Attributes:
      rows: the number of rows.
      row_bytes: bytes of a row, with the byte in front that has the number of its filter.
    """

    rows: int
    row_bytes: int

    @property
    def size(self) -> int:
        """Bytes of all rows."""
        return self.rows * self.row_bytes


_KNOWN_FILTERS = bytes(range(5))
_MAX_WINDOW_BYTES = 1 << 15

# zlib copies the bytes that are not inflated yet at each call, so these slices are small.
_COMPRESSED_BYTES_AT_ONCE = 1 << 16
_COMPRESSED_BYTES_BY_ROWS = 1 << 12  # if at most a row is inflated at each call

_INFLATED_BYTES_AT_ONCE = 1 << 21


def check(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> None:
    """Inflates the pixels piece by piece and checks that they are all there.

    Raises:
      MaskError: as `inflate` does.
    """
    for _ in _inflate_in_pieces(file, header, chunks):
        pass


def inflate(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> bytes | bytearray:
    """Inflates the pixels and checks that they are all there.

    Returns:
      All rows, each behind a byte that has the number of its filter, 0 to 4.

    Raises:
      MaskError: if there are more than `file.MAX_PIXELS` pixels, the stream or its checksum
        is damaged, it holds more or fewer rows than the header says, bytes follow it, or a row
        has an unknown filter.
    """
    check_pixels(header.width, header.height, file, MaskError)
    pieces = _inflate_in_pieces(file, header, chunks)
    size = sum(each.size for each in _list_passes(header))
    if size <= _INFLATED_BYTES_AT_ONCE:
        return b"".join(pieces)  # of one piece without a copy
    rows = bytearray(size)
    position = 0
    for piece in pieces:
        rows[position : position + len(piece)] = piece
        position += len(piece)
    return rows


def rows_are_unfiltered(rows: bytes | bytearray, header: PngHeader) -> bool:
    """Returns whether inflated rows hold the samples as they are: not interlaced, not filtered."""
    if header.interlaced:
        return False
    filters = rows[:: row_bytes_of(header)]
    return not filters.strip(b"\0")


def is_large(header: PngHeader) -> bool:
    """Returns whether the pixels of a PNG are inflated in pieces."""
    return sum(each.size for each in _list_passes(header)) > _INFLATED_BYTES_AT_ONCE


def inflate_rows(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Iterator[bytes]:
    """Yields the rows of a PNG that is not interlaced, some whole rows at a time.

    A wrong end is known, and raised, only after the last rows.

    Raises:
      MaskError: as `inflate` does.
    """
    row_bytes = row_bytes_of(header)
    rest = b""
    for piece in _inflate_in_pieces(file, header, chunks):
        inflated = rest + piece
        whole_rows = len(inflated) // row_bytes
        if whole_rows:
            yield inflated[: whole_rows * row_bytes]
        rest = inflated[whole_rows * row_bytes :]


def _inflate_in_pieces(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Iterator[bytes]:
    """Yields what `inflate` returns in pieces, and checks it.

    A piece may end within a row. A wrong end is known, and raised, only after the last piece.

    Raises:
      MaskError: as `inflate` does.
    """
    check_pixels(header.width, header.height, file, MaskError)
    passes = _list_passes(header)
    size = sum(each.size for each in passes)
    contents = [chunk.content for chunk in chunks if chunk.kind == b"IDAT" and chunk.content]
    stream = _PixelStream(file, contents, _choose_inflater(contents, passes))
    position = 0
    for piece in stream.inflate(size):
        filters = b"".join(_filters_in_piece(piece, position, passes))
        unknown_filters = filters.translate(None, delete=_KNOWN_FILTERS)
        if unknown_filters:
            raise damaged(file, f"row filter {max(filters)}, which PNG does not know")
        position += len(piece)
        yield piece


def _filters_in_piece(piece: bytes, piece_start: int, passes: Sequence[_Pass]) -> Iterator[bytes]:
    """Yields the filters of the rows that begin in a piece, for each pass.

    Example: with rows of 5 bytes, a piece of the bytes 7 to 21 begins 2 bytes into a row. The rows
    in it begin at its bytes 3, 8 and 13.

    Args:
      piece: bytes of the rows.
      piece_start: how many bytes of the rows are before the piece.
      passes: all passes of the image.
    """
    piece_end = piece_start + len(piece)
    pass_start = 0
    for each in passes:
        pass_end = pass_start + each.size
        offset_in_row = (piece_start - pass_start) % each.row_bytes
        bytes_to_next_row = -offset_in_row % each.row_bytes
        first_row_start = max(pass_start, piece_start + bytes_to_next_row)
        if first_row_start < min(pass_end, piece_end):
            yield piece[first_row_start - piece_start : pass_end - piece_start : each.row_bytes]
        pass_start = pass_end


@dataclasses.dataclass(frozen=True)
class _Inflater:
    """How a stream is inflated.

    Attributes:
      library: `zlib`, or `zlib_ng`, which takes a fifth of the time.
      compressed_bytes: bytes of the stream that are handed to the library at a time.
      inflated_bytes: bytes that it returns at a time, at most.
    """

    library: types.ModuleType
    compressed_bytes: int
    inflated_bytes: int


def _choose_inflater(contents: Sequence[bytes | memoryview], passes: Sequence[_Pass]) -> _Inflater:
    """Returns how to inflate a stream so that the same streams are refused as by decoders.

    They inflate a row at a time by `zlib`, and so refuse a stream that refers to bytes before its
    window. That can only happen if the window is smaller than the image.
    """
    window_bytes = _window_bytes(contents[0]) if contents else 0
    size = sum(each.size for each in passes)
    if window_bytes < min(size, _MAX_WINDOW_BYTES):
        shortest_row_bytes = min(each.row_bytes for each in passes)
        return _Inflater(zlib, _COMPRESSED_BYTES_BY_ROWS, shortest_row_bytes)
    return _Inflater(zlib_ng, _COMPRESSED_BYTES_AT_ONCE, _INFLATED_BYTES_AT_ONCE)


@dataclasses.dataclass(frozen=True)
class _PixelStream:
    """The compressed pixels of a file.

    Attributes:
      file: the file, for errors.
      contents: the compressed bytes, in parts.
      inflater: how to inflate them.
    """

    file: File
    contents: Sequence[bytes | memoryview]
    inflater: _Inflater

    def inflate(self, size: int) -> Iterator[bytes]:
        """Yields the inflated bytes in pieces.

        Raises:
          MaskError: if the stream or its checksum is damaged, it holds more or fewer bytes than
            `size`, or bytes follow its end.
        """
        library = self.inflater.library
        decompressor = library.decompressobj(wbits=0)  # the window is that of the stream's header
        inflated_bytes = 0
        has_slice_behind_end = False
        try:
            for compressed in _slices(self.contents, self.inflater.compressed_bytes):
                if decompressor.eof:
                    has_slice_behind_end = True
                    break  # zlib would append all further slices to `unused_data`
                rest = compressed
                while True:  # if `rest` is empty, bytes of earlier slices may still come
                    # One byte more than the size is enough to know that a stream is too long.
                    max_bytes = min(self.inflater.inflated_bytes, size + 1 - inflated_bytes)
                    piece = decompressor.decompress(rest, max_bytes)
                    if not piece:
                        break
                    rest = decompressor.unconsumed_tail
                    inflated_bytes += len(piece)
                    if inflated_bytes > size:
                        raise damaged(self.file, f"more than {size} bytes of pixels")
                    yield piece
        except (zlib.error, zlib_ng.error) as error:  # type: ignore[misc]
            raise damaged(self.file, f"pixels that cannot be inflated: {error}") from None
        if inflated_bytes < size:
            raise damaged(self.file, f"{inflated_bytes} of {size} bytes of pixels")
        if not decompressor.eof or has_slice_behind_end or decompressor.unused_data:
            found = "pixels whose end is missing, or that have bytes behind their end"
            raise damaged(self.file, found)


def _window_bytes(content: bytes | memoryview) -> int:
    """Returns the size of a stream's window, the upper half of its first byte (RFC 1950, 2.2)."""
    return 1 << ((content[0] >> 4) + 8)


def _slices(contents: Sequence[bytes | memoryview], length: int) -> Iterator[bytes | memoryview]:
    """Yields the contents in slices of at most this length."""
    for content in contents:
        for start in range(0, len(content), length):
            yield content[start : start + length]


def _list_passes(header: PngHeader) -> list[_Pass]:
    """Returns the passes over an image that have pixels."""
    grids: Sequence[_Grid] = _ADAM7 if header.interlaced else (_ALL_PIXELS,)
    passes = []
    for grid in grids:
        width = len(range(grid.first_column, header.width, grid.column_step))
        height = len(range(grid.first_row, header.height, grid.row_step))
        if width and height:
            passes.append(_Pass(height, _row_bytes(width, header)))
    return passes


def row_bytes_of(header: PngHeader) -> int:
    """Returns the bytes of a row of an image that is not interlaced, with that of its filter."""
    return _row_bytes(header.width, header)


def _row_bytes(width: int, header: PngHeader) -> int:
    """Returns the bytes of a row of so many pixels: its filter, and bits filled up to a byte."""
    bits = width * header.depth * header.channels
    return 1 + (bits + 7) // 8
