"""JPEG files as markers: size and completeness, and metadata by which readers rotate an image.

TensorFlow ignores an EXIF orientation, and so do VOC's own readers: images are stored in the way
that their masks were drawn. Readers such as Hugging Face's `datasets` rotate such an image, so that
its mask no longer fits.

References:
  ITU-T T.81 (JPEG), annex B.
"""

from collections.abc import Sequence
import dataclasses
import struct
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File, Kind, damaged_error, describe_kind, once_per_file
from voc_seg_tfrecord.formats import pillow, png

_START_OF_IMAGE_BYTES = 2
_END_OF_IMAGE = b"\xff\xd9"
START_OF_SCAN = 0xDA
_APP1 = 0xE1
WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that stand alone."""

_JPEG_LS = 0xF7
_NO_FRAMES = frozenset({0xC4, 0xC8, 0xCC})  # DHT, JPG and DAC
_START_OF_FRAME = frozenset({*range(0xC0, 0xD0), _JPEG_LS}) - _NO_FRAMES
_LOSSLESS_FRAMES = frozenset({0xC3, 0xC7, 0xCB, 0xCF, _JPEG_LS})


@dataclasses.dataclass(frozen=True)
class JpegHeader:
    """What the headers of a JPEG say.

    Attributes:
      width: in pixels.
      height: in pixels.
      components: per pixel.
      precision: bits per sample.
      exif: whether there is EXIF.
      is_lossless: whether it is compressed without loss, which TensorFlow does not read.
    """

    width: int
    height: int
    components: int
    precision: int
    exif: bool = False
    is_lossless: bool = False


class Segment(NamedTuple):
    """One segment before the first scan.

    Attributes:
      marker: its marker, without 0xFF.
      start: the byte at which its marker begins.
      end: the byte behind it.
    """

    marker: int
    start: int
    end: int


@once_per_file
def read_header(file: File) -> JpegHeader:
    """Reads a JPEG's frame header and checks that its end-of-image marker is there.

    Raises:
      ImageError: if this is not a JPEG, has no frame or scan, or is truncated.
    """
    data = file.data
    if file.kind is not Kind.JPEG:
        raise _damaged_error(file, f"not a JPEG, but {describe_kind(file)}")
    segments = read_segments(data)
    scan = segments[-1].end if segments else _START_OF_IMAGE_BYTES
    if scan + 4 > len(data):
        raise _damaged_error(file, f"JPEG truncated after {len(data)} bytes, before any pixel")
    if data[scan] != 0xFF:
        raise _damaged_error(file, f"JPEG damaged at byte {scan}: no marker")
    header = _read_frame(data, segments)
    if header is None or not header.width or not header.height:
        raise _damaged_error(file, "JPEG has no size in its header")
    (scan_header_length,) = struct.unpack_from(">H", data, scan + 2)
    pixels = scan + 2 + scan_header_length
    # Inside a scan 0xFF is always escaped, so this can only be the marker. Searching in
    # the scan alone passes over the thumbnail that cameras put in front; from the end it is
    # found at once.
    if data.rfind(_END_OF_IMAGE, pixels) < 0:
        found = f"JPEG truncated: no end-of-image marker in {len(data)} bytes"
        raise _damaged_error(file, found)
    return header


def _read_frame(data: bytes, segments: Sequence[Segment]) -> JpegHeader | None:
    """Returns what the last start of a frame says; None if there is none."""
    has_exif = any(_is_exif(data, segment) for segment in segments)
    header = None
    for segment in segments:
        if segment.marker in _START_OF_FRAME and segment.start + 10 <= len(data):
            precision, height, width, components = struct.unpack_from(
                ">BHHB", data, segment.start + 4
            )
            is_lossless = segment.marker in _LOSSLESS_FRAMES
            header = JpegHeader(width, height, components, precision, has_exif, is_lossless)
    return header


def _is_exif(data: bytes, segment: Segment) -> bool:
    return segment.marker == _APP1 and data.startswith(b"Exif\0", segment.start + 4)


def read_segments(data: bytes) -> list[Segment]:
    """Returns the segments before the first scan, or before damage."""
    segments = []
    position = _START_OF_IMAGE_BYTES
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == START_OF_SCAN:
            break
        if marker == 0xFF:  # a fill byte
            end = position + 1
        elif marker in WITHOUT_LENGTH:
            end = position + 2
        else:
            (length,) = struct.unpack_from(">H", data, position + 2)
            end = position + 2 + length
        segments.append(Segment(marker, position, end))
        position = end
    return segments


def _damaged_error(file: File, found: str) -> VocSegError:
    return damaged_error(ImageError, file.where, found, "a complete JPEG")


def without_rotation(file: File) -> bytes:
    """Returns a JPEG, PNG or BMP that readers show as it is stored.

    Returns:
      The file's own bytes, unless Pillow would rotate or mirror the image, or could not read its
      metadata. Then the same without its EXIF, XMP and texts; the compressed pixels are untouched.

    Raises:
      ImageError: if the image would be turned even so.
    """
    if not pillow.is_turned(file):
        return file.data
    plain = file.data
    if file.kind is Kind.JPEG:
        plain = _without_exif(plain)
    elif file.kind is Kind.PNG:
        chunks = png.read_chunks(file, png.read_header(file))
        plain = png.join_chunks(chunk for chunk in chunks if chunk.kind not in pillow.PNG_TEXTS)
    if pillow.is_turned(File(plain, file.where)):
        raise ImageError(
            file.where,
            found="an orientation that readers apply, and that cannot be removed",
            expected="an image without an orientation",
            remedy="build the dataset again with the image saved anew",
        )
    return plain


def _without_exif(data: bytes) -> bytes:
    """Returns a JPEG without its EXIF and XMP."""
    parts = [data[:_START_OF_IMAGE_BYTES]]
    scan = _START_OF_IMAGE_BYTES
    for segment in read_segments(data):
        if segment.marker != _APP1:
            parts.append(data[segment.start : segment.end])
        scan = segment.end
    return b"".join([*parts, data[scan:]])
