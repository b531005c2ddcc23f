"""Large files take turns: threads bound the memory of small ones, not of 100 megapixels."""

from collections.abc import Iterator
import contextlib
import threading

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats import jpeg, png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of

LARGE = 1 << 24
"""Pixels above which one file at a time, or one image with its mask, is decoded."""

_turn = threading.Lock()


@contextlib.contextmanager
def taken(*files: File | None) -> Iterator[None]:
    """Waits until no other large file is being decoded, if one of these is large."""
    large = any(file is not None and _pixels(file) > LARGE for file in files)
    with _turn if large else contextlib.nullcontext():
        yield


def _pixels(file: File) -> int:
    """Returns the pixels that a header claims; 0 if it cannot be read, which is told later."""
    read = {Kind.PNG: png.read_header, Kind.JPEG: jpeg.read_header}.get(kind_of(file.data))
    try:
        header = read(file) if read else None
    except VocSegError:
        return 0
    return header.width * header.height if header else 0
