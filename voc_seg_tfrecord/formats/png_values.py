"""The values of a PNG of 8 bits and one channel: palette indices, or grey.

Rows that are not filtered, which is how masks are mostly written, are the values already. They
need not be inflated again by a decoder, after they were inflated to see that they are all there.
"""

import dataclasses

import numpy as np

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import histogram, pillow, png_chunks, png_index, png_pixels
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.png import ColorType, Header, read_header
from voc_seg_tfrecord.formats.png_chunks import Chunk


@dataclasses.dataclass(frozen=True)
class Values:
    """The values of one PNG.

    Attributes:
      grey: the 8-bit greyscale PNG that holds them, see `png_index.grey_index_png`.
      rows: uint8 `[H, W]`, or `[H, 1 + W]` where each row has its filter, 0, in front.
      filters: whether it has.
    """

    grey: bytes
    rows: np.ndarray
    filters: bool

    def pixels(self) -> np.ndarray:
        """Returns the values, uint8 `[H, W]`."""
        return np.ascontiguousarray(self.rows[:, 1:]) if self.filters else self.rows

    def counts(self) -> np.ndarray:
        """Returns how many pixels have each value, int64 `[256]`, without a copy of the pixels."""
        counts = histogram.count_values(self.rows)
        counts[0] -= len(self.rows) if self.filters else 0
        return counts


def holds(header: Header) -> bool:
    """Says whether a PNG with this header has one value of 8 bits per pixel."""
    return header.depth == 8 and header.color in (ColorType.GREY, ColorType.PALETTE)


def read(file: File, header: Header, chunks: tuple[Chunk, ...]) -> Values:
    """Returns the values of a PNG that `holds` them.

    Args:
      file: the file, for errors.
      header: its header.
      chunks: its chunks.

    Raises:
      MaskError: if pixels are missing, damaged, or too many.
    """
    rows = png_pixels.inflate(file, header, chunks)
    grey = png_index.grey_index_png(file, header, chunks)
    if png_pixels.are_samples(rows, header) and png_index.is_bare(grey, chunks):
        return Values(grey, np.frombuffer(rows, np.uint8).reshape(header.height, -1), True)
    return Values(grey, pillow.decode(File(grey, file.where), MaskError).values(), False)


def decode(file: File) -> np.ndarray:
    """Returns the values of a PNG file, uint8 `[H, W]`.

    Raises:
      MaskError: if it is not such a PNG, or is damaged in any way.
    """
    header = read_header(file)
    if not holds(header):
        raise MaskError(
            file.where,
            found=header.describe(),
            expected="an 8-bit greyscale or palette PNG",
            remedy="save the mask with one class index per pixel",
        )
    return read(file, header, png_chunks.read(file, header)).pixels()
