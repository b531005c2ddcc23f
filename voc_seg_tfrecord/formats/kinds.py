"""What kind of file some bytes are, judged by the first of them and never by a name's ending."""

import enum


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


IMAGES = frozenset({Kind.PNG, Kind.JPEG, Kind.GIF, Kind.BMP, Kind.TIFF, Kind.WEBP})
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
    (b"\x93NUMPY", Kind.NUMPY),
    (b"version https://git-lfs", Kind.GIT_LFS),
    (b"<", Kind.MARKUP),
)


def kind_of(data: bytes) -> Kind:
    """Returns the kind of file that some bytes are.

    Args:
      data: the file's bytes, or at least the first 24 of them.
    """
    for magic, kind in _MAGIC:
        if data.startswith(magic):
            return kind
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Kind.WEBP
    return Kind.UNKNOWN if data else Kind.EMPTY


def describe(data: bytes) -> str:
    """Says in words what some bytes are; of an unknown kind it shows the first ones."""
    kind = kind_of(data)
    return f"{kind.value} that starts with {data[:8]!r}" if kind is Kind.UNKNOWN else kind.value
