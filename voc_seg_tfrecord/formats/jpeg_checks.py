"""Checks that TensorFlow and Pillow decode a JPEG, and that they decode it alike.

Both decode JPEGs by libjpeg-turbo, forgive much of the damage that it warns of, and round in
different ways. It warns of two things in good photos too: see `_find_doubt_in_warnings`.

1. `check_readable` finds what one of them cannot decode, and what libjpeg-turbo warns of. It reads
   all of the stream at an eighth of the size.
2. `find_doubt_by_both_decoders` also finds what they decode to other pixels. For that a JPEG has to
   be decoded in full, as either does: a reduced size skips the arithmetic in which they differ.
   simplejpeg does both: it can round as Pillow does, and gives arrays without copying the pixels
   twice.
"""

import dataclasses
import math

import numpy as np
import simplejpeg

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File, check_pixels, once_per_file
from voc_seg_tfrecord.formats import jpeg, pillow

MAX_DIFFERENCE = 64
"""The decoders' values of one sample differ by at most this, of 255, in an undamaged JPEG.

Rounding alone makes them differ by up to 27 at the highest quality. Damage makes many times that:
values overflow, from white to black.
"""

_ROWS_COMPARED_AT_ONCE = 384
"""Rows that are compared together; all rows at once would take several times their memory."""

_WRONG_SCAN_PARAMETERS = "Invalid SOS parameters"
_EXTRA_BYTES_AT_THE_END = "extraneous bytes before marker 0xd9"
_START_OF_SCAN = bytes((0xFF, jpeg.START_OF_SCAN))
_PARAMETERS_OF_SEQUENTIAL_SCAN = bytes((0, 63, 0))
"""The first and last frequency of a scan, and its bit positions: all of each value at once."""

_UNKNOWN_TO_SIMPLEJPEG = ("determine subsampling", "JFIF revision", "Adobe color transform")
"""Words in simplejpeg's errors about good files: rare sizes of colors, and unknown versions."""


def check_readable(file: File) -> None:
    """Checks at the least cost that both decoders decode a JPEG: at an eighth of its size.

    Raises:
      ImageError: if one of the decoders would fail, or reads another size, or if the compressed
        pixels are damaged in a way that shows.
    """
    header = jpeg.read_header(file)
    check_same_size(file, pillow.read_size(file, ImageError), (header.height, header.width))
    pixels = _decode_eighth_strictly(file).pixels
    if pixels is None:
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
    header = jpeg.read_header(file)
    size = (header.height, header.width)
    check_same_size(file, pillow.read_size(file, ImageError), size)
    by_tensorflow = _decode_strictly(file, "RGB")
    by_pillow = decode_rgb_once(file)
    check_same_size(file, by_pillow.shape[:2], size)
    if by_tensorflow.pixels is None:
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
    header = jpeg.read_header(file)
    check_pixels(header.width, header.height, file, ImageError)
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
      pixels: uint8 `[H, W, N]`; None if simplejpeg does not know its like.
      doubt: what may be damage, though it does no harm; empty if nothing is.
    """

    pixels: np.ndarray | None
    doubt: str = ""


def _decode_eighth_strictly(file: File) -> _DecodedJpeg:
    """Decodes a JPEG to gray at an eighth of its size, which reads all of its stream."""
    return _decode_strictly(file, "Gray", min_side=1)


def _decode_strictly(file: File, colorspace: str, *, min_side: int = 0) -> _DecodedJpeg:
    """Decodes a JPEG as TensorFlow does; see `_decode_by_simplejpeg` for the arguments.

    Raises:
      ImageError: if libjpeg-turbo warns of something that is not harmless.
    """
    try:
        return _DecodedJpeg(_decode_by_simplejpeg(file, colorspace, min_side=min_side))
    except ImageError:
        doubt = _find_doubt_in_warnings(file)
    pixels = _decode_by_simplejpeg(file, colorspace, min_side=min_side, strict=False)
    return _DecodedJpeg(pixels, doubt)


@once_per_file
def _find_doubt_in_warnings(file: File) -> str:
    """Checks that all that libjpeg-turbo warns of is harmless.

    Scans of some phones' photos have wrong parameters, which no decoder uses. It names its first
    warning alone, so a copy without the wrong parameters shows whether there is damage behind them.
    Behind the bytes that it does not need at the end there is nothing.

    Returns:
      The warning that may be damage nevertheless; empty if there is none.

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
    segments = jpeg.read_segments(data)
    position = segments[-1].end if segments else 2
    while True:
        position = data.find(_START_OF_SCAN, position)
        if position < 0 or position + 5 > len(data):
            return bytes(mended)
        end_of_components = position + 5 + 2 * data[position + 4]
        mended[end_of_components : end_of_components + 3] = _PARAMETERS_OF_SEQUENTIAL_SCAN
        position = end_of_components


def _find_warning(data: bytes) -> str:
    """Returns libjpeg-turbo's first warning about a JPEG; empty if it has none.

    All of the stream is read, at an eighth of the size.
    """
    try:
        _decode_by_simplejpeg(File(data, ""), "Gray", min_side=1)
    except ImageError as error:
        return error.found
    return ""


def _decode_by_simplejpeg(
    file: File,
    colorspace: str,
    *,
    min_side: int = 0,
    strict: bool = True,
    as_tensorflow: bool = True,
) -> np.ndarray | None:
    """Decodes a JPEG, uint8 `[H, W, N]`; returns None if simplejpeg does not know its like.

    Args:
      file: the JPEG.
      colorspace: `RGB` or `Gray`.
      min_side: how many pixels a side has to have at least, if a smaller image will do; 0 for all.
      strict: whether warnings of libjpeg-turbo are errors.
      as_tensorflow: whether to round as TensorFlow does, and not as Pillow does.
    """
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
        if any(words in str(error) for words in _UNKNOWN_TO_SIMPLEJPEG):
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
