"""Image files: what can be stored as it is, what has to become a PNG first, what is refused.

A file's bytes are stored untouched wherever TFDS's decoders, TensorFlow's and NumPy's, both read
them to the right uint8 `[H, W, 3]`. `Decoding` says how that is tried. What only one of them reads
right (palettes, alpha, CMYK, WebP, TIFF, an image to be rotated) is stored as an RGB PNG of its
pixels. `narrow` refuses what would lose bands or bits.

TFDS decodes with TensorFlow in `as_dataset` and with Pillow in `data_source`. `check_readable`
finds what one of them cannot decode, and `jpeg.find_doubt_by_both_decoders` what they decode
differently. With PNGs Pillow is the stricter one.

Large files take turns in decoding: threads bound the memory of small files, not of 100 megapixels.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import math
import struct

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.example import Decoding, Exif
from voc_seg_tfrecord.core.file import File, Kind, check_pixels
from voc_seg_tfrecord.core.processes import in_turn
from voc_seg_tfrecord.formats import (
    band_files,
    bands,
    jpeg,
    narrow,
    pillow,
    png,
    png_stream,
    png_values,
    stills,
)

# Orientations that EXIF numbers.
_MIRRORED_OR_UPSIDE_DOWN = (2, 3, 4)
_ROTATED_BY_90 = (5, 6, 7, 8)

_STORED_COMPONENTS = (1, 3)
"""Numbers of components of a JPEG that both decoders read to the same colors."""

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
) -> StoredImage | stills.Still:
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
) -> StoredImage | stills.Still:
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
    keeps_bytes = header.components in _STORED_COMPONENTS
    if decoding == "alike" and keeps_bytes:
        jpeg.find_doubt_by_both_decoders(file)
    elif decoding != "none":
        check_readable(file)
    if header.exif:
        upright = _rotate(file, exif, mask_size)
        if upright is not None:
            return upright
    if not keeps_bytes:
        return pillow.decode(file, ImageError)
    return StoredImage(file.data, header.height, header.width)


@dataclasses.dataclass(frozen=True)
class _OpenPng:
    """A PNG whose chunks were read, and whose pixels were inflated if that was to be tried.

    Attributes:
      file: the PNG.
      header: its header.
      chunks: its chunks.
      keeps_bytes: whether every decoder reads it to the right uint8 `[H, W, 3]`.
    """

    file: File
    header: png.PngHeader
    chunks: tuple[png.Chunk, ...]
    keeps_bytes: bool

    def with_chunks(self, *kinds: bytes) -> File:
        """Returns the PNG with what decoders need, and chunks of these kinds, alone."""
        return File(png.critical_chunks(self.chunks, *kinds), self.file.where)


def _open_png(file: File, decoding: Decoding) -> _OpenPng:
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        chunks = png.read_chunks(file, header)
        check_pixels(header.width, header.height, file, ImageError)
        keeps_bytes = _is_read_alike(header, chunks)
        if not keeps_bytes or decoding != "none":
            png_stream.check(file, header, chunks)
    return _OpenPng(file, header, chunks, keeps_bytes)


def _read_png(
    file: File,
    exif: Exif,
    mask_size: tuple[int, int] | None,
    decoding: Decoding,
    *,
    user_wants_rgb: bool,
) -> StoredImage | stills.Still:
    opened = _open_png(file, decoding)
    if opened.header.depth == 16 and not user_wants_rgb:
        exact = narrow.open_deep_png(opened.file, opened.header, opened.chunks)
        if exact is not file:  # it has 8 bits now
            opened = _open_png(exact, decoding)
    has_alpha = opened.header.color in (png.ColorType.GRAY_ALPHA, png.ColorType.RGBA)
    if has_alpha and not user_wants_rgb:
        bare = opened.with_chunks()
        narrow.check_transparency(bare, pillow.decode(bare, ImageError))
    if opened.keeps_bytes and decoding != "none":
        check_readable(opened.file)
    if any(chunk.kind == b"eXIf" for chunk in opened.chunks):
        upright = _rotate(opened.with_chunks(b"eXIf"), exif, mask_size)
        if upright is not None:
            return upright
    if opened.keeps_bytes:
        return StoredImage(opened.file.data, opened.header.height, opened.header.width)
    # Pillow may fail on texts and profiles, and the new PNG has none of them.
    return pillow.decode(opened.with_chunks(), ImageError)


def _is_read_alike(header: png.PngHeader, chunks: tuple[png.Chunk, ...]) -> bool:
    """Says whether every decoder reads a PNG to the right uint8 `[H, W, 3]`."""
    if header.depth != 8 or header.color not in (png.ColorType.RGB, png.ColorType.GRAY):
        return False
    return all(chunk.kind != b"tRNS" for chunk in chunks)


def _rotate(file: File, exif: Exif, mask_size: tuple[int, int] | None) -> stills.Still | None:
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
        remedy='choose one: "exif": "apply" if the masks were drawn on the image as viewers show '
        'it, "exif": "ignore" if on the pixels as stored (--exif)',
    )


def check_readable(file: File) -> None:
    """Checks at the least cost that both decoders decode a JPEG, or a PNG that was inflated.

    Raises:
      ImageError: if one of the decoders would fail, or reads another size, or if the compressed
        pixels of a JPEG are damaged in a way that shows.
    """
    if file.kind is Kind.JPEG:
        jpeg.check_readable(file)
        return
    with MaskError.raised_as(ImageError):
        header = png.read_header(file)
        png_values.check_by_pillow(file, header, png.read_chunks(file, header))


def describe_doubt(file: File) -> str:
    """Says what may be damage in an image that both checks accept; empty if nothing is."""
    if file.kind is not Kind.JPEG:
        return ""
    if jpeg.read_header(file).components in _STORED_COMPONENTS:
        return jpeg.find_doubt_by_both_decoders(file)
    return jpeg.find_doubt_at_an_eighth(file)


def decode(file: File, *, side: int | None = None) -> stills.Still:
    """Decodes an image as Pillow does.

    Of 16 bits, or an array, it is what people can look at; see `bands.stretch_for_display`.

    Args:
      file: the image.
      side: see `pillow.decode`.

    Raises:
      ImageError: if it cannot be decoded.
    """
    if file.kind is Kind.NUMPY or band_files.is_16_bit_png(file):
        stretched = bands.stretch_for_display(band_files.read(file))
        return stills.as_still(stretched, file.where, ImageError)
    return pillow.decode(file, ImageError, side=side)


def decode_once(file: File) -> stills.Still:
    """Decodes an image as `decode` does, but no JPEG that was decoded for a check already.

    Raises:
      ImageError: if it cannot be decoded.
    """
    if file.kind is Kind.JPEG:
        return stills.as_still(jpeg.decode_rgb_once(file), file.where, ImageError)
    return decode(file)


def decode_rgb(file: File, *, as_tensorflow: bool = False) -> np.ndarray:
    """Decodes a stored image, uint8 `[H, W, 3]`, as Pillow does.

    Args:
      file: the image.
      as_tensorflow: whether to round JPEGs as TensorFlow does; see `jpeg.decode_rgb`.

    Raises:
      ImageError: if it cannot be decoded, or is too large.
    """
    if file.kind is Kind.JPEG:
        return jpeg.decode_rgb(file, as_tensorflow=as_tensorflow)
    if file.kind is Kind.PNG and _count_pixels(file) > LARGE:
        with MaskError.raised_as(ImageError):
            header = png.read_header(file)
            if png_values.holds_colors(header):  # Pillow would take more than twice the memory
                return png_values.read_pixels(file, header, png.read_chunks(file, header)).array()
    return decode(file).rgb()


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
        plain = jpeg.without_exif(plain)
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
