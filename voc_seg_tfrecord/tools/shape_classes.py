"""Numbers the classes of shapes: in the order of a tool's own file, or else sorted by name.

Some tools number the classes in the files of shapes (COCO, CVAT, YOLO), and some in a list beside
them (Supervisely's `meta.json`, labelme's `labels.txt`). Where there is no list, the labels of the
shapes are all that is known. Background is value 0, and the classes after it keep their order.

Two names are one class if their `visible_form` is the same. The names as the files have them are
kept for messages.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import os
import posixpath

from etils import epath

from voc_seg_tfrecord.core.class_entries import IGNORED, ClassEntry, is_void_name
from voc_seg_tfrecord.core.errors import LayoutError, MaskError, counted, did_you_mean, several
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.core.spelling import describe_same_name, show_name, visible_form
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.shapes import UNUSABLE, Sheet, as_written
from voc_seg_tfrecord.tools.tool import ClassList, Tool

MAX_LISTED_NAMES = 12
"""How many class names a message lists."""

_MAX_CLASSES_BESIDE_BACKGROUND = 253
"""Classes take the values 1 to 253: 255 is void, and `drawing` paints background as 254 first."""


@dataclasses.dataclass(frozen=True)
class NumberedClasses:
    """The classes of a tool's shapes.

    Attributes:
      class_file: background and the classes after it.
      values: the value of each label in masks, by the label as the shapes have it.
      notes: what a user should know of them.
    """

    class_file: ClassFile
    values: Mapping[str, int]
    notes: Sequence[str]


@dataclasses.dataclass(frozen=True)
class _Definition:
    """A class, where it is defined.

    Attributes:
      name: the name, as the file has it.
      file: the file that has it.
      where: the file and the position in it, such as `a.json, category 3`.
    """

    name: str
    file: str
    where: str


@dataclasses.dataclass(frozen=True)
class _Definitions:
    """The classes of a folder, in their order.

    Attributes:
      classes: the classes. Several files may define the same one.
      source: the file that has them, or a word for several.
      is_sorted: whether nothing numbers the classes, so that they are sorted by name.
      notes: what a user should know of them.
    """

    classes: Sequence[_Definition]
    source: str
    is_sorted: bool = False
    notes: Sequence[str] = ()

    @functools.cached_property
    def names(self) -> list[str]:
        """The names in their order, without blanks at their ends."""
        return [*dict.fromkeys(definition.name.strip() for definition in self.classes)]

    @functools.cached_property
    def forms(self) -> set[str]:
        """The names as they look; see `visible_form`."""
        return {visible_form(name) for name in self.names}


def number_shape_classes(
    tool: Tool,
    sheets: Mapping[str, Sheet],
    first_uses: Mapping[str, str],
    root: epath.Path,
    paths: Iterable[str],
) -> NumberedClasses:
    """Numbers the classes of a tool's shapes, in the tool's order.

    Args:
      tool: the tool.
      sheets: what its files hold, by their paths.
      first_uses: for the label of each shape, where its first shape stands: `a.json, shape 3`.
      root: the folder.
      paths: all files in the folder, among them the list of classes, if the tool has one.

    Raises:
      LayoutError: if two classes have one name, a list of classes lacks a label, two lists number
        the labels differently, or there are more classes than a mask can hold.
    """
    class_list = tool.shapes.class_list if tool.shapes else None
    if class_list:
        defined = _define_by_list(tool, class_list, sheets, first_uses, root, paths)
    else:
        defined = _define_by_sheets(tool, sheets, first_uses)
    _check_names_differ(defined)
    entries = number_names(defined.names, root)
    values = _values_of_labels(entries, first_uses)
    notes = [
        *defined.notes,
        *_note_respelled_labels(defined, first_uses),
        *_note_void_labels(first_uses, values),
    ]
    class_file = ClassFile(defined.source, entries, is_sorted=defined.is_sorted)
    return NumberedClasses(class_file, values, notes)


def _define_by_list(
    tool: Tool,
    class_list: ClassList,
    sheets: Mapping[str, Sheet],
    first_uses: Mapping[str, str],
    root: epath.Path,
    paths: Iterable[str],
) -> _Definitions:
    """Defines the classes by the list that has all labels; without a list, by the labels.

    A list belongs to something else if it has none of the labels, and nothing like them. Several
    lists, each in the folder of an annotator with the labels of that folder, count as one.

    Raises:
      LayoutError: if there are lists, and each lacks a label, or two number the labels differently.
    """
    notes = [f"{tool.name} does not number classes, so they are sorted by name."]
    complete: list[_Definitions] = []
    incomplete: list[_Definitions] = []
    for path in paths:
        if posixpath.basename(path) != class_list.name:
            continue
        listed = _read_list(class_list, root, path)
        if not _find_missing_labels(listed, first_uses):
            complete.append(_with_void_labels(listed, first_uses))
        elif _has_any_label(listed, first_uses):
            incomplete.append(listed)
        else:
            notes.append(f"{path} has none of the labels, so it does not number the classes.")
    if complete:
        return _choose_list(complete, sheets, first_uses, root)
    united = _unite_lists(incomplete, sheets)
    if united is not None:
        return _with_void_labels(united, first_uses)
    if incomplete:
        best = min(incomplete, key=lambda listed: len(_find_missing_labels(listed, first_uses)))
        raise _label_is_missing(tool, best, first_uses)
    in_use = [_Definition(label, where, where) for label, where in sorted(first_uses.items())]
    return _Definitions(in_use, f"{tool.name}'s files", is_sorted=True, notes=notes)


def _choose_list(
    complete: Sequence[_Definitions],
    sheets: Mapping[str, Sheet],
    first_uses: Mapping[str, str],
    root: epath.Path,
) -> _Definitions:
    """Returns the first of the lists that have all labels.

    Lists that lie with the shapes, or above all of them, come before others.

    Raises:
      LayoutError: if another of these lists gives a label another number.
    """
    above_shapes = [listed for listed in complete if _lies_above_all(listed.source, sheets)]
    candidates = above_shapes or complete
    first = candidates[0]
    values = _values_of_labels(number_names(first.names, root), first_uses)
    for other in candidates[1:]:
        other_values = _values_of_labels(number_names(other.names, root), first_uses)
        for label, value in values.items():
            if other_values[label] != value:
                raise LayoutError(
                    root,
                    found=f"two lists of classes that differ: {show_name(label)} has the number "
                    f"{value} by {first.source}, and {other_values[label]} by {other.source}",
                    expected="one order of the classes",
                    remedy="remove the wrong list, or give both the same order",
                    kind=UNUSABLE,
                )
    return first


def _unite_lists(lists: Sequence[_Definitions], sheets: Mapping[str, Sheet]) -> _Definitions | None:
    """Returns lists in folders beside each other as one, in the order that all of them have.

    It is None if a file of shapes lies below none of them or below two, if a list lacks a label of
    the shapes below it, or if the lists have their common names in different orders.
    """
    if len(lists) < 2:
        return None
    for path, sheet in sheets.items():
        above = [listed for listed in lists if _lies_above_all(listed.source, [path])]
        labels = {shape.label for one in sheet.annotations for shape in one.shapes}
        if len(above) != 1 or _find_missing_labels(above[0], labels):
            return None
    classes = [definition for listed in lists for definition in listed.classes]
    united = _Definitions(classes, posixpath.basename(lists[0].source))
    positions = {visible_form(name): number for number, name in enumerate(united.names)}
    for listed in lists:
        in_order = [positions[visible_form(name)] for name in listed.names]
        if in_order != sorted(in_order):
            return None
    return united


def _lies_above_all(file: str, paths: Iterable[str]) -> bool:
    """Says whether all paths lie in the folder of a file, or below it."""
    folder = posixpath.dirname(file)
    return not folder or all(path.startswith(f"{folder}/") for path in paths)


def _read_list(class_list: ClassList, root: epath.Path, path: str) -> _Definitions:
    full_path = root / path
    data = File.read(full_path, MaskError).data
    with as_written(os.fspath(full_path), class_list.expected):
        names = class_list.parse(data.decode("utf-8-sig"))
    classes = []
    for number, name in enumerate(names, 1):
        classes.append(_Definition(name, path, f"{path}, class {number}"))
    return _Definitions(classes, path)


def _find_missing_labels(listed: _Definitions, labels: Iterable[str]) -> list[str]:
    """Returns the labels that a list lacks, sorted. A label that means void needs no line."""
    missing = []
    for label in labels:
        if visible_form(label) not in listed.forms and not is_void_name(label.strip()):
            missing.append(label)
    return sorted(missing)


def _has_any_label(listed: _Definitions, labels: Iterable[str]) -> bool:
    """Says whether a list has one of the labels, or a name that a misspelled label may mean."""
    for label in labels:
        if visible_form(label) in listed.forms or did_you_mean(label, listed.names):
            return True
    return False


def _with_void_labels(listed: _Definitions, first_uses: Mapping[str, str]) -> _Definitions:
    """Adds the labels that mean void and that the list lacks."""
    added = []
    for label, where in sorted(first_uses.items()):
        if is_void_name(label.strip()) and visible_form(label) not in listed.forms:
            added.append(_Definition(label, where, where))
    return dataclasses.replace(listed, classes=[*listed.classes, *added])


def _label_is_missing(
    tool: Tool, listed: _Definitions, first_uses: Mapping[str, str]
) -> LayoutError:
    missing = _find_missing_labels(listed, first_uses)
    label = missing[0]
    found = f"the label {show_name(label)}, which {listed.source} lacks"
    found += did_you_mean(label, listed.names)
    if len(missing) > 1:
        others = several([f"{show_name(other)} in {first_uses[other]}" for other in missing[1:]])
        found += f" {listed.source} lacks these too: {others}"
    return LayoutError(
        first_uses[label],
        found=found,
        expected=f"one of {several(listed.names, MAX_LISTED_NAMES)}",
        remedy=f"correct the label in {tool.name}, or add it to {listed.source}",
        kind=UNUSABLE,
    )


def _define_by_sheets(
    tool: Tool, sheets: Mapping[str, Sheet], first_uses: Mapping[str, str]
) -> _Definitions:
    """Defines the classes as the files of shapes number them, without groups that no shape has."""
    groups = {group for sheet in sheets.values() for group in sheet.groups}
    unused_groups = groups.difference(first_uses)
    classes = []
    left_out = set[str]()
    files = set[str]()
    for path, sheet in sheets.items():
        file = sheet.classes_file or path
        if file in files:
            continue
        files.add(file)
        for listed in sheet.classes:
            if listed.name in unused_groups:
                left_out.add(listed.name)
            else:
                classes.append(_Definition(listed.name, file, f"{file}, {listed.position}"))
    notes = []
    if left_out:
        notes.append(_note_groups(sorted(left_out)))
    return _Definitions(classes, f"{tool.name}'s files", notes=notes)


def _note_groups(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} only groups other classes, so it is not a class."
    return f"{', '.join(names)} only group other classes, so they are not classes."


def _check_names_differ(defined: _Definitions) -> None:
    """Checks that no two classes have one name. One class may stand in several files."""
    first_by_form: dict[str, _Definition] = {}
    for definition in defined.classes:
        first = first_by_form.setdefault(visible_form(definition.name), definition)
        if first is definition:
            continue
        is_same_class = first.name == definition.name and first.file != definition.file
        if not is_same_class:
            raise LayoutError(
                first.where,
                found=f"{describe_same_name(first.name, definition.name)}; the other class is "
                f"{definition.where}",
                expected="a different name for each class",
                remedy="rename one of the two in the tool, or make them one class there, and "
                "export again",
                kind=UNUSABLE,
            )


def number_names(names: Sequence[str], root: epath.Path) -> tuple[ClassEntry, ...]:
    """Returns background and the classes after it as entries, and those that mean void last.

    Example: `car`, `void` and `road` become `background` 0, `car` 1, `road` 2 and `void` 255.
    """
    void_names = [name for name in names if is_void_name(name)]
    classes = [name for name in names if not is_void_name(name)]
    index = background_index(classes)
    background = "background" if index is None else classes.pop(index)
    if len(classes) > _MAX_CLASSES_BESIDE_BACKGROUND:
        raise LayoutError(
            root,
            found=f"{len(classes)} classes",
            expected=f"at most {_MAX_CLASSES_BESIDE_BACKGROUND} classes and background",
            remedy="merge classes in the tool",
        )
    entries = [ClassEntry(value, name) for value, name in enumerate([background, *classes])]
    entries += [ClassEntry(VOID, name) for name in void_names]
    return tuple(entries)


def _values_of_labels(entries: Sequence[ClassEntry], labels: Iterable[str]) -> dict[str, int]:
    """Returns the value of each label in masks, however the label spells the class.

    Each label has a class: the readers of shapes refuse labels that their files do not define, and
    `_define_by_list` those that its list lacks.
    """
    value_by_form = {visible_form(entry.name): entry.value for entry in entries}
    return {label: value_by_form[visible_form(label)] for label in labels}


def _note_respelled_labels(defined: _Definitions, first_uses: Mapping[str, str]) -> list[str]:
    """Names a label that is spelled otherwise than its class, be it by a blank at its end."""
    names_as_written = {definition.name for definition in defined.classes}
    name_by_form = {visible_form(name): name for name in defined.names}
    notes = []
    for label, where in first_uses.items():
        if label not in names_as_written:
            name = name_by_form[visible_form(label)]
            notes.append(f"The label {show_name(label)} in {where} is read as {name}.")
    if len(notes) > 1:
        return [f"{notes[0]} Likewise {counted(len(notes) - 1, 'more label')}."]
    return notes


def _note_void_labels(labels: Iterable[str], values: Mapping[str, int]) -> list[str]:
    void = sorted(label for label in labels if values[label] == VOID and label != IGNORED)
    if not void:
        return []
    if len(void) == 1:
        return [f"{void[0]} means void, {VOID}, unless --classes gives it a class."]
    return [f"{', '.join(void)} mean void, {VOID}, unless --classes gives them classes."]
