"""Large PNGs, which are decoded a few rows at a time, in the memory of these rows."""

from collections.abc import Iterator
import dataclasses
import zlib

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow, png, png_encoder, png_stream, stills
from voc_seg_tfrecord.formats.png import ColorType, PngHeader


def can_be_read_in_strips(header: PngHeader) -> bool:
    """Returns whether a PNG has 8 bits, gray or RGB, and is not interlaced.

    Decoded samples of other depths are not the bytes of a row, which the next strip needs.
    """
    has_plain_samples = header.depth == 8 and header.color in (ColorType.GRAY, ColorType.RGB)
    return has_plain_samples and not header.interlaced


def open_in_strips(file: File, header: PngHeader) -> stills.Still:
    """Returns an image whose rows are decoded when they are needed.

    Args:
      file: the image.
      header: its header, for which `can_be_read_in_strips` is true.
    """

    def read_strips(rows_of_strip: int) -> Iterator[np.ndarray]:
        with MaskError.raised_as(ImageError):
            yield from _decode_in_strips(file, header, rows_of_strip)

    return stills.StripStill(file.where, ImageError, (header.height, header.width), read_strips)


def _decode_in_strips(file: File, header: PngHeader, rows_of_strip: int) -> Iterator[np.ndarray]:
    """Decodes an image, some rows at a time.

    Pillow decodes each strip as a PNG of its own, whose first row is the last row of the strip
    before, because filters refer to the row above.

    Yields:
      uint8 `[h, W]` or `[h, W, 3]`.
    """
    row_bytes = png_stream.row_bytes_of(header)
    row_above = bytes(row_bytes)  # above the first row, filters refer to zeros
    rows_left = header.height
    inflated = bytearray()
    for piece in png_stream.inflate_in_pieces(file, header, png.read_chunks(file, header)):
        inflated += piece
        while rows_left:
            strip_bytes = min(rows_of_strip, rows_left) * row_bytes
            if len(inflated) < strip_bytes:
                break
            decoded = _decode_rows(header, row_above + inflated[:strip_bytes], file.where)
            strip = decoded[1:]
            row_above = bytes([png_encoder.FILTER_NONE]) + strip[-1].tobytes()
            rows_left -= len(strip)
            del inflated[:strip_bytes]
            yield strip


def _decode_rows(header: PngHeader, rows: bytes, where: str) -> np.ndarray:
    """Decodes rows that are inflated, each behind its filter."""
    height = len(rows) // png_stream.row_bytes_of(header)
    part_of_image = dataclasses.replace(header, height=height)
    data = png.join_chunks(
        [
            png.make_header(part_of_image),
            png.make_chunk(b"IDAT", zlib.compress(rows, 0)),
            png.make_chunk(b"IEND", b""),
        ]
    )
    return pillow.decode(File(data, where), ImageError).values()
