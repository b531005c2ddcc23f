"""Reads the text of a class file: which value or color is which class.

`ClassFileFormat` describes one file. The modules of `tools` hold the formats that tools write. Here
is what these share, and the two forms that people write by hand: `parse_table` and `parse_json`.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import csv
import dataclasses
import io
import json
import re
from typing import Any, Literal

from voc_seg_tfrecord.core.names import Color


@dataclasses.dataclass(frozen=True)
class Entry:
    """One class of a class file.

    Attributes:
      value: the mask value, 0 to 255; -1 is void.
      name: the name.
      color: the color, if the file has one.
      by_place: whether the value is the entry's place, because the file holds no values.
    """

    value: int
    name: str
    color: Color | None = None
    by_place: bool = dataclasses.field(default=False, compare=False)


def _no_background(text: str) -> str:
    del text
    return ""


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
      lists_background: whether its first name is value 0, background or not; for names without
        values, as the next two.
      omits_background: whether background, which is value 0 or black, is not among its names.
      skips_ignored: whether `__ignore__` in the first line does not count: `always`, `mostly`, or
        empty if that is not known.
    """

    name: str
    parse: Callable[[str], list[Entry]]
    expected: str
    is_common: bool = False
    needs_its_folder: bool = False
    background_of: Callable[[str], str] = _no_background
    lists_background: bool = False
    omits_background: bool = False
    skips_ignored: Literal["", "mostly", "always"] = ""


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


# What the formats share.


def number_by_place(entries: list[Entry]) -> list[Entry]:
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


def lines_of_names(text: str) -> list[str]:
    """Returns the lines of a text of names that are numbered by their lines.

    Raises:
      ValueError: if a line between them is empty, which some programs count.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    if "" in lines:
        name_above = lines[lines.index("") - 1]
        raise ValueError(f"an empty line after {name_above!r:.80}")
    return lines


def parse_names(text: str) -> list[Entry]:
    """Reads one name per line."""
    return number_by_place([Entry(0, name, by_place=True) for name in lines_of_names(text)])


def lines_with_content(text: str) -> list[str]:
    """Returns the lines that are neither blank nor comments, without blanks around them."""
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


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


def read_name(value: object) -> str:
    """Returns the name of a class."""
    if not isinstance(value, str | int):
        raise ValueError(f"the name of a class is {value!r:.80}")
    return str(value).strip()


def read_value(value: Any) -> int:
    """Returns the value of a class; in JSON it may be a text."""
    number = int(value)
    if number != float(value):
        raise ValueError(f"the value {value!r:.80} of a class is not a whole number")
    return number


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


# The table of classes, which `class_table` reads.

TABLE = "classes.csv"
"""The file that may hold a table of classes; see `class_table`."""

TABLE_KEYS = ("value", "color", "name")
"""The columns of a table of classes that hold keys; further columns are for people."""


def is_table(text: str) -> bool:
    """Says whether a CSV file is a table of classes, and not a list of numbers and names."""
    try:
        head, *rows = csv.reader(io.StringIO(text, newline=None))
    except (csv.Error, ValueError):  # nothing in it
        return False
    columns = table_columns(head)
    keys = {*TABLE_KEYS} & {*columns}
    if "class" not in columns or not keys:
        return False
    classes = [dict(zip(columns, row, strict=False)).get("class", "") for row in rows if row]
    are_numbers = all(word.strip().isdecimal() for word in classes)
    lists_numbers_of_names = keys == {"name"} and bool(classes) and are_numbers
    return not lists_numbers_of_names


def table_columns(head: Collection[str]) -> list[str]:
    """Returns the columns that a head line names."""
    words = [cell.strip().casefold() for cell in head]
    return ["color" if word == "colour" else word for word in words]


# Names by hand, with or without numbers and colors.

_NAME_COLUMNS = ("name", "classname", "labelname", "label", "class", "category")
_VALUE_COLUMNS = ("id", "value", "pixelvalue", "index", "classid", "labelid")
_COLOR_COLUMNS = ("color", "colour", "rgb", "hex")
_RED_COLUMNS = ("r", "red")
_GREEN_COLUMNS = ("g", "green")
_BLUE_COLUMNS = ("b", "blue")
_WORDS_OF_COLORS = re.compile("(?:class|label)?(?:colou?rs?|rgb|hex)+(?:values?|codes?)?")
_HEADS_OF_NAMES = ("name", "class", "classes", "class_name")


def parse_table(text: str) -> list[Entry]:
    """Reads a list of names by hand, with or without numbers and colors.

    Lines are `name`, `value name`, `name value`, `name r g b`, `r g b name` or `value name r g b`,
    between blanks, commas, semicolons or tabs. A head line names columns in any order.
    """
    lines = [line for line in lines_with_content(text) if line.strip(",;")]
    if not lines:
        return []
    for delimiter in ",;\t":
        entries = _read_rows_below_head_line(lines, delimiter)
        if entries is not None:
            return number_by_place(entries)
    lines = [line.rstrip(",;") for line in lines]
    if len(lines) > 1 and lines[0].casefold() in _HEADS_OF_NAMES:
        lines = lines[1:]
    if len(lines) == 1 and "," in lines[0] and not re.search(r"\d", lines[0]):
        lines = lines[0].split(",")
    entries = _read_lines_with_colors(lines) or _read_lines_with_numbers(lines)
    if entries:
        return number_by_place(entries)
    lines_of_names(text[text.index(lines[0]) :])  # checks that no line between them is empty
    names = [line.strip(" \t\"'") for line in lines]
    return number_by_place([Entry(0, name, by_place=True) for name in names])


def _read_rows_below_head_line(lines: Sequence[str], delimiter: str) -> list[Entry] | None:
    """Reads lines below one that names columns; returns None if the first line names none.

    Raises:
      ValueError: if the columns hold names, and neither values nor colors.
    """
    rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    columns = [_column_name(cell) for cell in _without_empty_end(rows[0], 0)]
    if len(columns) < 2 or {*columns}.isdisjoint(_NAME_COLUMNS):
        return None
    rows = [_without_empty_end(row, len(columns)) for row in rows[1:]]
    if _has_values_or_colors(columns):
        return [_read_row(columns, row) for row in rows]
    if rows and all(len(row) == len(columns) for row in rows):
        raise ValueError(f"the head line {lines[0][:80]!r} names no value and no color")
    return None


def _without_empty_end(row: Sequence[str], number: int) -> list[str]:
    """Returns a row without the empty cells at its end that are more than a number of cells."""
    cells = list(row)
    while len(cells) > number and not cells[-1].strip():
        cells.pop()
    return cells


def _column_name(cell: str) -> str:
    """Returns what a head line calls a column: `color` for `color_rgb` and `RGB values` too."""
    word = re.sub(r"[^a-z0-9]", "", cell.casefold())
    if word not in _COLOR_COLUMNS and _WORDS_OF_COLORS.fullmatch(word):
        return "color"
    return word


def _has_values_or_colors(columns: Collection[str]) -> bool:
    """Says whether columns hold more than a name; so do `class` and `name` together."""
    if {*columns} <= {*_NAME_COLUMNS}:
        return True
    return not {*columns}.isdisjoint((*_VALUE_COLUMNS, *_COLOR_COLUMNS, *_RED_COLUMNS))


def _read_row(columns: Sequence[str], row: Sequence[Any]) -> Entry:
    """Reads a line below a head line, or an object of a list."""
    shown = ",".join(map(str, row))[:80]
    if len(row) != len(columns):
        raise ValueError(f"the line {shown!r} has {len(row)} of {len(columns)} cells")
    cells = dict(zip(columns, row, strict=True))
    values = {read_value(cells[column]) for column in _VALUE_COLUMNS if column in cells}
    if len(values) > 1:
        raise ValueError(f"the line {shown!r} has several values")
    name = _first_cell(cells, _NAME_COLUMNS)
    color = _color_of_cells(cells)
    value = _first_cell(cells, _VALUE_COLUMNS)
    if value is None:
        value = _number_beside_name(cells, name)
    if value is None:
        return Entry(0, read_name(name), color, by_place=True)
    return Entry(read_value(value), read_name(name), color)


def _first_cell(cells: Mapping[str, Any], columns: Collection[str]) -> Any:
    """Returns the cell of the first column that is there; None if none of them is."""
    return next((cells[column] for column in columns if column in cells), None)


def _color_of_cells(cells: Mapping[str, Any]) -> Color | None:
    color = _first_cell(cells, _COLOR_COLUMNS)
    if color is not None:
        return read_color(color)
    red = _first_cell(cells, _RED_COLUMNS)
    if red is None:
        return None
    return read_rgb([red, _first_cell(cells, _GREEN_COLUMNS), _first_cell(cells, _BLUE_COLUMNS)])


def _number_beside_name(cells: Mapping[str, Any], name: Any) -> Any:
    """Returns the number in a column `class` or `label` beside that of names; None if none is."""
    number = _first_cell(cells, ("class", "label"))
    if number is None or number == name:
        return None
    return number if re.fullmatch(r"-?\d+", str(number)) else None


# Patterns see what a file holds, so none may go back over a run of characters again and again. A
# lookbehind lets a run be tried from its start alone.
_SEPARATOR = r"[\s,;:]+"
_RUN_OF_SEPARATORS = r"(?<![\s,;:])[\s,;:]+"
_PART = r"\d+(?:\.\d+)?"
_COLOR = rf"({_PART}[\s,;]+{_PART}[\s,;]+{_PART}|#[0-9a-fA-F]{{6}})"
_NAME_AND_COLOR = re.compile(rf"(.*\S)[:,;\s]\s*{_COLOR}[:;\s]*")
_COLOR_AND_NAME = re.compile(rf"{_COLOR}{_SEPARATOR}(\S.*)")
_NUMBER_AND_NAME = re.compile(r"(-?\d+)(?:\s*[:,;=.)]\s*|\s+)(\S.*)")
_NAME_AND_NUMBER = re.compile(r"(\S.*?)(?<!\s)(?:\s*[:,;=]\s*|\s+)(-?\d+)")
_NUMBER_AT_AN_END = re.compile(rf"{_RUN_OF_SEPARATORS}\d+$|^\d+{_SEPARATOR}")


def _read_lines_with_colors(lines: Sequence[str]) -> list[Entry]:
    """Reads lines that all have a color, at their end or at their start.

    Returns no entries if at most one line has a color.
    """
    color_last = [_NAME_AND_COLOR.fullmatch(line) for line in lines]
    color_first = [_COLOR_AND_NAME.fullmatch(line) for line in lines]
    if all(color_last) and all(color_first):
        raise ValueError(f"the line {lines[0][:80]!r} may be a color and a name, or both reversed")
    if all(color_last):
        pairs = [(match[1], match[2]) for match in color_last if match]
        return _pair_names_and_colors(lines, pairs, may_have_numbers=True)
    if all(color_first):
        pairs = [(match[2], match[1]) for match in color_first if match]
        return _pair_names_and_colors(lines, pairs, may_have_numbers=False)
    for matches in (color_last, color_first):
        if len([match for match in matches if match]) > 1:
            line = lines[matches.index(None)]
            raise ValueError(f"no color in {line[:80]!r}, as in other lines")
    return []


def _pair_names_and_colors(
    lines: Sequence[str], pairs: Sequence[tuple[str, str]], *, may_have_numbers: bool
) -> list[Entry]:
    """Returns the entries of lines that are pairs of a name and a color.

    A name may hold the value of the class too, if `may_have_numbers`.
    """
    names = [name.strip(" \t,;:\"'") for name, _ in pairs]
    colors = [read_color(color) for _, color in pairs]
    numbered = _read_lines_with_numbers(names) if may_have_numbers else []
    if numbered:
        numbers = zip(numbered, colors, strict=True)
        return [dataclasses.replace(entry, color=color) for entry, color in numbers]
    words = [re.sub(r"[\d\s]", "", name) for name in names]
    if all(_NUMBER_AT_AN_END.search(name) for name in names) and _are_distinct(words):
        raise ValueError(f"four numbers in {lines[0][:80]!r}; it is not clear which are the color")
    return [Entry(0, name, color, by_place=True) for name, color in zip(names, colors, strict=True)]


def _read_lines_with_numbers(lines: Sequence[str]) -> list[Entry]:
    """Reads lines that all have a number and a name.

    Returns none if a line has no number, or if the numbers belong to the names: lane 1, lane 2.
    """
    number_first = [_NUMBER_AND_NAME.fullmatch(line) for line in lines]
    number_last = [_NAME_AND_NUMBER.fullmatch(line) for line in lines]
    if all(number_first):
        pairs = [(match[1], match[2]) for match in number_first if match]
    elif all(number_last):
        pairs = [(match[2], match[1]) for match in number_last if match]
    else:
        _check_no_line_lost_its_number(lines, number_first)
        return []
    if not _are_distinct([name for _, name in pairs]):
        return []
    return [Entry(read_value(value), name.strip(" \t\"'")) for value, name in pairs]


def _check_no_line_lost_its_number(
    lines: Sequence[str], matches: Sequence[re.Match[str] | None]
) -> None:
    """Raises an error if several lines begin with the number of their place, and others do not."""
    counted = 0
    for place, match in enumerate(matches):
        if match and int(match[1]) in (place, place + 1):
            counted += 1
    if counted > 1:
        line = lines[matches.index(None)]
        raise ValueError(f"no value in {line[:80]!r}, as in other lines")


def _are_distinct(words: Iterable[str]) -> bool:
    words = list(words)
    return len({*words}) == len(words)


# JSON by hand.

_KEYS_OF_CLASSES = ("classes", "labels", "names", "categories", "class_names", "label_map")


def parse_json(text: str) -> list[Entry]:
    """Reads a list of names or of objects, or an object from name to value or color, or back."""
    content = load_json(text)
    while isinstance(content, dict) and len(content) == 1:
        ((key, inner),) = content.items()
        if key not in _KEYS_OF_CLASSES or not isinstance(inner, list | dict):
            break
        content = inner
    if isinstance(content, list):
        return number_by_place([_read_item(item) for item in content])
    if not isinstance(content, dict):
        raise ValueError("neither a list nor an object")
    return number_by_place([read_member(key, item) for key, item in content.items()])


def _read_item(item: object) -> Entry:
    """Reads a name or an object of a list."""
    if isinstance(item, dict):
        return _read_object(item)
    if isinstance(item, str):
        return Entry(0, item.strip(), by_place=True)
    raise ValueError(f"the entry {item!r:.80} has no name")


def read_member(key: str, item: object) -> Entry:
    """Reads `name: value`, `value: name`, `name: color`, or an object behind a name or a value."""
    is_number = re.fullmatch(r"-?\d+", key) is not None
    if isinstance(item, dict):
        return _read_object({("id" if is_number else "name"): key, **item})
    if is_number and isinstance(item, str):
        return Entry(read_value(key), item.strip())
    if is_number or isinstance(item, bool):
        raise ValueError(f"the entry {key} {item!r:.80} has no name")
    if isinstance(item, int):
        return Entry(read_value(item), key.strip())
    return Entry(0, key.strip(), read_color(item), by_place=True)


def _read_object(item: Mapping[str, Any]) -> Entry:
    cells = {re.sub(r"[^a-z0-9]", "", word.casefold()): cell for word, cell in item.items()}
    return _read_row([*cells], [*cells.values()])
