"""Which class file a tree is read by, what if several contradict, its numbers and colours.

In a file of names without values, names count by their lines, and the first is value 0, unless the
tool left something out:

1. Lists of objects, such as those for YOLO, and Supervisely's `colors.txt` do not name background,
   which is value 0 or black then.
2. labelme writes `__ignore__` into the first line and does not count it.

So such a file has two readings. The user's class names choose one, or else the masks do, by the
rule of `masks.meaning`.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, LayoutError
from voc_seg_tfrecord.base.names import VOID, Color, background_index, plain
from voc_seg_tfrecord.base.wording import several
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import IGNORED, ClassFile, is_void
from voc_seg_tfrecord.formats.class_parsers import DATASET, TABLE, Entry
from voc_seg_tfrecord.masks.rows import VOID_CLASS, Rows, has_unknown, parse_file
from voc_seg_tfrecord.own_data import folder_names
from voc_seg_tfrecord.trees.listing import subfolders
from voc_seg_tfrecord.trees.tree import VocTree


def find_class_file(
    tree: VocTree, config: VocSegConfig, *, named: bool = True, background: str = ""
) -> tuple[list[ClassFile], list[str]]:
    """Finds the file that says which value or colour is which class.

    It lies in the tree, in the folder of a split or of the masks, or one level above the tree.
    Several files have to agree. If they do not, the names that the user gave may be those of one
    of them.

    Args:
      tree: the tree.
      config: says the class names.
      named: whether the config's class names are those of the dataset; otherwise they are
        looked for.
      background: name of the class that is background, if the user said so; the config's counts
        only if its class names do.

    Returns:
      The file, in each way in which it may be numbered, and nothing where there is none; of named
      classes one way at most. And notes for the user.

    Raises:
      LayoutError: if a file cannot be read, two contradict, or one has two meanings.
    """
    if file := tree.class_file:
        names, given = {*file.class_names}, {*config.named_classes}
        # A version keeps the numbers of classes that no shape has any more. A second background
        # is refused, because what has no shape is the first one.
        may_have_more = file.by_name and background_index([*(given - names)]) is None
        if named and names != given and not (may_have_more and names < given):
            raise _other_names(file, config)
        return [file], []
    files, others = class_files.read_all(tree.root, tree.images, tree.read_text)
    splits, notes = _of_splits(tree)
    files += splits
    files = files or _beside_masks(tree) or _above(tree, config, named)
    meant = [error for error in others if not error.where.endswith(DATASET)]
    if not files and meant and not named:
        raise meant[0]
    notes += [f"{epath.Path(e.where).name} is not used as a class file: {e.found}." for e in others]
    notes += _table_notes(tree, config)
    if named:
        files, more = _fitting(files, config)
        notes += more
    files = _without_shorter(files, config)
    if not files:
        return [], notes
    ways = [files] if named else _agreeing(files, background)
    if difference := _differences(ways[0]):
        best = _chosen(tree, ways[0], config, named, difference)
        return [best], [*notes, f"Of the class files, {best.source} has the names you gave."]
    chosen = [
        max(numbered, key=lambda file: (file.colored, bool(file.background))) for numbered in ways
    ]
    return chosen, notes + (_order_note(chosen[0], config) if named else [])


def rows_of_tree(tree: VocTree) -> Rows:
    """Returns the rows of the tree's table of classes; none if it has none, or `?` in one.

    Raises:
      ConfigError: if the table cannot be read.
    """
    text = class_files.table_in(tree.root, tree.read_text)
    return parse_file(text, tree.root / TABLE) if text and not has_unknown(text) else ()


def _table_notes(tree: VocTree, config: VocSegConfig) -> list[str]:
    """Returns a note about a table of classes in the tree that is not used."""
    text = class_files.table_in(tree.root, tree.read_text)
    if text and has_unknown(text):
        return [f"{TABLE} has rows without a class, so it is not used."]
    if text and not {key for key, _ in rows_of_tree(tree)} <= {key for key, _ in config.classes}:
        return [f"{TABLE} is not used: --classes {TABLE} reads it."]
    return []


def _of_splits(tree: VocTree) -> tuple[list[ClassFile], list[str]]:
    """Reads the class files in the folders of splits: one of each name, and notes about them."""
    files: dict[str, dict[str, ClassFile]] = {}
    folders = folder_names.find(tree)
    # Names are in the order of the folder with the most; of two, in that of train.
    for folder in sorted(folders, key=lambda name: name != "train"):
        for file in class_files.read_all(tree.root / folder, read=tree.read_text)[0]:
            files.setdefault(file.source, {})[folder] = file
    per_split, notes = [], []
    for source, by_folder in files.items():
        first, *others = by_folder.values()
        if all(file.entries == first.entries for file in others):
            per_split.append(first)
        elif any(entry.color for file in by_folder.values() for entry in file.entries):
            for folder, file in by_folder.items():
                per_split.append(dataclasses.replace(file, source=f"{folder}/{source}"))
        else:
            per_split.append(_merged(tree, source, by_folder))
            how = (
                "masks are read by that of their split" if per_split[-1].folders else "all are used"
            )
            notes.append(f"The splits have different files {source}; {how}.")
            if per_split[-1].folders and len(by_folder) < len(folders):
                raise LayoutError(
                    tree.root,
                    found=f"{source} with different numbers in {', '.join(by_folder)}, and none in "
                    f"{', '.join(name for name in folders if name not in by_folder)}",
                    expected=f"{source} in each split, or one for all",
                    remedy="copy the right one to each split",
                )
    return per_split, notes


def _merged(tree: VocTree, source: str, by_folder: Mapping[str, ClassFile]) -> ClassFile:
    """Returns one file with the names of all splits, which may have numbers of their own."""
    lists = sorted((file.entries for file in by_folder.values()), key=len, reverse=True)
    pairs = {(entry.value, entry.name) for entries in lists for entry in entries}
    names = list(dict.fromkeys(entry.name for entries in lists for entry in entries))
    if len({value for value, _ in pairs}) == len(pairs) == len(names):
        return ClassFile(source, tuple(Entry(value, name) for value, name in sorted(pairs)))
    folders = {f"{tree.masks_of(name)}/": file.entries for name, file in by_folder.items()}
    return ClassFile(source, tuple(itertools.starmap(Entry, enumerate(names))), folders=folders)


def _beside_masks(tree: VocTree) -> list[ClassFile]:
    """Reads the class files in the folder of masks."""
    folder = tree.layout.masks
    if folder == ".":
        return []
    files, _ = class_files.read_all(tree.root / folder, tree.images, tree.read_text)
    return [dataclasses.replace(file, source=f"{folder}/{file.source}") for file in files]


def _above(tree: VocTree, config: VocSegConfig, named: bool) -> list[ClassFile]:
    """Reads the class files above a tree, up to the given folder or one level, as in `VOCdevkit`.

    What lies above the folder that the user gave may belong to other data, if there are more
    folders than the tree's.
    """
    folder, up = epath.Path(tree.root).parent, "../"
    inside = tree.root != tree.given and folder.is_relative_to(tree.given)
    names = [name for name in class_files.NAMES if name != DATASET]
    while not (there := any((folder / name).exists() for name in names)):
        if not inside or folder == tree.given:
            break
        folder, up = folder.parent, f"../{up}"
    alone = inside or subfolders(folder) == [tree.root.name]
    if not there or (not alone and folder.name.lower() != "vocdevkit"):
        return []
    files, _ = class_files.read_all(folder, read=tree.read_text)
    files = [dataclasses.replace(file, source=up + file.source) for file in files]
    if named:
        files = [f for f in files if {*f.class_names} == {*config.named_classes}]
    return files


def _fitting(files: list[ClassFile], config: VocSegConfig) -> tuple[list[ClassFile], list[str]]:
    """Returns the files that have the names that the user gave, and notes about the others.

    Raises:
      ConfigError: if a file with values or colours has only some of the names, at other values.
    """
    fit, notes = [], []
    for file in files:
        fitting = _of_given_names(numberings(file, config.background), config)
        if fitting is not None:
            fit.append(fitting)
        elif not file.plain and _contradicts(file, config.class_names):
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


def _contradicts(file: ClassFile, names: Sequence[str]) -> bool:
    """Says whether a name has another value in a class file than its place among given names."""
    places = {name: place for place, name in enumerate(names)}
    return any(places.get(entry.name, entry.value) != entry.value for entry in file.entries)


def _agreeing(files: Sequence[ClassFile], background: str) -> list[list[ClassFile]]:
    """Returns the readings of each file in which all files agree: the usual ones if none agree."""
    ways = itertools.product(*(numberings(file, background) for file in files))
    first, *others = (list(numbered) for numbered in ways)
    agreeing = [numbered for numbered in (first, *others) if not _differences(numbered)]
    return agreeing or [first]


def _differences(files: Sequence[ClassFile]) -> str:
    """Says in what the first file contradicts another; empty if it does not."""
    return next(filter(None, (_difference(files[0], other) for other in files[1:])), "")


def _order_note(file: ClassFile, config: VocSegConfig) -> list[str]:
    """Says who wins if the user gave a file's names in another order, background in front apart."""
    names, given = list(file.class_names), list(config.named_classes)
    if background_index(given, config.background) == 0:
        names = [given[0], *(name for name in names if name != given[0])]
    if names == given or set(names) != set(given):
        return []
    return [
        f"{file.source} says which value or colour each name has. The order of your class names is "
        "that of the dataset."
    ]


def _without_shorter(files: list[ClassFile], config: VocSegConfig) -> list[ClassFile]:
    """Leaves out lists that are those of another file without its background at 0."""
    names = {file.source: file.class_names for file in files}
    longer = [
        file_names[1:]
        for file_names in names.values()
        if background_index(file_names, config.background) == 0
    ]
    return [file for file in files if not (file.plain and names[file.source] in longer)]


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
            return (
                f"{name!r} has the colour {_text(entry)} in {one.source} and "
                f"{_text(others[name])} in {other.source}"
            )
    return ""


def _text(entry: Entry) -> str:
    return ",".join(map(str, entry.color or ()))


def _chosen(
    tree: VocTree,
    files: Sequence[ClassFile],
    config: VocSegConfig,
    named: bool,
    difference: str,
) -> ClassFile:
    """Returns the one of several files that has the names that the user gave, in their order."""
    names = {file.source: file.class_names for file in files}
    if named:
        same = [file for file in files if names[file.source] == config.named_classes]
        if same and not any(_difference(same[0], file) for file in same):
            return max(same, key=lambda file: file.colored)
    lines = [f"{source}: {', '.join(of_source[:_SHOWN])}" for source, of_source in names.items()]
    raise LayoutError(
        tree.root,
        found=f"{len(files)} class files that contradict, because {difference}:"
        + "".join(f"\n    {line}" for line in lines),
        expected="one class file, or files that agree",
        remedy="delete or rename the wrong one, or give the names of the right one, in its order, "
        "with --class_names",
    )


def class_colors(class_file: ClassFile | None, config: VocSegConfig) -> dict[int, Color]:
    """Returns the colour of each class index, and of 255 if the file has one for void.

    A class that was merged has the colour of the class of its name, or else of the first of its
    classes in the file.

    Returns:
      The colours; none if no file has them.
    """
    if class_file is None or not class_file.colored:
        return {}
    table = config.table
    first: dict[int, Color] = {}
    same: dict[int, Color] = {}
    for entry in class_file.entries:
        color = entry.color or (0, 0, 0)  # each has one
        name = VOID_CLASS if is_void(entry) else table.target(entry.name)
        if name != VOID_CLASS and name not in table.class_names:
            continue
        first.setdefault(table.index(name), color)
        if name == entry.name:
            same[table.index(name)] = color
    return first | same


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


def _of_given_names(files: Sequence[ClassFile], config: VocSegConfig) -> ClassFile | None:
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
