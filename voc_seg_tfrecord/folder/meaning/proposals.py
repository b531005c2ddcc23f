"""Options that say what masks mean, for errors that ask for it.

Each option was tried before it is proposed: with it, all masks of the set are read.
"""

from collections.abc import Collection, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_rows import (
    VOID_CLASS,
    Key,
    Rows,
    color_key,
    format_pairs,
    parse_pairs,
)
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import VocSegError, counted, several
from voc_seg_tfrecord.core.mask_rule import VOID_VALUES
from voc_seg_tfrecord.core.names import BLACK, VOC_CLASSES, VOID, VOID_COLOR
from voc_seg_tfrecord.folder.classes.names import names_under_rows, rows_of_file
from voc_seg_tfrecord.folder.meaning import palettes
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.choose import choose_meaning, list_rows, weigh_candidates
from voc_seg_tfrecord.folder.meaning.doubts import (
    background_is_not_value_0,
    background_listed_later,
)
from voc_seg_tfrecord.folder.meaning.naming import ClassNaming
from voc_seg_tfrecord.folder.meaning.words import describe_candidate, describe_pixel
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey

MAX_PROPOSED_CLASSES = 12
"""How many classes an option may have to be proposed; more are easier to write into a table."""

MAX_PIXEL_LINES = 8
"""How many lines `list_pixels` has, one for each value or color of the masks."""

MIN_SMOOTHED_VALUES = 64
"""From how many values on gray masks may be smoothed; classes are rarely so many."""

MIN_SHARE_OF_0_AND_255 = 0.8
"""Which share of the pixels of smoothed black and white masks is 0 or 255, at least."""

MIN_NEARLY_WHITE = 253
"""From which value on grays beside 255 are white that was saved inexactly."""

_BLACK_KEY = color_key(BLACK)
_BACKGROUND = "background"
_NO_NAMES = ClassNaming(ClassTable(()))


def propose_classes(survey: Survey) -> list[Alternative]:
    """Returns how to name the classes of the masks, the likeliest first."""
    proposals = _propose_one_class_of_1_and_255(survey)
    names = _plan_placeholder_names(survey)
    if names:
        words = "name the values 0, 1 and so on"
        proposals.append(Alternative(words, {"class_names": names}))
    else:
        proposals += _propose_white(survey) or propose_rows(survey)
    proposals += propose_other_background(survey)
    proposals += _propose_class_in_place_of_void(survey)
    if _would_read_all_masks(survey, ClassNaming(ClassTable(VOC_CLASSES))):
        proposals.append(Alternative("take VOC's 21 classes", {"class_names": ["voc"]}))
    return proposals


def _plan_placeholder_names(survey: Survey) -> list[str]:
    """Returns class names for the values 0, 1, 2 and so on, with which all masks are read.

    It returns none if the masks have other values, or are not read so.
    """
    values = sorted(set(survey.values) - {VOID})
    if values in ([0], [1]):
        values = [0, 1]
    if values != list(range(len(values))) or not 2 <= len(values) <= MAX_PROPOSED_CLASSES:
        return []
    names = _placeholders(survey, values)
    if not _would_read_all_masks(survey, ClassNaming(ClassTable(tuple(names)))):
        return []
    return names


def _propose_white(survey: Survey) -> list[Alternative]:
    """Returns how to read the values 254 and 255 of black and white masks as one class."""
    whites = survey.values.keys() - {0}
    if VOID not in whites or len(whites) < 2 or min(whites) < MIN_NEARLY_WHITE:
        return []
    rows: Rows = ((0, _BACKGROUND), *((value, "NAME") for value in sorted(whites)))
    return _propose_if_read("take all that is nearly white for one class", survey, rows)


def propose_rows(survey: Survey, names: Sequence[str] = ()) -> list[Alternative]:
    """Returns how to name the class of each value, or else of each color, with the option.

    Args:
      survey: what the masks use.
      names: the class names that the user gave.

    Returns:
      The proposal; none if the masks are not read so, or use too much.
    """
    for table in _list_tables(survey, len(names)):
        if not 1 <= len(table.keys) <= MAX_PROPOSED_CLASSES:
            continue
        classes = names if len(names) == len(table.keys) else _placeholders(survey, table.keys)
        rows = tuple(zip(table.keys, classes, strict=True))
        proposals = _propose_if_read(table.task, survey, rows)
        if proposals:
            return proposals
    return []


def propose_other_background(survey: Survey) -> list[Alternative]:
    """Returns how to say that the value or color of most pixels, not 0 or black, is background."""
    for pixels_by_key in _list_pixels_by_key(survey):
        if not 2 <= len(pixels_by_key) <= MAX_PROPOSED_CLASSES:
            continue
        top = max(pixels_by_key, key=lambda key: pixels_by_key[key])
        share = pixels_by_key[top] / sum(pixels_by_key.values())
        if _is_usual_background(survey, top) or share <= 0.5:
            continue
        others = [key for key in pixels_by_key if key != top]
        rows: Rows = ((top, _BACKGROUND), *zip(others, _number_names(others), strict=True))
        words = f"if {top}, on {share:.0%} of the pixels, is the background"
        proposals = _propose_if_read(words, survey, rows)
        if proposals:
            return proposals
    return []


def _propose_class_in_place_of_void(survey: Survey) -> list[Alternative]:
    """Returns how to name the class of 255, or of VOC's color of void, which is void otherwise.

    Where a class for 255 is the likelier reading, it returns how to say that 255 is void.
    """
    for pixels_by_key in _list_pixels_by_key(survey):
        void_keys = [key for key in pixels_by_key if key in (VOID, color_key(VOID_COLOR))]
        if len(void_keys) != 1 or not 3 <= len(pixels_by_key) <= MAX_PROPOSED_CLASSES:
            continue
        keys = list(pixels_by_key)
        words = f"if {void_keys[0]} is a class, which is void otherwise"
        rows = tuple(zip(keys, _placeholders(survey, keys), strict=True))
        if survey.is_255_doubtful or are_spaced_grays(survey.values):
            words = f"if {void_keys[0]} is void"
            keys.remove(void_keys[0])
            classes = _placeholders(survey, keys)
            rows = (*zip(keys, classes, strict=True), (void_keys[0], VOID_CLASS))
        proposals = _propose_if_read(words, survey, rows)
        if proposals:
            return proposals
    return []


def _propose_one_class_of_1_and_255(survey: Survey) -> list[Alternative]:
    """Returns how to read 1 and 255 as one class, if masks of 0 and 255 lie among those of 1."""
    if set(survey.values) != {0, 1, VOID} or not survey.is_255_doubtful:
        return []
    rows: Rows = ((0, _BACKGROUND), (1, "NAME"), (VOID, "NAME"))
    return _propose_if_read("if 1 and 255 are one class", survey, rows)


def are_spaced_grays(values: Collection[int]) -> bool:
    """Says whether values are grays from 0 to 255 at even distances, such as 0, 128 and 255."""
    steps = len(values) - 1
    if steps < 2:
        return False
    for number, value in enumerate(sorted(values)):
        if abs(value - number * VOID / steps) > 1:
            return False
    return True


def _list_pixels_by_key(survey: Survey) -> list[dict[Key, int]]:
    """Returns the pixels of each value, and of each color, each if it can tell classes apart."""
    counts: list[dict[Key, int]] = []
    if not palettes.values_with_several_colors(survey):
        counts.append(dict[Key, int](survey.values.items()))
    if not palettes.has_values_of_one_color(survey):
        counts.append({color_key(color): pixels for color, pixels in survey.colors.items()})
    return counts


def _is_usual_background(survey: Survey, key: Key) -> bool:
    """Says whether a key is black, or the value that is black in palettes, or else 0."""
    black_values = {pixel.value for pixel in survey.palette_entries if pixel.color == BLACK}
    return key == _BLACK_KEY or key in (black_values or {0})


@dataclasses.dataclass(frozen=True)
class _PossibleTable:
    """A table of classes that may be proposed.

    Attributes:
      task: what the user does with it: "name the class of each value".
      keys: the key of each row.
    """

    task: str
    keys: Sequence[Key]


def _list_tables(survey: Survey, name_count: int) -> list[_PossibleTable]:
    """Returns a table of all values and one of all colors, each if it can tell the classes apart.

    Args:
      survey: what the masks use.
      name_count: how many class names the user gave.
    """
    tables: list[_PossibleTable] = []
    if not palettes.values_with_several_colors(survey):
        tables.append(_table_of_values(survey, name_count))
    if not palettes.has_values_of_one_color(survey):
        colors = [color_key(color) for color in survey.colors if color != VOID_COLOR]
        tables.append(_PossibleTable("name the class of each color", colors))
    return tables


def _table_of_values(survey: Survey, name_count: int) -> _PossibleTable:
    """Returns the table of all values, of which 255 has a row only if it may be a class.

    Whether masks show that 255 is void, and what the table is then:

        shown   else                                          row of 255
        no                                                    yes
        yes     the user gave a name for each value with it   yes, "if 255 is a class"
        yes     more masks have 255 beside 0 alone            yes, "if 255 is a class"
        yes                                                   no

    Args:
      survey: what the masks use.
      name_count: how many class names the user gave.
    """
    task = "name the class of each value"
    values = sorted(survey.values, key=lambda value: (value < 0, value))
    if not survey.void.masks or are_spaced_grays(values):
        return _PossibleTable(task, values)
    has_name_for_255 = len(values) == name_count
    if has_name_for_255 or survey.is_255_doubtful:
        return _PossibleTable(f"if 255 is a class, {task}", values)
    return _PossibleTable(task, [value for value in values if value != VOID])


def propose_meanings(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns proposals for masks whose class names are known: how to say what they mean.

    Args:
      survey: what the masks use.
      naming: the names, without rows of the user.
    """
    proposals = _propose_void(survey, naming)
    for propose in (
        _propose_alternatives,
        _propose_places_of_background,
        _propose_other_rows,
        _propose_missing_classes,
    ):
        further = propose(survey, naming)
        if further:
            return [*proposals, *further]
    return proposals


def _propose_void(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns how to say that 255 is void, or a class, in masks that hold 0 and 255 alone."""
    if VOID not in survey.values or not survey.is_255_doubtful:
        return []
    proposals: list[Alternative] = []
    for words, name in (("is void", VOID_CLASS), ("is a class", "NAME")):
        proposals += _propose_if_read(f"if 255 {words}", survey, ((VOID, name),), naming)
    return proposals


def _propose_alternatives(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns how to choose one of several meanings; none if there are not several."""
    in_question = weigh_candidates(survey, [naming]).in_question
    if len(in_question) < 2:
        return []
    return _propose_candidates(survey, in_question)


def _propose_places_of_background(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns the order of a class file, and that with background first, if it lists it later."""
    in_question = weigh_candidates(survey, [naming]).in_question
    if len(in_question) != 1:
        return []
    candidate = in_question[0]
    background = background_listed_later(candidate)
    if background is None or background_is_not_value_0(candidate, survey) is None:
        return []
    if len(naming.entries) > MAX_PROPOSED_CLASSES:
        return []
    classes = []
    for entry in naming.entries:
        name = naming.class_of_entry(entry)
        classes.append(VOID_CLASS if isinstance(name, int) else name)
    others = [name for name in classes if name != background.name]
    proposals: list[Alternative] = []
    for words, ordered in (
        (f"take the order of {background.source}", classes),
        (f"if value 0 is {background.name}", [background.name, *others]),
    ):
        rows = tuple(enumerate(ordered))
        proposals += _propose_if_read(words, survey, rows, naming)
    return proposals


def _propose_other_rows(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns how to name each value or color in place of the user's names; none beside a file.

    An option cannot take the names away, so the user changes them by hand.
    """
    if naming.file is not None:
        return []
    proposals: list[Alternative] = []
    for proposal in propose_rows(survey, naming.table.names):
        words = f"in place of --class_names, {proposal.words}"
        proposals.append(Alternative(words, {}, advice=proposal.command))
    return proposals


def _propose_missing_classes(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns how to say what has no class by a class file is; none without a file.

    ADE20K's file, for example, does not name 0, which its benchmark does not score.
    """
    in_question = weigh_candidates(survey, [naming]).in_question
    if naming.file is None or not in_question:
        return []
    candidate = in_question[0]
    keys = _list_keys_without_class(survey, candidate)
    if not keys or len(keys) > MAX_PROPOSED_CLASSES:
        return []
    shown_keys = several(map(str, keys))
    proposals = _propose_values_from_0(survey, candidate.naming)
    for words, names in (
        ("void", [VOID_CLASS] * len(keys)),
        ("a class", _placeholders(survey, keys)),
    ):
        rows = tuple(zip(keys, names, strict=True))
        words = f"if {shown_keys} is {words}"
        proposals += _propose_if_read(words, survey, rows, candidate.naming)
    return proposals


def _propose_values_from_0(survey: Survey, naming: ClassNaming) -> list[Alternative]:
    """Returns how to number a class file from 0 that numbers from 1, if masks lack its last value.

    Example: `classes.csv` has the values 1 to 3, and the masks have 0 to 2.
    """
    entries = naming.entries
    is_from_1 = [entry.value for entry in entries] == [*range(1, len(entries) + 1)]
    last = len(entries)
    has_last = last in survey.values
    if not is_from_1 or has_last or last > MAX_PROPOSED_CLASSES or 0 not in survey.values:
        return []
    rows: list[tuple[Key, str]] = []
    for value, entry in enumerate(entries):
        name = naming.class_of_entry(entry)
        rows.append((value, VOID_CLASS if isinstance(name, int) else name))
    return _propose_if_read(f"if value 0 is {entries[0].name}", survey, tuple(rows), naming)


def _list_keys_without_class(survey: Survey, candidate: MeaningCandidate) -> list[Key]:
    """Returns the values or colors to which a candidate gives no class, each once."""
    keys: dict[Key, None] = {}  # in place of an ordered set
    for pixel in survey.pixels:
        if candidate.class_of(pixel) is None:
            keys[pixel.key(by_color=candidate.by == "color")] = None
    return list(keys)


def propose_numberings(survey: Survey, namings: Sequence[ClassNaming]) -> list[Alternative]:
    """Returns the ways in which a class file may be numbered.

    Args:
      survey: what the masks use.
      namings: the numberings, without rows of the user.
    """
    proposals = []
    for naming in namings:
        names = naming.table.names
        if naming.numbering and _would_read_all_masks(survey, naming):
            options = {"class_names": list(names)}
            proposals.append(Alternative(naming.numbering.rstrip("."), options))
    return proposals


def _propose_candidates(
    survey: Survey, candidates: Sequence[MeaningCandidate]
) -> list[Alternative]:
    """Returns the option that chooses each candidate; none if an option does not, or is long."""
    proposals: list[Alternative] = []
    for candidate in candidates:
        keys = {pixel.key(by_color=candidate.by == "color") for pixel in survey.pixels}
        rows = tuple(row for row in list_rows(candidate, survey) if row[0] in keys)
        if len(rows) > MAX_PROPOSED_CLASSES:
            return []
        words = f"read the masks {describe_candidate(candidate)}"
        proposal = _propose_if_read(words, survey, rows, candidate.naming)
        if not proposal:
            return []
        proposals += proposal
    return proposals


def _placeholders(survey: Survey, keys: Sequence[Key]) -> list[str]:
    """Returns `background` for 0 or black, void for negative values, and else NAME1, NAME2, ..."""
    name_of_key: dict[Key, str] = {}
    for key in keys:
        if _is_usual_background(survey, key):
            name_of_key[key] = _BACKGROUND
        elif isinstance(key, int) and key < 0:
            name_of_key[key] = VOID_CLASS
    others = [key for key in keys if key not in name_of_key]
    name_of_key.update(zip(others, _number_names(others), strict=True))
    return [name_of_key[key] for key in keys]


def _number_names(keys: Sequence[Key]) -> list[str]:
    """Returns NAME1, NAME2 and so on; NAME for one key."""
    if len(keys) == 1:
        return ["NAME"]
    return [f"NAME{number}" for number in range(1, len(keys) + 1)]


def _propose_if_read(
    words: str, survey: Survey, rows: Rows, naming: ClassNaming = _NO_NAMES
) -> list[Alternative]:
    """Returns the proposal to say rows; none if the masks are not read with it.

    Args:
      words: what the rows say.
      survey: what the masks use.
      rows: the rows.
      naming: the names over which the rows stand.
    """
    try:
        can_be_typed = parse_pairs(format_pairs(rows)) == rows
    except VocSegError:  # a name has a double quote
        return []
    if not can_be_typed or not _would_read_all_masks(survey, naming, rows):
        return []
    return [Alternative(words, {"classes": dict(rows)})]


def _would_read_all_masks(survey: Survey, naming: ClassNaming, rows: Rows = ()) -> bool:
    """Says whether all masks would be read with names, and with rows over these.

    Args:
      survey: what the masks use.
      naming: the names.
      rows: rows that the user would add.
    """
    try:
        meaning = choose_meaning(survey, [_naming_with_rows(naming, rows)], "")
    except VocSegError:
        return False
    return meaning.candidate.reads(survey.pixels)


def _naming_with_rows(naming: ClassNaming, rows: Rows) -> ClassNaming:
    """Returns names with the user's rows over them, as a build has them.

    The lines of a class file become rows themselves if names cannot stand for its values.
    """
    file = naming.file
    table = naming.table
    if file is not None and not names_under_rows(file, rows):
        all_rows = rows_of_file(file, rows, table.background)
        return ClassNaming(ClassTable((), all_rows, table.background))
    table_with_rows = dataclasses.replace(table, rows=(*table.rows, *rows))
    return dataclasses.replace(naming, table=table_with_rows)


def _order_of_pixel(pixel: StoredPixel) -> tuple[str, int, tuple[int, ...]]:
    """Returns what pixels are sorted by; one without a value or a color comes first."""
    value = -1 if pixel.value is None else pixel.value
    return pixel.kind, value, pixel.color or ()


def list_pixels(survey: Survey) -> list[str]:
    """Returns what masks hold, most masks first: `value 0 in 5 masks, 814 pixels (71.0%)`."""
    by_masks = sorted(
        survey.pixels.items(),
        key=lambda item: (-item[1].masks, -item[1].pixels, _order_of_pixel(item[0])),
    )
    all_pixels = sum(occurrence.pixels for occurrence in survey.pixels.values())
    lines = []
    for pixel, occurrence in by_masks[:MAX_PIXEL_LINES]:
        masks = counted(occurrence.masks, "mask")
        share = occurrence.pixels / all_pixels
        line = (
            f"{describe_pixel(pixel)} in {masks}, {counted(occurrence.pixels, 'pixel')} "
            f"({share:.1%})"
        )
        if _is_void(pixel):
            line += ", void if no row names it"
        lines.append(line)
    if len(by_masks) > MAX_PIXEL_LINES:
        lines.append(f"and {len(by_masks) - MAX_PIXEL_LINES} more")
    return lines


def _is_void(pixel: StoredPixel) -> bool:
    """Says whether a pixel is void unless a row names it."""
    return pixel.value in VOID_VALUES or pixel.color == VOID_COLOR


def advise_smoothed(survey: Survey) -> str:
    """Returns what to do with grays between 0 and 255 at the edges of masks; empty if none are."""
    pixels_by_value: dict[int, int] = {}
    for pixel, occurrence in survey.pixels.items():
        if pixel.kind == "gray" and pixel.value is not None:
            pixels_by_value[pixel.value] = occurrence.pixels
    if len(pixels_by_value) < MIN_SMOOTHED_VALUES:
        return ""
    ends = pixels_by_value.get(0, 0) + pixels_by_value.get(VOID, 0)
    if ends < MIN_SHARE_OF_0_AND_255 * sum(pixels_by_value.values()):
        return ""
    return (
        f"export the masks again: they hold {len(pixels_by_value)} values, and "
        f"{MIN_SHARE_OF_0_AND_255:.0%} of the pixels or more are 0 or 255, so the masks were "
        "smoothed, or saved with loss. If each value is a class, give the names with --class_names"
    )
