"""Names that can be files below a folder, and those that cannot."""

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.names import unprintable

MAX_NAME_BYTES = 240
"""Bytes of one part of a path, in UTF-8: file systems take 255, and an ending may be added."""

_MAX_PATH_BYTES = 1000
_MAX_SHOWN_CHARACTERS = 80


def path_fault(name: str, root: str) -> str:
    """Returns why a name is no path below a folder; empty if it is one.

    Args:
      name: the name, with `/` between folders.
      root: how the answer calls the folder, such as `tree`.
    """
    parts = name.split("/")
    # On Windows, C: and C:/x are absolute. C:x is below the current folder of the drive.
    has_drive_letter = name[1:2] == ":"
    is_drive = has_drive_letter and len(parts[0]) == 2
    if name.startswith("/") or is_drive or ".." in parts:
        return f"leaves the {root}"
    if has_drive_letter:
        return "begins as the letter of a drive does on Windows"
    if "" in parts or "." in parts:
        return "names no file"
    return ""


def name_fault(name: str) -> str:
    """Returns why no file below a folder can have a name; empty if one can."""
    fault = path_fault(name, "folder")
    if fault:
        return fault
    if "\\" in name:
        return "has a backslash"
    if unprintable(name):
        return "has a control character"
    name_bytes = len(name.encode())
    longest_part_bytes = max(len(part.encode()) for part in name.split("/"))
    if longest_part_bytes > MAX_NAME_BYTES or name_bytes > _MAX_PATH_BYTES:
        return f"has {name_bytes} bytes"
    return ""


def check_name(
    name: str, where: object, remedy: str = "build the dataset again with other names"
) -> None:
    """Checks that a name can be that of a file below a folder.

    Raises:
      RecordError: if it cannot.
    """
    fault = name_fault(name)
    if fault:
        raise RecordError(
            where,
            found=f"the name {show_file_name(name)}, which {fault}",
            expected="the path of a file inside the folder, such as a.jpg or folder/a.jpg",
            remedy=remedy,
        )


def show_file_name(name: str) -> str:
    """Returns a name for an error: in quotes, nothing in it hidden, no longer than a line."""
    quoted = ascii(name)
    if len(quoted) <= _MAX_SHOWN_CHARACTERS:
        return quoted
    return f"{quoted[:60]}...{quoted[-15:]}"
