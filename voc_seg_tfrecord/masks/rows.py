"""The rows of a table of classes, as options, files and configs write them.

A row is a key and a class. A key is a value (0 to 65535), a colour (`#804080`), the name of a class
of the masks, or `*`; a class is a name or `void`. `table.ClassTable` says what rows mean.
"""

from collections.abc import Iterable, Mapping, Sequence
import csv
import io
import re
from typing import Any

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOID, Color, unprintable
from voc_seg_tfrecord.base.wording import several
from voc_seg_tfrecord.formats.class_files import is_void_name
from voc_seg_tfrecord.formats.class_parsers import TABLE_KEYS, is_table, table_columns

VOID_CLASS = "void"
STAR = "*"
UNKNOWN = "?"
"""The class of a row that is to be filled in."""

HIGHEST = 65535
"""The highest value that a row may have, and so the largest number of values."""

Key = int | str
"""A value; or a colour such as `#804080`, the name of a class, or `*`."""

Rows = tuple[tuple[Key, str], ...]
"""Keys and their classes; the class is a name, or `void`."""

_VALUE = re.compile("[0-9]{1,9}")  # a longer number is no value of a mask
_COLOR = re.compile("#[0-9a-fA-F]{6}")
_PART = re.compile(r'\s*(?:"([^"]*)"|([^",=]*[^",=\s]))?\s*([,=]|$)')
_FORM = "pairs such as 0=background,255=crack, or the name of a file that ends in .csv"
SHOWN = 8
"""Keys or names that an error lists."""


def table_error(found: str, expected: str, remedy: str = "change classes") -> ConfigError:
    """Returns the error that the user's rows are wrong."""
    return ConfigError("option classes", found=found, expected=expected, remedy=remedy)


def color_of(key: Key) -> Color | None:
    """Returns the colour that a key is; None if it is none."""
    if isinstance(key, int) or not _COLOR.fullmatch(key):
        return None
    red, green, blue = bytes.fromhex(key[1:])
    return red, green, blue


def color_key(color: Sequence[int]) -> str:
    """Returns the key of a colour."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def parse_pairs(text: str) -> Rows:
    """Reads `key=class,key=class`. Digits alone are a value.

    A name that holds a comma or `=` stands in double quotes, and so does one of digits alone.

    Raises:
      ConfigError: if the text is no such pairs, or `check_rows` refuses them.
    """
    words: list[tuple[str, bool]] = []  # the word, and whether it stood in quotes
    rows: list[tuple[Key, str]] = []
    position = 0
    while position <= len(text):
        match = _PART.match(text, position)
        if not match or (match[1] is None and match[2] is None):
            raise table_error(
                f"{text[position : position + 80]!r} where a key or a class is", _FORM
            )
        words.append((match[1] if match[2] is None else match[2], match[1] is not None))
        if (match[3] == "=") != (len(words) == 1):
            raise table_error(f"{text[position : position + 80]!r}, which is no pair", _FORM)
        if len(words) == 2:
            rows.append(_pair(*words))
            words = []
        if match.end() == position or not match[3]:
            break
        position = match.end()
    return check_rows(rows)


def _pair(key: tuple[str, bool], name: tuple[str, bool]) -> tuple[Key, str]:
    word, quoted = key
    if quoted and (word == STAR or _COLOR.fullmatch(word)):
        raise table_error(f"the name {word!r}, which is no name", "the name of a class")
    if not name[1] and _VALUE.fullmatch(name[0]):
        raise table_error(
            f"the class {name[0]} for {word!r}",
            "the name of a class, or void",
            f"write the name of the class; if it is called {name[0]}, write it in double quotes",
        )
    return int(word) if _VALUE.fullmatch(word) and not quoted else word, name[0]


def check_rows(rows: Iterable[Sequence[Any]] | Mapping[Any, str]) -> Rows:
    """Returns rows in their normal form: colours as `#804080`, classes that mean void as `void`.

    Args:
      rows: pairs of a key and a class. A colour may be three numbers, too.

    Raises:
      ConfigError: if a row is none, or a key is in two rows.
    """
    checked: dict[Key, str] = {}
    for row in rows.items() if isinstance(rows, Mapping) else rows:
        if isinstance(row, str) or len(row) != 2 or not isinstance(row[1], str):
            raise table_error(f"{row!r:.80}", 'pairs such as [255, "crack"]')
        key, name = _key(row[0]), row[1].strip()
        if not name or unprintable(name) or name in (STAR, str(VOID)):
            found = f"the class {name!r} for {key!r}"
            raise table_error(found, "a name without control characters, or void")
        if key in checked:
            raise table_error(f"the key {key!r} in two places", "each key once")
        checked[key] = VOID_CLASS if is_void_name(name) else name
    if unknown := [key for key, name in checked.items() if name == UNKNOWN]:
        raise table_error(
            f"no class for {several(map(str, unknown), SHOWN)}",
            "a class for each row, or void",
            "write the name of a class, or void, in place of each ?",
        )
    return tuple(checked.items())


def _key(key: Any) -> Key:
    if isinstance(key, list | tuple) and len(key) == 3:
        key = color_key(key) if all(part in range(256) for part in key) else key
    if isinstance(key, str) and key.strip() and not unprintable(key):
        return key.strip().lower() if _COLOR.fullmatch(key.strip()) else key.strip()
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key <= HIGHEST:
        return key
    raise table_error(
        f"the key {key!r:.80}", f"a value of 0 to {HIGHEST}, a colour such as #804080, or a name"
    )


def parse_file(text: str, where: object) -> Rows:
    """Reads a table from a CSV file with the columns `class` and `value`, `color` or `name`.

    A row with a value and a colour is both.

    Args:
      text: the file's text.
      where: the file.

    Raises:
      ConfigError: if it is no such file, or a row has no class.
    """
    if not is_table(text):
        raise ConfigError(
            where,
            found=f"the first line {text.partition(chr(10))[0][:80]!r}",
            expected="a head line with class, and value, color or name",
            remedy="write such a file with voc-seg-tfrecord check and --write_classes",
        )
    head, *lines = csv.reader(io.StringIO(text), skipinitialspace=True)
    rows: dict[Key, str] = {}
    for number, line in enumerate(lines, start=2):
        cells = dict(zip(table_columns(head), (cell.strip() for cell in line), strict=False))
        if not any(cells.values()):
            continue
        name = cells.get("class", "") or UNKNOWN
        try:
            keys = [_cell(column, cells[column]) for column in TABLE_KEYS if cells.get(column)]
            if not keys:
                raise ValueError("no key")
            for key in keys:
                if rows.setdefault(key, name) != name:
                    raise ValueError(f"{key!r} for {name!r}, after {rows[key]!r}")
        except ValueError as error:
            found = f"{error} in line {number}, {','.join(line)[:80]!r}"
            expected = "a value, colour or name with one class"
            raise ConfigError(where, found=found, expected=expected) from None
    try:
        return check_rows(rows)
    except ConfigError as error:
        raise error.changed(where=str(where), remedy="correct the file") from None


def has_unknown(text: str) -> bool:
    """Says whether a row of a table has `?` in place of its class, or nothing."""
    head, *lines = csv.reader(io.StringIO(text), skipinitialspace=True)
    place = table_columns(head).index("class")
    return any(
        "".join(line) and "".join(line[place : place + 1]).strip() in ("", UNKNOWN)
        for line in lines
    )


def _cell(column: str, cell: str) -> Key:
    if column == "value":
        return int(cell)
    if column == "name":
        return cell
    parts = [cell[i : i + 2] for i in (1, 3, 5)] if _COLOR.fullmatch(cell) else []
    numbers = [int(part, 16) for part in parts] or [int(p) for p in re.split(r"[\s,;]+", cell)]
    if len(numbers) != 3 or not all(0 <= number <= 255 for number in numbers):
        raise ValueError(f"the colour {cell[:40]!r}")
    return color_key(numbers)
