"""What Pillow has once for the whole process: memory blocks, libtiff's errors, truncated files."""

from collections.abc import Iterator
import contextlib
import ctypes
import os
import threading

from PIL import Image, ImageFile

# Memory of large images in blocks that the C library gives back to the system at once. Those of
# Pillow's own size, 16 MB, it keeps for the thread that had them.
_BLOCK_BYTES = 1 << 26
Image.core.set_block_size(_BLOCK_BYTES)  # type: ignore[attr-defined]

_libtiff_errors = threading.local()


def _note_libtiff_error(*_: object) -> None:
    """Notes an error of libtiff, which would print it without the file's name.

    Pillow ignores such errors: for some compressions it returns whatever was decoded.
    """
    _libtiff_errors.found = True


_LIBTIFF_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(
    _note_libtiff_error
)


def _listen_to_libtiff() -> None:
    """Makes libtiff report its errors to this module, where Pillow has it as a shared library."""
    try:
        # Symbols are looked for in what Pillow is linked with, too.
        library = ctypes.CDLL(Image.core.__file__)  # type: ignore[attr-defined]
        library.TIFFSetErrorHandler(_LIBTIFF_HANDLER)
    except (OSError, AttributeError):  # it is a part of Pillow, as on Windows
        return


_listen_to_libtiff()


class _TruncatedFiles:
    """Whether Pillow accepts truncated files, which it knows from a setting of the whole process.

    While they are refused, any number of threads decode at once. A thread that accepts them waits
    until these are done, and keeps all others waiting meanwhile.
    """

    def __init__(self) -> None:
        self.forget_threads()

    def forget_threads(self) -> None:
        """Starts anew, as in a forked process, which has no copies of the threads that decode."""
        self._changed = threading.Condition()
        self._refusing_threads = 0
        self._are_accepted = False

    @contextlib.contextmanager
    def refused(self) -> Iterator[None]:
        """Makes truncated files an error during the block."""
        with self._changed:
            self._changed.wait_for(lambda: not self._are_accepted)
            self._refusing_threads += 1
            ImageFile.LOAD_TRUNCATED_IMAGES = False  # `tfds.as_dataframe` sets it, for good
        try:
            yield
        finally:
            with self._changed:
                self._refusing_threads -= 1
                self._changed.notify_all()

    @contextlib.contextmanager
    def accepted(self) -> Iterator[None]:
        """Lets truncated files be decoded as far as they go during the block."""
        with self._changed:
            self._changed.wait_for(self._is_unused)
            self._are_accepted = True
            ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            yield
        finally:
            with self._changed:
                ImageFile.LOAD_TRUNCATED_IMAGES = False
                self._are_accepted = False
                self._changed.notify_all()

    def _is_unused(self) -> bool:
        return not self._are_accepted and not self._refusing_threads


_truncated_files = _TruncatedFiles()
if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_truncated_files.forget_threads)


def load_pixels(image: Image.Image, *, accepts_damage: bool) -> None:
    """Lets Pillow decode an image of which the headers are read.

    Args:
      image: the image.
      accepts_damage: whether a truncated file is decoded as far as it goes. This waits for all
        other threads that decode, and they wait for it.

    Raises:
      OSError: if libtiff finds damage, which Pillow ignores; or else what Pillow raises.
    """
    _libtiff_errors.found = False
    if accepts_damage:
        with _truncated_files.accepted():
            image.load()
        return
    with _truncated_files.refused():
        image.load()
    if _libtiff_errors.found:
        raise OSError("libtiff finds that its pixels are damaged")
