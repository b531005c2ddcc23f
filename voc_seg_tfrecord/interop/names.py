"""Names of images that come from outside: what can be a file's name below a folder."""

from collections.abc import Mapping
import unicodedata

from voc_seg_tfrecord.errors import RecordError

MAX_BYTES = 240
"""Bytes of one part of a path, in UTF-8: file systems take 255, and an ending may be added."""

_MAX_PATH = 1000
_LINE_ENDS_AND_CONTROL = frozenset({"Cc", "Zl", "Zp"})


def fault(name: str) -> str:
    """Says why a name cannot be that of a file below a folder; empty if it can.

    Args:
      name: folders, if any, are separated by `/`.
    """
    parts = name.split("/")
    if name.startswith("/") or name[1:2] == ":" or ".." in parts:
        return "leaves the folder"
    if "\\" in name:
        return "has a backslash"
    if "" in parts or "." in parts:
        return "is no file's name"
    if any(unicodedata.category(character) in _LINE_ENDS_AND_CONTROL for character in name):
        return "has a control character"
    longest = max(len(part.encode()) for part in parts)
    if longest > MAX_BYTES or len(name.encode()) > _MAX_PATH:
        return f"has {max(longest, len(name.encode()))} bytes"
    return ""


def check(name: str, where: object) -> None:
    """Checks that a name can be that of a file below a folder.

    Raises:
      RecordError: if it cannot.
    """
    if found := fault(name):
        raise RecordError(
            where,
            found=f"the name {shown(name)}, which {found}",
            expected="the name of a file below a folder",
            remedy="build the dataset again with other names",
        )


def shown(name: str) -> str:
    """Returns a name for an error: in quotes, nothing in it hidden, no longer than a line."""
    quoted = ascii(name)
    return quoted if len(quoted) <= 80 else f"{quoted[:60]}...{quoted[-15:]}"


def keys_without_name(keys: Mapping[str, str]) -> str:
    """Returns the `--keys` that read the same records and leave their names out."""
    return "--keys " + ",".join(f"{what}={key}" for what, key in keys.items() if what != "filename")
