"""Folders and files that appear under their names only when they are complete.

A folder is made beside its place, as `incomplete.TOKEN_NAME`, and renamed at the end; a file is
made in such a folder. Meanwhile, its process holds a lock on `incomplete.TOKEN.lock`. The operating
system frees the lock when the process ends, however it ends, so the next run can tell which folders
are dead and remove them. Tokens are random, so nobody can put a link where something will be
written. In a bucket there are no locks, and nothing is removed there.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import ctypes
import enum
import errno
import os
import pathlib
import re
import shutil
import sys
import tempfile
import uuid

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.signals import DelayedSignals
from voc_seg_tfrecord.core.storage import PathLike, is_bucket

try:
    import fcntl
except ImportError:  # Windows has no such locks; nothing is removed there either
    fcntl = None  # type: ignore[assignment]

_LOCK_NAME = re.compile(r"incomplete\.([0-9a-f]{12})\.lock")
# TFDS builds in a folder with its own prefix before the name that it was given.
_FOLDER_NAME = re.compile(r"(?:incomplete\.[A-Z0-9]{6}_)?incomplete\.([0-9a-f]{12})_(.+)")

StagedPath = contextlib.AbstractContextManager[epath.Path]

_AT_FDCWD = -100  # from Linux's fcntl.h
_RENAME_EXCHANGE = 2  # from Linux's fs.h


def staged_folder(folder: epath.PathLike, *, replace: bool = False) -> StagedPath:
    """Gives a new folder beside its place, and moves it there when it is complete.

    First it removes unfinished folders of dead processes beside it.

    Args:
      folder: the folder's place; it may exist if it is empty.
      replace: whether a folder that is there may be replaced. It stays until the new one is
        complete.

    Returns:
      For `with`, the path to make the folder at. If the block raises, also by Ctrl-C or SIGTERM,
      the new folder is removed, with the folders above it that were made for it.

    Raises:
      ConfigError: if another process has put something there meanwhile.
    """
    folder = epath.Path(folder)

    def finish(staged: epath.Path) -> None:
        if replace:
            _replace_folder(staged, folder)
        else:
            _move_folder(staged, folder)

    return _staged_beside(folder.parent, folder.name, finish)


@contextlib.contextmanager
def staged_file(file: epath.PathLike) -> Iterator[epath.Path]:
    """Lets a file be written beside its place, and moves it there when it is complete.

    Args:
      file: its place, in a folder that exists. An old file stays until then. If it is a link, the
        link is replaced, and its target stays.

    Yields:
      The path to write it at. If the block raises, also by Ctrl-C or SIGTERM, it is removed.
      In an object store it is the place itself.
    """
    file = epath.Path(file)
    if is_bucket(file):  # there, a file never appears before it is complete
        yield file
        return
    os.stat(file.parent)  # noqa: PTH116 - raises if it is not there

    def finish(staged: epath.Path) -> None:
        (staged / file.name).replace(file)

    with _staged_beside(file.parent, "file", finish, private=True) as folder:
        yield folder / file.name


def temporary_folder(parent: epath.PathLike | None = None) -> StagedPath:
    """Gives a new folder that only this user can read, and removes it at the end.

    It is also removed after an error, Ctrl-C or SIGTERM. After a SIGKILL, the next run that needs a
    temporary folder removes it.

    Args:
      parent: where to make it; by default where this machine has its temporary files.
    """
    parent = epath.Path(parent or tempfile.gettempdir())
    return _staged_beside(parent, "voc_seg_tfrecord", private=True)


@contextlib.contextmanager
def _staged_beside(
    parent: epath.Path,
    name: str,
    finish: Callable[[epath.Path], None] | None = None,
    *,
    private: bool = False,
) -> Iterator[epath.Path]:
    """Yields a path in a folder, and removes what is still there at the end.

    Args:
      parent: the folder.
      name: what the path's name ends with.
      finish: gets the path when the block is done, and moves what was made there to where it
        belongs; not called if the block raises.
      private: whether to make a folder there that nobody else can read or put a link into.
    """
    with DelayedSignals() as signals, _existing(parent), _locked_token(parent, name) as token:
        staged = parent / f"incomplete.{token}_{name}"
        try:
            if private and not is_bucket(staged):
                os.mkdir(staged, 0o700)  # noqa: PTH102 - epath gives the rights to all
            signals.let_through()
            yield staged
            signals.waiting = True
            if finish is not None:
                finish(staged)
        finally:
            signals.waiting = True
            for path in parent.glob(f"incomplete.*{token}_*"):
                _remove(path)


def _remove(path: epath.Path) -> None:
    """Removes a folder; or a link that was replaced, without its target."""
    if not is_bucket(path) and os.path.islink(path):  # noqa: PTH114
        os.unlink(path)  # noqa: PTH108
    else:
        path.rmtree()


@contextlib.contextmanager
def _existing(folder: epath.Path) -> Iterator[None]:
    """Makes a folder, and those above it; at the end removes those it made, if they are empty."""
    missing = []
    if not is_bucket(folder):
        missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for path in missing:
            with contextlib.suppress(OSError):  # something is in it
                os.rmdir(path)  # noqa: PTH106 - epath has only rmtree


def remove_dead(parent: epath.PathLike, name: str) -> None:
    """Removes the unfinished folders of processes that have ended, and their locks.

    A folder without a lock is removed only if it would have got the given name.

    Args:
      parent: where the folders are.
      name: the name.
    """
    parent = pathlib.Path(parent)
    try:
        file_names = sorted(path.name for path in parent.iterdir())
    except FileNotFoundError:  # another run has removed it, because it was empty
        return
    folders_by_token: dict[str, list[pathlib.Path]] = {}
    for file_name in file_names:
        lock_match = _LOCK_NAME.fullmatch(file_name)
        if lock_match:
            folders_by_token[lock_match[1]] = []
    locked_tokens = set(folders_by_token)
    for file_name in file_names:
        folder_match = _FOLDER_NAME.fullmatch(file_name)
        if folder_match and (folder_match[1] in locked_tokens or folder_match[2] == name):
            folders_by_token.setdefault(folder_match[1], []).append(parent / file_name)
    for token, folders in folders_by_token.items():
        _remove_if_dead(parent / f"incomplete.{token}.lock", folders)


def _remove_if_dead(lock: pathlib.Path, folders: Sequence[pathlib.Path]) -> None:
    """Removes the folders of a process and its lock, if the process has ended."""
    with contextlib.ExitStack() as stack:
        # The lock file appears before the folder does, and disappears after it.
        if lock.exists() and stack.enter_context(_locked(lock)) != _LockState.HELD_HERE:
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # it may be another user's, in a shared folder
            lock.unlink()


@contextlib.contextmanager
def _locked_token(parent: epath.Path, name: str) -> Iterator[str]:
    """Yields a new token, whose lock this process holds if the folder is local."""
    if fcntl is None or is_bucket(parent):
        yield _new_token()
        return
    while True:
        remove_dead(parent, name)
        token = _new_token()
        lock = pathlib.Path(parent, f"incomplete.{token}.lock")
        _make_lock_file(lock)
        with _locked(lock) as state:
            if state == _LockState.UNSUPPORTED:  # as in a bucket, nothing can be removed later
                lock.unlink(missing_ok=True)
                yield token
                return
            if state == _LockState.HELD_HERE and lock.exists():
                try:
                    yield token
                finally:
                    lock.unlink(missing_ok=True)
                return
        # Another run took the lock file for a dead one's before it was locked.


def _new_token() -> str:
    return uuid.uuid4().hex[:12]


def _make_lock_file(lock: pathlib.Path) -> None:
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
        except FileNotFoundError:  # another run has removed the folder, because it was empty
            lock.parent.mkdir(parents=True, exist_ok=True)
        else:
            return


class _LockState(enum.Enum):
    """What became of an attempt to lock a file."""

    HELD_HERE = "held by this process"
    HELD_ELSEWHERE = "held by another process"
    UNSUPPORTED = "on a file system without locks, such as Lustre and some of FUSE and NFS"


@contextlib.contextmanager
def _locked(lock: pathlib.Path) -> Iterator[_LockState]:
    """Tries to lock a file during the block; yields what became of the attempt."""
    try:
        # It must not be a link or a named pipe that somebody else has put there.
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield _LockState.HELD_ELSEWHERE
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        state = _LockState.HELD_HERE
    except BlockingIOError:
        state = _LockState.HELD_ELSEWHERE
    except OSError:  # ENOSYS, ENOLCK, EOPNOTSUPP
        state = _LockState.UNSUPPORTED
    try:
        yield state
    finally:
        os.close(descriptor)


def _replace_folder(staged: epath.Path, folder: epath.Path) -> None:
    """Puts a complete folder in the place of another one, or of a link, whose target stays."""
    if not folder.exists() and not os.path.islink(folder):  # noqa: PTH114
        _move_folder(staged, folder)
    elif not _exchange(staged, folder):
        old = staged.with_name(f"{staged.name}.old")
        folder.rename(old)
        staged.rename(folder)


def _move_folder(staged: epath.Path, folder: epath.Path) -> None:
    """Puts a complete folder in its place, which may be an empty folder.

    Raises:
      ConfigError: if another process has put something there.
    """
    try:
        if is_bucket(folder):
            staged.rename(folder)
        else:
            os.rename(staged, folder)  # noqa: PTH104 - epath does not rename to an empty folder
    except OSError as error:
        if not isinstance(error, FileExistsError) and error.errno != errno.ENOTEMPTY:
            raise
        raise ConfigError(
            folder,
            found="a folder that another process has written meanwhile",
            expected="one process at a time for each folder",
            remedy="use what the other process has written, or run this again with another name",
        ) from None


def _exchange(first: epath.Path, second: epath.Path) -> bool:
    """Exchanges two folders in one step, so that a reader always finds one; only on Linux."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    first_name = os.fsencode(os.fspath(first))
    second_name = os.fsencode(os.fspath(second))
    status = rename(_AT_FDCWD, first_name, _AT_FDCWD, second_name, _RENAME_EXCHANGE)
    return bool(status == 0)


def check_file(path: PathLike, option: str, endings: Sequence[str] = ()) -> epath.Path:
    """Returns the path of a file to write, checked before the work whose result it will hold.

    Args:
      path: as the user named it.
      option: what names it, for errors.
      endings: its name must have one of them, in any case; empty for any name.

    Raises:
      ConfigError: if it is a folder, has another ending, or lies in a folder that does not exist or
        cannot be written.
    """
    file = epath.Path(path).expanduser()
    if file.is_dir():
        raise _file_error(option, file, endings, "a folder", "name a file in it")
    if endings and not _has_ending(file.name, endings):
        found = f"the ending {file.suffix!r}" if file.suffix else "no ending"
        stem = file.stem if file.suffix else file.name
        raise _file_error(option, file, endings, found, f"name a file such as '{stem}{endings[0]}'")
    if is_bucket(file):  # an object store has no empty folders
        return file
    if not file.parent.is_dir():
        found = f"no folder {file.parent}"
        raise _file_error(option, file, endings, found, "make the folder, or name another one")
    check_folder(file.parent, option)
    return file


def _has_ending(name: str, endings: Sequence[str]) -> bool:
    """Returns whether a name has an ending, in any case, and something before it."""
    return any(name.lower().endswith(end) and len(name) > len(end) for end in endings)


def _file_error(
    option: str, file: epath.Path, endings: Sequence[str], found: str, remedy: str
) -> ConfigError:
    expected = "a file in a folder that exists"
    if endings:
        expected = f"an ending of {', '.join(endings)}, and a folder that exists"
    return ConfigError(f"{option} {file}", found=found, expected=expected, remedy=remedy)


def write_files(folder: epath.Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, which appear under their names only when all are complete.

    Args:
      folder: a new folder; or an existing one without any of the names that begin the paths.
      files: their bytes by path, with `/` between folders.

    Raises:
      OSError: if they cannot be written; then none appears.
    """

    def finish(staged: epath.Path) -> None:
        for path in staged.iterdir():
            path.rename(folder / path.name)

    if not folder.exists():
        with staged_folder(folder) as incomplete:
            write_below(incomplete, files)
        return
    with _staged_beside(folder, "files", finish) as incomplete:
        write_below(incomplete, files)


def write_below(folder: epath.Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, by their paths in it, and makes the folders they need."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def write_file(file: epath.Path, data: bytes | str, option: str) -> None:
    """Writes a file, which appears under its name only when it is complete.

    Text becomes UTF-8. Half a surrogate pair, as in file names that are no UTF-8, becomes a `?`.

    Raises:
      ConfigError: if it cannot be written; `option` names it.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "replace")
    try:
        with staged_file(file) as incomplete:
            incomplete.write_bytes(data)
    except OSError as error:
        raise _cannot_write(option, file, error) from None


def check_folder(folder: epath.Path, option: str) -> None:
    """Checks that a folder exists or can be made, and that files can be written in it.

    Raises:
      ConfigError: if it cannot be made or written; `option` names it.
    """
    try:
        with temporary_folder(folder) as probe:
            (probe / "file").write_bytes(b"")
    except OSError as error:
        raise _cannot_write(option, folder, error) from None


def _cannot_write(option: str, path: epath.Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{option} {path}",
        found=f"it cannot be written: {error.strerror or error}",
        expected="a file or folder that can be written, on a disk that is not full",
        remedy="name another one",
    )
