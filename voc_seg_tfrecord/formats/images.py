"""Image files: what can be stored as it is, what has to become a PNG first, what is refused.

A file's bytes are stored untouched wherever TFDS's decoders, TensorFlow's and NumPy's, both
read them to the right uint8 `[H, W, 3]`. `Decoding` says how that is tried. What only
one of them reads right (palettes, alpha, 16 bits, CMYK, WebP, TIFF, an image to be rotated) is
stored as an RGB PNG of its pixels.
"""

import dataclasses
import struct
from typing import Literal

from voc_seg_tfrecord.errors import ImageError, MaskError
from voc_seg_tfrecord.formats import decoders, jpeg, pillow, png, png_chunks, png_pixels
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.formats.limits import check_pixels

Exif = Literal["auto", "apply", "ignore"]
Decoding = Literal["none", "readable", "alike"]
"""What is tried with bytes that are kept: nothing; whether both decoders can decode them; or also
whether they decode them alike. See `decoders`."""

# Orientations that EXIF numbers.
_MIRRORED_OR_UPSIDE_DOWN = (2, 3, 4)
_ROTATED_BY_90 = (5, 6, 7, 8)


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


def read_image(
    file: File,
    *,
    exif: Exif = "ignore",
    mask_size: tuple[int, int] | None = None,
    decoding: Decoding = "alike",
) -> StoredImage:
    """Reads an image of any kind that people have under `JPEGImages`.

    Args:
      file: the file; its name's ending counts for nothing.
      exif: what an EXIF orientation means: `ignore` it as VOC's readers do, `apply` it as
        labelling tools do, or `auto`: decide by the mask's size.
      mask_size: height and width of the mask, for `auto`.
      decoding: what is tried with bytes that are kept. The result is the same.

    Returns:
      The image, as the file's own bytes wherever that is right.

    Raises:
      ImageError: if this is not a complete image, is too large, is animated, or is mirrored
        or upside down under `auto`, so that nothing tells which way its mask was drawn; or if
        decoders fail on it, or read it differently.
    """
    found = open_image(file, exif=exif, mask_size=mask_size, decoding=decoding)
    return as_stored(found)


def as_stored(image: StoredImage | pillow.Still) -> StoredImage:
    """Returns an image as it is stored: what is not yet, as an RGB PNG."""
    if isinstance(image, StoredImage):
        return image
    return StoredImage(image.rgb_png(), image.height, image.width)


def open_image(
    file: File,
    *,
    exif: Exif = "ignore",
    mask_size: tuple[int, int] | None = None,
    decoding: Decoding = "alike",
) -> StoredImage | pillow.Still:
    """Does what `read_image` does, and encodes nothing: for those who want the pixels.

    Returns:
      The image as it is stored, or the decoded image if its bytes are not to be stored.
    """
    kind = kind_of(file.data)
    if kind is Kind.JPEG:
        return _read_jpeg(file, exif, mask_size, decoding)
    if kind is Kind.PNG:
        return _read_png(file, decoding)
    size = _size_of_plain_bmp(file.data) if kind is Kind.BMP else None
    if size is None:
        return pillow.decode(file, ImageError)
    check_pixels(*size, file, ImageError)
    return StoredImage(file.data, size[1], size[0])


def _size_of_plain_bmp(data: bytes) -> tuple[int, int] | None:
    """Returns width and height of a BMP that decoders read alike, None of any other.

    It has 24 bits per pixel, no compression, rows from the bottom up right behind the shortest
    header, and not one byte less or more.
    """
    if len(data) < 54:
        return None
    offset, header, width, height, planes, bits, compression = struct.unpack_from(
        "<IIiiHHI", data, 10
    )
    plain = (offset, header, planes, bits, compression) == (54, 40, 1, 24, 0)
    if not plain or width <= 0 or height <= 0:
        return None
    return (width, height) if len(data) == 54 + height * (-(-3 * width // 4) * 4) else None


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
    check_pixels(header.width, header.height, file, ImageError)
    if exif != "ignore" and header.exif:
        still = pillow.decode(file, ImageError)
        if _must_rotate(still, file, exif, mask_size):
            return still.upright()
    if header.components not in (1, 3):
        return pillow.decode(file, ImageError)
    return _kept(file, header, decoding)


def _kept(file: File, header: jpeg.Header | png.Header, decoding: Decoding) -> StoredImage:
    """Returns a file's own bytes, if decoders can read them as far as that is tried."""
    check = {"readable": decoders.check_readable, "alike": decoders.check_alike}.get(decoding)
    if check is not None:
        check(file, header.height, header.width)
    return StoredImage(file.data, header.height, header.width)


def _read_png(file: File, decoding: Decoding) -> StoredImage | pillow.Still:
    try:
        header = png.read_header(file)
        chunks = png_chunks.read(file, header)
        check_pixels(header.width, header.height, file, ImageError)
        kept = header.color in (png.ColorType.RGB, png.ColorType.GREY) and header.depth == 8
        kept = kept and all(chunk.kind != b"tRNS" for chunk in chunks)
        if kept and decoding == "none":
            return StoredImage(file.data, header.height, header.width)
        png_pixels.inflate(file, header, chunks)
    except MaskError as error:
        raise ImageError(
            file.where,
            found=error.found,
            expected=error.expected,
            remedy=error.remedy,
            kind=error.kind,
        ) from None
    if kept:
        return _kept(file, header, decoding)
    # Texts and profiles, at which Pillow may stop, go anyway.
    return pillow.decode(File(png_chunks.critical(chunks), file.where), ImageError)


def _must_rotate(
    still: pillow.Still, file: File, exif: Exif, mask_size: tuple[int, int] | None
) -> bool:
    orientation = still.orientation()
    if orientation not in (*_MIRRORED_OR_UPSIDE_DOWN, *_ROTATED_BY_90):
        return False
    if exif == "apply":
        return True
    if orientation in _ROTATED_BY_90 and still.width != still.height:
        return mask_size == (still.width, still.height)  # the mask is rotated already
    raise ImageError(
        file.where,
        found=f"EXIF orientation {orientation}, which gives the same size rotated or not",
        expected="an image whose mask shows which way it was drawn",
        remedy='say it: "exif": "apply" if the masks were drawn on the image as viewers '
        'show it, "exif": "ignore" if on the pixels as stored (--exif)',
    )
