"""Folders and files that appear under their names only when they are complete.

A folder is made beside its place, as `incomplete.TOKEN_NAME`, and renamed at the end; a file is
made in such a folder. While it is being made, its process holds a lock on `incomplete.TOKEN.lock`.
The operating system frees the lock when the process ends, however it ends, so the next run can tell
what is dead and remove it. Tokens are random, so nobody can put a link where something will be
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

_LOCK = re.compile(r"incomplete\.([0-9a-f]{12})\.lock")
# TFDS builds in a folder whose name is its own prefix and the name that it was given.
_FOLDER = re.compile(r"(?:incomplete\.[A-Z0-9]{6}_)?incomplete\.([0-9a-f]{12})_(.+)")

Staged = contextlib.AbstractContextManager[epath.Path]

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # from Linux's fcntl.h and fs.h


def staged_folder(folder: epath.PathLike, *, replace: bool = False) -> Staged:
    """Gives a new folder beside its place, and moves it there when it is complete.

    What dead processes left beside it is removed first.

    Args:
      folder: the folder's place; it may exist if it is empty.
      replace: whether a folder that is there may be replaced. It stays until the new one is
        complete.

    Returns:
      For `with`, the path to make the folder at. If the block raises, also by Ctrl-C or SIGTERM,
      whatever is there is removed, and so are the folders above it that were made for it.

    Raises:
      ConfigError: if another process has put something there meanwhile.
    """
    folder = epath.Path(folder)
    return _beside(folder.parent, folder.name, lambda made: _move(made, folder, replace))


@contextlib.contextmanager
def staged_file(file: epath.PathLike) -> Iterator[epath.Path]:
    """Lets a file be written beside its place, and moves it there when it is complete.

    Args:
      file: its place, in a folder that exists. A file that is there stays until then, and so does
        what it is a link to.

    Yields:
      The path to write it at. If the block raises, also by Ctrl-C or SIGTERM, it is removed.
      In an object store it is the place itself.
    """
    file = epath.Path(file)
    if is_bucket(file):  # where a file never appears before it is complete
        yield file
        return
    os.stat(file.parent)  # noqa: PTH116 - raises if it is not there

    def finish(made: epath.Path) -> None:
        (made / file.name).replace(file)

    with _beside(file.parent, "file", finish, private=True) as folder:
        yield folder / file.name


def temporary_folder(parent: epath.PathLike | None = None) -> Staged:
    """Gives a new folder that only this user can read, and removes it at the end.

    It is removed as a whole, also after an error, Ctrl-C or SIGTERM; after a SIGKILL by the next
    run that needs one.

    Args:
      parent: where to make it; by default where this machine has its temporary files.
    """
    parent = epath.Path(parent or tempfile.gettempdir())
    return _beside(parent, "voc_seg_tfrecord", private=True)


@contextlib.contextmanager
def _beside(
    parent: epath.Path,
    name: str,
    finish: Callable[[epath.Path], None] | None = None,
    *,
    private: bool = False,
) -> Iterator[epath.Path]:
    """Yields a path in a folder, and removes what is left there at the end.

    Args:
      parent: the folder.
      name: what the path's name ends with.
      finish: puts what was made in its place; not called if the block raises.
      private: whether to make a folder there that nobody else can read or put a link into.
    """
    with DelayedSignals() as signals, _made_for_it(parent), _token(parent, name) as token:
        made = parent / f"incomplete.{token}_{name}"
        try:
            if private and not is_bucket(made):
                os.mkdir(made, 0o700)  # noqa: PTH102 - epath gives the rights to all
            signals.let_through()
            yield made
            signals.waiting = True
            if finish is not None:
                finish(made)
        finally:
            signals.waiting = True
            for left in parent.glob(f"incomplete.*{token}_*"):
                if not is_bucket(left) and os.path.islink(left):  # noqa: PTH114 - that was replaced
                    os.unlink(left)  # noqa: PTH108
                else:
                    left.rmtree()


@contextlib.contextmanager
def _made_for_it(folder: epath.Path) -> Iterator[None]:
    """Makes a folder with those above it; removes those it made if they stay empty."""
    missing = [] if is_bucket(folder) else [p for p in (folder, *folder.parents) if not p.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield
    finally:
        for path in missing:
            with contextlib.suppress(OSError):  # something is in it
                os.rmdir(path)  # noqa: PTH106 - epath has only rmtree


def remove_dead(parent: epath.PathLike, name: str) -> None:
    """Removes the unfinished folders of processes that have ended, and their locks.

    Of folders without a lock only those are ours that would have got the same name.
    """
    parent = pathlib.Path(parent)
    try:
        names = sorted(path.name for path in parent.iterdir())
    except FileNotFoundError:  # another run has removed it, as it was empty
        return
    locks = [match[1] for path in names if (match := _LOCK.fullmatch(path))]
    folders = [
        (match[1], path)
        for path in names
        if (match := _FOLDER.fullmatch(path)) and (match[1] in locks or match[2] == name)
    ]
    for token in {*locks, *(token for token, _ in folders)}:
        lock = parent / f"incomplete.{token}.lock"
        with contextlib.ExitStack() as stack:
            # The lock file is there before the folder is, and goes after it.
            if lock.exists() and stack.enter_context(_locked(lock)) != _Lock.HELD_HERE:
                continue
            for owner, path in folders:
                if owner == token:
                    shutil.rmtree(parent / path, ignore_errors=True)
            with contextlib.suppress(OSError):  # of another user, in a folder that all may use
                lock.unlink()


@contextlib.contextmanager
def _token(parent: epath.Path, name: str) -> Iterator[str]:
    """Yields a new token, whose lock is held in a local folder."""
    token = uuid.uuid4().hex[:12]
    if fcntl is None or is_bucket(parent):
        yield token
        return
    remove_dead(parent, name)
    lock = pathlib.Path(parent, f"incomplete.{token}.lock")
    _make(lock)
    with _locked(lock) as state:
        if state == _Lock.UNSUPPORTED:  # as in a bucket, nothing tells whether a process has ended
            lock.unlink(missing_ok=True)
            yield token
            return
        if state == _Lock.HELD_ELSEWHERE or not lock.exists():
            # Another run took the lock file for a dead one's before it was locked.
            with _token(parent, name) as other:
                yield other
            return
        try:
            yield token
        finally:
            lock.unlink(missing_ok=True)


def _make(lock: pathlib.Path) -> None:
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666))
        except FileNotFoundError:  # another run has removed the folder, as it was empty
            lock.parent.mkdir(parents=True, exist_ok=True)
        else:
            return


class _Lock(enum.Enum):
    """What became of the try to lock a file."""

    HELD_HERE = "held by this process"
    HELD_ELSEWHERE = "held by another process"
    UNSUPPORTED = "on a file system without locks, such as Lustre and some of FUSE and NFS"


@contextlib.contextmanager
def _locked(lock: pathlib.Path) -> Iterator[_Lock]:
    """Tries to lock a file during the block; yields what became of it."""
    try:
        # Neither a link nor a named pipe, which somebody else may have put there.
        descriptor = os.open(lock, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        yield _Lock.HELD_ELSEWHERE
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        state = _Lock.HELD_HERE
    except BlockingIOError:
        state = _Lock.HELD_ELSEWHERE
    except OSError:  # ENOSYS, ENOLCK, EOPNOTSUPP
        state = _Lock.UNSUPPORTED
    try:
        yield state
    finally:
        os.close(descriptor)


def _move(made: epath.Path, folder: epath.Path, replace: bool) -> None:
    """Puts a complete folder in its place; a folder that is replaced goes where it was."""
    if replace and (folder.exists() or os.path.islink(folder)):  # noqa: PTH114
        # A link is replaced, and what it leads to stays.
        if not _exchange(made, folder):
            old = made.with_name(f"{made.name}.old")
            folder.rename(old)
            made.rename(folder)
        return
    try:
        if not is_bucket(folder):
            os.rename(made, folder)  # noqa: PTH104 - epath does not rename to an empty folder
        else:
            made.rename(folder)
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
    names = os.fsencode(os.fspath(first)), os.fsencode(os.fspath(second))
    return bool(rename(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0)


def check_file(path: PathLike, option: str, endings: Sequence[str] = ()) -> epath.Path:
    """Returns the path of a file to write, checked before the work whose result it will hold.

    Args:
      path: as the user named it.
      option: what names it, for errors.
      endings: of which its name must have one, in any case; empty for any name.

    Raises:
      ConfigError: if it is a folder, has another ending, or lies in a folder that is not there, or
        that cannot be written.
    """
    file = epath.Path(path).expanduser()
    has_ending = any(file.name.lower().endswith(e) and len(file.name) > len(e) for e in endings)
    if file.is_dir():
        found, remedy = "a folder", "name a file in it"
    elif endings and not has_ending:
        found = f"the ending {file.suffix!r}" if file.suffix else "no ending"
        remedy = f"name a file such as '{file.stem if file.suffix else file.name}{endings[0]}'"
    elif not (is_bucket(file) or file.parent.is_dir()):  # object stores have no empty folders
        found, remedy = f"no folder {file.parent}", "make the folder, or name another one"
    else:
        if not is_bucket(file):
            check_folder(file.parent, option)
        return file
    kind = f"an ending of {', '.join(endings)}, and" if endings else "a file in"
    expected = f"{kind} a folder that exists"
    raise ConfigError(f"{option} {file}", found=found, expected=expected, remedy=remedy)


def write_files(folder: epath.Path, files: Mapping[str, bytes]) -> None:
    """Writes files below a folder, which appear under their names only when all are complete.

    Args:
      folder: a new folder; or one that is there and has none of the names that begin the paths.
      files: their bytes by path, with `/` between folders.

    Raises:
      OSError: if they cannot be written; then none is there.
    """

    def finish(made: epath.Path) -> None:
        for path in made.iterdir():
            path.rename(folder / path.name)

    there = folder.exists()
    with _beside(folder, "files", finish) if there else staged_folder(folder) as incomplete:
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
    data = data.encode("utf-8", "replace") if isinstance(data, str) else data
    try:
        with staged_file(file) as incomplete:
            incomplete.write_bytes(data)
    except OSError as error:
        raise _cannot_write(option, file, error) from None


def check_folder(folder: epath.Path, option: str) -> None:
    """Checks that a folder is there or can be made, and that files can be written in it.

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
