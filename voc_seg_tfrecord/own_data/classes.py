"""The names of a tree's classes, what its masks mean, and what to do where they do not tell."""

from collections.abc import Collection, Sequence
from typing import cast

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOID, Color
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import (
    IGNORED,
    VOID_NAMES,
    ClassFile,
    is_void,
    is_void_name,
    may_be_void,
)
from voc_seg_tfrecord.masks import meaning
from voc_seg_tfrecord.masks.meaning import Decision
from voc_seg_tfrecord.masks.readings import Naming, readings
from voc_seg_tfrecord.masks.survey import Survey
from voc_seg_tfrecord.masks.table import (
    VOID_CLASS,
    ClassTable,
    Rows,
    color_key,
    is_name,
    table_error,
)
from voc_seg_tfrecord.own_data.class_numbers import usual_numbering
from voc_seg_tfrecord.trees.labels import Labels
from voc_seg_tfrecord.trees.layout import Layout
from voc_seg_tfrecord.trees.tree import VocTree


def remedy(tree: VocTree, config: VocSegConfig, *, named: bool) -> str:
    """Returns what to do where masks do not tell what they mean: write the table, build with it.

    Args:
      tree: the tree.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    if not named and (advice := _of_cityscapes(tree.layout)):
        return advice
    names = None
    if named and not any("," in name for name in config.class_names):  # the option's separator
        of_voc = tuple(config.class_names) == VOC_CLASSES
        names = "voc" if of_voc else ",".join(config.class_names) or None
    options = {"class_names": names, **(config.layout or {})}
    write = command("voc-seg-tfrecord", "check", tree.given, **options, write_classes="classes.csv")
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
    config: VocSegConfig,
    files: Sequence[ClassFile],
    ids: Collection[str],
    advice: str,
) -> Decision:
    """Decides what the masks of ids mean.

    Args:
      labels: the masks.
      config: says the class names and the rows.
      files: the class file that has the names, in each way in which it may be numbered; none if
        the names are those of the values 0, 1, 2.
      ids: ids with masks.
      advice: what to do where they do not tell; see `remedy`.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row has no effect.
    """
    of_names = namings(config, files)
    asked = of_names[0].needs_colors or len(of_names) > 1
    survey = labels.survey(ids, all_colors=asked)
    decision = meaning.decide(survey, of_names, advice)
    if decision.reading.high:  # a mask that no list names may show that 255 is void
        others = labels.survey(labels.names, all_colors=asked)
        decision = meaning.decide(others, of_names, advice)
    return decision


def namings(config: VocSegConfig, files: Sequence[ClassFile]) -> list[Naming]:
    """Returns what names the classes: a class file, in each way to number it, or the config."""
    if len(files) > 1:
        return _numberings(files, cast(Rows, config.classes), config.background)
    return [Naming(config.table, files[0] if files else None)]


def _numberings(files: Sequence[ClassFile], rows: Rows, background: str) -> list[Naming]:
    """Returns the ways to number a class file that have all names of the user's rows."""
    namings, errors, usual = [], [], usual_numbering(files)
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

    Args:
      labels: the masks.
      files: the class file in each way.
      rows: the user's rows.
      background: name of the class that is background, if the user said so.
      advice: what to do where several fit; see `remedy`.

    Returns:
      The file; None if the user's rows say all, so that its numbers do not matter.

    Raises:
      MaskError: if several fit, and differ.
    """
    if len(files) == 1:
        return files[0]
    survey = labels.survey(labels.names, all_colors=True)
    if rows and not any(is_name(key) for key, _ in rows):
        alone = Naming(ClassTable((), rows, background))
        if all(reading.reads(survey.pixels) for reading in readings(alone, survey)):
            return None
    ways = _numberings(files, rows, background)
    return meaning.naming_of(survey, ways, advice).file


def names_from_file(file: ClassFile, rows: Rows = ()) -> tuple[str, ...]:
    """Returns the class names of a file, labelme's `__ignore__` before them if it counts.

    A name that means void is among them only if a row says what it becomes.
    """
    given, first = dict(rows), file.entries[0]
    entries = (
        e for e in file.entries if not is_void(e) or (is_void_name(e.name) and e.name in given)
    )
    names = tuple(entry.name for entry in entries)
    counts = first.name == IGNORED and first.by_place and not first.value
    return names if first.name in names or not counts else (IGNORED, *names)


def names_at_values(file: ClassFile) -> tuple[str, ...]:
    """Returns the names of a class file, each at its value, for rows with values to replace.

    Raises:
      ConfigError: if the values are not 0, 1, 2 and so on.
    """
    spare = iter(VOID_NAMES)
    entries = sorted((e for e in file.entries if 0 <= e.value < VOID), key=lambda e: e.value)
    if [entry.value for entry in entries] != list(range(len(entries))) or file.folders:
        raise table_error(
            f"rows with values, and {file.source} with values that are not 0, 1, 2 and so on",
            "rows with names, or a row for each value",
            "write the table of classes with voc-seg-tfrecord check and --write_classes",
        )
    return tuple(
        (entry.name if is_void_name(entry.name) else next(spare)) if is_void(entry) else entry.name
        for entry in entries
    )


def check_void(file: ClassFile | None, config: VocSegConfig) -> None:
    """Checks that no class has void's value or VOC's colour of it, unless a row names it.

    Raises:
      ConfigError: naming the class and the two rows that it may need.
    """
    table = config.table
    entries = (
        [] if file is None else [*file.entries, *(e for of in file.folders.values() for e in of)]
    )
    for entry in entries:
        is_given = (
            entry.name in table.named or entry.value in table.values or entry.color in table.colors
        )
        if may_be_void(entry) and not is_given:
            meaning_of_void = f"the value {VOID}, which is void,"
            if entry.color and entry.value != VOID:
                meaning_of_void = f"VOC's void colour {color_key(entry.color)}"
            as_class, as_void = (
                command(classes=f"{_quoted(entry.name)}={name}")
                for name in (_quoted(entry.name), "void")
            )
            raise ConfigError(
                file.source if file else "",
                found=f"{meaning_of_void} for the class {entry.name!r}",
                expected="a class with a value and a colour of its own, or void",
                remedy=f"say {as_class} if it is a class, or {as_void} if its pixels are void",
            )


def _quoted(name: str) -> str:
    return f'"{name}"' if {*name} & set(',="') or name.isdecimal() else name


def void_notes(file: ClassFile | None, config: VocSegConfig) -> list[str]:
    """Returns a note for each class that is void by its name, and not by a tool's name of void."""
    void_names = [entry.name for entry in (file.entries if file else ()) if is_void(entry)]
    odd_names = [
        name for name in void_names if not is_void_name(name) and name not in config.table.named
    ]
    named = [name for name in config.class_names if is_void_name(name)]
    return [
        f"{name} means void. So it is no class of the dataset, its pixels are {VOID}, and the "
        "classes after it move up."
        for name in dict.fromkeys([*named, *odd_names])
    ]


_SHOWN = 12
_MANY = 64  # values of grey masks; classes rarely are so many, and smoothed edges are


def seen_in(survey: Survey) -> str:
    """Returns what masks hold, most masks first: `value 0 in 5 masks, 814 pixels`."""
    order = sorted(
        survey.pixels, key=lambda p: (-survey.pixels[p].masks, -survey.pixels[p].pixels, p)
    )
    lines = [
        f"{meaning.what(pixel)} in {survey.pixels[pixel].masks} masks, "
        f"{survey.pixels[pixel].pixels} pixels"
        for pixel in order[:_SHOWN]
    ]
    more = [f"and {len(order) - _SHOWN} more"] if len(order) > _SHOWN else []
    return "\n    ".join([*lines, *more])


def smoothed(survey: Survey) -> str:
    """Returns what to do with greys between 0 and 255 at the edges of masks; empty if none are."""
    greys = {p.value: seen.pixels for p, seen in survey.pixels.items() if p.kind == "grey"}
    ends = greys.get(0, 0) + greys.get(VOID, 0)
    if len(greys) < _MANY or ends < 0.8 * sum(greys.values()):
        return ""
    return (
        f"Export the masks again: they hold {len(greys)} values, and four of five pixels are 0 or "
        "255, so the masks were smoothed, or saved with loss. If each value is a class, give the "
        "names with --class_names"
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
