"""Rows of the table of classes, as options, files and configs write them.

A row is a key and a class. A key is a value (0 to 65535), a color (`#804080`), the name of a class
of the masks, or `*`; a class is a name or `void`. `class_table` puts rows over the names that were
found, or that the user gave.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
import dataclasses
import io
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.names import VOID, Color, unprintable

VOID_CLASS = "void"
STAR = "*"
UNKNOWN = "?"
"""The class of a row that is to be filled in."""

HIGHEST_VALUE = 65535
"""The highest value that a row may have, and so the largest number of values."""

MAX_LISTED_NAMES = 8
"""How many keys or names an error lists."""

Key = int | str
"""A value; or a color such as `#804080`, the name of a class, or `*`."""

Rows = tuple[tuple[Key, str], ...]
"""Keys and their classes; the class is a name, or `void`."""

_VALUE = re.compile("[0-9]{1,9}")  # a longer number is no value of a mask
_COLOR = re.compile("#[0-9a-fA-F]{6}")


def table_error(found: str, expected: str, remedy: str = "change classes") -> ConfigError:
    """Returns the error that the user's rows are wrong."""
    return ConfigError("option classes", found=found, expected=expected, remedy=remedy)


# Keys.


def color_of(key: Key) -> Color | None:
    """Returns the color that a key is; None if it is none."""
    if isinstance(key, int) or not _COLOR.fullmatch(key):
        return None
    red, green, blue = bytes.fromhex(key[1:])
    return red, green, blue


def color_key(color: Sequence[int]) -> str:
    """Returns the key of a color."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def is_name(key: Key) -> bool:
    """Says whether a key is the name of a class of the masks."""
    return isinstance(key, str) and key != STAR and color_of(key) is None


# Rows.


def are_whole(rows: Rows) -> bool:
    """Says whether rows may be a whole table: they leave a class, and need no names of classes."""
    leave_class = any(name != VOID_CLASS for _, name in rows)
    need_names = any(is_name(key) for key, _ in rows)
    return leave_class and not need_names


def rows_over(rows: Rows, found: Rows) -> Rows:
    """Returns the user's rows, and found ones for other keys; `*` leaves void ones, not by name."""
    given = dict(rows)
    added = []
    for key, name in found:
        star_takes_key = STAR in given and (name != VOID_CLASS or is_name(key))
        if key not in given and not star_takes_key:
            added.append((key, name))
    return (*rows, *added)


def check_rows(rows: Iterable[Sequence[Any]] | Mapping[Any, str]) -> Rows:
    """Returns rows in their normal form: colors as `#804080`, classes that mean void as `void`.

    A color may be given as three numbers, too.

    Raises:
      ConfigError: if a row has another form, or a key is in two rows.
    """
    checked: dict[Key, str] = {}
    for row in rows.items() if isinstance(rows, Mapping) else rows:
        if isinstance(row, str) or len(row) != 2 or not isinstance(row[1], str):
            raise table_error(f"{row!r:.80}", 'pairs such as [255, "crack"]')
        key = _checked_key(row[0])
        name = row[1].strip()
        if not name or unprintable(name) or name in (STAR, str(VOID)):
            found = f"the class {name!r} for {key!r}"
            raise table_error(found, "a name without control characters, or void")
        if key in checked:
            raise table_error(f"the key {key!r} in two places", "each key once")
        checked[key] = VOID_CLASS if is_void_name(name) else name
    unknown = [key for key, name in checked.items() if name == UNKNOWN]
    if unknown:
        raise table_error(
            f"no class for {several(map(str, unknown), MAX_LISTED_NAMES)}",
            "a class for each row, or void",
            "write the name of a class, or void, in place of each ?",
        )
    return tuple(checked.items())


def _checked_key(key: Any) -> Key:
    """Returns a key in its normal form: a value, a color as `#804080`, or a name."""
    if isinstance(key, list | tuple) and _are_color(key):
        return color_key(key)
    if isinstance(key, str) and key.strip() and not unprintable(key):
        word = key.strip()
        return word.lower() if _COLOR.fullmatch(word) else word
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= HIGHEST_VALUE:
        return int(key)
    raise table_error(
        f"the key {key!r:.80}",
        f"a value of 0 to {HIGHEST_VALUE}, a color such as #804080, or a name",
    )


def _are_color(parts: Sequence[Any]) -> bool:
    """Says whether some numbers are red, green and blue."""
    return len(parts) == 3 and all(part in range(256) for part in parts)


# Rows as an option: `0=background,255=crack`.

_WORD = r'\s*("[^"]*"|[^",=]*[^",=\s])\s*'
_PAIR = re.compile(f"{_WORD}={_WORD}(,|$)")
_FORM = "pairs such as 0=background,255=crack, or the name of a file that ends in .csv"


def parse_pairs(text: str) -> Rows:
    """Reads `key=class,key=class`. Digits alone are a value.

    A name that holds a comma or `=` stands in double quotes, and so does one of digits alone.

    Raises:
      ConfigError: if the text has another form, or `check_rows` refuses the pairs.
    """
    rows: list[tuple[Key, str]] = []
    position = 0
    while True:
        match = _PAIR.match(text, position)
        if not match:
            raise table_error(f"{text[position : position + 80]!r}, which is no pair", _FORM)
        rows.append(_parse_pair(match[1], match[2]))
        if not match[3]:
            return check_rows(rows)
        position = match.end()


def _parse_pair(key: str, name: str) -> tuple[Key, str]:
    word = key.strip('"')
    is_quoted = word != key
    if is_quoted and (word == STAR or _COLOR.fullmatch(word)):
        raise table_error(f"the name {word!r}, which is no name", "the name of a class")
    if _VALUE.fullmatch(name):
        raise table_error(
            f"the class {name} for {word!r}",
            "the name of a class, or void",
            f"write the name of the class; if it is called {name}, write it in double quotes",
        )
    return int(key) if _VALUE.fullmatch(key) else word, name.strip('"')


def format_pairs(rows: Iterable[tuple[Key, str]]) -> str:
    """Returns rows as `parse_pairs` reads them: `key=class,key=class`."""
    pairs = []
    for key, name in rows:
        word = str(key) if isinstance(key, int) or not is_name(key) else _quote(key)
        pairs.append(f"{word}={_quote(name)}")
    return ",".join(pairs)


def _quote(name: str) -> str:
    """Puts a name in double quotes that the option would take apart or take for a value."""
    needs_quotes = bool(set(name) & set(",=")) or bool(_VALUE.fullmatch(name))
    return f'"{name}"' if needs_quotes else name


# Rows as a CSV file.

TABLE = "classes.csv"
"""The file that may hold a table of classes."""

_KEY_COLUMNS = ("value", "color", "name")
"""The columns that hold keys. Further columns, beside `class`, are for people."""


@dataclasses.dataclass(frozen=True)
class _TableLine:
    """A line of a table below its head line.

    Attributes:
      number: its number in the file; the head line is 1.
      text: the cells, with commas between them.
      cells: the cell of each column.
      extra_cells: the cells beyond the last column.
    """

    number: int
    text: str
    cells: Mapping[str, str]
    extra_cells: Sequence[str]


def is_table(text: str) -> bool:
    """Says whether a CSV file is a table of classes, and not a list of numbers and names."""
    try:
        head, *rows = csv.reader(io.StringIO(text, newline=None))
    except (csv.Error, ValueError):  # nothing in it
        return False
    columns = _read_head(head)
    keys = {*_KEY_COLUMNS} & {*columns}
    if "class" not in columns or not keys:
        return False
    classes = [dict(zip(columns, row, strict=False)).get("class", "") for row in rows if row]
    are_numbers = all(word.strip().isdecimal() for word in classes)
    lists_numbers_of_names = keys == {"name"} and bool(classes) and are_numbers
    return not lists_numbers_of_names


def _read_head(head: Iterable[str]) -> list[str]:
    """Returns the columns that a head line names."""
    words = [cell.strip().casefold() for cell in head]
    return ["color" if word == "colour" else word for word in words]


def has_unknown(text: str) -> bool:
    """Says whether a row of a table has `?` in place of its class, or nothing."""
    return any(line.cells.get("class", "") in ("", UNKNOWN) for line in _lines(text))


def parse_csv(text: str, where: object) -> Rows:
    """Reads a table from a CSV file with the columns `class` and `value`, `color` or `name`.

    A row with a value and a color is both.

    Raises:
      ConfigError: if it is no such file, or a row has no class.
    """
    if not is_table(text):
        raise ConfigError(
            where,
            found=f"the first line {text.partition(chr(10))[0][:80]!r}",
            expected="a head line with class, and value, color or name; and classes with names",
            remedy="write such a file with voc-seg-tfrecord check and --write_classes",
        )
    if "\ufffd" in text:  # stands for bytes that are not UTF-8
        raise ConfigError(
            where,
            found="characters that are not UTF-8",
            expected="a table in UTF-8",
            remedy="save the file as UTF-8",
        )
    repeated = _find_repeated_column(text)
    if repeated:
        found = f"the column {repeated} twice"
        raise ConfigError(where, found=found, expected="each column once", remedy="delete one")
    rows: dict[Key, str] = {}
    for line in _lines(text):
        name = line.cells.get("class", "") or UNKNOWN
        try:
            for key in _keys_of_line(line):
                if rows.setdefault(key, name) != name:
                    raise ValueError(f"{key!r} for {name!r}, after {rows[key]!r}")
        except ValueError as error:
            found = f"{error} in line {line.number}, {line.text[:80]!r}"
            expected = "a value, color or name with one class"
            raise ConfigError(where, found=found, expected=expected) from None
    try:
        return check_rows(rows)
    except ConfigError as error:
        raise error.changed(where=str(where), remedy="correct the file") from None


def _find_repeated_column(text: str) -> str:
    """Returns a column with keys or classes that stands twice in the head line; empty if none."""
    columns = _read_head(next(csv.reader(io.StringIO(text, newline=None))))
    for column in ("class", *_KEY_COLUMNS):
        if columns.count(column) > 1:
            return column
    return ""


def _lines(text: str) -> Iterator[_TableLine]:
    """Yields each line of a table that is not empty."""
    head, *rows = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    columns = _read_head(head)
    for number, row in enumerate(rows, start=2):
        cells = [cell.strip() for cell in row]
        if any(cells):
            cell_of_column = dict(zip(columns, cells, strict=False))
            yield _TableLine(number, ",".join(row), cell_of_column, cells[len(columns) :])


def _keys_of_line(line: _TableLine) -> list[Key]:
    """Returns the keys of a line: its value, its color and its name.

    Raises:
      ValueError: if it has none, or more cells than there are columns, because a name with a comma
        is not in quotes.
    """
    if any(line.extra_cells):
        raise ValueError("more cells than columns; put names with commas in double quotes")
    keys = []
    for column in _KEY_COLUMNS:
        cell = line.cells.get(column)
        if cell:
            keys.append(_key_of_cell(column, cell))
    if not keys:
        raise ValueError("no key")
    return keys


def _key_of_cell(column: str, cell: str) -> Key:
    """Returns the key that a cell of a table has.

    Raises:
      ValueError: if it is no value or no color, and the column has these.
    """
    if column == "name" or cell == STAR:
        return cell
    if column == "value":
        if not _VALUE.fullmatch(cell):
            raise ValueError(f"the value {cell[:40]!r}")
        return int(cell)
    if _COLOR.fullmatch(cell):
        return cell.lower()
    parts = re.split(r"[\s,;]+", cell)
    numbers = [int(part) for part in parts if _VALUE.fullmatch(part)]
    if len(numbers) != len(parts) or not _are_color(numbers):
        raise ValueError(f"the color {cell[:40]!r}")
    return color_key(numbers)
