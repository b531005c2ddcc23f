"""The values of PNGs that have one value of 8 bits per pixel, as most masks have.

Rows that are not filtered are the values; most masks are written so. Inflating them, which checks
that they are complete, then gives the values, and no decoder runs.
"""

import dataclasses

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow, png, png_stream
from voc_seg_tfrecord.formats.png import Chunk, ColorType, PngHeader, read_header
from voc_seg_tfrecord.formats.value_counts import count_values


@dataclasses.dataclass(frozen=True)
class Values:
    """The values of one PNG.

    Attributes:
      gray: the 8-bit grayscale PNG that holds them, see `png.gray_index_png`.
      rows: uint8 `[H, W]`; or `[H, 1 + W]`, where each row begins with its filter, 0.
      has_filters: whether each row begins with its filter.
    """

    gray: bytes
    rows: np.ndarray
    has_filters: bool

    def pixels(self) -> np.ndarray:
        """Returns the values, uint8 `[H, W]`."""
        if self.has_filters:
            return np.ascontiguousarray(self.rows[:, 1:])
        return self.rows

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`, without a copy of the pixels."""
        counts = count_values(self.rows)
        if self.has_filters:
            counts[0] -= len(self.rows)
        return counts


def holds_values(header: PngHeader) -> bool:
    """Returns whether a PNG with this header has one value of 8 bits per pixel."""
    return header.depth == 8 and header.color in (ColorType.GRAY, ColorType.PALETTE)


def read_values(file: File, header: PngHeader, chunks: tuple[Chunk, ...]) -> Values:
    """Returns the values of a PNG for which `holds_values` is true.

    Raises:
      MaskError: if pixels are missing, damaged, or too many.
    """
    rows = png_stream.inflate(file, header, chunks)
    gray = png.gray_index_png(file, header, chunks)
    if not png.is_bare(gray, chunks):  # it has chunks that may change its values
        del rows  # frees their memory before Pillow decodes
        decoded = pillow.decode(File(gray, file.where), MaskError)
        return Values(gray, decoded.values(), has_filters=False)
    if png_stream.rows_are_unfiltered(rows, header):
        samples = np.frombuffer(rows, np.uint8).reshape(header.height, -1)
        return Values(gray, samples, has_filters=True)
    # Pillow inflates row by row, which takes it as long as to undo the filters.
    stream = png.store_uncompressed(rows)
    del rows
    decoded = pillow.undo_png_filters(
        stream,
        height=header.height,
        width=header.width,
        is_interlaced=header.interlaced,
        where=file.where,
        error=MaskError,
    )
    return Values(gray, decoded.values(), has_filters=False)


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
