"""Folders and files that appear under their names only when they are complete.

A folder is made beside its final path, as `incomplete.TOKEN_NAME`, and renamed at the end. A file
is made in such a folder. If the process is killed, the next run removes the folder; see `locks`.
"""

from collections.abc import Callable, Iterator, Mapping
import contextlib
import ctypes
import errno
import os
import sys
import tempfile

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.locks import locked_token, name_unfinished
from voc_seg_tfrecord.core.signals import DelayedSignals
from voc_seg_tfrecord.core.storage import is_bucket

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
    with DelayedSignals() as signals, _existing(parent), locked_token(parent, name) as token:
        staged = parent / name_unfinished(token, name)
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
