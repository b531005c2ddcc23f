"""In which ways the masks of a set may be read: what each value and color would mean.

A mask is read by value or by color. Values mean what a class file or the user's names say. Where a
class file gives each class a color, its colors are a second way; without one, the colors of VOC's
palette are. The user's rows stand over every candidate.

Here a class is a name, or 255 for void: the rules of candidates have names until one is taken.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools
from typing import Literal

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void, may_be_background
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, VOID_VALUES, Key, Rows, color_key, color_of
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import (
    BLACK,
    VOC_CLASSES,
    VOC_NUMBERS,
    VOID,
    VOID_COLOR,
    WHITE,
    Color,
    plain,
)
from voc_seg_tfrecord.folder.classes.names import class_of_entry
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, Survey
from voc_seg_tfrecord.folder.meaning.palettes import entries_out_of_place
from voc_seg_tfrecord.tools.class_file import ClassFile

MAX_LISTED_PIXELS = 8
"""How many values and colors a message lists."""

ClassName = str | int
"""The name of a class of the masks; or 255, which is void and has no name."""

CandidateKind = Literal[
    "rows", "values", "grays of file", "colors of file", "VOC order", "VOC names"
]
"""What gives the classes: see the function below that makes each kind."""


@dataclasses.dataclass(frozen=True)
class ClassNaming:
    """What gives the classes of masks their names, and the values and colors that they have.

    Attributes:
      table: the names, and the user's rows over them.
      file: the class file that has the names; None if they are those of the values 0, 1, 2.
    """

    table: ClassTable
    file: ClassFile | None = None

    @property
    def entries(self) -> Sequence[ClassEntry]:
        """The entries of the class file; without one, the names with their places."""
        if self.file is not None:
            return self.file.entries
        return [ClassEntry(value, name) for value, name in enumerate(self.table.names)]

    @property
    def has_colors(self) -> bool:
        """Whether a class file gives each class a color."""
        return self.file is not None and self.file.has_colors

    @property
    def numbering(self) -> str:
        """How the class file is numbered, in words; empty if there is only one way."""
        return "" if self.file is None else self.file.numbering_note.rstrip(".")

    def class_of_entry(self, entry: ClassEntry) -> ClassName:
        """Returns an entry's name, or 255 if it means void and no row says something else."""
        return class_of_entry(entry, self.table)

    def classes_by_value(self) -> dict[int, ClassName]:
        """Returns the class name, or 255, of each value."""
        return {entry.value: self.class_of_entry(entry) for entry in self.entries}

    def names_by_voc_number(self) -> dict[int, str]:
        """Returns which name stands for which of VOC's numbers, if all names are VOC's; else none.

        With the names `background, person` that is `{0: 'background', 15: 'person'}`.
        """
        voc_names = [plain(name) for name in VOC_CLASSES]
        names: dict[int, str] = {}
        for entry in self.entries:
            if is_void(entry):
                continue
            if plain(entry.name) not in voc_names:
                return {}
            number = voc_names.index(plain(entry.name))
            if number in names:
                return {}
            names[number] = entry.name
        return names

    def has_all_voc_names(self) -> bool:
        """Says whether the names are VOC's 21."""
        return len(self.names_by_voc_number()) == len(VOC_CLASSES)

    def has_voc_names_at_other_values(self) -> bool:
        """Says whether all names are VOC's, and some have other values than VOC's numbers."""
        return not self.names_by_voc_number().items() <= self.classes_by_value().items()

    def needs_colors(self) -> bool:
        """Says whether it matters which of VOC's colors the masks with VOC's palette use."""
        table = self.table
        has_rows = bool(table.class_by_value or table.class_by_color) or table.wildcard_takes_pixels
        moved = self.file is None and self.has_voc_names_at_other_values()
        has_possible_background = any(may_be_background(entry.name) for entry in self.entries)
        return self.has_colors or has_rows or moved or has_possible_background


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeaningCandidate:
    """One way to read the masks of a set, with all that follows from it for these masks.

    Equality compares `by`, `kind`, `reads_255_as_class` and `naming`.

    Attributes:
      by: what of a pixel gives its class.
      kind: what gives the classes.
      reads_255_as_class: whether 255 is the second of two classes, and not void.
      naming: what gives the classes their names.
      source: what gives them in a few words that `check` prints: "gray values".
      words: how the masks are read: `by value`, `by the colors of labelmap.txt`.
      survey: what the masks use.
      name_rule: the class name, or 255, of each value and color, without the user's rows.
      wildcard_classes: the class of each value and color in use that the user's `*` takes.
    """

    by: Literal["value", "color"]
    kind: CandidateKind
    reads_255_as_class: bool = False
    naming: ClassNaming
    source: str = dataclasses.field(compare=False)
    words: str = dataclasses.field(compare=False)
    survey: Survey = dataclasses.field(compare=False, repr=False)
    name_rule: MaskRule = dataclasses.field(compare=False)
    wildcard_classes: Mapping[Key, str] = dataclasses.field(default_factory=dict, compare=False)

    @functools.cached_property
    def rule(self) -> MaskRule:
        """The rule with the class indices of the dataset, 255 being void, and the user's rows."""
        table = self.naming.table
        index_by_name = {name: index for index, name in self.class_names.items()}

        def index_of(name: ClassName) -> int | None:
            return VOID if isinstance(name, int) else index_by_name.get(table.class_of_name(name))

        wildcard_indices: dict[int | Color, int] = {}
        for key, name in self.wildcard_classes.items():
            pixel = key if isinstance(key, int) else color_of(key)
            if pixel is not None:
                wildcard_indices[pixel] = table.index(name)
        return dataclasses.replace(
            self.name_rule.with_classes(index_of),
            given_values={value: table.index(name) for value, name in table.class_by_value.items()},
            given_colors={color: table.index(name) for color, name in table.class_by_color.items()},
            wildcard_classes=wildcard_indices,
        )

    @property
    def uses_file_colors(self) -> bool:
        """Whether the colors of a class file give the classes."""
        return self.kind == "colors of file"

    @functools.cached_property
    def class_names(self) -> dict[int, str]:
        """The name of each class index of the dataset, and of 255."""
        return {VOID: VOID_CLASS, **dict(enumerate(self.naming.table.class_names))}

    def class_of(self, pixel: StoredPixel) -> str | None:
        """Returns the name of a pixel's class, or `void`; None if it has no class."""
        index = self.rule.class_of(*pixel)
        return None if index is None else self.class_names[index]

    @functools.cached_property
    def class_by_pixel(self) -> dict[StoredPixel, str | None]:
        """The class of each pixel in use; None if it has no class."""
        return {pixel: self.class_of(pixel) for pixel in self.survey.pixels}

    @property
    def pixels_without_class(self) -> list[StoredPixel]:
        """The pixels in use that have no class."""
        return [pixel for pixel, name in self.class_by_pixel.items() if name is None]

    @functools.cached_property
    def masks_read(self) -> int:
        """In how many masks each pixel has a class."""
        masks = self.survey.voc.masks  # every candidate reads the masks with VOC's palette
        for pixels, occurrence in self.survey.masks_by_pixels.items():
            if all(self.class_by_pixel[pixel] is not None for pixel in pixels):
                masks += occurrence.masks
        return masks

    @functools.cached_property
    def unused_names(self) -> list[str]:
        """The class names that no mask has. The user's rows do not count."""
        known = [*self.name_rule.values.values(), *(self.name_rule.colors or {}).values()]
        used = {self.name_rule.class_of(*pixel) for pixel in self.survey.pixels}
        return [name for name in dict.fromkeys(known) if name != VOID and name not in used]

    @functools.cached_property
    def index_by_value(self) -> dict[int, int]:
        """The class index of each value, also where colors give the classes."""
        index_by_value: dict[int, int] = {}
        if not self.rule.all_colors:
            index_by_value.update(self.rule.all_values)
        for pixel in self.survey.pixels:
            index = self.rule.class_of(*pixel)
            if index is not None and pixel.value is not None:
                index_by_value[pixel.value] = index
        return index_by_value

    @functools.cached_property
    def rows(self) -> Rows:
        """The candidate as a table of classes: what each value and color becomes.

        Where colors count, its values are those of grayscale masks; and all values of the rule, if
        palette masks are read by value.
        """
        index_by_key: dict[Key, int] = {}
        if self.by == "value" or not self.rule.all_colors:
            index_by_key.update(self.rule.all_values.items())
        if self.rule.all_colors:
            index_by_color = dict(self.rule.all_colors)
            for pixel in self.survey.pixels:
                index = self.rule.class_of(*pixel)
                if index is None:
                    continue
                if pixel.kind == "gray" and pixel.value is not None:
                    index_by_key[pixel.value] = index
                elif pixel.kind != "gray" and pixel.color:
                    index_by_color[pixel.color] = index
            index_by_key |= {color_key(color): index for color, index in index_by_color.items()}
        rows: list[tuple[Key, str]] = []
        for key, index in index_by_key.items():
            if isinstance(key, str) or key >= 0 or key in self.survey.values:
                rows.append((key, self.class_names[index]))
        return tuple(rows)


def list_candidates(namings: Sequence[ClassNaming], survey: Survey) -> list[MeaningCandidate]:
    """Returns the ways in which masks may be read, the most usual one first.

    Args:
      namings: the names of the classes; several if a class file may be numbered in two ways.
      survey: what the masks use.
    """
    candidates = []
    for naming in namings:
        if not naming.entries:
            candidates.append(make_rows_candidate(naming, survey))
            continue
        candidates += _list_value_candidates(naming, survey)
        if naming.has_colors:
            candidates.append(_make_file_color_candidate(naming, survey))
            candidates += _list_file_gray_candidates(naming, survey)
        else:
            candidates += _list_voc_color_candidates(naming, survey)
    return candidates


def make_rows_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """Returns the candidate of rows that say all; 255 and VOC's color of void need no row.

    It is by color if the user gave rows of colors, and none of values.
    """
    by_value = MeaningCandidate(
        by="value",
        kind="rows",
        naming=naming,
        source="as given",
        words="by value",
        survey=survey,
        name_rule=MaskRule(VOID_VALUES),
    )
    has_rgb_masks = any(pixel.kind == "rgb" for pixel in survey.pixels)
    if not has_rgb_masks and not naming.table.class_by_color:
        return by_value
    by_both = dataclasses.replace(by_value, name_rule=MaskRule(VOID_VALUES, {VOID_COLOR: VOID}))
    if naming.table.class_by_value:
        return by_both
    return dataclasses.replace(by_both, by="color", words="by the colors that you gave")


def _list_value_candidates(naming: ClassNaming, survey: Survey) -> list[MeaningCandidate]:
    """Values are the values of the class file, or the places of the user's names.

    If there are two classes, and masks of 0 and 255 alone, 255 may be the second class: the first
    is background in `0` and crack in `255`. It is not if masks show that 255 is void, or a class
    means void.
    """
    classes = naming.classes_by_value()
    numbering = f" ({naming.numbering})" if naming.numbering else ""
    by_value = MeaningCandidate(
        by="value",
        kind="values",
        naming=naming,
        source=_source_of_values(survey),
        words=f"by value{numbering}",
        survey=survey,
        name_rule=MaskRule({**VOID_VALUES, **classes}),
    )
    is_one_void = any(is_void(entry) for entry in naming.entries)
    if is_one_void or survey.void.masks:
        return [by_value]
    if classes.keys() != {0, 1} or not survey.values.keys() <= {0, VOID}:
        return [by_value]
    with_255 = dataclasses.replace(
        by_value,
        reads_255_as_class=True,
        words=f"by value, 255 being the second class{numbering}",
        name_rule=MaskRule({**VOID_VALUES, 0: classes[0], VOID: classes[1]}),
    )
    return [by_value, with_255]


def _source_of_values(survey: Survey) -> str:
    """Returns how masks store the values, in words: in grayscale, or with a kind of palette."""
    kinds = {pixel.kind for pixel in survey.pixels}
    if kinds == {"equal"}:
        return "with red, green and blue equal"
    if entries_out_of_place(survey):
        return "with a palette of their own"
    has_colored_entry = any(pixel.color != (pixel.value,) * 3 for pixel in survey.palette_entries)
    if survey.voc.masks or has_colored_entry:
        return "with VOC's palette"
    return "in grayscale"


def _make_file_color_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """Colors are those of the class file; and so are grays, if all in use are among them."""
    assert naming.file is not None
    classes = naming.classes_by_value()
    colors: dict[Color, ClassName] = {VOID_COLOR: VOID}
    for entry in naming.entries:
        if entry.color:
            colors[entry.color] = naming.class_of_entry(entry)
    white_is_void = classes.get(VOID, VOID) == VOID and WHITE not in colors
    gray_is_color = _grays_in_use_are_colors(survey, colors, white_is_void=white_is_void)
    return MeaningCandidate(
        by="color",
        kind="colors of file",
        naming=naming,
        source=f"from {naming.file.source}",
        words=f"by the colors of {naming.file.source}",
        survey=survey,
        name_rule=MaskRule({**VOID_VALUES, **classes}, colors, gray_is_color),
    )


def _grays_in_use_are_colors(
    survey: Survey, colors: Collection[Color], *, white_is_void: bool
) -> bool:
    """Says whether all values of grayscale masks are grays among the colors of a class file.

    Example: masks of 0 and 128, and a class file with 0,0,0 and 128,128,128. If all are 0, they
    show nothing. If white is void, 255 does not count.
    """
    values = {pixel.value for pixel in survey.pixels if pixel.kind == "gray"}
    if white_is_void:
        values.discard(VOID)
    if values <= {0}:
        return False
    gray_values = {color[0] for color in colors if len({*color}) == 1}
    return values <= gray_values


def _list_file_gray_candidates(naming: ClassNaming, survey: Survey) -> list[MeaningCandidate]:
    """The values of palette masks may mean the grays of the class file: 7 is the color 7,7,7."""
    assert naming.file is not None
    has_palettes = any(pixel.kind == "palette" for pixel in survey.pixels)
    values: dict[int, ClassName] = {}
    for entry in naming.entries:
        if entry.color and len({*entry.color}) == 1:
            values[entry.color[0]] = naming.class_of_entry(entry)
    has_shades = bool(values.keys() - {0})
    if not has_palettes or not has_shades:
        return []
    candidate = MeaningCandidate(
        by="value",
        kind="grays of file",
        naming=naming,
        source=f"the grays from {naming.file.source}",
        words=f"by the grays from {naming.file.source}",
        survey=survey,
        name_rule=MaskRule({**VOID_VALUES, **values}),
    )
    return [candidate]


def _list_voc_color_candidates(naming: ClassNaming, survey: Survey) -> list[MeaningCandidate]:
    """Returns the readings in which colors are those of VOC's palette.

    Color n is the class of value n (by order), or the class that VOC calls so (by name):

    | the names of the classes                                    | candidates        |
    |-------------------------------------------------------------|-------------------|
    | not all are VOC's, or VOC has them at the same values       | by order          |
    | VOC's at other values, of a class file                      | by order          |
    | the same, and a mask has a color at another value than VOC  | by order, by name |
    | all 21 of VOC's at other values, of the user                | by name           |
    | some of VOC's at other values, of the user                  | by order, by name |
    """
    has_colors = any(pixel.color not in (None, (pixel.value,) * 3) for pixel in survey.pixels)
    if not survey.voc.masks and not has_colors:
        return []  # some grays are VOC's by chance
    classes = {**VOID_VALUES, **naming.classes_by_value()}
    by_order = MeaningCandidate(
        by="color",
        kind="VOC order",
        naming=naming,
        source="with VOC's palette",
        words="by the colors of VOC's palette",
        survey=survey,
        name_rule=MaskRule(classes, _class_by_voc_color(classes)),
    )
    if not naming.has_voc_names_at_other_values():
        return [by_order]
    names: dict[int, ClassName] = {**VOID_VALUES, **naming.names_by_voc_number()}
    # Value n of gray masks is VOC's class n, too.
    by_name = dataclasses.replace(
        by_order,
        kind="VOC names",
        source="with VOC's palette, by name",
        words="by the colors of VOC's palette, by name",
        name_rule=MaskRule(names, {VOID_COLOR: VOID, **_class_by_voc_color(names)}),
    )
    if naming.file is not None:
        # The file's values count, unless a mask has a color of VOC at another value than VOC.
        has_voc_colors_elsewhere = any(
            pixel.color and VOC_NUMBERS.get(pixel.color) != pixel.value for pixel in survey.pixels
        )
        return [by_order, by_name] if has_voc_colors_elsewhere else [by_order]
    if naming.has_all_voc_names():
        return [by_name]
    return [by_order, by_name]


def _class_by_voc_color(classes: Mapping[int, ClassName]) -> dict[Color, ClassName]:
    """Returns the class of each color of VOC's palette whose number has one."""
    return {color: classes[number] for color, number in VOC_NUMBERS.items() if number in classes}


# Words for pixels.


def describe_pixel(pixel: StoredPixel) -> str:
    """Returns what a pixel has: `value 1`, `value 1 with color #800000`, `color #800000`."""
    if pixel.value is None:
        return f"color {color_key(pixel.color or BLACK)}"
    if pixel.kind == "palette" and pixel.color:
        return f"value {pixel.value} with color {color_key(pixel.color)}"
    return f"value {pixel.value}"


def compare_candidates(survey: Survey, candidates: Sequence[MeaningCandidate]) -> str:
    """Returns what pixels mean by each candidate, first those about which the candidates differ.

    For example `value 1 is cat by value and dog by the colors of VOC's palette.`
    """
    lines_of_agreed: list[str] = []
    lines_of_others: list[str] = []
    for pixel in sorted(survey.pixels, key=lambda pixel: -survey.pixels[pixel].pixels):
        words_by_name: dict[str | None, str] = {}
        for candidate in candidates:
            words_by_name.setdefault(candidate.class_of(pixel), candidate.words)
        meanings = [f"{name or 'no class'} {words}" for name, words in words_by_name.items()]
        line = f"{describe_pixel(pixel)} is {' and '.join(meanings)}"
        if len(words_by_name) > 1 or None in words_by_name:
            lines_of_others.append(line)
        else:
            lines_of_agreed.append(line)
    return list_first([*lines_of_others, *lines_of_agreed]) + "."


def list_first(texts: Sequence[str]) -> str:
    """Returns the first texts, and how many more there are."""
    more = len(texts) - MAX_LISTED_PIXELS
    if more <= 0:
        return "; ".join(texts)
    return "; ".join([*texts[:MAX_LISTED_PIXELS], f"and {more} more"])
