"""In which ways a class file may be numbered that gives no values.

Names count by their lines then, and the first one is value 0, unless the tool left something out:

1. Lists of objects do not name background, which is value 0 or black then, unless another class
   is.
2. Some tools write `__ignore__` into the first line and do not count it.

What is known of a tool's file is said in its `ClassFileFormat`.

So such a file may be numbered in two ways. The user's class names choose one, or else the masks do,
by the rules of `folder.meaning`.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.class_entries import IGNORED, ClassEntry
from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_parsers import ClassFileFormat
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.names import VOID, background_index, plain
from voc_seg_tfrecord.tools.registry import class_file_named

_BLACK = (0, 0, 0)

NAMES_OF_VALUE_0 = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")
"""First names of lists that have no background, because value 0 is this class."""


def list_numberings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns a class file in each way in which it may be numbered, the most usual one first.

    Args:
      file: the class file, numbered by its lines where it has no values.
      background: the name of the class that is background, if the user said so.
    """
    if not all(entry.by_place for entry in file.entries):
        return [file]
    if _has_ignored_first(file):
        return [_without_ignored(file), _with_ignored(file)]
    if _has_background(file, background):
        return [file]
    if _omits_background(file):
        return [_with_background(file), _without_background(file)]
    if len(file.entries) == 1:  # the one name of a list is not background
        return [_with_background(file)]
    return [_without_background(file), _with_background(file)]


def usual_numbering(numberings: Sequence[ClassFile]) -> ClassFile | None:
    """Returns which numbering of one file is taken if the masks fit several; None if none is.

    Args:
      numberings: what `list_numberings` returns.
    """
    as_written = min(numberings, key=lambda file: len(file.entries))  # without added background
    if _has_ignored_first(as_written):
        return numberings[0] if _skips_ignored(as_written) else None
    if _omits_background(as_written):
        has_background = background_index(as_written.class_names) is not None
        return as_written if has_background else None
    kind = _format_of(as_written)
    return numberings[0] if kind and kind.lists_background else None


def numbering_of_given_names(
    numberings: Sequence[ClassFile], config: VocSegConfig
) -> ClassFile | None:
    """Returns which numbering has the class names that the user gave; None if none has.

    `__ignore__` in the first line counts if the user gave it as the first name.
    """
    given = set(config.named_classes)
    fitting = [file for file in numberings if set(file.class_names) == given]
    if not fitting:
        return None
    if len(fitting) > 1 and _has_ignored_first(fitting[0]):
        without_ignored, with_ignored = fitting
        ignored_counts = config.class_names[0] == IGNORED
        return with_ignored if ignored_counts else without_ignored
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


def _format_of(file: ClassFile) -> ClassFileFormat | None:
    return class_file_named(posixpath.basename(file.source))


def _omits_background(file: ClassFile) -> bool:
    """Says whether a tool wrote a file in which background is not listed."""
    kind = _format_of(file)
    return kind is not None and kind.omits_background


def _has_ignored_first(file: ClassFile) -> bool:
    """Says whether a file has a first line that may not count."""
    is_first = len(file.entries) > 1 and file.entries[0].name == IGNORED
    return is_first and not _omits_background(file)


def _skips_ignored(file: ClassFile, *, always: bool = False) -> bool:
    """Says whether `__ignore__` in the first line of a file does not count.

    The tools that skip it write `_background_` into the next line.

    Args:
      file: the file, with `__ignore__` first.
      always: whether that has to be sure.
    """
    if not file.has_names_alone:
        return False
    if file.entries[1].name == "_background_":
        return True
    kind = _format_of(file)
    if kind is None:
        return False
    return kind.skips_ignored == "always" if always else kind.skips_ignored != ""


def _with_ignored(file: ClassFile) -> ClassFile:
    """Returns a file in which `__ignore__` in the first line counts."""
    note = (
        f"{IGNORED} in the first line of {file.source} counts. So value 0 is void, and value 1 is "
        f"{file.entries[1].name}."
    )
    return dataclasses.replace(file, numbering_note=note)


def _without_ignored(file: ClassFile) -> ClassFile:
    """Returns a file in which `__ignore__` in the first line does not count."""
    ignored, *others = file.entries
    moved = [dataclasses.replace(entry, value=entry.value - 1) for entry in others]
    note = ""
    if not _skips_ignored(file, always=True):
        note = (
            f"{IGNORED} in the first line of {file.source} does not count, because the tools that "
            f"write it do not count it. So value 0 is {others[0].name}."
        )
    entries = (dataclasses.replace(ignored, value=VOID), *moved)
    return dataclasses.replace(file, entries=entries, numbering_note=note)


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
