"""From a class file to the names, rows and colors of a config."""

from collections.abc import Mapping, Sequence

from voc_seg_tfrecord.core.class_entries import (
    IGNORED,
    VOID_NAMES,
    ClassEntry,
    is_void,
    is_void_name,
    may_be_void,
)
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, Rows, color_key, format_pairs, is_name
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import VOID, Color
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.spelling import group_by_case
from voc_seg_tfrecord.tools.class_file import ClassFile


def class_of_entry(entry: ClassEntry, table: ClassTable) -> str | int:
    """Returns an entry's name, or 255 if it means void and no row names it."""
    return VOID if _is_void_without_row_by_name(entry, table) else entry.name


def _is_void_without_row_by_name(entry: ClassEntry, table: ClassTable) -> bool:
    """Says whether an entry means void, and no row says what its name becomes."""
    return is_void(entry) and entry.name not in table.class_by_name


def names_from_file(file: ClassFile, rows: Rows = ()) -> tuple[str, ...]:
    """Returns the class names of a file, in its order.

    Entries that mean void are left out, with two exceptions: a name that a row gives a class, and
    `__ignore__` if it takes value 0.
    """
    names_with_row = {key for key, _ in rows}
    names = []
    for entry in file.entries:
        is_void_name_with_row = is_void_name(entry.name) and entry.name in names_with_row
        if is_void_name_with_row or not is_void(entry):
            names.append(entry.name)
    if _ignored_takes_value_0(file) and IGNORED not in names:
        names.insert(0, IGNORED)
    return tuple(names)


def _ignored_takes_value_0(file: ClassFile) -> bool:
    """Says whether `__ignore__` in the first line of a file is value 0."""
    first = file.entries[0]
    return first.name == IGNORED and first.by_place and first.value == 0


def names_in_order_of_values(file: ClassFile) -> tuple[str, ...]:
    """Returns the names of a class file, each at its value, for rows with values to replace.

    An entry that means void by its color or value alone gets a name that means void: for
    `background`, `neutral` and `car` of which neutral is void, it is `background`, `__ignore__`
    and `car`. No two entries get the same name.

    Returns:
      The names; none if the values are not 0, 1, 2 and so on, or if more entries mean void than
      there are names for.
    """
    entries = [entry for entry in file.entries if 0 <= entry.value < VOID]
    entries.sort(key=lambda entry: entry.value)
    if [entry.value for entry in entries] != list(range(len(entries))):
        return ()
    names_of_file = {entry.name.casefold() for entry in file.entries}
    spare_void_names = [name for name in VOID_NAMES if name not in names_of_file]
    names = []
    for entry in entries:
        if is_void(entry) and not is_void_name(entry.name):
            if not spare_void_names:
                return ()
            names.append(spare_void_names.pop(0))
        else:
            names.append(entry.name)
    return tuple(names)


def names_under_rows(file: ClassFile, rows: Rows) -> Sequence[str]:
    """Returns the names of a class file, over which rows go; none if `rows_of_file` is needed.

    If rows rename entries by their values, each name has to be at its value.
    """
    if _rename_entries(file, rows):
        return names_in_order_of_values(file)
    return names_from_file(file, rows)


def _rename_entries(file: ClassFile, rows: Rows) -> bool:
    """Says whether rows rename an entry of a class file, by its value or by its position."""
    values = {entry.value for entry in file.entries}
    values_of_classes = values - {VOID}
    positions = range(len(values))
    for key, _ in rows:
        names_value = key in values_of_classes
        names_position = key in positions
        if names_value or names_position:
            return True
    return False


def rows_of_file(file: ClassFile, rows: Rows, background: str) -> Rows:
    """Returns a class file as a whole table of values and colors, with the user's rows over it.

    The classes are in the order of rows by name, and then in that of the file.
    """
    table = ClassTable(names_from_file(file, rows), rows, background)
    check_void(file, table)
    class_by_key = _sort_by_class(_find_class_by_key(file, table), table)
    for key, name in rows:
        if not is_name(key):
            class_by_key[key] = name  # at the position of the file's row, if it has this key
    return tuple(class_by_key.items())


def _find_class_by_key(file: ClassFile, table: ClassTable) -> dict[Key, str]:
    """Returns the class of each value and color of a file, in the order of its entries."""
    class_by_key: dict[Key, str] = {}
    for entry in file.entries:
        is_void_class = _is_void_without_row_by_name(entry, table)
        target = VOID_CLASS if is_void_class else table.target(entry.name)
        if entry.value >= 0:
            class_by_key[entry.value] = target
        if entry.color:
            class_by_key[color_key(entry.color)] = target
    return class_by_key


def _sort_by_class(class_by_key: Mapping[Key, str], table: ClassTable) -> dict[Key, str]:
    """Returns values and colors in the order of their classes: those of rows come first."""
    position_by_class: dict[str, int] = {}
    for name in (*table.class_by_name.values(), *class_by_key.values()):
        position_by_class.setdefault(name, len(position_by_class))
    return dict(sorted(class_by_key.items(), key=lambda row: position_by_class[row[1]]))


def note_void(file: ClassFile | None, config: VocSegConfig) -> list[str]:
    """Returns a note for each class that is void although no tool means void by its name.

    Raises:
      ConfigError: see `check_void`.
    """
    table = config.table
    names = []
    for value, name in enumerate(config.class_names):
        has_row_by_name_or_value = name in table.class_by_name or value in table.class_by_value
        if is_void_name(name) and not has_row_by_name_or_value:
            names.append(name)
    if file:
        check_void(file, table)
        for entry in file.entries:
            if _is_void_without_row_by_name(entry, table) and not is_void_name(entry.name):
                names.append(entry.name)
    return [
        f"{name} means void. So it is no class of the dataset, its pixels are {VOID}, and the "
        "classes after it move up."
        for name in dict.fromkeys(names)
    ]


def note_spelling(config: VocSegConfig) -> list[str]:
    """Names the classes that differ in case, or in marks at their ends, alone."""
    notes = []
    for names in group_by_case(config.built_class_names):
        first, *others = names
        rows = [(name, first) for name in others]
        notes.append(
            f"{' and '.join(names)} are classes that differ only in spelling. If they are one "
            f"class, give {command(classes=format_pairs(rows))}."
        )
    return notes


def check_void(file: ClassFile, table: ClassTable) -> None:
    """Checks that a row says of each class with void's value or VOC's color of it what it is.

    Raises:
      ConfigError: if there is such a class without a row.
    """
    for entry in file.entries:
        if may_be_void(entry) and not _has_any_row(entry, table):
            raise _may_be_void_error(file, entry)


def _has_any_row(entry: ClassEntry, table: ClassTable) -> bool:
    """Says whether the user gave a class to an entry, by its value, color or name."""
    if entry.value in table.class_by_value or entry.color in table.class_by_color:
        return True
    return entry.name in table.class_by_name


def _may_be_void_error(file: ClassFile, entry: ClassEntry) -> ConfigError:
    name = entry.name
    found = f"the value {VOID}, which is void,"
    if entry.color and entry.value != VOID:
        found = f"VOC's void color {color_key(entry.color)}"
    as_class = command(classes=format_pairs([(name, name)]))
    as_void = command(classes=format_pairs([(name, VOID_CLASS)]))
    return ConfigError(
        file.source,
        found=f"{found} for the class {name!r}",
        expected="a class with its own value and color, or void",
        remedy=f"give {as_class} if it is a class, or {as_void} if its pixels are void",
    )


def class_colors(file: ClassFile | None, config: VocSegConfig) -> dict[int, Color]:
    """Returns the color of each class index, and of 255 if the file has one for void.

    A class that was merged has the color of the class of its name, or else of the first of its
    classes in the file. No class has one if the file does not have them all.
    """
    if file is None or not file.has_colors:
        return {}
    table = config.table
    first_colors: dict[int, Color] = {}
    own_colors: dict[int, Color] = {}
    for entry in file.entries:
        name = VOID_CLASS if is_void(entry) else table.target(entry.name)
        if name != VOID_CLASS and name not in table.class_names:
            continue
        assert entry.color  # as `has_colors` says
        first_colors.setdefault(table.index(name), entry.color)
        if name == entry.name:
            own_colors[table.index(name)] = entry.color
    return first_colors | own_colors
