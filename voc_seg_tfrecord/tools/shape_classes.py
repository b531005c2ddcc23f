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
from voc_seg_tfrecord.tools.shapes import UNUSABLE, AnnotationFile, as_written
from voc_seg_tfrecord.tools.tool import ClassList, ShapeTool

_MAX_LISTED_NAMES = 12
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
      file: the file that has it; without a list, the same as `where`.
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
      source: the file that has them, or several files, in words.
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
    def name_by_form(self) -> dict[str, str]:
        """The names by how they look; see `visible_form`."""
        return {visible_form(name): name for name in self.names}

    def list_missing(self, labels: Iterable[str]) -> list[str]:
        """Returns the labels that are no classes, sorted. One that means void needs no line."""
        missing = []
        for label in labels:
            if visible_form(label) not in self.name_by_form and not is_void_name(label.strip()):
                missing.append(label)
        return sorted(missing)


@dataclasses.dataclass(frozen=True)
class _DefinitionsOfList(_Definitions):
    """The classes of one list. `source` is its path."""

    def lies_above(self, path: str) -> bool:
        """Says whether a file lies in the folder of the list of these classes, or below it."""
        return path.startswith(posixpath.join(posixpath.dirname(self.source), ""))


def number_shape_classes(
    tool: ShapeTool,
    files: Mapping[str, AnnotationFile],
    first_uses: Mapping[str, str],
    root: epath.Path,
    paths: Iterable[str],
) -> NumberedClasses:
    """Numbers the classes of a tool's shapes, in the tool's order.

    Args:
      tool: the tool.
      files: what its files hold, by their paths.
      first_uses: for the label of each shape, where its first shape stands: `a.json, shape 3`.
      root: the folder.
      paths: all files in the folder, among them the list of classes, if the tool has one.

    Raises:
      LayoutError: if two classes have one name, a list of classes lacks a label, two lists number
        the labels differently, or there are more classes than a mask can hold.
    """
    if tool.class_list:
        lists = [
            _read_list(tool.class_list, root, path)
            for path in paths
            if posixpath.basename(path) == tool.class_list.name
        ]
        defined = _define_by_lists(tool.name, lists, files, first_uses, root)
    else:
        defined = _define_by_files(tool.name, files, first_uses)
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


def _read_list(class_list: ClassList, root: epath.Path, path: str) -> _DefinitionsOfList:
    full_path = root / path
    data = File.read(full_path, MaskError).data
    with as_written(os.fspath(full_path), class_list.expected):
        names = class_list.parse(data.decode("utf-8-sig"))
    classes = []
    for number, name in enumerate(names, 1):
        classes.append(_Definition(name, path, f"{path}, class {number}"))
    return _DefinitionsOfList(classes, path)


def _define_by_lists(
    tool: str,
    lists: Sequence[_DefinitionsOfList],
    files: Mapping[str, AnnotationFile],
    first_uses: Mapping[str, str],
    root: epath.Path,
) -> _Definitions:
    """Defines the classes by the list that has all labels; without a list, by the labels.

    A list belongs to something else if it has none of the labels, and nothing like them. Several
    lists, each in the folder of an annotator with the labels of that folder, count as one. Labels
    that mean void and that the list lacks are added.

    Raises:
      LayoutError: if there are lists, and each lacks a label, or two number the labels differently.
    """
    complete = [listed for listed in lists if not listed.list_missing(first_uses)]
    with_any_label = []
    notes = [
        f"{tool} does not number classes: they are sorted by name, unless --class_names is given."
    ]
    for listed in lists:
        if _has_any_label(listed, first_uses):
            with_any_label.append(listed)
        else:
            notes.append(
                f"{listed.source} has none of the labels, so it does not number the classes."
            )
    chosen: _Definitions
    if complete:
        chosen = _choose_list(complete, files, first_uses, root)
    elif with_any_label:
        united = _unite_lists(with_any_label, files)
        if united is None:
            raise _label_is_missing(tool, with_any_label, first_uses)
        chosen = united
    else:
        in_use = [_Definition(label, where, where) for label, where in sorted(first_uses.items())]
        return _Definitions(in_use, f"{tool}'s files", is_sorted=True, notes=notes)
    void_labels = [
        _Definition(label, where, where)
        for label, where in sorted(first_uses.items())
        if visible_form(label) not in chosen.name_by_form
    ]
    return dataclasses.replace(chosen, classes=[*chosen.classes, *void_labels])


def _has_any_label(listed: _Definitions, labels: Iterable[str]) -> bool:
    """Says whether a list has one of the labels, or a name that a misspelled label may mean."""
    for label in labels:
        if visible_form(label) in listed.name_by_form or did_you_mean(label, listed.names):
            return True
    return False


def _choose_list(
    complete: Sequence[_DefinitionsOfList],
    files: Iterable[str],
    first_uses: Mapping[str, str],
    root: epath.Path,
) -> _Definitions:
    """Returns the first of the lists that have all labels.

    Lists that lie with the shapes, or above all of them, come before others.

    Raises:
      LayoutError: if another of these lists gives a label another number.
    """
    above_shapes = [listed for listed in complete if all(map(listed.lies_above, files))]
    first, *others = above_shapes or complete
    labels = [label for label in first_uses if not is_void_name(label.strip())]
    values = _values_of_labels(number_names(first.names, root), labels)
    for other in others:
        other_values = _values_of_labels(number_names(other.names, root), labels)
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


def _unite_lists(
    lists: Sequence[_DefinitionsOfList], files: Mapping[str, AnnotationFile]
) -> _Definitions | None:
    """Returns lists in folders beside each other as one, in the order that all of them have.

    It is None if an annotation file lies below none of them or below two, if a list lacks a label
    of the shapes below it, or if the lists have their common names in different orders.
    """
    for path, file in files.items():
        above = [listed for listed in lists if listed.lies_above(path)]
        labels = {shape.label for one in file.annotations for shape in one.shapes}
        if len(above) != 1 or above[0].list_missing(labels):
            return None
    classes = [definition for listed in lists for definition in listed.classes]
    united = _Definitions(classes, posixpath.basename(lists[0].source))
    forms = list(united.name_by_form)
    for listed in lists:
        positions = [forms.index(form) for form in listed.name_by_form]
        if positions != sorted(positions):
            return None
    return united


def _label_is_missing(
    tool: str, lists: Sequence[_Definitions], first_uses: Mapping[str, str]
) -> LayoutError:
    """Returns the error about the list that lacks the fewest labels."""
    listed = min(lists, key=lambda listed: len(listed.list_missing(first_uses)))
    label, *others = listed.list_missing(first_uses)
    found = f"the label {show_name(label)}, which {listed.source} lacks"
    found += did_you_mean(label, listed.names)
    if others:
        shown = several([f"{show_name(other)} in {first_uses[other]}" for other in others])
        found += f" {listed.source} lacks these too: {shown}"
    return LayoutError(
        first_uses[label],
        found=found,
        expected=f"one of {several(listed.names, _MAX_LISTED_NAMES)}",
        remedy=f"correct the label in {tool}, or add it to {listed.source}",
        kind=UNUSABLE,
    )


def _define_by_files(
    tool: str, files: Mapping[str, AnnotationFile], first_uses: Mapping[str, str]
) -> _Definitions:
    """Defines the classes as the annotation files number them, without groups that no shape has."""
    groups = set[str]()
    for file in files.values():
        groups.update(listed.name for listed in file.classes if listed.is_group)
    unused_groups = groups.difference(first_uses)
    classes_by_source = {file.classes_file or path: file.classes for path, file in files.items()}
    definitions = []
    for source, classes in classes_by_source.items():
        for listed in classes:
            if listed.name not in unused_groups:
                where = f"{source}, {listed.position}"
                definitions.append(_Definition(listed.name, source, where))
    notes = []
    if len(unused_groups) == 1:
        notes.append(f"{min(unused_groups)} only groups other classes, so it is not a class.")
    elif unused_groups:
        names = ", ".join(sorted(unused_groups))
        notes.append(f"{names} only group other classes, so they are not classes.")
    return _Definitions(definitions, f"{tool}'s files", notes=notes)


def _check_names_differ(defined: _Definitions) -> None:
    """Checks that no two classes have one name. One class may stand in several files."""
    first_by_form: dict[str, _Definition] = {}
    for definition in defined.classes:
        first = first_by_form.setdefault(visible_form(definition.name), definition)
        if first is definition:
            continue
        is_one_class_of_two_files = first.name == definition.name and first.file != definition.file
        if not is_one_class_of_two_files:
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
    `_define_by_lists` those that its list lacks.
    """
    value_by_form = {visible_form(entry.name): entry.value for entry in entries}
    return {label: value_by_form[visible_form(label)] for label in labels}


def _note_respelled_labels(defined: _Definitions, first_uses: Mapping[str, str]) -> list[str]:
    """Names a label that is spelled otherwise than its class. A blank at its end counts."""
    names_as_written = {definition.name for definition in defined.classes}
    notes = []
    for label, where in first_uses.items():
        if label not in names_as_written:
            name = defined.name_by_form[visible_form(label)]
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
