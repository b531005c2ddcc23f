"""What is to be decided about the masks of a set, and which class each colour would stand for."""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.base.names import VOC_CLASSES, VOC_NUMBERS, VOID, VOID_COLOR, Color, plain
from voc_seg_tfrecord.formats.class_files import (
    DEFAULT_VOID,
    ClassFile,
    is_void,
    is_void_name,
)
from voc_seg_tfrecord.formats.class_parsers import Entry
from voc_seg_tfrecord.masks.survey import Survey

Void = Collection[int | str | Color]
"""Values, names and colours that mean void."""


def void_colors(void: Void) -> set[Color]:
    """Returns the colours among what means void."""
    return {color for color in void if isinstance(color, tuple)}


def colors_of_file(class_file: ClassFile, void: Void) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour of a class file, and of void's colours.

    VOC's colour of void is void, whatever the user called void, unless it is that of a class.
    """
    colors: dict[Color, int | str] = dict.fromkeys(void_colors(void), VOID)
    for entry in class_file.entries:
        if entry.color is not None:
            colors[entry.color] = VOID if is_void(entry, void) else entry.name
    colors.setdefault(VOID_COLOR, VOID)
    return colors


def colors_of_voc(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void, *, by_name: bool = False
) -> dict[Color, int | str]:
    """Returns the class name, or 255, of each colour of VOC's palette that has a meaning.

    A colour means the class that VOC gives it, by its name, or VOC's colour n means class n:
    that of the class file, if there is one.

    Args:
      class_names: the names, in mask order.
      class_file: the class file, if there is one.
      void: what means void.
      by_name: whether names count, which have to be VOC's then; otherwise numbers do.
    """
    names: Mapping[int, int | str] = _numbered(class_names, class_file, void)
    if by_name:
        names = voc_names([n for n in class_names if not is_void_name(n, void)]) or {}
    colors: dict[Color, int | str] = dict.fromkeys(void_colors(void), VOID)
    for color, number in VOC_NUMBERS.items():
        if color in void or number in void:
            colors[color] = VOID
        elif number in names:
            colors[color] = names[number]
    colors.setdefault(VOID_COLOR, VOID)
    return colors


def voc_names(class_names: Sequence[str]) -> dict[int, str] | None:
    """Returns the name of each of VOC's numbers that has one; None if a name is not VOC's."""
    voc = [plain(name) for name in VOC_CLASSES]
    names = {voc.index(plain(name)): name for name in class_names if plain(name) in voc}
    return names if len(names) == len(class_names) else None


def colors_of_values(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> dict[int, int | str]:
    """Returns the class name, or 255, of each value when values are the classes.

    255 is void, whatever the user called void, unless the class file gives it to a class.
    """
    voids = {value: VOID for value in void if isinstance(value, int)}
    return {VOID: VOID, **voids, **_numbered(class_names, class_file, void)}


def entries(class_names: Sequence[str], class_file: ClassFile | None) -> Sequence[Entry]:
    """Returns the entries of a class file; without one, the class names with their numbers."""
    if class_file is not None:
        return class_file.entries
    return [Entry(value, name) for value, name in enumerate(class_names)]


def _numbered(
    class_names: Sequence[str], class_file: ClassFile | None, void: Void
) -> Mapping[int, int | str]:
    return {
        entry.value: VOID if is_void(entry, void) else entry.name
        for entry in entries(class_names, class_file)
    }


@dataclasses.dataclass(frozen=True)
class Question:
    """What is to be decided.

    Attributes:
      found: what the masks use.
      class_names: the names of the classes, in mask order; names that mean void among them.
      class_file: the class file of the set, if it has one.
      void: values, names and colours that mean void.
    """

    found: Survey
    class_names: Sequence[str] = VOC_CLASSES
    class_file: ClassFile | None = None
    void: Void = DEFAULT_VOID

    @property
    def colored(self) -> bool:
        """Whether a class file gives a colour to every class."""
        return self.class_file is not None and self.class_file.colored

    @property
    def source(self) -> str:
        """The name of the class file; empty where there is none."""
        return self.class_file.source if self.class_file else ""

    @property
    def entries(self) -> Sequence[Entry]:
        """The entries of the class file; see the function `entries`."""
        return entries(self.class_names, self.class_file)

    @property
    def void_said(self) -> bool:
        """Whether the user said what is void."""
        return tuple(self.void) != DEFAULT_VOID

    @property
    def high_said(self) -> bool:
        """Whether the user said that 255 is void, and no class."""
        return self.void_said and VOID in self.void

    @functools.cached_property
    def by_value(self) -> dict[int, int | str]:
        """The class of each value, if values decide."""
        return colors_of_values(self.class_names, self.class_file, self.void)

    @functools.cached_property
    def by_color(self) -> dict[Color, int | str]:
        """The class of each colour, if colours decide."""
        if self.class_file is not None and self.class_file.colored:
            return colors_of_file(self.class_file, self.void)
        return self.of_voc(by_name=self.by_voc_name)

    @property
    def grey_is_color(self) -> bool:
        """Whether a grey value v is the colour (v, v, v) of a class file, in greyscale masks."""
        greys = {*self.found.greys}
        if self.by_value.get(VOID) == VOID and (255, 255, 255) not in self.by_color:
            greys -= {VOID}
        return self.colored and bool(greys - {0}) and all((g, g, g) in self.by_color for g in greys)

    @property
    def _kept(self) -> list[str]:
        return [name for name in self.class_names if not is_void_name(name, self.void)]

    @property
    def needs_colors(self) -> bool:
        """Whether it has to be known which of VOC's colours masks with VOC's palette use."""
        return self.colored or self.voc_names_moved

    @property
    def all_voc(self) -> bool:
        """Whether the classes are VOC's 21, in any order."""
        return set(self._kept) == set(VOC_CLASSES)

    @property
    def voc_names_moved(self) -> bool:
        """Whether the user's names are VOC's, and some have other numbers than VOC's.

        Then VOC's palette has two meanings. A class file says itself what its numbers are.
        """
        numbers = voc_names(self._kept) if self.class_file is None else None
        return numbers is not None and any(self.by_value.get(n) != v for n, v in numbers.items())

    @property
    def by_voc_name(self) -> bool:
        """Whether VOC's colours, if they decide, mean VOC's classes by name."""
        return self.all_voc or self.voc_reading in ("name", "both")

    @functools.cached_property
    def voc_reading(self) -> str:
        """What VOC's colours mean if the names are VOC's at other numbers.

        It is `number`, `name`, or `both` if both are possible and differ. A reading is not
        possible if a colour in use has no class. One that leaves a class without any pixel loses
        to one that uses all classes.
        """
        if not self.voc_names_moved or not (self.found.pairs or self.found.colors):
            return "number"
        number, name = self.of_voc(by_name=False), self.of_voc(by_name=True)
        used = self.found.palette_colors | self.found.colors.keys()
        used |= {*self.grey_numbers.values()}
        if not used <= name.keys() or all(name[c] == number.get(c) for c in used):
            return "number"
        if not used <= number.keys():
            return "name"
        full = [
            word
            for word, reading in (("number", number), ("name", name))
            if {reading[color] for color in used} >= {*self._kept}
        ]
        return full[0] if len(full) == 1 else "both"

    def of_voc(self, *, by_name: bool) -> dict[Color, int | str]:
        """Returns the class of each of VOC's colours; see `colors_of_voc`."""
        return colors_of_voc(self.class_names, self.class_file, self.void, by_name=by_name)

    @property
    def grey_numbers(self) -> dict[int, Color]:
        """VOC's colour of each value in use in greyscale masks, which have only numbers."""
        palette = list(VOC_NUMBERS)
        return {value: palette[value] for value in self.found.greys if 0 <= value <= VOID}

    @property
    def grey_contradicts(self) -> bool:
        """Whether VOC's classes in the other masks would be others in greyscale masks."""
        if self.voc_reading == "number":
            return False
        name = self.of_voc(by_name=True)
        return any(self.by_value.get(g) != name.get(c) for g, c in self.grey_numbers.items())

    @property
    def two_classes(self) -> bool:
        """Whether the values 0 and 1 are classes, and no other value is known but for 255."""
        if self.class_file is not None and self.class_file.folders:
            return False
        classes = {value: name for value, name in self.by_value.items() if name != VOID}
        return classes.keys() == {0, 1} and not any(is_void(e, self.void) for e in self.entries)
