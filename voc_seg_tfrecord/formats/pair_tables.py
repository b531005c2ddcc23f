"""Texts in which a row names several files, such as an image and its mask.

Rows are lines with blanks or commas, the rows of a CSV file, and the objects of JSON and YAML.
Which column has the images and which one the masks is not decided here.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
import dataclasses
import json
import re
from typing import Any

from voc_seg_tfrecord.formats.split_documents import DocumentError, load_yaml

ENDINGS = (".txt", ".lst", ".list", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".manifest")
"""Endings, in lower case, of texts that may have such rows, but for YAML."""

YAML_ENDINGS = (".yaml", ".yml")

_MAX_COLUMNS = 64
_MAX_FILES_OF_ROW = 12  # an object with more names files of several images
_MAX_DEPTH = 6
_CELLS_OF_A_PAIR = 2  # an image and its mask
_WORD_FOR_MASKS = "mask"
_DELIMITERS = ("\t", ",", ";", "|")
_MAX_LINES_TO_FIND_DELIMITER = 5
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


def names_file(cell: str) -> bool:
    """Says whether a cell is a path, or has the ending of an image or mask."""
    return "/" in cell or "\\" in cell or _FILE_ENDING.search(cell) is not None


def read_tables(text: str, ending: str) -> list[PairTable]:
    """Returns the tables of a text of which some row names two files.

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
    """Says whether rows of a table may name an image and its mask."""
    return _has_two_files(table) or _has_mask_column(table) or _has_two_words(table)


def _has_two_files(table: PairTable) -> bool:
    return any(_count_files(row) > 1 for row in table.rows)


def _count_files(cells: Iterable[str]) -> int:
    return sum(1 for cell in cells if names_file(cell))


def _has_mask_column(table: PairTable) -> bool:
    """Says whether a column is called as masks are, whose names may lack their ending."""
    return table.has_names and any(_WORD_FOR_MASKS in column for column in table.columns)


def _has_two_words(table: PairTable) -> bool:
    """Says whether rows are two words, which may be an image and a mask without their endings."""
    first = table.rows[:_CELLS_OF_A_PAIR]
    return len(table.columns) == _CELLS_OF_A_PAIR and all(all(row) for row in first)


def _table_of_lines(text: str) -> PairTable:
    lines = [line for line in text.splitlines() if line.strip()]
    delimiter = _find_delimiter(lines)
    if delimiter is None:
        return _numbered([_files_of_line(line) for line in lines])
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=delimiter)]
    except csv.Error:
        return PairTable((), (), has_names=False)
    head, body = rows[0], rows[1:]
    if any(map(names_file, head)):
        return _numbered(rows)
    columns = [cell.lstrip("# ").lower() for cell in head]
    return PairTable(columns, _filled(body, len(columns)), has_names=True)


def _find_delimiter(lines: Sequence[str]) -> str | None:
    """Returns what separates cells in all of the first lines; None if only blanks do."""
    first_lines = lines[:_MAX_LINES_TO_FIND_DELIMITER]
    if not first_lines:
        return None
    for delimiter in _DELIMITERS:
        if all(delimiter in line for line in first_lines):
            return delimiter
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
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError):
        return None


def _load_yaml(text: str) -> Any:
    """Returns what a text of YAML holds; None if it is not read, which the reader of lists says."""
    try:
        return load_yaml(text)
    except DocumentError:
        return None


def _tables_of_value(value: Any) -> list[PairTable]:
    rows_by_columns: dict[tuple[str, ...], list[Sequence[str]]] = collections.defaultdict(list)
    lines: list[Sequence[str]] = []
    for row in _rows_of(value, 0):
        if isinstance(row, dict):
            rows_by_columns[tuple(row)].append([*row.values()])
        else:
            lines.append(row)
    tables = [PairTable(columns, rows, has_names=True) for columns, rows in rows_by_columns.items()]
    if lines:
        tables.append(_numbered(lines))
    return tables


def _rows_of(value: Any, depth: int) -> Iterator[dict[str, str] | list[str]]:
    """Yields the rows of a value and of those in it.

    A row is an object with cells by their keys, `{"image": "a.jpg", "mask": "a.png"}`, or a list of
    cells, `["a.jpg", "a.png"]`. An object with rows in it is none itself.
    """
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _rows_of_item(item, depth)
    if isinstance(value, dict):
        rows = list[dict[str, str] | list[str]]()
        for item in value.values():
            rows += _rows_of(item, depth + 1)
        yield from rows or _rows_of_object(value)


def _rows_of_item(item: Any, depth: int) -> Iterator[dict[str, str] | list[str]]:
    """Yields the rows of an item of a list, which may be the line of a text."""
    if _is_row_of_texts(item):
        yield item
    elif isinstance(item, str):
        cells = _files_of_line(item)
        if len(cells) > 1:
            yield cells
    else:
        yield from _rows_of(item, depth + 1)


def _is_row_of_texts(item: Any) -> bool:
    return isinstance(item, list) and len(item) > 1 and all(isinstance(cell, str) for cell in item)


def _rows_of_object(value: Mapping[Any, Any]) -> Iterator[dict[str, str]]:
    """Yields the rows that an object is: of columns below one another, of keys, or one row."""
    columns = _parallel_columns(value)
    if columns:
        for cells in zip(*columns.values(), strict=True):
            yield dict(zip(columns, cells, strict=True))
        return
    if all(isinstance(item, str) and names_file(str(key)) for key, item in value.items()):
        for key, item in value.items():
            yield {"key": str(key), "value": item}
        return
    row = _flat(value)
    if 1 < _count_files(row.values()) <= _MAX_FILES_OF_ROW:
        yield row


def _parallel_columns(value: Mapping[Any, Any]) -> dict[str, list[str]]:
    """Returns the keys with lists of as many names of files; none if there are not two such."""
    columns: dict[str, list[str]] = {}
    for key, item in value.items():
        cells = [*item.values()] if isinstance(item, dict) else item
        if not isinstance(cells, list) or not cells:
            continue
        if all(isinstance(cell, str) and names_file(cell) for cell in cells):
            columns[str(key).lower()] = cells
    lengths = {len(cells) for cells in columns.values()}
    have_same_length = len(lengths) == 1 and lengths != {1}
    return columns if len(columns) > 1 and have_same_length else {}


def _flat(value: Mapping[Any, Any], depth: int = 0) -> dict[str, str]:
    """Returns the texts of an object and of the objects in it; of a list of texts the first."""
    row: dict[str, str] = {}
    for key, item in value.items():
        name = str(key).lower()
        first = item[0] if isinstance(item, list) and item else item
        if isinstance(first, str):
            row[name] = first
        elif isinstance(item, dict) and depth < _MAX_DEPTH:
            for inner, text in _flat(item, depth + 1).items():
                row[f"{name}/{inner}"] = text
    return row
