"""The class files of a folder, each in the ways in which it may be numbered; its table of classes.

Class files lie in the folder of the set, or of a split or part of it, or of the masks. If there is
none, those above the set count.
"""

from collections.abc import Container, Mapping, Sequence
import dataclasses
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.class_entries import IGNORED, ClassEntry, is_void_name
from voc_seg_tfrecord.core.class_rows import Rows
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.names import BLACK, VOID, background_index, describe_color, plain
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.by_content import find_by_content
from voc_seg_tfrecord.folder.splits.folders import SplitFolders, first_folder
from voc_seg_tfrecord.folder.tree.listing import files_below, subfolders
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import (
    ClassFile,
    ClassFilesOfFolder,
    NumberingOfNames,
    read_class_files,
    read_table,
)
from voc_seg_tfrecord.tools.class_texts import TABLE, has_unknown_class, parse_table
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, CLASS_FILES, class_file_named

_LOWER_CASE_NAMES = frozenset(name.lower() for name in CLASS_FILE_NAMES)

_DEVKIT = "vocdevkit"  # VOC's folder of all releases, in small letters

_LABELMES_BACKGROUND = "_background_"

NAMES_OF_VALUE_0 = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")
"""First names of lists that have no background, because value 0 is this class."""

_VALUES_OF_SEVERAL_CLASSES = (-1, VOID)
"""Values that a class file may give to several classes: no value, and void."""


@dataclasses.dataclass(frozen=True)
class GivenClasses:
    """What the user said of classes, before it is known whether a class file has them.

    Attributes:
      names: the class names, void among them; none if those of a class file are looked for.
      rows: the rows of the table of classes.
      background: the name of the class that is background; empty if the user did not say it.
    """

    names: Sequence[str]
    rows: Rows
    background: str

    @property
    def names_without_void(self) -> tuple[str, ...]:
        """The class names without those that mean void."""
        return tuple(name for name in self.names if not is_void_name(name))


def find_class_files(tree: VocTree) -> ClassFilesOfFolder:
    """Finds the class files of a set; if none has a known name, those that `by_content` finds.

    Only the misnamed files in the set's own folder are among them, and those of splits beside class
    files of others; those in other folders are reported as unused files.

    Args:
      tree: the set.

    Raises:
      LayoutError: if a file cannot be read that only a labeling tool writes, or if the files of two
        splits contradict each other.
    """
    in_root = _read_files(tree, tree.root)
    in_splits = _find_in_splits(tree, {file.source for file in in_root.files})
    files: Sequence[ClassFile] = [
        *in_root.files,
        *in_splits.files,
        *_find_beside_masks(tree),
    ]
    if not files:
        files = _find_above(tree)
    if not files:
        files = find_by_content(tree)
    misnamed = [*in_root.misnamed, *in_splits.misnamed]
    return ClassFilesOfFolder(files, misnamed, in_splits.notes)


def list_folders_of_class_files(tree: VocTree) -> Sequence[str]:
    """Returns the folders, below the root of a set, of which each may have its class file.

    They are those of splits; or else, if the images lie in several folders of the root, all folders
    above images that have a class file: `anna` and `anna/train` for `anna/train/1.jpg`.
    """
    folders = SplitFolders(tree).dividing_first_folders
    if folders or tree.listing is None or tree.layout.images != ".":
        return folders
    folders_of_images = {posixpath.dirname(tree.filename_of(one)) for one in tree.images}
    if len({*map(first_folder, folders_of_images)}) < 2:
        return ()
    above_images: set[str] = set()
    for folder in folders_of_images:
        while folder and folder not in above_images:
            above_images.add(folder)
            folder = posixpath.dirname(folder)
    with_class_file: list[str] = []
    for folder in sorted(above_images):  # of many folders, few have one
        names = tree.listing.files_by_folder.get(tree.path_below_given(folder), ())
        if not _LOWER_CASE_NAMES.isdisjoint(map(str.lower, names)):
            with_class_file.append(folder)
    return with_class_file


def _find_in_splits(tree: VocTree, names_in_root: Container[str]) -> ClassFilesOfFolder:
    """Finds the class files in the folders of splits.

    Args:
      tree: the folder.
      names_in_root: the names of the class files beside these folders. A file of such a name keeps
        its folder in its source, such as `train/classes.txt`, because it is another file.
    """
    files_by_name: dict[str, list[ClassFile]] = {}
    files_by_folder: list[Sequence[ClassFile]] = []
    misnamed: list[LayoutError] = []
    for folder in list_folders_of_class_files(tree):
        found = _read_in_folder(tree, tree.root / folder, f"{folder}/")
        files_by_folder.append(found.files)
        misnamed += found.misnamed
        for file in found.files:
            files_by_name.setdefault(posixpath.basename(file.source), []).append(file)
    if not SplitFolders(tree).dividing_first_folders:
        _check_all_have_class_files(tree, files_by_name)
    united = []
    notes = []
    for name, files in files_by_name.items():
        source = files[0].source if name in names_in_root else name
        united.append(_unite(tree.root, source, files))
        if len({file.entries for file in files}) > 1:
            notes.append(f"The splits have different files {name}; all are used.")
    _check_folders_agree(tree.root, files_by_folder)
    return ClassFilesOfFolder(united, misnamed if united else (), notes)


def _check_folders_agree(root: epath.Path, files_by_folder: Sequence[Sequence[ClassFile]]) -> None:
    """Checks that no two folders number classes otherwise, each in files of its own.

    Raises:
      LayoutError: if all files of a folder contradict all of another.
    """
    for folder, other_folder in itertools.combinations(files_by_folder, 2):
        pairs = list(itertools.product(folder, other_folder))
        if pairs and all(_number_otherwise(one, other) for one, other in pairs):
            one, other = pairs[0]
            words = f"the classes have other numbers than in {one.source}"
            raise _splits_contradict_error(root / other.source, words, [one, other])


def _number_otherwise(one: ClassFile, other: ClassFile) -> bool:
    """Says whether two files without colors give a value two names, or a name two values."""
    entries = [*one.entries, *other.entries]
    if any(entry.color for entry in entries):
        return False  # colors may be what gives the classes
    name_by_value: dict[int, str] = {}
    value_by_name: dict[str, int] = {}
    for entry in entries:
        if entry.value in _VALUES_OF_SEVERAL_CLASSES:
            continue
        if name_by_value.setdefault(entry.value, entry.name) != entry.name:
            return True
        if value_by_name.setdefault(entry.name, entry.value) != entry.value:
            return True
    return False


def _check_all_have_class_files(
    tree: VocTree, files_by_name: Mapping[str, Sequence[ClassFile]]
) -> None:
    """Checks that all first folders of images have a class file, if one has.

    Raises:
      LayoutError: if one has none.
    """
    sources = [file.source for files in files_by_name.values() for file in files]
    folders_with_file = {first_folder(source) for source in sources}
    for folder in sorted({first_folder(image_id) for image_id in tree.labeled_ids}):
        if sources and folder not in folders_with_file:
            raise LayoutError(
                tree.root / folder,
                found=f"no class file, and {sources[0]} in another folder",
                expected="a class file in each folder, or one for all of them",
                remedy=f"export it again with its class file; or, if all masks mean the same, copy "
                f"{sources[0]} into {tree.root}",
            )


def _read_in_folder(tree: VocTree, folder: epath.Path, path: str) -> ClassFilesOfFolder:
    """Returns the class files of a folder, whose sources begin with its path from the set."""
    found = _read_files(tree, folder)
    files = [dataclasses.replace(file, source=path + file.source) for file in found.files]
    return dataclasses.replace(found, files=files)


def _read_files(tree: VocTree, folder: epath.Path) -> ClassFilesOfFolder:
    """Reads the class files of a folder; if it was listed, only those in the listing."""
    formats = CLASS_FILES
    if tree.listing is not None and folder.is_relative_to(tree.given):
        names = {*files_below(folder, tree.listing, deep=False)}
        formats = tuple(each for each in CLASS_FILES if each.name in names)
    return read_class_files(folder, formats, tree.images, tree.texts.read)


def _unite(root: epath.Path, source: str, files: Sequence[ClassFile]) -> ClassFile:
    """Returns one file with the classes of the files that several splits have.

    Args:
      root: the folder of the set.
      source: the source of the file that is returned.
      files: the files of one name, each with its folder in its source.

    Raises:
      LayoutError: if two of them give a class other values or colors, or one value two classes.
    """
    longest = max(files, key=lambda file: len(file.entries))
    added: dict[ClassEntry, None] = {}  # in place of an ordered set
    first_by_value: dict[int, tuple[ClassEntry, str]] = {}
    first_by_name: dict[str, tuple[ClassEntry, str]] = {}
    for file in files:
        for entry in file.entries:
            found = (entry, file.source)
            earlier = []
            if entry.value not in _VALUES_OF_SEVERAL_CLASSES:
                earlier.append(first_by_value.setdefault(entry.value, found))
            earlier.append(first_by_name.setdefault(entry.name, found))
            for first, source_of_first in earlier:
                if first != entry:
                    difference = _describe_difference(entry, first, source_of_first)
                    raise _splits_contradict_error(root / file.source, difference, files)
            if entry not in longest.entries:
                added[entry] = None
    # Entries of one value, such as void, stay in the order of their files.
    entries = (*longest.entries, *sorted(added, key=lambda entry: entry.value))
    return dataclasses.replace(longest, source=source, entries=entries)


def _describe_difference(entry: ClassEntry, other: ClassEntry, source: str) -> str:
    """Says in what an entry of a file differs from one of the same value or name in another file.

    Args:
      entry: the entry of the file.
      other: the entry of the other file.
      source: the other file.
    """
    if entry.name != other.name:
        names = f"{_name_and_color(entry)}, but {_name_and_color(other)}"
        return f"value {entry.value} is {names} in {source}"
    if entry.value != other.value:
        return f"{entry.name!r} has the value {entry.value}, but {other.value} in {source}"
    return f"{_name_and_color(entry)} differs from {_name_and_color(other)} in {source}"


def _name_and_color(entry: ClassEntry) -> str:
    if entry.color is None:
        return f"{entry.name!r}"
    return f"{entry.name!r} with the color {describe_color(entry.color)}"


def _splits_contradict_error(
    where: epath.Path, words: str, files: Sequence[ClassFile]
) -> LayoutError:
    names = _list_names_of_all(files)
    if names:
        # A question shows only this first line of a reading that is not possible.
        words += f". Build a dataset of each folder, each with {command(class_names=names)}"
    return LayoutError(
        where,
        found=words,
        expected="the same value and color of each class in all folders",
        remedy="export all from one project. Only if the masks of all mean the same, keep "
        "the file that is right, and delete the others",
    )


def _list_names_of_all(files: Sequence[ClassFile]) -> str:
    """Returns the classes that all files have, in the order of the first; empty if they differ."""
    names = [entry.name for entry in files[0].entries if not is_void_name(entry.name)]
    for file in files:
        if {entry.name for entry in file.entries if not is_void_name(entry.name)} != {*names}:
            return ""
    return "" if any("," in name for name in names) else ",".join(names)


def _find_beside_masks(tree: VocTree) -> Sequence[ClassFile]:
    """Returns the class files in the folder of masks."""
    folder = tree.layout.masks
    return [] if folder == "." else _read_in_folder(tree, tree.root / folder, f"{folder}/").files


def _find_above(tree: VocTree) -> Sequence[ClassFile]:
    """Returns the class files of the nearest folder above a set that has any.

    Its source is a path such as `../classes.txt`.
    """
    path_up = ""
    for folder in _folders_above(tree):
        path_up += "../"
        if has_class_file(folder):
            return _read_in_folder(tree, folder, path_up).files
    return []


def _folders_above(tree: VocTree) -> list[epath.Path]:
    """Returns the folders above a set that may have its class file, the nearest first.

    | the set | the folders |
    | --- | --- |
    | lies below the folder that the user gave | all up to that one |
    | was given, and lies alone in its folder, or in a VOCdevkit | that folder |
    | was given, and lies beside other folders | none: class files may belong to these |
    """
    root = epath.Path(tree.root)
    parent = root.parent
    is_below_given = tree.root != tree.given and parent.is_relative_to(tree.given)
    if is_below_given:
        folders = [parent]
        while folders[-1] != tree.given:
            folders.append(folders[-1].parent)
        return folders
    has_other_folders = subfolders(parent) != [root.name]
    if has_other_folders and parent.name.lower() != _DEVKIT:
        return []
    return [parent]


def has_class_file(folder: epath.Path) -> bool:
    """Says whether a folder has a class file that may lie elsewhere than its images."""
    names = [file_format.name for file_format in CLASS_FILES if not file_format.needs_its_folder]
    return any((folder / name).exists() for name in names)


# The table of classes, as a user or `check --write_classes` wrote it.


@dataclasses.dataclass(frozen=True)
class FolderTable:
    """The table of a folder.

    Attributes:
      rows: its rows; none if there is no table, or it is not complete.
      is_complete: whether each row has a class. Otherwise the table is not used.
    """

    rows: Rows = ()
    is_complete: bool = True

    def notes(self, given: GivenClasses) -> list[str]:
        """Says that the table is not used: a row has no class, or keys of it are not given."""
        if not self.is_complete:
            return [f"{TABLE} has rows without a class, so it is not used."]
        if dict(self.rows).keys() <= dict(given.rows).keys():
            return []
        return [f"{TABLE} is not used: --classes {TABLE} reads it."]


def read_folder_table(tree: VocTree) -> FolderTable:
    """Reads the table of a folder, if it has one.

    Raises:
      ConfigError: if the table cannot be read.
    """
    text = read_table(tree.root, tree.texts.read)
    if not text:
        return FolderTable()
    if has_unknown_class(text):
        return FolderTable(is_complete=False)
    return FolderTable(parse_table(text, tree.root / TABLE))


# How to number a class file that gives no values. Its names take values in the order of their lines
# then, and the first one takes value 0. There are two exceptions:
#
# 1. Lists of objects omit the background, which is value 0 or black, unless another class is.
# 2. Some tools write `__ignore__` into the first line and skip it, so the second line is value 0.
#
# The `NumberingOfNames` of a tool's file says which of these hold. For other files both numberings
# are candidates. The user's class names choose one, or else the masks do, by `meaning.rules`.


def list_numberings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns a class file in each way in which it may be numbered, the most usual one first.

    The first row that fits a file counts:

    | the file | its numberings |
    | --- | --- |
    | gives values | as it is |
    | has `__ignore__` first, and its tool lists the background | without that line; as it is |
    | has a background, or another class of value 0 | as it is |
    | its tool omits the background | with background before all names; without |
    | has one name | with background before it |
    | any other | without background; with background before all names |

    At most one of them has `is_preferred_numbering`: it is taken if the masks fit several.

    Args:
      file: the class file, numbered by its lines where it has no values.
      background: the name of the class that is background, if the user gave it.
    """
    has_values = not all(entry.by_place for entry in file.entries)
    if has_values:
        return [file]
    file_format = class_file_named(posixpath.basename(file.source))
    numbering = NumberingOfNames.UNKNOWN if file_format is None else file_format.numbering
    omits_background = numbering == NumberingOfNames.OMITS_BACKGROUND
    has_ignored_first = len(file.entries) > 1 and file.entries[0].name == IGNORED
    if has_ignored_first and not omits_background:
        return _list_numberings_of_ignored(file, numbering)
    if _has_background(file, background):
        return [file]
    if omits_background:
        is_preferred = background_index(file.class_names) is not None
    else:
        is_preferred = numbering == NumberingOfNames.LABELME
    first_name = file.entries[0].name
    without_background = dataclasses.replace(
        file,
        numbering_note=f"{file.source} has no background. Value 0 is {first_name}, its first name.",
        is_preferred_numbering=is_preferred,
    )
    color = BLACK if file.has_colors else None
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
    numberings: Sequence[ClassFile], given: GivenClasses
) -> ClassFile | None:
    """Returns which numbering has the class names that the user gave; None if none has.

    If two have them, `__ignore__` takes value 0 in one alone. This one is meant if the user's first
    name is `__ignore__`.
    """
    fitting = [file for file in numberings if {*file.class_names} == {*given.names_without_void}]
    if len(fitting) < 2:
        return fitting[0] if fitting else None
    value_of_ignored = 0 if given.names[0] == IGNORED else VOID
    for file in fitting:
        first = file.entries[0]
        if first.name == IGNORED and first.value == value_of_ignored:
            return file
    return fitting[0]


def _has_background(file: ClassFile, background: str) -> bool:
    """Says whether a list names the class of value 0, or of black."""
    names = [entry.name for entry in file.entries]
    if background_index(names, background) is not None:
        return True
    if file.has_names_alone:
        return plain(names[0]) in NAMES_OF_VALUE_0
    return any(entry.color == BLACK for entry in file.entries)
