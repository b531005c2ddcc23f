"""The class files of several exports, each of which has its own: where they agree, they are one.

Two files agree if no class has two values or two colors, and no value or color means two classes.
Masks of colors need no values. So files in which each class has a color may number their classes
differently, as those of CVAT do: then only the colors of the united file count.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
import dataclasses
import posixpath
from typing import cast

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void
from voc_seg_tfrecord.core.class_files import ClassFile, read_class_files
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, color_key
from voc_seg_tfrecord.core.errors import LayoutError, several
from voc_seg_tfrecord.core.names import VOID, describe_color, plain
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.spelling import visible_form
from voc_seg_tfrecord.folder.files.exports import Export, list_exports
from voc_seg_tfrecord.folder.files.folder_names import is_split
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.paths import path_below_given
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, CLASS_FILES

CONTRADICT = "class files that contradict"
"""The kind of the question which of several class files is right."""

_SIGNS_OF_PAIRS = frozenset(',="')
"""Signs that the option `classes` takes apart."""


_LOWER_CASE_NAMES = frozenset(name.lower() for name in CLASS_FILE_NAMES)
"""The names of class files. Some systems do not distinguish lower and upper case."""


@dataclasses.dataclass(frozen=True)
class _ExportWithFiles:
    """An export and its class files, whose sources are their paths below the root of the set."""

    export: Export
    files: Sequence[ClassFile]


def find_class_files_in_exports(tree: VocTree) -> list[ClassFile]:
    """Finds the class files of exports; those of one name in several exports are united.

    Raises:
      QuestionError: if they contradict.
      LayoutError: if an export has none, and others have one.
    """
    exports = [_ExportWithFiles(one, _read_files(tree, one)) for one in list_exports(tree)]
    with_files = [one for one in exports if one.files]
    if not with_files:
        return []
    without_files = [one.export for one in exports if not one.files]
    if without_files:
        raise _no_class_file_error(tree, without_files[0], with_files[0].files[0])
    files_by_name: dict[str, list[ClassFile]] = {}
    for one in exports:
        for file in one.files:
            files_by_name.setdefault(posixpath.basename(file.source), []).append(file)
    return [_unite(tree, files) for files in files_by_name.values()]


def check_exports_agree(tree: VocTree, files_in_root: Iterable[ClassFile]) -> None:
    """Checks that class files beside the exports say the same as those of one name in exports.

    Raises:
      QuestionError: if they contradict.
    """
    files_of_exports = [file for export in list_exports(tree) for file in _read_files(tree, export)]
    for in_root in files_in_root:
        of_name = [
            file for file in files_of_exports if posixpath.basename(file.source) == in_root.source
        ]
        if of_name:
            _check_agree(tree, [in_root, *of_name])


def list_folders_of_class_files(tree: VocTree) -> list[str]:
    """Returns the folders, below the root of a set, in which exports have their class files."""
    folders: list[str] = []
    for export in list_exports(tree):
        for candidates in _list_folders(tree, export):
            folders += candidates
    return folders


def _read_files(tree: VocTree, export: Export) -> list[ClassFile]:
    """Returns the class files of an export, those nearest to its images."""
    for folders in _list_folders(tree, export):
        files: list[ClassFile] = []
        for folder in folders:
            if not _may_have_class_file(tree, folder):
                continue
            in_folder = read_class_files(tree.root / folder, CLASS_FILES, read=tree.texts.read)
            for file in in_folder.files:
                path = posixpath.normpath(posixpath.join(folder, file.source))
                files.append(dataclasses.replace(file, source=path))
        if files:
            return files
    return []


def _may_have_class_file(tree: VocTree, folder: str) -> bool:
    """Says whether a folder, below the root of the set, lists a file called as a class file.

    Of a thousand scenes, few have one, and to look for each name in each folder takes time.
    """
    path = path_below_given(tree, folder)
    names = cast(Listing, tree.listing).files_by_folder.get("" if path == "." else path, ())
    return any(name.lower() in _LOWER_CASE_NAMES for name in names)


def _list_folders(tree: VocTree, export: Export) -> list[list[str]]:
    """Returns the folders that may have the class file of an export, below the root of the set.

    First the folder of its files, then those of splits in it, then those above it.
    """
    if not export.folder or tree.listing is None:
        return []
    own = posixpath.relpath(export.folder, tree.root_below_given or ".")
    splits = [name for name in tree.listing.children(export.folder) if is_split(name)]
    folders = [[own], [posixpath.join(own, name) for name in splits]]
    above = posixpath.dirname(own)
    while above:
        folders.append([above])
        above = posixpath.dirname(above)
    return folders


def _no_class_file_error(tree: VocTree, export: Export, file: ClassFile) -> LayoutError:
    copy = command("cp", tree.root / file.source, tree.given / export.folder)
    return LayoutError(
        tree.given / export.folder,
        found=f"no class file, and {file.source} in another export",
        expected="a class file in each export",
        remedy=f"export it again with its class file; or, if its masks mean the same, {copy}",
    )


def _unite(tree: VocTree, files: Sequence[ClassFile]) -> ClassFile:
    """Returns one file with the classes of files of one name.

    Raises:
      QuestionError: if they contradict.
    """
    _check_agree(tree, files)
    first = files[0]
    united = dataclasses.replace(first, source=posixpath.basename(first.source), is_of_exports=True)
    if all(file.entries == first.entries for file in files):
        return united
    entries: dict[str, ClassEntry] = {}
    for file in files:
        for entry in file.entries:
            entries.setdefault(entry.name, entry)
    if not _find_contradiction(files, _CHECKS_OF_VALUES):
        in_order = sorted(entries.values(), key=lambda entry: entry.value)
        return dataclasses.replace(united, entries=tuple(in_order))
    numbered = [
        dataclasses.replace(entry, value=value) for value, entry in enumerate(entries.values())
    ]
    return dataclasses.replace(united, entries=tuple(numbered), has_values=False)


def _check_agree(tree: VocTree, files: Sequence[ClassFile]) -> None:
    """Checks that class files of one name agree.

    Raises:
      QuestionError: if they contradict.
    """
    have_colors = all(file.has_colors for file in files)
    checks = _CHECKS_OF_COLORS if have_colors else (*_CHECKS_OF_COLORS, *_CHECKS_OF_VALUES)
    contradiction = _find_contradiction(files, checks)
    if contradiction:
        raise _ask_which(tree, files, contradiction, have_colors=have_colors)


# What class files contradict in.


@dataclasses.dataclass(frozen=True)
class _Check:
    """What each name, color or value may have once.

    Attributes:
      key: what may stand in several files; None if an entry has none.
      fact: what has to be the same wherever the key stands; None if an entry has none.
      words: how a contradiction is worded, with `{key}`, `{fact}` and `{other}`.
    """

    key: Callable[[ClassEntry], Hashable | None]
    fact: Callable[[ClassEntry], Hashable | None]
    words: str


def _name_of(entry: ClassEntry) -> str:
    return VOID_CLASS if is_void(entry) else repr(entry.name)


def _color_of(entry: ClassEntry) -> str | None:
    return describe_color(entry.color) if entry.color else None


def _value_of(entry: ClassEntry) -> int | None:
    """Returns the value of a class or of void; None for 255, which is void in any case."""
    return entry.value if 0 <= entry.value < VOID else None


def _value_of_class(entry: ClassEntry) -> int | None:
    """Returns the value of a class; None for void, which may have several."""
    return None if is_void(entry) else _value_of(entry)


_CHECKS_OF_COLORS = (
    _Check(_name_of, _color_of, "{key} has the color {fact} in {file} and {other} in {other_file}"),
    _Check(_color_of, _name_of, "the color {key} is {fact} in {file} and {other} in {other_file}"),
)
_CHECKS_OF_VALUES = (
    _Check(
        _name_of,
        _value_of_class,
        "{key} has the value {fact} in {file} and {other} in {other_file}",
    ),
    _Check(_value_of, _name_of, "the value {key} is {fact} in {file} and {other} in {other_file}"),
)


def _find_contradiction(files: Iterable[ClassFile], checks: Iterable[_Check]) -> str:
    """Says in what files contradict first; empty if they agree."""
    files = list(files)
    for check in checks:
        first_by_key: dict[Hashable, tuple[Hashable, str]] = {}
        for file in files:
            for entry in file.entries:
                key, fact = check.key(entry), check.fact(entry)
                if key is None or fact is None:
                    continue
                first_fact, first_source = first_by_key.setdefault(key, (fact, file.source))
                if first_fact != fact:
                    return check.words.format(
                        key=key,
                        fact=first_fact,
                        file=first_source,
                        other=fact,
                        other_file=file.source,
                    )
    return ""


# The question.


def _ask_which(
    tree: VocTree, files: Sequence[ClassFile], contradiction: str, *, have_colors: bool
) -> QuestionError:
    """Returns the question what classes mean of which exports say different things."""
    alternatives: list[Alternative] = []
    table = _list_classes_by_key(files, by_color=have_colors)
    if table:
        names = several(dict.fromkeys(table.values()), len(table))
        alternatives.append(Alternative(f"all exports, with {names}", {"classes": table}))
    for export in list_exports(tree):
        if export.folder:
            folder = tree.given / export.folder
            alone = command("voc-seg-tfrecord", "build", folder, name="NAME")
            alternatives.append(Alternative(f"{export.name} alone", {}, advice=alone))
    return QuestionError(
        tree.given,
        alternatives,
        task=f"name the classes of several exports, because {contradiction}",
        expected="class files that agree; export all from one project",
        kind=CONTRADICT,
    )


def _list_classes_by_key(files: Sequence[ClassFile], *, by_color: bool) -> Mapping[Key, str]:
    """Returns the class of each color, or of each value, if no two classes share one.

    Names that differ in spelling alone are one class, under the name that comes first. There is no
    table if a color or value would mean two classes, or if the option could not hold a name.
    """
    name_by_form: dict[str, str] = {}
    class_by_key: dict[Key, str] = {}
    for file in files:
        for entry in file.entries:
            key = _key_of(entry, by_color=by_color)
            name = VOID_CLASS
            if not is_void(entry):
                name = name_by_form.setdefault(plain(visible_form(entry.name)), entry.name)
            if key is None or class_by_key.setdefault(key, name) != name:
                return {}
            if not _SIGNS_OF_PAIRS.isdisjoint(name) or name.isdecimal():
                return {}
    return class_by_key


def _key_of(entry: ClassEntry, *, by_color: bool) -> Key | None:
    """Returns the color of a class, or its value, as a row of a table has it; None without one."""
    if by_color:
        return color_key(entry.color) if entry.color else None
    return entry.value if entry.value >= 0 else None
