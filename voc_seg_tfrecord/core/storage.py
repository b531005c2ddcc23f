"""Reads files within limits, and turns errors of the disk into errors of this package.

No file is read before its size is looked at, and none is opened that may never end: a named pipe, a
device or a socket. The numbers below say how large files may be;
docs/background/reliability.md lists those that users may meet.
"""

from collections.abc import Iterator, Mapping
import contextlib
import errno
import os
import re
import stat
import sys
from typing import BinaryIO, TypeAlias

from etils import epath

from voc_seg_tfrecord.core.errors import (
    AnnotationError,
    ConfigError,
    ImageError,
    LayoutError,
    ListError,
    MaskError,
    RecordError,
    SourceError,
    StorageError,
    VocSegError,
)

PathLike: TypeAlias = str | os.PathLike[str]
"""A path on this machine, or an `epath.Path` or address of an object store."""

_ADVICE_ABOUT_SPACE = "free space on the disk, or name a folder on another one"
_ADVICE_ABOUT_OPEN_FILES = "raise the limit of open files (ulimit -n)"
_ADVICE_ABOUT_RIGHTS = "change the rights of the file or folder, or name another one"

_ADVICE = {
    errno.ENOSPC: _ADVICE_ABOUT_SPACE,
    errno.EDQUOT: _ADVICE_ABOUT_SPACE,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EMFILE: _ADVICE_ABOUT_OPEN_FILES,
    errno.ENFILE: _ADVICE_ABOUT_OPEN_FILES,
    errno.EACCES: _ADVICE_ABOUT_RIGHTS,
    errno.EPERM: _ADVICE_ABOUT_RIGHTS,
    errno.EROFS: "name a folder on a disk that can be written",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOENT: "see that the path is right, and that nothing removes files meanwhile",
}

_ERRORS_OF_DAMAGE = ("DataLossError", "FailedPreconditionError", "InvalidArgumentError")
"""What TensorFlow raises for records with wrong checksums, too few records, and broken images."""

_MAX_MESSAGE_CHARACTERS = 2000
"""Characters of another library's message, which may hold what a file holds."""

# Names of nodes and operations in TensorFlow's messages, which do not help a user.
_TENSORFLOW_INTERNALS = re.compile(r"\{\{.*?\}\} ?|\[\[.*?\]\]|\s*\[Op:.*|\s*\n.*", re.S)

# TensorFlow's errors have no number, so their texts stand for it.
_ERRNO_BY_WORDS = {
    "No space left": errno.ENOSPC,
    "quota exceeded": errno.EDQUOT,
    "File too large": errno.EFBIG,
    "Too many open files": errno.EMFILE,
    "Permission denied": errno.EACCES,
    "Read-only file system": errno.EROFS,
    "No such file": errno.ENOENT,
}


def is_bucket(path: PathLike) -> bool:
    """Says whether a path is an address of an object store, such as `gs://BUCKET/datasets`."""
    return "://" in os.fspath(path)


def real_path(path: PathLike) -> str:
    """Returns one text for all paths of a file or a folder; an address in a bucket as it is."""
    if is_bucket(path):
        return str(path)
    return os.path.realpath(path)


def size(path: PathLike) -> int:
    """Returns how many bytes a file has."""
    if is_bucket(path):
        return int(epath.Path(path).stat().length)
    return os.stat(path).st_size  # noqa: PTH116 - a path object takes more than the call


MAX_IMAGE_BYTES = 512 << 20
"""Bytes of an image or a mask of any kind; of a record that other code wrote likewise."""

MAX_FILE_BYTES: Mapping[type[VocSegError], int] = {
    ImageError: MAX_IMAGE_BYTES,
    MaskError: MAX_IMAGE_BYTES,
    RecordError: MAX_IMAGE_BYTES,
    ListError: 64 << 20,  # some two million ids
    AnnotationError: 16 << 20,
    LayoutError: 1 << 20,  # class files
    SourceError: 1 << 20,
    StorageError: 4 << 20,  # dataset_info.json, and what else describes a built dataset
}
"""How many bytes a file may have that is read as a whole, by the error that it would raise."""

MAX_SUMS_BYTES = 64 << 20
"""Bytes of SHA256SUMS: lines of some 500,000 shards."""

MAX_ARCHIVE_HEADER_BYTES = 1 << 20
MAX_ARCHIVE_MEMBERS = 500_000
"""Files and folders in an archive."""


def max_unpacked_bytes(packed_bytes: int) -> int:
    """Returns how many bytes a file or archive may have unpacked, by its size.

    Images and their records hardly get smaller by packing. What would be more than 100 times as
    large is taken for a decompression bomb; up to 256 MiB do no harm.
    """
    return max(256 << 20, 100 * packed_bytes)


def open_file(path: PathLike) -> BinaryIO:
    """Opens a file to read its bytes.

    Raises:
      OSError: if it cannot be opened, or is no regular file, which might never end.
    """
    if is_bucket(path):
        return epath.Path(path).open("rb")
    descriptor, _ = _open_regular_file(path)
    return os.fdopen(descriptor, "rb")


def read_bytes(path: PathLike, max_bytes: int) -> bytes:
    """Returns the bytes of a file, whose size is looked at first.

    Raises:
      OSError: if it cannot be read, is no regular file, or has more than `max_bytes`.
    """
    if is_bucket(path):
        _check_size(size(path), max_bytes)
        return bytes(epath.Path(path).read_bytes())
    descriptor, length = _open_regular_file(path)
    try:
        _check_size(length, max_bytes)
        return _read_from(descriptor, length)
    finally:
        os.close(descriptor)


def _read_from(descriptor: int, length: int) -> bytes:
    """Returns so many bytes of an open file; fewer if it has become shorter."""
    # One call may return fewer bytes. Few system calls, because at each one a thread hands
    # Python's lock to another.
    data = os.read(descriptor, length)
    while len(data) < length:
        more = os.read(descriptor, length - len(data))
        if not more:
            break
        data += more
    return data


def _check_size(length: int, max_bytes: int) -> None:
    if length > max_bytes:
        raise OSError(f"it has {length} bytes, more than {max_bytes}")


# Without O_NONBLOCK opening a named pipe would wait for somebody who writes.
_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)


def _open_regular_file(path: PathLike) -> tuple[int, int]:
    """Returns the descriptor of a regular file, and its size."""
    descriptor = os.open(path, _READ_FLAGS)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status.st_size
    os.close(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError("it is a named pipe or a device")


def is_lack_of_threads(error: BaseException) -> bool:
    """Says whether an error is Python's about a limit of threads and processes."""
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)


def check_encoding() -> None:
    """Checks that names of files are read as UTF-8.

    Under another encoding letters beyond ASCII become others, so that the same folder would have
    other ids, and other bytes, on another machine.

    Raises:
      ConfigError: if they are not.
    """
    encoding = sys.getfilesystemencoding().lower()
    if encoding not in ("utf-8", "utf8"):
        raise ConfigError(
            "the locale of this process",
            found=f"the encoding {encoding} for names of files",
            expected="UTF-8, in which a folder has the same ids on every machine",
            remedy="set LC_ALL=C.UTF-8 or PYTHONUTF8=1",
        )


@contextlib.contextmanager
def as_storage_error(where: object) -> Iterator[None]:
    """Turns errors of the operating system or TensorFlow about files into a `StorageError`.

    Args:
      where: what is being written or read, for errors that name no file.

    Raises:
      StorageError: in place of an OSError or an error of TensorFlow's.
    """
    try:
        yield
    except Exception as error:
        cause = _find_file_error(error)
        if cause is None:
            raise
        raise storage_error(cause, where) from None


def _find_file_error(error: BaseException | None) -> BaseException | None:
    """Returns the error about files that another was raised for; TFDS wraps what it meets."""
    kinds = _list_file_errors()
    file_error = None
    while error is not None and not isinstance(error, VocSegError):
        if isinstance(error, kinds):
            file_error = error
        error = error.__cause__
    return file_error


def _list_file_errors() -> tuple[type[BaseException], ...]:
    """Returns the classes of errors about files; a library that is not loaded has raised none."""
    kinds: list[type[BaseException]] = [OSError]
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow:
        kinds.append(tensorflow.errors.OpError)
    boto = sys.modules.get("botocore.exceptions")
    if boto:
        kinds += [boto.BotoCoreError, boto.ClientError]
    return tuple(kinds)


def storage_error(error: BaseException, where: object) -> StorageError:
    """Returns the error for one of the system or TensorFlow; `where` is for one without a file."""
    if type(error).__name__ in _ERRORS_OF_DAMAGE:
        message = str(getattr(error, "message", error))[:_MAX_MESSAGE_CHARACTERS]
        return StorageError(
            where,
            found=f"damaged: {_TENSORFLOW_INTERNALS.sub('', message).strip()}",
            expected="complete files whose checksums match",
            remedy="copy the files again, or build the dataset again",
        )
    message = getattr(error, "strerror", None) or str(error)
    text = " ".join(message[:_MAX_MESSAGE_CHARACTERS].split())
    found = text or type(error).__name__
    path = getattr(error, "filename", None) or where
    if is_bucket(str(path)) or type(error).__module__.startswith("botocore"):
        return StorageError(
            path,
            found=found,
            expected="a bucket that is there, that this machine reaches, and that you may use",
            remedy="check the address, the credentials, the network, and AWS_ENDPOINT_URL if you "
            "set it",
        )
    return StorageError(
        path,
        found=found,
        expected="a disk that can be written and files that can be read",
        remedy=_advise(getattr(error, "errno", None), text),
    )


def _advise(number: int | None, text: str) -> str:
    """Returns what to do about an error, by its number or the words in its text."""
    for words, number_of_words in _ERRNO_BY_WORDS.items():
        if words in text:
            number = number_of_words
    return _ADVICE.get(number or 0, "check that the path is right and that the disk works")
