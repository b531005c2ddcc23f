"""The files and folders that a command's options name for its output.

They are checked before the work whose result they will hold, so that hours of work are not lost to
a typing mistake.
"""

from collections.abc import Sequence

from etils import epath

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.staging import staged_file, temporary_folder
from voc_seg_tfrecord.core.storage import PathLike, is_bucket


def check_file(path: PathLike, option: str, endings: Sequence[str] = ()) -> epath.Path:
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
    check_folder(file.parent, option)
    return file


def _has_ending(name: str, endings: Sequence[str]) -> bool:
    """Returns whether a name has an ending, in any case, and something before it."""
    return any(name.lower().endswith(end) and len(name) > len(end) for end in endings)


def _stem_of(file: epath.Path) -> str:
    """Returns the name of a file without its ending; `.png` has none."""
    return file.stem if file.suffix else file.name


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


def write_file(file: epath.Path, data: bytes | str, option: str) -> None:
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
