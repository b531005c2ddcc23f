"""The pixels of PNGs that have one value or one RGB color of 8 bits per pixel, as most files have.

A PNG may filter each row, which means that it stores differences between pixels. Most masks are
written without filters: inflating them, which also checks that they are complete, gives the pixels,
and no decoder runs. Where rows are filtered, Pillow undoes the filters. It gets some rows of a
large PNG at a time, so that the pixels are in memory once.
"""

import dataclasses
from typing import TypeAlias

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow, png, png_stream
from voc_seg_tfrecord.formats.png import Chunk, ColorType, PngHeader, read_header
from voc_seg_tfrecord.formats.value_counts import count_values


@dataclasses.dataclass(frozen=True)
class DecodedPixels:
    """The pixels of a PNG, decoded.

    Attributes:
      header: the PNG's header.
      samples: uint8 `[H, W * channels]`.
    """

    header: PngHeader
    samples: np.ndarray

    def array(self) -> np.ndarray:
        """Returns values, uint8 `[H, W]`, or colors, uint8 `[H, W, 3]`."""
        return _as_pixels(self.samples, self.header)

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`; only for a PNG of values."""
        return count_values(self.samples)


@dataclasses.dataclass(frozen=True)
class UnfilteredRows:
    """The inflated rows of a PNG, none of which is filtered.

    Attributes:
      header: the PNG's header.
      rows: uint8 `[H, 1 + W * channels]`: a 0, which says that the row is not filtered, and then
        the samples of the row.
    """

    header: PngHeader
    rows: np.ndarray

    def array(self) -> np.ndarray:
        """Returns values, uint8 `[H, W]`, or colors, uint8 `[H, W, 3]`."""
        return _as_pixels(np.ascontiguousarray(self.rows[:, 1:]), self.header)

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`; only for a PNG of values.

        The pixels are not copied.
        """
        counts = count_values(self.rows)
        counts[0] -= len(self.rows)
        return counts


Pixels: TypeAlias = DecodedPixels | UnfilteredRows
"""The pixels of a PNG: both classes give them by `array`, and count them by `counts`."""


def _as_pixels(samples: np.ndarray, header: PngHeader) -> np.ndarray:
    """Returns samples `[H, W * channels]` as `[H, W]` or `[H, W, channels]`."""
    if header.channels == 1:
        return samples
    return samples.reshape(header.height, header.width, header.channels)


def holds_values(header: PngHeader) -> bool:
    """Returns whether a PNG with this header has one value of 8 bits per pixel."""
    return header.depth == 8 and header.color in (ColorType.GRAY, ColorType.PALETTE)


def holds_colors(header: PngHeader) -> bool:
    """Returns whether a PNG with this header has red, green and blue of 8 bits per pixel."""
    return header.depth == 8 and header.color is ColorType.RGB


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
    return read_values(file, header, png.read_chunks(file, header)).array()


def read_values(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Pixels:
    """Returns the values of a PNG for which `holds_values` is true.

    Raises:
      MaskError: if pixels are missing, damaged, or too many; or if Pillow refuses a chunk that
        `png.gray_index_png` keeps.
    """
    values = read_pixels(file, header, chunks)
    if header.color is ColorType.GRAY:
        kept_chunks = png.without_value_changing(chunks)
        if not png.is_bare(kept_chunks):
            check_by_pillow(File(png.join_chunks(kept_chunks), file.where), header, kept_chunks)
    return values


def check_by_pillow(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> None:
    """Checks that Pillow, which reads all chunks of a PNG, accepts those beside the pixels.

    Args:
      file: the PNG, whose pixels `png_stream` has checked.
      header: its header.
      chunks: its chunks.

    Raises:
      MaskError: if Pillow refuses one of them.
    """
    one_pixel = File(png.with_one_pixel(header, chunks), file.where)
    try:
        pillow.decode(one_pixel, MaskError)
    except MaskError:  # also because of a chunk that names a part of a larger image
        pillow.decode(file, MaskError)


def read_pixels(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Pixels:
    """Returns the pixels of a PNG for which `holds_values` or `holds_colors` is true.

    Raises:
      MaskError: if pixels are missing, damaged, or too many.
    """
    if png_stream.is_large(header) and not header.interlaced:
        return DecodedPixels(header, _read_large(file, header, chunks))
    rows = png_stream.inflate(file, header, chunks)
    if png_stream.rows_are_unfiltered(rows, header):
        return UnfilteredRows(header, np.frombuffer(rows, np.uint8).reshape(header.height, -1))
    return DecodedPixels(header, _undo_filters(rows, header, header.height, file))


def _read_large(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> np.ndarray:
    """Returns the samples of a large PNG that is not interlaced, uint8 `[H, W * channels]`.

    Filters refer to the row above. So rows that are filtered are decoded together with the decoded
    row above them, which is put before them as a row that is not filtered.
    """
    samples = np.empty((header.height, header.width * header.channels), np.uint8)
    top = 0
    for rows in png_stream.inflate_rows(file, header, chunks):
        count = len(rows) // png_stream.row_bytes_of(header)
        own_rows = samples[top : top + count]
        if png_stream.rows_are_unfiltered(rows, header):
            own_rows[:] = np.frombuffer(rows, np.uint8).reshape(count, -1)[:, 1:]
        elif top == 0:
            own_rows[:] = _undo_filters(rows, header, count, file)
        else:
            row_above = bytes([png.FILTER_NONE]) + samples[top - 1].tobytes()
            own_rows[:] = _undo_filters(row_above + rows, header, 1 + count, file)[1:]
        top += count
    return samples


def _undo_filters(
    rows: bytes | bytearray, header: PngHeader, height: int, file: File
) -> np.ndarray:
    """Returns the samples of so many inflated rows, uint8 `[height, W * channels]`.

    Pillow inflates row by row, which takes it as long as to undo the filters. So it gets a stream
    that is not compressed.
    """
    still = pillow.undo_png_filters(
        png.store_uncompressed(rows),
        height=height,
        width=header.width,
        mode="L" if header.channels == 1 else "RGB",
        is_interlaced=header.interlaced,
        where=file.where,
        error=MaskError,
    )
    return still.values().reshape(height, -1)
