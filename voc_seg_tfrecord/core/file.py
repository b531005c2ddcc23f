"""One file: its bytes and its name, its kind, and the limits that no image or mask may exceed.

Every error about a file needs its name. Its first bytes give its kind, never the ending of its
name. The limits are checked in the header, before any decoder asks for memory. `name_fault` says
why a name from a list or a record cannot be that of a file below a folder.

References:
  RFC 9649, WebP Image Format.
"""

from collections.abc import Callable
import dataclasses
import enum
import errno
import functools
import pathlib
from typing import Any, Self, TypeVar

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import (
    AnnotationError,
    ImageError,
    LayoutError,
    MaskError,
    RecordError,
    VocSegError,
    raise_if_out_of_memory,
)
from voc_seg_tfrecord.core.names import unprintable

Result = TypeVar("Result")
Error = TypeVar("Error", bound=VocSegError)


@dataclasses.dataclass(frozen=True)
class File:
    """A file that has been read. It keeps what was found in it, so that nothing is done twice.

    Attributes:
      data: its bytes.
      where: its path, or another name for it, for errors.
    """

    data: bytes = dataclasses.field(repr=False)
    where: str
    _results: dict[str, Any] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @functools.cached_property
    def kind(self) -> "Kind":
        """The kind of the file, by its first bytes."""
        return kind_of(self.data)

    @classmethod
    def read(cls, path: epath.PathLike, error: type[VocSegError] = LayoutError) -> Self:
        """Returns the file at a path.

        Args:
          path: the path, on disk or in a bucket.
          error: what to raise. It also gives the largest size; see `storage.MAX_FILE_BYTES`.

        Raises:
          VocSegError: of the class `error`, if there is no file, or it cannot be read, or is too
            large.
        """
        max_bytes = storage.MAX_FILE_BYTES.get(error, storage.MAX_IMAGE_BYTES)
        try:
            return cls(storage.read_bytes(path, max_bytes), str(path))
        except Exception as reason:  # clients of buckets raise errors of their own
            raise_if_out_of_memory(reason, path)
            raise error(
                path,
                found=f"this file cannot be read: {_describe_reason(reason, path)}",
                expected=f"a regular file of at most {max_bytes >> 20} MiB that can be read",
                remedy=_advise(reason, is_listed=error in _ERRORS_OF_LISTED_FILES),
                kind="unreadable file",
            ) from None


def once_per_file(function: Callable[[File], Result]) -> Callable[[File], Result]:
    """Makes a function of a file run once: the file keeps its result, but no error."""
    name = f"{function.__module__}.{function.__name__}"

    @functools.wraps(function)
    def call_once(file: File) -> Result:
        if name not in file._results:
            file._results[name] = function(file)
        result: Result = file._results[name]
        return result

    return call_once


_MAX_REASON_CHARACTERS = 200


_ERRORS_OF_LISTED_FILES = (ImageError, MaskError, AnnotationError)
"""What is raised about files that a list or a folder names; others are named by the user."""


def _advise(reason: Exception, *, is_listed: bool) -> str:
    """Returns what to do about a file that cannot be read."""
    if isinstance(reason, FileNotFoundError):
        return "put the file there, or remove it from the lists" if is_listed else "check the path"
    check = "check the file and its permissions"
    return f"{check}, or remove it from the lists" if is_listed else check


def _describe_reason(reason: Exception, path: epath.PathLike) -> str:
    """Returns why a file cannot be read, in one line."""
    if isinstance(reason, FileNotFoundError):
        if pathlib.Path(path).is_symlink():
            return "it is a link to a file that is not there"
        return "there is no such file"
    if isinstance(reason, IsADirectoryError):
        return "it is a folder"
    if isinstance(reason, OSError) and reason.errno == errno.ENXIO:
        return "it is a socket"
    text = str(reason)
    if isinstance(reason, OSError) and reason.strerror:
        text = reason.strerror
    first_line = text.strip().partition("\n")[0]
    return first_line[:_MAX_REASON_CHARACTERS] or type(reason).__name__


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
    """Returns in words what a file is; if its kind is unknown, with its first bytes."""
    if file.kind is Kind.UNKNOWN:
        return f"{file.kind.value} that starts with {file.data[:8]!r}"
    return str(file.kind.value)


MAX_PIXELS = 178_956_970
"""Files with more pixels count as decompression bombs; this is Pillow's own limit."""

MAX_SIDE = 1_000_000
"""Pixels of a row or a column; libpng, with which TensorFlow reads PNGs, refuses more."""

_MAX_WEBP_PIXELS = 1 << 25
"""Decoding a WebP takes 16 bytes per pixel, and long."""

_MAX_PIXELS_PER_BYTE = 1 << 14
"""Twice what the best compression makes of one bit per pixel."""

_ALWAYS_ALLOWED_PIXELS = 1 << 24
"""So many pixels take less than a second, whatever the size of the file."""


def check_pixels(width: int, height: int, file: File, error: type[VocSegError]) -> None:
    """Refuses decompression bombs at their header, and sizes that no PNG may have.

    Raises:
      VocSegError: of the class `error`, if there are more than `MAX_PIXELS` pixels, more than
        the bytes of the file can hold, or more than `MAX_SIDE` in a row or a column.
    """
    if max(width, height) > MAX_SIDE:
        raise error(
            file.where,
            found=f"{width} x {height} pixels in its header",
            expected=f"at most {MAX_SIDE} pixels in a row or a column, the limit of libpng",
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


def _max_pixels(file: File) -> int:
    """Returns how many pixels a file may have, by its kind and its number of bytes."""
    of_kind = min(MAX_PIXELS, _MAX_WEBP_PIXELS) if file.kind is Kind.WEBP else MAX_PIXELS
    of_bytes = _MAX_PIXELS_PER_BYTE * len(file.data)
    return min(of_kind, max(of_bytes, _ALWAYS_ALLOWED_PIXELS))


def damaged_image_error(where: str, found: str) -> ImageError:
    """Returns the error about an image file that breaks the rules of its format."""
    return damaged_error(ImageError, where, found, "a complete image file")


def damaged_error(error: type[Error], where: str, found: str, expected: str) -> Error:
    """Returns the error, of the class `error`, about a file that breaks the rules of its format."""
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
    """Refuses an animated or too large WebP by its header; a decoder finds what else is wrong.

    Raises:
      VocSegError: of the class `error`, if it is animated or too large.
    """
    if _is_animated_webp(file.data):
        raise animated_error(file, error, Kind.WEBP)
    width, height = _webp_size(file.data)
    check_pixels(width, height, file, error)


def _is_animated_webp(data: bytes) -> bool:
    is_extended = data[12:16] == b"VP8X"
    has_animation_flag = is_extended and len(data) > 20 and data[20] & 0x02 != 0
    first_chunks = data[12:64]
    return has_animation_flag or b"ANIM" in first_chunks or b"ANMF" in first_chunks


def _webp_size(data: bytes) -> tuple[int, int]:
    """Returns width and height of a WebP by its first chunk: VP8X, VP8L or VP8."""
    kind = data[12:16]
    content = data[20:30].ljust(10, b"\0")
    if kind == b"VP8X":
        width = int.from_bytes(content[4:7], "little") + 1
        height = int.from_bytes(content[7:10], "little") + 1
    elif kind == b"VP8L":
        bits = int.from_bytes(content[1:5], "little")  # 14 of width, then 14 of height
        width = (bits & 0x3FFF) + 1
        height = (bits >> 14 & 0x3FFF) + 1
    else:
        width = int.from_bytes(content[6:8], "little") & 0x3FFF
        height = int.from_bytes(content[8:10], "little") & 0x3FFF
    return width, height


MAX_NAME_BYTES = 240
"""Bytes of one part of a path, in UTF-8: file systems take 255, and an ending may be added."""

_MAX_PATH_BYTES = 1000
_MAX_SHOWN_CHARACTERS = 80


def path_fault(name: str, root: str) -> str:
    """Returns why a name is no path below a folder; empty if it is one.

    Args:
      name: the name, with `/` between folders.
      root: how the answer calls the folder, such as `tree`.
    """
    parts = name.split("/")
    # On Windows, C: and C:/x are absolute. C:x is below the current folder of the drive.
    has_drive_letter = name[1:2] == ":"
    is_drive = has_drive_letter and len(parts[0]) == 2
    if name.startswith("/") or is_drive or ".." in parts:
        return f"leaves the {root}"
    if has_drive_letter:
        return "begins as the letter of a drive does on Windows"
    if "" in parts or "." in parts:
        return "names no file"
    return ""


def name_fault(name: str) -> str:
    """Returns why no file below a folder can have a name; empty if one can."""
    fault = path_fault(name, "folder")
    if fault:
        return fault
    if "\\" in name:
        return "has a backslash"
    if unprintable(name):
        return "has a control character"
    name_bytes = len(name.encode())
    longest_part_bytes = max(len(part.encode()) for part in name.split("/"))
    if longest_part_bytes > MAX_NAME_BYTES or name_bytes > _MAX_PATH_BYTES:
        return f"has {name_bytes} bytes"
    return ""


def check_file_name(
    name: str, where: object, remedy: str = "build the dataset again with other names"
) -> None:
    """Checks that a name can be that of a file below a folder.

    Raises:
      RecordError: if it cannot.
    """
    fault = name_fault(name)
    if fault:
        raise RecordError(
            where,
            found=f"the name {show_file_name(name)}, which {fault}",
            expected="the path of a file inside the folder, such as a.jpg or folder/a.jpg",
            remedy=remedy,
        )


def show_file_name(name: str) -> str:
    """Returns a name for an error: in quotes, nothing in it hidden, no longer than a line."""
    quoted = ascii(name)
    if len(quoted) <= _MAX_SHOWN_CHARACTERS:
        return quoted
    return f"{quoted[:60]}...{quoted[-15:]}"
