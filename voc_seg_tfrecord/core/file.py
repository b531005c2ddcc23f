"""One file: its bytes and its name, its kind, and the limits that no image or mask may exceed.

Every error about a file needs its name. Its kind is judged by its first bytes and never by the
ending of its name. The limits are checked at the header, before any decoder asks for memory.

References:
  RFC 9649, WebP Image Format.
"""

from collections.abc import Callable
import dataclasses
import enum
import errno
import functools
import struct
from typing import Any, Self, TypeVar

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError

Found = TypeVar("Found")


@dataclasses.dataclass(frozen=True)
class File:
    """A file that has been read. It keeps what was found in it, so that nobody looks twice.

    Attributes:
      data: its bytes.
      where: its path, or another name for it, for errors.
    """

    data: bytes = dataclasses.field(repr=False)
    where: str
    _found: dict[str, Any] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @functools.cached_property
    def kind(self) -> "Kind":
        """The kind of file that its first bytes make it."""
        return kind_of(self.data)

    @classmethod
    def read(cls, path: epath.PathLike, error: type[VocSegError] = LayoutError) -> Self:
        """Returns the file at a path.

        Args:
          path: the path, on disk or in a bucket.
          error: what to raise. It says what kind of file it is, and so how large it may be; see
            `storage.LIMITS`.

        Raises:
          VocSegError: of the class `error`, if there is no file, or it cannot be read, or is too
            large.
        """
        most = storage.LIMITS.get(error, storage.IMAGE_BYTES)
        try:
            return cls(storage.read_bytes(path, most), str(path))
        except Exception as reason:  # clients of buckets raise errors of their own
            raise error(
                path,
                found=f"this file cannot be read: {_words(reason)}",
                expected=f"a regular file of at most {most >> 20} MiB that can be read",
                remedy="put the file there and allow reading it, or remove it from the lists",
                kind="unreadable file",
            ) from None


def once_per_file(find: Callable[[File], Found]) -> Callable[[File], Found]:
    """Makes a function of a file run once: the file keeps what it returned, but no error."""
    name = f"{find.__module__}.{find.__name__}"

    @functools.wraps(find)
    def found(file: File) -> Found:
        if name not in file._found:
            file._found[name] = find(file)
        result: Found = file._found[name]
        return result

    return found


def _words(reason: Exception) -> str:
    if isinstance(reason, FileNotFoundError):
        return "there is none, or it is a link to a file that is not there"
    if isinstance(reason, IsADirectoryError):
        return "it is a folder"
    if isinstance(reason, OSError) and reason.errno == errno.ENXIO:
        return "it is a socket"
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return text.strip().partition("\n")[0][:200] or type(reason).__name__


class Kind(enum.Enum):
    """A kind of file; the value is its name for people."""

    PNG = "a PNG"
    JPEG = "a JPEG"
    GIF = "a GIF"
    BMP = "a BMP"
    TIFF = "a TIFF"
    WEBP = "a WebP"
    NUMPY = "a NumPy array"
    GIT_LFS = "a git-lfs pointer (run `git lfs pull`)"
    PNG_AS_TEXT = (
        "a PNG that was copied as if it were text, which changed its line ends (copy all files "
        "again, in binary mode or without git's autocrlf: the JPEGs are damaged in the same way)"
    )
    MARKUP = "an HTML or XML page"
    EMPTY = "an empty file of 0 bytes"
    UNKNOWN = "a file of an unknown kind"


IMAGE_KINDS = frozenset({Kind.PNG, Kind.JPEG, Kind.GIF, Kind.BMP, Kind.TIFF, Kind.WEBP})
"""The kinds that hold an image."""

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

_MAGIC = (
    (PNG_SIGNATURE, Kind.PNG),
    (b"\x89PNG\n", Kind.PNG_AS_TEXT),  # CR LF became LF
    (b"\x89PNG\r\r\n", Kind.PNG_AS_TEXT),  # LF became CR LF
    (b"\x89PNG\r\n\x1a\r", Kind.PNG_AS_TEXT),
    (b"\x89PNG\r\x1a", Kind.PNG_AS_TEXT),  # LF was lost
    (b"\xff\xd8", Kind.JPEG),
    (b"GIF8", Kind.GIF),
    (b"BM", Kind.BMP),
    (b"II*\0", Kind.TIFF),
    (b"MM\0*", Kind.TIFF),
    (b"II+\0", Kind.TIFF),  # BigTIFF
    (b"MM\0+", Kind.TIFF),
    (b"\x93NUMPY", Kind.NUMPY),
    (b"version https://git-lfs", Kind.GIT_LFS),
    (b"<", Kind.MARKUP),
)


def kind_of(data: bytes) -> Kind:
    """Returns the kind of file that bytes are; the first 24 are enough."""
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Kind.WEBP
    return Kind.UNKNOWN if data else Kind.EMPTY


def describe_kind(file: File) -> str:
    """Says in words what a file is; of an unknown kind it shows the first bytes."""
    if file.kind is Kind.UNKNOWN:
        return f"{file.kind.value} that starts with {file.data[:8]!r}"
    return str(file.kind.value)


MAX_PIXELS = 178_956_970
"""Files with more pixels are taken for decompression bombs; this is Pillow's own limit."""

MAX_SIDE = 1_000_000
"""Pixels of a row or a column; libpng, by which TensorFlow reads PNGs, refuses more."""

_MAX_PIXELS_OF = {Kind.WEBP: 1 << 25}  # decoding a WebP takes 16 bytes per pixel, and long
_MOST_PER_BYTE = 1 << 14  # twice what the best compression makes of one bit per pixel
_ALWAYS = 1 << 24  # so many pixels take less than a second, whatever the size of the file


def check_pixels(width: int, height: int, file: File, error: type[VocSegError]) -> None:
    """Refuses decompression bombs at their header, and sizes that no PNG may have.

    A size of a file that passed is not checked again.

    Raises:
      VocSegError: of the class `error`, if there are more than `MAX_PIXELS` pixels, more than
        the bytes of the file can hold, or more than `MAX_SIDE` in a row or a column.
    """
    if file._found.get("size") == (width, height):
        return
    if max(width, height) > MAX_SIDE:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_SIDE} pixels in a row or a column, which is what libpng reads",
            remedy="export the file again if it is damaged, or else cut image and mask into tiles",
        )
    limit = _max_pixels(file)
    if width * height > limit:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {limit} pixels in it; more may be a decompression bomb",
            remedy="cut image and mask into tiles",
        )
    file._found["size"] = (width, height)


def _max_pixels(file: File) -> int:
    most_in_bytes = max(_ALWAYS, _MOST_PER_BYTE * len(file.data))
    return min(MAX_PIXELS, most_in_bytes, _MAX_PIXELS_OF.get(file.kind, MAX_PIXELS))


def damaged_error(error: type[VocSegError], where: str, found: str, expected: str) -> VocSegError:
    """Returns the error, of the class `error`, about a file that breaks its format's rules."""
    return error(
        where,
        found=found,
        expected=expected,
        remedy="copy or export the file again",
        kind="damaged file",
    )


def animated_error(file: File, error: type[VocSegError], kind: Kind) -> VocSegError:
    """Returns the error, of the class `error`, about a file with more than one frame."""
    found = "of several pages" if kind is Kind.TIFF else "that is animated"
    return error(
        file.where,
        found=f"{kind.value} {found}",
        expected="a still image",
        remedy="save one frame as a PNG",
        kind="animated file",
    )


def check_webp(file: File, error: type[VocSegError]) -> None:
    """Stops an animated or too large WebP at its header; what else is wrong a decoder finds.

    Raises:
      VocSegError: of the class `error`, if it is animated or too large.
    """
    data = file.data
    kind, content = data[12:16], data[20:30].ljust(10, b"\0")
    flagged = kind == b"VP8X" and content[0] & 0x02
    if flagged or b"ANIM" in data[12:64] or b"ANMF" in data[12:64]:
        raise animated_error(file, error, Kind.WEBP)
    if kind == b"VP8X":
        width = int.from_bytes(content[4:7], "little") + 1
        height = int.from_bytes(content[7:10], "little") + 1
    elif kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 1)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (side & 0x3FFF for side in struct.unpack_from("<HH", content, 6))
    check_pixels(width, height, file, error)
