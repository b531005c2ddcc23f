"""Writes PNGs that Pillow cannot write: any bit depth, palette and Adam7 interlacing."""

import struct
import zlib

import numpy as np

_ADAM7 = (
    (0, 0, 8, 8),
    (0, 4, 8, 8),
    (4, 0, 8, 4),
    (0, 2, 4, 4),
    (2, 0, 4, 2),
    (0, 1, 2, 2),
    (1, 0, 2, 1),
)  # first row, first column, row step, column step


def chunk(kind: bytes, content: bytes) -> bytes:
    """Returns one PNG chunk."""
    body = kind + content
    return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))


def png_around(
    packed: bytes, width: int, height: int, *, depth: int = 8, color: int = 0, extra: bytes = b""
) -> bytes:
    """Returns a PNG of a compressed stream of rows, whatever is in it."""
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, 0)
    parts = [chunk(b"IHDR", header), extra, chunk(b"IDAT", packed), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def write_png(
    values: np.ndarray,
    *,
    depth: int = 8,
    color: int = 3,
    palette: np.ndarray | None = None,
    interlaced: bool = False,
    extra: bytes = b"",
) -> bytes:
    """Returns a PNG of integers `[H, W]` or `[H, W, C]` below `2 ** depth`.

    Args:
      values: the samples.
      depth: bits per sample, 1, 2, 4, 8 or 16.
      color: PNG colour type: 0 grey, 2 colours, 3 palette, 4 grey and 6 colours with alpha.
      palette: uint8 `[N, 3]`, needed for a palette PNG.
      interlaced: whether to interlace (Adam7).
      extra: whole chunks to put before the pixels.
    """
    height, width = values.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, int(interlaced))
    passes = [values[r::dr, c::dc] for r, c, dr, dc in _ADAM7] if interlaced else [values]
    pixels = b"".join(_rows(part, depth) for part in passes if part.size)
    plte = chunk(b"PLTE", palette.astype(np.uint8).tobytes()) if palette is not None else b""
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            plte,
            extra,
            chunk(b"IDAT", zlib.compress(pixels, 9)),
            chunk(b"IEND", b""),
        ]
    )


def _rows(part: np.ndarray, depth: int) -> bytes:
    if depth == 16:
        rows = part.astype(">u2").view(np.uint8).reshape(part.shape[0], -1)
    else:
        bits = (part[..., None] >> np.arange(depth - 1, -1, -1)) & 1
        rows = np.packbits(bits.reshape(part.shape[0], -1).astype(np.uint8), axis=1)
    return np.concatenate([np.zeros((len(rows), 1), np.uint8), rows], axis=1).tobytes()
