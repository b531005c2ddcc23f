"""Which value each name of a class file has, if the file holds names and no values.

Names count by their lines, and the first is value 0, unless the tool left something out:

1. Lists of objects, such as those for YOLO, and Supervisely's `colors.txt` do not name background,
   which is value 0 or black then.
2. labelme writes `__ignore__` into the first line and does not count it.

So such a file has two readings. The user's class names choose one, or else the masks do: a reading
loses if a mask has a value or colour without a class, or if a class of it is in no mask while the
other uses all its classes. If both are possible and differ, the user is asked.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath
from typing import get_args

from voc_seg_tfrecord.base.errors import LayoutError, VocSegError
from voc_seg_tfrecord.base.names import VOC_NUMBERS, VOID, background_index, plain
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import IGNORED, ClassFile, is_void_name
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.decide import decide
from voc_seg_tfrecord.masks.question import Question, void_colors
from voc_seg_tfrecord.masks.rule import AS_SAID, By, make_rule
from voc_seg_tfrecord.masks.survey import Survey
from voc_seg_tfrecord.trees.tree import VocTree

# Names of value 0 in lists that need no background.
_AS_BACKGROUND = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")

_BLACK = (0, 0, 0)

_OF_LABELME = "class_names.txt"


def readings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns the ways in which a class file may be numbered, the usual one first.

    Args:
      file: the file, numbered by its lines.
      background: name of the class that is background, if the user said so.
    """
    first = file.entries[0].name
    if not all(entry.by_place for entry in file.entries):
        return [file]
    names = file.class_names(())
    if _is_supervisely(file):
        colors = [entry.color for entry in file.entries]
        listed = _BLACK in colors or "background" in names
        return [file] if listed else [_with_background(file, "background"), _from_0(file)]
    if _ignores_first(file):
        return [_as_labelme(file), _by_line(file)]
    listed = plain(first) in _AS_BACKGROUND or background_index(names, background) is not None
    if not file.plain or listed:
        return [file]
    return [_from_0(file), _with_background(file, "background")]


def _is_supervisely(file: ClassFile) -> bool:
    """Says whether a file is one in which black may be background without being listed."""
    return posixpath.basename(file.source) == "colors.txt"


def _ignores_first(file: ClassFile) -> bool:
    """Says whether labelme would not count the first line of a file."""
    listed = len(file.entries) > 1 and file.entries[0].name == IGNORED
    return listed and not _is_supervisely(file)


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
    own = (_OF_LABELME,) if alone else (_OF_LABELME, "labels.txt")
    named = posixpath.basename(file.source) in own
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


def _with_background(file: ClassFile, name: str) -> ClassFile:
    """Returns a file with background at value 0, before all names."""
    color = _BLACK if file.colored else None
    moved = [dataclasses.replace(entry, value=entry.value + 1) for entry in file.entries]
    return dataclasses.replace(
        file,
        entries=(Entry(0, name, color, by_place=True), *moved),
        numbered=f"{file.source} has no background, so value 0 is {name}, and value 1 is "
        f"{file.entries[0].name}, its first name.",
    )


def by_given_names(file: ClassFile, config: VocSegConfig) -> ClassFile:
    """Returns the reading of a file that the user's class names mean, as they would alone.

    A list without background is that of the given names after their first one, which is
    background then.
    """
    given, names = config.named_classes, file.class_names(config.void)
    if file.plain and given[1:] == names and background_index(given, config.background) == 0:
        return _with_background(file, given[0])
    ways = readings(file, config.background)
    if len(ways) == 1:
        return file
    if _ignores_first(file):
        return ways[config.class_names[0] == IGNORED]
    order = tuple if file.plain else frozenset  # a list of names in another order is not used
    same = [way for way in ways if order(way.class_names(config.void)) == order(given)]
    if same:  # of two, background is there if the user called it void
        there = is_void_name("background", config.void)
        return (max if there else min)(same, key=lambda way: len(way.entries))
    as_many = len(names) == len(given) and config.values is None
    return file if file.plain or as_many else ways[0]


def by_masks(tree: VocTree, files: Sequence[ClassFile], config: VocSegConfig) -> ClassFile:
    """Returns the one of a class file's readings that the masks fit.

    Args:
      tree: the tree.
      files: the readings, the usual one first; see `readings`.
      config: says what is void, and by what masks are read; its class names do not count.

    Raises:
      LayoutError: if several are possible and differ.
    """
    listed = min(files, key=lambda file: len(file.entries))
    if len(listed.entries) == 1:  # the one name of a list is no background
        return max(files, key=lambda file: len(file.entries))
    found = tree.survey(tree.masks, all_colors=True, void=void_colors(config.void))
    meant = [_meaning(found, file, config) for file in files]
    fitting = {i: used for i, used in enumerate(meant) if used and None not in used.values()}
    lacking = {
        i: {*files[i].class_names(config.void)} - {*used.values()} for i, used in fitting.items()
    }
    full = [i for i in fitting if not lacking[i]]
    if len(full) == 1 or not fitting:
        return files[full[0] if full else 0]
    first, *others = fitting.values()
    if None not in meant and all(used == first for used in others):
        return files[min(fitting, key=lambda i: len(lacking[i]))]
    usual = _usual(files, listed)
    if usual is not None and usual in fitting:
        return files[usual]
    raise _ask(tree, listed, found)


def _usual(files: Sequence[ClassFile], listed: ClassFile) -> int | None:
    """Returns which reading a file has if nothing speaks against it; None if there is none."""
    if _ignores_first(listed):
        return 0 if _is_labelme(listed) else None
    if _is_supervisely(listed):
        return None if background_index(listed.class_names(())) is None else files.index(listed)
    return 0 if posixpath.basename(listed.source) == _OF_LABELME else None


def _meaning(
    found: Survey, file: ClassFile, config: VocSegConfig
) -> Mapping[object, str | int | None] | None:
    """Returns the class name, 255, or None where there is none, of all that the masks use.

    It is None if it cannot be decided whether values or colours count.
    """
    try:
        return _read_by(found, file, config, config.masks_by)
    except VocSegError:
        pass
    for by in get_args(By):
        try:
            if None not in _read_by(found, file, config, by).values():
                return None
        except VocSegError:
            continue
    return {"nothing": None}


def _read_by(
    found: Survey, file: ClassFile, config: VocSegConfig, by: By | None
) -> dict[object, str | int | None]:
    """Returns what `_meaning` does, if the user said by what masks are read, or nothing."""
    said = config.values is not None  # then values have their own meaning
    void = [v for v in config.void if not (said and isinstance(v, int))]
    names = file.class_names(void)
    question = Question(found, names, file, config.void)
    decision = AS_SAID if said else decide(question, by)
    rule = make_rule(names, file, decision, values=config.values, void=config.void)
    used: dict[object, int | None] = {c: rule.class_of("rgb", color=c) for c in found.colors}
    used |= {value: rule.class_of("grey", value) for value in found.greys}
    used |= {pair: rule.class_of("palette", *pair) for pair in found.pairs}
    name_of: dict[int | None, str | int | None] = {None: None, VOID: VOID}
    name_of |= enumerate(names)
    return {key: name_of.get(index) for key, index in used.items()}


def _ask(tree: VocTree, file: ClassFile, found: Survey) -> LayoutError:
    """Both readings of a file are possible, and differ."""
    used = found.greys.keys() | {value for value, _ in found.pairs}
    used |= {c[0] if len({*c}) == 1 else VOC_NUMBERS.get(c, VOID) for c in found.colors}
    held = f"while the masks have the values {', '.join(map(str, sorted(used)))}"
    first, *others = (entry.name for entry in file.entries)
    shown, rest = ",".join([first, *others]), ",".join(others)
    if _ignores_first(file):
        return LayoutError(
            tree.root / file.source,
            found=f"{IGNORED} in the first line, and no values, {held}. So value 0 may be void, or "
            f"{others[0]}, if {IGNORED} does not count, as labelme writes it",
            expected="a file with values, or masks that only one of the two fits",
            remedy=f"say --class_names {shown} if value 0 is void, or --class_names {rest} if "
            f"value 0 is {others[0]}",
        )
    return LayoutError(
        tree.root / file.source,
        found=f"{len(others) + 1} names and no background, {held}. So value 0 may be {first}, or a "
        "background that is not in the list",
        expected="a list that starts with the name of value 0",
        remedy=f"say --class_names {shown} if value 0 is {first}, or --class_names "
        f"background,{shown} if it is background; or write background in the first line",
    )
