"""Options that say what masks mean, and advice, for errors that ask for it.

Each option was tried before it is proposed: with it, all masks of the set are read.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import os

from etils import epath

from voc_seg_tfrecord.core.class_rows import (
    VOID_CLASS,
    VOID_VALUES,
    Key,
    Rows,
    color_key,
    format_pairs,
    parse_pairs,
)
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted, several
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import BLACK, VOC_CLASSES, VOID, VOID_COLOR
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.names import table_of_file
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, Survey
from voc_seg_tfrecord.folder.meaning import palettes
from voc_seg_tfrecord.folder.meaning.candidates import (
    ClassNaming,
    MeaningCandidate,
    describe_pixel,
)
from voc_seg_tfrecord.folder.meaning.choose import (
    MaskMeaning,
    UndecidedMeaning,
    weigh_candidates,
)
from voc_seg_tfrecord.folder.meaning.rules import background_listed_later
from voc_seg_tfrecord.folder.question import Alternative, Answer, ManualStep
from voc_seg_tfrecord.folder.soft_masks import (
    LOWEST_SOFT_VALUE,
    PROPOSED_THRESHOLD,
    are_soft,
)
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels
from voc_seg_tfrecord.folder.tree.soft_labels import SoftLabels
from voc_seg_tfrecord.tools.layouts import CLASS_NAMES_BY_WORD, advise_classes

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

MAX_READ_SOFT_MASKS = 8
"""How many masks with soft values are tried with a threshold before it is proposed."""

_BLACK_KEY = color_key(BLACK)
_VOID_KEY = color_key(VOID_COLOR)
_BACKGROUND = "background"
_NO_NAMES = ClassNaming(ClassTable(()))


@dataclasses.dataclass(frozen=True)
class _PlannedRows:
    """Rows that may be proposed.

    Attributes:
      words: what they say.
      rows: the rows; none if there is nothing to propose.
    """

    words: str
    rows: Rows


_NO_ROWS = _PlannedRows("", ())


# Masks whose classes nothing names.


def propose_classes(survey: Survey) -> list[Alternative]:
    """Returns how to name the classes of the masks, the likeliest first."""
    proposals: list[Alternative] = []
    if {*survey.values} == {0, 1, VOID} and survey.is_255_doubtful:
        rows: Rows = ((0, _BACKGROUND), (1, "NAME"), (VOID, "NAME"))
        proposals += _propose_if_read("if 1 and 255 are one class", survey, rows)
    names = _plan_placeholder_names(survey)
    if names:
        words = "name the values 0, 1 and so on"
        proposals.append(Alternative(words, {"class_names": names}))
    else:
        proposals += _propose_white(survey) or _propose_rows(survey)
    proposals += propose_other_background(survey)
    proposals += _propose_by_key(survey, _plan_class_in_place_of_void)
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
    rows = _name_keys(values, _usual_backgrounds(survey))
    names = tuple(name for _, name in rows)
    is_read = _would_read_all_masks(survey, ClassNaming(ClassTable(names)))
    return list(names) if is_read else []


def _propose_white(survey: Survey) -> list[Alternative]:
    """Returns how to read the values 254 and 255 of black and white masks as one class."""
    whites = survey.values.keys() - {0}
    if VOID not in whites or len(whites) < 2 or min(whites) < MIN_NEARLY_WHITE:
        return []
    rows: Rows = ((0, _BACKGROUND), *((value, "NAME") for value in sorted(whites)))
    return _propose_if_read("take all that is nearly white for one class", survey, rows)


def propose_other_background(survey: Survey) -> list[Alternative]:
    """Returns how to say that the value or color of most pixels, not 0 or black, is background."""
    return _propose_by_key(survey, _plan_other_background)


def _propose_rows(survey: Survey, names: Sequence[str] = ()) -> list[Alternative]:
    """Returns how to name the class of each value, or else of each color, by rows.

    Args:
      survey: what the masks use.
      names: the class names that the user gave.
    """
    return _propose_by_key(survey, functools.partial(_plan_rows_of_all, names=names))


def _propose_by_key(
    survey: Survey, plan_rows: Callable[[Survey, Mapping[Key, int]], _PlannedRows]
) -> list[Alternative]:
    """Returns the proposal of rows for the values of masks, or else for their colors.

    Args:
      survey: what the masks use.
      plan_rows: returns the rows for the pixels of each value or of each color; empty if there are
        none to propose.

    Returns:
      The proposal; none if the masks are not read so, or use too much.
    """
    for pixels_by_key in _list_pixels_by_key(survey):
        planned = plan_rows(survey, pixels_by_key)
        if 1 <= len(planned.rows) <= MAX_PROPOSED_CLASSES:
            proposals = _propose_if_read(planned.words, survey, planned.rows)
            if proposals:
                return proposals
    return []


def _list_pixels_by_key(survey: Survey) -> list[dict[Key, int]]:
    """Returns the pixels of each value, and of each color, each if it can tell classes apart."""
    counts: list[dict[Key, int]] = []
    if not palettes.values_with_several_colors(survey):
        counts.append(dict[Key, int](survey.values.items()))
    if not palettes.has_values_of_one_color(survey):
        counts.append({color_key(color): pixels for color, pixels in survey.colors.items()})
    return counts


def _plan_rows_of_all(
    survey: Survey, pixels_by_key: Mapping[Key, int], names: Sequence[str]
) -> _PlannedRows:
    """Plans a row for each key; VOC's color of void needs none.

    Whether masks show that 255 is void, and whether it has a row then:

        shown   else                                          row of 255
        no                                                    yes
        yes     the user gave a name for each value with it   yes, "if 255 is a class"
        yes     more masks have 255 beside 0 alone            yes, "if 255 is a class"
        yes                                                   no
    """
    keys = [key for key in pixels_by_key if key != _VOID_KEY]
    keys.sort(key=lambda key: (_is_negative(key), key))
    has_all_names = len(names) == len(keys)
    condition = ""
    is_void_shown = bool(survey.void.masks) and not are_spaced_grays(survey.values)
    if VOID in keys and is_void_shown:
        if has_all_names or survey.is_255_doubtful:
            condition = "if 255 is a class, "
        else:
            keys.remove(VOID)
            has_all_names = len(names) == len(keys)
    rows = _name_keys(keys, _usual_backgrounds(survey))
    if has_all_names:
        rows = tuple(zip(keys, names, strict=True))
    kind = "value" if pixels_by_key == survey.values else "color"
    return _PlannedRows(f"{condition}name the class of each {kind}", rows)


def _plan_other_background(survey: Survey, pixels_by_key: Mapping[Key, int]) -> _PlannedRows:
    """Plans rows that make background of the key of most pixels, if it is not the usual one."""
    if len(pixels_by_key) < 2:
        return _NO_ROWS
    top = max(pixels_by_key, key=lambda key: pixels_by_key[key])
    share = pixels_by_key[top] / sum(pixels_by_key.values())
    if top in _usual_backgrounds(survey) or share <= 0.5:
        return _NO_ROWS
    keys = dict.fromkeys([top, *pixels_by_key])  # in place of an ordered set
    words = f"if {top}, on {share:.0%} of the pixels, is the background"
    return _PlannedRows(words, _name_keys(keys, {top}))


def _plan_class_in_place_of_void(survey: Survey, pixels_by_key: Mapping[Key, int]) -> _PlannedRows:
    """Plans a class for 255, or for VOC's color of void, which is void otherwise.

    Where a class for 255 is the likelier reading, the rows say that 255 is void.
    """
    void_keys = [key for key in pixels_by_key if key in (VOID, _VOID_KEY)]
    if len(void_keys) != 1 or len(pixels_by_key) < 3:
        return _NO_ROWS
    backgrounds = _usual_backgrounds(survey)
    if survey.is_255_doubtful or are_spaced_grays(survey.values):
        rows = _name_keys(pixels_by_key, backgrounds, void_keys)
        return _PlannedRows(f"if {void_keys[0]} is void", rows)
    words = f"if {void_keys[0]} is a class, which is void otherwise"
    return _PlannedRows(words, _name_keys(pixels_by_key, backgrounds))


def are_spaced_grays(values: Collection[int]) -> bool:
    """Says whether values are grays from 0 to 255 at even distances, such as 0, 128 and 255."""
    if len(values) < 3:
        return False
    step = VOID / (len(values) - 1)
    distances = [abs(value - number * step) for number, value in enumerate(sorted(values))]
    return max(distances) <= 1


def _usual_backgrounds(survey: Survey) -> set[Key]:
    """Returns the keys of what is usually background: black, in palettes by value, or else 0."""
    black_pixels = [pixel for pixel in survey.palette_entries if pixel.color == BLACK]
    if not black_pixels:
        return {_BLACK_KEY, 0}
    return {_BLACK_KEY, *(pixel.key(by_color=False) for pixel in black_pixels)}


def _is_negative(key: Key) -> bool:
    return isinstance(key, int) and key < 0


def _name_keys(
    keys: Iterable[Key], backgrounds: Collection[Key], void: Collection[Key] = ()
) -> Rows:
    """Returns a row for each key: `background`, `void`, and NAME, or NAME1, NAME2 for the others.

    Negative values are void, unless they are background.
    """
    class_by_key: dict[Key, str] = {}
    unnamed: list[Key] = []
    for key in keys:
        class_by_key[key] = VOID_CLASS
        if key in void:
            continue
        if key in backgrounds:
            class_by_key[key] = _BACKGROUND
        elif not _is_negative(key):
            unnamed.append(key)
    for number, key in enumerate(unnamed, start=1):
        class_by_key[key] = f"NAME{number}" if len(unnamed) > 1 else "NAME"
    return tuple(class_by_key.items())


# Masks whose class names are known.


def propose_meanings(survey: Survey, naming: ClassNaming) -> list[Answer]:
    """Returns proposals for masks whose class names are known: how to say what they mean.

    Args:
      survey: what the masks use.
      naming: the names, without rows of the user.
    """
    proposals: list[Answer] = []
    if VOID in survey.values and survey.is_255_doubtful:
        for words, name in (("is void", VOID_CLASS), ("is a class", "NAME")):
            rows: Rows = ((VOID, name),)
            proposals += _propose_if_read(f"if 255 {words}", survey, rows, naming)
    meaning = weigh_candidates(survey, [naming])
    left = meaning.left if isinstance(meaning, UndecidedMeaning) else ()
    further = _propose_candidates(survey, left)
    if not further and naming.file is None:
        return [*proposals, *_propose_other_names(survey, naming.table.names)]
    if not further and len(left) == 1:
        further = _propose_places_of_background(survey, left[0])
    if not further and left:
        further = _propose_missing_classes(survey, left[0])
    return [*proposals, *further]


def _propose_candidates(
    survey: Survey, candidates: Sequence[MeaningCandidate]
) -> list[Alternative]:
    """Returns how to choose one of several meanings; none if an option does not, or is long."""
    if len(candidates) < 2:
        return []
    proposals: list[Alternative] = []
    for candidate in candidates:
        keys = {pixel.key(by_color=candidate.by == "color") for pixel in survey.pixels}
        rows = tuple(row for row in candidate.rows if row[0] in keys)
        words = f"read the masks {candidate.words}"
        proposal = _propose_if_read(words, survey, rows, candidate.naming)
        if not proposal or len(rows) > MAX_PROPOSED_CLASSES:
            return []
        proposals += proposal
    return proposals


def _propose_places_of_background(survey: Survey, candidate: MeaningCandidate) -> list[Alternative]:
    """Returns the order of a class file, and that with background first, if it lists it later."""
    naming = candidate.naming
    background = background_listed_later(candidate, survey)
    if background is None or naming.file is None or len(naming.entries) > MAX_PROPOSED_CLASSES:
        return []
    classes = _list_classes(naming)
    others = [name for name in classes if name != background.name]
    words = f"take the order of {naming.file.source}"
    proposals = _propose_if_read(words, survey, tuple(enumerate(classes)), naming)
    rows = tuple(enumerate([background.name, *others]))
    return [*proposals, *_propose_if_read(f"if value 0 is {background.name}", survey, rows, naming)]


def _list_classes(naming: ClassNaming) -> list[str]:
    """Returns the class of each entry, or `void`."""
    classes = map(naming.class_of_entry, naming.entries)
    return [VOID_CLASS if isinstance(name, int) else name for name in classes]


def _propose_other_names(survey: Survey, names: Sequence[str]) -> list[Answer]:
    """Returns how to name each value or color beside the user's names, or in place of them.

    An option cannot take the names away, so the user changes them by hand.
    """
    proposals: list[Answer] = []
    longer = _plan_more_names(survey, names)
    if longer:
        words = "if the masks have more classes than you named"
        proposals.append(Alternative(words, {"class_names": longer}))
    for proposal in _propose_rows(survey, names):
        words = f"in place of --class_names, {proposal.words}"
        proposals.append(ManualStep(words, proposal.command))
    return proposals


def _plan_more_names(survey: Survey, names: Sequence[str]) -> list[str]:
    """Returns the user's names with further ones, if values go on behind them: a folder grew.

    It returns none if the masks are not read so.
    """
    new_values = sorted(value for value in survey.values if len(names) <= value < VOID)
    class_count = len(names) + len(new_values)
    if not names or not new_values or class_count > MAX_PROPOSED_CLASSES:
        return []
    if new_values[-1] != class_count - 1:
        return []
    new_rows = _name_keys(new_values, backgrounds=())
    longer = (*names, *dict(new_rows).values())
    is_read = _would_read_all_masks(survey, ClassNaming(ClassTable(longer)))
    return list(longer) if is_read else []


def _propose_missing_classes(survey: Survey, candidate: MeaningCandidate) -> list[Alternative]:
    """Returns how to say what has no class by a class file is.

    ADE20K's file, for example, does not name 0, which its benchmark does not score. A file that
    numbers from 1 may number masks from 0 that lack its last value: `classes.csv` has the values 1
    to 3, and the masks have 0 to 2.
    """
    by_color = candidate.by == "color"
    pixels = candidate.pixels_without_class
    keys = [*dict.fromkeys(pixel.key(by_color=by_color) for pixel in pixels)]
    if not 1 <= len(keys) <= MAX_PROPOSED_CLASSES:
        return []
    naming = candidate.naming
    entries = naming.entries
    proposals: list[Alternative] = []
    is_from_1 = [entry.value for entry in entries] == [*range(1, len(entries) + 1)]
    lacks_last = 0 in survey.values and len(entries) not in survey.values
    if is_from_1 and lacks_last and len(entries) <= MAX_PROPOSED_CLASSES:
        rows: Rows = tuple(enumerate(_list_classes(naming)))
        proposals += _propose_if_read(f"if value 0 is {entries[0].name}", survey, rows, naming)
    shown_keys = several(map(str, keys))
    as_void = _name_keys(keys, (), void=keys)
    proposals += _propose_if_read(f"if {shown_keys} is void", survey, as_void, naming)
    as_classes = _name_keys(keys, _usual_backgrounds(survey))
    proposals += _propose_if_read(f"if {shown_keys} is a class", survey, as_classes, naming)
    return proposals


def propose_numberings(survey: Survey, namings: Sequence[ClassNaming]) -> list[Alternative]:
    """Returns the ways in which a class file may be numbered.

    Args:
      survey: what the masks use.
      namings: the numberings, without rows of the user.
    """
    proposals = []
    for naming in namings:
        if naming.numbering and _would_read_all_masks(survey, naming):
            options = {"class_names": list(naming.table.names)}
            proposals.append(Alternative(naming.numbering, options))
    return proposals


# Trying an option.


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
    """Says whether all masks would be read with names, and with rows over these, as a build has it.

    The lines of a class file become rows themselves if names cannot stand for its values.

    Args:
      survey: what the masks use.
      naming: the names.
      rows: rows that the user would add.
    """
    try:
        meaning = weigh_candidates(survey, [_with_rows(naming, rows)])
    except VocSegError:
        return False
    return isinstance(meaning, MaskMeaning) and not meaning.candidate.pixels_without_class


def _with_rows(naming: ClassNaming, rows: Rows) -> ClassNaming:
    """Returns names under further rows.

    Raises:
      ConfigError: if the rows do not fit the names.
    """
    table = naming.table
    if naming.file is not None:
        table_of_rows = table_of_file(naming.file, rows, table.background)
        if not table_of_rows.names:
            return ClassNaming(table_of_rows)
    return ClassNaming(dataclasses.replace(table, rows=(*table.rows, *rows)), naming.file)


# What masks hold, and what to do by hand.


def list_pixels(survey: Survey) -> list[str]:
    """Returns what masks hold, most masks first: `value 0 in 5 masks, 814 pixels (71.0%)`."""

    def order(pixel: StoredPixel) -> tuple[int, int, str, int, tuple[int, ...]]:
        occurrence = survey.pixels[pixel]
        value = -1 if pixel.value is None else pixel.value
        return -occurrence.masks, -occurrence.pixels, pixel.kind, value, pixel.color or ()

    all_pixels = sum(occurrence.pixels for occurrence in survey.pixels.values())
    lines = []
    for pixel in sorted(survey.pixels, key=order)[:MAX_PIXEL_LINES]:
        occurrence = survey.pixels[pixel]
        line = (
            f"{describe_pixel(pixel)} in {counted(occurrence.masks, 'mask')}, "
            f"{counted(occurrence.pixels, 'pixel')} ({occurrence.pixels / all_pixels:.1%})"
        )
        if pixel.value in VOID_VALUES or pixel.color == VOID_COLOR:
            line += ", void if no row names it"
        lines.append(line)
    if len(survey.pixels) > MAX_PIXEL_LINES:
        lines.append(f"and {len(survey.pixels) - MAX_PIXEL_LINES} more")
    return lines


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


def propose_threshold(labels: Labels, survey: Survey) -> list[Alternative]:
    """Returns how to read masks that are black and white with soft edges.

    Args:
      labels: the masks.
      survey: what they use.

    Returns:
      The proposal; none unless the first masks with soft values and a sample of all masks are black
      and white with soft edges.
    """
    if isinstance(labels, MadeLabels | SoftLabels):
        return []
    soft_masks: dict[str, None] = {}  # in place of an ordered set
    for pixel, occurrence in survey.pixels.items():
        grays = {pixel.value} if pixel.color is None else {*pixel.color}
        gray = grays.pop()
        if not grays and gray is not None and LOWEST_SOFT_VALUE <= gray < VOID:
            soft_masks[occurrence.first] = None
    # A survey cannot read JPEGs and counts them as damaged; a threshold can read them.
    if not soft_masks and not survey.damaged:
        return []
    sampled_masks = [os.fspath(labels.folder / name) for name in few([*labels.names.values()])]
    paths = dict.fromkeys([*[*soft_masks][:MAX_READ_SOFT_MASKS], *sampled_masks])
    try:
        if not are_soft([File.read(path, MaskError) for path in paths]):
            return []
    except VocSegError:  # one cannot be read
        return []
    words = (
        "if they are black and white masks of one class, read all pixels from a gray on as white"
    )
    return [Alternative(words, {"threshold": PROPOSED_THRESHOLD})]


def advise_table(given: epath.Path, layout: Layout, config: VocSegConfig, *, named: bool) -> str:
    """Returns how to write the table of classes, and how to build with it.

    It is the option that reads the masks if these are called as those of a tool whose classes are
    known, unless it is the option that the user gave: masks called `*_labelIds.png`, and
    `--class_names cityscapes`, which are other ids.

    Args:
      given: the folder that the user gave.
      layout: how its files are named.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    names_given = _option_of_names(config) if named else None
    mask_names = {part.mask_name for part in layout.folders()}
    advice = advise_classes(mask_names)
    is_known_word = names_given in CLASS_NAMES_BY_WORD
    if advice and (not named or (is_known_word and f"--class_names {names_given}" not in advice)):
        return advice
    options = {
        "class_names": names_given,
        **(config.layout or {}),
        "threshold": config.threshold,
        "ignore_masks": config.ignore_masks or None,
    }
    write = command("voc-seg-tfrecord", "check", given, **options, write_classes="classes.csv")
    return (
        f"write the table of classes ({write}), fill in its column class, and build with "
        "--classes classes.csv"
    )


def advise_more_names(rule: MaskRule, config: VocSegConfig) -> MaskRule:
    """Returns the rule of masks whose names the user gave, with what to do if a folder grew."""
    names = _option_of_names(config)
    if not names or names in CLASS_NAMES_BY_WORD or config.classes or config.default_names:
        return rule
    longer = command(class_names=f"{names},NAME")
    return dataclasses.replace(
        rule, remedy=f"if it is a new class, name it too: {longer}; or {rule.remedy}"
    )


def _option_of_names(config: VocSegConfig) -> str | None:
    """Returns the user's class names as an option; None if one has a comma, its separator."""
    for word, names in CLASS_NAMES_BY_WORD.items():
        if tuple(config.class_names) == names:
            return word
    if any("," in name for name in config.class_names):
        return None
    return ",".join(config.class_names) or None
