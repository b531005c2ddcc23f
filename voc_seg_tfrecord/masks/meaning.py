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
from voc_seg_tfrecord.masks.rows import HIGHEST, VOID_CLASS, Key, Rows, color_key, table_error
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.survey import Pixel, Survey

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
      rows: the rule as a table of classes; nothing if each split has its own.
    """

    reading: Reading
    rule: MaskRule
    notes: tuple[str, ...] = ()

    rows: Rows = ()

    @property
    def by(self) -> str:
        """Whether `value` or `color` gives the class."""
        return self.reading.by


def decide(found: Survey, namings: Sequence[Naming], remedy: str) -> Decision:
    """Applies the rule of this module.

    Args:
      found: what the masks use.
      namings: the names of their classes; several if a class file may be numbered in two ways.
      remedy: what a user can do where the masks do not tell.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    _check_rows(found, namings[0])
    ways = [way for naming in namings for way in readings(naming, found)]
    taken, left = _choose(ways, found)
    star = namings[0].table.star_of_keys
    values_alone = all(pixel.value is not None for pixel in found.pixels)
    if taken is None and star and not left and (values_alone or not namings[0].entries):
        taken = ways[0]
    if taken is None:
        raise _ask(found, left or ways, remedy)
    taken, stars = _with_star(taken, found) if star else (taken, [])
    if reason := _palettes_contradict(taken, found):
        raise _undecided(reason[1], f"{reason[0]}. So values and colours contradict", remedy)
    notes = [*stars, *_notes(taken, left, found)]
    if taken.by == "value" and taken.final.class_of("grey", VOID, None) == VOID:
        notes += _check_void(taken, found, remedy)
    rule = dataclasses.replace(taken.final, remedy=remedy)
    return Decision(taken, rule, tuple(notes), _rows(taken, found))


def _rows(way: Reading, found: Survey) -> Rows:
    """Returns what a reading makes of each key that it knows."""
    rule, names = way.final, {VOID: VOID_CLASS, **dict(enumerate(way.naming.table.class_names))}
    if rule.folders:
        return ()
    values = {value: index for value, index in rule.all_values.items() if value >= 0}
    if way.by == "color":  # values are those of greyscale masks
        kinds = {pixel.kind for pixel in found.pixels}
        greys = {p.value: rule.class_of(*p) for p in found.pixels if p.kind == "grey"}
        greys = {} if "palette" in kinds else greys
        values = {v: index for v, index in greys.items() if v is not None and index is not None}
    rows: list[tuple[Key, int]] = [*values.items()]
    rows += [(color_key(color), index) for color, index in rule.all_colors.items()]
    return tuple((key, names[index]) for key, index in rows)


def weigh(found: Survey, namings: Sequence[Naming]) -> tuple[Reading | None, list[Reading]]:
    """Returns the reading that is taken, None if the user has to be asked; and all that may be."""
    ways = [way for naming in namings for way in readings(naming, found)]
    _, left = _choose(ways, found)
    try:
        return decide(found, namings, "").reading, left
    except MaskError:
        return None, left or ways


def naming_of(found: Survey, namings: Sequence[Naming], remedy: str) -> Naming:
    """Returns which of several names masks fit; the first if they fit none.

    Raises:
      MaskError: if several fit, and differ.
    """
    ways = [way for naming in namings for way in readings(naming, found)]
    taken, left = _choose(ways, found)
    if taken is None and left:
        raise _ask(found, left, remedy)
    return taken.naming if taken else namings[0]


def _with_star(way: Reading, found: Survey) -> tuple[Reading, list[str]]:
    """Writes `*` out: a row for each value and colour in use that has no class else; and a note."""
    if len(found.values) > HIGHEST + 1 or len(found.colors) > HIGHEST:
        raise table_error(
            f"* for {len(found.values)} values and {len(found.colors)} colours",
            f"at most {HIGHEST + 1} of each: the masks were smoothed, or are no masks",
            "export the masks again, without smoothing",
        )
    table = way.naming.table
    rows: dict[Key, int] = {}
    for pixel, seen in found.pixels.items():
        by_color = way.by == "color" and pixel.kind != "grey"
        by_color = by_color or pixel.value is None
        key = color_key(pixel.color) if by_color and pixel.color else pixel.value
        if key is not None and way.final.class_of(*pixel) is None:
            rows[key] = rows.get(key, 0) + seen.pixels
    counted = ", ".join(f"{key} on {pixels} pixels" for key, pixels in rows.items())
    star = str(table.star)
    said = (*table.rows, *((key, star) for key in rows))
    naming = dataclasses.replace(way.naming, table=dataclasses.replace(table, rows=said))
    note = [f"* is {star}: {counted}."] if rows else []
    return dataclasses.replace(way, naming=naming), note


def _check_rows(found: Survey, naming: Naming) -> None:
    """Checks that the user's rows speak of what the masks hold, and give a pixel one class."""
    table, rule = naming.table, MaskRule({})
    if not (found.pixels or found.voc.masks):
        return
    if naming.file and naming.file.folders and (table.values or table.colors):
        raise table_error(
            f"values or colours, but {naming.file.source} has other numbers in each split",
            "names of classes, which mean the same in each split",
        )
    if table.values and not (found.values or found.voc.masks):
        raise table_error("values, but the masks hold only colours", "rows with colours or names")
    if table.colors and not table.values and not found.colors and not found.voc.masks:
        raise table_error("colours, but the masks hold only values", "rows with values or names")
    rule = dataclasses.replace(rule, said_values=table.values, said_colors=table.colors)
    for (kind, value, color), seen in found.pixels.items():
        if kind != "grey" and value is not None and color and len(rule.said_of(value, color)) > 1:
            raise two_classes(value, color, seen.pixels, seen.first)


def _choose(ways: Sequence[Reading], found: Survey) -> tuple[Reading | None, list[Reading]]:
    """Returns the reading that is taken, if any, and those that were possible before rule 3."""
    if ways[0].rule.folders or not (found.pixels or found.voc.masks):
        return ways[0], []
    # Colours do not tell two values apart that share one; values mean nothing if packed.
    out = (
        ["color"] * _shared(found) + ["value"] * _packed(found, ways[0])
        if ways[0].naming.entries
        else []
    )
    of_file = [w for w in ways if w.by == "color" and w.by not in out and _uses_colors(w, found)]
    possible = [way for way in ways if way.by not in out and way.reads(found.pixels)]
    if of_file and not {*map(id, of_file)} & {*map(id, possible)}:
        return of_file[0], []
    if not possible:
        return _of_most(ways, found), []
    lacking = {id(way): len(way.unused(found)) for way in possible}
    if full := [way for way in possible if not lacking[id(way)]]:
        possible = full
    for left in (possible, [way for way in possible if way.naming.usual]):
        colored = [way for way in left if way in of_file]
        for of in (left, colored):
            if of and _same(of, found):
                return min(colored or of, key=lambda way: lacking[id(way)]), possible
    return None, possible


def _uses_colors(way: Reading, found: Survey) -> bool:
    """Says whether masks use colours of a class file other than black, or its greys."""
    used = {pixel.color for pixel in found.pixels if pixel.color}
    listed = {entry.color for entry in way.naming.entries if way.naming.colored} - {_BLACK}
    return bool(listed) and (way.rule.grey_is_color or bool(used & listed) or used == {_BLACK})


def _shared(found: Survey) -> bool:
    """Says whether two values of one mask have the same colour."""
    palettes = ([p for p in pixels if p.kind == "palette" and p.color] for pixels in found.alike)
    return any(len({p.color for p in used}) < len(used) for used in palettes)


def _several_colors(found: Survey) -> list[Pixel]:
    """Returns the palette entries in use whose value has another colour in another mask."""
    of_value: dict[int | None, list[Pixel]] = {}
    for pixel in found.pixels:
        if pixel.kind == "palette" and pixel.color:
            of_value.setdefault(pixel.value, []).append(pixel)
    if found.voc.masks:  # they are not decoded, but their colours are known
        for value, color in enumerate(VOC_NUMBERS):
            if value in of_value and Pixel("palette", value, color) not in of_value[value]:
                of_value[value].append(Pixel("voc", value, color))
    return [pixel for pixels in of_value.values() if len(pixels) > 1 for pixel in pixels]


def _gaps(found: Survey) -> bool:
    """Says whether a palette mask leaves out a value below its highest one, but for void."""
    used = (
        {pixel.value for pixel in pixels if pixel.value is not None} - {VOID}
        for pixels in found.alike
        if any(pixel.kind == "palette" for pixel in pixels)
    )
    return any(values != {*range(len(values))} for values in used)


def _packed(found: Survey, way: Reading) -> bool:
    """Says whether palettes were made of the colours in use, so that values mean nothing.

    Then no value is left out, and a value has several colours; or VOC's colour of void is moved
    among VOC's classes.
    """
    of_voc = len(way.naming.voc_names or ()) == len(VOC_CLASSES)
    moved = any(
        p.kind == "palette" and p.color == VOID_COLOR and p.value != VOID for p in found.pixels
    )
    return (bool(_several_colors(found)) or (of_voc and moved)) and not _gaps(found)


def _at_random(found: Survey) -> bool:
    """Says whether each mask has a palette at random, so that hardly any colour comes back."""
    masks: collections.Counter[Any] = collections.Counter()
    for pixel in _several_colors(found):
        masks[pixel.color] += found.pixels.get(pixel, found.voc).masks
    again = sum(number > 1 for number in masks.values())
    return _gaps(found) and not found.voc.masks and 10 * again < len(masks)


def _of_most(ways: Sequence[Reading], found: Survey) -> Reading | None:
    """Returns the reading that reads most masks; by value if there is nothing else, or None."""
    kinds = {pixel.kind for pixel in found.pixels}
    fits = {
        id(way): found.voc.masks
        + sum(seen.masks for pixels, seen in found.alike.items() if way.reads(pixels))
        for way in ways
    }
    best = max(ways, key=lambda way: fits[id(way)])
    if 2 * fits[id(best)] > found.examined - found.damaged:
        return best
    no_colors = kinds == {"grey"} or (not fits[id(best)] and not kinds & {"rgb", "equal"})
    return ways[0] if no_colors else None


def _same(ways: Sequence[Reading], found: Survey) -> bool:
    first, *others = ([way.name_of(pixel) for pixel in found.pixels] for way in ways)
    return all(names == first for names in others)


def _palettes_contradict(way: Reading, found: Survey) -> tuple[str, str] | None:
    """Returns why the values of palettes may not be classes, and the first such mask."""
    if way.by == "color" or not out_of_place(found):
        return None
    said, palettes = way.naming.table.values, [p for p in found.pixels if p.kind == "palette"]
    if way.naming.colored and not said and all(p.color in VOC_NUMBERS for p in palettes):
        return "VOC's colours in another order, and no class file with them", found.pixels[
            palettes[0]
        ].first
    for pixel in found.pixels:
        value, color = pixel.value, pixel.color
        if pixel.kind == "palette" and value not in said:
            if value and color == _BLACK:
                return f"black at palette index {value}", found.pixels[pixel].first
            if value != VOID and color == VOID_COLOR:
                return f"VOC's colour of void at palette index {value}", found.pixels[pixel].first
    several = [p for p in _several_colors(found) if p in found.pixels and p.value not in said]
    if not several or _at_random(found):
        return None
    value, colors = several[0].value, [color_key(p.color or _BLACK) for p in several]
    where = found.pixels[several[0]].first
    return f"palette index {value} has the colour {colors[0]} here, and others elsewhere", where


def _check_void(way: Reading, found: Survey, remedy: str) -> list[str]:
    """Checks that 255 is void in masks where it is read as void; returns a note about others."""
    binary = found.binary
    said = VOID in way.naming.table.values or way.rule.values.get(VOID) != VOID
    if not binary.masks or said:
        return []
    counted = (
        f"{binary.masks} of {found.examined} masks hold nothing but 255 and 0, the first is "
        f"{binary.first}; {found.void.masks} masks show 255 to be void"
    )
    if binary.masks > found.void.masks:
        raise _undecided(binary.first, f"{counted}. So 255 may be void or a class", remedy)
    return [f"{counted}. So 255 is void."]


def _notes(way: Reading, left: Sequence[Reading], found: Survey) -> list[str]:
    notes = []
    if way.high:
        names = [name for name in way.rule.values.values() if name != VOID]
        notes.append(
            f"The masks hold only the values 0 and 255, and there are two classes. So 0 is "
            f"{names[0]} and 255 is {names[1]}. If 255 is void, say --classes 255=void."
        )
    if len(left) > 1 and not _same(left, found):
        notes.append(f"The colours are {way.reason}, and give the classes. {_table(found, left)}")
    elif way.by == "color" and way.reason.startswith("with") and out_of_place(found):
        notes.append(f"The colours are VOC's, in another order. {_table(found, [way])}")
    elif way.reason == "a private palette" and way.naming.entries:
        notes.append(
            "The palette's colours are not VOC's, so the values are taken as classes. Look at a "
            "preview."
        )
    if way.by == "value" and any(pixel.kind == "equal" for pixel in found.pixels):
        notes.append("Of RGB masks in which red, green and blue are equal, red is the class.")
    return notes


def _ask(found: Survey, ways: Sequence[Reading], remedy: str) -> MaskError:
    """Several readings are possible and differ, or none is."""
    names = {pixel: [way.name_of(pixel) for way in ways] for pixel in found.pixels}
    unknown = [pixel for pixel, of in names.items() if not any(of)]
    if max(len(found.values), len(found.colors)) > HIGHEST:
        text = f"{len(found.values)} values and {len(found.colors)} colours, which are too many "
        return _undecided("masks", f"{text}for masks: they were smoothed, or are no masks", remedy)
    if unknown:
        most = sorted(unknown, key=lambda pixel: -found.pixels[pixel].pixels)
        shown = [f"{what(pixel)} on {found.pixels[pixel].pixels} pixels" for pixel in most]
        text = f"no class for {len(most)} of {len(names)} values or colours: {listed(shown)}"
        return _undecided(found.pixels[most[0]].first, text, remedy)
    differ = [pixel for pixel, of in names.items() if len({*of}) > 1]
    first = found.pixels[differ[0]] if differ else found.voc
    return _undecided(first.first, f"masks with two meanings: {_table(found, ways)}", remedy)


def _table(found: Survey, ways: Sequence[Reading]) -> str:
    """Returns what values and colours in use become by each reading, those that differ first."""
    lines = []
    for pixel, seen in found.pixels.items():
        names = [way.name_of(pixel) for way in ways]
        first = {name: how(way) for name, way in reversed([*zip(names, ways, strict=True)])}
        by = [f"{name or 'no class'} {first[name]}" for name in dict.fromkeys(names)]
        differ = len({*names}) < 2 and None not in names
        lines.append((differ, -seen.pixels, f"{what(pixel)} is {' and '.join(by)}"))
    return listed([text for *_, text in sorted(lines)]) + "."


def listed(texts: Sequence[str]) -> str:
    """Returns the first texts, and how many more there are."""
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return "; ".join([*texts[:_SHOWN], *more])


def how(way: Reading) -> str:
    """Returns in words how a reading reads masks, such as `by value`."""
    if way.reason.startswith("the greys"):
        return f"by {way.reason}"
    if way.by == "color":
        return f"by the colours of {way.reason.split(' ', 1)[1]}"
    numbered = way.naming.file.numbered if way.naming.file else ""
    high = ", 255 being the second class" if way.high else ""
    return "by value" + high + (f" ({numbered.rstrip('.')})" if numbered else "")


def what(pixel: Pixel) -> str:
    """Returns what a pixel has, in words."""
    if pixel.value is None:
        return f"colour {color_key(pixel.color or _BLACK)}"
    color = (
        f" with colour {color_key(pixel.color)}" if pixel.kind == "palette" and pixel.color else ""
    )
    return f"value {pixel.value}{color}"


def _undecided(where: str, found: str, remedy: str) -> MaskError:
    return MaskError(
        where,
        found=found,
        expected="masks of which each value or colour can mean one class alone",
        remedy=remedy,
        kind=UNDECIDED,
    )
