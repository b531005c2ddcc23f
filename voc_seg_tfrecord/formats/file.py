"""A file's bytes together with its name, which every error about them needs."""

import dataclasses
import errno
import os
import stat
from typing import Self

from etils import epath

from voc_seg_tfrecord.errors import LayoutError, VocSegError
from voc_seg_tfrecord.storage import is_bucket


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
    def read(cls, path: epath.PathLike, error: type[VocSegError] = LayoutError) -> Self:
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


def _read(path: epath.PathLike) -> bytes:
    if is_bucket(path):
        return epath.Path(path).read_bytes()
    # With few calls to the system: at each one a thread hands Python's lock to another.
    opened = os.open(path, _HOW)
    try:
        status = os.fstat(opened)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is a named pipe or a device")
        return _all_of(opened, status.st_size)
    finally:
        os.close(opened)


def _all_of(opened: int, size: int) -> bytes:
    """Reads a file of so many bytes; one call may return fewer, as those of above 2 GiB do."""
    data = os.read(opened, size)
    while len(data) < size and (more := os.read(opened, size - len(data))):
        data += more
    return data


_HOW = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_HOW |= getattr(os, "O_NONBLOCK", 0)  # or opening a named pipe would wait for somebody who writes


def _words(reason: Exception) -> str:
    if isinstance(reason, FileNotFoundError):
        return "there is none, or it is a link to a file that is not there"
    if isinstance(reason, IsADirectoryError):
        return "it is a folder"
    if isinstance(reason, OSError) and reason.errno == errno.ENXIO:
        return "it is a socket"
    text = reason.strerror if isinstance(reason, OSError) and reason.strerror else str(reason)
    return text.strip().partition("\n")[0][:200] or type(reason).__name__
