"""Reads the classes in texts: the lists, tables and JSON in which tools and people name them.

A parser makes a `ClassEntry` of each class in a text. Modules of tools have parsers of their own
for files that only they write. Here are those for what several tools and people write:

| parser | texts |
|---|---|
| `parse_names` | one name per line |
| `parse_list` | lists with or without values and colors |
| `parse_json` | lists and objects in JSON |
| `parse_table` | tables of classes, with the columns `value`, `color` or `name`, and `class` |
"""

from collections.abc import Collection, Mapping, Sequence
import csv
import dataclasses
import io
import math
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_rows import (
    UNKNOWN,
    WILDCARD,
    Key,
    Rows,
    check_rows,
    color_key,
    is_text_of_color,
    is_text_of_value,
    read_rgb,
)
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import Color
from voc_seg_tfrecord.formats.texts import load_json

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

# The parts of a class.


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


def read_color(color: Any) -> Color:
    """Returns a color that is written as `[128, 0, 0]`, `128 0 0`, `(128, 0, 0)` or `#800000`."""
    if not isinstance(color, str):
        return read_rgb(color)
    text = color.strip()
    if is_text_of_color(text):
        return read_rgb(bytes.fromhex(text[1:]))
    return read_rgb(re.split(r"[\s,;]+", text.strip(" ()[]")))


def _is_whole_number(cell: object) -> bool:
    """Says whether a cell is a whole number, as text or not: `1`, or pandas' `1.0`."""
    return re.fullmatch(r"-?\d+(\.0+)?", str(cell)) is not None


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


# A name on each line.


def split_lines(text: str) -> list[str]:
    r"""Returns the lines of a text, without blanks around them.

    A line ends at `\n`, `\r` or both. `str.splitlines` also ends one at characters such as U+2028,
    and would make two classes of a name that holds one.
    """
    return [line.strip() for line in io.StringIO(text, newline=None)]


def is_comment(line: str) -> bool:
    """Says whether a line is surely a comment: `# by hand`, but not `#cat`, which may be a name."""
    return line == "#" or line.startswith("# ")


def lines_of_names(text: str) -> list[str]:
    """Returns the lines of a text of names that are numbered by their lines.

    Raises:
      ValueError: if a line between them is empty, which some programs count.
    """
    lines = split_lines(text.strip())
    _check_no_gap(lines)
    return lines


def _check_no_gap(lines: Sequence[str]) -> None:
    """Raises a ValueError if a line of names, of which the first is not empty, is empty."""
    if "" in lines:
        name_above = lines[lines.index("") - 1]
        raise ValueError(f"an empty line after {name_above!r:.80}")


def parse_names(text: str) -> list[ClassEntry]:
    """Reads one name per line."""
    return [
        ClassEntry(place, name, by_place=True) for place, name in enumerate(lines_of_names(text))
    ]


# Cells that have titles: a row below a head line, or an object in JSON.

_PLAIN_NAME_COLUMNS = ("name", "classname", "labelname", "labellist", "title")
_NAME_OR_NUMBER_COLUMNS = ("label", "class", "category")
_NAME_COLUMNS = (*_PLAIN_NAME_COLUMNS, *_NAME_OR_NUMBER_COLUMNS)
"""Titles of columns of names, in small letters. A plain one counts first, then one of the others
that holds no number."""

_VALUE_COLUMNS = ("id", "value", "pixelvalue", "index", "classid", "labelid")
_COLOR_COLUMNS = ("color", "colour", "rgb", "hex")
_CHANNEL_COLUMNS = (("r", "red"), ("g", "green"), ("b", "blue"))
_COLUMNS_OF_VALUES_AND_COLORS = (*_VALUE_COLUMNS, *_COLOR_COLUMNS, *_CHANNEL_COLUMNS[0])
_COLUMNS_THAT_COUNT = frozenset(
    (*_NAME_COLUMNS, *_COLUMNS_OF_VALUES_AND_COLORS, *_CHANNEL_COLUMNS[1], *_CHANNEL_COLUMNS[2])
)
_WORDS_OF_COLORS = re.compile("(?:class|label)?(?:colou?rs?|rgb|hex)+(?:values?|codes?)?")


def _column_name(title: str) -> str:
    """Returns the column that a title names: `color` for `color_rgb` and `RGB values`, too."""
    word = re.sub(r"[^a-z0-9]", "", title.casefold())
    if word not in _COLOR_COLUMNS and _WORDS_OF_COLORS.fullmatch(word):
        return "color"
    return word


def _read_cells(columns: Sequence[str], row: Sequence[Any]) -> ClassEntry:
    """Returns the class that a row of cells has: `1,crack,128,0,0` below `id,name,r,g,b`.

    Of two columns that may hold names or numbers, such as `label` and `class`, the one with words
    has the name, and the other one the value.

    Args:
      columns: what `_column_name` returns for each column.
      row: the cells.

    Raises:
      ValueError: if the row has another number of cells, or two names, values or colors.
    """
    shown = ",".join(map(str, row))[:80]
    if len(row) != len(columns):
        raise ValueError(f"the line {shown!r} has {len(row)} of {len(columns)} cells")
    cells: dict[str, Any] = {}
    for column, cell in zip(columns, row, strict=True):
        other = cells.setdefault(column, cell)
        if column in _COLUMNS_THAT_COUNT and not _are_same(column, other, cell):
            raise ValueError(f"{column} is {other!r:.80} and {cell!r:.80} for one class")
    names = [cell for cell in _list_cells(cells, _PLAIN_NAME_COLUMNS) if cell is not None]
    numbers: list[Any] = []
    for cell in _list_cells(cells, _NAME_OR_NUMBER_COLUMNS):
        if _is_whole_number(cell):
            numbers.append(cell)
        else:
            names.append(cell)
    if not names and len({*map(str, numbers)}) > 1:
        raise ValueError(f"the line {shown!r} has several numbers, and no name")
    name, *_ = [*names, *numbers, None]
    values = {*map(read_value, _list_cells(cells, _VALUE_COLUMNS))}
    if len(values) > 1:
        raise ValueError(f"the line {shown!r} has several values")
    other_numbers = [number for number in numbers if number != name]
    if other_numbers and not values:
        values.add(read_value(other_numbers[0]))
    color = _find_color(cells)
    if not values:
        return ClassEntry(0, read_name(name), color, by_place=True)
    return ClassEntry(values.pop(), read_name(name), color)


def _are_same(column: str, one: Any, other: Any) -> bool:
    """Says whether two cells of a column mean the same, as the colors `#800000` and `128 0 0`."""
    if str(one) == str(other):
        return True
    return column in _COLOR_COLUMNS and read_color(one) == read_color(other)


def _list_cells(cells: Mapping[str, Any], columns: Collection[str]) -> list[Any]:
    """Returns the cells of the columns that are there, in the order of the columns."""
    return [cells[column] for column in columns if column in cells]


def _find_color(cells: Mapping[str, Any]) -> Color | None:
    color, *_ = [*_list_cells(cells, _COLOR_COLUMNS), None]
    if color is not None:
        return read_color(color)
    channels: list[Any] = []
    for columns in _CHANNEL_COLUMNS:
        channel, *_ = [*_list_cells(cells, columns), None]
        channels.append(channel)
    return None if channels[0] is None else read_rgb(channels)


# Lists.

_DELIMITERS = ",;\t"
_MARKS = ",;"
"""Signs that may stand at the end of each line, and are no part of it."""
_TITLES = ("name", "class", "classes", "class_name")
"""First lines, in small letters, that stand above names and are none of them: title lines."""

# Lines of one form. Their patterns see what a file holds, so none may go back over a run of
# characters again and again. A lookbehind lets a run be tried from its start alone.
_SEPARATOR = r"[\s,;:]+"
_RUN_OF_SEPARATORS = r"(?<![\s,;:])[\s,;:]+"
_PART = r"\d+(?:\.\d+)?"
_HEX_COLOR = re.compile("#[0-9a-fA-F]{6}")
_COLOR = rf"(?P<color>{_PART}[\s,;]+{_PART}[\s,;]+{_PART}|{_HEX_COLOR.pattern})"
_FIRST_NUMBER = re.compile(r"-?\d")
_NUMBER_AT_AN_END = re.compile(rf"{_RUN_OF_SEPARATORS}\d+$|^\d+{_SEPARATOR}")

# crack 128 0 0
_NAME_AND_COLOR = re.compile(rf"(?P<name>.*\S)[:,;\s]\s*{_COLOR}[:;\s]*")
# 128 0 0 crack
_COLOR_AND_NAME = re.compile(rf"{_COLOR}{_SEPARATOR}(?P<name>\S.*)")
# 1, or pandas' 1.0
_VALUE = r"(?P<value>-?\d+(?:\.\d+)?)"
# 1 crack, 1. crack, 1.crack; but the point of 1.5 is no separator
_VALUE_AND_NAME = re.compile(rf"{_VALUE}(?:\s*[:,;=)]\s*|\s*\.(?!\d+\b)\s*|\s+)(?P<name>\S.*)")
# crack 1
_NAME_AND_VALUE = re.compile(rf"(?P<name>\S.*?)(?<!\s)(?:\s*[:,;=]\s*|\s+){_VALUE}")


def parse_list(text: str) -> list[ClassEntry]:
    """Reads a list of classes, with or without values and colors.

    | lines | example |
    |---|---|
    | below a column line, which names the columns | `id,name,r,g,b` / `1,crack,128,0,0` |
    | a value, a name and a color | `1 crack 128 0 0`, `crack 1 128 0 0` |
    | a name and a color | `crack 128 0 0`, `crack: #800000` |
    | a color and a name | `128 0 0 crack` |
    | a value and a name | `1,crack`, `1: crack`, `crack 1` |
    | a name | `crack` |
    | all names in one line | `crack, hole` |

    Between the parts stand blanks, commas, semicolons or tabs. All lines of a list have one form.
    Without a column line, colors are taken off the lines first, then values; the names remain. A
    title line, such as `name`, may stand above them.

    Raises:
      ValueError: if the lines have several forms, or it is not clear which one; see `UNREADABLE`
        for other errors.
    """
    all_lines = split_lines(text.strip())
    lines = [line for line in all_lines if line.strip(_MARKS)]
    comments = [line for line in lines if line.startswith("#")]
    # If each line with `#` begins with a color, as in `#800000 crack`, it is no comment.
    if all(_COLOR_AND_NAME.fullmatch(line) for line in comments):
        comments = []
    else:
        lines = [line for line in lines if not line.startswith("#")]
    if not lines:
        return []
    entries = _read_below_column_line(lines)
    if entries is None:
        entries = _read_without_columns(lines, all_lines)
    if not _begin_with_numbers(lines):
        for line in comments:
            if not is_comment(line):
                raise ValueError(f"{line[:80]!r}, which may be a comment or a name")
    return number_by_place(entries)


def _begin_with_numbers(lines: Sequence[str]) -> bool:
    """Says whether all lines begin with numbers, not counting a column line or a title line.

    One line alone proves nothing.
    """
    numbered_lines = lines if _FIRST_NUMBER.match(lines[0]) else lines[1:]
    return len(numbered_lines) >= 2 and all(_FIRST_NUMBER.match(line) for line in numbered_lines)


def _read_below_column_line(lines: Sequence[str]) -> list[ClassEntry] | None:
    """Reads `1,crack` below `id,name`, with the columns in any order.

    Returns:
      The classes; None if the first line is no column line: one that names several columns, of
      which one holds names.

    Raises:
      ValueError: if the columns hold names, and neither values nor colors; or if a quote is open at
        the end of a line: `1,"crack` takes the line below it as a part of the name.
    """
    for delimiter in _DELIMITERS:
        head, *rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        columns = [*map(_column_name, _without_empty_end(head, 0))]
        if len(columns) < 2 or {*columns}.isdisjoint(_NAME_COLUMNS):
            continue
        if columns[0] == "" and len(columns) == 2:  # pandas gives its numbers of rows no title
            columns[0] = "id"
        if len([head, *rows]) != len(lines):
            odd_lines = [line for line in lines if line.count('"') % 2 == 1]
            line, *_ = [*odd_lines, lines[-1]]
            raise ValueError(f"a quote that is open at the end of {line[:80]!r}")
        rows = [_without_empty_end(row, len(columns)) for row in rows]
        has_values_or_colors = not {*columns}.isdisjoint(_COLUMNS_OF_VALUES_AND_COLORS)
        # Of two columns of names, such as `class` and `name`, one may hold values.
        if has_values_or_colors or {*columns} <= {*_NAME_COLUMNS}:
            return [_read_cells(columns, row) for row in rows]
        if {len(row) for row in rows} == {len(columns)}:
            raise ValueError(f"the head line {lines[0][:80]!r} names no value and no color")
    return None


def _without_empty_end(row: Sequence[str], number: int) -> list[str]:
    """Returns a row without the empty cells at its end that are more than a number of cells."""
    cells = list(row)
    while len(cells) > number and not cells[-1].strip():
        cells.pop()
    return cells


def _read_without_columns(lines: list[str], all_lines: Sequence[str]) -> list[ClassEntry]:
    """Returns the classes of a list that has no column line.

    Args:
      lines: the lines of classes, below a title line if there is one.
      all_lines: the same with comments and empty lines.

    Raises:
      ValueError: if brackets stand around the lines, as in JSON; if marks at the ends of some lines
        may belong to the names; or if a line between names is empty.
    """
    if len(lines) > 1 and lines[0].rstrip(_MARKS).casefold() in _TITLES:
        lines = lines[1:]
    first = lines[0]
    bare_lines = [line.rstrip(_MARKS) for line in lines]
    if first.startswith(("[", "{", "(")) and bare_lines[-1].endswith(("]", "}", ")")):
        raise ValueError(f"brackets around the names, from {first[:80]!r} on")
    if len(lines) == 1:
        return _read_lines_of_one_form(_split_one_line(bare_lines[0]))
    entries = _read_lines_of_one_form(bare_lines)
    # Marks between all lines are separators: `crack,` / `hole`. In `crack` / `hole,` / `lane` the
    # mark may belong to `hole`.
    are_separators = all(line.endswith(tuple(_MARKS)) for line in lines[:-1])
    if not are_separators:
        for line, bare_line, entry in zip(lines, bare_lines, entries, strict=True):
            if line != bare_line and bare_line.endswith(entry.name):
                raise ValueError(f"a mark at the end of {line[:80]!r}, and none at that of others")
    if all(entry.by_place and entry.color is None for entry in entries):
        line_number = all_lines.index(first)
        _check_no_gap(all_lines[line_number:])
    return entries


def _split_one_line(line: str) -> list[str]:
    """Returns the classes of a list that is one line: two of `crack, hole`, one of `1, crack`.

    Several classes are there if several parts have letters, not counting colors.

    Raises:
      ValueError: if other parts have none, as in `1, crack, hole`.
    """
    for delimiter in _DELIMITERS:
        parts = [part.strip() for part in line.split(delimiter)]
        without_colors = [part for part in parts if not _HEX_COLOR.fullmatch(part)]
        names = [part for part in without_colors if any(map(str.isalpha, part))]
        if len(names) < 2:
            continue
        if len(names) < len(parts):
            raise ValueError(f"the only line {line[:80]!r}, which may be one class or several")
        return parts
    return [line]


def _match_all(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str]]:
    """Returns the match of each line; none if a line is of another form."""
    matches = [pattern.fullmatch(line) for line in lines]
    return [] if None in matches else [match for match in matches if match]


def _read_lines_of_one_form(lines: Sequence[str]) -> list[ClassEntry]:
    """Returns the class of each line, after taking off colors and values.

    Raises:
      ValueError: if some lines have a color and others have none, a line may be read in two ways,
        or four numbers of a line may be its color and its value.
    """
    names_first = _match_all(_NAME_AND_COLOR, lines)
    colors_first = _match_all(_COLOR_AND_NAME, lines)
    if names_first and colors_first:
        raise ValueError(f"the line {lines[0][:80]!r} may be a color and a name, or both reversed")
    matches = names_first or colors_first
    if not matches:
        for pattern in (_NAME_AND_COLOR, _COLOR_AND_NAME):
            lines_without_color = [line for line in lines if not pattern.fullmatch(line)]
            if len(lines) - len(lines_without_color) > 1:
                line = lines_without_color[0]
                raise ValueError(f"no color in {line[:80]!r}, as in other lines")
        return _read_values_and_names(lines) or _entries_of_names(lines)
    names = [match["name"].strip(" \t,;:\"'") for match in matches]
    entries = _read_values_and_names(names) if names_first else []
    if not entries:
        # The numbers of names such as `lane 1` and `lane 2`, alike but for these, do not count.
        words = [re.sub(r"[\d\s]", "", name) for name in names]
        have_numbers = all(_NUMBER_AT_AN_END.search(name) for name in names)
        if have_numbers and _are_distinct(words):
            raise ValueError(
                f"four numbers in {lines[0][:80]!r}; it is not clear which are the color"
            )
        entries = _entries_of_names(names)
    colors = [read_color(match["color"]) for match in matches]
    return [dataclasses.replace(e, color=color) for e, color in zip(entries, colors, strict=True)]


def _entries_of_names(names: Sequence[str]) -> list[ClassEntry]:
    """Returns classes without values, whose names may stand in quotes."""
    return [ClassEntry(0, name.strip(" \t\"'"), by_place=True) for name in names]


def _read_values_and_names(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `1 crack` or `crack 1`.

    Returns:
      The classes; none if a line has no number, or if the numbers belong to the names, as in
      `lane 1` and `lane 2`. A number in front never does: `1 hole` and `2 hole` are two values of
      one name.

    Raises:
      ValueError: if several lines begin with the number of their place, and others do not.
    """
    matches = _match_all(_VALUE_AND_NAME, lines)
    if not matches:
        matches = _match_all(_NAME_AND_VALUE, lines)
        if not matches:
            _check_no_line_lost_its_number(lines)
        if not _are_distinct([match["name"] for match in matches]):
            return []
    return [
        ClassEntry(read_value(match["value"]), match["name"].strip(" \t\"'")) for match in matches
    ]


def _check_no_line_lost_its_number(lines: Sequence[str]) -> None:
    """Raises a ValueError if several lines begin with the number of their place, and others not."""
    numbered_lines: list[str] = []
    other_lines: list[str] = []
    for place, line in enumerate(lines):
        match = _VALUE_AND_NAME.fullmatch(line)
        if match is None:
            other_lines.append(line)
        elif float(match["value"]) in (place, place + 1):
            numbered_lines.append(line)
    if len(numbered_lines) > 1:
        raise ValueError(f"no value in {other_lines[0][:80]!r}, as in other lines")


def _are_distinct(words: Sequence[str]) -> bool:
    return len({*words}) == len(words)


# JSON.

_KEYS_OF_CLASSES = ("classes", "labels", "names", "categories", "class_names", "label_map")


def parse_json(text: str) -> list[ClassEntry]:
    """Reads the classes in JSON that people write.

    | classes | example |
    |---|---|
    | a list of names | `["background", "crack"]` |
    | a list of objects | `[{"id": 1, "name": "crack", "color": "#800000"}]` |
    | values by names | `{"background": 0, "crack": 1}` |
    | names by values | `{"0": "background", "1": "crack"}` |
    | colors by names | `{"crack": [128, 0, 0]}` |
    | names by colors | `{"#800000": "crack"}` |
    | objects by names or values | `{"crack": {"id": 1}}`, `{"1": {"name": "crack"}}` |

    Each of them may stand behind a key such as `classes`; lists of objects may have other keys
    beside it.

    Raises:
      ValueError: if the text has another form; see `UNREADABLE` for other errors.
    """
    content = load_json(text)
    while isinstance(content, dict) and len(content) == 1:
        ((key, inner),) = content.items()
        if key not in _KEYS_OF_CLASSES or not isinstance(inner, list | dict):
            break
        content = inner
    if isinstance(content, dict):
        lists = [content[key] for key in _KEYS_OF_CLASSES if _is_list_of_objects(content.get(key))]
        if len(lists) == 1:
            content = lists[0]
    if isinstance(content, list):
        return number_by_place([_read_item(item) for item in content])
    if isinstance(content, dict):
        return number_by_place([read_member(key, item) for key, item in content.items()])
    raise ValueError("neither a list nor an object")


def _is_list_of_objects(content: object) -> bool:
    if not isinstance(content, list) or not content:
        return False
    return all(isinstance(item, dict) for item in content)


def _read_item(item: object) -> ClassEntry:
    """Reads a name or an object of a list."""
    if isinstance(item, dict):
        return _read_cells([_column_name(key) for key in item], list(item.values()))
    if isinstance(item, str):
        return ClassEntry(0, item.strip(), by_place=True)
    raise ValueError(f"the entry {item!r:.80} has no name")


def read_member(key: str, item: object) -> ClassEntry:
    """Reads `name: value`, `value: name`, `name: color`, or an object behind a name or a value.

    Raises:
      ValueError: if it is none of these.
    """
    is_number = _is_whole_number(key)
    if isinstance(item, dict):
        columns = ["id" if is_number else "name", *map(_column_name, item)]
        return _read_cells(columns, [key, *item.values()])
    if is_number and isinstance(item, str):
        return ClassEntry(read_value(key), item.strip())
    if is_text_of_color(key) and isinstance(item, str):
        return ClassEntry(0, item.strip(), read_color(key), by_place=True)
    if is_number:
        raise ValueError(f"the entry {key} {item!r:.80} has no name")
    if isinstance(item, bool):
        raise ValueError(f"the entry {key!r:.80} is {item}, which is neither a value nor a color")
    if isinstance(item, int) or (isinstance(item, str) and _is_whole_number(item)):
        return ClassEntry(read_value(item), key.strip())
    return ClassEntry(0, key.strip(), read_color(item), by_place=True)


# The table of classes: CSV whose head line has `value`, `color` or `name`, and `class`. Further
# columns, such as `pixels`, are for people.

TABLE = "classes.csv"
"""The file that may hold a table of classes."""

_KEY_COLUMNS = ("value", "color", "name")


def _read_table(text: str) -> tuple[list[str], dict[int, dict[str, str]]]:
    """Returns the columns that the head line of CSV names, and the cells of each row by these.

    A row is known by the number of its last line, because a cell in quotes may have several. Its
    class is `?` if the cell is empty. Cells beyond the last column are those of the column "".
    Empty rows are left out.
    """
    reader = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    titles = [cell.strip().casefold() for cell in next(reader, [])]
    columns = ["color" if title == "colour" else title for title in titles]
    rows: dict[int, dict[str, str]] = {}
    for row in reader:
        cells = [cell.strip() for cell in row]
        if any(cells):
            by_column = dict(zip(columns, cells, strict=False))
            by_column[""] = "".join(cells[len(columns) :])
            by_column["class"] = by_column.get("class") or UNKNOWN
            rows[reader.line_num] = by_column
    return columns, rows


def is_table(text: str) -> bool:
    """Says whether a CSV file is a table of classes, and not a list of names and their values.

    `crack,1` below `name,class` is such a list; `crack,damage` is a row of a table.
    """
    try:
        columns, rows = _read_table(text)
    except csv.Error:
        return False
    key_columns = {*columns}.intersection(_KEY_COLUMNS)
    if "class" not in columns or not key_columns:
        return False
    if key_columns != {"name"}:
        return True
    are_values = [row["class"].isdecimal() for row in rows.values()]
    return not are_values or not all(are_values)


def has_unknown_class(text: str) -> bool:
    """Says whether a row of a table has `?` in place of its class, or nothing."""
    _, rows = _read_table(text)
    return any(row["class"] == UNKNOWN for row in rows.values())


def parse_table(text: str, where: object) -> Rows:
    """Reads a table of classes. A row with a value and a color is both.

    Raises:
      ConfigError: if it is no table; or if a row has no key, a wrong one, or one that has another
        class in a row above.
    """
    if not is_table(text):
        raise ConfigError(
            where,
            found=f"the first line {text.partition(chr(10))[0][:80]!r}",
            expected="a header line with class and value, color or name; below it, a class name "
            "in each row",
            remedy="write such a file with voc-seg-tfrecord check ROOT --write_classes FILE",
        )
    if "\ufffd" in text:  # stands for bytes that are not UTF-8
        raise ConfigError(
            where,
            found="characters that are not UTF-8",
            expected="a table in UTF-8",
            remedy="save the file as UTF-8",
        )
    columns, rows = _read_table(text)
    for column in ("class", *_KEY_COLUMNS):
        if columns.count(column) > 1:
            found = f"the column {column} twice"
            raise ConfigError(where, found=found, expected="each column once", remedy="delete one")
    class_by_key: dict[Key, str] = {}
    for number, row in rows.items():
        try:
            for key in _keys_of_row(row):
                name_above = class_by_key.setdefault(key, row["class"])
                if name_above != row["class"]:
                    raise ValueError(f"{key!r} for {row['class']!r}, after {name_above!r}")
        except ValueError as error:
            expected = "a value, color or name with one class"
            raise ConfigError(where, found=f"{error} in line {number}", expected=expected) from None
    try:
        return check_rows(class_by_key)
    except ConfigError as error:
        raise error.changed(where=str(where)) from None


def _keys_of_row(row: Mapping[str, str]) -> list[Key]:
    """Returns the keys of a row: its value, its color and its name.

    Raises:
      ValueError: if it has none, a wrong one, or more cells than there are columns, because a name
        with a comma is not in quotes.
    """
    if row[""]:
        raise ValueError("more cells than columns; put names with commas in double quotes")
    keys: list[Key] = []
    for column in _KEY_COLUMNS:
        cell = row.get(column, "")
        if not cell:
            continue
        if column == "name" or cell == WILDCARD:
            keys.append(cell)
        elif column == "value" and is_text_of_value(cell):
            keys.append(int(cell))
        elif column == "color" and _is_color(cell):
            keys.append(color_key(read_color(cell)))
        else:
            raise ValueError(f"the {column} {cell[:40]!r}")
    if not keys:
        raise ValueError("no key")
    return keys


def _is_color(cell: str) -> bool:
    try:
        read_color(cell)
    except ValueError:
        return False
    return True
