"""The table of classes: what each value, color and class of masks becomes in a dataset.

A row is a key and a class. A key is a value (0 to 65535), a color (`#804080`), the name of a class
of the masks, or `*`; a class is a name or `void`. Options, files and configs write rows. They stand
over the names that were found, or that the user gave.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import csv
import dataclasses
import functools
import io
import re
from typing import Any

from voc_seg_tfrecord.core.class_files import is_void_name
from voc_seg_tfrecord.core.class_parsers import TABLE_KEYS, is_table, table_columns
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean, several
from voc_seg_tfrecord.core.names import VOID, Color, background_index, plain, unprintable
from voc_seg_tfrecord.core.spelling import group_by_case, show_name

VOID_CLASS = "void"
STAR = "*"
UNKNOWN = "?"
"""The class of a row that is to be filled in."""

HIGHEST_VALUE = 65535
"""The highest value that a row may have, and so the largest number of values."""

Key = int | str
"""A value; or a color such as `#804080`, the name of a class, or `*`."""

Rows = tuple[tuple[Key, str], ...]
"""Keys and their classes; the class is a name, or `void`."""

_VALUE = re.compile("[0-9]{1,9}")  # a longer number is no value of a mask
_COLOR = re.compile("#[0-9a-fA-F]{6}")
_WORD = r'\s*("[^"]*"|[^",=]*[^",=\s])\s*'
_PAIR = re.compile(f"{_WORD}={_WORD}(,|$)")
_FORM = "pairs such as 0=background,255=crack, or the name of a file that ends in .csv"
MAX_LISTED_NAMES = 8
"""How many keys or names an error lists."""

MAX_DESCRIBED_SOURCES = 6
"""How many keys a description of a table lists for each class."""


def table_error(found: str, expected: str, remedy: str = "change classes") -> ConfigError:
    """Returns the error that the user's rows are wrong."""
    return ConfigError("option classes", found=found, expected=expected, remedy=remedy)


def color_of(key: Key) -> Color | None:
    """Returns the color that a key is; None if it is none."""
    if isinstance(key, int) or not _COLOR.fullmatch(key):
        return None
    red, green, blue = bytes.fromhex(key[1:])
    return red, green, blue


def is_name(key: Key) -> bool:
    """Says whether a key is the name of a class of the masks."""
    return isinstance(key, str) and key != STAR and color_of(key) is None


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


def color_key(color: Sequence[int]) -> str:
    """Returns the key of a color."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def parse_pairs(text: str) -> Rows:
    """Reads `key=class,key=class`. Digits alone are a value.

    A name that holds a comma or `=` stands in double quotes, and so does one of digits alone.

    Raises:
      ConfigError: if the text is no such pairs, or `check_rows` refuses them.
    """
    rows: list[tuple[Key, str]] = []
    position = 0
    while True:
        match = _PAIR.match(text, position)
        if not match:
            raise table_error(f"{text[position : position + 80]!r}, which is no pair", _FORM)
        rows.append(_pair(match[1], match[2]))
        if not match[3]:
            return check_rows(rows)
        position = match.end()


def _pair(key: str, name: str) -> tuple[Key, str]:
    word = key.strip('"')
    if word != key and (word == STAR or _COLOR.fullmatch(word)):
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


def check_rows(rows: Iterable[Sequence[Any]] | Mapping[Any, str]) -> Rows:
    """Returns rows in their normal form: colors as `#804080`, classes that mean void as `void`.

    A color may be given as three numbers, too.

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
    unknown = [key for key, name in checked.items() if name == UNKNOWN]
    if unknown:
        raise table_error(
            f"no class for {several(map(str, unknown), MAX_LISTED_NAMES)}",
            "a class for each row, or void",
            "write the name of a class, or void, in place of each ?",
        )
    return tuple(checked.items())


def _key(key: Any) -> Key:
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


def parse_file(text: str, where: object) -> Rows:
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
    rows: dict[Key, str] = {}
    for number, line, cells in _lines(text):
        name = cells.get("class", "") or UNKNOWN
        try:
            keys = [
                _key_of_cell(column, cells[column]) for column in TABLE_KEYS if cells.get(column)
            ]
            if not keys:
                raise ValueError("no key")
            for key in keys:
                if rows.setdefault(key, name) != name:
                    raise ValueError(f"{key!r} for {name!r}, after {rows[key]!r}")
        except ValueError as error:
            found = f"{error} in line {number}, {line[:80]!r}"
            expected = "a value, color or name with one class"
            raise ConfigError(where, found=found, expected=expected) from None
    try:
        return check_rows(rows)
    except ConfigError as error:
        raise error.changed(where=str(where), remedy="correct the file") from None


def has_unknown(text: str) -> bool:
    """Says whether a row of a table has `?` in place of its class, or nothing."""
    return any(cells.get("class", "") in ("", UNKNOWN) for *_, cells in _lines(text))


def _lines(text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """Yields the number, the text and the cells of each line of a table that is not empty."""
    head, *lines = csv.reader(io.StringIO(text, newline=None), skipinitialspace=True)
    for number, line in enumerate(lines, start=2):
        cells = dict(zip(table_columns(head), map(str.strip, line), strict=False))
        if any(cells.values()):
            yield number, ",".join(line), cells


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
    numbers = [int(part) for part in re.split(r"[\s,;]+", cell)]
    if len(numbers) != 3 or not all(0 <= number <= 255 for number in numbers):
        raise ValueError(f"the color {cell[:40]!r}")
    return color_key(numbers)


@dataclasses.dataclass(frozen=True)
class ClassTable:
    """The user's rows over the names of the masks' classes.

    Where there are names, the dataset's classes are first those of rows by name, in their order,
    then the names that stay, each at its place; then the classes of values and colors. Without
    names, or with rows by name, background becomes class 0.

    Attributes:
      names: the classes of the masks, each at its value, names that mean void among them; empty
        where the rows are all that is known.
      rows: what the user said, as `check_rows` returns it.
      background: name of the class, before or after, that is background, if its own name does not
        say so.

    Raises:
      ConfigError: if a row names no class, no class is left, or two differ in spelling alone.
    """

    names: tuple[str, ...]
    rows: Rows = ()
    background: str = ""

    def __post_init__(self) -> None:
        for name in self.named:
            if name not in self.names:
                raise self._no_class(name)
        reserved = {STAR, UNKNOWN, str(VOID)}.intersection(self.class_names)
        if reserved:
            raise table_error(f"the class {min(reserved)!r}", "a name", "rename this class")
        if self.rows and not self.class_names:
            raise table_error("rows that leave no class", "at least one class that is not void")
        self._check_spelling()

    def _no_class(self, name: str) -> ConfigError:
        """Returns the error that a row names a class that the masks do not have."""
        same = [other for other in self.names if plain(other) == plain(name)]
        hint = f", but {same[0]!r} is one" if same else did_you_mean(name, self.names)
        names = several(self.names, MAX_LISTED_NAMES)
        choices = names or "values, colors and * alone, without names"
        return table_error(f"{name!r}, which is no class{hint}", f"some of {choices}")

    def _check_spelling(self) -> None:
        """Checks that no row makes a class that differs from another one in spelling alone."""
        for alike in group_by_case(self.class_names):
            new_names = [name for name in alike if name not in self.names]
            if new_names:
                name, other = alike[:2]
                found = f"the classes {show_name(name)} and {show_name(other)}"
                raise table_error(found, "one spelling of each")

    @functools.cached_property
    def values(self) -> dict[int, str]:
        """The class of each value that has a row."""
        return {key: name for key, name in self.rows if isinstance(key, int)}

    @functools.cached_property
    def colors(self) -> dict[Color, str]:
        """The class of each color that has a row."""
        colors = ((color_of(key), name) for key, name in self.rows)
        return {color: name for color, name in colors if color is not None}

    @functools.cached_property
    def named(self) -> dict[str, str]:
        """The class of each class of the masks that has a row."""
        return {str(key): name for key, name in self.rows if is_name(key)}

    @property
    def star(self) -> str | None:
        """The class of `*`; None without it."""
        return dict(self.rows).get(STAR)

    @property
    def star_of_keys(self) -> bool:
        """Whether `*` is every other value and color in use, and not just every other name."""
        keyed = bool(self.values or self.colors)
        return self.star is not None and (keyed or not self.names)

    @property
    def _renames(self) -> bool:
        return bool(self.named) or (self.star is not None and bool(self.names))

    def target(self, name: str) -> str:
        """Returns what a class of the masks becomes: `void`, or the name of a class."""
        if name in self.named:
            return self.named[name]
        if is_void_name(name):
            return VOID_CLASS
        return name if self.star is None else self.star

    def _at(self, value: int) -> str:
        """Returns what a value of masks that hold numbers of `names` becomes."""
        return self.values.get(value) or self.target(self.names[value])

    @functools.cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes of the dataset, in order."""
        of_names, of_keys = list[str](), list[str]()
        for key, name in self.rows:
            if is_name(key) or (key == STAR and self._renames):
                of_names.append(name)
            else:
                of_keys.append(name)
        of_places = [self._at(value) for value in range(len(self.names))]
        names = list(dict.fromkeys([*of_names, *of_places, *of_keys]))
        if VOID_CLASS in names:
            names.remove(VOID_CLASS)
        index = background_index(names, self._background_among(names))
        may_move = bool(self.rows) and (self._renames or not self.names)
        if index is not None and may_move:
            names.insert(0, names.pop(index))
        return tuple(names)

    def _background_among(self, names: Sequence[str]) -> str:
        """Returns the name of the new background, if the user named either the old or the new."""
        if not self.background or self.background in names:
            return self.background
        if self.background not in self.names:
            return ""
        new = self._at(self.names.index(self.background))
        return new if new in names else ""

    @property
    def background_name(self) -> str:
        """The name of the background class; empty where none is known."""
        index = background_index(self.class_names, self._background_among(self.class_names))
        return "" if index is None else self.class_names[index]

    @property
    def fill(self) -> int | None:
        """What an image without any mask is filled with; None where there is no background.

        It is what the background of the masks becomes, so it may be void.
        """
        old = self._old_background()
        name = self.background_name if old is None else self._at(self.names.index(old))
        return self.index(name) if name else None

    def _old_background(self) -> str | None:
        """Returns the background among the classes of the masks; None if none is known."""
        names = [name for name in self.names if not is_void_name(name)]
        if self.background and self.background not in names:
            return None
        index = background_index(names, self.background)
        return None if index is None else names[index]

    def index(self, name: str) -> int:
        """Returns the index of a class of the dataset; that of `void` is 255."""
        return VOID if name == VOID_CLASS else self.class_names.index(name)

    def became(self) -> dict[str, str]:
        """Returns what each class of the masks became, if any did not just stay; else nothing."""
        new = {name: self.target(name) for name in self.names}
        return new if self._renames or VOID_CLASS in new.values() else {}

    def index_values(self, places: Mapping[int, int] | None = None) -> dict[int, int]:
        """Returns the class of each value of masks that hold numbers of `names`; 255 is void.

        Args:
          places: the place among the names, or 255, of each value; by default the value is it.
        """
        if places is None:
            places = {value: value for value in range(len(self.names))}
        classes = {-1: VOID, VOID: VOID}
        for value, place in places.items():
            if value in self.values:
                continue
            classes[value] = VOID if place == VOID else self.index(self.target(self.names[place]))
        for value, name in self.values.items():
            classes[value] = self.index(name)
        return classes

    def describe(self) -> str:
        """Returns the table in words: `0 background from sky; 1 vehicle from car, bus`."""
        parts = []
        for name in [*self.class_names, VOID_CLASS]:
            sources = self._sources_of(name)
            if not sources:
                continue
            words = name if name == VOID_CLASS else f"{self.index(name)} {name}"
            if sources != [name]:
                words += f" from {several(sources, MAX_DESCRIBED_SOURCES)}"
            parts.append(words)
        return "; ".join(parts)

    def _sources_of(self, name: str) -> list[str]:
        """Returns the classes of the masks, and then the keys of rows, that become a class."""
        became = self.became() or {old: old for old in self.names}
        sources = [old for old, new in became.items() if new == name]
        sources += [str(key) for key, new in self.rows if new == name and key not in self.named]
        return sources
