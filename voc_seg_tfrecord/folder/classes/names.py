"""From a class file to the table of classes and the colors of a config."""

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
    """Returns an entry's name, or 255 if it means void and no row says what its name becomes."""
    return VOID if is_void(entry) and entry.name not in table.class_by_name else entry.name


def names_from_file(file: ClassFile, rows: Rows = ()) -> tuple[str, ...]:
    """Returns the class names of a file, in its order.

    Entries that mean void are left out, with two exceptions: a name that a row gives a class, and
    `__ignore__` if it takes value 0.
    """
    names_with_row = {key for key, _ in rows}
    names = []
    for entry in file.entries:
        has_row = is_void_name(entry.name) and entry.name in names_with_row
        is_value_0 = entry.name == IGNORED and entry.by_place and entry.value == 0
        if has_row or is_value_0 or not is_void(entry):
            names.append(entry.name)
    return tuple(names)


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
    values = [entry.value for entry in entries]
    if values != [*range(len(values))]:
        return ()
    names_of_file = {entry.name.casefold() for entry in file.entries}
    spare_void_names = [name for name in VOID_NAMES if name not in names_of_file]
    names = []
    for entry in entries:
        name = entry.name
        if is_void(entry) and not is_void_name(name):
            if not spare_void_names:
                return ()
            name = spare_void_names.pop(0)
        names.append(name)
    return tuple(names)


def table_of_file(file: ClassFile, rows: Rows, background: str) -> ClassTable:
    """Returns a class file as a table, with the user's rows over it.

    | rows | the table |
    | --- | --- |
    | rename no entry by its value | the names of the file, under the rows |
    | rename one, and the values are 0, 1, 2 and so on | each name at its value, under the rows |
    | rename one of other values | no names; a row for each value and color, and the user's |

    Raises:
      ConfigError: if the user's rows do not fit the file.
    """
    values = {entry.value for entry in file.entries}
    keys_that_rename = {*(values - {VOID}), *range(len(values))}
    if keys_that_rename.isdisjoint(key for key, _ in rows):
        names = names_from_file(file, rows)
    else:
        names = names_in_order_of_values(file)
    if names:
        return ClassTable(names, rows, background)
    return ClassTable((), _rows_of_file(file, rows, background), background)


def _rows_of_file(file: ClassFile, rows: Rows, background: str) -> Rows:
    """Returns a class file as a whole table of values and colors, with the user's rows over it.

    The classes are in the order of rows by name, and then in that of the file.
    """
    table = ClassTable(names_from_file(file, rows), rows, background)
    check_void(file, table)
    class_by_key: dict[Key, str] = {}
    for entry in file.entries:
        is_void_class = class_of_entry(entry, table) == VOID
        target = VOID_CLASS if is_void_class else table.class_of_name(entry.name)
        if entry.value >= 0:
            class_by_key[entry.value] = target
        if entry.color:
            class_by_key[color_key(entry.color)] = target
    classes = [*dict.fromkeys([*table.class_by_name.values(), *class_by_key.values()])]
    class_by_key = dict(sorted(class_by_key.items(), key=lambda row: classes.index(row[1])))
    for key, name in rows:
        if not is_name(key):
            class_by_key[key] = name  # at the position of the file's row, if it has this key
    return tuple(class_by_key.items())


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
            if class_of_entry(entry, table) == VOID and not is_void_name(entry.name):
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
        has_row = (
            entry.value in table.class_by_value
            or entry.color in table.class_by_color
            or entry.name in table.class_by_name
        )
        if not may_be_void(entry) or has_row:
            continue
        name = entry.name
        found = f"the value {VOID}, which is void,"
        if entry.color and entry.value != VOID:
            found = f"VOC's void color {color_key(entry.color)}"
        as_class = command(classes=format_pairs([(name, name)]))
        as_void = command(classes=format_pairs([(name, VOID_CLASS)]))
        raise ConfigError(
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
        name = VOID_CLASS if is_void(entry) else table.class_of_name(entry.name)
        if name != VOID_CLASS and name not in table.class_names:
            continue
        assert entry.color  # as `has_colors` says
        first_colors.setdefault(table.index(name), entry.color)
        if name == entry.name:
            own_colors[table.index(name)] = entry.color
    return first_colors | own_colors
