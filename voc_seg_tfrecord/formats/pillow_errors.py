"""Whatever Pillow raises, as an error of this package that names the file."""

from collections.abc import Iterator
import contextlib

from PIL import UnidentifiedImageError

from voc_seg_tfrecord.errors import VocSegError


@contextlib.contextmanager
def translated(where: str, error: type[VocSegError]) -> Iterator[None]:
    """Turns what is raised inside into an error of that class, unless it is one already."""
    try:
        yield
    except VocSegError:
        raise
    except Exception as reason:  # Pillow raises whatever the damage leads it to
        raise error(
            where,
            found=f"it cannot be decoded: {_said(reason)}",
            expected="a complete image file",
            remedy="copy or export the file again",
            kind="damaged file",
        ) from None


def _said(reason: Exception) -> str:
    """Returns what an exception says, without the address of an object in memory."""
    if isinstance(reason, UnidentifiedImageError):
        return "its header is damaged"
    return str(reason) or type(reason).__name__
