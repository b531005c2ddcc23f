"""Removes from image files the metadata by which some readers turn the pixels, and others do not.

TensorFlow ignores an EXIF orientation, and so do VOC's own readers: images are stored in the way
that their masks were drawn. Readers such as Hugging Face's `datasets` rotate such an image, so
that its mask no longer fits.
"""

from collections.abc import Iterator
import struct

from voc_seg_tfrecord.errors import ImageError
from voc_seg_tfrecord.formats import pillow, png, png_chunks
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of

_APP1 = 0xE1  # EXIF and XMP
_SOS = 0xDA
_STANDALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_TEXTS = frozenset({b"eXIf", b"tEXt", b"zTXt", b"iTXt"})


def unturned(file: File) -> bytes:
    """Returns an image that readers show as it is stored.

    Args:
      file: a JPEG, PNG or BMP.

    Returns:
      The file's own bytes, unless Pillow would rotate or mirror the image, or could not read its
      metadata. Then the same without its EXIF, XMP and texts; the compressed pixels are untouched.

    Raises:
      ImageError: if the image would be turned even so.
    """
    if not pillow.is_turned(file):
        return file.data
    remove = {Kind.JPEG: _plain_jpeg, Kind.PNG: _plain_png}.get(kind_of(file.data))
    plain = remove(file) if remove else file.data
    if pillow.is_turned(File(plain, file.where)):
        raise ImageError(
            file.where,
            found="an orientation that readers apply, and that cannot be removed",
            expected="an image without an orientation",
            remedy="build the dataset again with the image saved anew",
        )
    return plain


def _plain_jpeg(file: File) -> bytes:
    return file.data[:2] + b"".join(_segments(file.data))


def _segments(data: bytes) -> Iterator[bytes]:
    """Yields the segments of a JPEG but for EXIF and XMP, and all from the first scan on."""
    position = 2
    while position + 4 <= len(data):
        marker = data[position + 1]
        if marker == _SOS or data[position] != 0xFF:
            break
        end = position + 1  # a fill byte
        if marker in _STANDALONE:
            end = position + 2
        elif marker != 0xFF:
            end = position + 2 + struct.unpack_from(">H", data, position + 2)[0]
        if marker != _APP1:
            yield data[position:end]
        position = end
    yield data[position:]


def _plain_png(file: File) -> bytes:
    chunks = png_chunks.read(file, png.read_header(file))
    return png_chunks.joined(chunk for chunk in chunks if chunk.kind not in _TEXTS)
