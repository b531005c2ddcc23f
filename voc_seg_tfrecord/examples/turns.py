"""Large examples take turns: threads bound the memory of small ones, not of 100 megapixels."""

from collections.abc import Iterator
import contextlib
import threading

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.formats import jpeg, png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of

LARGE = 1 << 24
"""Pixels of which one example at a time is decoded."""

_turn = threading.Lock()


@contextlib.contextmanager
def taken(raw: RawExample) -> Iterator[None]:
    """Waits until no other large example is being decoded, if this one is large."""
    files = [file for file in (raw.image, raw.mask) if file is not None]
    with _turn if any(_pixels(file) > LARGE for file in files) else contextlib.nullcontext():
        yield


def _pixels(file: File) -> int:
    """Returns the pixels that a header claims; 0 if it cannot be read, which is told later."""
    read = {Kind.PNG: png.read_header, Kind.JPEG: jpeg.read_header}.get(kind_of(file.data))
    try:
        header = read(file) if read else None
    except VocSegError:
        return 0
    return header.width * header.height if header else 0
