"""The names of a tree's classes, in which ways a file may number them, and what its masks mean."""

from collections.abc import Collection, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, command
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOID, background_index, plain
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import (
    IGNORED,
    VOID_NAMES,
    ClassFile,
    is_void,
    is_void_name,
    may_be_void,
)
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks import meaning
from voc_seg_tfrecord.masks.meaning import Decision
from voc_seg_tfrecord.masks.readings import Naming, readings
from voc_seg_tfrecord.masks.table import (
    VOID_CLASS,
    ClassTable,
    Key,
    Rows,
    are_whole,
    color_key,
    is_name,
    table_error,
)
from voc_seg_tfrecord.trees.layout import Layout
from voc_seg_tfrecord.trees.pair import Labels

# Names of value 0 in lists that need no background.
_AS_BACKGROUND = ("unlabeled", "unlabelled", "other", "none", "void", "ignore", "ignored")

_BLACK = (0, 0, 0)

_OF_LABELME = "class_names.txt"


def numberings(file: ClassFile, background: str = "") -> list[ClassFile]:
    """Returns the ways in which a class file may be numbered, the usual one first.

    In a file of names without values, names count by their lines, and the first is value 0, unless
    the tool left something out:

    1. Lists of objects, such as those for YOLO, and Supervisely's `colors.txt` do not name
       background, which is value 0 or black then, unless another name is.
    2. labelme writes `__ignore__` into the first line and does not count it.

    So such a file has two readings. The user's class names choose one, or else the masks do, by the
    rule of `masks.meaning`. The user may have said which class is background.
    """
    names = [entry.name for entry in file.entries]
    if not all(entry.by_place for entry in file.entries):
        return [file]
    if _ignores_first(file):
        note = (
            f"{IGNORED} in the first line of {file.source} counts. So value 0 is void, and value 1 "
            f"is {names[1]}."
        )
        return [_as_labelme(file), dataclasses.replace(file, numbered=note)]
    has_background = (
        (file.plain and plain(names[0]) in _AS_BACKGROUND)
        or background_index(names, background) is not None
        or any(entry.color == _BLACK for entry in file.entries)
    )
    if has_background:
        return [file]
    ways = [_from_0(file), _with_background(file)]
    if _is_supervisely(file):
        return ways[::-1]
    return ways if len(names) > 1 else ways[1:]  # the one name of a list is no background


def _is_supervisely(file: ClassFile) -> bool:  # then black may be background without being listed
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
    entries = (dataclasses.replace(ignored, value=VOID), *moved)
    numbered = "" if _is_labelme(file, (_OF_LABELME,)) else note
    return dataclasses.replace(file, entries=entries, numbered=numbered)


def _is_labelme(file: ClassFile, usual: Sequence[str]) -> bool:
    """Says whether labelme wrote or reads a file with `__ignore__` first, by its name or names."""
    named = posixpath.basename(file.source) in usual
    return file.plain and (named or file.entries[1].name == "_background_")


def _from_0(file: ClassFile) -> ClassFile:
    note = f"{file.source} has no background. Value 0 is {file.entries[0].name}, its first name."
    return dataclasses.replace(file, numbered=note)


def _with_background(file: ClassFile) -> ClassFile:
    """Returns a file with background at value 0, before all names."""
    first = Entry(0, "background", _BLACK if file.colored else None, by_place=True)
    moved = [dataclasses.replace(entry, value=entry.value + 1) for entry in file.entries]
    note = (
        f"{file.source} has no background, so value 0 is background, and value 1 is "
        f"{file.entries[0].name}, its first name."
    )
    return dataclasses.replace(file, entries=(first, *moved), numbered=note)


def of_given_names(files: Sequence[ClassFile], config: VocSegConfig) -> ClassFile | None:
    """Returns which of a class file's readings has the names that the user gave; None if none has.

    labelme's `__ignore__` counts if the user gave it as the first name.
    """
    given = {*config.named_classes}
    same = [file for file in files if {*file.class_names} == given]
    if len(same) > 1 and _ignores_first(same[0]):
        return same[config.class_names[0] == IGNORED]
    return same[0] if same else None


def _usual_numbering(files: Sequence[ClassFile]) -> ClassFile | None:
    """Returns which of a class file's readings is taken if masks fit several; None if none is."""
    shortest = min(files, key=lambda file: len(file.entries))
    if _ignores_first(shortest):
        return files[0] if _is_labelme(shortest, (_OF_LABELME, "labels.txt")) else None
    if _is_supervisely(shortest):
        return None if background_index(shortest.class_names) is None else shortest
    return files[0] if posixpath.basename(shortest.source) == _OF_LABELME else None


def remedy(given: epath.Path, layout: Layout, config: VocSegConfig, *, named: bool) -> str:
    """Returns what to do where masks do not tell what they mean: write the table, build with it.

    Args:
      given: the folder that the user gave.
      layout: how its files are named.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    if not named and (advice := _of_cityscapes(layout)):
        return advice
    names = ",".join(config.class_names)
    if not named or any("," in name for name in config.class_names):  # the option's separator
        names = ""
    elif tuple(config.class_names) == VOC_CLASSES:
        names = "voc"
    options = {"class_names": names or None, **(config.layout or {})}
    write = command("voc-seg-tfrecord", "check", given, **options, write_classes="classes.csv")
    return (
        f"write the table of classes ({write}), fill in its column class, and build with "
        "--classes classes.csv"
    )


# The 19 classes of Cityscapes' benchmark, by their ids in *_labelIds.png and in the order of those
# in *_labelTrainIds.png. Source: labels.py of cityscapesScripts.
_CITYSCAPES = (
    "7=road,8=sidewalk,11=building,12=wall,13=fence,17=pole,19=traffic light,20=traffic sign,"
    "21=vegetation,22=terrain,23=sky,24=person,25=rider,26=car,27=truck,28=bus,31=train,"
    "32=motorcycle,33=bicycle"
)


def _of_cityscapes(layout: Layout) -> str:
    """Returns the option that reads masks called as Cityscapes' are; empty for others."""
    patterns = {part.mask_name for part in layout.folders()}
    if all(pattern.endswith("_labelIds.png") for pattern in patterns):
        options = command(classes=f"{_CITYSCAPES},*=void")
    elif all(pattern.endswith("_labelTrainIds.png") for pattern in patterns):
        names = (row.partition("=")[2] for row in _CITYSCAPES.split(","))
        options = command(class_names=",".join(names))
    else:
        return ""
    return f"take the 19 classes of Cityscapes' benchmark, if these are its ids: {options}"


def decide(
    labels: Labels,
    ids: Collection[str],
    config: VocSegConfig,
    file: ClassFile | None,
    advice: str,
) -> Decision:
    """Decides what the masks of ids mean.

    Raises:
      MaskError: if it is not known what the masks mean; `advice` says what to do then.
      ConfigError: if a row has no effect.
    """
    naming = Naming(config.table, file)
    if labels.tool and (naming.table.values or naming.table.colors):
        raise table_error(
            f"values or colours, but the masks are drawn from the polygons of {labels.tool}",
            "rows with the names of classes, and *",
            "change classes, or classes.csv of the folder",
        )
    survey = labels.survey(ids, all_colors=naming.needs_colors)
    decision = meaning.decide(survey, [naming], advice)
    if decision.reading.high:  # a mask that no list names may show that 255 is void
        others = labels.survey(labels.names, all_colors=naming.needs_colors)
        decision = meaning.decide(others, [naming], advice)
    return decision


def numberings_with(files: Sequence[ClassFile], rows: Rows, background: str) -> list[Naming]:
    """Returns the ways to number a class file that have all names of the user's rows."""
    namings, errors, usual = [], [], _usual_numbering(files)
    for file in files:
        try:
            table = ClassTable(names_from_file(file, rows), rows, background)
            namings.append(Naming(table, file, usual=file is usual))
        except ConfigError as error:
            errors.append(error)
    if not namings:
        raise errors[0]
    return namings


def numbered_file(
    labels: Labels, files: Sequence[ClassFile], rows: Rows, background: str, advice: str
) -> ClassFile | None:
    """Returns the one of a class file's ways to be numbered that the masks fit.

    It is None if the user's rows say all, so that its numbers do not matter.

    Raises:
      MaskError: if several fit, and differ.
    """
    if len(files) == 1:
        return files[0]
    survey = labels.survey(labels.names, all_colors=True)
    if are_whole(rows):
        alone = Naming(ClassTable((), rows, background))
        if all(reading.reads(survey.pixels) for reading in readings(alone, survey)):
            return None
    return meaning.naming_of(survey, numberings_with(files, rows, background), advice).file


def names_from_file(file: ClassFile, rows: Rows = ()) -> tuple[str, ...]:
    """Returns the class names of a file, labelme's `__ignore__` before them if it counts.

    A name that means void is among them only if a row says what it becomes.
    """
    given, first = dict(rows), file.entries[0]
    said = {entry.name for entry in file.entries if is_void_name(entry.name)} & given.keys()
    names = tuple(e.name for e in file.entries if not is_void(e) or e.name in said)
    counts = first.name == IGNORED and first.by_place and not first.value
    return names if first.name in names or not counts else (IGNORED, *names)


def names_at_values(file: ClassFile) -> tuple[str, ...]:
    """Returns the names of a class file, each at its value, for rows with values to replace.

    They are none if the values are not 0, 1, 2 and so on.
    """
    spare = iter(VOID_NAMES)
    entries = sorted((e for e in file.entries if 0 <= e.value < VOID), key=lambda e: e.value)
    if [entry.value for entry in entries] != [*range(len(entries))]:
        return ()
    return tuple(
        (entry.name if is_void_name(entry.name) else next(spare)) if is_void(entry) else entry.name
        for entry in entries
    )


def rows_of_file(file: ClassFile, rows: Rows, background: str) -> Rows:
    """Returns a class file as a whole table of values and colours, with the user's rows over it."""
    table = ClassTable(names_from_file(file, rows), rows, background)
    _check_void(file, table)
    found: dict[Key, str] = {}
    for entry in file.entries:
        name = Naming(table, file).name_of(entry)
        found[entry.value] = new = VOID_CLASS if name == VOID else table.target(str(name))
        if entry.color:
            found[color_key(entry.color)] = new
    found.pop(-1, None)
    first = [*table.named.values(), *found.values()]  # the classes, those of rows by name first
    found = dict(sorted(found.items(), key=lambda row: first.index(row[1])))
    return tuple((found | {key: name for key, name in rows if not is_name(key)}).items())


def void_notes(file: ClassFile | None, config: VocSegConfig) -> list[str]:
    """Returns a note for each class that is void by its name, and not by a tool's name of void.

    Raises:
      ConfigError: see `_check_void`.
    """
    table, odd = config.table, list[str]()
    if file:
        _check_void(file, table)
        odd = [e.name for e in file.entries if is_void(e) and e.name not in table.named]
    kept = {*table.named, *(n for v, n in enumerate(config.class_names) if v in table.values)}
    named = [name for name in config.class_names if is_void_name(name) and name not in kept]
    return [
        f"{name} means void. So it is no class of the dataset, its pixels are {VOID}, and the "
        "classes after it move up."
        for name in dict.fromkeys([*named, *(name for name in odd if not is_void_name(name))])
    ]


def _check_void(file: ClassFile, table: ClassTable) -> None:
    """Checks that a row says of each class with void's value or VOC's colour of it what it is."""
    for entry in file.entries:
        by_key = entry.value in table.values or entry.color in table.colors
        if may_be_void(entry) and not by_key and entry.name not in table.named:
            raise _may_be_void(file, entry)


def _may_be_void(file: ClassFile, entry: Entry) -> ConfigError:
    name, found = entry.name, f"the value {VOID}, which is void,"
    if entry.color and entry.value != VOID:
        found = f"VOC's void colour {color_key(entry.color)}"
    key = f'"{name}"' if {*name} & set(',="') or name.isdecimal() else name
    as_class, as_void = (command(classes=f"{key}={new}") for new in (key, "void"))
    return ConfigError(
        file.source,
        found=f"{found} for the class {name!r}",
        expected="a class with a value and a colour of its own, or void",
        remedy=f"say {as_class} if it is a class, or {as_void} if its pixels are void",
    )
