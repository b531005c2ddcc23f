"""Reads the table of classes from a CSV file, whose first line names its columns.

    value,color,class,pixels
    0,,background,9
    ,#ff0000,weed,3

Further columns, such as `pixels`, are for people.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
import dataclasses
import io

from voc_seg_tfrecord.core.class_parsers import read_color
from voc_seg_tfrecord.core.class_rows import (
    STAR,
    UNKNOWN,
    Key,
    Rows,
    check_rows,
    color_key,
    is_text_of_color,
    is_text_of_value,
)
from voc_seg_tfrecord.core.errors import ConfigError

TABLE = "classes.csv"
"""The file that may hold a table of classes."""

_KEY_COLUMNS = ("value", "color", "name")
"""The columns that hold keys."""

_CLASS_COLUMN = "class"


@dataclasses.dataclass(frozen=True)
class _TableLine:
    """A line of a table below its head line.

    Attributes:
      number: its number in the file; the head line is 1. A line that goes on in others, as a name
        in quotes may, has the number of the last one.
      text: the cells, with commas between them.
      cells: the cell of each column.
      extra_cells: the cells beyond the last column.
    """

    number: int
    text: str
    cells: Mapping[str, str]
    extra_cells: Sequence[str]

    @property
    def class_name(self) -> str:
        """The class; `?` if the cell is empty."""
        return self.cells.get(_CLASS_COLUMN, "") or UNKNOWN


def is_table(text: str) -> bool:
    """Says whether a CSV file is a table of classes, and not a list of names and their values.

    `crack,1` below `name,class` is such a list; `crack,damage` is a row of a table.
    """
    try:
        head, *rows = _read_rows(text)
    except (csv.Error, ValueError):  # nothing in it
        return False
    columns = _read_head(head)
    key_columns = {*_KEY_COLUMNS} & {*columns}
    if _CLASS_COLUMN not in columns or not key_columns:
        return False
    if key_columns != {"name"}:
        return True
    position = columns.index(_CLASS_COLUMN)
    classes = [row[position] if position < len(row) else "" for row in rows if row]
    are_numbers = all(name.strip().isdecimal() for name in classes)
    return not classes or not are_numbers


def _read_rows(text: str) -> Iterator[list[str]]:
    """Yields the cells of each row of a CSV file, in which blanks may stand before a quote."""
    for _, cells in _read_numbered_rows(text):
        yield cells


def _read_numbered_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yields the number of the last line of each row of a CSV file, and the cells of the row.

    A row has several lines if a cell in quotes has them.
    """
    reader = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    for cells in reader:
        yield reader.line_num, cells


def _read_head(head: Iterable[str]) -> list[str]:
    """Returns the columns that a head line names."""
    words = [cell.strip().casefold() for cell in head]
    return ["color" if word == "colour" else word for word in words]


def has_unknown_class(text: str) -> bool:
    """Says whether a row of a table has `?` in place of its class, or nothing."""
    return any(line.class_name == UNKNOWN for line in _read_lines(text))


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
    repeated = _find_repeated_column(text)
    if repeated:
        found = f"the column {repeated} twice"
        raise ConfigError(where, found=found, expected="each column once", remedy="delete one")
    class_by_key = _read_classes(text, where)
    try:
        return check_rows(class_by_key)
    except ConfigError as error:
        raise error.changed(where=str(where), remedy="correct the file") from None


def _read_classes(text: str, where: object) -> dict[Key, str]:
    """Returns the class of each key of a table.

    Raises:
      ConfigError: if a line has no key, a wrong one, or one that has another class in a line above.
    """
    class_by_key: dict[Key, str] = {}
    for line in _read_lines(text):
        name = line.class_name
        try:
            for key in _keys_of_line(line):
                name_above = class_by_key.setdefault(key, name)
                if name_above != name:
                    raise ValueError(f"{key!r} for {name!r}, after {name_above!r}")
        except ValueError as error:
            found = f"{error} in line {line.number}, {line.text[:80]!r}"
            expected = "a value, color or name with one class"
            raise ConfigError(where, found=found, expected=expected) from None
    return class_by_key


def _find_repeated_column(text: str) -> str:
    """Returns a column with keys or classes that stands twice in the head line; empty if none."""
    columns = _read_head(next(_read_rows(text)))
    for column in (_CLASS_COLUMN, *_KEY_COLUMNS):
        if columns.count(column) > 1:
            return column
    return ""


def _read_lines(text: str) -> Iterator[_TableLine]:
    """Yields each line of a table that is not empty."""
    (_, head), *rows = _read_numbered_rows(text)
    columns = _read_head(head)
    for number, row in rows:
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
        if not is_text_of_value(cell):
            raise ValueError(f"the value {cell[:40]!r}")
        return int(cell)
    if is_text_of_color(cell):
        return cell.lower()
    try:
        return color_key(read_color(cell))
    except ValueError:
        raise ValueError(f"the color {cell[:40]!r}") from None
