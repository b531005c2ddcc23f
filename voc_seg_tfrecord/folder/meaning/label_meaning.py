"""Looks at the labels of a folder, and chooses what they mean, or asks with options that say it."""

from collections.abc import Collection, Sequence
import dataclasses

from voc_seg_tfrecord.core.class_rows import Rows, are_whole, table_error
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.default_names import BINARY_NAMES
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, VocSegError
from voc_seg_tfrecord.folder.classes.names import names_from_file
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming, make_rows_candidate
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning, weigh_candidates
from voc_seg_tfrecord.folder.meaning.proposals import (
    propose_meanings,
    propose_numberings,
    propose_threshold,
)
from voc_seg_tfrecord.folder.meaning.rules import UNDECIDED, note_possible_background
from voc_seg_tfrecord.folder.question import Answer, QuestionError
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels
from voc_seg_tfrecord.tools.class_file import ClassFile


def choose_meaning_of_labels(
    labels: Labels,
    ids: Collection[str],
    config: VocSegConfig,
    file: ClassFile | None,
    remedy: str,
) -> MaskMeaning:
    """Chooses what the labels of ids mean.

    Args:
      labels: the labels of the folder.
      ids: the ids whose labels the dataset has.
      config: says the class names and the user's rows.
      file: the class file; None if the names are those of the values 0, 1, 2.
      remedy: what a user can do where the masks do not tell.

    Raises:
      QuestionError: if it is not known what the masks mean.
      MaskError: likewise, if no option says it.
      ConfigError: if a row has no effect, or has a value or a color and masks are drawn or merged:
        these have no values of a file.
    """
    naming = ClassNaming(config.table, file)
    if labels.origin and (naming.table.class_by_value or naming.table.class_by_color):
        raise table_error(
            f"values or colors, but the masks are {labels.origin}",
            "rows with the names of classes, and *",
            "change classes, or classes.csv of the folder",
        )
    meaning = _choose_or_propose(labels, ids, naming, remedy)
    labels.check_surveyed()  # after the choice, which has surveyed the masks
    if meaning.candidate.reads_255_as_class:
        # With the masks of all ids: one that no list names may show that 255 is void.
        meaning = _choose_or_propose(labels, labels.names, naming, remedy)
    if isinstance(labels, MadeLabels):
        pixels = labels.pixels_by_class()
        notes = note_possible_background(pixels, pixels.total(), naming.table.class_by_name)
        meaning = dataclasses.replace(meaning, notes=(*meaning.notes, *notes))
    return meaning


def _choose_or_propose(
    labels: Labels, ids: Collection[str], naming: ClassNaming, remedy: str
) -> MaskMeaning:
    """Chooses what the labels of ids mean, or asks.

    A threshold makes two classes, so it is proposed if there are no more. If the user gave rows, it
    is all that is proposed.
    """
    survey = labels.survey(ids, all_colors=naming.needs_colors())
    meaning = weigh_candidates(survey, [naming], remedy)
    if isinstance(meaning, MaskMeaning):
        return meaning
    if meaning.question.kind != UNDECIDED:
        raise meaning.question
    survey = labels.survey(ids, all_colors=True)
    proposals: list[Answer] = []
    if len(naming.table.class_names) <= len(BINARY_NAMES):
        proposals += propose_threshold(labels, survey)
    if not naming.table.rows:
        proposals += propose_meanings(survey, naming)
    raise _as_question(meaning.question, proposals)


def _as_question(error: MaskError, proposals: Sequence[Answer]) -> VocSegError:
    """Returns the question between proposals and what can be done by hand; none if there are none.

    Args:
      error: that it is not known what the masks mean.
      proposals: the options that say it.
    """
    if not proposals:
        return error
    return QuestionError(
        error.where,
        proposals,
        facts=[error.found],
        task="read the values of the masks",
        expected=error.expected,
        kind=error.kind,
        by_hand=error.remedy,
    )


def choose_numbering(
    labels: Labels, numberings: Sequence[ClassFile], rows: Rows, background: str, remedy: str
) -> ClassFile | None:
    """Returns the numbering of a class file that the masks fit; the first if they fit none.

    Returns:
      The class file; None if the user's rows say all, so that its numbers do not matter.

    Raises:
      QuestionError: if the masks fit several numberings, and these differ.
      ConfigError: if no numbering has all names of the user's rows.
    """
    if len(numberings) == 1:
        return numberings[0]
    survey = labels.survey(labels.names, all_colors=True)
    if are_whole(rows):
        naming_by_rows = ClassNaming(ClassTable((), rows, background))
        if not make_rows_candidate(naming_by_rows, survey).pixels_without_class:
            return None
    namings = list_namings(numberings, rows, background)
    meaning = weigh_candidates(survey, namings, remedy)
    if isinstance(meaning, MaskMeaning):
        return meaning.candidate.naming.file
    if len(meaning.left) == 1:
        return meaning.left[0].naming.file
    if any(candidate.pixels_without_class for candidate in meaning.left):
        return namings[0].file
    raise _as_question(meaning.question, [] if rows else propose_numberings(survey, namings))


def list_namings(numberings: Sequence[ClassFile], rows: Rows, background: str) -> list[ClassNaming]:
    """Returns the numberings of a class file that have all names of the user's rows.

    Raises:
      ConfigError: if none has.
    """
    namings: list[ClassNaming] = []
    errors: list[ConfigError] = []
    for file in numberings:
        try:
            table = ClassTable(names_from_file(file, rows), rows, background)
        except ConfigError as error:
            errors.append(error)
        else:
            namings.append(ClassNaming(table, file))
    if not namings:
        raise errors[0]
    return namings
