"""Chooses what the masks of a set mean, or asks.

1. `candidates` lists the ways in which the masks may be read, and the rules of `rules` choose one.
2. If several are left, or if the one that is left cannot read most masks, the user is asked for the
   table of classes. If it cannot read a few masks, it is taken, and the build names them.
3. If one of `doubts` holds, the user is asked, too.
"""

import collections
from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Key, Rows, color_key
from voc_seg_tfrecord.core.errors import MaskError
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
from voc_seg_tfrecord.folder.meaning.rules import RULES, SAME_MEANING
from voc_seg_tfrecord.folder.meaning.words import name_candidate
from voc_seg_tfrecord.formats.mask_survey import Survey


@dataclasses.dataclass(frozen=True)
class MaskMeaning:
    """What the masks of a set mean.

    Attributes:
      candidate: the candidate that was taken.
      rule: how each mask is read.
      notes: what the user should look at.
      rows: the rule as a table of classes.
      lost: why each other candidate lost.
      reasons: the same in words, for candidates that could read the masks to other labels.
    """

    candidate: MeaningCandidate
    rule: MaskRule
    notes: tuple[str, ...]
    rows: Rows
    lost: Mapping[MeaningCandidate, Reason[MeaningCandidate]]
    reasons: tuple[str, ...]

    @property
    def by(self) -> str:
        """Whether `value` or `color` gives the class."""
        return self.candidate.by


def choose_meaning(survey: Survey, namings: Sequence[ClassNaming], remedy: str) -> MaskMeaning:
    """Chooses what the masks of a set mean.

    Args:
      survey: what the masks use.
      namings: the names of their classes; several if a class file may be numbered in two ways.
      remedy: what a user can do where the masks do not tell.

    Raises:
      MaskError: if it is not known what the masks mean.
      ConfigError: if a row of the user has no effect.
    """
    table = namings[0].table
    check_rows_fit(survey, table)
    evidence, decision = _decide(survey, namings)
    taken = decision.taken
    if taken is None or not _reads_most_masks(taken, evidence):
        taken = _candidate_for_star(decision, survey) if table.star_takes_pixels else None
    if taken is None:
        raise ask_what_pixels_mean(survey, _list_left(decision), remedy)
    notes = list[str]()
    if table.star_takes_pixels:
        taken, notes = _with_star(taken, survey)
    for find_doubt in DOUBTS:
        doubt = find_doubt(taken, survey)
        if doubt:
            raise undecided(doubt.where, doubt.words, remedy)
    check_rows_by_color(taken, survey)
    notes += list_notes(taken, decision, evidence)
    rule = dataclasses.replace(taken.rule, remedy=remedy)
    rows = rows_of(taken, survey)
    reasons = _describe_lost(decision, evidence)
    return MaskMeaning(taken, rule, tuple(notes), rows, decision.lost, reasons)


def _describe_lost(
    decision: Decision[MeaningCandidate], evidence: MeaningEvidence
) -> tuple[str, ...]:
    """Returns why candidates lost: `value lost to the colors of labelmap.txt: the masks use ...`.

    Those that cannot read the masks, and those that mean the same, need no words.
    """
    lines = []
    for candidate, reason in decision.lost.items():
        reads_all = candidate.reads(evidence.survey.pixels)
        if reads_all and reason.rule != SAME_MEANING.name:
            loser, winner = name_candidate(candidate), name_candidate(reason.winner)
            lines.append(f"{loser} lost to {winner}: {reason.words}")
    return tuple(lines)


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
class CandidatesLeft:
    """What the rules leave of the candidates.

    Attributes:
      taken: the candidate that a build takes; None if the user is asked.
      alternatives: the candidates that the user is asked about: several, or one that a doubt holds
        against; none if one is taken.
    """

    taken: MeaningCandidate | None = None
    alternatives: Sequence[MeaningCandidate] = ()


def weigh_candidates(survey: Survey, namings: Sequence[ClassNaming]) -> CandidatesLeft:
    """Returns the candidate that a build takes, or those about which the user is asked."""
    try:
        return CandidatesLeft(choose_meaning(survey, namings, "").candidate)
    except MaskError:
        _, decision = _decide(survey, namings)
        return CandidatesLeft(None, _list_left(decision))


def _list_left(decision: Decision[MeaningCandidate]) -> Sequence[MeaningCandidate]:
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


def _with_star(candidate: MeaningCandidate, survey: Survey) -> tuple[MeaningCandidate, list[str]]:
    """Lets `*` take each value and color in use that has no class otherwise.

    Returns:
      The candidate with these classes; and a note that names them.
    """
    check_number_of_keys(survey)
    star = str(candidate.naming.table.class_of_star)
    by_color = candidate.name_rule.colors is not None
    classes: dict[Key, str] = {}
    pixels_of_star = collections.Counter[Key]()
    for pixel, occurrence in survey.pixels.items():
        if candidate.class_of(pixel) is not None:
            continue
        key = pixel.key(by_color=by_color)
        if pixel.color == VOID_COLOR:
            classes[key] = VOID_CLASS
        else:
            classes[key] = star
            pixels_of_star[key] += occurrence.pixels
    candidate = dataclasses.replace(candidate, star_classes=classes)
    if not pixels_of_star:
        return candidate, []
    counts = [f"{key} on {pixels} pixels" for key, pixels in pixels_of_star.items()]
    return candidate, [f"* is {star}: {', '.join(counts)}."]


def rows_of(candidate: MeaningCandidate, survey: Survey) -> Rows:
    """Returns a candidate as a table of classes: what each value and color becomes."""
    rule = candidate.rule
    values: dict[int, int] = dict(rule.all_values)
    colors: dict[Color, int] = dict(rule.all_colors)
    if colors:  # then values are those of grayscale masks
        if candidate.by == "color":
            values = {}
        for pixel in survey.pixels:
            index = rule.class_of(*pixel)
            if index is None:
                continue
            if pixel.kind == "gray" and pixel.value is not None:
                values[pixel.value] = index
            elif pixel.color:
                colors[pixel.color] = index
    names = candidate.class_names
    rows: list[tuple[Key, str]] = [(v, names[index]) for v, index in values.items() if v >= 0]
    rows += [(color_key(color), names[index]) for color, index in colors.items()]
    return tuple(rows)
