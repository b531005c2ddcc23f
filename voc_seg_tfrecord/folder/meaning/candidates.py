"""In which ways the masks of a set may be read: what each value and color would mean.

A mask is read by value or by color. Values mean what a class file or the user's names say. Where a
class file gives each class a color, its colors are a second way; without one, the colors of VOC's
palette are. The user's rows stand over every candidate.

Here a class is a name, or 255 for void: the rules of candidates have names until one is taken.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
from typing import Literal

from voc_seg_tfrecord.core.class_entries import is_void
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, color_of
from voc_seg_tfrecord.core.mask_rule import VOID_VALUES, MaskRule
from voc_seg_tfrecord.core.names import (
    VOC_NUMBERS,
    VOID,
    VOID_COLOR,
    WHITE,
    Color,
)
from voc_seg_tfrecord.folder.meaning.naming import ClassName, ClassNaming
from voc_seg_tfrecord.folder.meaning.palettes import entries_out_of_place
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey

CandidateKind = Literal[
    "rows", "values", "grays of file", "colors of file", "VOC order", "VOC names"
]
"""What gives the classes: see the function below that makes each kind."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MeaningCandidate:
    """One way to read the masks of a set.

    Equality compares `by`, `kind`, `source`, `numbering` and `reads_255_as_class`.

    Attributes:
      by: what of a pixel gives its class.
      kind: what gives the classes.
      source: the same in a few words that `check` prints: "gray values", "from labelmap.txt".
      numbering: how the class file is numbered, if it may be in two ways; see `ClassNaming`.
      reads_255_as_class: whether 255 is the second of two classes, and not void.
      naming: what gives the classes their names.
      name_rule: the class name, or 255, of each value and color, without the user's rows.
      star_classes: the class of each value and color in use that the user's `*` takes.
    """

    by: Literal["value", "color"]
    kind: CandidateKind
    source: str
    numbering: str
    reads_255_as_class: bool = False
    naming: ClassNaming = dataclasses.field(compare=False)
    name_rule: MaskRule = dataclasses.field(compare=False)
    star_classes: Mapping[Key, str] = dataclasses.field(default_factory=dict, compare=False)

    @functools.cached_property
    def rule(self) -> MaskRule:
        """The rule with the class indices of the dataset, 255 being void, and the user's rows."""
        table = self.naming.table
        star_indices: dict[int | Color, int] = {}
        for key, name in self.star_classes.items():
            pixel = key if isinstance(key, int) else color_of(key)
            if pixel is not None:
                star_indices[pixel] = table.index(name)
        return dataclasses.replace(
            self.name_rule.with_classes(self._index_of),
            given_values={value: table.index(name) for value, name in table.class_by_value.items()},
            given_colors={color: table.index(name) for color, name in table.class_by_color.items()},
            star_classes=star_indices,
        )

    def _index_of(self, name: ClassName) -> int | None:
        """Returns the index that a class of the masks gets; None if the dataset has none for it."""
        if isinstance(name, int):
            return VOID
        return self._index_by_name.get(self.naming.table.target(name))

    @functools.cached_property
    def _index_by_name(self) -> dict[str, int]:
        """The index of each class of the dataset, and of `void`."""
        return {name: index for index, name in self.class_names.items()}

    @property
    def uses_file_colors(self) -> bool:
        """Whether the colors of a class file give the classes."""
        return self.kind == "colors of file"

    @property
    def has_rows_alone(self) -> bool:
        """Whether the user's rows give all classes, without a class file or names."""
        return self.kind == "rows"

    @functools.cached_property
    def class_names(self) -> dict[int, str]:
        """The name of each class index of the dataset, and of 255."""
        return {VOID: VOID_CLASS, **dict(enumerate(self.naming.table.class_names))}

    def class_of(self, pixel: StoredPixel) -> str | None:
        """Returns the name of a pixel's class, or `void`; None if it has no class."""
        index = self.rule.class_of(*pixel)
        return None if index is None else self.class_names[index]

    def reads(self, pixels: Iterable[StoredPixel]) -> bool:
        """Says whether each of some pixels has a class."""
        return all(self.class_of(pixel) is not None for pixel in pixels)

    def unused_names(self, survey: Survey) -> list[str]:
        """Returns the class names that no mask has. The user's rows do not count."""
        known = [*self.name_rule.values.values(), *(self.name_rule.colors or {}).values()]
        used = {self.name_rule.class_of(*pixel) for pixel in survey.pixels}
        return [name for name in dict.fromkeys(known) if name != VOID and name not in used]


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
        if not naming.has_values:
            candidates.append(_make_file_color_candidate(naming, survey))
            continue
        candidates.append(_make_value_candidate(naming, survey))
        if _may_have_255_as_class(naming, survey):
            candidates.append(_make_255_candidate(naming, survey))
        if naming.has_colors:
            candidates.append(_make_file_color_candidate(naming, survey))
            candidates += _list_file_gray_candidates(naming, survey)
        else:
            candidates += _list_voc_color_candidates(naming, survey)
    return candidates


def _make_candidate(
    kind: CandidateKind,
    by: Literal["value", "color"],
    source: str,
    naming: ClassNaming,
    rule: MaskRule,
) -> MeaningCandidate:
    return MeaningCandidate(
        by=by, kind=kind, source=source, numbering=naming.numbering, naming=naming, name_rule=rule
    )


def make_rows_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """Returns the candidate of rows that say all; 255 and VOC's color of void need no row.

    It is by color if the user gave rows of colors, and none of values.
    """
    has_rgb_masks = any(pixel.kind == "rgb" for pixel in survey.pixels)
    by_color = has_rgb_masks or bool(naming.table.class_by_color)
    rule = MaskRule(VOID_VALUES, {VOID_COLOR: VOID} if by_color else None)
    by: Literal["value", "color"] = "value"
    if by_color and not naming.table.class_by_value:
        by = "color"
    return _make_candidate("rows", by, "as you said", naming, rule)


def _make_value_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """Values are the values of the class file, or the places of the user's names."""
    rule = MaskRule({**VOID_VALUES, **naming.classes_by_value()})
    return _make_candidate("values", "value", _source_of_values(survey), naming, rule)


def _source_of_values(survey: Survey) -> str:
    """Returns what the values are, in words: those of gray masks, or of a kind of palette."""
    kinds = {pixel.kind for pixel in survey.pixels}
    if kinds == {"equal"}:
        return "red, green and blue equal"
    if entries_out_of_place(survey):
        return "a private palette"
    has_colored_entry = any(pixel.color != (pixel.value,) * 3 for pixel in survey.palette_entries)
    if survey.voc.masks or has_colored_entry:
        return "VOC's palette"
    return "gray values"


def _may_have_255_as_class(naming: ClassNaming, survey: Survey) -> bool:
    """Says whether there are two classes, and masks of 0 and 255 alone, where 255 is not void."""
    if any(is_void(entry) for entry in naming.entries) or survey.void.masks:
        return False
    has_two_classes = naming.classes_by_value().keys() == {0, 1}
    return has_two_classes and survey.values.keys() <= {0, VOID}


def _make_255_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """255 is the second of two classes: the first is background in `0` and crack in `255`."""
    classes = naming.classes_by_value()
    rule = MaskRule({**VOID_VALUES, 0: classes[0], VOID: classes[1]})
    candidate = _make_candidate("values", "value", _source_of_values(survey), naming, rule)
    return dataclasses.replace(candidate, reads_255_as_class=True)


def _make_file_color_candidate(naming: ClassNaming, survey: Survey) -> MeaningCandidate:
    """Colors are those of the class file; and so are grays, if all in use are among them."""
    classes = naming.classes_by_value() if naming.has_values else {}
    colors: dict[Color, ClassName] = {VOID_COLOR: VOID}
    for entry in naming.entries:
        if entry.color:
            colors[entry.color] = naming.class_of_entry(entry)
    white_is_void = classes.get(VOID, VOID) == VOID and WHITE not in colors
    gray_is_color = _grays_in_use_are_colors(survey, colors, white_is_void=white_is_void)
    rule = MaskRule({**VOID_VALUES, **classes}, colors, gray_is_color)
    return _make_candidate("colors of file", "color", _source_of_file(naming), naming, rule)


def _grays_in_use_are_colors(
    survey: Survey, colors: Collection[Color], *, white_is_void: bool
) -> bool:
    """Says whether all values of grayscale masks are grays among the colors of a class file.

    Example: masks of 0 and 128, and a class file with 0,0,0 and 128,128,128. If all are 0, they
    show nothing. If white is void, 255 does not count.
    """
    grays = {pixel.value for pixel in survey.pixels if pixel.kind == "gray"}
    if white_is_void:
        grays.discard(VOID)
    if grays <= {0}:
        return False
    return all((gray, gray, gray) in colors for gray in grays)


def _list_file_gray_candidates(naming: ClassNaming, survey: Survey) -> list[MeaningCandidate]:
    """The values of palette masks may mean the grays of the class file: 7 is the color 7,7,7."""
    has_palettes = any(pixel.kind == "palette" for pixel in survey.pixels)
    values: dict[int, ClassName] = {}
    for entry in naming.entries:
        if entry.color is None:
            continue
        red, green, blue = entry.color
        if red == green == blue:
            values[red] = naming.class_of_entry(entry)
    has_shades = bool(values.keys() - {0})
    if not has_palettes or not has_shades:
        return []
    rule = MaskRule({**VOID_VALUES, **values})
    source = f"the grays {_source_of_file(naming)}"
    return [_make_candidate("grays of file", "value", source, naming, rule)]


def _source_of_file(naming: ClassNaming) -> str:
    return "" if naming.file is None else f"from {naming.file.source}"


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
    if not survey.voc.masks and not _has_colors(survey):
        return []  # some grays are VOC's by chance
    by_order = _make_voc_order_candidate(naming)
    if not naming.has_voc_names_at_other_values():
        return [by_order]
    by_name = _make_voc_names_candidate(naming)
    if naming.file is not None:
        # The file's values count, unless a mask has a color of VOC at another value than VOC.
        return [by_order, by_name] if _has_voc_colors_elsewhere(survey) else [by_order]
    if naming.has_all_voc_names():
        return [by_name]
    return [by_order, by_name]


def _has_colors(survey: Survey) -> bool:
    """Says whether a pixel has another color than the gray of its value."""
    for pixel in survey.pixels:
        if pixel.color is not None and pixel.color != (pixel.value,) * 3:
            return True
    return False


def _has_voc_colors_elsewhere(survey: Survey) -> bool:
    """Says whether a pixel has a color that VOC's palette has not at its value."""
    for pixel in survey.pixels:
        if pixel.color and VOC_NUMBERS.get(pixel.color) != pixel.value:
            return True
    return False


def _make_voc_order_candidate(naming: ClassNaming) -> MeaningCandidate:
    """Color n of VOC's palette is the class of value n."""
    classes = {**VOID_VALUES, **naming.classes_by_value()}
    colors: dict[Color, ClassName] = {}
    for color, number in VOC_NUMBERS.items():
        if number in classes:
            colors[color] = classes[number]
    rule = MaskRule(classes, colors)
    return _make_candidate("VOC order", "color", "with VOC's palette", naming, rule)


def _make_voc_names_candidate(naming: ClassNaming) -> MeaningCandidate:
    """Color n of VOC's palette is VOC's class n, by its name, and so is value n of gray masks."""
    names = naming.names_by_voc_number()
    assert names is not None  # all names are VOC's; see `_list_voc_color_candidates`
    colors: dict[Color, ClassName] = {VOID_COLOR: VOID}
    for color, number in VOC_NUMBERS.items():
        if number in names:
            colors[color] = names[number]
    rule = MaskRule({**VOID_VALUES, **names}, colors)
    return _make_candidate("VOC names", "color", "with VOC's palette, by name", naming, rule)
