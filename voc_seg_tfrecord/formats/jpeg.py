"""JPEG files as markers: size and completeness, and metadata by which readers rotate an image.

TensorFlow ignores an EXIF orientation, and so do VOC's own readers: images are stored in the way
that their masks were drawn. Readers such as Hugging Face's `datasets` rotate such an image, so that
its mask no longer fits.

References:
  ITU-T T.81 (JPEG), annex B.
"""

from collections.abc import Iterator
import dataclasses
import struct

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File, Kind, damaged_error, describe_kind, once_per_file
from voc_seg_tfrecord.formats import pillow, png

_EOI = b"\xff\xd9"
_SOS = 0xDA
# Start-of-frame markers: C0 to CF without DHT (C4), JPG (C8) and DAC (CC).
_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_APP1 = 0xE1
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length


@dataclasses.dataclass(frozen=True)
class Header:
    """What the headers say: sizes in pixels, components per pixel, bits per sample, EXIF or not."""

    width: int
    height: int
    components: int
    precision: int
    exif: bool = False


@once_per_file
def read_header(file: File) -> Header:
    """Reads a JPEG's frame header and checks that its end-of-image marker is there.

    Raises:
      ImageError: if this is not a JPEG, has no frame or scan, or is truncated.
    """
    data = file.data
    if file.kind is not Kind.JPEG:
        raise _bad(file, f"not a JPEG, but {describe_kind(file)}")
    frame: tuple[int, int, int, int] | None = None
    exif, end = False, 2
    for marker, position, end in _segments(data):  # noqa: B007 - where it ends is looked at
        if marker in _SOF and position + 10 <= len(data):
            precision, height, width, components = struct.unpack_from(">BHHB", data, position + 4)
            frame = (width, height, components, precision)
        elif marker == _APP1:
            exif = exif or data.startswith(b"Exif\0", position + 4)
    if end + 4 > len(data):
        raise _bad(file, f"JPEG truncated after {len(data)} bytes, before any pixel")
    if data[end] != 0xFF:
        raise _bad(file, f"JPEG damaged at byte {end}: no marker")
    if frame is None or not frame[0] or not frame[1]:
        raise _bad(file, "JPEG has no size in its header")
    # Inside a scan 0xFF is always escaped, so this can only be the marker. Searching in
    # the scan alone passes over the thumbnail that cameras put in front; from the end it is
    # found at once.
    if data.rfind(_EOI, end + 2 + struct.unpack_from(">H", data, end + 2)[0]) < 0:
        raise _bad(file, f"JPEG truncated: no end-of-image marker in {len(data)} bytes")
    return Header(*frame, exif)


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yields marker, first byte and end of each segment before the first scan, or before damage."""
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if marker == _SOS:
            return
        end = position + 1  # a fill byte
        if marker in _STANDALONE:
            end = position + 2
        elif marker != 0xFF:
            end = position + 2 + struct.unpack_from(">H", data, position + 2)[0]
        yield marker, position, end
        position = end


def _bad(file: File, found: str) -> VocSegError:
    return damaged_error(ImageError, file.where, found, "a complete JPEG")


def unturned(file: File) -> bytes:
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
        segments = [(0, 0, 2), *_segments(plain)]
        kept = [plain[start:end] for marker, start, end in segments if marker != _APP1]
        plain = b"".join([*kept, plain[segments[-1][2] :]])
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
