"""In which ways the masks of a set may be read: what each value and colour would mean.

Names are those of values: of 0, 1, 2, or of what a class file says. Where a class file gives each
class a colour, colours are a second way; without one, the colours of VOC's palette are. The user's
rows stand over every reading.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.base.names import VOC_CLASSES, VOC_NUMBERS, VOID, VOID_COLOR, Color, plain
from voc_seg_tfrecord.formats.class_files import ClassFile, is_void
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.survey import Pixel, Survey
from voc_seg_tfrecord.masks.table import VOID_CLASS, ClassTable, Key, Rows, check_rows, color_of


@dataclasses.dataclass(frozen=True)
class Naming:
    """What gives the classes of masks their names.

    Attributes:
      table: the names, and the user's rows over them.
      file: the class file that has the names; None if they are those of the values 0, 1, 2.
      usual: whether the file is numbered so if the masks fit several ways.
    """

    table: ClassTable
    file: ClassFile | None = None
    usual: bool = False

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the class file; without one, the names with their places."""
        if self.file is not None:
            return self.file.entries
        return [Entry(value, name) for value, name in enumerate(self.table.names)]

    def by_value(self) -> dict[int, str | int]:
        """Returns the class name, or 255, of each value."""
        return {entry.value: self.name_of(entry) for entry in self.entries}

    def name_of(self, entry: Entry) -> str | int:
        """Returns an entry's name; 255 if it means void, and no row says something else."""
        return VOID if is_void(entry) and entry.name not in self.table.named else entry.name

    @property
    def colored(self) -> bool:
        """Whether a class file gives a colour to every class."""
        return self.file is not None and self.file.colored

    @property
    def voc_names(self) -> dict[int, str] | None:
        """The name of each of VOC's numbers that has one; None if a name is not VOC's."""
        voc = [plain(name) for name in VOC_CLASSES]
        classes = [e.name for e in self.entries if not is_void(e)]
        numbers = {voc.index(plain(name)): name for name in classes if plain(name) in voc}
        return numbers if len(numbers) == len(classes) else None

    @property
    def voc_names_moved(self) -> bool:
        """Whether the names are VOC's, and some have other numbers than VOC's."""
        return not (self.voc_names or {}).items() <= self.by_value().items()

    @property
    def needs_colors(self) -> bool:
        """Whether it has to be known which of VOC's colours masks with VOC's palette use."""
        keyed = self.table.values or self.table.colors or self.table.star_of_keys
        return self.colored or bool(keyed) or (self.file is None and self.voc_names_moved)


@dataclasses.dataclass(frozen=True)
class Reading:
    """One way to read the masks of a set.

    Attributes:
      naming: what gives the names.
      by: `value` or `color`.
      reason: why, in a few words that are shown to the user.
      rule: the name, or 255, of each key, without the user's rows.
      high: whether 255 stands for the second of two classes.
      others: the class of each value and colour in use that the user's `*` takes.
    """

    naming: Naming
    by: str
    reason: str
    rule: MaskRule
    high: bool = False
    others: Mapping[Key, str] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def final(self) -> MaskRule:
        """The rule with the classes that the dataset has, 255 being void, and the user's rows."""
        table = self.naming.table
        indices = {VOID: VOID, VOID_CLASS: VOID} | {n: i for i, n in enumerate(table.class_names)}

        def became(name: str | int) -> int | None:
            new = table.target(name) if isinstance(name, str) else name
            return indices.get(new)

        return dataclasses.replace(
            self.rule.renamed(became),
            said_values={key: table.index(name) for key, name in table.values.items()},
            said_colors={key: table.index(name) for key, name in table.colors.items()},
            others={color_of(key) or key: table.index(name) for key, name in self.others.items()},
        )

    def name_of(self, pixel: Pixel) -> str | None:
        """Returns the class of a pixel in the dataset; None if it has none."""
        return self.class_names.get(self.final.class_of(*pixel))

    @functools.cached_property
    def class_names(self) -> dict[int | None, str]:
        """The name of each class index in the dataset, and of 255."""
        return {VOID: VOID_CLASS, **dict(enumerate(self.naming.table.class_names))}

    def reads(self, pixels: frozenset[Pixel] | Mapping[Pixel, object]) -> bool:
        """Says whether each of some pixels has a class."""
        return all(self.final.class_of(*pixel) is not None for pixel in pixels)

    def unused(self, survey: Survey) -> set[str]:
        """Returns the names that no mask has, user's rows apart."""
        names = {*self.rule.values.values(), *(self.rule.colors or {}).values()} - {VOID}
        return names - {self.rule.class_of(*pixel) for pixel in survey.pixels}


_VOIDS = {-1: VOID, VOID: VOID}


def readings(naming: Naming, survey: Survey) -> list[Reading]:
    """Returns the ways in which masks may be read, the usual one first."""
    if not naming.entries:
        return [_of_rows(naming, survey)]
    by_value = {**_VOIDS, **naming.by_value()}
    first = Reading(naming, "value", _reason_of_values(survey), MaskRule(by_value))
    ways = [first, *_high(naming, survey)]
    if naming.colored:
        return ways + _of_file(naming, by_value, survey)
    return ways + _of_voc(naming, by_value, survey)


def _of_rows(naming: Naming, survey: Survey) -> Reading:
    """The reading of the user's rows alone: 255 and VOC's colour are void without one, too."""
    by_color = bool(naming.table.colors) or any(pixel.kind == "rgb" for pixel in survey.pixels)
    rule = MaskRule(_VOIDS, {VOID_COLOR: VOID} if by_color else None)
    only = by_color and not naming.table.values
    return Reading(naming, "color" if only else "value", "as you said", rule)


def rule_of_rows(rows: Rows, class_names: Sequence[str]) -> MaskRule:
    """Returns the rule of the table of a dataset that has these classes.

    Where it has colours, its values are those of greyscale masks alone.
    """
    indices = {VOID_CLASS: VOID} | {name: index for index, name in enumerate(class_names)}
    of_key = {key: indices[name] for key, name in check_rows(rows) if name in indices}
    colors = {color: index for key, index in of_key.items() if (color := color_of(key))}
    values = {key: index for key, index in of_key.items() if isinstance(key, int)}
    return MaskRule({**_VOIDS, **values}, colors or None)


def _reason_of_values(survey: Survey) -> str:
    kinds = {pixel.kind for pixel in survey.pixels}
    if kinds == {"equal"}:
        return "red, green and blue equal"
    if not out_of_place(survey):
        colored = any(p.kind == "palette" and p.color != (p.value,) * 3 for p in survey.pixels)
        return "VOC's palette" if colored or survey.voc.masks else "grey values"
    return "a private palette"


def _high(naming: Naming, survey: Survey) -> list[Reading]:
    """Two classes, and masks of 0 and 255 alone, which are not void's: 255 is the second class."""
    named = {v: name for v, name in naming.by_value().items() if name != VOID}
    void = any(map(is_void, naming.entries)) or survey.void.masks
    if named.keys() != {0, 1} or void or {*survey.values} - {0, VOID}:
        return []
    rule = MaskRule({-1: VOID, 0: named[0], VOID: named[1]})
    return [Reading(naming, "value", _reason_of_values(survey), rule, high=True)]


def _of_file(naming: Naming, by_value: Mapping[int, str | int], survey: Survey) -> list[Reading]:
    """The colours of a class file; and its greys, if values of palettes may mean them."""
    colors: dict[Color, str | int] = {VOID_COLOR: VOID}
    colors |= {e.color: naming.name_of(e) for e in naming.entries if e.color}
    greys = {pixel.value for pixel in survey.pixels if pixel.kind == "grey"} - {None}
    if by_value[VOID] == VOID and (255, 255, 255) not in colors:
        greys -= {VOID}
    grey = bool(greys - {0}) and all((g, g, g) in colors for g in greys)
    source = f"from {naming.file.source}" if naming.file else ""
    ways = [Reading(naming, "color", source, MaskRule(by_value, colors, grey))]
    values = {red: name for (red, green, blue), name in colors.items() if red == green == blue}
    if any(pixel.kind == "palette" for pixel in survey.pixels) and values.keys() - {0}:
        rule = MaskRule({**_VOIDS, **values})
        ways.append(Reading(naming, "value", f"the greys {source}", rule))
    return ways


def _of_voc(naming: Naming, by_value: Mapping[int, str | int], survey: Survey) -> list[Reading]:
    """The colours of VOC's palette: colour n is class n, or VOC's class by its name."""
    if not survey.voc.masks and all(
        pixel.color in (None, (pixel.value,) * 3) for pixel in survey.pixels
    ):
        return []  # greys, which are VOC's by chance
    numbers = {c: by_value[n] for c, n in VOC_NUMBERS.items() if n in by_value}
    names = naming.voc_names
    ways = []
    by_number = names is None or naming.file or len(names) < len(VOC_CLASSES)
    if by_number or not naming.voc_names_moved:
        ways.append(Reading(naming, "color", "with VOC's palette", MaskRule(by_value, numbers)))
    elsewhere = any(p.color and VOC_NUMBERS.get(p.color) != p.value for p in survey.pixels)
    if names is not None and naming.voc_names_moved and (naming.file is None or elsewhere):
        of_name = {c: names[n] for c, n in VOC_NUMBERS.items() if n in names}
        # Greyscale masks hold VOC's numbers then.
        rule = MaskRule({**_VOIDS, **names}, of_name | {VOID_COLOR: VOID})
        ways.append(Reading(naming, "color", "with VOC's palette, by name", rule))
    return ways


def out_of_place(survey: Survey) -> list[Pixel]:
    """Returns the used palette entries that have neither VOC's colour nor the grey of their value.

    A value beyond the end of a palette has no colour, and so none that is wrong.
    """
    return [
        pixel
        for pixel in survey.palettes
        if VOC_NUMBERS.get(pixel.color) != pixel.value and pixel.color != (pixel.value,) * 3
    ]
