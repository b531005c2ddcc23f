"""Texts in which a row names several files, such as an image and its mask.

Rows are lines with blanks or commas, the rows of a CSV file, and the objects of JSON and YAML.
Which column has the images and which one the masks is not decided here.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import re
from typing import Any

from voc_seg_tfrecord.formats.texts import (
    DOCUMENT_ENDINGS,
    LIST_ENDINGS,
    TABLE_ENDINGS,
    YAML_ENDINGS,
    DocumentError,
    RepeatedKeyError,
    Row,
    as_title,
    load_document,
    rows_between_separators,
    with_width,
)

_LINE_ENDINGS = (*LIST_ENDINGS, ".list", *TABLE_ENDINGS)

ENDINGS = (*_LINE_ENDINGS, *DOCUMENT_ENDINGS, ".ndjson", ".manifest")
"""Endings, in lower case, of texts that may have such rows."""

_MAX_COLUMNS = 64
_MAX_FILES_OF_ROW = 12  # an object with more names files of several images
_MAX_DEPTH = 6
_CELLS_OF_A_PAIR = 2  # an image and its mask
_MAX_CHECKED_ROWS = 2  # of a table without names of files
_WORD_FOR_MASKS = "mask"
_FILE_ENDING = re.compile(
    r"\.(?:jpe?g|jpe|png|bmp|webp|tiff?|gif|npy)(?=[\s\"',;|]|$)", re.IGNORECASE
)

_NamedCells = dict[str, str]
"""A row whose cells have names: `{"image": "a.jpg", "mask": "a.png"}`."""


@dataclasses.dataclass(frozen=True)
class PairTable:
    """Rows of a text with the same columns.

    Attributes:
      head: what the columns are called, in lower case; empty if nothing names them.
      rows: the cells of each row, all as many. A cell that is not there is empty.
    """

    head: Row
    rows: Sequence[Row]


def names_file(cell: str) -> bool:
    """Says whether a cell is a path, or has the ending of an image or mask."""
    return "/" in cell or "\\" in cell or _FILE_ENDING.search(cell) is not None


def may_name_files(data: bytes) -> bool:
    """Says whether a text may have rows: of paths, of names with endings, or of two words."""
    text = data.decode("latin-1")
    has_two_words = len(text.partition("\n")[0].split()) == _CELLS_OF_A_PAIR
    return names_file(text) or has_two_words or _WORD_FOR_MASKS in text


def may_begin_with_rows(data: bytes, ending: str) -> bool:
    """Says whether the first bytes of a text may be those of rows that name pairs.

    They name two files, or have two rows of words; see `read_tables`.

    Args:
      data: the first bytes, in any encoding of texts.
      ending: of its name, in lower case, such as `.csv`.
    """
    text = data.replace(b"\0", b"").decode("latin-1")  # UTF-16 has zeros between ASCII characters
    if len(_FILE_ENDING.findall(text)) >= _CELLS_OF_A_PAIR:
        return True
    if ending not in _LINE_ENDINGS:
        return False
    table = _table_of_lines(text, ending)
    return len(table.rows) > 1 and _may_pair_files(table)


def read_tables(text: str, ending: str) -> list[PairTable]:
    """Returns the tables of a text whose rows may name an image and its mask.

    These are tables with

    1. two names of files in a row: `images/1.jpg masks/1.png`;
    2. or a column that is called as masks are, whose names may lack their ending;
    3. or two words in each of the first rows, such as `1 1_gt`.

    Args:
      text: the text.
      ending: of its name, in lower case, such as `.csv`.

    Raises:
      RepeatedKeyError: if an object of JSON has a key twice, such as two masks of an image.
    """
    tables = _read_all_tables(text, ending)
    return [table for table in tables if table.rows and _may_pair_files(table)]


def _read_all_tables(text: str, ending: str) -> list[PairTable]:
    is_yaml = ending in YAML_ENDINGS
    if not is_yaml and not text.lstrip().startswith(("{", "[")):
        return [_table_of_lines(text, ending)]
    try:
        return _tables_of_value(load_document(text, ending))
    except DocumentError as error:
        if is_yaml:  # the reader of lists says so
            return []
        if isinstance(error, RepeatedKeyError):
            raise
        return [_table_of_lines(text, ending)]


def _may_pair_files(table: PairTable) -> bool:
    """Says whether rows of a table may name an image and its mask; see `read_tables`."""
    if any(_count_files(row) > 1 for row in table.rows):
        return True
    if any(_WORD_FOR_MASKS in title for title in table.head):
        return True
    return all(map(_has_two_words, table.rows[:_MAX_CHECKED_ROWS]))


def _has_two_words(row: Row) -> bool:
    return len(row) == _CELLS_OF_A_PAIR and all(row)


def _count_files(cells: Iterable[str]) -> int:
    return sum(1 for cell in cells if names_file(cell))


def _table_of_lines(text: str, ending: str) -> PairTable:
    """Returns the table of lines, whose first one is the head unless it names a file."""
    rows = rows_between_separators(text, ending)
    if not rows:
        return _untitled([_files_of_line(line) for line in text.splitlines() if line.strip()])
    if any(map(names_file, rows[0])):
        return _untitled(rows)
    head = [as_title(cell) for cell in rows[0]]
    return PairTable(head, _cut(rows[1:], len(head)))


def _files_of_line(line: str) -> list[str]:
    """Returns the names of files in a line with blanks, which the names may have too."""
    files = []
    start = 0
    for match in _FILE_ENDING.finditer(line):
        files.append(line[start : match.end()].strip(" \t\"',;|"))
        start = match.end()
    return files or line.split()


def _untitled(rows: Sequence[Row]) -> PairTable:
    width = min(max(map(len, rows), default=0), _MAX_COLUMNS)
    return PairTable((), _cut(rows, width))


def _cut(rows: Sequence[Row], width: int) -> list[Row]:
    """Returns rows of the same number of cells."""
    return with_width([row[:width] for row in rows], width)


def _tables_of_value(value: Any) -> list[PairTable]:
    rows_by_head: dict[Row, list[Row]] = collections.defaultdict(list)
    untitled: list[Row] = []
    for row in _rows_in(value):
        if isinstance(row, dict):
            rows_by_head[tuple(row)].append([*row.values()])
        else:
            untitled.append(row)
    titled = [PairTable(head, rows) for head, rows in rows_by_head.items()]
    return [*titled, _untitled(untitled)]


def _rows_in(value: Any, depth: int = 0) -> list[_NamedCells | list[str]]:
    """Returns the rows in a value of JSON or YAML, in their order.

    A row is an object; or, in a list, a list of texts or a text with several cells. An object in
    which there are rows is not a row itself.
    """
    rows: list[_NamedCells | list[str]] = []
    if depth > _MAX_DEPTH:
        return rows
    if isinstance(value, dict):
        for item in value.values():
            rows += _rows_in(item, depth + 1)
        return rows or [*_rows_of_object(value)]
    for item in value if isinstance(value, list) else ():
        cells = _files_of_line(item) if isinstance(item, str) else item
        if isinstance(cells, list) and len(cells) > 1 and _are_texts(cells):
            rows.append(cells)
        else:
            rows += _rows_in(item, depth + 1)
    return rows


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _rows_of_object(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """Returns the rows that an object without rows in it is; the first form that gives some counts.

    | form | rows |
    | --- | --- |
    | `{"image": ["a.jpg", "b.jpg"], "mask": ["a.png", "b.png"]}` | each key is a column |
    | `{"a.jpg": "a.png", "b.jpg": "b.png"}` | each key and its value are a row |
    | `{"image": "a.jpg", "mask": "a.png"}` | the object is one row |
    """
    rows = _rows_of_parallel_columns(value)
    if rows:
        return rows
    if all(isinstance(item, str) and names_file(str(key)) for key, item in value.items()):
        return [{"key": str(key), "value": item} for key, item in value.items()]
    row = _flatten_texts(value)
    names_some_files = 1 < _count_files(row.values()) <= _MAX_FILES_OF_ROW
    return [row] if names_some_files else []


def _rows_of_parallel_columns(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """Returns the rows of columns; none unless two keys have lists of as many names of files."""
    columns: dict[str, list[str]] = {}
    for key, item in value.items():
        cells = [*item.values()] if isinstance(item, dict) else item
        if not isinstance(cells, list) or not cells or not _are_texts(cells):
            continue
        if all(map(names_file, cells)):
            columns[str(key).lower()] = cells
    lengths = {len(cells) for cells in columns.values()}
    have_one_length = len(lengths) == 1 and lengths != {1}
    if len(columns) < _CELLS_OF_A_PAIR or not have_one_length:
        return []
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, cells, strict=True)) for cells in rows]


def _flatten_texts(value: Mapping[Any, Any], depth: int = 0) -> _NamedCells:
    """Returns the texts of an object and of the objects in it; of a list of texts the first.

    Example: `{"image": {"path": "a.jpg"}, "masks": ["a.png"]}` becomes
    `{"image/path": "a.jpg", "masks": "a.png"}`.
    """
    row: _NamedCells = {}
    for key, item in value.items():
        name = str(key).lower()
        first = item[0] if isinstance(item, list) and item else item
        if isinstance(first, str):
            row[name] = first
        elif isinstance(item, dict) and depth < _MAX_DEPTH:
            for inner_name, text in _flatten_texts(item, depth + 1).items():
                row[f"{name}/{inner_name}"] = text
    return row
