"""Texts in which a row names several files, such as an image and its mask.

Rows are lines with blanks or commas, the rows of a CSV file, and the objects of JSON and YAML.
Which column has the images and which one the masks is not decided here.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import csv
import dataclasses
import json
import re
from typing import Any

from voc_seg_tfrecord.formats.list_files import (
    COLUMN_SEPARATORS,
    MAX_LINES_TO_FIND_COLUMNS,
    YAML_ENDINGS,
)
from voc_seg_tfrecord.formats.split_documents import DocumentError, load_yaml

_LINE_ENDINGS = (".txt", ".lst", ".list", ".csv", ".tsv")
_DOCUMENT_ENDINGS = (".json", ".jsonl", ".ndjson", ".manifest", *YAML_ENDINGS)

ENDINGS = (*_LINE_ENDINGS, *_DOCUMENT_ENDINGS)
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


@dataclasses.dataclass(frozen=True)
class PairTable:
    """Rows of a text with the same columns.

    Attributes:
      columns: what the columns are called; their numbers, from 1, if nothing names them.
      rows: the cells of each row, as many as columns. A cell that is not there is empty.
      has_names: whether the text names the columns.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    has_names: bool


def may_name_files(data: bytes) -> bool:
    """Says whether a text may have rows: of paths, of names with endings, or of two words."""
    text = data.decode("latin-1")
    has_path = "/" in text or "\\" in text or _FILE_ENDING.search(text) is not None
    words_of_first_line = text.partition("\n")[0].split()
    has_two_words = len(words_of_first_line) == _CELLS_OF_A_PAIR
    return has_path or has_two_words or _WORD_FOR_MASKS in text


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
    return any(len(table.rows) > 1 for table in read_tables(text, ending))


def names_file(cell: str) -> bool:
    """Says whether a cell is a path, or has the ending of an image or mask."""
    return "/" in cell or "\\" in cell or _FILE_ENDING.search(cell) is not None


def read_tables(text: str, ending: str) -> list[PairTable]:
    """Returns the tables of a text whose rows may name an image and its mask.

    These are tables with

    1. two names of files in a row: `images/1.jpg masks/1.png`;
    2. or a column that is called as masks are, whose names may lack their ending;
    3. or two words in each of the first rows, such as `1 1_gt`.

    Args:
      text: the text.
      ending: of its name, in lower case, such as `.csv`.
    """
    tables = _read_all_tables(text, ending)
    return [table for table in tables if _may_pair_files(table)]


def _read_all_tables(text: str, ending: str) -> list[PairTable]:
    if ending in YAML_ENDINGS:
        return _tables_of_value(_load_yaml(text))
    if text.lstrip().startswith(("{", "[")):
        value = _load_json(text)
        if value is not None:
            return _tables_of_value(value)
    return [_table_of_lines(text)]


def _may_pair_files(table: PairTable) -> bool:
    """Says whether rows of a table may name an image and its mask; see `read_tables`."""
    return _has_two_files(table) or _has_mask_column(table) or _has_two_words(table)


def _has_two_files(table: PairTable) -> bool:
    return any(_count_files(row) > 1 for row in table.rows)


def _count_files(cells: Iterable[str]) -> int:
    return sum(1 for cell in cells if names_file(cell))


def _has_mask_column(table: PairTable) -> bool:
    return table.has_names and any(_WORD_FOR_MASKS in column for column in table.columns)


def _has_two_words(table: PairTable) -> bool:
    """Says whether a table has two columns, and no cell of its first rows is empty."""
    if len(table.columns) != _CELLS_OF_A_PAIR:
        return False
    first_rows = table.rows[:_MAX_CHECKED_ROWS]
    return all(all(row) for row in first_rows)


def _table_of_lines(text: str) -> PairTable:
    lines = [line for line in text.splitlines() if line.strip()]
    separator = _find_separator(lines)
    if separator is None:
        return _numbered([_files_of_line(line) for line in lines])
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    except csv.Error:
        return PairTable((), (), has_names=False)
    head, body = rows[0], rows[1:]
    if any(map(names_file, head)):
        return _numbered(rows)
    columns = [cell.lstrip("# ").lower() for cell in head]
    return PairTable(columns, _filled(body, len(columns)), has_names=True)


def _find_separator(lines: Sequence[str]) -> str | None:
    """Returns what separates cells in all of the first lines; None if only blanks do."""
    first_lines = lines[:MAX_LINES_TO_FIND_COLUMNS]
    if not first_lines:
        return None
    for separator in COLUMN_SEPARATORS:
        if all(separator in line for line in first_lines):
            return separator
    return None


def _files_of_line(line: str) -> list[str]:
    """Returns the names of files in a line with blanks, which the names may have too."""
    ends = [match.end() for match in _FILE_ENDING.finditer(line)]
    if not ends:
        return line.split()
    files = []
    start = 0
    for end in ends:
        files.append(line[start:end].strip(" \t\"',;|"))
        start = end
    return files


def _numbered(rows: Sequence[Sequence[str]]) -> PairTable:
    """Returns a table without names of its columns."""
    width = min(max(map(len, rows), default=0), _MAX_COLUMNS)
    columns = [str(number) for number in range(1, width + 1)]
    return PairTable(columns, _filled(rows, width), has_names=False)


def _filled(rows: Sequence[Sequence[str]], width: int) -> list[Sequence[str]]:
    """Returns rows of the same number of cells."""
    filled: list[Sequence[str]] = []
    for row in rows:
        filled.append([*row[:width], *[""] * (width - len(row))])
    return filled


def _load_json(text: str) -> Any:
    """Returns what a text of JSON holds, or what each of its lines holds; None if it is none."""
    try:
        return _parse_json(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [_parse_json(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _parse_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_as_objects_without_repeats)


def _as_objects_without_repeats(
    pairs: Sequence[tuple[str, Any]],
) -> dict[str, Any] | list[dict[str, Any]]:
    """Returns the object of keys and values; several objects if a key has several values.

    So each value becomes a row: `{"image": "a.jpg", "mask": "a.png", "mask": "b.png"}` states two
    masks of one image, which is refused later. The second object has the second value of each key,
    or the first if there is only one.
    """
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    values_by_key: dict[str, list[Any]] = {key: [] for key in values}
    for key, value in pairs:
        if value not in values_by_key[key]:
            values_by_key[key].append(value)
    objects: list[dict[str, Any]] = []
    for number in range(max(map(len, values_by_key.values()))):
        objects.append({})
        for key, values_of_key in values_by_key.items():
            is_there = number < len(values_of_key)
            objects[-1][key] = values_of_key[number if is_there else 0]
    return objects[0] if len(objects) == 1 else objects


def _load_yaml(text: str) -> Any:
    """Returns what a text of YAML holds; None if it is not read, which the reader of lists says."""
    try:
        return load_yaml(text)
    except DocumentError:
        return None


def _tables_of_value(value: Any) -> list[PairTable]:
    rows_by_columns: dict[tuple[str, ...], list[Sequence[str]]] = collections.defaultdict(list)
    lists: list[Sequence[str]] = []
    for row in _rows_in(value, 0):
        if isinstance(row, dict):
            rows_by_columns[tuple(row)].append([*row.values()])
        else:
            lists.append(row)
    tables = [PairTable(columns, rows, has_names=True) for columns, rows in rows_by_columns.items()]
    if lists:
        tables.append(_numbered(lists))
    return tables


_NamedCells = dict[str, str]
"""A row whose cells have names: `{"image": "a.jpg", "mask": "a.png"}`."""


def _rows_in(value: Any, depth: int) -> list[_NamedCells | list[str]]:
    """Returns the rows in a value of JSON or YAML: objects and lists of texts, in their order.

    An object in which there are rows is not a row itself.
    """
    rows: list[_NamedCells | list[str]] = []
    if depth > _MAX_DEPTH:
        return rows
    if isinstance(value, list):
        for item in value:
            rows += _rows_of_item(item, depth + 1)
    if isinstance(value, dict):
        for item in value.values():
            rows += _rows_in(item, depth + 1)
        if not rows:
            rows += _rows_of_object(value)
    return rows


def _rows_of_item(item: Any, depth: int) -> list[_NamedCells | list[str]]:
    """Returns the rows of an item of a list: a list of cells, a line of a text, or rows in it."""
    if isinstance(item, str):
        cells = _files_of_line(item)
        return [cells] if len(cells) > 1 else []
    if _is_row_of_texts(item):
        return [item]
    return _rows_in(item, depth)


def _is_row_of_texts(item: Any) -> bool:
    return isinstance(item, list) and len(item) > 1 and all(isinstance(cell, str) for cell in item)


def _rows_of_object(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """Returns the rows that an object without rows in it is; the first form that gives some counts.

    The forms are those of `_FORMS_OF_OBJECTS`.
    """
    for read_rows in _FORMS_OF_OBJECTS:
        rows = read_rows(value)
        if rows:
            return rows
    return []


def _rows_of_parallel_columns(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """Each key is a column: `{"image": ["a.jpg", "b.jpg"], "mask": ["a.png", "b.png"]}`.

    At least two keys have lists of names of files, all of the same length, of two or more.
    """
    columns: dict[str, list[str]] = {}
    for key, item in value.items():
        cells = [*item.values()] if isinstance(item, dict) else item
        if not isinstance(cells, list) or not cells:
            continue
        if all(isinstance(cell, str) and names_file(cell) for cell in cells):
            columns[str(key).lower()] = cells
    lengths = {len(cells) for cells in columns.values()}
    have_same_length = len(lengths) == 1 and lengths != {1}
    if len(columns) < _CELLS_OF_A_PAIR or not have_same_length:
        return []
    rows_of_cells = zip(*columns.values(), strict=True)
    return [dict(zip(columns, cells, strict=True)) for cells in rows_of_cells]


def _rows_of_file_to_file(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """Each key and its value are a row: `{"a.jpg": "a.png", "b.jpg": "b.png"}`."""
    rows = []
    for key, item in value.items():
        if not isinstance(item, str) or not names_file(str(key)):
            return []
        rows.append({"key": str(key), "value": item})
    return rows


def _row_of_texts(value: Mapping[Any, Any]) -> list[_NamedCells]:
    """The object is one row: `{"image": "a.jpg", "mask": "a.png"}`."""
    row = _flatten_texts(value)
    names_some_files = 1 < _count_files(row.values()) <= _MAX_FILES_OF_ROW
    return [row] if names_some_files else []


_FORMS_OF_OBJECTS = (_rows_of_parallel_columns, _rows_of_file_to_file, _row_of_texts)
"""The forms in which an object has rows. The first that gives some counts."""


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
