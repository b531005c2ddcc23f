"""Finds the classes of a folder whose user gave no names: in a class file, a table, or the values.

Where there is no class file, no rows name the values, and these leave only the names open, classes
get default names. It is the last step, taken only if nothing suggests that the values are something
else than classes.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath
import re
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, WILDCARD, Rows, are_whole, color_key
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.default_names import BINARY_NAMES, name_values, note_default_names
from voc_seg_tfrecord.core.errors import VocSegError, join_names
from voc_seg_tfrecord.core.names import VOC_NUMBERS, VOID, VOID_COLOR, background_index
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.spelling import group_by_case
from voc_seg_tfrecord.core.words import WORDS_FOR_NO_LABELS, words
from voc_seg_tfrecord.folder.classes.by_content import SingleFile, list_single_files
from voc_seg_tfrecord.folder.classes.candidates import FolderTable, GivenClasses, has_class_file
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice, choose_class_file
from voc_seg_tfrecord.folder.classes.names import table_of_file
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.mask_survey import Survey
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming
from voc_seg_tfrecord.folder.meaning.choose import choose_meaning
from voc_seg_tfrecord.folder.meaning.label_meaning import choose_numbering
from voc_seg_tfrecord.folder.meaning.proposals import (
    advise_smoothed,
    advise_table,
    are_spaced_grays,
    list_pixels,
    propose_classes,
    propose_other_background,
    propose_threshold,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.folder.value_looks import MAX_LOOKED_AT, ValueLook, find_look
from voc_seg_tfrecord.formats.mask_samples import read_samples
from voc_seg_tfrecord.tools.class_file import ClassFile

NO_CLASS_NAMES = "no class names"
"""The kind of the error about a folder without class names."""

MAX_LISTED_KEYS = 8
"""How many values or colors the first sentence of that error lists."""


_KEY_OF_CLASSES = re.compile(r'["\']?(classes|class_names|names|labels|categories)["\']?\s*:')
_MAX_NAME_WORDS = 3


@dataclasses.dataclass(frozen=True)
class FoundClasses:
    """The classes that a folder itself gives.

    Attributes:
      fields: the fields of a config that hold them: `class_names` or `classes`, and `background`.
      choice: the class file whose names these are, or whose lines became rows. If the rows are the
        user's own or those of the table, it has no file, but the notes on class files.
      fault: why the folder gives none; names stand for the values of masks then.
    """

    fields: Mapping[str, Any]
    choice: ClassFileChoice = dataclasses.field(default_factory=ClassFileChoice)
    fault: VocSegError | None = None


@dataclasses.dataclass(frozen=True)
class DoubtedNames:
    """Why the user is asked for names although the values of the masks number classes.

    Attributes:
      reason: why the values may not be classes, in words.
      proposals: the likeliest answer; none if it is to name each value.
    """

    reason: str
    proposals: tuple[Alternative, ...] = ()


def find_classes(
    evidence: SplitEvidence,
    config: VocSegConfig,
    table: FolderTable,
    rows: Rows,
    background: str,
    default_names: Sequence[str] = (),
) -> FoundClasses:
    """Finds the classes of a folder.

    | class file | rows | the classes are |
    | --- | --- | --- |
    | none | the whole table | those of the rows |
    | none | no whole table | default names, or not known: an error |
    | its numbers do not matter | the whole table | those of the rows |
    | has names | any | its names, over which rows go |
    | has values or colors that no names stand for | any | its lines as rows, under those rows |

    Args:
      evidence: the folder, and its lists.
      config: what the user said of files and splits.
      table: the folder's table of classes.
      rows: its rows and those of the user.
      background: the name of the class that is background, if the user said so.
      default_names: the default names of an earlier build, whose values count as used.

    Raises:
      QuestionError: if there is no class file, no rows say what values and colors mean, and the
        values alone do not; or if masks fit two ways in which the file may be numbered, and the
        two differ.
    """
    tree = evidence.tree
    choice = choose_class_file(tree, GivenClasses((), rows, background), table)
    fields: dict[str, Any] = {"class_names": (), "classes": rows, "background": background}
    choice_of_rows = ClassFileChoice(notes=choice.notes)
    if not choice.numberings and are_whole(rows):
        return FoundClasses(fields, choice_of_rows)
    if not choice.numberings:
        names = _list_default_names(tree.labels, rows, default_names)
        doubt = _find_doubt(tree, config, ClassTable(names, rows, background)) if names else None
        if not names or doubt is not None:
            raise _ask_for_names(evidence, config, rows, choice.notes, doubt)
        notes = _list_notes_on_default_names(tree.labels, names, background)
        fields |= {"class_names": names, "default_names": True}
        return FoundClasses(fields, ClassFileChoice(notes=(*notes, *choice.notes)))
    advice = advise_table(tree.given, tree.layout, config, named=False)
    file = choose_numbering(tree.labels, choice.numberings, rows, background, advice)
    if file is None:
        return FoundClasses(fields, choice_of_rows)
    classes = table_of_file(file, rows, background)
    fields = {
        "class_names": classes.names,
        "classes": classes.rows,
        "background": background or _background_of(file, classes.names or classes.class_names),
    }
    if not classes.names:
        return FoundClasses(fields, dataclasses.replace(choice, numberings=()))
    if len({posixpath.dirname(path) for path in tree.labels.label_files}) > 1:
        _check_spelling(tree, classes)
    choice = dataclasses.replace(choice, numberings=(file,))
    return FoundClasses(fields, choice)


def _check_spelling(tree: VocTree, table: ClassTable) -> None:
    """Checks that no two classes of several folders differ in spelling alone: `Crack`, `crack`.

    Raises:
      QuestionError: if two do, with the options that make them one class, or keep both.
    """
    groups = group_by_case(table.class_names)
    if not groups:
        return
    alternatives: list[Alternative] = []
    for number, name in enumerate(groups[0]):
        # A spelling that keeps its name keeps its number, too: the user may choose which one does.
        rows = dict(table.rows)
        for spellings in groups:
            kept = spellings[min(number, len(spellings) - 1)]
            rows |= {spelling: kept for spelling in spellings if spelling != kept}
        alternatives.append(Alternative(f"as one class, {name}", {"classes": rows}))
    alternatives.append(Alternative("as several classes", {"class_names": list(table.names)}))
    raise QuestionError(
        tree.given,
        alternatives,
        facts=[f"the classes {' and '.join(groups[0])} differ in spelling alone"],
        task="name the classes",
        expected="one spelling of each class",
        kind="spelling of classes",
    )


def _background_of(file: ClassFile, names: Sequence[str]) -> str:
    """Returns the background that a class file names, empty if its name says so anyway."""
    if file.background not in names:
        return ""
    if background_index(names) == names.index(file.background):
        return ""
    return file.background


def _ask_for_names(
    evidence: SplitEvidence,
    config: VocSegConfig,
    rows: Rows,
    notes: Sequence[str],
    doubted: DoubtedNames | None,
) -> QuestionError:
    """Returns the question what the classes are that nothing names, with what the masks hold."""
    tree = evidence.tree
    ids_of_pairs = [image_id for image_id in tree.masks if image_id in tree.images]
    survey = tree.labels.survey(ids_of_pairs or tree.masks, all_colors=True)
    facts = [_describe_use(survey)]
    if doubted is not None:
        facts.append(doubted.reason)
    facts += [note.rstrip(".") for note in notes]
    likeliest = () if doubted is None else doubted.proposals
    by_hand = advise_smoothed(survey)
    can_write_table = bool(survey.pixels)  # none if no mask can be read
    if not by_hand and can_write_table:
        by_hand = advise_table(tree.given, tree.layout, config, named=False)
    return QuestionError(
        tree.root,
        _keep_rows(_list_alternatives(tree, survey, likeliest), rows),
        facts=["; ".join(facts), *list_pixels(survey)],
        task="name the classes",
        expected="a class for each value or color of the masks",
        kind=NO_CLASS_NAMES,
        by_hand=by_hand,
    )


def _keep_rows(alternatives: Sequence[Alternative], rows: Rows) -> list[Alternative]:
    """Returns alternatives that keep the user's rows: their option --classes would replace these.

    One that makes a class of what is void by a row, or the other way, is left out.
    """
    with_rows: list[Alternative] = []
    for alternative in alternatives:
        options = dict(alternative.options)
        if "classes" in options:
            classes = options["classes"]
            if any(
                key in classes and (classes[key] == VOID_CLASS) != (name == VOID_CLASS)
                for key, name in rows
            ):
                continue
            options["classes"] = {**classes, **dict(rows)}
        with_rows.append(dataclasses.replace(alternative, options=options))
    return with_rows


def _describe_use(survey: Survey) -> str:
    """Returns what the masks use, in a few words: `the masks use 0 and 255, without names`."""
    keys = [*map(str, survey.values)] or [*map(color_key, survey.colors)]
    if not keys:
        return "no class names, and no mask that can be read"
    if len(keys) == 1:
        return f"the masks use {keys[0]} alone, without a name"
    if len(keys) > MAX_LISTED_KEYS:
        keys_of_void = (str(VOID), color_key(VOID_COLOR))
        class_count = len([key for key in keys if key not in keys_of_void])
        kind = "values" if survey.values else "colors"
        return f"the masks use {class_count} {kind} without names"
    return f"the masks use {join_names(keys, 'and')}, without names"


def _list_alternatives(
    tree: VocTree, survey: Survey, likeliest: Sequence[Alternative]
) -> list[Alternative]:
    """Returns the options for masks whose classes nothing names, the likeliest first.

    A threshold for soft masks comes before all else, unless their grays are few and evenly spaced.
    It is all that is proposed for masks that were smoothed.
    """
    threshold = propose_threshold(tree.labels, survey)
    if advise_smoothed(survey):
        return threshold
    proposals = [*likeliest, *propose_classes(survey)]
    if are_spaced_grays(survey.values):
        return [*proposals, *threshold]
    return [*threshold, *proposals]


# Default names.


def _list_default_names(labels: Labels, rows: Rows, known_names: Sequence[str]) -> tuple[str, ...]:
    """Returns default names for the values of masks; none if the values do not number classes.

    Args:
      labels: the masks.
      rows: the user's rows. Those of names or colors leave no default names.
      known_names: default names of an earlier build, whose values count as used.
    """
    if labels.origin:
        return ()
    for key, name in rows:
        makes_value_void = isinstance(key, int) and name == VOID_CLASS
        if not makes_value_void:
            return ()
    survey = labels.survey(labels.names, all_colors=True)
    if any(pixel.value is None for pixel in survey.pixels):
        return ()
    values = set(survey.values)
    # The values of an earlier build do not count here: one value in use numbers nothing.
    if values != {0, VOID} and len(values - {VOID}) < 2:
        return ()
    return name_values(values | set(range(len(known_names))))


def _find_doubt(tree: VocTree, config: VocSegConfig, table: ClassTable) -> DoubtedNames | None:
    """Returns why the values of masks may not be the classes of a table of default names."""
    return (
        _doubt_folder(tree, config)
        or _doubt_files(tree, len(table.names))
        or _doubt_meaning(tree.labels, table)
        or _doubt_look(tree.labels, table.names)
    )


def _doubt_folder(tree: VocTree, config: VocSegConfig) -> DoubtedNames | None:
    """Returns a doubt if a path of masks has a word of other pictures, and no option names it."""
    options = config.layout or {}
    if "masks" in options or "mask_name" in options:
        return None
    for part in tree.layout.folders():
        path = posixpath.join(part.masks, part.mask_name)
        for word in words(path):
            if word in WORDS_FOR_NO_LABELS:
                doubt = f"their name, {path}, says {word}, so they may be no labels"
                folder = tree.path_below_given(part.masks)
                proposal = Alternative("if they are the labels", {"masks": folder})
                return DoubtedNames(doubt, (proposal,))
    return None


def _doubt_files(tree: VocTree, class_count: int) -> DoubtedNames | None:
    """Returns a doubt if a file may name the classes and is not read as a class file."""
    if tree.listing is None:
        return None
    if has_class_file(tree.given.parent):
        return DoubtedNames("the class file in the folder above may be that of other data")
    for file in list_single_files(tree):
        if _may_be_class_file(file, class_count):
            doubt = f"{file.path} may name them, and is not read as a class file"
            return DoubtedNames(doubt)
    return None


def _may_be_class_file(file: SingleFile, class_count: int) -> bool:
    """Says whether a file may name classes: by its own name, or by as many short lines."""
    if not file.lines:
        cannot_be_read = not file.is_text
        return file.is_called_class_file and cannot_be_read
    if file.is_called_class_file or _KEY_OF_CLASSES.search(file.text):
        return True
    if len(file.lines) not in (class_count - 1, class_count, class_count + 1):
        return False
    for line in file.lines:
        words_of_line = re.findall(r"[^\W\d]+", line)
        if not 1 <= len(words_of_line) <= _MAX_NAME_WORDS:
            return False
    return True


def _doubt_meaning(labels: Labels, table: ClassTable) -> DoubtedNames | None:
    """Returns a doubt if the masks' colors contradict their values as these classes."""
    survey = labels.survey(labels.names, all_colors=True)
    try:
        candidate = choose_meaning(survey, [ClassNaming(table)], "").candidate
    except VocSegError as error:
        return DoubtedNames(error.found)
    if candidate.by != "value" or candidate.pixels_without_class:
        return DoubtedNames("values and colors contradict")
    is_255_open = set(survey.values) == {0, VOID} and VOID not in table.class_by_value
    if is_255_open and not candidate.reads_255_as_class:
        return DoubtedNames("255 has VOC's color of void, and no class is left beside 0")
    return None


def _doubt_look(labels: Labels, names: Sequence[str]) -> DoubtedNames | None:
    """Returns a doubt if the values look like object numbers or degrees; see `value_looks`."""
    if len(names) <= len(BINARY_NAMES):
        return None
    masks: list[np.ndarray] = []
    for mask_id in few([*labels.names], MAX_LOOKED_AT):
        try:
            values = read_samples(labels.file(mask_id)).values
        except VocSegError:  # the build names it
            continue
        has_channels = values.ndim == 3
        masks.append(values[..., 0] if has_channels else values)
    look = find_look(masks)
    if look is None:
        return None
    if look is not ValueLook.OBJECT_NUMBERS:
        return DoubtedNames(look.value)
    rows = {0: BINARY_NAMES[0], WILDCARD: "NAME"}
    proposal = Alternative("if they are objects of one class", {"classes": rows})
    return DoubtedNames(look.value, (proposal,))


def _list_notes_on_default_names(
    labels: Labels, names: Sequence[str], background: str
) -> list[str]:
    """Returns the notes that classes have default names, and how to give others."""
    survey = labels.survey(labels.names, all_colors=True)
    colors = {pixel.color: pixel.value for pixel in survey.palette_entries if pixel.value}
    has_voc_palette = bool(colors) and colors.items() <= VOC_NUMBERS.items()
    values = set(survey.values)
    notes = [note_default_names(names, values, has_voc_palette=has_voc_palette)]
    if tuple(names) != BINARY_NAMES and not background:
        notes.append(
            f"No class is background, so the feature labels lists {names[0]}, too. If {names[0]} "
            f"is background, add {command(background=names[0])}."
        )
    for proposal in propose_other_background(survey):
        condition = proposal.words[:1].upper() + proposal.words[1:]
        notes.append(f"{condition}, add {proposal.command}.")
    return notes
