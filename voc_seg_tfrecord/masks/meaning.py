"""What the values and colours of masks mean: one decision for all masks of a set.

A reading (`readings`) is possible if it gives each value or colour in use a class. The rule:

1. If one reading is possible, it is taken.
2. One under which a named class never occurs loses to one that uses all names.
3. If several are left that give the same labels, it does not matter which is taken.
4. If the masks use the colours of a class file, its colours count.
5. Otherwise the user is asked for the table of classes.

If none is possible, one that reads most masks is taken, and the build names the others. Two things
are asked about although values are possible: palettes that contradict each other, and 255 where
more masks have it beside nothing but 0 than beside a class.
"""

import collections
from collections.abc import Sequence
import dataclasses
from typing import Any

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOC_NUMBERS, VOID, VOID_COLOR
from voc_seg_tfrecord.masks.read import two_classes
from voc_seg_tfrecord.masks.readings import Naming, Reading, out_of_place, readings
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.survey import Pixel, Survey
from voc_seg_tfrecord.masks.table import HIGHEST, VOID_CLASS, Key, Rows, color_key, table_error

_SHOWN = 8  # values and colours that a message lists
_BLACK = (0, 0, 0)
UNDECIDED = "meaning of masks"
"""The kind of the error that it is not known what masks mean."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """What the masks of a set mean.

    Attributes:
      reading: the reading that was taken.
      rule: how each mask is read.
      notes: what the user should look at.
      rows: the rule as a table of classes.
    """

    reading: Reading
    rule: MaskRule
    notes: tuple[str, ...] = ()
    rows: Rows = ()

    @property
    def by(self) -> str:
        """Whether `value` or `color` gives the class."""
        return self.reading.by


def decide(survey: Survey, namings: Sequence[Naming], remedy: str) -> Decision:
    """Applies the rule of this module.

    Args:
      survey: what the masks use.
      namings: the names of their classes; several if a class file may be numbered in two ways.
      remedy: what a user can do where the masks do not tell.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    _check_rows(survey, namings[0])
    ways = [reading for naming in namings for reading in readings(naming, survey)]
    taken, left = _choose(ways, survey)
    star = namings[0].table.star_of_keys
    values_alone = all(pixel.value is not None for pixel in survey.pixels)
    if taken is None and star and not left and (values_alone or not namings[0].entries):
        taken = ways[0]
    if taken is None:
        raise _ask(survey, left or ways, remedy)
    taken, stars = _with_star(taken, survey) if star else (taken, [])
    if reason := _palettes_contradict(taken, survey):
        found, pixel = reason
        first = survey.pixels[pixel].first
        raise _undecided(first, f"{found}. So values and colours contradict", remedy)
    _check_colors(taken, survey)
    notes = [*stars, *_notes(taken, left, survey)]
    if taken.by == "value" and taken.final.class_of("grey", VOID, None) == VOID:
        notes += _check_void(taken, survey, remedy)
    rule = dataclasses.replace(taken.final, remedy=remedy)
    return Decision(taken, rule, tuple(notes), _rows(taken, survey))


def _rows(reading: Reading, survey: Survey) -> Rows:
    """Returns what a reading makes of each key that it knows."""
    rule = reading.final
    values: dict[Any, Any] = rule.all_values
    colors = dict(rule.all_colors)
    if colors:  # then values are those of greyscale masks
        known = {pixel: rule.class_of(*pixel) for pixel in survey.pixels}
        colors |= {p.color: index for p, index in known.items() if p.color and p.kind != "grey"}
        greys = {p.value: index for p, index in known.items() if p.kind == "grey"}
        values = greys if reading.by == "color" else {**values, **greys}
    rows: list[tuple[Key, Any]] = [(value, index) for value, index in values.items() if value >= 0]
    rows += [(color_key(color), index) for color, index in colors.items()]
    return tuple((key, reading.class_names[index]) for key, index in rows if index is not None)


def weigh(survey: Survey, namings: Sequence[Naming]) -> tuple[Reading | None, list[Reading]]:
    """Returns the reading that is taken, None if the user has to be asked; and all that may be."""
    ways = [reading for naming in namings for reading in readings(naming, survey)]
    _, left = _choose(ways, survey)
    try:
        return decide(survey, namings, "").reading, left
    except MaskError:
        return None, left or ways


def naming_of(survey: Survey, namings: Sequence[Naming], remedy: str) -> Naming:
    """Returns which of several names masks fit; the first if they fit none.

    Raises:
      MaskError: if several fit, and differ.
    """
    ways = [reading for naming in namings for reading in readings(naming, survey)]
    taken, left = _choose(ways, survey)
    if taken is None and left:
        raise _ask(survey, left, remedy)
    return taken.naming if taken else namings[0]


def _with_star(reading: Reading, survey: Survey) -> tuple[Reading, list[str]]:
    """Lets `*` take each value and colour in use that has no class else; and a note on them."""
    check_few(survey)
    star, by_color = str(reading.naming.table.star), reading.rule.colors is not None
    others: dict[Key, str] = {}
    pixels = collections.Counter[Key]()
    for pixel, seen in survey.pixels.items():
        if reading.final.class_of(*pixel) is None:
            key = pixel.key(by_color=by_color)
            others[key] = VOID_CLASS if pixel.color == VOID_COLOR else star
            pixels[key] += seen.pixels
    counted = ", ".join(f"{key} on {n} pixels" for key, n in pixels.items() if others[key] == star)
    note = [f"* is {star}: {counted}."] if counted else []
    return dataclasses.replace(reading, others=others), note


def _check_rows(survey: Survey, naming: Naming) -> None:
    """Checks that the user's rows speak of what the masks hold, and give a pixel one class."""
    table = naming.table
    if not (survey.pixels or survey.voc.masks):
        return
    if table.values and not (survey.values or survey.voc.masks):
        raise table_error("values, but the masks hold only colours", "rows with colours or names")
    if table.colors and not table.values and not survey.colors and not survey.voc.masks:
        raise table_error("colours, but the masks hold only values", "rows with values or names")
    rule = MaskRule({}, said_values=table.values, said_colors=table.colors)
    for (kind, value, color), seen in survey.pixels.items():
        if kind != "grey" and value is not None and color and len(rule.said_of(value, color)) > 1:
            raise two_classes(value, color, seen.pixels, seen.first)


def _check_colors(reading: Reading, survey: Survey) -> None:
    """Checks that rows by value leave a colour one class wherever colours give the classes."""
    rule = reading.final
    of_color: dict[Any, set[Any]] = collections.defaultdict(set)
    by_color = reading.by == "color" or any(pixel.kind == "rgb" for pixel in survey.pixels)
    for kind, value, color in survey.pixels if by_color and rule.said_values else ():
        if color and kind != "grey":
            of_color[color] |= rule.said_of(value, color) or {rule.class_of(kind, value, color)}
    for color, classes in of_color.items():
        if len(classes - {None}) > 1:
            found = " and ".join(reading.class_names[index] for index in classes - {None})
            raise table_error(
                f"rows with values, by which pixels of {color_key(color)} are {found}",
                "rows with colours or names, because colours give the classes of these masks",
            )


def _choose(ways: Sequence[Reading], survey: Survey) -> tuple[Reading | None, list[Reading]]:
    """Returns the reading that is taken, if any, and those that were possible before rule 3."""
    if not (survey.pixels or survey.voc.masks):
        return ways[0], []
    out = _useless(survey, ways[0].naming)
    of_file = [w for w in ways if w.by == "color" and w.by not in out and _uses_colors(w, survey)]
    possible = [r for r in ways if r.by not in out and r.reads(survey.pixels)]
    if of_file and not {*map(id, of_file)} & {*map(id, possible)}:
        return of_file[0], []
    if not possible:
        return _of_most(ways, survey), []
    lacking = {id(reading): len(reading.unused(survey)) for reading in possible}
    if full := [reading for reading in possible if not lacking[id(reading)]]:
        possible = full
    for left in (possible, [reading for reading in possible if reading.naming.usual]):
        colored = [reading for reading in left if reading in of_file]
        for of in (left, colored):
            if of and _same(of, survey):
                return min(colored or of, key=lambda reading: lacking[id(reading)]), possible
    return None, possible


def _uses_colors(reading: Reading, survey: Survey) -> bool:
    """Says whether masks use colours of a class file other than black, or its greys."""
    used = {pixel.color for pixel in survey.pixels if pixel.color}
    colors = {entry.color for entry in reading.naming.entries if reading.naming.colored} - {_BLACK}
    return bool(colors) and (reading.rule.grey_is_color or bool(used & colors) or used == {_BLACK})


def _several_colors(survey: Survey) -> list[Pixel]:
    """Returns the palette entries in use whose value has another colour in another mask."""
    of_value: dict[int | None, list[Pixel]] = {}
    for pixel in survey.palettes:
        of_value.setdefault(pixel.value, []).append(pixel)
    if survey.voc.masks:  # they are not decoded, but their colours are known
        for value, color in enumerate(VOC_NUMBERS):
            if value in of_value and Pixel("palette", value, color) not in of_value[value]:
                of_value[value].append(Pixel("voc", value, color))
    return [pixel for pixels in of_value.values() if len(pixels) > 1 for pixel in pixels]


def _gaps(survey: Survey) -> bool:
    """Says whether a palette mask leaves out a value below its highest one, but for void."""
    used = ({p.value for p in of if p.kind == "palette"} - {VOID} for of in survey.alike)
    return any(values != {*range(len(values))} for values in used)


def _useless(survey: Survey, naming: Naming) -> list[str]:
    """Returns which of `color` and `value` cannot give the classes.

    Colours do not tell two values of a mask apart that share one. Values mean nothing if palettes
    were made of the colours in use. Then no value is left out, and a value has several colours; or
    VOC's colour of void is moved among VOC's classes.
    """
    if not naming.entries:
        return []
    in_masks = ([p.color for p in of if p.kind == "palette" and p.color] for of in survey.alike)
    shared = any(len({*colors}) < len(colors) for colors in in_masks)
    of_voc = len(naming.voc_names or ()) == len(VOC_CLASSES)
    moved = any(p.color == VOID_COLOR and p.value != VOID for p in survey.palettes)
    packed = (bool(_several_colors(survey)) or (of_voc and moved)) and not _gaps(survey)
    return ["color"] * shared + ["value"] * packed


def _at_random(survey: Survey) -> bool:
    """Says whether each mask has a palette at random, so that hardly any colour comes back."""
    if survey.voc.masks or not _gaps(survey):
        return False
    masks: collections.Counter[Any] = collections.Counter()
    for pixel in _several_colors(survey):
        masks[pixel.color] += survey.pixels[pixel].masks
    return 10 * sum(number > 1 for number in masks.values()) < len(masks)


def _of_most(ways: Sequence[Reading], survey: Survey) -> Reading | None:
    """Returns the reading that reads most masks; by value if there is nothing else, or None."""
    alike = survey.alike.items()
    fits = [sum(seen.masks for pixels, seen in alike if way.reads(pixels)) for way in ways]
    most = max(fits) + survey.voc.masks
    if 2 * most > survey.examined - survey.damaged:
        return ways[fits.index(max(fits))]
    kinds = {pixel.kind for pixel in survey.pixels}
    no_colors = kinds == {"grey"} or (not most and not kinds & {"rgb", "equal"})
    return ways[0] if no_colors else None


def _same(ways: Sequence[Reading], survey: Survey) -> bool:
    return len({tuple(map(reading.name_of, survey.pixels)) for reading in ways}) == 1


def _palettes_contradict(reading: Reading, survey: Survey) -> tuple[str, Pixel] | None:
    """Returns why the values of palettes may not be classes, and the first pixel that shows it."""
    if reading.by == "color" or not out_of_place(survey):
        return None
    of_user = reading.naming.table.values
    palettes = [p for p in survey.pixels if p.kind == "palette"]
    if reading.naming.colored and not of_user and all(p.color in VOC_NUMBERS for p in palettes):
        return "VOC's colours in another order, and no class file with them", palettes[0]
    for pixel in (p for p in palettes if p.value not in of_user):
        if pixel.value and pixel.color == _BLACK:
            return f"black at palette index {pixel.value}", pixel
        if pixel.value != VOID and pixel.color == VOID_COLOR:
            return f"VOC's colour of void at palette index {pixel.value}", pixel
    several = [p for p in _several_colors(survey) if p in survey.pixels and p.value not in of_user]
    if not several or _at_random(survey):
        return None
    value, color = several[0].value, color_key(several[0].color or _BLACK)
    return f"palette index {value} has the colour {color} here, and others elsewhere", several[0]


def _check_void(reading: Reading, survey: Survey, remedy: str) -> list[str]:
    """Checks that 255 is void in masks where it is read as void; returns a note about others."""
    binary = survey.binary
    is_said = VOID in reading.naming.table.values or reading.rule.values.get(VOID) != VOID
    if not binary.masks or is_said:
        return []
    counted = (
        f"{binary.masks} of {survey.examined} masks hold nothing but 255 and 0, the first is "
        f"{binary.first}; {survey.void.masks} masks show 255 to be void"
    )
    if binary.masks > survey.void.masks:
        raise _undecided(binary.first, f"{counted}. So 255 may be void or a class", remedy)
    return [f"{counted}. So 255 is void."]


def _notes(reading: Reading, left: Sequence[Reading], survey: Survey) -> list[str]:
    notes, table = list[str](), reading.naming.table
    if reading.high and VOID not in table.values:
        names = [name for name in reading.rule.values.values() if name != VOID]
        notes.append(
            f"The masks hold only the values 0 and 255, and there are two classes. So 0 is "
            f"{names[0]} and 255 is {names[1]}. If 255 is void, say --classes 255=void."
        )
    if len(left) > 1 and not _same(left, survey):
        notes.append(
            f"The colours are {reading.reason}, and give the classes. {_table(survey, left)}"
        )
    elif reading.by == "color" and reading.reason.startswith("with") and out_of_place(survey):
        notes.append(f"The colours are VOC's, in another order. {_table(survey, [reading])}")
    elif reading.reason == "a private palette" and reading.naming.entries:
        notes.append(
            "The palette's colours are not VOC's, so the values are taken as classes. Look at a "
            "preview."
        )
    if reading.by == "value" and any(pixel.kind == "equal" for pixel in survey.pixels):
        notes.append("Of RGB masks in which red, green and blue are equal, red is the class.")
    rows = [(str(v), name) for v, name in table.values.items() if v not in survey.values]
    rows += [(color_key(c), name) for c, name in table.colors.items() if c not in survey.colors]
    absent = [f"{key} ({name})" for key, name in rows if name != VOID_CLASS]
    if absent and survey.pixels and not survey.voc.masks:
        notes.append(f"No mask has what these rows of the table of classes name: {listed(absent)}.")
    return notes


def check_few(survey: Survey) -> None:
    """Raises a MaskError if a table cannot have a row for each value and colour in use."""
    if len(survey.values) > HIGHEST + 1 or len(survey.colors) > HIGHEST:
        raise _undecided(
            "masks",
            f"{len(survey.values)} values and {len(survey.colors)} colours, which are too many for "
            "masks: they were smoothed, or are no masks",
            "export the masks again, without smoothing",
        )


def _ask(survey: Survey, ways: Sequence[Reading], remedy: str) -> MaskError:
    """Several readings are possible and differ, or none is."""
    check_few(survey)
    names = {pixel: [reading.name_of(pixel) for reading in ways] for pixel in survey.pixels}
    if unknown := [pixel for pixel, of in names.items() if not any(of)]:
        most = sorted(unknown, key=lambda pixel: -survey.pixels[pixel].pixels)
        shown = [f"{what(pixel)} on {survey.pixels[pixel].pixels} pixels" for pixel in most]
        text = f"no class for {len(most)} of {len(names)} values or colours: {listed(shown)}"
        return _undecided(survey.pixels[most[0]].first, text, remedy)
    differ = [pixel for pixel, of in names.items() if len({*of}) > 1]
    first = survey.pixels[differ[0]] if differ else survey.voc
    return _undecided(first.first, f"masks with two meanings: {_table(survey, ways)}", remedy)


def _table(survey: Survey, ways: Sequence[Reading]) -> str:
    """Returns what values and colours in use become by each reading, those that differ first."""
    lines = []
    for pixel, seen in survey.pixels.items():
        names = [reading.name_of(pixel) for reading in ways]
        first = {name: how(reading) for name, reading in reversed([*zip(names, ways, strict=True)])}
        by = [f"{name or 'no class'} {first[name]}" for name in dict.fromkeys(names)]
        differ = len({*names}) < 2 and None not in names
        lines.append((differ, -seen.pixels, f"{what(pixel)} is {' and '.join(by)}"))
    return listed([text for *_, text in sorted(lines)]) + "."


def listed(texts: Sequence[str]) -> str:
    """Returns the first texts, and how many more there are."""
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return "; ".join([*texts[:_SHOWN], *more])


def how(reading: Reading) -> str:
    """Returns in words how a reading reads masks, such as `by value`."""
    if reading.reason.startswith("the greys"):
        return f"by {reading.reason}"
    if reading.by == "color":
        return f"by the colours of {reading.reason.split(' ', 1)[1]}"
    numbered = reading.naming.file.numbered if reading.naming.file else ""
    high = ", 255 being the second class" if reading.high else ""
    return "by value" + high + (f" ({numbered.rstrip('.')})" if numbered else "")


def what(pixel: Pixel) -> str:
    """Returns what a pixel has, in words."""
    if pixel.value is None:
        return f"colour {color_key(pixel.color or _BLACK)}"
    if pixel.kind == "palette" and pixel.color:
        return f"value {pixel.value} with colour {color_key(pixel.color)}"
    return f"value {pixel.value}"


def _undecided(where: str, found: str, remedy: str) -> MaskError:
    return MaskError(
        where,
        found=found,
        expected="masks of which each value or colour can mean one class alone",
        remedy=remedy,
        kind=UNDECIDED,
    )
