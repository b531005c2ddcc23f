"""What no image or mask may be, whatever its kind: too large, or animated."""

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of

MAX_PIXELS = 178_956_970
"""Files with more pixels are taken for decompression bombs; this is Pillow's own limit."""

MAX_SIDE = 1_000_000
"""Pixels of a row or a column; libpng, by which TensorFlow reads PNGs, refuses more."""

_MAX_PIXELS_OF = {Kind.WEBP: 1 << 25}  # decoding a WebP takes 16 bytes per pixel, and long
_MOST_PER_BYTE = 1 << 14  # twice what the best compression makes of one bit per pixel
_ALWAYS = 1 << 24  # so many pixels take less than a second, whatever the size of the file


def check_pixels(width: int, height: int, file: File, error: type[VocSegError]) -> None:
    """Stops a decompression bomb at its header, and what could not be read as a PNG.

    Raises:
      VocSegError: of the class `error`, if there are more than `MAX_PIXELS` pixels, more than
        the bytes of the file can hold, or more than `MAX_SIDE` in a row or a column.
    """
    if max(width, height) > MAX_SIDE:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_SIDE} pixels in a row or a column, which is what libpng reads",
            remedy="see whether the file is damaged, or cut image and mask into tiles",
        )
    limit = min(MAX_PIXELS, _MAX_PIXELS_OF.get(kind_of(file.data), MAX_PIXELS))
    limit = min(limit, max(_ALWAYS, _MOST_PER_BYTE * len(file.data)))
    if width * height > limit:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {limit} pixels in it; more is taken for a decompression bomb",
            remedy="cut image and mask into tiles",
        )


def animated(file: File, error: type[VocSegError], kind: Kind) -> VocSegError:
    """Returns the error, of the class `error`, about a file with more than one frame."""
    found = "of several pages" if kind is Kind.TIFF else "that is animated"
    return error(
        file.where,
        found=f"{kind.value} {found}",
        expected="a still image",
        remedy="save one frame as a PNG",
        kind="animated file",
    )
