"""Which class file a set is read by, and what if several contradict; and its colours."""

from collections.abc import Sequence
import contextlib
import dataclasses
import itertools

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, LayoutError, VocSegError, several
from voc_seg_tfrecord.base.names import Color, background_index
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.folder.classes import numberings, of_given_names
from voc_seg_tfrecord.folder.question import Alternative, Choice, QuestionError
from voc_seg_tfrecord.folder.splits.folders import SplitFolders
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import ClassFile, is_void
from voc_seg_tfrecord.formats.class_parsers import DATASET, TABLE, Entry
from voc_seg_tfrecord.masks.table import VOID_CLASS, Rows, has_unknown, parse_file
from voc_seg_tfrecord.trees.listing import subfolders
from voc_seg_tfrecord.trees.tree import VocTree

CONTRADICT = "class files that contradict"
"""The kind of the question which of several class files is right."""


class ClassFiles:
    """The files of a set that say which value or colour is which class.

    They lie in the tree, in the folder of a split or of the masks, or one level above the tree.

    Args:
      tree: the set.
      config: says the class names and rows.
    """

    def __init__(self, tree: VocTree, config: VocSegConfig):
        self._tree, self._config = tree, config

    def find(self, *, named: bool = True, background: str = "") -> Choice[list[ClassFile]]:
        """Finds the one that counts.

        Several files have to agree. If they do not, the names that the user gave may be those of
        one of them.

        Args:
          named: whether the config has the names of the classes; otherwise they are looked for.
          background: then the name of the class that is background, if the user said so.

        Returns:
          The file, in each way in which it may be numbered, and nothing where there is none; of
          named classes one way at most. And notes for the user.

        Raises:
          LayoutError: if a file cannot be read, two contradict, or one has two meanings.
        """
        config = self._config
        if file := self._tree.labels.class_file:
            names, given = {*file.class_names}, {*config.named_classes}
            # A version keeps the numbers of classes that no shape has any more. A second background
            # is refused, because what has no shape is the first one.
            may_have_more = file.by_name and background_index([*(given - names)]) is None
            if named and names != given and not (may_have_more and names < given):
                raise _other_names(file, config)
            return Choice([file])
        files, notes = self._read_all(named)
        if named:
            files, more = _fitting(files, config)
            notes += more
        if not files:
            return Choice([], notes)
        ways = [files] if named else _agreeing(files, background)
        if difference := _differences(ways[0]):
            if not (best := _chosen(ways[0], config) if named else None):
                raise _question(self._tree.given, ways[0], config, difference)
            notes.append(f"Of the class files, {best.source} has the names you gave.")
            return Choice([best], notes)
        chosen = [max(of, key=lambda file: (file.colored, bool(file.background))) for of in ways]
        return Choice(chosen, notes + (_order_note(chosen[0], config) if named else []))

    def rows(self) -> Rows:
        """Returns the rows of the set's table of classes; none if it has none, or `?` in one.

        Raises:
          ConfigError: if the table cannot be read.
        """
        text = class_files.table_in(self._tree.root, self._tree.read_text)
        return parse_file(text, self._tree.root / TABLE) if text and not has_unknown(text) else ()

    def _read_all(self, named: bool) -> tuple[list[ClassFile], list[str]]:
        """Returns all files that say something of the set's classes, and notes."""
        tree = self._tree
        files, others = class_files.read_all(tree.root, tree.images, tree.read_text)
        splits, notes = self._of_splits()
        files += splits
        files = files or self._beside_masks() or self._above(named)
        meant = [error for error in others if not error.where.endswith(DATASET)]
        if not files and meant and not named:
            raise meant[0]
        for error in others:
            name = epath.Path(error.where).name
            notes.append(f"{name} is not used as a class file: {error.found}.")
        text = class_files.table_in(tree.root, tree.read_text)
        if text and has_unknown(text):
            notes.append(f"{TABLE} has rows without a class, so it is not used.")
        elif not {key for key, _ in self.rows()} <= {key for key, _ in self._config.classes}:
            notes.append(f"{TABLE} is not used: --classes {TABLE} reads it.")
        return files, notes

    def _of_splits(self) -> tuple[list[ClassFile], list[str]]:
        """Reads the class files in the folders of splits: one of each name; and notes."""
        tree, notes = self._tree, list[str]()
        files: dict[str, list[ClassFile]] = {}
        for folder in SplitFolders(tree).names:
            for file in class_files.read_all(tree.root / folder, read=tree.read_text)[0]:
                named = dataclasses.replace(file, source=f"{folder}/{file.source}")
                files.setdefault(file.source, []).append(named)
        for source, of_splits in files.items():
            if len({file.entries for file in of_splits}) > 1:
                notes.append(f"The splits have different files {source}; all are used.")
        return [_united(tree.root, source, of) for source, of in files.items()], notes

    def _beside_masks(self) -> list[ClassFile]:
        """Reads the class files in the folder of masks."""
        folder = self._tree.layout.masks
        if folder == ".":
            return []
        tree = self._tree
        files, _ = class_files.read_all(tree.root / folder, tree.images, tree.read_text)
        return [dataclasses.replace(file, source=f"{folder}/{file.source}") for file in files]

    def _above(self, named: bool) -> list[ClassFile]:
        """Reads the class files above a set, up to the given folder or one level.

        What lies above the folder that the user gave may belong to other data, if there are more
        folders than the tree's.
        """
        folder, up = epath.Path(self._tree.root).parent, "../"
        inside = self._tree.root != self._tree.given and folder.is_relative_to(self._tree.given)
        names = [name for name in class_files.NAMES if name != DATASET]
        while not (there := any((folder / name).exists() for name in names)):
            if not inside or folder == self._tree.given:
                break
            folder, up = folder.parent, f"../{up}"
        alone = inside or subfolders(folder) == [self._tree.root.name]
        if not there or (not alone and folder.name.lower() != "vocdevkit"):
            return []
        files, _ = class_files.read_all(folder, read=self._tree.read_text)
        files = [dataclasses.replace(file, source=up + file.source) for file in files]
        if named:
            files = [f for f in files if {*f.class_names} == {*self._config.named_classes}]
        return files


def _united(root: epath.Path, source: str, files: Sequence[ClassFile]) -> ClassFile:
    """Returns one file with the classes of the files that several splits have.

    Raises:
      LayoutError: if two of them give a class other values or colours, or one value two classes.
    """
    entries: dict[int | str, tuple[Entry, str]] = {}
    for file in files:
        for entry in file.entries:
            for key in (entry.value, entry.name):
                other, where = entries.setdefault(key, (entry, file.source))
                if other != entry:
                    raise LayoutError(
                        root / file.source,
                        found=f"{_shown(entry)}, and {_shown(other)} in {where}",
                        expected="the same value and colour of each class in all splits",
                        remedy="export all splits from one project. Only if the masks of all mean "
                        "the same, keep the file that is right, and delete the others",
                    )
    first = max(files, key=lambda file: len(file.entries))
    others = [of for key, (of, _) in entries.items() if key == of.value and of not in first.entries]
    every = (*first.entries, *sorted(others, key=lambda of: of.value))
    return dataclasses.replace(first, source=source, entries=every)


def _shown(entry: Entry) -> str:
    color = f" and the colour {','.join(map(str, entry.color))}" if entry.color else ""
    return f"{entry.name!r} with the value {entry.value}{color}"


def _fitting(files: list[ClassFile], config: VocSegConfig) -> tuple[list[ClassFile], list[str]]:
    """Returns the files that have the names that the user gave, and notes about the others.

    Raises:
      ConfigError: if a file with values or colours has only some of the names, at other values.
    """
    fit, notes = [], []
    places = {name: place for place, name in enumerate(config.class_names)}
    for file in files:
        fitting = of_given_names(numberings(file, config.background), config)
        if fitting is not None:
            fit.append(fitting)
        elif not file.plain and any(
            places.get(entry.name, entry.value) != entry.value for entry in file.entries
        ):
            raise _other_names(file, config)
        else:
            notes.append(f"{file.source} has other class names than you gave; it is not used.")
    return fit, notes


_SHOWN = 24


def _other_names(file: ClassFile, config: VocSegConfig) -> ConfigError:
    names = config.named_classes
    return ConfigError(
        "option class_names",
        found=f"{len(names)} names: {several(names, _SHOWN)}",
        expected=f"the {len(file.class_names)} names in {file.source}: "
        f"{several(file.class_names, _SHOWN)}",
        remedy="give these names, in the order that you want, and say what they become with "
        "--classes OLD=NEW",
    )


def _agreeing(files: Sequence[ClassFile], background: str) -> list[list[ClassFile]]:
    """Returns the readings of each file in which all files agree: the usual ones if none agree."""
    ways = [*map(list, itertools.product(*(numberings(file, background) for file in files)))]
    return [numbered for numbered in ways if not _differences(numbered)] or ways[:1]


def _differences(files: Sequence[ClassFile]) -> str:
    """Says in what the first file contradicts another; empty if it does not."""
    return next(filter(None, (_difference(files[0], other) for other in files[1:])), "")


def _order_note(file: ClassFile, config: VocSegConfig) -> list[str]:
    """Says who wins if the user gave a file's names in another order, background in front apart."""
    names, given = list(file.class_names), list(config.named_classes)
    if background_index(given, config.background) == 0:
        names = [given[0], *(name for name in names if name != given[0])]
    if names == given or {*names} != {*given}:
        return []
    return [
        f"{file.source} says which value or colour each name has. The order of your class names is "
        "that of the dataset."
    ]


def _difference(one: ClassFile, other: ClassFile) -> str:
    """Says in what two class files contradict; empty if they agree, or one only says more."""
    by_name, others = (
        {entry.name: entry for entry in file.entries if not is_void(entry)} for file in (one, other)
    )
    for name in [*by_name, *others]:
        if name not in others or name not in by_name:
            where, not_in = (one, other) if name in by_name else (other, one)
            return f"{name!r} is in {where.source} and not in {not_in.source}"
    for name, entry in by_name.items():
        if entry.value != others[name].value:
            return (
                f"{name!r} has the value {entry.value} in {one.source} and "
                f"{others[name].value} in {other.source}"
            )
        if entry.color and others[name].color and entry.color != others[name].color:
            ours, theirs = (",".join(map(str, e.color or ())) for e in (entry, others[name]))
            return f"{name!r} has the colour {ours} in {one.source} and {theirs} in {other.source}"
    return ""


def _chosen(files: Sequence[ClassFile], config: VocSegConfig) -> ClassFile | None:
    """Returns the one of several files that has the names that the user gave, in their order."""
    same = [file for file in files if file.class_names == config.named_classes]
    if not same or any(_difference(same[0], file) for file in same):
        return None
    return max(same, key=lambda file: file.colored)


def _question(
    where: epath.Path, files: Sequence[ClassFile], config: VocSegConfig, difference: str
) -> LayoutError:
    """Returns the question which of several class files is right: a line for each."""
    shown = (f"{file.source}: {', '.join(file.class_names[:_SHOWN])}" for file in files)
    return QuestionError(
        where,
        [_alternative(text, f, files, config) for text, f in zip(shown, files, strict=True)],
        to=f"name the classes by class files, because {difference}",
        expected="one class file, or files that agree",
        kind=CONTRADICT,
    )


def _alternative(
    words: str, file: ClassFile, files: Sequence[ClassFile], config: VocSegConfig
) -> Alternative:
    """Returns the alternative that one of several class files is, by an option or by hand."""
    with contextlib.suppress(VocSegError):
        said = dataclasses.replace(config, class_names=file.class_names)
        fitting = _fitting([*files], said)[0]
        best = _chosen(fitting, said) if _differences(fitting) else fitting[0]
        if best and not _difference(best, file) and "," not in "".join(file.class_names):
            return Alternative(words, {"class_names": [*file.class_names]})
    return Alternative(words, {}, "rename or delete the other files")


def class_colors(class_file: ClassFile | None, config: VocSegConfig) -> dict[int, Color]:
    """Returns the colour of each class index, and of 255 if the file has one for void.

    A class that was merged has the colour of the class of its name, or else of the first of its
    classes in the file. Nothing has one if no file has them.
    """
    if class_file is None or not class_file.colored:
        return {}
    table = config.table
    first, same = dict[int, Color](), dict[int, Color]()
    for entry in class_file.entries:
        color = entry.color or (0, 0, 0)  # each has one
        name = VOID_CLASS if is_void(entry) else table.target(entry.name)
        if name != VOID_CLASS and name not in table.class_names:
            continue
        first.setdefault(table.index(name), color)
        if name == entry.name:
            same[table.index(name)] = color
    return first | same
