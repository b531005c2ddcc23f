"""What the parsers of class files share: the format of a file, and how its parts are read.

A parser makes a `ClassEntry` of each class in a text. The modules of `tools` have the parsers of
the files that tools write. People write lists (`class_lists`) and JSON (`class_json`).
"""

import collections
from collections.abc import Callable, Collection, Sequence
import csv
import dataclasses
import enum
import io
import json
import math
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.names import Color


def _no_background(text: str) -> str:
    del text
    return ""


class NumberingOfNames(enum.Enum):
    """How the names of a file without values are numbered; see `folder.classes.numbering`."""

    UNKNOWN = "the first name is value 0, or value 1 after a background that is not listed"
    MOSTLY_SKIPS_IGNORED = "as UNKNOWN, and `__ignore__` in the first line mostly does not count"
    LABELME = "the first name is value 0, and `__ignore__` in the first line does not count"
    OMITS_BACKGROUND = "background is value 0 or black, and not among the names"


@dataclasses.dataclass(frozen=True, kw_only=True)
class ClassFileFormat:
    """A class file of a tool, or one by hand.

    Attributes:
      name: the file's name.
      parse: returns the classes in the file's text. It raises one of `UNREADABLE` if the text is
        something else.
      expected: what the file should hold, for errors.
      is_common: whether other programs write files of this name too, such as lists of images with
        their labels. One that cannot be read is not an error if another file has the names.
      needs_its_folder: whether the file counts only in the folder of its images, because most files
        of this name say something else. Above the images it is not read, and one that cannot be
        read is not an error.
      background_of: returns the name of the class that the text calls background; mostly empty.
      numbering: how its names are numbered if it has no values.
    """

    name: str
    parse: Callable[[str], list[ClassEntry]]
    expected: str
    is_common: bool = False
    needs_its_folder: bool = False
    background_of: Callable[[str], str] = _no_background
    numbering: NumberingOfNames = NumberingOfNames.UNKNOWN


UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,  # an infinite color
    RecursionError,  # JSON that is nested too deep
    csv.Error,
)
"""What parsers raise about files that no tool wrote."""


# Lines.


def split_lines(text: str) -> list[str]:
    r"""Returns the lines of a text, without blanks around them.

    A line ends at `\n`, `\r` or both. `str.splitlines` also ends one at characters such as U+2028,
    and would make two classes of a name that holds one.
    """
    return [line.strip() for line in io.StringIO(text, newline=None)]


def lines_of_names(text: str) -> list[str]:
    """Returns the lines of a text of names that are numbered by their lines.

    Raises:
      ValueError: if a line between them is empty, which some programs count.
    """
    lines = split_lines(text.strip())
    check_no_empty_line(lines)
    return lines


def is_comment(line: str) -> bool:
    """Says whether a line is surely a comment: `# by hand`, but not `#cat`, which may be a name."""
    return line == "#" or line.startswith("# ")


def check_no_empty_line(lines: Sequence[str]) -> None:
    """Raises a ValueError if a line of names, of which the first is not empty, is empty."""
    if "" in lines:
        name_above = lines[lines.index("") - 1]
        raise ValueError(f"an empty line after {name_above!r:.80}")


def parse_names(text: str) -> list[ClassEntry]:
    """Reads one name per line."""
    return [
        ClassEntry(place, name, by_place=True) for place, name in enumerate(lines_of_names(text))
    ]


# JSON.


def load_json(text: str) -> Any:
    """Returns the content of JSON.

    Raises:
      ValueError: if an object has a key twice, whose first value would be lost.
    """
    return json.loads(text, object_pairs_hook=_object_with_distinct_keys)


def _object_with_distinct_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    counts = collections.Counter(key for key, _ in pairs)
    for key, count in counts.items():
        if count > 1:
            raise ValueError(f"the key {key[:80]!r} {count} times in one object")
    return dict(pairs)


# The parts of an entry.


def number_by_place(entries: list[ClassEntry]) -> list[ClassEntry]:
    """Gives entries without values the values of their places.

    Raises:
      ValueError: if some entries have a value and others have none.
    """
    without_value = sum(entry.by_place for entry in entries)
    if not without_value:
        return entries
    if without_value < len(entries):
        raise ValueError("some classes have a value, and others have none")
    return [dataclasses.replace(entry, value=place) for place, entry in enumerate(entries)]


def read_name(value: object) -> str:
    """Returns the name of a class."""
    if not isinstance(value, str | int):
        raise ValueError(f"the name of a class is {value!r:.80}")
    return str(value).strip()


def read_value(value: Any) -> int:
    """Returns the value of a class, which may be a text: 1 of `1`, and of pandas' `1.0`."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not number.is_integer():
        raise ValueError(f"the value {value!r:.80} of a class is not a whole number")
    return int(number)


def read_rgb(parts: Collection[Any]) -> Color:
    """Returns a color of its three parts."""
    red, green, blue = (int(part) for part in parts)
    if [red, green, blue] != [float(part) for part in parts]:
        raise ValueError(f"color {', '.join(map(str, parts))} is not in whole numbers")
    if not all(0 <= part <= 255 for part in (red, green, blue)):
        raise ValueError(f"color {red}, {green}, {blue} is not 0 to 255")
    return red, green, blue


def read_color(color: Any) -> Color:
    """Returns a color that is written as `[128, 0, 0]`, `128 0 0`, `(128, 0, 0)` or `#800000`."""
    if not isinstance(color, str):
        return read_rgb(color)
    text = color.strip()
    if re.fullmatch(r"#[0-9a-f]{6}", text, re.IGNORECASE):
        return read_rgb(bytes.fromhex(text[1:]))
    return read_rgb(re.split(r"[\s,;]+", text.strip(" ()[]")))
