"""Locks that tell unfinished folders of running processes from those of dead ones.

A process makes a folder as `incomplete.TOKEN_NAME`, and holds a lock on the file
`incomplete.TOKEN.lock` beside it meanwhile. The operating system frees the lock when the process
ends, however it ends. So the next run can tell which folders are dead, and removes them.

Buckets, Windows, and some file systems have no locks. There, nothing is removed.
"""

from collections.abc import Iterator
import contextlib
import dataclasses
import enum
import os
import pathlib
import re
import shutil
import uuid

from etils import epath

from voc_seg_tfrecord.core.errors import StorageError
from voc_seg_tfrecord.core.storage import is_bucket

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK_NAME = re.compile(r"incomplete\.([0-9a-f]{12})\.lock")
# TFDS builds in a folder with its own prefix before the name that it was given.
_FOLDER_NAME = re.compile(r"(?:incomplete\.[A-Z0-9]{6}_)?incomplete\.([0-9a-f]{12})_(.+)")

_MAX_ATTEMPTS = 100
"""How many lock files are made, one after the other, until one can be locked."""


def name_unfinished(token: str, name: str) -> str:
    """Returns the name of an unfinished folder, such as `incomplete.0123456789ab_train`."""
    return f"incomplete.{token}_{name}"


def _lock_of(parent: pathlib.Path, token: str) -> pathlib.Path:
    return parent / f"incomplete.{token}.lock"


class _LockState(enum.Enum):
    """The result of an attempt to lock a file."""

    HELD_HERE = "held by this attempt"
    HELD_BY_OTHERS = "held by another process or thread"
    NOT_OPENED = "removed, or no file that can be opened"
    UNSUPPORTED = "on a file system without locks, such as Lustre and some of FUSE and NFS"


@contextlib.contextmanager
def locked_token(parent: epath.Path, name: str) -> Iterator[str]:
    """Yields a token for names in a folder, and holds its lock during the block.

    If the file system has locks, unfinished folders of dead processes are removed first.

    Args:
      parent: the folder.
      name: the final name of the folder that is made. Dead folders of this name are removed even if
        their lock is missing.

    Yields:
      12 random hexadecimal digits. Nobody can guess them, and so put a link where something will be
      written.

    Raises:
      StorageError: if new files in the folder cannot be opened.
    """
    if fcntl is None or is_bucket(parent):
        yield _new_token()
        return
    folder = pathlib.Path(parent)
    for _ in range(_MAX_ATTEMPTS):
        with _new_lock(folder) as lock:
            if lock.state == _LockState.UNSUPPORTED:
                # Every folder looks dead here, so none is removed. The file would be of no use.
                lock.path.unlink(missing_ok=True)
                yield lock.token
                return
            if lock.state == _LockState.HELD_HERE and lock.path.exists():
                _remove_dead(folder, name)
                yield lock.token
                return
        # Another run has removed the file before it was locked: it looked like a dead process's.
    raise StorageError(
        folder,
        found="no lock file can be made in this folder",
        expected="a folder in which this user can read new files",
        remedy="check the rights of the folder, and the umask",
    )


@dataclasses.dataclass(frozen=True)
class _NewLock:
    """A lock file that this process has made.

    Attributes:
      token: the token in its name.
      path: the file.
      state: whether it could be locked.
    """

    token: str
    path: pathlib.Path
    state: _LockState


@contextlib.contextmanager
def _new_lock(folder: pathlib.Path) -> Iterator[_NewLock]:
    """Makes a lock file, tries to lock it during the block, and removes it at the end."""
    token = _new_token()
    path = _lock_of(folder, token)
    _make_lock_file(path)
    with _locked(path) as state:
        try:
            yield _NewLock(token, path, state)
        finally:
            path.unlink(missing_ok=True)


def _new_token() -> str:
    return uuid.uuid4().hex[:12]


def _make_lock_file(lock: pathlib.Path) -> None:
    """Makes a new file, and its folder if another run has removed it because it was empty."""
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
        except FileNotFoundError:
            lock.parent.mkdir(parents=True, exist_ok=True)
        else:
            return


@contextlib.contextmanager
def _locked(lock: pathlib.Path) -> Iterator[_LockState]:
    """Tries to lock a file during the block; yields the result."""
    try:
        # It must not be a link or a named pipe that somebody else has put there.
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield _LockState.NOT_OPENED
        return
    try:
        yield _lock_descriptor(descriptor)
    finally:
        os.close(descriptor)  # this frees the lock


def _lock_descriptor(descriptor: int) -> _LockState:
    """Tries to lock an open file, without waiting."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _LockState.HELD_BY_OTHERS
    except OSError:  # ENOSYS, ENOLCK, EOPNOTSUPP
        return _LockState.UNSUPPORTED
    return _LockState.HELD_HERE


def _remove_dead(parent: pathlib.Path, name: str) -> None:
    """Removes the unfinished folders of processes that have ended, and their locks.

    Args:
      parent: where the folders are; its file system has locks.
      name: a folder without a lock is removed only if its final name is this one.
    """
    try:
        file_names = sorted(path.name for path in parent.iterdir())
    except FileNotFoundError:  # another run has removed it, because it was empty
        return
    tokens_with_lock = _tokens_of_locks(file_names)
    folders_by_token: dict[str, list[pathlib.Path]] = {token: [] for token in tokens_with_lock}
    for file_name in file_names:
        match = _FOLDER_NAME.fullmatch(file_name)
        if match is None:
            continue
        token, final_name = match.groups()
        if token in tokens_with_lock or final_name == name:
            folders_by_token.setdefault(token, []).append(parent / file_name)
    for token, folders in folders_by_token.items():
        _remove_if_dead(_lock_of(parent, token), folders)


def _tokens_of_locks(file_names: list[str]) -> list[str]:
    """Returns the tokens of the lock files among the files of a folder."""
    matches = [_LOCK_NAME.fullmatch(file_name) for file_name in file_names]
    return [match[1] for match in matches if match]


def _remove_if_dead(lock: pathlib.Path, folders: list[pathlib.Path]) -> None:
    """Removes the folders of a process and its lock, if the process has ended."""
    # The lock file appears before the folders do and disappears after them, so a process whose lock
    # file is missing has ended.
    if not lock.exists():
        _remove_all(folders)
        return
    with _locked(lock) as state:
        if state == _LockState.HELD_HERE:
            _remove_all(folders)
            with contextlib.suppress(OSError):  # it may be another user's, in a shared folder
                lock.unlink()


def _remove_all(folders: list[pathlib.Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
