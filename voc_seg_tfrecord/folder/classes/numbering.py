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
    file_format = class_file_named(posixpath.basename(file.source))
    numbering = NumberingOfNames.UNKNOWN if file_format is None else file_format.numbering
    omits_background = numbering == NumberingOfNames.OMITS_BACKGROUND
    has_ignored_first = len(file.entries) > 1 and file.entries[0].name == IGNORED
    if has_ignored_first and not omits_background:
        return _list_numberings_of_ignored(file, numbering)
    if _has_background(file, background):
        return [file]
    is_preferred = numbering == NumberingOfNames.LABELME
    if omits_background:
        is_preferred = background_index(file.class_names) is not None
    first_name = file.entries[0].name
    without_background = dataclasses.replace(
        file,
        numbering_note=f"{file.source} has no background. Value 0 is {first_name}, its first name.",
        is_preferred_numbering=is_preferred,
    )
    color = _BLACK if file.has_colors else None
    with_background = dataclasses.replace(
        file,
        entries=(ClassEntry(0, "background", color, by_place=True), *_move(file.entries, 1)),
        numbering_note=f"{file.source} has no background, so value 0 is background, and value 1 is "
        f"{first_name}, its first name.",
    )
    if omits_background:
        return [with_background, without_background]
    if len(file.entries) == 1:
        return [with_background]
    return [without_background, with_background]


def _move(entries: Sequence[ClassEntry], difference: int) -> list[ClassEntry]:
    """Returns classes with other values."""
    return [dataclasses.replace(entry, value=entry.value + difference) for entry in entries]


def _list_numberings_of_ignored(file: ClassFile, numbering: NumberingOfNames) -> list[ClassFile]:
    """Returns a file without `__ignore__` in its first line, and with it as value 0.

    It is skipped always by labelme's tools, which write `_background_` into the next line, and
    mostly by those that read the file as labelme does.
    """
    ignored, *others = file.entries
    is_labelme = numbering == NumberingOfNames.LABELME or others[0].name == _LABELMES_BACKGROUND
    is_always_skipped = file.has_names_alone and is_labelme
    is_mostly_skipped = file.has_names_alone and numbering == NumberingOfNames.MOSTLY_SKIPS_IGNORED
    note = (
        f"{IGNORED} in the first line of {file.source} is skipped, because the tools that write it "
        f"skip it. So value 0 is {others[0].name}."
    )
    without_ignored = dataclasses.replace(
        file,
        entries=(dataclasses.replace(ignored, value=VOID), *_move(others, -1)),
        numbering_note="" if is_always_skipped else note,
        is_preferred_numbering=is_always_skipped or is_mostly_skipped,
    )
    note = (
        f"{IGNORED} in the first line of {file.source} takes value 0. So value 0 is void, and "
        f"value 1 is {others[0].name}."
    )
    return [without_ignored, dataclasses.replace(file, numbering_note=note)]


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


def _has_background(file: ClassFile, background: str) -> bool:
    """Says whether a list names the class of value 0, or of black."""
    names = [entry.name for entry in file.entries]
    if file.has_names_alone and plain(names[0]) in NAMES_OF_VALUE_0:
        return True
    if background_index(names, background) is not None:
        return True
    colors = [entry.color for entry in file.entries]
    return _BLACK in colors
