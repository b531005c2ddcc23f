"""Corrects images that Pillow has opened, and would decode to other pixels than the file has."""

import re
from typing import Any

from PIL import ImagePalette

from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.formats.tiff import Tag

_BMP_HEADER_SIZE_OFFSET = 14
"""The byte of a BMP with the size of its header; the largest header has 124 bytes."""

_OS2_HEADER_BYTES = 12
"""The size of the header that OS/2 writes. All other headers are longer."""

_BMP_BITS_OFFSET = 28
"""The byte of a BMP with the number of bits per pixel."""

_OS2_BITS_OFFSET = 24
"""The same byte, if the header is that of OS/2."""


def correct(image: Any, file: File) -> None:
    """Corrects an image of which only the headers are read.

    Args:
      image: Pillow's image.
      file: its file.
    """
    if file.kind is Kind.TIFF:
        _correct_palette_of_8_bits(image)
        _correct_byte_order(image)
    if file.kind is Kind.BMP:
        _correct_black_and_white_bmp(image, bits=_read_bits_of_bmp(file.data))


def _read_bits_of_bmp(data: bytes) -> int:
    """Returns how many bits a pixel of a BMP has."""
    if data[_BMP_HEADER_SIZE_OFFSET] == _OS2_HEADER_BYTES:
        return data[_OS2_BITS_OFFSET]
    return data[_BMP_BITS_OFFSET]


def _correct_palette_of_8_bits(image: Any) -> None:
    """Corrects a TIFF's palette of 8-bit colors, which Pillow takes for one of 16-bit colors."""
    if image.mode[0] == "P" and max(image.tag_v2[Tag.COLOR_MAP]) < 256:
        image.palette = ImagePalette.raw("RGB;L", bytes(image.tag_v2[Tag.COLOR_MAP]))


def _correct_byte_order(image: Any) -> None:
    """Corrects the byte order of big-endian TIFFs, which libtiff has swapped already."""
    if image.tile and image.tile[0].codec_name == "libtiff":
        raw_mode = image.tile[0].args[0]
        _set_raw_mode(image, re.sub("B(?=[SF]$)", "N", raw_mode))


def _correct_black_and_white_bmp(image: Any, bits: int) -> None:
    """Corrects a BMP of 4 or 8 bits with two colors, which Pillow takes for one of 1 bit."""
    if image.mode != "1" or bits == 1:
        return
    image._mode = "P"
    image.palette = ImagePalette.raw("RGB", b"\0\0\0\xff\xff\xff")
    _set_raw_mode(image, "P;4" if bits == 4 else "P")


def _set_raw_mode(image: Any, raw_mode: str) -> None:
    """Sets how Pillow's decoder reads the samples of an image."""
    tile = image.tile[0]
    image.tile = [tile._replace(args=(raw_mode, *tile.args[1:]))]
