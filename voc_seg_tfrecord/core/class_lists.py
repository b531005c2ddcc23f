"""Reads lists of classes that people write, with or without values and colors.

| lines | example |
|---|---|
| below a column line, which names the columns | `id,name,r,g,b` / `1,crack,128,0,0` |
| a value, a name and a color | `1 crack 128 0 0`, `crack 1 128 0 0` |
| a name and a color | `crack 128 0 0`, `crack: #800000` |
| a color and a name | `128 0 0 crack` |
| a value and a name | `1,crack`, `1: crack`, `crack 1` |
| a name | `crack` |
| all names in one line | `crack, hole` |

Between the parts stand blanks, commas, semicolons or tabs. All lines of a list have one form.
Without a column line, colors are taken off the lines first, then values; the names remain. A title
line, such as `name`, may stand above them.
"""

from collections.abc import Sequence
import csv
import dataclasses
import re

from voc_seg_tfrecord.core.class_cells import (
    NAME_COLUMNS,
    column_name,
    have_values_or_colors,
    read_cells,
)
from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_parsers import (
    check_no_empty_line,
    is_comment,
    number_by_place,
    read_color,
    read_value,
    split_lines,
)
from voc_seg_tfrecord.core.names import Color

_DELIMITERS = ",;\t"
_MARKS = ",;"
"""Signs that may stand at the end of each line, and are no part of it."""
_TITLES = ("name", "class", "classes", "class_name")
"""First lines, in small letters, that stand above names and are none of them: title lines."""


def parse_list(text: str) -> list[ClassEntry]:
    """Reads a list of classes by hand; see the table above.

    Raises:
      ValueError: if the lines have several forms, or it is not clear which one; see `UNREADABLE`
        for other errors.
    """
    lines = _ListLines.parse(text)
    if not lines.classes:
        return []
    entries = _read_below_column_line(lines.classes)
    if entries is None:
        entries = _read_without_columns(lines.without_title_line())
    _check_comments(lines)
    return number_by_place(entries)


@dataclasses.dataclass(frozen=True)
class _ListLines:
    """The lines of a list, without blanks around them.

    Attributes:
      all_lines: every line, from the first to the last one that is not empty.
      classes: the lines that have classes; a column line or a title line may stand before them.
      comments: the lines that begin with `#` and are not read.
    """

    all_lines: Sequence[str]
    classes: Sequence[str]
    comments: Sequence[str]

    @classmethod
    def parse(cls, text: str) -> "_ListLines":
        """Tells the lines of classes from comments and from lines of marks alone.

        If each line with `#` begins with a color, as in `#800000 crack`, it is no comment.
        """
        all_lines = split_lines(text.strip())
        lines = [line for line in all_lines if line.strip(_MARKS)]
        comments = [line for line in lines if line.startswith("#")]
        if all(_COLOR_AND_NAME.fullmatch(line) for line in comments):
            return cls(all_lines, lines, [])
        classes = [line for line in lines if not line.startswith("#")]
        return cls(all_lines, classes, comments)

    def without_title_line(self) -> "_ListLines":
        """Returns the lines without a first one such as `name`."""
        first_word = self.classes[0].rstrip(_MARKS).casefold()
        if len(self.classes) > 1 and first_word in _TITLES:
            return dataclasses.replace(self, classes=self.classes[1:])
        return self


def _read_without_columns(lines: _ListLines) -> list[ClassEntry]:
    """Returns the classes of a list that has no column line."""
    _check_no_brackets(lines.classes)
    if len(lines.classes) == 1:
        return _read_lines_of_one_form(_split_one_line(lines.classes[0].rstrip(_MARKS)))
    entries = _read_lines_of_one_form([line.rstrip(_MARKS) for line in lines.classes])
    _check_marks_are_separators(lines.classes, entries)
    if all(entry.by_place and entry.color is None for entry in entries):
        _check_no_gap(lines)
    return entries


def _split_one_line(line: str) -> list[str]:
    """Returns the classes of a list that is one line: two of `crack, hole`, one of `1, crack`.

    Several classes are there if several parts have letters.

    Raises:
      ValueError: if other parts have none, as in `1, crack, hole`.
    """
    for delimiter in _DELIMITERS:
        parts = [part.strip() for part in line.split(delimiter)]
        names = [part for part in parts if _has_letters(part)]
        if len(names) < 2:
            continue
        if len(names) < len(parts):
            raise ValueError(f"the only line {line[:80]!r}, which may be one class or several")
        return parts
    return [line]


def _has_letters(part: str) -> bool:
    """Says whether a part of a line has letters, and is no color such as `#ff0000`."""
    if _HEX_COLOR.fullmatch(part):
        return False
    return any(character.isalpha() for character in part)


# Checks of lines.


def _check_comments(lines: _ListLines) -> None:
    """Raises a ValueError if a comment may be a class: `#crack`, where lines begin with names."""
    if _begin_with_numbers(lines.classes):
        return
    for line in lines.comments:
        if not is_comment(line):
            raise ValueError(f"{line[:80]!r}, which may be a comment or a name")


def _begin_with_numbers(lines: Sequence[str]) -> bool:
    """Says whether all lines begin with numbers, not counting a column line or a title line.

    One line alone proves nothing.
    """
    numbered_lines = lines if _FIRST_NUMBER.match(lines[0]) else lines[1:]
    return len(numbered_lines) >= 2 and all(_FIRST_NUMBER.match(line) for line in numbered_lines)


def _check_no_brackets(lines: Sequence[str]) -> None:
    """Raises a ValueError if brackets stand around the lines, as in JSON."""
    begins_with_bracket = lines[0].startswith(("[", "{", "("))
    ends_with_bracket = lines[-1].rstrip(_MARKS).endswith(("]", "}", ")"))
    if begins_with_bracket and ends_with_bracket:
        raise ValueError(f"brackets around the names, from {lines[0][:80]!r} on")


def _check_marks_are_separators(lines: Sequence[str], entries: Sequence[ClassEntry]) -> None:
    """Raises a ValueError if a mark at the end of a name may belong to the name.

    Marks between all lines are separators: `crack,` / `hole`. In `crack` / `hole,` / `lane` the
    mark may belong to `hole`.

    Args:
      lines: the lines of classes, with their marks.
      entries: the class of each line.
    """
    have_marks = [line.endswith(tuple(_MARKS)) for line in lines]
    stand_between_all = all(have_marks[:-1])
    if stand_between_all or not any(have_marks):
        return
    for line, entry in zip(lines, entries, strict=True):
        bare_line = line.rstrip(_MARKS)
        has_mark_behind_name = bare_line != line and bare_line.endswith(entry.name)
        if has_mark_behind_name:
            raise ValueError(f"a mark at the end of {line[:80]!r}, and none at that of others")


def _check_no_gap(lines: _ListLines) -> None:
    """Raises a ValueError if a line after the first name is empty, which some programs count."""
    first = lines.all_lines.index(lines.classes[0])
    check_no_empty_line(lines.all_lines[first:])


# Rows below a column line.


def _read_below_column_line(lines: Sequence[str]) -> list[ClassEntry] | None:
    """Returns the classes below a line that names columns; None if the first line names none."""
    for delimiter in _DELIMITERS:
        entries = _read_rows(lines, delimiter)
        if entries is not None:
            return entries
    return None


def _read_rows(lines: Sequence[str], delimiter: str) -> list[ClassEntry] | None:
    """Reads `1,crack` below `id,name`, with the columns in any order.

    Returns:
      The classes; None if the first line is no column line.

    Raises:
      ValueError: if the columns hold names, and neither values nor colors; or if a quote is open at
        the end of a line.
    """
    rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    columns = [column_name(cell) for cell in _without_empty_end(rows[0], 0)]
    if not _are_columns_of_classes(columns):
        return None
    if columns[0] == "" and len(columns) == 2:  # pandas gives its numbers of rows no title
        columns[0] = "id"
    _check_no_open_quote(lines, rows)
    rows = [_without_empty_end(row, len(columns)) for row in rows[1:]]
    if have_values_or_colors(columns):
        return [read_cells(columns, row) for row in rows]
    _check_is_no_column_line(lines[0], columns, rows)
    return None


def _check_is_no_column_line(
    first_line: str, columns: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Checks that a line of names alone has classes: `class, hole` above `lane`.

    Args:
      first_line: the line.
      columns: its parts.
      rows: the parts of the lines below it.

    Raises:
      ValueError: if all lines below it have as many parts, so that it names their columns.
    """
    have_all_columns = all(len(row) == len(columns) for row in rows)
    if rows and have_all_columns:
        raise ValueError(f"the head line {first_line[:80]!r} names no value and no color")


def _are_columns_of_classes(columns: Sequence[str]) -> bool:
    """Says whether a line names several columns, and one of them holds names."""
    return len(columns) > 1 and not {*columns}.isdisjoint(NAME_COLUMNS)


def _check_no_open_quote(lines: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Raises a ValueError if a quote that is not closed made one row of several lines.

    Example: `1,"crack` takes the line `2,hole` below it as a part of the name.
    """
    if len(rows) == len(lines):
        return
    line = next((line for line in lines if line.count('"') % 2 == 1), lines[-1])
    raise ValueError(f"a quote that is open at the end of {line[:80]!r}")


def _without_empty_end(row: Sequence[str], number: int) -> list[str]:
    """Returns a row without the empty cells at its end that are more than a number of cells."""
    cells = list(row)
    while len(cells) > number and not cells[-1].strip():
        cells.pop()
    return cells


# Lines of one form. Their patterns see what a file holds, so none may go back over a run of
# characters again and again. A lookbehind lets a run be tried from its start alone.

_SEPARATOR = r"[\s,;:]+"
_RUN_OF_SEPARATORS = r"(?<![\s,;:])[\s,;:]+"
_PART = r"\d+(?:\.\d+)?"
_HEX_COLOR = re.compile("#[0-9a-fA-F]{6}")
_COLOR = rf"(?P<color>{_PART}[\s,;]+{_PART}[\s,;]+{_PART}|{_HEX_COLOR.pattern})"
_FIRST_NUMBER = re.compile(r"-?\d")
_NUMBER_AT_AN_END = re.compile(rf"{_RUN_OF_SEPARATORS}\d+$|^\d+{_SEPARATOR}")

# crack 128 0 0
_NAME_AND_COLOR = re.compile(rf"(?P<name>.*\S)[:,;\s]\s*{_COLOR}[:;\s]*")
# 128 0 0 crack
_COLOR_AND_NAME = re.compile(rf"{_COLOR}{_SEPARATOR}(?P<name>\S.*)")
# 1, or pandas' 1.0
_VALUE = r"(?P<value>-?\d+(?:\.\d+)?)"
# 1 crack, 1. crack, 1.crack; but the point of 1.5 is no separator
_VALUE_AND_NAME = re.compile(rf"{_VALUE}(?:\s*[:,;=)]\s*|\s*\.(?!\d+\b)\s*|\s+)(?P<name>\S.*)")
# crack 1
_NAME_AND_VALUE = re.compile(rf"(?P<name>\S.*?)(?<!\s)(?:\s*[:,;=]\s*|\s+){_VALUE}")


def _match_all(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str]] | None:
    """Returns the match of each line; None if a line is of another form."""
    matches: list[re.Match[str]] = []
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            return None
        matches.append(match)
    return matches


def _match_each(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str] | None]:
    """Returns the match of each line; None for a line of another form."""
    return [pattern.fullmatch(line) for line in lines]


def _read_lines_of_one_form(lines: Sequence[str]) -> list[ClassEntry]:
    """Returns the class of each line, after taking off colors and values."""
    colored = _take_off_colors(lines)
    if colored is not None:
        return _read_colored_lines(colored, lines)
    return _read_values_and_names(lines) or _read_names(lines)


@dataclasses.dataclass(frozen=True)
class _ColoredLines:
    """Lines of which each has a color.

    Attributes:
      names: what each line has beside its color: a name, perhaps with a value.
      colors: the color of each line.
      has_names_first: whether the names stand before the colors.
    """

    names: Sequence[str]
    colors: Sequence[Color]
    has_names_first: bool


def _read_colored_lines(colored: _ColoredLines, lines: Sequence[str]) -> list[ClassEntry]:
    """Returns the class of each line that has a color: `1 crack 128 0 0`, or without a value.

    Raises:
      ValueError: if four numbers of a line may be its color and its value.
    """
    entries_with_values = []
    if colored.has_names_first:
        entries_with_values = _read_values_and_names(colored.names)
    if entries_with_values:
        pairs = zip(entries_with_values, colored.colors, strict=True)
        return [dataclasses.replace(entry, color=color) for entry, color in pairs]
    _check_numbers_are_the_color(lines, colored.names)
    names_and_colors = zip(colored.names, colored.colors, strict=True)
    return [ClassEntry(0, name, color, by_place=True) for name, color in names_and_colors]


def _take_off_colors(lines: Sequence[str]) -> _ColoredLines | None:
    """Takes the colors off `crack 128 0 0`, `128 0 0 crack` or `1 crack 128 0 0`.

    Returns:
      The names and the colors; None if at most one line has a color.

    Raises:
      ValueError: if some lines have a color and others have none, or a line may be read in two
        ways.
    """
    names_first = _match_all(_NAME_AND_COLOR, lines)
    colors_first = _match_all(_COLOR_AND_NAME, lines)
    if names_first is not None and colors_first is not None:
        raise ValueError(f"the line {lines[0][:80]!r} may be a color and a name, or both reversed")
    if names_first is not None:
        return _split_colored(names_first, has_names_first=True)
    if colors_first is not None:
        return _split_colored(colors_first, has_names_first=False)
    _check_no_line_lost_its_color(lines)
    return None


def _check_no_line_lost_its_color(lines: Sequence[str]) -> None:
    """Raises a ValueError if several lines have a color in one place, and others have none."""
    for pattern in (_NAME_AND_COLOR, _COLOR_AND_NAME):
        matches = _match_each(pattern, lines)
        lines_with_color = len(matches) - matches.count(None)
        if lines_with_color > 1:
            line = lines[matches.index(None)]
            raise ValueError(f"no color in {line[:80]!r}, as in other lines")


def _split_colored(matches: Sequence[re.Match[str]], *, has_names_first: bool) -> _ColoredLines:
    """Returns the names and colors of the lines of some matches."""
    names = [match["name"].strip(" \t,;:\"'") for match in matches]
    colors = [read_color(match["color"]) for match in matches]
    return _ColoredLines(names, colors, has_names_first)


def _check_numbers_are_the_color(lines: Sequence[str], names: Sequence[str]) -> None:
    """Raises a ValueError if each line has a fourth number, as in `1 128 0 0 crack`.

    The numbers of names such as `lane 1` and `lane 2`, which are alike but for these, do not count.

    Args:
      lines: the lines.
      names: what each has beside its color.
    """
    words = [re.sub(r"[\d\s]", "", name) for name in names]
    if all(_NUMBER_AT_AN_END.search(name) for name in names) and _are_distinct(words):
        raise ValueError(f"four numbers in {lines[0][:80]!r}; it is not clear which are the color")


def _read_values_and_names(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `1 crack` or `crack 1`.

    Returns:
      The classes; none if a line has no number, or if the numbers belong to the names, as in
      `lane 1` and `lane 2`. A number in front never does: `1 hole` and `2 hole` are two values of
      one name.

    Raises:
      ValueError: if several lines begin with the number of their place, and others do not.
    """
    values_first = _match_all(_VALUE_AND_NAME, lines)
    if values_first is not None:
        return _as_entries(values_first)
    names_first = _match_all(_NAME_AND_VALUE, lines)
    if names_first is None:
        _check_no_line_lost_its_number(lines)
        return []
    if not _are_distinct([match["name"] for match in names_first]):
        return []
    return _as_entries(names_first)


def _as_entries(matches: Sequence[re.Match[str]]) -> list[ClassEntry]:
    """Returns the classes of lines with a value and a name."""
    return [
        ClassEntry(read_value(match["value"]), match["name"].strip(" \t\"'")) for match in matches
    ]


def _check_no_line_lost_its_number(lines: Sequence[str]) -> None:
    """Raises a ValueError if several lines begin with the number of their place, and others not."""
    matches = _match_each(_VALUE_AND_NAME, lines)
    numbered_lines = 0
    for place, match in enumerate(matches):
        if match and float(match["value"]) in (place, place + 1):
            numbered_lines += 1
    if numbered_lines > 1:
        line = lines[matches.index(None)]
        raise ValueError(f"no value in {line[:80]!r}, as in other lines")


def _read_names(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `crack`: names alone, which may stand in quotes."""
    return [ClassEntry(0, line.strip(" \t\"'"), by_place=True) for line in lines]


def _are_distinct(words: Sequence[str]) -> bool:
    return len({*words}) == len(words)
