"""The table of rules about the meaning of masks: which candidate loses, asks, or needs a note.

`RULES` are applied in their order by `decide.decide`.
"""

import collections
from collections.abc import Container, Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.core.class_entries import ClassEntry, is_void_name, may_be_background
from voc_seg_tfrecord.core.class_rows import (
    VOID_CLASS,
    WILDCARD,
    color_key,
    format_pairs,
    is_name,
    table_error,
)
from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted
from voc_seg_tfrecord.core.mask_rule import Class
from voc_seg_tfrecord.core.names import (
    BLACK,
    VOC_NUMBERS,
    VOID,
    VOID_COLOR,
    WHITE,
    Color,
    background_index,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, Survey
from voc_seg_tfrecord.folder.meaning import palettes
from voc_seg_tfrecord.folder.meaning.candidates import (
    ClassName,
    MeaningCandidate,
    compare_candidates,
    describe_pixel,
    list_first,
)
from voc_seg_tfrecord.tools.class_file import ClassFile

UNDECIDED = "meaning of masks"
"""The kind of the error that it is not known what masks mean."""


def undecided(where: str, found: str, remedy: str) -> MaskError:
    """Returns the error that it is not known what masks mean."""
    return MaskError(
        where,
        found=found,
        expected="masks in which each value or color can mean only one class",
        remedy=remedy,
        kind=UNDECIDED,
    )


@dataclasses.dataclass(frozen=True)
class MeaningEvidence:
    """What rules look at beside candidates.

    Attributes:
      candidates: all candidates, the most usual one first.
      survey: what the masks use.
      remedy: what a user can do where the masks do not tell.
    """

    candidates: Sequence[MeaningCandidate]
    survey: Survey
    remedy: str

    def ask(self, pixel: StoredPixel, words: str) -> MaskError:
        """Returns the question about a candidate, because of the first mask that has a pixel."""
        return undecided(self.survey.pixels[pixel].first, words, self.remedy)

    @functools.cached_property
    def has_values_of_one_color(self) -> bool:
        """Whether a mask has two values of one color."""
        return palettes.has_values_of_one_color(self.survey)

    @functools.cached_property
    def palettes_were_packed(self) -> bool:
        """Whether the palettes were made of the colors in use; see `palettes.were_packed`."""
        naming = self.candidates[0].naming
        return palettes.were_packed(self.survey, names_are_voc=naming.has_all_voc_names())

    @functools.cached_property
    def file_colors_are_used(self) -> bool:
        """Whether masks use the colors of the class file."""
        return any(_uses_file_colors(candidate, self.survey) for candidate in self.candidates)


def _uses_file_colors(candidate: MeaningCandidate, survey: Survey) -> bool:
    """Says whether a candidate's masks use colors of the class file other than black.

    Masks that are black everywhere use them too, and so do gray masks whose values are colors of
    the file.
    """
    if not candidate.uses_file_colors:
        return False
    file_colors = {entry.color for entry in candidate.naming.entries} - {BLACK}
    if not file_colors:
        return False
    # A candidate is made with this rule only if the masks' gray values are grays of the file.
    if candidate.name_rule.gray_is_color:
        return True
    used_colors = survey.colors.keys()
    return used_colors == {BLACK} or not used_colors.isdisjoint(file_colors)


# Rules by which a candidate loses.


def two_values_have_one_color(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """Colors lose to values if a mask uses two values of one color.

    Example: in a palette of white, white and black, values 0 and 1 look alike and are two classes.
    """
    return candidate.by == "color" and other.by == "value" and evidence.has_values_of_one_color


def palettes_were_packed(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """Values lose to colors if every mask has a palette of only the colors that it uses.

    Example: value 1 is VOC's color of a person in one mask, and that of a car in the next one.
    """
    if candidate.by != "value" or other.by != "color" or not evidence.palettes_were_packed:
        return False
    return candidate.masks_read <= other.masks_read


def masks_use_the_colors_of_the_class_file(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """If masks use a color of the class file, readings by the file's colors win.

    Example: labelmap.txt has crack as 255,0,0, and red is value 0 of the masks' palettes.
    """
    wins = other.uses_file_colors and not candidate.uses_file_colors
    return wins and evidence.file_colors_are_used


def reads_fewer_masks(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A reading loses to one that gives a class to all pixels of more masks, or to more values.

    Example: the names are background and person, and a mask has the values 0 and 15, which is
    VOC's number of person. By value, 15 is not a class.
    """
    del evidence
    if candidate.masks_read != other.masks_read:
        return candidate.masks_read < other.masks_read
    return len(candidate.pixels_without_class) > len(other.pixels_without_class)


def a_class_would_never_occur(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A reading with a class that occurs in no mask loses to one that uses all its classes.

    Example: `classes.txt` has cat and dog, and masks have the values 0 and 1. With background as 0,
    no mask would have a dog.
    """
    del evidence
    return bool(candidate.unused_names) and not other.unused_names


def its_tool_numbers_otherwise(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """A numbering of a class file loses to the one that its tool writes.

    Example: labelme does not count `__ignore__` in the first line of `class_names.txt`.
    """
    del evidence
    file, other_file = candidate.naming.file, other.naming.file
    if file is None or other_file is None:
        return False
    return other_file.is_preferred_numbering and not file.is_preferred_numbering


def means_the_same(
    candidate: MeaningCandidate, other: MeaningCandidate, evidence: MeaningEvidence
) -> bool:
    """If two readings give each pixel the same class, the one with more classes loses.

    Example: `colors.txt` has no background, and no mask has black. Then no class is added for it.
    """
    if candidate.class_by_pixel != other.class_by_pixel:
        return False
    number = len(candidate.naming.table.class_names)
    number_of_other = len(other.naming.table.class_names)
    if number != number_of_other:
        return number > number_of_other
    return evidence.candidates.index(candidate) > evidence.candidates.index(other)


# Rules that ask although one candidate is left.


def gray_values_contradict_black_or_white(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """In grayscale masks, white or black is one class by its value and another by its color.

    Example: labelmap.txt has defect as 255,255,255 in line 1 and background as 0,0,0 in line 2. In
    a mask of 1 bit, 0 is defect by its value and background by its color.
    """
    naming = taken.naming
    if not naming.has_colors:
        return None
    class_by_color: dict[Color, ClassName] = {}
    for entry in naming.entries:
        if entry.color:
            class_by_color[entry.color] = naming.class_of_entry(entry)
    color_by_value = {VOID: WHITE}
    if class_by_color.keys() == {BLACK, WHITE}:  # masks are black and white, also those of 1 bit
        color_by_value = {0: BLACK, VOID: WHITE}
    for value, color in color_by_value.items():
        pixel = StoredPixel("gray", value, None)
        if color not in class_by_color or pixel not in evidence.survey.pixels:
            continue
        class_by_value = taken.name_rule.class_of(*pixel)
        class_of_color = class_by_color[color]
        if class_by_value != class_of_color and value not in naming.table.class_by_value:
            return evidence.ask(
                pixel,
                f"value {value} of grayscale masks is {_name_class(class_by_value)} by value, and "
                f"{_name_class(class_of_color)} by its color {color_key(color)}",
            )
    return None


def _name_class(name: ClassName | None) -> str:
    """Returns the words for a class in a message."""
    if name is None:
        return "no class"
    return VOID_CLASS if name == VOID else str(name)


def background_is_not_value_0(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """A background that its class file lists later contradicts 0 on most pixels.

    Example: `classes.txt` has road, car and background, and 0 is on 94 % of the pixels.
    """
    background = background_listed_later(taken, evidence.survey)
    if background is None or taken.naming.file is None:
        return None
    values = evidence.survey.values
    words = (
        f"value 0 on {values[0] / sum(values.values()):.0%} of the pixels is "
        f"{_name_class(taken.name_rule.values.get(0))} by the order of "
        f"{taken.naming.file.source}, and {background.name} is value {background.value}"
    )
    return evidence.ask(next(p for p in evidence.survey.pixels if p.value == 0), words)


def background_listed_later(candidate: MeaningCandidate, survey: Survey) -> ClassEntry | None:
    """Returns the background of a class file that does not list it first, if 0 is on most pixels.

    It is the class that is named so, or else the one that is black. None if there is no such class,
    if masks are read by color, if the file gives values and no colors, or if the user gave 0 a
    class.
    """
    file = candidate.naming.file
    if file is None or candidate.kind != "values" or survey.palette_entries:
        return None
    has_row = 0 in candidate.naming.table.class_by_value
    if has_row or candidate.name_rule.values.get(0) == VOID:
        return None
    half_of_pixels = sum(survey.values.values()) / 2
    if survey.values.get(0, 0) <= half_of_pixels:
        return None
    background = _find_background(file)
    if background is None or background.value == 0:
        return None
    if candidate.naming.class_of_entry(background) == VOID:
        return None
    return background


def _find_background(file: ClassFile) -> ClassEntry | None:
    """Returns the background of a class file that is numbered from 0, by its name or as black.

    None if there is none, or if the file gives values and no colors: then its values count.
    """
    entries = file.entries
    has_no_values = all(entry.by_place for entry in entries)
    if not has_no_values and not file.has_colors:
        return None
    values = [entry.value for entry in entries]
    if values != [*range(len(values))]:
        return None
    index = background_index([entry.name for entry in entries])
    if index is not None:
        return entries[index]
    black = [entry for entry in entries if entry.color == BLACK]
    if len(black) != 1:
        return None
    return black[0]


def voc_colors_are_in_another_order(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """Palettes with only VOC's colors, in another order than VOC's, contradict the values.

    Example: value 1 has VOC's color of a person. This is checked only if a class file has other
    colors; without one, VOC's colors are a reading of their own.
    """
    if not taken.naming.has_colors or taken.naming.table.class_by_value:
        return None
    entries = _list_doubtful_entries(taken, evidence)
    colors = {pixel.color for pixel in entries}
    if not colors or not colors <= VOC_NUMBERS.keys():
        return None
    words = "VOC's colors in another order, and no class file with them"
    return evidence.ask(entries[0], f"{words}. So values and colors contradict")


def black_or_void_color_is_elsewhere(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """Black at another palette index than 0 contradicts the values: black is background.

    So does VOC's color of void at another index than 255. Example: a palette of red and black,
    where value 0 would be background.
    """
    places = {BLACK: (0, "black"), VOID_COLOR: (VOID, "VOC's color of void")}
    for pixel in _list_doubtful_entries(taken, evidence):
        if pixel.color not in places:
            continue
        place, name = places[pixel.color]
        if pixel.value != place:
            words = f"{name} at palette index {pixel.value}. So values and colors contradict"
            return evidence.ask(pixel, words)
    return None


def a_value_has_several_colors(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """A value with different colors in different masks contradicts the values.

    Example: value 1 is red in `a.png` and green in `b.png`. Random palettes do not count.
    """
    values_with_several_colors = palettes.values_with_several_colors(evidence.survey)
    for pixel in _list_doubtful_entries(taken, evidence):
        if pixel.value in values_with_several_colors:
            if palettes.are_random(evidence.survey):
                return None
            color = color_key(pixel.color or BLACK)
            words = f"palette index {pixel.value} has the color {color} here, and others elsewhere"
            return evidence.ask(pixel, f"{words}. So values and colors contradict")
    return None


def _list_doubtful_entries(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> Sequence[StoredPixel]:
    """Returns the palette entries that may contradict a candidate by value.

    They are those in use to whose values the user gave no class, if one of all is out of place.
    """
    if taken.by != "value" or not palettes.entries_out_of_place(evidence.survey):
        return ()
    given = taken.naming.table.class_by_value
    pixels = evidence.survey.pixels
    return [pixel for pixel in pixels if pixel.kind == "palette" and pixel.value not in given]


def most_masks_hold_0_and_255_alone(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """255 may be a class if more masks hold 255 with only 0 than hold 255 with a class.

    Example: three names, two masks of 0 and 255, and one of 0, 1 and 255.
    """
    survey = evidence.survey
    if not _reads_255_as_void_without_row(taken) or not survey.is_255_doubtful:
        return None
    words = f"{_count_255(survey)}. So 255 may be void or a class"
    return undecided(survey.binary.first, words, evidence.remedy)


def _reads_255_as_void_without_row(candidate: MeaningCandidate) -> bool:
    """Says whether a candidate reads masks by value, and 255 as void though no row says so."""
    has_row = VOID in candidate.naming.table.class_by_value
    is_void = candidate.rule.class_of("gray", VOID, None) == VOID
    is_void_by_name = candidate.name_rule.values.get(VOID) == VOID
    return candidate.by == "value" and not has_row and is_void and is_void_by_name


def _count_255(survey: Survey) -> str:
    """Returns in how many masks 255 may be a class, and in how many it is void, in words."""
    binary = survey.binary
    words = (
        f"{binary.masks} of {survey.examined} masks hold nothing but 255 and 0, the first is "
        f"{binary.first}"
    )
    if not survey.void.masks:
        return words
    return f"{words}; {survey.void.masks} masks show 255 to be void"


def transparent_pixels_have_a_class(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> MaskError | None:
    """Transparent pixels show nothing, so a class under them is doubtful unless a row names it.

    If masks hold one color, some of it transparent, then the alpha channel may be the mask.
    Example: an object is black and opaque, and what is around it white and transparent.
    """
    survey = evidence.survey
    is_one_color = len(survey.pixels) == 1 and not survey.voc.masks
    for pixel, occurrence in survey.transparent.items():
        has_row = bool(taken.rule.given_classes(pixel.value, pixel.color))
        if has_row or pixel.kind == "palette":
            continue
        if is_one_color:
            words = f"{describe_pixel(pixel)} alone, so the classes may be in the transparency"
            return undecided(occurrence.first, words, evidence.remedy)
        if not _shows_nothing(pixel, taken):
            name = _name_class(taken.class_of(pixel))
            words = f"{describe_pixel(pixel)}, read as {name}, under transparent pixels"
            return undecided(occurrence.first, words, evidence.remedy)
    return None


def _shows_nothing(pixel: StoredPixel, taken: MeaningCandidate) -> bool:
    """Says whether a pixel is background, void by its name, or of the first class of the user."""
    name = taken.class_of(pixel)
    if name == taken.naming.table.background_name:
        return True
    if name == VOID_CLASS:
        return pixel.value != VOID
    return taken.naming.file is None and taken.rule.class_of(*pixel) == 0


def rows_give_a_color_two_classes(
    taken: MeaningCandidate, evidence: MeaningEvidence
) -> VocSegError | None:
    """Where colors give the classes, rows by value may not give one color two classes.

    Example: red is value 1 in one palette and value 2 in another one, and you say `1=car,2=bus`.
    """
    rule = taken.rule
    pixels = evidence.survey.pixels
    if not rule.given_values:
        return None
    if taken.by == "value" and all(pixel.kind != "rgb" for pixel in pixels):
        return None
    classes_by_color: dict[Color, set[Class]] = collections.defaultdict(set)
    for pixel in pixels:
        if pixel.color is None or pixel.kind == "gray":
            continue
        classes = rule.given_classes(pixel.value, pixel.color) or {rule.class_of(*pixel)}
        classes_by_color[pixel.color] |= classes - {None}
    for color, classes in classes_by_color.items():
        if len(classes) > 1:
            names = " and ".join(taken.class_names[index] for index in classes)
            return table_error(
                f"rows with values, by which pixels of {color_key(color)} are {names}",
                "rows with colors or names, because colors give the classes of these masks",
            )
    return None


# Notes.


def _note_255_as_class(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    del evidence
    if not taken.reads_255_as_class or VOID in taken.naming.table.class_by_value:
        return []
    indices = taken.rule.all_values
    class_of_0, class_of_255 = taken.class_names[indices[0]], taken.class_names[indices[VOID]]
    return [
        "The masks hold only the values 0 and 255, and there are two classes. So 0 is "
        f"{class_of_0} and 255 is {class_of_255}. If 255 is void, give --classes 255=void."
    ]


def _note_file_colors(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    """Compares the colors of a class file with what lost to them, and reads as many masks."""
    if not taken.uses_file_colors or not evidence.file_colors_are_used:
        return []
    comparable = []
    for candidate in evidence.candidates:
        lost_earlier = palettes_were_packed(candidate, taken, evidence)
        if lost_earlier or candidate.uses_file_colors or candidate.masks_read < taken.masks_read:
            continue
        if candidate.class_by_pixel != taken.class_by_pixel:
            comparable.append(candidate)
    if not comparable:
        return []
    compared = compare_candidates(evidence.survey, [*comparable, taken])
    return [f"The colors are {taken.source}, and give the classes. {compared}"]


def _note_palettes(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    """Says what palettes with other colors than VOC's are read by."""
    if not palettes.entries_out_of_place(evidence.survey):
        return []
    if taken.kind in ("VOC order", "VOC names"):
        meanings = compare_candidates(evidence.survey, [taken])
        return [f"The colors are VOC's, in another order. {meanings}"]
    if taken.kind == "values":
        return [
            "The palette's colors are not VOC's, so the values are taken as classes. Look at a "
            "preview."
        ]
    return []


def _note_equal_channels(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    if taken.by == "value" and any(pixel.kind == "equal" for pixel in evidence.survey.pixels):
        return ["In RGB masks whose red, green and blue are equal, red is the class."]
    return []


def _note_transparent(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    """Says as what transparent pixels are read: as the color or value that lies under them."""
    lines = []
    for pixel, occurrence in evidence.survey.transparent.items():
        masks = counted(occurrence.masks, "mask")
        lines.append(f"{describe_pixel(pixel)} is {taken.class_of(pixel)} in {masks}")
    if not lines:
        return []
    return [f"Transparent pixels are read by what lies under them: {list_first(lines)}."]


def _note_absent_rows(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    """Names the rows with classes for which no mask has a pixel."""
    survey = evidence.survey
    if not survey.pixels or survey.voc.masks:
        return []
    keys_in_use = {*survey.values, *map(color_key, survey.colors)}
    absent = []
    for key, name in taken.naming.table.rows:
        if key in keys_in_use or key == WILDCARD or is_name(key):
            continue
        if name != VOID_CLASS:
            absent.append(f"{key} ({name})")
    if not absent:
        return []
    return [f"These rows of the class table occur in no mask of a split: {list_first(absent)}."]


def _note_255_as_void(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    if evidence.survey.binary.masks and _reads_255_as_void_without_row(taken):
        return [f"{_count_255(evidence.survey)}. So 255 is void."]
    return []


def _note_background_among_classes(taken: MeaningCandidate, evidence: MeaningEvidence) -> list[str]:
    """Names a class that is called void, unlabeled or the like, and covers most pixels."""
    pixels_by_name = collections.Counter[str]()
    total = 0
    for pixel, occurrence in evidence.survey.pixels.items():
        total += occurrence.pixels
        name = _name_without_rows(pixel, taken)
        if name is not None:
            pixels_by_name[name] += occurrence.pixels
    return note_possible_background(pixels_by_name, total, taken.naming.table.class_by_name)


def note_possible_background(
    pixels_by_class: Mapping[str, int], total: int, given: Container[str]
) -> list[str]:
    """Returns a note on the class that covers most pixels, if it `may_be_background`.

    Args:
      pixels_by_class: how many pixels each class has.
      total: how many pixels there are.
      given: the classes of which the user said what they become.

    Returns:
      The note with the option that makes it background; none if there is no such class.
    """
    half = total / 2
    for name, pixels in pixels_by_class.items():
        if pixels > half and may_be_background(name) and name not in given:
            option = command(classes=format_pairs([(name, "background")]))
            share = f"{pixels / total:.0%}"
            return [f"{name} covers {share} of the pixels. If it is the background, say {option}."]
    return []


def _name_without_rows(pixel: StoredPixel, taken: MeaningCandidate) -> str | None:
    """Returns the name of a pixel's class; None if it has none, or a row of the user.

    A class that counts as void is named as the class file or the user called it, such as
    `unlabeled`.
    """
    if taken.rule.given_classes(pixel.value, pixel.color):
        return None
    name = taken.class_of(pixel)
    if name != VOID_CLASS:
        return name
    by_color = taken.uses_file_colors and pixel.kind != "gray"
    for entry in taken.naming.entries:
        is_of_pixel = entry.color == pixel.color if by_color else entry.value == pixel.value
        if is_of_pixel and is_void_name(entry.name):
            return entry.name
    return None


RULES: tuple[Rule[MeaningCandidate, MeaningEvidence], ...] = (
    Rule("two values have one color", loses=two_values_have_one_color),
    Rule("palettes were packed", loses=palettes_were_packed),
    Rule("masks use the colors of the class file", loses=masks_use_the_colors_of_the_class_file),
    Rule("reads fewer masks", loses=reads_fewer_masks),
    Rule("a class would never occur", loses=a_class_would_never_occur),
    Rule("its tool numbers otherwise", loses=its_tool_numbers_otherwise),
    Rule("means the same", loses=means_the_same),
    Rule("gray values contradict black or white", asks=gray_values_contradict_black_or_white),
    Rule("background is not value 0", asks=background_is_not_value_0),
    Rule("VOC's colors are in another order", asks=voc_colors_are_in_another_order),
    Rule("black or the color of void is elsewhere", asks=black_or_void_color_is_elsewhere),
    Rule("a value has several colors", asks=a_value_has_several_colors),
    Rule("most masks hold 0 and 255 alone", asks=most_masks_hold_0_and_255_alone),
    Rule("transparent pixels have a class", asks=transparent_pixels_have_a_class),
    Rule("rows give a color two classes", asks=rows_give_a_color_two_classes),
    Rule("255 is a class", notes=_note_255_as_class),
    Rule("the file's colors are taken", notes=_note_file_colors),
    Rule("palettes have other colors than VOC's", notes=_note_palettes),
    Rule("red is the class", notes=_note_equal_channels),
    Rule("pixels are transparent", notes=_note_transparent),
    Rule("rows occur in no mask", notes=_note_absent_rows),
    Rule("255 is void", notes=_note_255_as_void),
    Rule("background is among the classes", notes=_note_background_among_classes),
)
"""Why a candidate loses, the most certain rule first; then what asks, and what is noted."""
