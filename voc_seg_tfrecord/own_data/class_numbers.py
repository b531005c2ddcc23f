"""The ways in which a class file without values may be numbered.

In a file of names without values, names count by their lines, and the first is value 0, unless the
tool left something out:

1. Lists of objects, such as those for YOLO, and Supervisely's `colors.txt` do not name background,
   which is value 0 or black then.
2. labelme writes `__ignore__` into the first line and does not count it.

So such a file has two readings. The user's class names choose one, or else the masks do, by the
rule of `masks.meaning`.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.base.names import VOID, background_index, plain
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import IGNORED, ClassFile
from voc_seg_tfrecord.formats.class_parsers import Entry

# Names of value 0 in lists that need no background.
_AS_BACKGROUND = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")

_BLACK = (0, 0, 0)

_OF_LABELME = "class_names.txt"


def numberings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns the ways in which a class file may be numbered, the usual one first.

    Args:
      file: the file, numbered by its lines.
      background: name of the class that is background, if the user said so.
    """
    first = file.entries[0].name
    if not all(entry.by_place for entry in file.entries):
        return [file]
    names = [entry.name for entry in file.entries]
    if _is_supervisely(file):
        colors = [entry.color for entry in file.entries]
        has_background = _BLACK in colors or "background" in names
        return [file] if has_background else [_with_background(file), _from_0(file)]
    if _ignores_first(file):
        return [_as_labelme(file), _by_line(file)]
    has_background = (
        plain(first) in _AS_BACKGROUND or background_index(names, background) is not None
    )
    if not file.plain or has_background:
        return [file]
    if len(names) == 1:  # the one name of a list is no background
        return [_with_background(file)]
    return [_from_0(file), _with_background(file)]


def _is_supervisely(file: ClassFile) -> bool:
    """Says whether a file is one in which black may be background without being listed."""
    return posixpath.basename(file.source) == "colors.txt"


def _ignores_first(file: ClassFile) -> bool:
    """Says whether labelme would not count the first line of a file."""
    leads = len(file.entries) > 1 and file.entries[0].name == IGNORED
    return leads and not _is_supervisely(file)


def _as_labelme(file: ClassFile) -> ClassFile:
    ignored, *others = file.entries
    moved = [dataclasses.replace(entry, value=entry.value - 1) for entry in others]
    note = (
        f"{IGNORED} in the first line of {file.source} does not count, as labelme writes it. So "
        f"value 0 is {others[0].name}."
    )
    return dataclasses.replace(
        file,
        entries=(dataclasses.replace(ignored, value=VOID), *moved),
        numbered="" if _is_labelme(file, alone=True) else note,
    )


def _is_labelme(file: ClassFile, *, alone: bool = False) -> bool:
    """Says whether labelme wrote a file with `__ignore__` first, or, if not `alone`, reads such."""
    usual = (_OF_LABELME,) if alone else (_OF_LABELME, "labels.txt")
    named = posixpath.basename(file.source) in usual
    return file.plain and (named or file.entries[1].name == "_background_")


def _by_line(file: ClassFile) -> ClassFile:
    note = (
        f"{IGNORED} in the first line of {file.source} counts. So value 0 is void, and value 1 is "
        f"{file.entries[1].name}."
    )
    return dataclasses.replace(file, numbered=note)


def _from_0(file: ClassFile) -> ClassFile:
    note = f"{file.source} has no background. Value 0 is {file.entries[0].name}, its first name."
    return dataclasses.replace(file, numbered=note)


def _with_background(file: ClassFile) -> ClassFile:
    """Returns a file with background at value 0, before all names."""
    name = "background"
    color = _BLACK if file.colored else None
    moved = [dataclasses.replace(entry, value=entry.value + 1) for entry in file.entries]
    return dataclasses.replace(
        file,
        entries=(Entry(0, name, color, by_place=True), *moved),
        numbered=f"{file.source} has no background, so value 0 is {name}, and value 1 is "
        f"{file.entries[0].name}, its first name.",
    )


def of_given_names(files: Sequence[ClassFile], config: VocSegConfig) -> ClassFile | None:
    """Returns which of a class file's readings has the names that the user gave; None if none has.

    labelme's `__ignore__` counts if the user gave it as the first name.
    """
    given = {*config.named_classes}
    same = [file for file in files if {*file.class_names} == given]
    if len(same) > 1 and _ignores_first(same[0]):
        return same[config.class_names[0] == IGNORED]
    return same[0] if same else None


def usual_numbering(files: Sequence[ClassFile]) -> ClassFile | None:
    """Returns which of a class file's readings is taken if masks fit several; None if none is."""
    shortest = min(files, key=lambda file: len(file.entries))
    if _ignores_first(shortest):
        return files[0] if _is_labelme(shortest) else None
    if _is_supervisely(shortest):
        return None if background_index(shortest.class_names) is None else shortest
    return files[0] if posixpath.basename(shortest.source) == _OF_LABELME else None
