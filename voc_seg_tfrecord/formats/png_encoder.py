"""Encodes pixels as PNGs, the same bytes wherever zlib-ng is the same."""

from collections.abc import Iterator

import numpy as np
from zlib_ng import zlib_ng

from voc_seg_tfrecord.formats import png

_COLOR_OF_CHANNELS = {1: png.ColorType.GRAY, 3: png.ColorType.RGB, 4: png.ColorType.RGBA}
"""The color type of pixels, by their number of channels."""

_BYTES_AT_ONCE = 1 << 22
"""Bytes of rows that are compressed together."""

FILTER_UP = 2
"""The filter of a row of which each byte is stored as what it differs from the one above."""


def encode(pixels: np.ndarray, *, runs: bool = False) -> bytes:
    """Returns pixels as a PNG, the same bytes wherever zlib-ng is the same.

    Args:
      pixels: uint8 or uint16 `[H, W]` or `[H, W, N]`, N being 1, 3 or 4.
      runs: whether runs of equal values are all that they have, as drawn masks do. To look for
        nothing else takes a fifth of the time and makes smaller files.
    """
    height, width = pixels.shape[:2]
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    stream = _compress_runs(pixels) if runs else _compress_differences(pixels)
    color = _COLOR_OF_CHANNELS[channels]
    header = png.PngHeader(width, height, 8 * pixels.itemsize, color, interlaced=False)
    chunks = [
        png.make_header(header),
        png.make_chunk(b"IDAT", stream),
        png.make_chunk(b"IEND", b""),
    ]
    return png.join_chunks(chunks)


def _compress_runs(pixels: np.ndarray) -> bytes:
    """Returns the compressed rows of pixels as they are; runs of equal bytes get smaller."""
    compressor = zlib_ng.compressobj(strategy=zlib_ng.Z_RLE)
    parts = [compressor.compress(_filter_none(rows)) for rows in _strips_of_rows(pixels)]
    return b"".join([*parts, compressor.flush()])


def _compress_differences(pixels: np.ndarray) -> bytes:
    """Returns the compressed rows of pixels, each as its differences from the row above."""
    compressor = zlib_ng.compressobj(3)
    parts = []
    row_above = np.zeros(pixels[0].nbytes, np.uint8)
    for rows in _strips_of_rows(pixels):
        parts.append(compressor.compress(_filter_up(rows, row_above)))
        row_above = rows[-1].copy()
    return b"".join([*parts, compressor.flush()])


def _strips_of_rows(pixels: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the bytes of pixels as a PNG has them, some rows at a time, uint8 `[h, B]`."""
    row_bytes = pixels[0].nbytes
    rows_at_once = max(1, _BYTES_AT_ONCE // row_bytes)
    big_endian = pixels.dtype.newbyteorder(">")
    for top in range(0, len(pixels), rows_at_once):
        strip = np.ascontiguousarray(pixels[top : top + rows_at_once], big_endian)
        yield strip.view(np.uint8).reshape(-1, row_bytes)


def _filter_none(rows: np.ndarray) -> np.ndarray:
    """Returns rows, uint8 `[H, W]`, as they are behind the number of their filter, `[H, 1 + W]`."""
    filtered = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    filtered[:, 0] = png.FILTER_NONE
    filtered[:, 1:] = rows
    return filtered


def _filter_up(rows: np.ndarray, row_above: np.ndarray) -> np.ndarray:
    """Returns what rows differ from the row above, behind the number of their filter.

    Args:
      rows: uint8 `[H, W]`.
      row_above: the one above the first, uint8 `[W]`; zeros at the top.

    Returns:
      uint8 `[H, 1 + W]`. Differences wrap around, as PNG has them.
    """
    filtered = _filter_none(rows)
    filtered[:, 0] = FILTER_UP
    filtered[0, 1:] -= row_above
    filtered[1:, 1:] -= rows[:-1]
    return filtered
