"""The stem and the ending of the name of a file.

`posixpath.splitext` takes longer, as it also looks for folders and for dots at the beginning.
"""


def stem_of(name: str) -> str:
    """Returns the name of a file without its ending."""
    return name.rpartition(".")[0] or name


def ending_of(name: str) -> str:
    """Returns the ending of the name of a file with its dot, in lower case; empty if none."""
    stem, _, ending = name.rpartition(".")
    return f".{ending.lower()}" if stem else ""
