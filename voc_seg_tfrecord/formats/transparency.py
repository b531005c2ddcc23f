"""Pixels of masks that are not opaque, however a file says it: such a mask is refused.

A pixel that is not opaque may mean void or background, whatever its value or color, and nothing in
the file tells which. Files say it by an alpha channel, by the chunk tRNS of a PNG (the alpha of
palette entries, or one value or color that is transparent), or by the transparent value of a GIF.
"""

from collections.abc import Mapping, Sequence
import struct

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats.png import Chunk, ColorType, PngHeader

_OPAQUE = 255


def check_alpha(alpha: np.ndarray, file: File) -> None:
    """Checks that each pixel of an alpha channel, integers `[H, W]`, is opaque.

    Raises:
      MaskError: if some are not.
    """
    opaque = np.iinfo(alpha.dtype).max
    _refuse(int((alpha != opaque).sum()), file)


def transparent_values(header: PngHeader, chunks: Sequence[Chunk]) -> frozenset[int]:
    """Returns the values of a palette or grayscale PNG that are not opaque."""
    content = _transparency(chunks)
    if header.color is ColorType.PALETTE:
        return frozenset(value for value, alpha in enumerate(content) if alpha != _OPAQUE)
    if header.color is ColorType.GRAY and content:
        return frozenset(_unpack_samples(header, content))
    return frozenset()


def transparent_color(header: PngHeader, chunks: Sequence[Chunk]) -> tuple[int, ...]:
    """Returns the color of an RGB PNG that is not opaque, as it stores it; empty if none is."""
    content = _transparency(chunks)
    if header.color is not ColorType.RGB or not content:
        return ()
    return _unpack_samples(header, content)


def _unpack_samples(header: PngHeader, content: bytes) -> tuple[int, ...]:
    """Returns the samples in tRNS, 2 bytes each; bits that the image does not have do not count."""
    samples = struct.unpack(f">{len(content) // 2}H", content)
    return tuple(sample % (1 << header.depth) for sample in samples)


def _transparency(chunks: Sequence[Chunk]) -> bytes:
    """Returns what the chunk tRNS holds; empty if there is none."""
    for chunk in chunks:
        if chunk.kind == b"tRNS":
            return bytes(chunk.content)
    return b""


def check_counts(counts: Mapping[int, int], transparent: frozenset[int], file: File) -> None:
    """Checks that no pixel has a value that is transparent.

    Args:
      counts: the number of pixels of each value.
      transparent: the values that are not opaque.
      file: the mask, for errors.

    Raises:
      MaskError: if some have.
    """
    _refuse(sum(pixels for value, pixels in counts.items() if value in transparent), file)


def check_colors(colors: np.ndarray, transparent: Sequence[int], file: File) -> None:
    """Checks that no pixel has the color that is transparent.

    Args:
      colors: integers `[H, W, 3]`, as the file stores them.
      transparent: the color; empty if none is.
      file: the mask, for errors.

    Raises:
      MaskError: if some have.
    """
    if transparent:
        _refuse(int((colors == np.array(transparent)).all(axis=-1).sum()), file)


def _refuse(pixels: int, file: File) -> None:
    if pixels:
        raise MaskError(
            file.where,
            found=f"{counted(pixels, 'pixel')} with transparency",
            expected="a mask without transparency, because such a pixel may be void or background",
            remedy="export the mask without transparency",
        )
