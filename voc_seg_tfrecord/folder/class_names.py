"""Finds the classes of a folder whose user gave no names: in a class file, or in a table."""

from collections.abc import Mapping, Sequence
import copy
import dataclasses
import posixpath
from typing import Any

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Rows, are_whole, color_key
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.core.spelling import group_by_case
from voc_seg_tfrecord.folder.classes.candidates import FolderTable
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice, choose_class_file
from voc_seg_tfrecord.folder.classes.names import table_of_file
from voc_seg_tfrecord.folder.meaning.default_names import (
    DefaultNames,
    DoubtedNames,
    choose_default_names,
)
from voc_seg_tfrecord.folder.meaning.label_meaning import choose_numbering
from voc_seg_tfrecord.folder.meaning.proposals import (
    advise_smoothed,
    advise_table,
    are_spaced_grays,
    list_pixels,
    propose_classes,
    propose_threshold,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.mask_survey import Survey
from voc_seg_tfrecord.tools.class_file import ClassFile

NO_CLASS_NAMES = "no class names"
"""The kind of the error about a folder without class names."""

MAX_LISTED_KEYS = 8
"""How many values or colors the first sentence of that error lists."""


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
    config_with_rows = copy.copy(config)  # whose names are checked when the class file is known
    config_with_rows.classes = rows
    config_with_rows.background = background
    choice = choose_class_file(tree, config_with_rows, table, named=False)
    fields: dict[str, Any] = {"class_names": (), "classes": rows, "background": background}
    choice_of_rows = ClassFileChoice(notes=choice.notes)
    if not choice.numberings and are_whole(rows):
        return FoundClasses(fields, choice_of_rows)
    if not choice.numberings:
        default = choose_default_names(tree, config, rows, background, default_names)
        if not isinstance(default, DefaultNames):
            raise _ask_for_names(evidence, config, rows, choice.notes, default)
        fields |= {"class_names": default.names, "default_names": True}
        return FoundClasses(fields, ClassFileChoice(notes=(default.note, *choice.notes)))
    advice = advise_table(tree.given, tree.layout, config, named=False)
    file = choose_numbering(tree.labels, choice.numberings, rows, background, advice)
    if file is None:
        return FoundClasses(fields, choice_of_rows)
    classes = table_of_file(file, rows, background)
    names = classes.names or classes.class_names
    fields = {
        "class_names": classes.names,
        "classes": classes.rows,
        "background": background or _background_of(file, names),
    }
    if not classes.names:
        choice = dataclasses.replace(choice, numberings=(), file_of_rows=file.source)
        return FoundClasses(fields, choice)
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
        task=f"read the classes {' and '.join(groups[0])} of several folders, which differ in "
        "spelling alone",
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
    return QuestionError(
        tree.root,
        _keep_rows(_list_alternatives(tree, survey, likeliest), rows),
        facts=["; ".join(facts), *list_pixels(survey)],
        task="name the classes",
        expected="a class for each value or color of the masks",
        kind=NO_CLASS_NAMES,
        by_hand=advise_smoothed(survey)
        or advise_table(tree.given, tree.layout, config, named=False),
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
    keys = [str(value) for value in survey.values]
    if not keys:
        keys = [color_key(color) for color in survey.colors]
    if not keys:
        return "no class names, and no mask that can be read"
    if len(keys) == 1:
        return f"the masks use {keys[0]} alone, without a name"
    if len(keys) > MAX_LISTED_KEYS:
        return f"the masks use {len(keys)} values or colors, without names"
    return f"the masks use {', '.join(keys[:-1])} and {keys[-1]}, without names"


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
