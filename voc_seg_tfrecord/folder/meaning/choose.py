"""Chooses what the masks of a set mean, or asks.

1. `candidates` lists the ways in which the masks may be read, and the rules of `rules` choose one.
2. If several are left, or if the one that is left cannot read most masks, the user is asked for the
   table of classes. If it cannot read a few masks, it is taken, and the build names them.
3. If one of `doubts` holds, the user is asked, too.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, Rows, color_key
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOID_COLOR, Color
from voc_seg_tfrecord.folder.decide import Decision, Reason, decide
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate, list_candidates
from voc_seg_tfrecord.folder.meaning.doubts import DOUBTS
from voc_seg_tfrecord.folder.meaning.evidence import MeaningEvidence, collect_evidence
from voc_seg_tfrecord.folder.meaning.naming import ClassNaming
from voc_seg_tfrecord.folder.meaning.notes import list_notes
from voc_seg_tfrecord.folder.meaning.questions import (
    ask_what_pixels_mean,
    check_number_of_keys,
    undecided,
)
from voc_seg_tfrecord.folder.meaning.row_checks import check_rows_by_color, check_rows_fit
from voc_seg_tfrecord.folder.meaning.rules import RULES
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey


@dataclasses.dataclass(frozen=True)
class MaskMeaning:
    """What the masks of a set mean.

    Attributes:
      candidate: the candidate that was taken.
      rule: how each mask is read.
      notes: what the user should look at.
      rows: the rule as a table of classes.
      index_by_value: the class index, or 255, of each value.
      lost: why each other candidate lost.
      reasons: the same in words, for candidates that could read the masks to other labels.
    """

    candidate: MeaningCandidate
    rule: MaskRule
    notes: tuple[str, ...]
    rows: Rows
    index_by_value: Mapping[int, int]
    lost: Mapping[MeaningCandidate, Reason[MeaningCandidate]]

    @property
    def by(self) -> str:
        """Whether `value` or `color` gives the class."""
        return self.candidate.by


def choose_meaning(survey: Survey, namings: Sequence[ClassNaming], remedy: str) -> MaskMeaning:
    """Chooses what the masks of a set mean.

    Args:
      survey: what the masks use.
      namings: the names of their classes; several if a class file may be numbered in two ways.
        All have the same rows of the user.
      remedy: what a user can do where the masks do not tell.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    evidence, decision = _decide(survey, namings)
    return _meaning_of_decision(decision, evidence, namings[0].table, remedy)


def _meaning_of_decision(
    decision: Decision[MeaningCandidate],
    evidence: MeaningEvidence,
    table: ClassTable,
    remedy: str,
) -> MaskMeaning:
    """Returns what masks mean by what the rules decided, unless a doubt holds.

    Args:
      decision: what the rules decided.
      evidence: what the masks show.
      table: the user's rows over the names.
      remedy: what a user can do where the masks do not tell.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    survey = evidence.survey
    check_rows_fit(survey, table)
    taken = _take_candidate(decision, evidence, table)
    if taken is None:
        raise ask_what_pixels_mean(survey, _list_in_question(decision), remedy)
    notes: list[str] = []
    if table.star_takes_pixels:
        check_number_of_keys(survey)
        without_class = [pixel for pixel in survey.pixels if taken.class_of(pixel) is None]
        notes += _list_notes_on_star(taken, without_class, survey)
        taken = _with_star(taken, without_class)
    _check_no_doubt(taken, survey, remedy)
    check_rows_by_color(taken, survey)
    notes += list_notes(taken, decision, evidence)
    rule = dataclasses.replace(taken.rule, remedy=remedy)
    rows = list_rows(taken, survey)
    index_by_value = _index_values(taken, survey)
    return MaskMeaning(taken, rule, tuple(notes), rows, index_by_value, decision.lost)


def _take_candidate(
    decision: Decision[MeaningCandidate], evidence: MeaningEvidence, table: ClassTable
) -> MeaningCandidate | None:
    """Returns the candidate by which masks are read; None if the user has to be asked.

    It reads most masks, or the user's `*` takes what it cannot read.
    """
    if decision.taken is not None and _reads_most_masks(decision.taken, evidence):
        return decision.taken
    if table.star_takes_pixels:
        return _candidate_for_star(decision, evidence.survey)
    return None


def _check_no_doubt(taken: MeaningCandidate, survey: Survey, remedy: str) -> None:
    """Raises the question of the first of `DOUBTS` that holds."""
    for find_doubt in DOUBTS:
        doubt = find_doubt(taken, survey)
        if doubt:
            raise undecided(doubt.where, doubt.words, remedy)


def choose_naming(survey: Survey, namings: Sequence[ClassNaming], remedy: str) -> ClassNaming:
    """Returns which of several names masks fit; the first if they fit none.

    Raises:
      MaskError: if several fit, and differ.
    """
    _, decision = _decide(survey, namings)
    if decision.taken is not None:
        return decision.taken.naming
    if not all(candidate.reads(survey.pixels) for candidate in decision.alternatives):
        return namings[0]
    raise ask_what_pixels_mean(survey, decision.alternatives, remedy)


@dataclasses.dataclass(frozen=True)
class WeighedCandidates:
    """The candidate that a build takes, or those about which it asks.

    Attributes:
      taken: the candidate that a build takes; None if it asks.
      in_question: the candidates about which it asks: several that no rule beats, or one against
        which a doubt holds; none if it takes one.
    """

    taken: MeaningCandidate | None = None
    in_question: Sequence[MeaningCandidate] = ()


def weigh_candidates(survey: Survey, namings: Sequence[ClassNaming]) -> WeighedCandidates:
    """Returns the candidate that a build takes, or those about which the user is asked."""
    evidence, decision = _decide(survey, namings)
    try:
        meaning = _meaning_of_decision(decision, evidence, namings[0].table, remedy="")
    except MaskError:
        return WeighedCandidates(in_question=_list_in_question(decision))
    return WeighedCandidates(taken=meaning.candidate)


def _list_in_question(decision: Decision[MeaningCandidate]) -> Sequence[MeaningCandidate]:
    """Returns the one candidate that no rule beats, or all of them."""
    return decision.alternatives if decision.taken is None else [decision.taken]


def _decide(
    survey: Survey, namings: Sequence[ClassNaming]
) -> tuple[MeaningEvidence, Decision[MeaningCandidate]]:
    candidates = list_candidates(namings, survey)
    if not survey.pixels and not survey.voc.masks:  # no mask can tell
        candidates = candidates[:1]
    evidence = collect_evidence(survey, candidates)
    return evidence, decide(candidates, RULES, evidence)


def _reads_most_masks(candidate: MeaningCandidate, evidence: MeaningEvidence) -> bool:
    """Says whether a candidate reads half of the masks, so that the build names the others."""
    survey = evidence.survey
    if candidate.reads(survey.pixels):
        return True
    readable = survey.examined - survey.damaged
    return 2 * evidence.masks_read[candidate] >= readable


def _candidate_for_star(
    decision: Decision[MeaningCandidate], survey: Survey
) -> MeaningCandidate | None:
    """Returns the candidate that the user's `*` completes, if it is clear which one.

    It is the one that the rules take, though it cannot read most masks: the pixels without a class
    are those that `*` takes. With names, each pixel needs a value, too. For example, if the rules
    take the colors of `labelmap.txt`, `*` takes the other colors of palette masks. The colors of
    VOC's palette may be in use by chance, so it is not clear that they give the classes.
    """
    taken = decision.taken
    if taken is None or taken.has_rows_alone:
        return taken
    if taken.by == "color" and not taken.uses_file_colors:
        return None
    for pixel in survey.pixels:
        if pixel.value is None:
            return None
    return taken


def _with_star(
    candidate: MeaningCandidate, without_class: Iterable[StoredPixel]
) -> MeaningCandidate:
    """Returns a candidate in which `*` takes pixels without a class. VOC's void stays void."""
    star = str(candidate.naming.table.class_of_star)
    classes: dict[Key, str] = {}
    for pixel in without_class:
        is_void = pixel.color == VOID_COLOR
        classes[_key_for_star(candidate, pixel)] = VOID_CLASS if is_void else star
    return dataclasses.replace(candidate, star_classes=classes)


def _list_notes_on_star(
    candidate: MeaningCandidate, without_class: Iterable[StoredPixel], survey: Survey
) -> list[str]:
    """Returns a note on the values and colors that `*` takes; none if it takes none."""
    counts = collections.Counter[Key]()
    for pixel in without_class:
        if pixel.color != VOID_COLOR:
            counts[_key_for_star(candidate, pixel)] += survey.pixels[pixel].pixels
    if not counts:
        return []
    words = ", ".join(f"{key} on {counted(pixels, 'pixel')}" for key, pixels in counts.items())
    return [f"* is {candidate.naming.table.class_of_star}: {words}."]


def _key_for_star(candidate: MeaningCandidate, pixel: StoredPixel) -> Key:
    return pixel.key(by_color=candidate.name_rule.colors is not None)


def list_rows(candidate: MeaningCandidate, survey: Survey) -> Rows:
    """Returns a candidate as a table of classes: what each value and color becomes."""
    rule = candidate.rule
    if rule.all_colors:
        index_by_value = _index_grays(candidate, survey)
        index_by_color = _index_colors(candidate, survey)
    else:
        index_by_value = dict(rule.all_values)
        index_by_color = {}
    names = candidate.class_names
    rows: list[tuple[Key, str]] = []
    for value, index in index_by_value.items():
        if value >= 0 or value in survey.values:
            rows.append((value, names[index]))
    for color, index in index_by_color.items():
        rows.append((color_key(color), names[index]))
    return tuple(rows)


def _index_values(candidate: MeaningCandidate, survey: Survey) -> dict[int, int]:
    """Returns the class index of each value by a candidate, also where colors give the classes."""
    rule = candidate.rule
    index_by_value: dict[int, int] = {} if rule.all_colors else dict(rule.all_values)
    for pixel in survey.pixels:
        index = rule.class_of(*pixel)
        if index is not None and pixel.value is not None:
            index_by_value[pixel.value] = index
    return index_by_value


def _index_grays(candidate: MeaningCandidate, survey: Survey) -> dict[int, int]:
    """Returns the class index of each value, where colors count.

    They are the values of grayscale masks; and all values of the rule, if palette masks are read by
    value.
    """
    rule = candidate.rule
    index_by_value: dict[int, int] = {}
    if candidate.by == "value":
        index_by_value |= rule.all_values
    for pixel in survey.pixels:
        index = rule.class_of(*pixel)
        if index is not None and pixel.kind == "gray" and pixel.value is not None:
            index_by_value[pixel.value] = index
    return index_by_value


def _index_colors(candidate: MeaningCandidate, survey: Survey) -> dict[Color, int]:
    """Returns the class index of each color: those of the rule, and those in use."""
    rule = candidate.rule
    index_by_color: dict[Color, int] = dict(rule.all_colors)
    for pixel in survey.pixels:
        index = rule.class_of(*pixel)
        if index is not None and pixel.kind != "gray" and pixel.color:
            index_by_color[pixel.color] = index
    return index_by_color
