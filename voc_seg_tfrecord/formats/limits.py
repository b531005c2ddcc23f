"""What no image or mask may be, whatever its kind: too large, or animated."""

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind

MAX_PIXELS = 178_956_970
"""Files with more pixels are taken for decompression bombs; this is Pillow's own limit."""


def check_pixels(width: int, height: int, file: File, error: type[VocSegError]) -> None:
    """Stops a decompression bomb at its header.

    Raises:
      VocSegError: of the class `error`, if there are more than `MAX_PIXELS` pixels.
    """
    if width * height > MAX_PIXELS:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_PIXELS} pixels; more is taken for a decompression bomb",
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
