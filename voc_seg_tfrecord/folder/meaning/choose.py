"""Chooses what the masks of a set mean, or asks.

1. `candidates` lists the ways in which the masks may be read, and the rules of `rules` choose one.
2. If several are left, or if the one that is left cannot read most masks, the user is asked for the
   table of classes. If it cannot read a few masks, it is taken, and the build names them.
3. If a rule asks about the one that is left, the user is asked, too.
"""

import collections
from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_rows import HIGHEST_VALUE, VOID_CLASS, Key, Rows, table_error
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOID_COLOR
from voc_seg_tfrecord.folder.decide import decide
from voc_seg_tfrecord.folder.mask_survey import MAX_COUNTED_COLORS, Survey
from voc_seg_tfrecord.folder.meaning.candidates import (
    ClassNaming,
    MeaningCandidate,
    compare_candidates,
    describe_pixel,
    list_candidates,
    list_first,
)
from voc_seg_tfrecord.folder.meaning.rules import RULES, MeaningEvidence, undecided
from voc_seg_tfrecord.formats.index_masks import two_classes_error

_MAX_VALUES = HIGHEST_VALUE + 1
"""A mask of classes has no more values than 16 bits tell apart."""
_MAX_COLORS = MAX_COUNTED_COLORS - 1
"""If there are more colors, the survey may not have counted all of them."""


@dataclasses.dataclass(frozen=True)
class MaskMeaning:
    """What the masks of a set mean.

    Attributes:
      candidate: the candidate that was taken.
      rule: how each mask is read.
      notes: what the user should look at.
    """

    candidate: MeaningCandidate
    rule: MaskRule
    notes: tuple[str, ...]

    @property
    def by(self) -> str:
        """Whether `value` or `color` gives the class."""
        return self.candidate.by

    @property
    def rows(self) -> Rows:
        """The rule as a table of classes."""
        return self.candidate.rows

    @property
    def index_by_value(self) -> Mapping[int, int]:
        """The class index, or 255, of each value."""
        return self.candidate.index_by_value


@dataclasses.dataclass(frozen=True)
class UndecidedMeaning:
    """Why it is not known what masks mean.

    Attributes:
      left: the candidates that no rule beats.
      question: what asks the user.
    """

    left: Sequence[MeaningCandidate]
    question: MaskError


def choose_meaning(survey: Survey, namings: Sequence[ClassNaming], remedy: str) -> MaskMeaning:
    """Chooses what the masks of a set mean; see `weigh_candidates`.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    meaning = weigh_candidates(survey, namings, remedy)
    if isinstance(meaning, UndecidedMeaning):
        raise meaning.question
    return meaning


def weigh_candidates(
    survey: Survey, namings: Sequence[ClassNaming], remedy: str = ""
) -> MaskMeaning | UndecidedMeaning:
    """Returns what the masks of a set mean, or why the user is asked.

    Args:
      survey: what the masks use.
      namings: the names of their classes; several if a class file may be numbered in two ways.
        All have the same rows of the user.
      remedy: what a user can do where the masks do not tell.

    Raises:
      ConfigError: if a row of the user has no effect.
    """
    candidates = list_candidates(namings, survey)
    if not survey.pixels and not survey.voc.masks:  # no mask can tell
        candidates = candidates[:1]
    evidence = MeaningEvidence(candidates, survey, remedy)
    decision = decide(candidates, RULES, evidence)
    left = decision.left
    try:
        _check_rows_fit(survey, namings[0].table)
        taken = decision.taken
        if taken is None or not _may_be_taken(taken, survey):
            raise ask_what_pixels_mean(evidence, left)
        notes: list[str] = []
        if taken.naming.table.wildcard_takes_pixels:
            check_number_of_keys(survey)
            taken, notes = _with_star(taken)
            decision = decide([taken], RULES, evidence)
        if decision.question is not None:
            raise decision.question
    except MaskError as question:
        return UndecidedMeaning(left, question)
    rule = dataclasses.replace(taken.rule, remedy=remedy)
    return MaskMeaning(taken, rule, (*notes, *decision.notes))


def _may_be_taken(candidate: MeaningCandidate, survey: Survey) -> bool:
    """Says whether a candidate reads half of the masks, or the user's `*` surely completes it.

    The build names the masks that it does not read. The pixels without a class are those that `*`
    takes. With names, each pixel needs a value, too. For example, if the rules take the colors of
    `labelmap.txt`, `*` takes the other colors of palette masks. The colors of VOC's palette may be
    in use by chance, so it is not clear that they give the classes.
    """
    half_of_masks = (survey.examined - survey.damaged) / 2
    if not candidate.pixels_without_class or candidate.masks_read >= half_of_masks:
        return True
    if not candidate.naming.table.wildcard_takes_pixels:
        return False
    if candidate.kind == "rows":
        return True
    if candidate.by == "color" and not candidate.uses_file_colors:
        return False
    return all(pixel.value is not None for pixel in survey.pixels)


def _with_star(candidate: MeaningCandidate) -> tuple[MeaningCandidate, list[str]]:
    """Returns a candidate in which `*` takes pixels without a class, and a note on these.

    VOC's void stays void. There is no note if `*` takes nothing.
    """
    star = str(candidate.naming.table.wildcard_class)
    classes: dict[Key, str] = {}
    counts = collections.Counter[Key]()
    for pixel in candidate.pixels_without_class:
        key = pixel.key(by_color=candidate.name_rule.colors is not None)
        classes[key] = VOID_CLASS
        if pixel.color != VOID_COLOR:
            classes[key] = star
            counts[key] += candidate.survey.pixels[pixel].pixels
    words = ", ".join(f"{key} on {counted(pixels, 'pixel')}" for key, pixels in counts.items())
    notes = [f"* is {star}: {words}."] if counts else []
    return dataclasses.replace(candidate, wildcard_classes=classes), notes


def _check_rows_fit(survey: Survey, table: ClassTable) -> None:
    """Checks that the masks have what the user's rows name, and that a pixel has one class by them.

    Raises:
      ConfigError: if rows have values alone and the masks colors alone, or the other way round.
      MaskError: if a palette entry has one class by its value, and another one by its color.
    """
    if survey.pixels and not survey.voc.masks:
        kinds_of_rows = [bool(table.class_by_value), bool(table.class_by_color)]
        if kinds_of_rows == [True, False] and not survey.values:
            raise table_error("values, but the masks hold only colors", "rows with colors or names")
        if kinds_of_rows == [False, True] and not survey.colors:
            raise table_error("colors, but the masks hold only values", "rows with values or names")
    for pixel, occurrence in survey.pixels.items():
        if pixel.kind == "gray" or pixel.value is None or pixel.color is None:
            continue
        classes = {table.class_by_value.get(pixel.value), table.class_by_color.get(pixel.color)}
        if len(classes - {None}) > 1:
            raise two_classes_error(pixel.value, pixel.color, occurrence.pixels, occurrence.first)


def check_number_of_keys(survey: Survey) -> None:
    """Raises a MaskError if a table cannot have a row for each value and color in use."""
    if len(survey.values) <= _MAX_VALUES and len(survey.colors) <= _MAX_COLORS:
        return
    raise undecided(
        "masks",
        f"{len(survey.values)} values and {len(survey.colors)} colors, which are too many for "
        "masks: they were smoothed, or are no masks",
        "export the masks again, without smoothing",
    )


def ask_what_pixels_mean(
    evidence: MeaningEvidence, candidates: Sequence[MeaningCandidate]
) -> MaskError:
    """Returns the question what pixels mean: those without any class, or else with several."""
    survey = evidence.survey
    check_number_of_keys(survey)
    pixels_without_class = []
    pixels_with_several = []
    for pixel in survey.pixels:
        names = {candidate.class_by_pixel[pixel] for candidate in candidates}
        if names == {None}:
            pixels_without_class.append(pixel)
        elif len(names) > 1:
            pixels_with_several.append(pixel)
    if pixels_without_class:
        pixels_without_class.sort(key=lambda pixel: -survey.pixels[pixel].pixels)
        lines = []
        for pixel in pixels_without_class:
            occurrence = survey.pixels[pixel]
            pixels = counted(occurrence.pixels, "pixel")
            masks = counted(occurrence.masks, "mask")
            lines.append(f"{describe_pixel(pixel)} on {pixels} of {masks}")
        words = f"no class for {len(lines)} of {len(survey.pixels)} values or colors"
        return evidence.ask(pixels_without_class[0], f"{words}: {list_first(lines)}")
    occurrence = survey.pixels[pixels_with_several[0]] if pixels_with_several else survey.voc
    words = f"masks with two meanings: {compare_candidates(survey, candidates)}"
    return undecided(occurrence.first, words, evidence.remedy)
