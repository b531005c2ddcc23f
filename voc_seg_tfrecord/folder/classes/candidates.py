"""The class files of a folder, each in the ways in which it may be numbered.

They lie in the folder of the set, or of a split or part of it. If there is none, those in the
folder of the masks count, and else those above the set.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
import dataclasses
import posixpath
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void_name
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.names import VOID, describe_color
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.by_content import find_by_content
from voc_seg_tfrecord.folder.classes.numbering import list_numberings
from voc_seg_tfrecord.folder.splits.folders import SplitFolders, first_folder
from voc_seg_tfrecord.folder.tree.listing import Listing, subfolders
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree, path_below_given
from voc_seg_tfrecord.tools.class_file import ClassFile, read_class_files
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, CLASS_FILES

_LOWER_CASE_NAMES = frozenset(name.lower() for name in CLASS_FILE_NAMES)

_DEVKIT = "vocdevkit"  # VOC's folder of all releases, in small letters

_VALUES_OF_SEVERAL_CLASSES = (-1, VOID)
"""Values that a class file may give to several classes: no value, and void."""


@dataclasses.dataclass(frozen=True)
class ClassFileCandidate:
    """A class file, in one of the ways in which it may be numbered.

    Attributes:
      file: the class file.
      position: its position among all candidates, in the order in which the files are searched.
    """

    file: ClassFile
    position: int

    @property
    def source(self) -> str:
        """The file's name, with its folder if that is not the one of the set."""
        return self.file.source


@dataclasses.dataclass(frozen=True)
class FoundClassFiles:
    """The class files of a folder, numbered by their lines where they have no values.

    Attributes:
      files: the files, in the order in which they are looked for.
      misnamed: what is wrong with files in the set's folder that are named as class files and hold
        something else. Those in other folders are reported as unused files.
      notes: what the user should know.
    """

    files: Sequence[ClassFile]
    misnamed: Sequence[LayoutError]
    notes: Sequence[str]


def list_candidates(files: Sequence[ClassFile], background: str = "") -> list[ClassFileCandidate]:
    """Returns each class file in each way in which it may be numbered.

    Args:
      files: the class files.
      background: the name of the class that is background, if the user gave it.
    """
    numberings = []
    for file in files:
        numberings += list_numberings(file, background)
    return as_candidates(numberings)


def as_candidates(files: Iterable[ClassFile]) -> list[ClassFileCandidate]:
    """Returns numbered class files as candidates, in their order."""
    return [ClassFileCandidate(file, position) for position, file in enumerate(files)]


def find_class_files(tree: VocTree) -> FoundClassFiles:
    """Finds the class files of a set; if none has a known name, those that `by_content` finds.

    Args:
      tree: the set.

    Raises:
      LayoutError: if a file cannot be read that only a labeling tool writes, or if the files of two
        splits contradict each other.
    """
    in_root = read_class_files(tree.root, CLASS_FILES, tree.images, tree.texts.read)
    in_splits = _find_in_splits(tree, {file.source for file in in_root.files})
    files = [*in_root.files, *in_splits.files]
    if not files:
        files = _find_beside_masks(tree)
    if not files:
        files = _find_above(tree)
    if not files:
        files = find_by_content(tree)
    return FoundClassFiles(files, in_root.misnamed, in_splits.notes)


def list_folders_of_class_files(tree: VocTree) -> Sequence[str]:
    """Returns the folders, below the root of a set, of which each may have its class file.

    They are those of splits; or those between the root and the images, if the first of these have
    nothing in common: `anna` and `anna/train` of `anna/train/1.jpg`.
    """
    folders = SplitFolders(tree).dividing_first_folders
    if folders or tree.listing is None or tree.layout.images != ".":
        return folders
    folders_of_images = {posixpath.dirname(name) for name in tree.images.values()}
    if len({first_folder(folder) for folder in folders_of_images}) < 2:
        return ()
    above_images: set[str] = set()
    for folder in folders_of_images:
        while folder and folder not in above_images:
            above_images.add(folder)
            folder = posixpath.dirname(folder)
    return sorted(folder for folder in above_images if _lists_class_file(tree, folder))


def _lists_class_file(tree: VocTree, folder: str) -> bool:
    """Says whether a folder lists a file called as a class file; of many folders, few do."""
    path = path_below_given(tree, folder)
    names = cast(Listing, tree.listing).files_by_folder.get(path, ())
    return any(name.lower() in _LOWER_CASE_NAMES for name in names)


@dataclasses.dataclass(frozen=True)
class _ClassFilesOfSplits:
    """The class files in the folders of splits, those of one name as one; and notes on them."""

    files: Sequence[ClassFile]
    notes: Sequence[str]


def _find_in_splits(tree: VocTree, names_in_root: Container[str]) -> _ClassFilesOfSplits:
    """Finds the class files in the folders of splits.

    Args:
      tree: the folder.
      names_in_root: the names of the class files beside these folders. A file of such a name keeps
        its folder in its source, such as `train/classes.txt`, because it is another file.
    """
    files_by_name: dict[str, list[ClassFile]] = {}
    folders = list_folders_of_class_files(tree)
    for folder in folders:
        in_folder = read_class_files(tree.root / folder, CLASS_FILES, read=tree.texts.read)
        for file in in_folder.files:
            of_split = _with_prefix(f"{folder}/", file)
            files_by_name.setdefault(file.source, []).append(of_split)
    if not SplitFolders(tree).dividing_first_folders:
        _check_all_have_class_files(tree, files_by_name)
    united = []
    notes = []
    for name, files in files_by_name.items():
        source = files[0].source if name in names_in_root else name
        united.append(_unite(tree.root, source, files))
        if len({file.entries for file in files}) > 1:
            notes.append(f"The splits have different files {name}; all are used.")
    return _ClassFilesOfSplits(united, notes)


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


def _with_prefix(prefix: str, file: ClassFile) -> ClassFile:
    """Returns a file whose source is a path with its folder."""
    return dataclasses.replace(file, source=prefix + file.source)


def _unite(root: epath.Path, source: str, files: Sequence[ClassFile]) -> ClassFile:
    """Returns one file with the classes of the files that several splits have.

    Args:
      root: the folder of the set.
      source: the source of the file that is returned.
      files: the files of one name, each with its folder in its source.

    Raises:
      LayoutError: if two of them give a class other values or colors, or one value two classes.
    """
    _check_splits_agree(root, files)
    longest = max(files, key=lambda file: len(file.entries))
    added: dict[ClassEntry, None] = {}  # in place of an ordered set
    for file in files:
        for entry in file.entries:
            if entry not in longest.entries:
                added[entry] = None
    # Entries of one value, such as void, stay in the order of their files.
    entries = (*longest.entries, *sorted(added, key=lambda entry: entry.value))
    return dataclasses.replace(longest, source=source, entries=entries)


def _check_splits_agree(root: epath.Path, files: Sequence[ClassFile]) -> None:
    """Checks that the class files of several splits give each class and value one meaning.

    Raises:
      LayoutError: about the first entry that differs from an earlier one of its value or name.
    """
    first_by_value: dict[int, _EntryOfFile] = {}
    first_by_name: dict[str, _EntryOfFile] = {}
    for file in files:
        for entry in file.entries:
            entry_of_file = _EntryOfFile(entry, file.source)
            if entry.value not in _VALUES_OF_SEVERAL_CLASSES:
                first = first_by_value.setdefault(entry.value, entry_of_file)
                if first.entry != entry:
                    raise _splits_contradict_error(root, files, entry_of_file, first)
            first = first_by_name.setdefault(entry.name, entry_of_file)
            if first.entry != entry:
                raise _splits_contradict_error(root, files, entry_of_file, first)


@dataclasses.dataclass(frozen=True)
class _EntryOfFile:
    """A class, and the class file that has it."""

    entry: ClassEntry
    source: str


def _splits_contradict_error(
    root: epath.Path, files: Sequence[ClassFile], later: _EntryOfFile, first: _EntryOfFile
) -> LayoutError:
    found = f"{_describe_entry(later.entry)}, and {_describe_entry(first.entry)} in {first.source}"
    names = _list_names_of_all(files)
    if names:
        # A question shows only this first line of a reading that is not possible.
        found += f". To number both by names, build each alone with {command(class_names=names)}"
    return LayoutError(
        root / later.source,
        found=found,
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


def _describe_entry(entry: ClassEntry) -> str:
    words = f"{entry.name!r} with the value {entry.value}"
    if entry.color:
        words += f" and the color {describe_color(entry.color)}"
    return words


def _find_beside_masks(tree: VocTree) -> list[ClassFile]:
    """Returns the class files in the folder of masks."""
    folder = tree.layout.masks
    if folder == ".":
        return []
    in_folder = read_class_files(tree.root / folder, CLASS_FILES, tree.images, tree.texts.read)
    return [_with_prefix(f"{folder}/", file) for file in in_folder.files]


def _find_above(tree: VocTree) -> list[ClassFile]:
    """Returns the class files of the nearest folder above a set that has any.

    Its source is a path such as `../classes.txt`.
    """
    path_up = ""
    for folder in _folders_above(tree):
        path_up += "../"
        if has_class_file(folder):
            in_folder = read_class_files(folder, CLASS_FILES, read=tree.texts.read)
            return [_with_prefix(path_up, file) for file in in_folder.files]
    return []


def _folders_above(tree: VocTree) -> list[epath.Path]:
    """Returns the folders above a set that may have its class file, the nearest first.

    If the set lies below the folder that the user gave, these are all folders up to that one.

    If the user gave the set itself, it is the folder above it, unless this one has other folders
    too: then its files may belong to other data, and are not read. A VOCdevkit is the exception.
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
    for file_format in CLASS_FILES:
        if not file_format.needs_its_folder and (folder / file_format.name).exists():
            return True
    return False
