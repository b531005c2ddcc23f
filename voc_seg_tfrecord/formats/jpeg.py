"""JPEG files: their headers, and whether TensorFlow and Pillow decode them, and decode them alike.

Both decode JPEGs by libjpeg-turbo, forgive much of the damage that it warns of, and round in
different ways. It warns of two things in good photos too: see `_find_doubt_in_warnings`.

1. `read_header` finds JPEGs that are truncated.
2. `check_readable` finds what TensorFlow or Pillow cannot decode, and what libjpeg-turbo warns of.
   It decodes to an eighth of the size, which reads all of the stream.
3. `find_doubt_by_both_decoders` also finds what TensorFlow and Pillow decode to different pixels.
   It decodes twice at full size, because a reduced size skips the arithmetic in which they differ.

simplejpeg, another interface to libjpeg-turbo, stands for both decoders here: it can round as
TensorFlow or as Pillow does, and gives arrays without copying the pixels twice. The few JPEGs that
it does not support are decoded by Pillow alone.

References:
  ITU-T T.81 (JPEG), annex B.
"""

from collections.abc import Sequence
import dataclasses
import math
import struct
from typing import NamedTuple

import numpy as np
import simplejpeg

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import (
    File,
    Kind,
    check_pixels,
    damaged_error,
    describe_kind,
    once_per_file,
)
from voc_seg_tfrecord.formats import pillow

_START_OF_IMAGE_BYTES = 2
_END_OF_IMAGE = b"\xff\xd9"
_START_OF_SCAN = 0xDA
_APP1 = 0xE1
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})
"""Markers that stand alone."""

_JPEG_LS = 0xF7
_NO_FRAMES = frozenset({0xC4, 0xC8, 0xCC})  # DHT, JPG and DAC
_START_OF_FRAME = frozenset({*range(0xC0, 0xD0), _JPEG_LS}) - _NO_FRAMES
_LOSSLESS_FRAMES = frozenset({0xC3, 0xC7, 0xCB, 0xCF, _JPEG_LS})

MAX_DIFFERENCE = 64
"""The decoders' values of one sample differ by at most this, of 255, in an undamaged JPEG.

Rounding alone makes them differ by up to 27 at the highest quality. Damage makes many times that:
values overflow, from white to black.
"""

_ROWS_COMPARED_AT_ONCE = 384
"""Rows that are compared together; all rows at once would take several times their memory."""

_WRONG_SCAN_PARAMETERS = "Invalid SOS parameters"
_EXTRA_BYTES_AT_THE_END = "extraneous bytes before marker 0xd9"
_START_OF_SCAN_MARKER = bytes((0xFF, _START_OF_SCAN))
_PARAMETERS_OF_SEQUENTIAL_SCAN = bytes((0, 63, 0))
"""The first and last frequency of a scan, and its bit positions: all of each value at once."""

_UNSUPPORTED_BY_SIMPLEJPEG = ("determine subsampling", "JFIF revision", "Adobe color transform")
"""Words in simplejpeg's errors about good files: rare sizes of colors, and unknown versions."""


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


class _Segment(NamedTuple):
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
    """Reads a JPEG's frame header, and checks its size and that its end-of-image marker is there.

    Raises:
      ImageError: if this is not a JPEG, has no frame or scan, is truncated, or is too large.
    """
    data = file.data
    if file.kind is not Kind.JPEG:
        raise _incomplete_error(file, f"not a JPEG, but {describe_kind(file)}")
    segments = _read_segments(data)
    scan = _first_scan(segments)
    if scan + 4 > len(data):
        raise _incomplete_error(file, f"JPEG truncated after {len(data)} bytes, before any pixel")
    if data[scan] != 0xFF:
        raise _incomplete_error(file, f"JPEG damaged at byte {scan}: no marker")
    header = _read_frame(data, segments)
    if header is None or not header.width or not header.height:
        raise _incomplete_error(file, "JPEG has no size in its header")
    (scan_header_length,) = struct.unpack_from(">H", data, scan + 2)
    pixels = scan + 2 + scan_header_length
    # Inside a scan 0xFF is always escaped, so this can only be the marker. Searching in
    # the scan alone passes over the thumbnail that cameras put in front; from the end it is
    # found at once.
    if data.rfind(_END_OF_IMAGE, pixels) < 0:
        found = f"JPEG truncated: no end-of-image marker in {len(data)} bytes"
        raise _incomplete_error(file, found)
    check_pixels(header.width, header.height, file, ImageError)
    return header


def _read_frame(data: bytes, segments: Sequence[_Segment]) -> JpegHeader | None:
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


def _first_scan(segments: Sequence[_Segment]) -> int:
    """Returns the byte behind the segments before the first scan, at which it begins."""
    return segments[-1].end if segments else _START_OF_IMAGE_BYTES


def _is_exif(data: bytes, segment: _Segment) -> bool:
    return segment.marker == _APP1 and data.startswith(b"Exif\0", segment.start + 4)


def _read_segments(data: bytes) -> list[_Segment]:
    """Returns the segments before the first scan, or before damage."""
    segments = []
    position = _START_OF_IMAGE_BYTES
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == _START_OF_SCAN:
            break
        if marker == 0xFF:  # a fill byte
            end = position + 1
        elif marker in _WITHOUT_LENGTH:
            end = position + 2
        else:
            (length,) = struct.unpack_from(">H", data, position + 2)
            end = position + 2 + length
        segments.append(_Segment(marker, position, end))
        position = end
    return segments


def _incomplete_error(file: File, found: str) -> VocSegError:
    return damaged_error(ImageError, file.where, found, "a complete JPEG")


def without_exif(data: bytes) -> bytes:
    """Returns a JPEG without its EXIF and XMP."""
    segments = _read_segments(data)
    parts = [data[:_START_OF_IMAGE_BYTES]]
    for segment in segments:
        if segment.marker != _APP1:
            parts.append(data[segment.start : segment.end])
    return b"".join([*parts, data[_first_scan(segments) :]])


def check_readable(file: File) -> None:
    """Checks at the least cost that both decoders decode a JPEG: at an eighth of its size.

    Raises:
      ImageError: if one of the decoders would fail, or reads another size, or if the compressed
        pixels are damaged in a way that shows.
    """
    header = read_header(file)
    check_same_size(file, pillow.read_size(file, ImageError), (header.height, header.width))
    pixels = _decode_eighth_strictly(file).pixels
    if pixels is None:  # the least that Pillow decodes to is an eighth, too
        pixels = pillow.decode(file, ImageError, side=1).values()
    eighth = (math.ceil(header.height / 8), math.ceil(header.width / 8))
    check_same_size(file, pixels.shape[:2], eighth)


def find_doubt_at_an_eighth(file: File) -> str:
    """Returns what may be damage in a JPEG that `check_readable` accepts; empty if nothing is.

    Raises:
      ImageError: if libjpeg-turbo warns of something that is not harmless, also behind what is.
    """
    return _decode_eighth_strictly(file).doubt


@once_per_file
def find_doubt_by_both_decoders(file: File) -> str:
    """Decodes a JPEG of 1 or 3 components as both decoders do, and compares the pixels.

    Returns:
      What may be damage, though it does no harm; empty if nothing is.

    Raises:
      ImageError: if `check_readable` would raise it, or the decoders read other pixels.
    """
    header = read_header(file)
    size = (header.height, header.width)
    check_same_size(file, pillow.read_size(file, ImageError), size)
    by_tensorflow = _decode_strictly(file, "RGB")
    by_pillow = decode_rgb_once(file)
    check_same_size(file, by_pillow.shape[:2], size)
    if by_tensorflow.pixels is None:  # Pillow's pixels have nothing to be compared with
        return by_tensorflow.doubt
    check_same_size(file, by_tensorflow.pixels.shape[:2], size)
    for start in range(0, header.height, _ROWS_COMPARED_AT_ONCE):
        rows = slice(start, start + _ROWS_COMPARED_AT_ONCE)
        difference = _largest_difference(by_pillow[rows], by_tensorflow.pixels[rows])
        if difference > MAX_DIFFERENCE:
            raise _damaged_error(file, f"TensorFlow and NumPy decode it {difference} of 255 apart")
    return by_tensorflow.doubt


def _largest_difference(first: np.ndarray, second: np.ndarray) -> int:
    """Returns by how much two arrays of uint8 differ at most."""
    return int((np.maximum(first, second) - np.minimum(first, second)).max())


def decode_rgb(file: File, *, as_tensorflow: bool = False) -> np.ndarray:
    """Decodes a JPEG, uint8 `[H, W, 3]`, as Pillow does.

    Args:
      file: the JPEG.
      as_tensorflow: whether to round as TensorFlow does; JPEGs of rare samplings of colors are
        rounded as Pillow does.

    Raises:
      ImageError: if it cannot be decoded, or is too large.
    """
    read_header(file)  # it checks the size
    # Warnings of libjpeg-turbo are for the checks, which a build has made.
    decoded = _decode_by_simplejpeg(file, "RGB", strict=False, as_tensorflow=as_tensorflow)
    if decoded is not None:
        return decoded
    return pillow.decode(file, ImageError).rgb()


decode_rgb_once = once_per_file(decode_rgb)
"""Returns what `decode_rgb` does, and keeps it as long as the file is kept."""


def check_same_size(file: File, *sizes: tuple[int, ...]) -> None:
    """Checks that decoders read the same height and width.

    Raises:
      ImageError: if they do not.
    """
    if len(set(sizes)) > 1:
        raise _damaged_error(file, f"decoders read different sizes: {sorted(set(sizes))}")


@dataclasses.dataclass(frozen=True)
class _DecodedJpeg:
    """A JPEG that was decoded with regard to libjpeg-turbo's warnings.

    Attributes:
      pixels: uint8 `[H, W, N]`; None if simplejpeg does not support this JPEG.
      doubt: what may be damage, though it does no harm; empty if nothing is.
    """

    pixels: np.ndarray | None
    doubt: str = ""


def _decode_eighth_strictly(file: File) -> _DecodedJpeg:
    """Decodes a JPEG to gray at an eighth of its size, which reads all of its stream."""
    return _decode_strictly(file, "Gray", at_an_eighth=True)


def _decode_strictly(file: File, colorspace: str, *, at_an_eighth: bool = False) -> _DecodedJpeg:
    """Decodes a JPEG as TensorFlow does; see `_decode_by_simplejpeg` for the arguments.

    Raises:
      ImageError: if libjpeg-turbo warns of something that is not harmless.
    """
    try:
        return _DecodedJpeg(_decode_by_simplejpeg(file, colorspace, at_an_eighth=at_an_eighth))
    except ImageError:
        doubt = _find_doubt_in_warnings(file)
    pixels = _decode_by_simplejpeg(file, colorspace, at_an_eighth=at_an_eighth, strict=False)
    return _DecodedJpeg(pixels, doubt)


@once_per_file
def _find_doubt_in_warnings(file: File) -> str:
    """Checks that all that libjpeg-turbo warns of is harmless.

    Two warnings are harmless:

    1. Scans of some phones' photos have wrong parameters, which no decoder uses. libjpeg-turbo
       names its first warning alone, so a copy with the usual parameters shows whether it warns of
       something else behind them.
    2. There may be bytes at the end that no decoder needs. No pixels can follow them.

    Returns:
      The second of these, which damage may cause too; empty if there is none.

    Raises:
      ImageError: about a warning that is not harmless.
    """
    warning = _find_warning(file.data)
    if _WRONG_SCAN_PARAMETERS in warning:
        warning = _find_warning(_with_usual_scan_parameters(file.data))
    if not warning or _EXTRA_BYTES_AT_THE_END in warning:
        return warning
    raise _damaged_error(file, warning)


def _with_usual_scan_parameters(data: bytes) -> bytes:
    """Returns a JPEG whose scans have the parameters that each decoder assumes for them.

    In the compressed pixels, 0xFF is a marker unless a 0 or another 0xFF follows it.

    References:
      ITU-T T.81 (JPEG), annex B.2.3.
    """
    mended = bytearray(data)
    scan = data.find(_START_OF_SCAN_MARKER, _first_scan(_read_segments(data)))
    while 0 <= scan <= len(data) - 5:
        components = data[scan + 4]
        parameters = scan + 5 + 2 * components
        mended[parameters : parameters + 3] = _PARAMETERS_OF_SEQUENTIAL_SCAN
        scan = data.find(_START_OF_SCAN_MARKER, parameters)
    return bytes(mended)


def _find_warning(data: bytes) -> str:
    """Returns libjpeg-turbo's first warning about a JPEG; empty if it has none.

    All of the stream is read, at an eighth of the size.
    """
    try:
        _decode_by_simplejpeg(File(data, ""), "Gray", at_an_eighth=True)
    except ImageError as error:
        return error.found
    return ""


def _decode_by_simplejpeg(
    file: File,
    colorspace: str,
    *,
    at_an_eighth: bool = False,
    strict: bool = True,
    as_tensorflow: bool = True,
) -> np.ndarray | None:
    """Decodes a JPEG, uint8 `[H, W, N]`; returns None if simplejpeg does not support this JPEG.

    Args:
      file: the JPEG.
      colorspace: `RGB` or `Gray`.
      at_an_eighth: whether to decode to an eighth of the height and width.
      strict: whether warnings of libjpeg-turbo are errors.
      as_tensorflow: whether to round as TensorFlow does, and not as Pillow does.
    """
    # simplejpeg takes the smallest size that has so many pixels, an eighth at the least; 0 is all.
    min_side = 1 if at_an_eighth else 0
    try:
        decoded = simplejpeg.decode_jpeg(
            file.data,
            colorspace,
            fastdct=as_tensorflow,
            min_height=min_side,
            min_width=min_side,
            strict=strict,
        )
        return np.asarray(decoded)
    except ValueError as error:
        if any(words in str(error) for words in _UNSUPPORTED_BY_SIMPLEJPEG):
            return None
        raise _damaged_error(file, f"libjpeg-turbo finds: {error}") from None


def _damaged_error(file: File, found: str) -> ImageError:
    return ImageError(
        file.where,
        found=found,
        expected="an undamaged image, which all decoders read alike",
        remedy="copy or export the file again; if this is the only copy, look at it, then save it "
        "anew or leave it out",
        kind="damaged file",
    )
