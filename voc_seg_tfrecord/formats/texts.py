"""What texts hold: JSON and YAML as values, and lines as rows of cells."""

from collections.abc import Iterable, Iterator, Sequence
import csv
import io
import itertools
import json
import re
from typing import Any

import yaml

from voc_seg_tfrecord.core.errors import plain_reason

LIST_ENDINGS = (".txt", ".lst")
TABLE_ENDINGS = (".csv", ".tsv")
JSON_LINES = ".jsonl"
YAML_ENDINGS = (".yaml", ".yml")
DOCUMENT_ENDINGS = (".json", JSON_LINES, *YAML_ENDINGS)

READ_ENDINGS = (*LIST_ENDINGS, *TABLE_ENDINGS, *DOCUMENT_ENDINGS)
"""Endings, in lower case, of texts that are read. One without an ending may be a list too."""

OTHER_ENDINGS = (".list", ".ids", ".ini", ".cfg", ".toml", ".ndjson")
"""Endings of texts that are not read. If one names images and splits, the build stops."""

MAX_TEXT_BYTES = 64 << 20
"""Bytes of a text that is read as a whole."""

_MAX_YAML_CHARACTERS = 1 << 20
"""A YAML of this length takes a second to read."""

_MAX_YAML_DEPTH = 100
"""Lists and objects within each other; libyaml takes the square of their number in time."""

_YAML_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Reads all scalars as texts, by libyaml where PyYAML has it."""

_COLUMN_SEPARATORS = ("\t", ",", ";", "|")
"""What may separate the columns of a table, the likeliest first."""

_MAX_LINES_TO_FIND_COLUMNS = 5
_MAX_LINES_ABOVE_A_TABLE = 20
_COMMENT_OR_SEPARATOR_LINE = re.compile("#|(?i:sep=.\\s)")

Row = Sequence[str]
"""The cells of a row."""

_SEPARATOR_OF_WORDS = re.compile(r"[,;:\t|{}\[\]()\"'=\n\r]")


class DocumentError(ValueError):
    """A text is no JSON or YAML, or not in a form that is read; its words say why."""


class RepeatedKeyError(DocumentError):
    """An object of JSON or YAML has a key twice."""


def load_document(text: str, ending: str) -> Any:
    """Returns what a text of JSON, JSON Lines or YAML holds; None if it is empty.

    Values of YAML are lists, dicts and texts, as `007` stays as it is.

    Args:
      text: the text.
      ending: of its name, in lower case. A `.json` may hold JSON Lines, and a `.jsonl` one value.

    Raises:
      DocumentError: if it is none of these; if YAML is long or deep, or refers to parts of itself.
      RepeatedKeyError: if an object has a key twice.
    """
    if ending in YAML_ENDINGS:
        return _load_yaml(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return [] if ending == JSON_LINES else None
    if _has_value_on_each_line(lines, ending):
        return [load_json(line) for line in lines]
    return load_json(text)


def _has_value_on_each_line(lines: Sequence[str], ending: str) -> bool:
    """Says whether lines are JSON Lines, by the first one; see `load_document`."""
    first_line = lines[0]
    if ending == JSON_LINES:
        return not first_line.endswith(("{", "[", ","))
    ends = first_line[0] + first_line[-1]
    return len(lines) > 1 and ends in ("{}", "[]")


def load_json(text: str) -> Any:
    """Returns what JSON holds; see `load_document`."""
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except DocumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"no JSON: {plain_reason(error)}") from None


def _load_yaml(text: str) -> Any:
    try:
        _check_yaml(text)
        node = yaml.compose(text, _YAML_LOADER)
        return _plain_value(node) if node is not None else None
    except (yaml.YAMLError, RecursionError) as error:
        raise DocumentError(f"no YAML: {plain_reason(error)}") from None


def _check_yaml(text: str) -> None:
    """Refuses YAML that takes without end to read: by aliases a few bytes may stand for gigabytes.

    Raises:
      DocumentError: if it is long or deep, or refers to parts of itself.
      yaml.YAMLError: if it is no YAML.
    """
    if len(text) > _MAX_YAML_CHARACTERS:
        raise DocumentError(f"YAML of {len(text):,} characters, more than {_MAX_YAML_CHARACTERS:,}")
    depth = 0
    for event in yaml.parse(text, _YAML_LOADER):
        if isinstance(event, yaml.AliasEvent):
            raise DocumentError("YAML with aliases (*)")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _MAX_YAML_DEPTH:
            raise DocumentError(f"YAML of more than {_MAX_YAML_DEPTH} lists within each other")


def _plain_value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_plain_value(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _without_repeats(
            [(str(_plain_value(key)), _plain_value(value)) for key, value in node.value]
        )
    return node.value


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise RepeatedKeyError(f"the key {key!r} twice in one place")
        values[key] = value
    return values


def rows_between_separators(text: str, ending: str) -> list[list[str]]:
    """Returns the rows of a text with columns, cells without blanks around them.

    There are none if lines have no columns, only blanks, or one is too long. The separator is one
    of which each of the first lines has the same number; cells in quotes may have it too. Comments
    and Excel's `sep=,` may stand above the table, and a comment above it may be its titles.

    Args:
      text: the text.
      ending: of its name, in lower case. Only cells of tables such as `.csv` may be in quotes.
    """
    top = [*itertools.islice(io.StringIO(text, newline=""), _MAX_LINES_ABOVE_A_TABLE)]
    filled = [line for line in top if line.strip() and not _COMMENT_OR_SEPARATOR_LINE.match(line)]
    first_lines = filled[:_MAX_LINES_TO_FIND_COLUMNS]
    if not first_lines:
        return []
    has_quotes = ending in TABLE_ENDINGS and any('"' in line for line in first_lines)
    separator = _find_separator(first_lines, has_quotes=has_quotes)
    if not separator:
        return []
    above = top[: top.index(first_lines[0])]
    comments = [line for line in above if line.startswith("#")]
    counts = {line.count(separator) for line in first_lines}
    titles = [line for line in comments if line.count(separator) in counts]
    all_lines = io.StringIO(text, newline="")
    table_lines = itertools.islice(all_lines, len(above), None)
    return _read_csv(itertools.chain(titles, table_lines), separator)


def _find_separator(lines: Sequence[str], *, has_quotes: bool) -> str:
    """Returns what separates columns: each line has it, as often unless it may be in quotes.

    It is empty if nothing does.
    """
    for separator in _COLUMN_SEPARATORS:
        counts = {line.count(separator) for line in lines}
        if 0 not in counts and (has_quotes or len(counts) == 1):
            return separator
    return ""


def _read_csv(lines: Iterable[str], separator: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(lines, delimiter=separator):
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
    except csv.Error:
        return []
    return rows


def as_title(cell: str) -> str:
    """Returns the title of a column as it is compared: `image` for `# Image`."""
    return cell.lower().lstrip("# ")


def with_width(rows: Sequence[Row], width: int) -> list[Row]:
    """Returns rows with empty cells behind those that are shorter than a width."""
    padded: list[Row] = []
    for row in rows:
        missing = [""] * (width - len(row))
        padded.append([*row, *missing])
    return padded


def words_of(text: str) -> Iterator[str]:
    """Yields what stands in a text between separators, then what stands between blanks."""
    for part in _SEPARATOR_OF_WORDS.split(text):
        part = part.strip()
        if not part:
            continue
        yield part
        words = part.split()
        if len(words) > 1:
            yield from words
