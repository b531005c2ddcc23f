"""A strict PNG reader for tests, which shares no code with the package."""

import struct
import zlib

import numpy as np
from support.png_writer import chunk

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}


class Bad(Exception):  # noqa: N818 - what a reader says of a file
    """The file breaks the PNG specification."""


def joined(chunks: list[tuple[bytes, bytes]]) -> bytes:
    """Returns the file of chunks."""
    return SIGNATURE + b"".join(chunk(kind, content) for kind, content in chunks)


def read(data: bytes) -> np.ndarray:
    """Returns the samples of a PNG that is not interlaced, integers `[H, W, C]`.

    Raises:
      Bad: if anything about the file breaks the specification.
    """
    chunks = split(data)
    kinds = [kind for kind, _ in chunks]
    if kinds[0] != b"IHDR" or kinds.count(b"IHDR") != 1 or kinds[-1] != b"IEND":
        raise Bad("order")
    if len(chunks[0][1]) != 13 or chunks[-1][1]:
        raise Bad("length of IHDR or IEND")
    width, height, depth, color, *methods = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth not in DEPTHS.get(color, ()) or any(methods) or not width or not height:
        raise Bad("IHDR")
    if width > 1 << 12 or height > 1 << 12:
        raise Bad("too large for a test")
    if any(kind[0] < 97 and kind not in (b"IHDR", b"PLTE", b"IDAT", b"IEND") for kind in kinds):
        raise Bad("unknown critical chunk")
    _check_palette(kinds, dict(chunks).get(b"PLTE"), color)
    places = [number for number, kind in enumerate(kinds) if kind == b"IDAT"]
    if not places or places != list(range(places[0], places[0] + len(places))):
        raise Bad("IDAT")
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(b"".join(content for kind, content in chunks if kind == b"IDAT"))
    except zlib.error as error:
        raise Bad("zlib") from error
    bits = depth * CHANNELS[color]
    stride = (width * bits + 7) // 8
    if not stream.eof or stream.unused_data or len(raw) != height * (stride + 1):
        raise Bad("length of the pixels")
    rows = _unfilter(raw, height, stride, max(1, bits // 8))
    samples = _unpack(rows, depth, width * CHANNELS[color]).reshape(height, width, -1)
    if color == 3 and samples.max() >= len(dict(chunks)[b"PLTE"]) // 3:
        raise Bad("index beyond the palette")
    return samples


def split(data: bytes) -> list[tuple[bytes, bytes]]:
    """Returns kind and content of the chunks of a file.

    Raises:
      Bad: if a chunk is truncated or damaged.
    """
    if data[:8] != SIGNATURE:
        raise Bad("signature")
    place, found = 8, []
    while place < len(data):
        if len(data) - place < 12:
            raise Bad("truncated")
        (length,) = struct.unpack_from(">I", data, place)
        kind, content = data[place + 4 : place + 8], data[place + 8 : place + 8 + length]
        if data[place : place + 12 + length] != chunk(kind, content):
            raise Bad("checksum")
        if not kind.isalpha():
            raise Bad("kind")
        found.append((kind, content))
        place += 12 + length
    if not found:
        raise Bad("empty")
    return found


def _check_palette(kinds: list[bytes], palette: bytes | None, color: int) -> None:
    if kinds.count(b"PLTE") > 1 or (color == 3) > (palette is not None):
        raise Bad("PLTE")
    if palette is not None:
        if color in (0, 4) or not 3 <= len(palette) <= 768 or len(palette) % 3:
            raise Bad("PLTE")
        if b"IDAT" in kinds and kinds.index(b"PLTE") > kinds.index(b"IDAT"):
            raise Bad("PLTE after IDAT")


def _unfilter(raw: bytes, height: int, stride: int, step: int) -> np.ndarray:
    above = [0] * stride
    rows = []
    for y in range(height):
        start = y * (stride + 1)
        method, line = raw[start], list(raw[start + 1 : start + 1 + stride])
        if method > 4:
            raise Bad("filter")
        for x in range(stride if method else 0):
            left = line[x - step] if x >= step else 0
            corner = above[x - step] if x >= step else 0
            line[x] = (line[x] + _predicted(method, left, above[x], corner)) & 255
        rows.append(line)
        above = line
    return np.array(rows, np.uint8)


def _predicted(method: int, left: int, up: int, corner: int) -> int:
    if method < 4:
        return (0, left, up, (left + up) // 2)[method]
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))


def _unpack(rows: np.ndarray, depth: int, count: int) -> np.ndarray:
    if depth == 16:
        return rows.reshape(len(rows), -1, 2) @ np.array([256, 1])
    bits = np.unpackbits(rows, axis=1)
    whole = bits[:, : bits.shape[1] // depth * depth].reshape(len(rows), -1, depth).astype(int)
    return (whole @ (1 << np.arange(depth)[::-1]))[:, :count]
