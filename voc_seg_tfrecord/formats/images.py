"""Image files: what can be stored as it is, what has to become a PNG first, what is refused.

A file's bytes are stored untouched wherever TFDS's decoders, TensorFlow's and NumPy's, both read
them to the right uint8 `[H, W, 3]`. `Decoding` says how that is tried. What only one of them reads
right (palettes, alpha, CMYK, WebP, TIFF, an image to be rotated) is stored as an RGB PNG of its
pixels. `narrow` refuses what would lose bands or bits.

TFDS decodes with TensorFlow in `as_dataset` and with Pillow in `data_source`. Both decode JPEGs by
libjpeg-turbo, forgive much of the damage that it warns of, and round in different ways.

1. `check_readable` finds what one of them cannot decode, and what libjpeg-turbo warns of. It reads
   all of a JPEG's stream at an eighth of the size too. With PNGs Pillow is the stricter one.
2. `check_alike` also finds what they decode to other pixels. For that a JPEG has to be decoded in
   full, as either does: a reduced size skips the arithmetic in which they differ. simplejpeg does
   both: it can round as Pillow does, and gives arrays without copying the pixels twice.

Large files take turns in decoding: threads bound the memory of small files, not of 100 megapixels.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import math
import struct

import numpy as np
import simplejpeg

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.example import Decoding, Exif
from voc_seg_tfrecord.core.file import File, Kind, check_pixels, once_per_file
from voc_seg_tfrecord.core.worker import in_turn
from voc_seg_tfrecord.formats import bands, jpeg, narrow, pillow, png, png_stream, png_strips

# Orientations that EXIF numbers.
_MIRRORED_OR_UPSIDE_DOWN = (2, 3, 4)
_ROTATED_BY_90 = (5, 6, 7, 8)

_STORED_COMPONENTS = (1, 3)
"""Numbers of components of a JPEG that both decoders read to the same colors."""

MAX_DIFFERENCE = 64
"""The decoders round JPEGs in other ways, which makes up to 27 in 255 at the highest quality.

Damage makes many times that: values overflow, from white to black.
"""

_ROWS_COMPARED_AT_ONCE = 384
"""So that comparing large images does not take several times their memory."""

# What libjpeg-turbo warns of in good photos too: bytes that no pixel needs, and a wrong number in
# the files of some phones, which no decoder uses.
_EXTRA_BYTES = "extraneous bytes before marker"
_HARMLESS_WARNINGS = (_EXTRA_BYTES, "Invalid SOS parameters")

_UNKNOWN_TO_SIMPLEJPEG = ("determine subsampling", "JFIF revision", "Adobe color transform")
"""Words in simplejpeg's errors about good files: rare sizes of colors, and unknown versions."""

LARGE = 1 << 24
"""Pixels above which one file at a time, or one image with its mask, is decoded."""


@dataclasses.dataclass(frozen=True)
class StoredImage:
    """An image that every decoder of TFDS reads to uint8 `[height, width, 3]`.

    Attributes:
      data: JPEG, PNG or BMP bytes.
      height: in pixels.
      width: in pixels.
    """

    data: bytes
    height: int
    width: int

    def stored(self) -> bytes:
        """Returns what a record has of it."""
        return self.data


def open_image(
    file: File,
    *,
    exif: Exif = "ignore",
    mask_size: tuple[int, int] | None = None,
    decoding: Decoding = "alike",
    user_wants_rgb: bool = False,
) -> StoredImage | pillow.Still:
    """Reads an image of any kind that people have under `JPEGImages`. Nothing is encoded.

    Args:
      file: the file; the ending of its name is not looked at.
      exif: what an EXIF orientation means: `ignore` it as VOC's readers do, `apply` it as
        labeling tools do, or `auto`: decide by the mask's size.
      mask_size: height and width of the mask, for `auto`.
      decoding: what is tried with bytes that are kept. The result is the same.
      user_wants_rgb: whether the user wants RGB of 8 bits, whatever bands or bits are lost.

    Returns:
      The image as it is stored, the file's own bytes; or, where these are not right, the decoded
      image, of which `stored` makes a PNG.

    Raises:
      ImageError: if this is not a complete image, is too large, is animated, or is mirrored
        or upside down under `auto`, so that nothing tells which way its mask was drawn; if it
        has bands or bits that would be lost; or if decoders fail on it, or read it differently.
    """
    kind = file.kind
    if kind is Kind.JPEG:
        return _read_jpeg(file, exif, mask_size, decoding)
    if kind is Kind.PNG:
        return _read_png(file, exif, mask_size, decoding, user_wants_rgb=user_wants_rgb)
    if kind is Kind.TIFF:
        # Pillow has rotated a TIFF already.
        return narrow.open_tiff(file, user_wants_rgb=user_wants_rgb)
    if kind is Kind.BMP:
        size = _size_of_plain_bmp(file.data)
        if size is not None:
            height, width = size
            check_pixels(width, height, file, ImageError)
            return StoredImage(file.data, height, width)
    still = pillow.decode(file, ImageError)
    if not user_wants_rgb:
        narrow.check_transparency(file, still)
    if kind is Kind.WEBP:
        upright = _rotate(file, exif, mask_size)
        return still if upright is None else upright
    return still


_BMP_HEADER_FORMAT = "<IIiiHHI"
"""From byte 10: offset of the pixels, size of the second header, width, height, planes, bits per
pixel, compression."""

_BMP_HEADER_BYTES = 54


def _size_of_plain_bmp(data: bytes) -> tuple[int, int] | None:
    """Returns height and width of a BMP that decoders read alike, None of any other.

    It has 24 bits per pixel, no compression, rows from the bottom up right behind the shortest
    header, and not one byte less or more.
    """
    if len(data) < _BMP_HEADER_BYTES:
        return None
    offset, header_size, width, height, planes, bits, compression = struct.unpack_from(
        _BMP_HEADER_FORMAT, data, 10
    )
    if (offset, header_size, planes, bits, compression) != (_BMP_HEADER_BYTES, 40, 1, 24, 0):
        return None
    if width <= 0 or height <= 0:
        return None
    row_bytes = 4 * math.ceil(3 * width / 4)  # filled up to a multiple of 4
    if len(data) != _BMP_HEADER_BYTES + height * row_bytes:
        return None
    return height, width


def _read_jpeg(
    file: File, exif: Exif, mask_size: tuple[int, int] | None, decoding: Decoding
) -> StoredImage | pillow.Still:
    header = jpeg.read_header(file)
    if header.precision != 8:
        raise ImageError(
            file.where,
            found=f"a JPEG of {header.precision} bits per sample",
            expected="8 bits per sample",
            remedy="save the image as an 8-bit JPEG",
        )
    if header.is_lossless:
        raise ImageError(
            file.where,
            found="a JPEG that is compressed without loss, which TensorFlow does not read",
            expected="a baseline or progressive JPEG, or a PNG",
            remedy="save the image as a PNG",
        )
    check_pixels(header.width, header.height, file, ImageError)
    keeps_bytes = header.components in _STORED_COMPONENTS
    if decoding == "alike" and keeps_bytes:
        check_alike(file)
    elif decoding != "none":
        check_readable(file)
    if header.exif:
        upright = _rotate(file, exif, mask_size)
        if upright is not None:
            return upright
    if not keeps_bytes:
        return pillow.decode(file, ImageError)
    return StoredImage(file.data, header.height, header.width)


def _read_png(
    file: File,
    exif: Exif,
    mask_size: tuple[int, int] | None,
    decoding: Decoding,
    *,
    user_wants_rgb: bool,
) -> StoredImage | pillow.Still:
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        chunks = png.read_chunks(file, header)
        check_pixels(header.width, header.height, file, ImageError)
        keeps_bytes = _is_read_alike(header, chunks)
        if not keeps_bytes or decoding != "none":
            png_stream.check(file, header, chunks)
    if header.depth == 16 and not user_wants_rgb:
        exact = narrow.open_deep_png(file, header, chunks)
        if exact is not file:
            return _read_png(exact, exif, mask_size, decoding, user_wants_rgb=False)
    if header.color in (png.ColorType.GRAY_ALPHA, png.ColorType.RGBA) and not user_wants_rgb:
        bare = File(png.critical_chunks(chunks), file.where)
        narrow.check_transparency(file, pillow.decode(bare, ImageError))
    if keeps_bytes and decoding != "none":
        check_readable(file)
    if any(chunk.kind == b"eXIf" for chunk in chunks):
        with_exif = File(png.critical_chunks(chunks, b"eXIf"), file.where)
        upright = _rotate(with_exif, exif, mask_size)
        if upright is not None:
            return upright
    if keeps_bytes:
        return StoredImage(file.data, header.height, header.width)
    # Pillow may fail on texts and profiles, and the new PNG has none of them.
    return pillow.decode(File(png.critical_chunks(chunks), file.where), ImageError)


def _is_read_alike(header: png.PngHeader, chunks: tuple[png.Chunk, ...]) -> bool:
    """Says whether every decoder reads a PNG to the right uint8 `[H, W, 3]`."""
    if header.depth != 8 or header.color not in (png.ColorType.RGB, png.ColorType.GRAY):
        return False
    return all(chunk.kind != b"tRNS" for chunk in chunks)


def _rotate(file: File, exif: Exif, mask_size: tuple[int, int] | None) -> pillow.Still | None:
    """Returns the image rotated as EXIF says; None if it stays as it is stored."""
    if exif == "ignore":
        return None
    still = pillow.decode(file, ImageError)
    orientation = still.orientation()
    if orientation not in (*_MIRRORED_OR_UPSIDE_DOWN, *_ROTATED_BY_90):
        return None
    if exif == "apply":
        return still.upright()
    if orientation in _ROTATED_BY_90 and still.width != still.height:
        return still.upright() if mask_size == (still.width, still.height) else None
    raise ImageError(
        file.where,
        found=f"EXIF orientation {orientation}, which gives the same size rotated or not",
        expected="an image whose mask shows which way it was drawn",
        remedy='say which: "exif": "apply" if the masks were drawn on the image as viewers '
        'show it, "exif": "ignore" if on the pixels as stored (--exif)',
    )


def check_readable(file: File) -> None:
    """Checks at the least cost that both decoders decode a JPEG, or a PNG that was inflated.

    Raises:
      ImageError: if one of the decoders would fail, or reads another size, or if the compressed
        pixels of a JPEG are damaged in a way that shows.
    """
    if file.kind is Kind.PNG:
        still = pillow.decode(file, ImageError)
        size_in_header = png.read_header(file)
        _check_sizes(
            file, (still.height, still.width), (size_in_header.height, size_in_header.width)
        )
        return
    header = jpeg.read_header(file)
    _check_sizes(file, pillow.read_size(file, ImageError), (header.height, header.width))
    pixels = _decode_eighth_strictly(file).pixels
    if pixels is None:
        pixels = pillow.decode(file, ImageError, side=1).values()
    eighth = (math.ceil(header.height / 8), math.ceil(header.width / 8))
    _check_sizes(file, pixels.shape[:2], eighth)


def doubt(file: File) -> str:
    """Says what may be damage in an image that both checks accept; empty if nothing is."""
    if file.kind is not Kind.JPEG:
        return ""
    if jpeg.read_header(file).components in _STORED_COMPONENTS:
        return check_alike(file)
    return _decode_eighth_strictly(file).doubt


@once_per_file
def check_alike(file: File) -> str:
    """Decodes a JPEG, one that can be kept, as both decoders do and compares the pixels.

    Returns:
      What may be damage, though it does no harm; empty if nothing is.

    Raises:
      ImageError: if `check_readable` would raise it, or the decoders read other pixels.
    """
    header = jpeg.read_header(file)
    size = (header.height, header.width)
    _check_sizes(file, pillow.read_size(file, ImageError), size)
    by_tensorflow = _decode_strictly(file, "RGB")
    by_numpy = _pixels_once(file)
    _check_sizes(file, by_numpy.shape[:2], size)
    if by_tensorflow.pixels is None:
        return by_tensorflow.doubt
    _check_sizes(file, by_tensorflow.pixels.shape[:2], size)
    for start in range(0, header.height, _ROWS_COMPARED_AT_ONCE):
        rows = slice(start, start + _ROWS_COMPARED_AT_ONCE)
        difference = _largest_difference(by_numpy[rows], by_tensorflow.pixels[rows])
        if difference > MAX_DIFFERENCE:
            raise _damaged_error(file, f"TensorFlow and NumPy decode it {difference} of 255 apart")
    return by_tensorflow.doubt


def _largest_difference(first: np.ndarray, second: np.ndarray) -> int:
    """Returns by how much two arrays of uint8 differ at most."""
    return int((np.maximum(first, second) - np.minimum(first, second)).max())


def decode(file: File, *, side: int | None = None) -> pillow.Still:
    """Decodes an image as Pillow does; large PNGs a few rows at a time, when they are needed.

    Of 16 bits, or an array, it is what people can look at; see `bands.shown`.

    Args:
      file: the image.
      side: see `pillow.decode`.

    Raises:
      ImageError: if it cannot be decoded.
    """
    if bands.is_deep(file):
        return pillow.as_still(bands.shown(bands.read(file)), file.where, ImageError)
    if file.kind is Kind.PNG and _count_pixels(file) > LARGE:
        header = png.read_header(file)
        if png_strips.can_be_read_in_strips(header):
            return png_strips.open_in_strips(file, header)
    return pillow.decode(file, ImageError, side=side)


def decode_once(file: File) -> pillow.Still:
    """Decodes an image as `decode` does, but a JPEG that `check_alike` has decoded already.

    Raises:
      ImageError: if it cannot be decoded.
    """
    if file.kind is Kind.JPEG:
        return pillow.as_still(_pixels_once(file), file.where, ImageError)
    return decode(file)


def _check_sizes(file: File, *sizes: tuple[int, ...]) -> None:
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
    """Decodes a JPEG as TensorFlow does; see `_decode_jpeg` for the arguments.

    Raises:
      ImageError: if libjpeg-turbo warns of something that is not harmless.
    """
    try:
        return _DecodedJpeg(_decode_jpeg(file, colorspace, min_side=min_side))
    except ImageError as error:
        if not any(warning in error.found for warning in _HARMLESS_WARNINGS):
            raise
        doubt = error.found if _EXTRA_BYTES in error.found else ""
        pixels = _decode_jpeg(file, colorspace, min_side=min_side, strict=False)
        return _DecodedJpeg(pixels, doubt)


def pixels(file: File, *, as_tensorflow: bool = False) -> np.ndarray:
    """Decodes a stored image, uint8 `[H, W, 3]`, as Pillow does.

    Args:
      file: the image.
      as_tensorflow: whether to round JPEGs as TensorFlow does; those of rare samplings of colors
        are rounded as Pillow does.

    Raises:
      ImageError: if it cannot be decoded, or is too large.
    """
    if file.kind is Kind.JPEG:
        header = jpeg.read_header(file)
        check_pixels(header.width, header.height, file, ImageError)
        # What libjpeg-turbo warns of was looked at when the dataset was built.
        decoded = _decode_jpeg(file, "RGB", strict=False, fastdct=as_tensorflow)
        if decoded is not None:
            return decoded
    return decode(file).rgb()


_pixels_once = once_per_file(pixels)


def _decode_jpeg(
    file: File, colorspace: str, *, min_side: int = 0, strict: bool = True, fastdct: bool = True
) -> np.ndarray | None:
    """Decodes a JPEG as TensorFlow does; returns None if simplejpeg does not know its like.

    Args:
      file: the JPEG.
      colorspace: `RGB` or `Gray`.
      min_side: how many pixels a side has to have at least, if a smaller image will do; 0 for all.
      strict: whether warnings of libjpeg-turbo are errors.
      fastdct: whether to round as TensorFlow does, and not as Pillow does.
    """
    try:
        decoded = simplejpeg.decode_jpeg(
            file.data,
            colorspace,
            fastdct=fastdct,
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
        expected="an undamaged image, which every decoder reads alike",
        remedy="copy or export the file again; if no other copy is left, look at the image, and "
        "save it anew or leave it out",
        kind="damaged file",
    )


@contextlib.contextmanager
def large_in_turn(*files: File | None) -> Iterator[None]:
    """Waits until no other large file is being decoded, if one of these is large."""
    if any(file is not None and _count_pixels(file) > LARGE for file in files):
        with in_turn():
            yield
    else:
        yield


def _count_pixels(file: File) -> int:
    """Returns the pixels that a header claims; 0 if it cannot be read, which is an error later."""
    try:
        if file.kind is Kind.PNG:
            png_header = png.read_header(file)
            return png_header.width * png_header.height
        if file.kind is Kind.JPEG:
            jpeg_header = jpeg.read_header(file)
            return jpeg_header.width * jpeg_header.height
    except VocSegError:
        return 0
    return len(file.data) // 3 if file.kind is Kind.NUMPY else 0
