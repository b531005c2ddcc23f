"""What Pillow and other decoders raise becomes an error of this package that names the file."""

from collections.abc import Iterator
import contextlib

from PIL import UnidentifiedImageError

from voc_seg_tfrecord.core.errors import VocSegError, raise_if_out_of_memory
from voc_seg_tfrecord.core.file import damaged_error

UNKNOWN_FORM = "image of an unknown form"
"""The kind of the error about a file that Pillow does not know how to read."""

_UNKNOWN_MODE = "unknown raw mode"  # in Pillow's error about some TIFFs that it cannot decode


@contextlib.contextmanager
def translated(where: str, error: type[VocSegError]) -> Iterator[None]:
    """Turns what is raised inside into an error of that class, unless it is one already."""
    try:
        yield
    except VocSegError:
        raise
    except Exception as reason:  # Pillow raises whatever the damage leads it to
        raise_if_out_of_memory(reason, where)
        text = str(reason) or type(reason).__name__
        has_unknown_header = isinstance(reason, UnidentifiedImageError)
        if has_unknown_header:  # the text is the address of an object
            text = "its header is damaged"
        found = f"it cannot be decoded: {text}"
        translated_error = damaged_error(error, where, found, "a complete image file")
        if has_unknown_header or _UNKNOWN_MODE in text:
            translated_error.kind = UNKNOWN_FORM
        raise translated_error from None
