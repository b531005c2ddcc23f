"""The table of doubts: why the labels may be wrong although one candidate is left.

`DOUBTS` are looked at in their order. If one holds, the user is asked.
"""

from collections.abc import Callable, Collection
import dataclasses

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, color_key
from voc_seg_tfrecord.core.names import (
    BLACK,
    VOC_NUMBERS,
    VOID,
    VOID_COLOR,
    WHITE,
    Color,
    background_index,
)
from voc_seg_tfrecord.folder.meaning import palettes
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.naming import ClassName
from voc_seg_tfrecord.folder.meaning.words import describe_pixel
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey


@dataclasses.dataclass(frozen=True)
class Doubt:
    """Why the one candidate that is left may be wrong.

    Attributes:
      where: the first mask that shows it.
      words: what it shows, in words that a user reads.
    """

    where: str
    words: str


DoubtRule = Callable[[MeaningCandidate, Survey], Doubt | None]


def voc_colors_are_in_another_order(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """Palettes with only VOC's colors, in another order than VOC's, contradict the values.

    Example: value 1 has VOC's color of a person. This is checked only if a class file has other
    colors; without one, VOC's colors are a reading of their own.
    """
    if not candidate.naming.has_colors:
        return None  # VOC's colors are a candidate then
    if candidate.naming.table.class_by_value:
        return None
    if not _palettes_may_contradict(candidate, survey):
        return None
    pixels = [pixel for pixel in survey.pixels if pixel.kind == "palette"]
    for pixel in pixels:
        if pixel.color not in VOC_NUMBERS:
            return None
    words = "VOC's colors in another order, and no class file with them"
    return Doubt(survey.pixels[pixels[0]].first, f"{words}. So values and colors contradict")


def black_is_not_value_0(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """Black at another palette index than 0 contradicts the values: black is background.

    Example: a palette of red and black, where value 0 would be background.
    """
    if not _palettes_may_contradict(candidate, survey):
        return None
    for pixel in _entries_without_row(candidate, survey):
        if pixel.value and pixel.color == BLACK:
            words = f"black at palette index {pixel.value}. So values and colors contradict"
            return Doubt(survey.pixels[pixel].first, words)
    return None


def void_color_is_not_value_255(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """VOC's color of void at another palette index than 255 contradicts the values.

    Example: a palette of black, 224,224,192 and red, where value 1 would be a class.
    """
    if not _palettes_may_contradict(candidate, survey):
        return None
    for pixel in _entries_without_row(candidate, survey):
        if pixel.value != VOID and pixel.color == VOID_COLOR:
            words = f"VOC's color of void at palette index {pixel.value}"
            found = f"{words}. So values and colors contradict"
            return Doubt(survey.pixels[pixel].first, found)
    return None


def a_value_has_several_colors(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """A value with different colors in different masks contradicts the values.

    Example: value 1 is red in `a.png` and green in `b.png`. Random palettes do not count.
    """
    if not _palettes_may_contradict(candidate, survey):
        return None
    values_with_several_colors = palettes.values_with_several_colors(survey)
    contradicting_pixels = []
    for pixel in _entries_without_row(candidate, survey):
        if pixel.value in values_with_several_colors:
            contradicting_pixels.append(pixel)
    if not contradicting_pixels or palettes.are_random(survey):
        return None
    pixel = contradicting_pixels[0]
    color = color_key(pixel.color or BLACK)
    words = f"palette index {pixel.value} has the color {color} here, and others elsewhere"
    return Doubt(survey.pixels[pixel].first, f"{words}. So values and colors contradict")


def most_masks_hold_0_and_255_alone(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """255 may be a class if more masks hold 255 with only 0 than hold 255 with a class.

    Example: three names, two masks of 0 and 255, and one of 0, 1 and 255.
    """
    if not reads_255_as_void_without_row(candidate):
        return None
    if survey.binary.masks <= survey.void.masks:
        return None
    return Doubt(survey.binary.first, f"{count_255(survey)}. So 255 may be void or a class")


def gray_values_contradict_black_or_white(
    candidate: MeaningCandidate, survey: Survey
) -> Doubt | None:
    """In grayscale masks, white or black is one class by its value and another by its color.

    Example: labelmap.txt has defect as 255,255,255 in line 1 and background as 0,0,0 in line 2. In
    a mask of 1 bit, 0 is defect by its value and background by its color.
    """
    naming = candidate.naming
    if not naming.has_colors:
        return None
    class_by_color: dict[Color, ClassName] = {}
    for entry in naming.entries:
        if entry.color:
            class_by_color[entry.color] = naming.class_of_entry(entry)
    for value, color in _values_of_black_and_white(class_by_color).items():
        pixel = StoredPixel("gray", value, None)
        if pixel not in survey.pixels or value in naming.table.class_by_value:
            continue
        by_value = candidate.name_rule.class_of(*pixel)
        if by_value != class_by_color[color]:
            return Doubt(
                survey.pixels[pixel].first,
                f"value {value} of grayscale masks is {_name_class(by_value)} by value, and "
                f"{_name_class(class_by_color[color])} by its color {color_key(color)}",
            )
    return None


def background_is_not_value_0(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """A background that its class file lists later contradicts 0 on most pixels.

    Example: `classes.txt` has road, car and background, and 0 is on 94 % of the pixels.
    """
    background = background_listed_later(candidate)
    if background is None or 0 in candidate.naming.table.class_by_value:
        return None
    if survey.palette_entries or 0 not in survey.values:
        return None
    share = survey.values[0] / sum(survey.values.values())
    name_of_0 = candidate.name_rule.values.get(0)
    if share <= 0.5 or name_of_0 == VOID:
        return None
    words = (
        f"value 0 on {share:.0%} of the pixels is {_name_class(name_of_0)} by the order of "
        f"{background.source}, and {background.name} is value {background.value}"
    )
    first = next(seen.first for pixel, seen in survey.pixels.items() if pixel.value == 0)
    return Doubt(first, words)


@dataclasses.dataclass(frozen=True)
class ListedBackground:
    """The background of a class file.

    Attributes:
      source: the class file.
      name: its name.
      value: its value.
    """

    source: str
    name: str
    value: int


def background_listed_later(candidate: MeaningCandidate) -> ListedBackground | None:
    """Returns the background of a class file that does not list it first.

    It is the class that is named so, or else the one that is black. None if there is no such class,
    if masks are read by color, or if the file gives values and no colors.
    """
    file = candidate.naming.file
    if file is None or candidate.by != "value" or candidate.kind != "values":
        return None
    entries = file.entries
    if [entry.value for entry in entries] != [*range(len(entries))]:
        return None
    gives_values = not all(entry.by_place for entry in entries)
    if gives_values and not file.has_colors:
        return None
    index = background_index([entry.name for entry in entries])
    if index is None:
        black = [number for number, entry in enumerate(entries) if entry.color == BLACK]
        if len(black) != 1:
            return None
        index = black[0]
    entry = entries[index]
    if entry.value == 0 or candidate.naming.class_of_entry(entry) == VOID:
        return None
    return ListedBackground(file.source, entry.name, entry.value)


def _values_of_black_and_white(colors: Collection[Color]) -> dict[int, Color]:
    """Returns the colors that grayscale values show, of those in a class file.

    255 shows white. 0 shows black if the file has black and white alone: then masks are black and
    white, also those of 1 bit.
    """
    color_by_value: dict[int, Color] = {}
    if set(colors) == {BLACK, WHITE}:
        color_by_value[0] = BLACK
    if WHITE in colors:
        color_by_value[VOID] = WHITE
    return color_by_value


def _name_class(name: ClassName | None) -> str:
    """Returns the words for a class in a message."""
    if name is None:
        return "no class"
    return VOID_CLASS if name == VOID else str(name)


def transparent_pixels_have_a_class(candidate: MeaningCandidate, survey: Survey) -> Doubt | None:
    """Transparent pixels show nothing, so a class under them is doubtful unless a row names it.

    Example: an object is black and opaque, and what is around it white and transparent.
    """
    for pixel, occurrence in survey.transparent.items():
        if pixel.kind == "palette" or candidate.rule.given_classes(pixel.value, pixel.color):
            continue
        name = candidate.class_of(pixel)
        is_first_of_user = candidate.naming.file is None and candidate.rule.class_of(*pixel) == 0
        is_void_by_name = name == VOID_CLASS and pixel.value != VOID
        is_background = name == candidate.naming.table.background_name
        if not (is_background or is_void_by_name or is_first_of_user):
            words = (
                f"{describe_pixel(pixel)}, read as {_name_class(name)}, under transparent pixels"
            )
            return Doubt(occurrence.first, words)
    return None


def only_transparency_tells_classes_apart(
    candidate: MeaningCandidate, survey: Survey
) -> Doubt | None:
    """If masks hold one color, some of it transparent, then the alpha channel may be the mask."""
    if len(survey.pixels) > 1 or survey.voc.masks:
        return None
    for pixel, occurrence in survey.transparent.items():
        has_row = bool(candidate.rule.given_classes(pixel.value, pixel.color))
        if pixel.kind != "palette" and not has_row:
            words = f"{describe_pixel(pixel)} alone, so the classes may be in the transparency"
            return Doubt(occurrence.first, words)
    return None


def _palettes_may_contradict(candidate: MeaningCandidate, survey: Survey) -> bool:
    """Says whether palettes can contradict a candidate."""
    return candidate.by == "value" and bool(palettes.entries_out_of_place(survey))


def _entries_without_row(candidate: MeaningCandidate, survey: Survey) -> list[StoredPixel]:
    """Returns the palette entries in use to whose values the user gave no class."""
    given = candidate.naming.table.class_by_value
    return [p for p in survey.pixels if p.kind == "palette" and p.value not in given]


def reads_255_as_void_without_row(candidate: MeaningCandidate) -> bool:
    """Says whether a candidate reads masks by value, and 255 as void though no row says so."""
    has_row = VOID in candidate.naming.table.class_by_value
    is_void = candidate.rule.class_of("gray", VOID, None) == VOID
    is_void_by_name = candidate.name_rule.values.get(VOID) == VOID
    return candidate.by == "value" and not has_row and is_void and is_void_by_name


def count_255(survey: Survey) -> str:
    """Returns in how many masks 255 may be a class, and in how many it is void, in words."""
    binary = survey.binary
    words = (
        f"{binary.masks} of {survey.examined} masks hold nothing but 255 and 0, the first is "
        f"{binary.first}"
    )
    if not survey.void.masks:
        return words
    return f"{words}; {survey.void.masks} masks show 255 to be void"


DOUBTS: tuple[DoubtRule, ...] = (
    gray_values_contradict_black_or_white,
    background_is_not_value_0,
    voc_colors_are_in_another_order,
    black_is_not_value_0,
    void_color_is_not_value_255,
    a_value_has_several_colors,
    most_masks_hold_0_and_255_alone,
    transparent_pixels_have_a_class,
    only_transparency_tells_classes_apart,
)
"""Why the user is asked although one candidate is left."""
