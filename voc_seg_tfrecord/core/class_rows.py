"""Rows of the table of classes, as options, files and configs write them.

A row is a key and a class. A key is a value (-2147483648 to 65535), a color (`#804080`), the name
of a class of the masks, or `*`; a class is a name or `void`. `class_table` puts rows over the names
that were found, or that the user gave. `tools.class_texts` reads rows from a file.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import numbers
import re
from typing import Any

from voc_seg_tfrecord.core.class_entries import is_void_name
from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.names import VOID, Color, unprintable

VOID_CLASS = "void"
VOID_VALUES = {-1: VOID, VOID: VOID}
"""The values that are void unless something else is said: 255, and -1, as labelme's arrays have it.
All other negative values, such as -9999, are values like others."""

WILDCARD = "*"
"""The key of all names, or of all values and colors in use, that no other row has."""

UNKNOWN = "?"
"""The class of a row that is to be filled in."""

LOWEST_VALUE = -(1 << 31)
"""The lowest value that a row may have: programs for maps write -9999 or -32768 for no data."""

HIGHEST_VALUE = 65535
"""The highest value that a row may have."""

MAX_LISTED_NAMES = 8
"""How many keys or names an error lists."""

Key = int | str
"""A value; or a color such as `#804080`, the name of a class, or `*`."""

Rows = tuple[tuple[Key, str], ...]
"""Keys and their classes; the class is a name, or `void`."""

_VALUE = re.compile("-?[0-9]{1,10}")  # a longer number is no value of a mask
_COLOR = re.compile("#[0-9a-fA-F]{6}")


def is_text_of_value(text: str) -> bool:
    """Says whether a text may be a value: `255`, `-9999`."""
    return _VALUE.fullmatch(text) is not None


def is_text_of_color(text: str) -> bool:
    """Says whether a text is a color as a key has it: `#804080`, in any case."""
    return _COLOR.fullmatch(text) is not None


def table_error(found: str, expected: str, remedy: str = "correct this row") -> ConfigError:
    """Returns the error that the user's rows are wrong."""
    return ConfigError("option classes", found=found, expected=expected, remedy=remedy)


# Keys.


def color_of(key: Key) -> Color | None:
    """Returns the color that a key is; None if it is none."""
    if isinstance(key, int) or not is_text_of_color(key):
        return None
    red, green, blue = bytes.fromhex(key[1:])
    return red, green, blue


def color_key(color: Sequence[int]) -> str:
    """Returns the key of a color."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def read_rgb(parts: Collection[Any]) -> Color:
    """Returns a color of its three parts, which may be texts.

    Raises:
      ValueError: if these are not three whole numbers of 0 to 255.
    """
    red, green, blue = map(int, parts)
    if [red, green, blue] != [*map(float, parts)]:
        raise ValueError(f"color {', '.join(map(str, parts))} is not in whole numbers")
    if min(red, green, blue) < 0 or max(red, green, blue) > 255:
        raise ValueError(f"color {red}, {green}, {blue} is not 0 to 255")
    return red, green, blue


def is_name(key: Key) -> bool:
    """Says whether a key is the name of a class of the masks."""
    return isinstance(key, str) and key != WILDCARD and color_of(key) is None


# Rows.


def are_whole(rows: Rows) -> bool:
    """Says whether rows may be a whole table: they leave a class, and need no names of classes."""
    leave_class = any(name != VOID_CLASS for _, name in rows)
    need_names = any(is_name(key) for key, _ in rows)
    return leave_class and not need_names


def add_found_rows(rows: Rows, found_rows: Rows) -> Rows:
    """Adds found rows to the user's, for keys that have no row.

    Beside `*`, only void rows of values and colors are added: `*` takes all other keys.
    """
    given_keys = {key for key, _ in rows}
    wildcard_takes_all = WILDCARD in given_keys
    added = []
    for key, name in found_rows:
        if key in given_keys:
            continue
        is_void_pixel = name == VOID_CLASS and not is_name(key)
        if is_void_pixel or not wildcard_takes_all:
            added.append((key, name))
    return (*rows, *added)


def check_rows(rows: Iterable[Sequence[Any]] | Mapping[Any, str]) -> Rows:
    """Returns rows in their normal form: colors as `#804080`, classes that mean void as `void`.

    A color may be given as three numbers, too.

    Raises:
      ConfigError: if a row has another form, or a key is in two rows.
    """
    pairs = rows.items() if isinstance(rows, Mapping) else rows
    checked: dict[Key, str] = {}
    for pair in pairs:
        key, name = _check_row(pair)
        if key in checked:
            raise table_error(f"the key {key!r} in two places", "each key once")
        checked[key] = name
    _check_no_unknown_class(checked)
    return tuple(checked.items())


def _check_row(row: Sequence[Any]) -> tuple[Key, str]:
    """Returns a row in its normal form."""
    if isinstance(row, str) or len(row) != 2 or not isinstance(row[1], str):
        raise table_error(f"{row!r:.80}", 'pairs such as [255, "crack"]')
    key = _check_key(row[0])
    name = row[1].strip()
    if not name or unprintable(name) or name in (WILDCARD, str(VOID)):
        found = f"the class {name!r} for {key!r}"
        raise table_error(found, "a name without control characters, or void")
    return key, VOID_CLASS if is_void_name(name) else name


def _check_no_unknown_class(class_by_key: Mapping[Key, str]) -> None:
    """Checks that the `?` of each row was replaced."""
    unknown = [key for key, name in class_by_key.items() if name == UNKNOWN]
    if unknown:
        raise table_error(
            f"no class for {several(map(str, unknown), MAX_LISTED_NAMES)}, only ?",
            "a class for each row, or void",
            "write the name of a class, or void, in place of each ?",
        )


def _check_key(key: Any) -> Key:
    """Returns a key in its normal form: a value, a color as `#804080`, or a name."""
    if isinstance(key, list | tuple):
        color = _color_of_numbers(key)
        if color is not None:
            return color_key(color)
    if isinstance(key, str) and key.strip() and not unprintable(key):
        word = key.strip()
        return word.lower() if is_text_of_color(word) else word
    is_whole_number = isinstance(key, int) and not isinstance(key, bool)
    if is_whole_number and LOWEST_VALUE <= key <= HIGHEST_VALUE:
        return int(key)
    raise table_error(
        f"the key {key!r:.80}",
        f"a value of {LOWEST_VALUE} to {HIGHEST_VALUE}, a color such as #804080, or a name",
    )


def _color_of_numbers(parts: Sequence[Any]) -> Color | None:
    """Returns the color of red, green and blue; None if these are no color.

    JSON of some programs has 128.0 in place of 128.
    """
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, numbers.Real):
            return None
    try:
        return read_rgb(parts)
    except (ValueError, OverflowError):
        return None


# Rows as an option: `0=background,255=crack`.

_WORD = r'\s*("(?:[^"]|"")*"|[^",=]*[^",=\s])\s*'
_PAIR = re.compile(f"{_WORD}={_WORD}(,|$)")
_FORM = "pairs such as 0=background,255=crack, or the name of a file that ends in .csv"


def parse_pairs(text: str) -> Rows:
    """Reads `key=class,key=class`. Digits alone, or behind a minus sign, are a value.

    A name that holds a comma, `=` or a double quote stands in double quotes, and so does one of
    digits alone. In it, two double quotes are one, as in CSV files: `"5"" pipe"`.

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
    word = _unquote(key)
    is_quoted = word != key
    if is_quoted and (word == WILDCARD or is_text_of_color(word)):
        raise table_error(f"the name {word!r}, which is no name", "the name of a class")
    if is_text_of_value(name):
        raise table_error(
            f"the class {name} for {word!r}",
            "the name of a class, or void",
            f"write the name of the class; if it is called {name}, write it in double quotes",
        )
    return int(key) if is_text_of_value(key) else word, _unquote(name)


def format_pairs(rows: Iterable[tuple[Key, str]]) -> str:
    """Returns rows as `parse_pairs` reads them: `key=class,key=class`."""
    pairs = []
    for key, name in rows:
        word = str(key) if isinstance(key, int) or not is_name(key) else _quote(key)
        pairs.append(f"{word}={_quote(name)}")
    return ",".join(pairs)


def _quote(name: str) -> str:
    """Puts a name in double quotes that the option would take apart or take for a value."""
    has_sign_of_pairs = not set(',="').isdisjoint(name)
    if not has_sign_of_pairs and not is_text_of_value(name):
        return name
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _unquote(word: str) -> str:
    """Returns a word without the double quotes around it; the reverse of `_quote`."""
    return word[1:-1].replace('""', '"') if word.startswith('"') else word
