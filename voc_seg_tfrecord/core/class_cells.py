"""Reads a class of cells that have names: a row below a head line, or an object in JSON.

For example `1,crack,128,0,0` below `id,name,r,g,b`, and `{"id": 1, "name": "crack"}`.
"""

from collections.abc import Collection, Mapping, Sequence
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_parsers import read_color, read_name, read_rgb, read_value
from voc_seg_tfrecord.core.names import Color

_PLAIN_NAME_COLUMNS = ("name", "classname", "labelname", "labellist", "title")
_NAME_OR_NUMBER_COLUMNS = ("label", "class", "category")
NAME_COLUMNS = (*_PLAIN_NAME_COLUMNS, *_NAME_OR_NUMBER_COLUMNS)
"""Titles of columns of names, in small letters. A plain one counts first, then one of the others
that holds no number."""

_VALUE_COLUMNS = ("id", "value", "pixelvalue", "index", "classid", "labelid")
_COLOR_COLUMNS = ("color", "colour", "rgb", "hex")
_RED_COLUMNS = ("r", "red")
_GREEN_COLUMNS = ("g", "green")
_BLUE_COLUMNS = ("b", "blue")
_COLUMNS_THAT_COUNT = frozenset(
    (
        *NAME_COLUMNS,
        *_VALUE_COLUMNS,
        *_COLOR_COLUMNS,
        *_RED_COLUMNS,
        *_GREEN_COLUMNS,
        *_BLUE_COLUMNS,
    )
)
_WORDS_OF_COLORS = re.compile("(?:class|label)?(?:colou?rs?|rgb|hex)+(?:values?|codes?)?")


def column_name(cell: str) -> str:
    """Returns the column that a head line names: `color` for `color_rgb` and `RGB values`, too."""
    word = re.sub(r"[^a-z0-9]", "", cell.casefold())
    if word not in _COLOR_COLUMNS and _WORDS_OF_COLORS.fullmatch(word):
        return "color"
    return word


def have_values_or_colors(columns: Collection[str]) -> bool:
    """Says whether columns hold more than a name.

    Of two columns of names, such as `class` and `name`, one may hold values.
    """
    if len(columns) > 1 and {*columns} <= {*NAME_COLUMNS}:
        return True
    return not {*columns}.isdisjoint((*_VALUE_COLUMNS, *_COLOR_COLUMNS, *_RED_COLUMNS))


def read_cells(columns: Sequence[str], row: Sequence[Any]) -> ClassEntry:
    """Returns the class that a row of cells has.

    Args:
      columns: what `column_name` returns for each column.
      row: the cells.

    Raises:
      ValueError: if the row has another number of cells, or two names, values or colors.
    """
    shown = ",".join(map(str, row))[:80]
    if len(row) != len(columns):
        raise ValueError(f"the line {shown!r} has {len(row)} of {len(columns)} cells")
    cells = _cells_by_column(columns, row)
    name = _find_name(cells, shown)
    value = _find_value(cells, name, shown)
    color = _color_of_cells(cells)
    if value is None:
        return ClassEntry(0, read_name(name), color, by_place=True)
    return ClassEntry(value, read_name(name), color)


def _cells_by_column(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """Returns the cell of each column.

    Raises:
      ValueError: if a column that counts stands twice, with cells that differ.
    """
    cells: dict[str, Any] = {}
    for column, cell in zip(columns, row, strict=True):
        other = cells.setdefault(column, cell)
        if column in _COLUMNS_THAT_COUNT and not _are_same(column, other, cell):
            raise ValueError(f"{column} is {other!r:.80} and {cell!r:.80} for one class")
    return cells


def _are_same(column: str, one: Any, other: Any) -> bool:
    """Says whether two cells of a column mean the same, as the colors `#800000` and `128 0 0`."""
    if str(one) == str(other):
        return True
    return column in _COLOR_COLUMNS and read_color(one) == read_color(other)


def _first_cell(cells: Mapping[str, Any], columns: Collection[str]) -> Any:
    """Returns the cell of the first column that is there; None if none of them is."""
    for column in columns:
        if column in cells:
            return cells[column]
    return None


def _find_name(cells: Mapping[str, Any], shown: str) -> Any:
    """Returns the cell that is the name: of `0` and `crack` in `label` and `class`, `crack`.

    Raises:
      ValueError: if several columns may hold the name, and all hold numbers.
    """
    name = _first_cell(cells, _PLAIN_NAME_COLUMNS)
    if name is not None:
        return name
    candidates = [cells[column] for column in _NAME_OR_NUMBER_COLUMNS if column in cells]
    words = [cell for cell in candidates if not is_whole_number(cell)]
    if words:
        return words[0]
    if len({str(cell) for cell in candidates}) > 1:
        raise ValueError(f"the line {shown!r} has several numbers, and no name")
    return candidates[0] if candidates else None


def _find_value(cells: Mapping[str, Any], name: Any, shown: str) -> int | None:
    """Returns the value: of `crack` and `1` in `name` and `class`, 1; None if no column has it.

    Raises:
      ValueError: if several columns of values differ.
    """
    values = {read_value(cells[column]) for column in _VALUE_COLUMNS if column in cells}
    if len(values) > 1:
        raise ValueError(f"the line {shown!r} has several values")
    if values:
        return values.pop()
    for column in _NAME_OR_NUMBER_COLUMNS:
        if column in cells and cells[column] != name and is_whole_number(cells[column]):
            return read_value(cells[column])
    return None


def is_whole_number(cell: object) -> bool:
    """Says whether a cell is a whole number, as text or not: `1`, or pandas' `1.0`."""
    return re.fullmatch(r"-?\d+(\.0+)?", str(cell)) is not None


def _color_of_cells(cells: Mapping[str, Any]) -> Color | None:
    color = _first_cell(cells, _COLOR_COLUMNS)
    if color is not None:
        return read_color(color)
    red = _first_cell(cells, _RED_COLUMNS)
    if red is None:
        return None
    return read_rgb([red, _first_cell(cells, _GREEN_COLUMNS), _first_cell(cells, _BLUE_COLUMNS)])
