"""A file's bytes together with its name, which every error about them needs."""

import dataclasses
import errno
import os
import stat
from typing import Self

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, VocSegError


@dataclasses.dataclass(frozen=True)
class File:
    """A file that has been read, but not looked into.

    Attributes:
      data: its bytes.
      where: its path, or another name for it, for errors.
    """

    data: bytes = dataclasses.field(repr=False)
    where: str

    @classmethod
    def read(cls, path: epath.Path, error: type[VocSegError] = LayoutError) -> Self:
        """Returns the file at a path.

        Args:
          path: the path, on disk or in a bucket.
          error: what to raise.

        Raises:
          VocSegError: of the class `error`, if there is no file, or it cannot be read.
        """
        try:
            return cls(_read(path), str(path))
        except Exception as reason:  # clients of buckets raise errors of their own
            raise error(
                path,
                found=f"this file cannot be read: {_words(reason)}",
                expected="a regular file that can be read",
                remedy="put the file there and allow reading it, or remove it from the lists",
                kind="unreadable file",
            ) from None


def _read(path: epath.Path) -> bytes:
    if "://" in os.fspath(path):
        return path.read_bytes()
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is a named pipe or a device")
        return file.read()


def _open_at_once(path: str, flags: int) -> int:
    """Opens a file, and does not wait for a writer if it is a named pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _words(reason: Exception) -> str:
    if isinstance(reason, FileNotFoundError):
        return "there is none, or it is a link to a file that is not there"
    if isinstance(reason, IsADirectoryError):
        return "it is a folder"
    if isinstance(reason, OSError) and reason.errno == errno.ENXIO:
        return "it is a socket"
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return text.strip().partition("\n")[0][:200] or type(reason).__name__
