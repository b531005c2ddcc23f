"""Folders and files that appear under their names only when they are complete.

A folder is made beside its final path, as `incomplete.TOKEN_NAME`, and renamed at the end. A file
is made in such a folder. Meanwhile the process holds a lock on the file `incomplete.TOKEN.lock`
beside it, which the operating system frees when the process ends, however it ends. So the next run
can tell which folders are dead, and removes them.

Buckets, Windows, and some file systems have no locks. There, nothing is removed.

What an option names for a command's output is checked by `check_output_file` and
`check_output_folder` before the work whose result it will hold, so that hours of work are not lost
to a typing mistake.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import ctypes
import dataclasses
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

from voc_seg_tfrecord.core.errors import ConfigError, StorageError
from voc_seg_tfrecord.core.signals import DelayedSignals
from voc_seg_tfrecord.core.storage import PathLike, is_bucket

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_LOCK_NAME = re.compile(r"incomplete\.([0-9a-f]{12})\.lock")
# TFDS builds in a folder with its own prefix before the name that it was given.
_FOLDER_NAME = re.compile(r"(?:incomplete\.[A-Z0-9]{6}_)?incomplete\.([0-9a-f]{12})_(.+)")

_MAX_ATTEMPTS = 100
"""How many lock files are made, one after the other, until one can be locked."""


def _lock_of(parent: pathlib.Path, token: str) -> pathlib.Path:
    return parent / f"incomplete.{token}.lock"


class _LockState(enum.Enum):
    """The result of an attempt to lock a file."""

    HELD_HERE = "held by this attempt"
    HELD_BY_OTHERS = "held by another process or thread"
    NOT_OPENED = "removed, or no file that can be opened"
    UNSUPPORTED = "on a file system without locks, such as Lustre and some of FUSE and NFS"


@contextlib.contextmanager
def _locked_token(parent: epath.Path, name: str) -> Iterator[str]:
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


_AT_FDCWD = -100  # from Linux's fcntl.h
_RENAME_EXCHANGE = 2  # from Linux's fs.h


@contextlib.contextmanager
def staged_folder(folder: epath.PathLike, *, replace: bool = False) -> Iterator[epath.Path]:
    """Lets a folder be made beside its final path, and moves it there when it is complete.

    First it removes unfinished folders of dead processes beside it.

    Args:
      folder: the final path; it may exist if it is an empty folder.
      replace: whether an existing folder may be replaced. It stays until the new one is complete.
        Where two folders cannot be exchanged in one step, it is `replaced.TOKEN_NAME` between two
        renames, and stays so if the process is killed there.

    Yields:
      The path to make the folder at. If the block raises, also by Ctrl-C or SIGTERM, the new folder
      is removed, with the folders above it that were made for it.

    Raises:
      ConfigError: if another process has written to the final path meanwhile.
    """
    folder = epath.Path(folder)

    def finish(staged: epath.Path) -> None:
        if replace:
            _replace_folder(staged, folder)
        else:
            _move_folder(staged, folder)

    # The block makes the folder at this path itself.
    with _staged_beside(folder.parent, folder.name, finish) as staged:
        yield staged


@contextlib.contextmanager
def staged_file(file: epath.PathLike) -> Iterator[epath.Path]:
    """Lets a file be written beside its final path, and moves it there when it is complete.

    Args:
      file: the final path, in a folder that exists. An old file stays until the new one is
        complete. If it is a link, the link is replaced, and its target stays.

    Yields:
      The path to write the file at. If the block raises, also by Ctrl-C or SIGTERM, it is removed.
      In an object store it is the final path.
    """
    file = epath.Path(file)
    if is_bucket(file):  # there, a file never appears before it is complete
        yield file
        return
    os.stat(file.parent)  # noqa: PTH116 - raises if it does not exist

    def finish(staged: epath.Path) -> None:
        (staged / file.name).replace(file)

    with _staged_beside(file.parent, "file", finish, makes_folder=True) as folder:
        yield folder / file.name


@contextlib.contextmanager
def temporary_folder(parent: epath.PathLike | None = None) -> Iterator[epath.Path]:
    """Yields a new folder that only this user can read, and removes it at the end.

    It is also removed after an error, Ctrl-C or SIGTERM. After a SIGKILL, the next run that needs a
    temporary folder removes it.

    Args:
      parent: where to make it; by default where this machine has its temporary files.
    """
    parent = epath.Path(parent or tempfile.gettempdir())
    # Nothing is moved at the end: all that is still there is removed.
    with _staged_beside(parent, "voc_seg_tfrecord", makes_folder=True) as folder:
        yield folder


def write_files(folder: epath.Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, which appear under their names only when all are complete.

    Args:
      folder: a new folder; or an existing one without any of the names that begin the paths.
      files: their bytes by path, with `/` between folders.

    Raises:
      OSError: if they cannot be written; then none appears.
    """
    if not folder.exists():
        with staged_folder(folder) as incomplete:
            write_below(incomplete, files)
        return

    def finish(staged: epath.Path) -> None:
        _move_contents(staged, folder)

    # `write_below` makes the folder at this path.
    with _staged_beside(folder, "files", finish) as incomplete:
        write_below(incomplete, files)


def write_below(folder: epath.Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, by their paths in it, and makes the folders they need."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def _move_contents(staged: epath.Path, folder: epath.Path) -> None:
    """Moves all files and folders in one folder to another; if one fails, takes back the others."""
    moved = []
    try:
        for path in sorted(staged.iterdir()):
            path.rename(folder / path.name)
            moved.append(path.name)
    except OSError:
        for name in moved:
            (folder / name).rename(staged / name)
        raise


@contextlib.contextmanager
def _staged_beside(
    parent: epath.Path,
    name: str,
    finish: Callable[[epath.Path], None] | None = None,
    *,
    makes_folder: bool = False,
) -> Iterator[epath.Path]:
    """Yields a path in a folder, and removes what is still there at the end.

    Args:
      parent: the folder.
      name: the end of the path's name.
      finish: gets the path when the block is done, and moves what was made there to its final path;
        not called if the block raises.
      makes_folder: whether a folder is made at the path now, which nobody else can read or put a
        link into. If not, the block makes it.
    """
    with DelayedSignals() as signals, _existing(parent), _locked_token(parent, name) as token:
        staged = parent / f"incomplete.{token}_{name}"
        try:
            if makes_folder and not is_bucket(staged):
                os.mkdir(staged, 0o700)  # noqa: PTH102 - epath gives the rights to all
            signals.let_through()
            yield staged
            # Signals wait again: here if the block is done, and below if it raised. This is an
            # assignment, as a signal may be handled when a method begins.
            signals.waiting = True
            if finish is not None:
                finish(staged)
        finally:
            signals.waiting = True
            _remove_unfinished(parent, token)


def _remove_unfinished(parent: epath.Path, token: str) -> None:
    """Removes all unfinished folders of a token, also those to whose names TFDS adds a prefix."""
    for path in parent.glob(f"incomplete.*{token}_*"):
        _remove(path)


def _remove(path: epath.Path) -> None:
    """Removes a folder; or a link that was replaced, without its target."""
    if _is_link(path):
        os.unlink(path)  # noqa: PTH108
    else:
        path.rmtree()


def _is_link(path: epath.Path) -> bool:
    """Returns whether a path is a link, also one whose target does not exist."""
    return not is_bucket(path) and os.path.islink(path)  # noqa: PTH114


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
            with contextlib.suppress(OSError):  # it is not empty
                os.rmdir(path)  # noqa: PTH106 - epath has only rmtree


def _replace_folder(staged: epath.Path, folder: epath.Path) -> None:
    """Moves a complete folder to the path of another one, or of a link, whose target stays."""
    if not folder.exists() and not _is_link(folder):
        _move_folder(staged, folder)
    elif not _exchange(staged, folder):
        _replace_in_two_steps(staged, folder)


def _replace_in_two_steps(staged: epath.Path, folder: epath.Path) -> None:
    """Renames the old folder, then the new one; if the second step fails, takes back the first.

    Raises:
      OSError: if a step fails. The old folder is then at its own path; or, if the first step cannot
        be taken back, at the path that the error names.
    """
    # No name of an unfinished folder, as other runs remove those of dead processes.
    old = staged.with_name(staged.name.replace("incomplete.", "replaced.", 1))
    folder.rename(old)
    try:
        staged.rename(folder)
    except OSError:
        old.rename(folder)
        raise
    _remove(old)


def _move_folder(staged: epath.Path, folder: epath.Path) -> None:
    """Moves a complete folder to its final path, which may be an empty folder.

    Raises:
      ConfigError: if another process has written to the final path.
    """
    try:
        if is_bucket(folder):
            staged.rename(folder)
        else:
            os.rename(staged, folder)  # noqa: PTH104 - epath does not rename to an empty folder
    except OSError as error:
        is_taken = isinstance(error, FileExistsError) or error.errno == errno.ENOTEMPTY
        if not is_taken:
            raise
        raise ConfigError(
            folder,
            found="a folder that another process wrote at the same time",
            expected="one process at a time for each folder",
            remedy="use the other process's result, or run this again with another name",
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


def check_output_file(path: PathLike, option: str, endings: Sequence[str] = ()) -> epath.Path:
    """Checks that a file can be written, by writing another one beside it, which is removed.

    Args:
      path: as the user named it.
      option: the option that names it, for errors.
      endings: its name must have one of them, in any case; empty for any name.

    Returns:
      The path, with `~` expanded.

    Raises:
      ConfigError: if it is a folder, has another ending, or lies in a folder that does not exist or
        cannot be written.
    """
    file = epath.Path(path).expanduser()
    expected = "a file in a folder that exists"
    if endings:
        expected = f"an ending of {', '.join(endings)}, and a folder that exists"
    where = f"{option} {file}"
    if file.is_dir():
        raise ConfigError(
            where,
            found="a folder",
            expected=expected,
            remedy="name a file in it",
        )
    if endings and not _has_ending(file.name, endings):
        raise ConfigError(
            where,
            found=f"the ending {file.suffix!r}" if file.suffix else "no ending",
            expected=expected,
            remedy=f"name a file such as '{_stem_of(file)}{endings[0]}'",
        )
    if is_bucket(file):  # an object store has no empty folders
        return file
    if not file.parent.is_dir():
        raise ConfigError(
            where,
            found=f"no folder {file.parent}",
            expected=expected,
            remedy="make the folder, or name another one",
        )
    check_output_folder(file.parent, option)
    return file


def _has_ending(name: str, endings: Sequence[str]) -> bool:
    """Returns whether a name has an ending, in any case, and something before it."""
    return any(name.lower().endswith(end) and len(name) > len(end) for end in endings)


def _stem_of(file: epath.Path) -> str:
    """Returns the name of a file without its ending; `.png` has none."""
    return file.stem if file.suffix else file.name


def check_output_folder(folder: epath.Path, option: str) -> None:
    """Checks that a folder exists or can be made, and that files can be written in it.

    Raises:
      ConfigError: if it cannot be made or written; `option` names it.
    """
    try:
        with temporary_folder(folder) as probe:
            (probe / "file").write_bytes(b"")
    except OSError as error:
        raise _cannot_write(option, folder, error) from None


def write_output_file(file: epath.Path, data: bytes | str, option: str) -> None:
    """Writes a file, which appears under its name only when it is complete.

    Text becomes UTF-8. A lone surrogate, as in file names that are not UTF-8, becomes a `?`.

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


def _cannot_write(option: str, path: epath.Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{option} {path}",
        found=f"it cannot be written: {error.strerror or error}",
        expected="a file or folder that you may write, on a disk with space",
        remedy="name another one",
    )
