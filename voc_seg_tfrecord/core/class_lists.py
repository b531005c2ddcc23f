"""Reads lists of classes that people write, with or without values and colors.

| lines | example | read by |
|---|---|---|
| below a head line, which names the columns | `id,name,r,g,b` / `1,crack,128,0,0` | `_read_rows` |
| a name and a color | `crack 128 0 0`, `crack: #800000` | `_read_lines_with_colors` |
| a color and a name | `128 0 0 crack` | `_read_lines_with_colors` |
| a value, a name and a color | `1 crack 128 0 0` | `_read_lines_with_colors` |
| a value and a name | `1,crack`, `1: crack` | `_read_lines_with_values` |
| a name and a value | `crack 1` | `_read_lines_with_values` |
| a name | `crack` | `_read_names` |

Between the parts stand blanks, commas, semicolons or tabs. All lines of a list have one form. The
forms are tried in this order, and the first one that the lines have is taken.
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

_DELIMITERS = ",;\t"
_MARKS = ",;"
"""What may stand at the end of each line, and is no part of it."""
_HEADS_OF_NAMES = ("name", "class", "classes", "class_name")
"""A first line that is none of the names."""


def parse_list(text: str) -> list[ClassEntry]:
    """Reads a list of classes by hand; see the table above.

    Raises:
      ValueError: if the lines have several forms, or it is not clear which one; see `UNREADABLE`
        for other errors.
    """
    lines = _lines_of_classes(text)
    if not lines:
        return []
    entries = _read_below_head_line(lines)
    if entries is None:
        entries = _read_lines_of_one_form(text, lines)
    _check_comments(text, lines)
    return number_by_place(entries)


def _read_below_head_line(lines: Sequence[str]) -> list[ClassEntry] | None:
    """Returns the classes below a line that names columns; None if the first line names none."""
    for delimiter in _DELIMITERS:
        entries = _read_rows(lines, delimiter)
        if entries is not None:
            return entries
    return None


def _read_lines_of_one_form(text: str, lines: Sequence[str]) -> list[ClassEntry]:
    """Returns the classes of lines of one form; a first line such as `name` is none of them."""
    if len(lines) > 1 and lines[0].rstrip(_MARKS).casefold() in _HEADS_OF_NAMES:
        lines = lines[1:]
    _check_no_brackets(lines)
    entries = _read_first_form(_split_one_line([line.rstrip(_MARKS) for line in lines]))
    _check_marks_at_ends(lines, entries)
    if all(entry.by_place and entry.color is None for entry in entries):
        _check_no_gap(text, lines[0])
    return entries


def _lines_of_classes(text: str) -> list[str]:
    """Returns the lines that are neither blank nor comments.

    A comment begins with `#`; see `_check_comments`. If each such line begins with a color, as in
    `#800000 crack`, they are no comments.
    """
    lines = [line for line in split_lines(text) if line.strip(_MARKS)]
    comments = [line for line in lines if line.startswith("#")]
    if all(_COLOR_AND_NAME.fullmatch(line) for line in comments):
        return lines
    return [line for line in lines if not line.startswith("#")]


def _check_comments(text: str, lines: Sequence[str]) -> None:
    """Raises a ValueError if a comment may be a class: `#crack`, where lines begin with names.

    Args:
      text: the list.
      lines: its lines that are taken for classes, of which the first one may be a head line.
    """
    numbered_lines = [line for line in lines if line[0].isdecimal()]
    lines_begin_with_numbers = len(numbered_lines) >= max(len(lines) - 1, 2)
    for line in split_lines(text):
        is_dropped = line.startswith("#") and line not in lines
        if is_dropped and not is_comment(line) and not lines_begin_with_numbers:
            raise ValueError(f"{line[:80]!r}, which may be a comment or a name")


def _split_one_line(lines: Sequence[str]) -> Sequence[str]:
    """Returns the names of `crack, hole` if that is the only line, and else the lines."""
    is_list_of_names = len(lines) == 1 and "," in lines[0] and not re.search(r"\d", lines[0])
    return lines[0].split(",") if is_list_of_names else lines


def _check_no_brackets(lines: Sequence[str]) -> None:
    """Raises a ValueError if brackets stand around the lines, as in JSON."""
    if lines[0][0] in "[{(" and lines[-1].rstrip(_MARKS)[-1:] in ("]", "}", ")"):
        raise ValueError(f"brackets around the names, from {lines[0][:80]!r} on")


def _check_marks_at_ends(lines: Sequence[str], entries: Sequence[ClassEntry]) -> None:
    """Raises a ValueError if one of several names has a mark at its end, which may belong to it.

    The last line may be the one without a mark.
    """
    have_marks = [line != line.rstrip(_MARKS) for line in lines]
    if all(have_marks[:-1]) or not any(have_marks):
        return
    for line, entry in zip(lines, entries, strict=True):
        bare_line = line.rstrip(_MARKS)
        if bare_line != line and bare_line.endswith(entry.name):
            raise ValueError(f"a mark at the end of {line[:80]!r}, and none at that of others")


def _check_no_gap(text: str, first_line: str) -> None:
    """Raises a ValueError if a line after the first name is empty, which some programs count."""
    lines = split_lines(text.strip())
    check_no_empty_line(lines[lines.index(first_line) :])


# Rows below a head line.


def _read_rows(lines: Sequence[str], delimiter: str) -> list[ClassEntry] | None:
    """Reads `1,crack` below `id,name`, with the columns in any order.

    Returns:
      The classes; None if the first line names no columns.

    Raises:
      ValueError: if the columns hold names, and neither values nor colors.
    """
    rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    columns = [column_name(cell) for cell in _without_empty_end(rows[0], 0)]
    if len(columns) < 2 or {*columns}.isdisjoint(NAME_COLUMNS):
        return None
    rows = [_without_empty_end(row, len(columns)) for row in rows[1:]]
    if have_values_or_colors(columns):
        return [read_cells(columns, row) for row in rows]
    if rows and all(len(row) == len(columns) for row in rows):
        raise ValueError(f"the head line {lines[0][:80]!r} names no value and no color")
    return None


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
_COLOR = rf"(?P<color>{_PART}[\s,;]+{_PART}[\s,;]+{_PART}|#[0-9a-fA-F]{{6}})"
_NUMBER_AT_AN_END = re.compile(rf"{_RUN_OF_SEPARATORS}\d+$|^\d+{_SEPARATOR}")

# crack 128 0 0
_NAME_AND_COLOR = re.compile(rf"(?P<name>.*\S)[:,;\s]\s*{_COLOR}[:;\s]*")
# 128 0 0 crack
_COLOR_AND_NAME = re.compile(rf"{_COLOR}{_SEPARATOR}(?P<name>\S.*)")
# 1 crack
_VALUE_AND_NAME = re.compile(r"(?P<value>-?\d+)(?:\s*[:,;=.)]\s*|\s+)(?P<name>\S.*)")
# crack 1
_NAME_AND_VALUE = re.compile(r"(?P<name>\S.*?)(?<!\s)(?:\s*[:,;=]\s*|\s+)(?P<value>-?\d+)")


def _match_each(pattern: re.Pattern[str], lines: Sequence[str]) -> list[re.Match[str] | None]:
    """Returns the match of each line; None for a line of another form."""
    return [pattern.fullmatch(line) for line in lines]


def _read_first_form(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads lines of the first form that they have."""
    for read_lines in (_read_lines_with_colors, _read_lines_with_values):
        entries = read_lines(lines)
        if entries:
            return entries
    return _read_names(lines)


def _read_lines_with_colors(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `crack 128 0 0`, `128 0 0 crack` or `1 crack 128 0 0`.

    Returns:
      The classes; none if at most one line has a color.

    Raises:
      ValueError: if some lines have a color and others have none, or a line may be read in two
        ways.
    """
    color_last = _match_each(_NAME_AND_COLOR, lines)
    color_first = _match_each(_COLOR_AND_NAME, lines)
    if all(color_last) and all(color_first):
        raise ValueError(f"the line {lines[0][:80]!r} may be a color and a name, or both reversed")
    if all(color_last):
        entries = [_entry_of_color(match) for match in color_last if match]
        entries_with_values = _with_values_in_names(entries)
        if entries_with_values:
            return entries_with_values
        _check_numbers_are_the_color(lines, entries)
        return entries
    if all(color_first):
        entries = [_entry_of_color(match) for match in color_first if match]
        _check_numbers_are_the_color(lines, entries)
        return entries
    for matches in (color_last, color_first):
        if len(matches) - matches.count(None) > 1:
            line = lines[matches.index(None)]
            raise ValueError(f"no color in {line[:80]!r}, as in other lines")
    return []


def _with_values_in_names(entries: Sequence[ClassEntry]) -> list[ClassEntry]:
    """Returns classes with the values that stand before their names, as in `1 crack 128 0 0`.

    Returns:
      The classes; none if the names hold no values.
    """
    with_values = _read_lines_with_values([entry.name for entry in entries])
    if not with_values:
        return []
    pairs = zip(with_values, entries, strict=True)
    return [dataclasses.replace(entry, color=other.color) for entry, other in pairs]


def _check_numbers_are_the_color(lines: Sequence[str], entries: Sequence[ClassEntry]) -> None:
    """Raises a ValueError if each line has a fourth number, as in `1 128 0 0 crack`.

    The numbers of names such as `lane 1` and `lane 2`, which are alike but for these, do not count.
    """
    names = [entry.name for entry in entries]
    words = [re.sub(r"[\d\s]", "", name) for name in names]
    if all(_NUMBER_AT_AN_END.search(name) for name in names) and _are_distinct(words):
        raise ValueError(f"four numbers in {lines[0][:80]!r}; it is not clear which are the color")


def _entry_of_color(match: re.Match[str]) -> ClassEntry:
    name = match["name"].strip(" \t,;:\"'")
    return ClassEntry(0, name, read_color(match["color"]), by_place=True)


def _read_lines_with_values(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `1 crack` or `crack 1`.

    Returns:
      The classes; none if a line has no number, or if the numbers belong to the names, as in
      `lane 1` and `lane 2`.

    Raises:
      ValueError: if several lines begin with the number of their place, and others do not.
    """
    value_first = _match_each(_VALUE_AND_NAME, lines)
    value_last = _match_each(_NAME_AND_VALUE, lines)
    if all(value_first):
        matches = [match for match in value_first if match]
    elif all(value_last):
        matches = [match for match in value_last if match]
    else:
        _check_no_line_lost_its_number(lines, value_first)
        return []
    if not _are_distinct([match["name"] for match in matches]):
        return []
    return [_entry_of_value(match) for match in matches]


def _entry_of_value(match: re.Match[str]) -> ClassEntry:
    return ClassEntry(read_value(match["value"]), match["name"].strip(" \t\"'"))


def _check_no_line_lost_its_number(
    lines: Sequence[str], matches: Sequence[re.Match[str] | None]
) -> None:
    """Raises a ValueError if several lines begin with the number of their place, and others not."""
    numbered_lines = 0
    for place, match in enumerate(matches):
        if match and int(match["value"]) in (place, place + 1):
            numbered_lines += 1
    if numbered_lines > 1:
        line = lines[matches.index(None)]
        raise ValueError(f"no value in {line[:80]!r}, as in other lines")


def _read_names(lines: Sequence[str]) -> list[ClassEntry]:
    """Reads `crack`: names alone, which may stand in quotes."""
    return [ClassEntry(0, line.strip(" \t\"'"), by_place=True) for line in lines]


def _are_distinct(words: Sequence[str]) -> bool:
    return len({*words}) == len(words)
