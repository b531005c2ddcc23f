"""Reads files within limits, errors of the disk as errors of this package, and SHA256SUMS.

No file is read before its size is looked at, and none is opened that may never end: a named pipe, a
device or a socket. `LIMITS` and the numbers beside it say how large files may be; they stand on
docs/background/reliability.md too.

SHA256SUMS lists every file of a dataset with its sha256, so that a copy can be verified whatever
made it: by `verify`, or by `sha256sum -c SHA256SUMS` in the dataset's folder. The small files are
compared whenever a dataset is opened, because one wrong bit in `features.json` may change a class
name. The shards are compared by `verify` alone; each of their records has a checksum of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
import contextlib
import errno
import hashlib
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

_SPACE = "free space on the disk, or name a folder on another one"
_FILES = "raise the limit of open files (ulimit -n)"
_RIGHTS = "change the rights of the file or folder, or name another one"

_ADVICE = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "raise the limit on the size of files (ulimit -f)",
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "name a folder on a disk that can be written",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ENOENT: "see that the path is right, and that nothing removes files meanwhile",
}

# What TensorFlow raises for records with wrong checksums, too few records, and broken images.
_DAMAGE = ("DataLossError", "FailedPreconditionError", "InvalidArgumentError")

_SHOWN = 2000  # letters of another's message, which may hold what a file holds

# Names of nodes and operations in TensorFlow's messages, which do not help a user.
_INTERNALS = re.compile(r"\{\{.*?\}\} ?|\[\[.*?\]\]|\s*\[Op:.*|\s*\n.*", re.S)

# TensorFlow's errors have no number, so their texts stand for it.
_WORDS = {
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


def size(path: PathLike) -> int:
    """Returns how many bytes a file has."""
    if is_bucket(path):
        return int(epath.Path(path).stat().length)
    return os.stat(path).st_size  # noqa: PTH116 - a path object takes more than the call


IMAGE_BYTES = 512 << 20
"""Bytes of an image or a mask of any kind; of a record that other code wrote likewise."""

LIMITS: Mapping[type[VocSegError], int] = {
    ImageError: IMAGE_BYTES,
    MaskError: IMAGE_BYTES,
    RecordError: IMAGE_BYTES,
    ListError: 64 << 20,  # some two million ids
    AnnotationError: 16 << 20,
    LayoutError: 1 << 20,  # class files
    SourceError: 1 << 20,
    StorageError: 4 << 20,  # dataset_info.json, and what else describes a built dataset
}
"""How many bytes a file may have that is read as a whole, by the error that it would raise."""

SUMS_BYTES = 64 << 20
"""Bytes of SHA256SUMS: lines of some 500,000 shards."""

HEADER_BYTES = 64 << 20
"""Bytes of one header in an archive: of the long name of a member, or of the index of a zip."""

MEMBERS = 500_000
"""Files and folders in an archive."""


def most_unpacked(packed: int) -> int:
    """Returns how many bytes a file or archive may have unpacked, by its size.

    Images and their records hardly get smaller by packing. What would be more than 100 times as
    large is taken for a decompression bomb; up to 256 MiB do no harm.
    """
    return max(256 << 20, 100 * packed)


def open_file(path: PathLike) -> BinaryIO:
    """Opens a file to read its bytes.

    Raises:
      OSError: if it cannot be opened, or is no regular file, which might never end.
    """
    if is_bucket(path):
        return epath.Path(path).open("rb")
    return os.fdopen(_opened(path)[0], "rb")


def read_bytes(path: PathLike, most: int) -> bytes:
    """Returns the bytes of a file, whose size is looked at first.

    Raises:
      OSError: if it cannot be read, is no regular file, or has more than `most` bytes.
    """
    if is_bucket(path):
        _check_size(size(path), most)
        return bytes(epath.Path(path).read_bytes())
    opened, length = _opened(path)
    try:
        _check_size(length, most)
        # One call may return fewer bytes. Few system calls, because at each one a thread hands
        # Python's lock to another.
        data = os.read(opened, length)
        while len(data) < length and (more := os.read(opened, length - len(data))):
            data += more
        return data
    finally:
        os.close(opened)


def _check_size(length: int, most: int) -> None:
    if length > most:
        raise OSError(f"it has {length} bytes, more than {most}")


_HOW = os.O_RDONLY | getattr(os, "O_BINARY", 0)
_HOW |= getattr(os, "O_NONBLOCK", 0)  # or opening a named pipe would wait for somebody who writes


def _opened(path: PathLike) -> tuple[int, int]:
    """Returns the descriptor of a regular file, and its size."""
    opened = os.open(path, _HOW)
    status = os.fstat(opened)
    if stat.S_ISREG(status.st_mode):
        return opened, status.st_size
    os.close(opened)
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
        cause = _root(error)
        if cause is None:
            raise
        raise storage_error(cause, where) from None


def _root(error: BaseException | None) -> BaseException | None:
    """Returns the error about files that another was raised for; TFDS wraps what it meets."""
    # What is not loaded has raised no error.
    framework, boto = sys.modules.get("tensorflow"), sys.modules.get("botocore.exceptions")
    kinds = (
        OSError,
        *((framework.errors.OpError,) if framework else ()),
        *((boto.BotoCoreError, boto.ClientError) if boto else ()),
    )
    cause = None
    while error is not None and not isinstance(error, VocSegError):
        if isinstance(error, kinds):
            cause = error
        error = error.__cause__
    return cause


def storage_error(error: BaseException, where: object) -> StorageError:
    """Returns the error for one of the system or TensorFlow; `where` is for one without a file."""
    if type(error).__name__ in _DAMAGE:
        message = str(getattr(error, "message", error))[:_SHOWN]
        return StorageError(
            where,
            found=f"damaged: {_INTERNALS.sub('', message).strip()}",
            expected="complete files whose checksums match",
            remedy="copy the files again, or build the dataset again",
        )
    text = " ".join((getattr(error, "strerror", None) or str(error))[:_SHOWN].split())
    place = getattr(error, "filename", None) or where
    number: int | None = getattr(error, "errno", None)
    for words, code in _WORDS.items():
        if words in text:
            number = code
    if is_bucket(str(place)) or type(error).__module__.startswith("botocore"):
        return StorageError(
            place,
            found=text or type(error).__name__,
            expected="a bucket that is there, that this machine reaches, and that you may use",
            remedy="check the address, the credentials, the network, and AWS_ENDPOINT_URL if you "
            "set it",
        )
    return StorageError(
        place,
        found=text or type(error).__name__,
        expected="a disk that can be written and files that can be read",
        remedy=_ADVICE.get(number or 0, "check that the path is right and that the disk works"),
    )


INFO = "dataset_info.json"
"""The file that makes a folder a dataset."""

SUMS = "SHA256SUMS"
"""The file with the sha256 of every file of a dataset, as `sha256sum -c` reads it."""

_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\0]+)")
_PIECE = 1 << 20  # bytes of a large file that are read at once
_ENDINGS = (".json", ".txt")  # info, features, metadata and class names: read at every opening
WRITTEN_LATER = (SUMS, "README.md")
"""Files that SHA256SUMS does not list: itself, and the card that `report --card` writes."""


def write_sums(folder: epath.Path, *, kept: Mapping[str, str] | None = None) -> None:
    """Writes the sha256 of every file below a folder into SHA256SUMS.

    Args:
      folder: of a dataset's version, or of an exported tree, in which all other files are complete.
      kept: sha256 of shards by name, which are not read again.
    """
    digests = {name: digest for name, digest in (kept or {}).items() if not _is_small(name)}
    waiting = [folder]
    while waiting:
        for path in waiting.pop().iterdir():
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                waiting.append(path)
            elif name not in (*digests, *WRITTEN_LATER):
                digests[name], _ = digest_of(path)
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    (folder / SUMS).write_text("".join(lines))


def read_sums(folder: epath.Path) -> dict[str, str]:
    """Returns the sha256 of each file that SHA256SUMS lists by name; none if it is missing.

    Raises:
      RecordError: if the file is empty, a line is not a sha256 and a file's name in the folder, or
        two lines have the same name.
    """
    path = folder / SUMS
    if not path.exists():
        return {}
    digests = {}
    lines = read_small(path).decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    for number, line in enumerate(lines if any(lines) else (), 1):
        match = _LINE.fullmatch(line)
        if not match or match[2] in (".", "..") or match[2] in digests:
            expected = "a sha256 and the name of a file in this folder, each name once"
            raise _damaged(path, f"line {number}: {line[:80]!a}", expected)
        digests[match[2]] = match[1]
    if not digests:
        raise _damaged(path, "an empty file", "the sha256 of every file of the dataset")
    return digests


def check_sums(folder: epath.Path) -> None:
    """Reads a dataset's small files, and compares them with SHA256SUMS, if it is there.

    Raises:
      RecordError: naming the first file that is missing, was changed, or cannot be read.
    """
    small = [path for path in folder.iterdir() if _is_small(path.name)]
    found_of = {path.name: hashlib.sha256(read_small(path)).hexdigest() for path in small}
    for name, digest in read_sums(folder).items():
        path = folder / name
        if not _is_small(name):
            continue
        actual = found_of.get(name, "")
        if actual != digest:
            what = f"a file with the sha256 {actual}" if actual else "no such file"
            raise _damaged(path, what, f"the sha256 {digest}, as {SUMS} says")


def compare_sums(folder: epath.Path, sums: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields name and problem of each file that is not the one which SHA256SUMS lists."""
    for name, expected in sums.items():
        path = folder / name
        try:
            actual, _ = digest_of(path)
        except OSError as error:
            yield name, f"{SUMS} lists it, and it cannot be read: {error.strerror or error}"
            continue
        if actual != expected:
            yield name, f"the file's sha256 is {actual}, {SUMS} says {expected}"


def check_listed(folder: epath.Path, names: Iterable[str]) -> None:
    """Checks that SHA256SUMS, if it is there, lists files.

    Raises:
      RecordError: naming the first file that it does not list.
    """
    sums = read_sums(folder)
    lost = [name for name in names if name not in sums] if sums else []
    if lost:
        found = f"{len(sums)} files, and not {lost[0]}"
        raise _damaged(folder / SUMS, found, "every file of the dataset")


def read_small(path: epath.Path) -> bytes:
    """Returns the bytes of a file that describes a built dataset.

    Raises:
      RecordError: if it cannot be read, or is far larger than any such file.
    """
    most = SUMS_BYTES if path.name == SUMS else LIMITS[StorageError]
    try:
        return read_bytes(path, most)
    except OSError as error:
        found = error.strerror or str(error)
        raise _damaged(path, found, f"a regular file of at most {most >> 20} MiB") from None


def _damaged(path: epath.Path, found: str, expected: str) -> RecordError:
    return RecordError(
        path,
        found=found,
        expected=expected,
        remedy="copy the dataset again, or build it again; if you changed a file yourself, "
        f"remove {path.parent / SUMS}",
        kind="damaged dataset",
    )


def _is_small(name: str) -> bool:
    return name.endswith(_ENDINGS)


def digest_of(path: epath.Path) -> tuple[str, int]:
    """Returns the sha256 of a file and its size in bytes."""
    digest, size = hashlib.sha256(), 0
    with open_file(path) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
