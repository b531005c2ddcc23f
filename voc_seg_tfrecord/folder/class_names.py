"""Finds the classes of a folder whose user gave no names: in a class file, or in a table."""

from collections.abc import Mapping, Sequence
import copy
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_rows import Rows, are_whole
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice, choose_class_file
from voc_seg_tfrecord.folder.classes.folder_table import FolderTable
from voc_seg_tfrecord.folder.classes.names import (
    names_from_file,
    names_in_order_of_values,
    rows_of_file,
)
from voc_seg_tfrecord.folder.meaning.advice import advise_table
from voc_seg_tfrecord.folder.meaning.label_meaning import choose_numbering
from voc_seg_tfrecord.folder.meaning.proposals import (
    advise_smoothed,
    list_pixels,
    propose_classes,
)
from voc_seg_tfrecord.folder.meaning.soft_advice import advise_threshold
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.official import official_note
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

NO_CLASS_NAMES = "no class names"
"""The kind of the error about a folder without class names."""


@dataclasses.dataclass(frozen=True)
class FoundClasses:
    """The classes that a folder itself gives.

    Attributes:
      fields: the fields of a config that hold them: `class_names` or `classes`, and `background`.
      choice: the class file whose names these are, or whose lines became rows; none if the rows are
        the user's own or those of the table.
      fault: why there are none, if names stand for the values of masks.
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
) -> FoundClasses:
    """Finds the classes of a folder.

    Args:
      evidence: the folder, and its lists.
      config: what the user said of files and splits.
      table: the folder's table of classes.
      rows: its rows and those of the user.
      background: the name of the class that is background, if the user said so.

    Raises:
      LayoutError: if there is no class file, and no rows say what values and colors mean.
      MaskError: if masks fit two ways in which the file may be numbered, and the two differ.
    """
    tree = evidence.tree
    with_rows = copy.copy(config)  # not checked: nobody knows yet which names the rows may have
    with_rows.classes = rows
    found = choose_class_file(tree, with_rows, table, background)
    if not found.numberings:
        if are_whole(rows):
            return _of_rows(rows, background)
        raise _no_names(evidence, with_rows, found.notes)
    advice = advise_table(tree.given, tree.layout, config, named=False)
    file = choose_numbering(tree.labels, found.numberings, rows, background, advice)
    if file is None:
        return _of_rows(rows, background)
    names = names_from_file(file, rows)
    if _rows_replace_values(file, rows):
        names = names_in_order_of_values(file)
    if not names:
        rows = rows_of_file(file, rows, background)
        names = ClassTable((), rows, background).class_names
        classes = _of_rows(rows, background or _background_of(file, names))
        choice = dataclasses.replace(found, numberings=(), file_of_rows=file.source)
        return dataclasses.replace(classes, choice=choice)
    fields = {
        "class_names": names,
        "classes": rows,
        "background": background or _background_of(file, names),
    }
    return FoundClasses(fields, dataclasses.replace(found, numberings=(file,)))


def _of_rows(rows: Rows, background: str) -> FoundClasses:
    """Returns the classes of rows that are the whole table."""
    return FoundClasses({"class_names": (), "classes": rows, "background": background})


def _rows_replace_values(file: ClassFile, rows: Rows) -> bool:
    """Says whether rows give values of a file, or places of its names, another class."""
    values = {entry.value for entry in file.entries}
    keys = {*range(len(values)), *values - {VOID}}
    return not keys.isdisjoint(key for key, _ in rows)


def _background_of(file: ClassFile, names: Sequence[str]) -> str:
    """Returns the background that a class file names, empty if its name says so anyway."""
    if file.background not in names:
        return ""
    if background_index(names) == names.index(file.background):
        return ""
    return file.background


def _no_names(evidence: SplitEvidence, config: VocSegConfig, notes: Sequence[str]) -> LayoutError:
    tree = evidence.tree
    of_images = [image_id for image_id in tree.masks if image_id in tree.images]
    survey = tree.labels.survey(of_images or tree.masks, all_colors=True)
    advice = advise_table(tree.given, tree.layout, config, named=False)
    ways = [*propose_classes(survey, official_note(evidence)), advice]
    remedy = advise_smoothed(survey) or "; or ".join(ways)
    threshold = advise_threshold(tree.labels, survey)
    if threshold:
        remedy = f"{threshold}; else {remedy[0].lower()}{remedy[1:]}"
    why = " ".join(notes).rstrip(".") or f"there is no class file ({', '.join(CLASS_FILE_NAMES)})"
    found = f"no class names: {why}"
    held = list_pixels(survey)
    if held:
        found += f". The masks hold\n    {held}"
    return LayoutError(
        tree.root,
        found=found,
        expected="a class for each value or color of the masks",
        remedy=remedy,
        kind=NO_CLASS_NAMES,
    )
