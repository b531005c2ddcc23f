"""How to number a class file that gives no values.

Its names take values in the order of their lines then, and the first one takes value 0. There are
two exceptions:

1. Lists of objects omit the background, which is value 0 or black, unless another class is.
2. Some tools write `__ignore__` into the first line and skip it, so the second line is value 0.

The `NumberingOfNames` of a tool's file says which of these hold. For other files both numberings
are candidates. The user's class names choose one, or else the masks do, by the rules of
`folder.meaning`.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.class_entries import IGNORED, ClassEntry
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.names import VOID, background_index, plain
from voc_seg_tfrecord.tools.class_file import ClassFile, NumberingOfNames
from voc_seg_tfrecord.tools.registry import class_file_named

_BLACK = (0, 0, 0)
_LABELMES_BACKGROUND = "_background_"

NAMES_OF_VALUE_0 = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")
"""First names of lists that have no background, because value 0 is this class."""


def list_numberings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns a class file in each way in which it may be numbered, the most usual one first.

    The first row that fits a file counts:

    | the file | its numberings |
    | --- | --- |
    | gives values | as it is |
    | has `__ignore__` first, and its tool lists the background | that skipped; that as value 0 |
    | has a background, or another class of value 0 | as it is |
    | its tool omits the background | with background before all names; without |
    | has one name | with background before it |
    | any other | without background; with background before all names |

    At most one of them has `is_preferred_numbering`: it is taken if the masks fit several.

    Args:
      file: the class file, numbered by its lines where it has no values.
      background: the name of the class that is background, if the user gave it.
    """
    if not all(entry.by_place for entry in file.entries):
        return [file]
    omits_background = _numbering_of_tool(file) == NumberingOfNames.OMITS_BACKGROUND
    if _has_ignored_first(file) and not omits_background:
        return [_without_ignored(file), _with_ignored(file)]
    if _has_background(file, background):
        return [file]
    if omits_background:
        return _list_numberings_of_objects(file)
    if len(file.entries) == 1:
        return [_with_background(file)]
    return _list_numberings_of_lines(file)


def numbering_of_given_names(
    numberings: Sequence[ClassFile], config: VocSegConfig
) -> ClassFile | None:
    """Returns which numbering has the class names that the user gave; None if none has.

    If the numberings differ only in whether `__ignore__` takes value 0, it does if the user gave it
    as the first name.
    """
    given_names = set(config.named_classes)
    fitting = [file for file in numberings if set(file.class_names) == given_names]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    value_of_first = 0 if config.class_names[0] == IGNORED else VOID
    for file in fitting:
        if file.entries[0].name == IGNORED and file.entries[0].value == value_of_first:
            return file
    return fitting[0]


def _numbering_of_tool(file: ClassFile) -> NumberingOfNames:
    """Returns how the tool that writes files of this name numbers them."""
    file_format = class_file_named(posixpath.basename(file.source))
    return NumberingOfNames.UNKNOWN if file_format is None else file_format.numbering


def _has_ignored_first(file: ClassFile) -> bool:
    """Says whether a file has `__ignore__` in its first line, and more lines."""
    return len(file.entries) > 1 and file.entries[0].name == IGNORED


def _without_ignored(file: ClassFile) -> ClassFile:
    """Returns a file in which `__ignore__` in the first line is skipped."""
    ignored, *others = file.entries
    moved = [dataclasses.replace(entry, value=entry.value - 1) for entry in others]
    note = (
        f"{IGNORED} in the first line of {file.source} is skipped, because the tools that write it "
        f"skip it. So value 0 is {others[0].name}."
    )
    return dataclasses.replace(
        file,
        entries=(dataclasses.replace(ignored, value=VOID), *moved),
        numbering_note="" if _always_skips_ignored(file) else note,
        is_preferred_numbering=_prefers_skipping_ignored(file),
    )


def _with_ignored(file: ClassFile) -> ClassFile:
    """Returns a file in which `__ignore__` in the first line takes value 0."""
    note = (
        f"{IGNORED} in the first line of {file.source} takes value 0. So value 0 is void, and "
        f"value 1 is {file.entries[1].name}."
    )
    return dataclasses.replace(file, numbering_note=note)


def _prefers_skipping_ignored(file: ClassFile) -> bool:
    """Says whether the tool that wrote a file skips `__ignore__` always, or mostly."""
    if _always_skips_ignored(file):
        return True
    if not file.has_names_alone:
        return False
    return _numbering_of_tool(file) == NumberingOfNames.MOSTLY_SKIPS_IGNORED


def _always_skips_ignored(file: ClassFile) -> bool:
    """Says whether the tool that wrote a file always skips `__ignore__`.

    Tools that skip it write `_background_` into the next line.
    """
    if not file.has_names_alone:
        return False
    if file.entries[1].name == _LABELMES_BACKGROUND:
        return True
    return _numbering_of_tool(file) == NumberingOfNames.LABELME


def _has_background(file: ClassFile, background: str) -> bool:
    """Says whether a list names the class of value 0, or of black."""
    names = [entry.name for entry in file.entries]
    if file.has_names_alone and plain(names[0]) in NAMES_OF_VALUE_0:
        return True
    if background_index(names, background) is not None:
        return True
    colors = [entry.color for entry in file.entries]
    return _BLACK in colors


def _list_numberings_of_objects(file: ClassFile) -> list[ClassFile]:
    """Returns both numberings of a list whose tool does not name the background.

    The first name is value 1 after an added background, or else it is value 0.
    """
    has_background_by_name = background_index(file.class_names) is not None
    without = dataclasses.replace(
        _without_background(file), is_preferred_numbering=has_background_by_name
    )
    return [_with_background(file), without]


def _list_numberings_of_lines(file: ClassFile) -> list[ClassFile]:
    """Returns both numberings of a list without a background.

    The first name is value 0, which is usual if the format lists the background, or else it is
    value 1 after an added background.
    """
    first_is_value_0 = _numbering_of_tool(file) == NumberingOfNames.LABELME
    without = dataclasses.replace(
        _without_background(file), is_preferred_numbering=first_is_value_0
    )
    return [without, _with_background(file)]


def _without_background(file: ClassFile) -> ClassFile:
    """Returns a file whose first name is value 0."""
    note = f"{file.source} has no background. Value 0 is {file.entries[0].name}, its first name."
    return dataclasses.replace(file, numbering_note=note)


def _with_background(file: ClassFile) -> ClassFile:
    """Returns a file with background at value 0, before all names."""
    color = _BLACK if file.has_colors else None
    background = ClassEntry(0, "background", color, by_place=True)
    moved = [dataclasses.replace(entry, value=entry.value + 1) for entry in file.entries]
    note = (
        f"{file.source} has no background, so value 0 is background, and value 1 is "
        f"{file.entries[0].name}, its first name."
    )
    return dataclasses.replace(file, entries=(background, *moved), numbering_note=note)
