"""Image files: what can be stored as it is, what has to become a PNG first, what is none.

A file's bytes are stored untouched wherever TFDS's decoders, TensorFlow's and NumPy's, both
read them to the right uint8 `[H, W, 3]`. What only one of them reads right (palettes, alpha,
16 bits, CMYK, WebP, TIFF, a picture to be turned) is stored as an RGB PNG of its pixels.
"""

import dataclasses
import io
import struct
from typing import Literal

from PIL import Image, ImageOps

from voc_seg_tfrecord.errors import ImageError, MaskError
from voc_seg_tfrecord.formats import jpeg, png

Exif = Literal["auto", "apply", "ignore"]

MAX_PIXELS = 178_956_970
"""Pixels of an image or mask that is taken for a decompression bomb; Pillow's own limit."""

_ORIENTATION = 0x0112
_MIRRORED_OR_UPSIDE_DOWN = (2, 3, 4)
_LYING = (5, 6, 7, 8)


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
    data: bytes, where: object, *, exif: Exif = "ignore", mask_size: tuple[int, int] | None = None
) -> StoredImage:
    """Reads an image of any kind that people have under `JPEGImages`.

    Args:
      data: the file's bytes; its name's ending counts for nothing.
      where: the file, for errors.
      exif: what an EXIF orientation means: `ignore` it as VOC's readers do, `apply` it as
        labelling tools do, or `auto`: let the mask's size tell.
      mask_size: height and width of the mask, for `auto`.

    Returns:
      The image, as the file's own bytes wherever that is right.

    Raises:
      ImageError: if this is no whole image, is too large, moves, or is mirrored or upside
        down under `auto`, so that nothing tells which way its mask was drawn.
    """
    if data.startswith(b"\xff\xd8"):
        return _read_jpeg(data, where, exif, mask_size)
    if data.startswith(png.SIGNATURE):
        return _read_png(data, where)
    if data.startswith(b"BM") and data[28:30] == b"\x18\0" and len(data) > 54:
        width, height = struct.unpack_from("<ii", data, 18)
        if height > 0:
            _check_pixels(width, height, where)
            return StoredImage(data, height, width)
    if data.startswith((b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*")):
        return _as_png(_open(data, where))
    raise ImageError(
        where,
        found=png.looks_like(data),
        expected="a JPEG, PNG, BMP, WebP, TIFF or GIF image",
        remedy="put the image itself there",
    )


def _read_jpeg(
    data: bytes, where: object, exif: Exif, mask_size: tuple[int, int] | None
) -> StoredImage:
    header = jpeg.read_header(data, where)
    if header.precision != 8:
        raise ImageError(
            where,
            found=f"JPEG of {header.precision} bits a sample",
            expected="8 bits a sample",
            remedy="save the image as an 8-bit JPEG",
        )
    _check_pixels(header.width, header.height, where)
    if exif != "ignore" and header.exif:
        image = _open(data, where)
        if _has_to_turn(image, where, exif, mask_size):
            return _as_png(ImageOps.exif_transpose(image))
    if header.components not in (1, 3):
        return _as_png(_open(data, where))
    return StoredImage(data, header.height, header.width)


def _read_png(data: bytes, where: object) -> StoredImage:
    try:
        header = png.read_header(data, where)
        kinds = png.chunk_kinds(data, where)
    except MaskError as error:
        raise ImageError(
            where, found=error.found, expected="a whole PNG", remedy=error.remedy
        ) from None
    _check_pixels(header.width, header.height, where)
    plain = header.color in (png.ColorType.RGB, png.ColorType.GREY) and header.depth == 8
    if plain and b"tRNS" not in kinds:
        return StoredImage(data, header.height, header.width)
    return _as_png(_open(data, where))


def _has_to_turn(
    image: Image.Image, where: object, exif: Exif, mask_size: tuple[int, int] | None
) -> bool:
    orientation = image.getexif().get(_ORIENTATION, 1)
    if orientation not in (*_MIRRORED_OR_UPSIDE_DOWN, *_LYING):
        return False
    if exif == "apply":
        return True
    width, height = image.size
    if orientation in _LYING and width != height:
        return mask_size == (width, height)  # the mask's height is the image's width
    raise ImageError(
        where,
        found=f"EXIF orientation {orientation}, with the same size turned or not",
        expected="an image whose mask shows which way it was drawn",
        remedy='say it: "exif": "apply" if the masks were drawn on the picture as viewers '
        'show it, "exif": "ignore" if on the pixels as stored (--exif)',
    )


def _open(data: bytes, where: object) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data))
        _check_pixels(*image.size, where)
        image.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        if isinstance(error, ImageError):
            raise
        raise ImageError(
            where,
            found=f"an image that cannot be decoded: {error}",
            expected="a whole image",
            remedy="copy or export the file again",
            kind="damaged file",
        ) from None
    if getattr(image, "n_frames", 1) > 1:
        raise ImageError(
            where,
            found=f"{image.n_frames} frames",
            expected="a still image",
            remedy="save one frame as JPEG or PNG",
        )
    return image


def _as_png(image: Image.Image) -> StoredImage:
    if image.mode.startswith("I"):  # 16-bit grey: its high byte, as TensorFlow takes it
        image = image.point(lambda value: value / 256).convert("L")
    buffer = io.BytesIO()
    # Alpha is dropped, not blended, as TensorFlow does it.
    image.convert("RGBA").convert("RGB").save(buffer, "PNG")
    return StoredImage(buffer.getvalue(), image.height, image.width)


def _check_pixels(width: int, height: int, where: object) -> None:
    if width * height > MAX_PIXELS:
        raise ImageError(
            where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_PIXELS} pixels; more is taken for a decompression bomb",
            remedy="cut the image into tiles",
        )
