"""Gives the classes of a folder default names, where their values leave only the names open.

It is the last step in finding the classes: there is no class file, and no rows name the values. The
names are given only if nothing suggests that the values are something else than classes.
"""

from collections.abc import Sequence
import dataclasses
import posixpath
import re

import numpy as np

from voc_seg_tfrecord.core.class_rows import STAR, VOID_CLASS, Rows
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.default_names import BINARY_NAMES, name_values, note_default_names
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.names import VOC_NUMBERS, VOID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.by_content import SingleFile, list_single_files
from voc_seg_tfrecord.folder.classes.candidates import has_class_file
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.meaning.candidates import ClassNaming
from voc_seg_tfrecord.folder.meaning.choose import choose_meaning
from voc_seg_tfrecord.folder.meaning.proposals import propose_other_background
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.mask_samples import read_samples
from voc_seg_tfrecord.formats.mask_survey import Survey
from voc_seg_tfrecord.formats.value_looks import (
    MAX_LOOKED_AT,
    ValueLook,
    find_look,
)

_KEY_OF_CLASSES = re.compile(r'["\']?(classes|class_names|names|labels|categories)["\']?\s*:')
_MAX_NAME_WORDS = 3

_WORDS_OF_OTHER_PICTURES = frozenset(
    """
    prediction predictions predicted pred preds inference result results output outputs overlay
    overlays overlaid vis viz visualization visualizations depth depthmap depthmaps disparity
    instance instances object objects segmentationobject panoptic boundary boundaries contour
    contours edge edges heatmap heatmaps prob probs probability probabilities logit logits
    confidence confidences debug
    """.split()  # noqa: SIM905
)
"""Words in paths of pictures that are labels only if an option names these paths."""


@dataclasses.dataclass(frozen=True)
class DefaultNames:
    """Default names of classes.

    Attributes:
      names: see `core.default_names.name_values`.
      note: what was assumed, and how to give names.
    """

    names: tuple[str, ...]
    note: str


@dataclasses.dataclass(frozen=True)
class DoubtedNames:
    """Why the user is asked for names although the values of the masks number classes.

    Attributes:
      reason: why the values may not be classes, in words.
      proposals: the likeliest answer; none if it is to name each value.
    """

    reason: str
    proposals: tuple[Alternative, ...] = ()


def choose_default_names(
    tree: VocTree, config: VocSegConfig, rows: Rows, background: str, known_names: Sequence[str]
) -> DefaultNames | DoubtedNames | None:
    """Returns default names for a folder without a class file, if no evidence is against them.

    Args:
      tree: the folder.
      config: the user's options.
      rows: the user's rows.
      background: the name of the class that is background, if the user gave it.
      known_names: default names of an earlier build, whose values count as used.

    Returns:
      The names; or why they are in doubt; None if the values alone do not number classes.
    """
    labels = tree.labels
    survey = labels.survey(labels.names, all_colors=True)
    has_other_rows = any(name != VOID_CLASS or isinstance(key, str) for key, name in rows)
    has_colors_alone = any(pixel.value is None for pixel in survey.pixels)
    if labels.origin or has_other_rows or has_colors_alone:
        return None
    values = set(survey.values)
    is_255_second_class = values == {0, VOID}
    # The values of an earlier build do not count here: one value in use numbers nothing.
    if len(values - {VOID}) < 2 and not is_255_second_class:
        return None
    names = name_values(values | set(range(len(known_names))))
    if not names:
        return None
    doubted = (
        _doubt_folder(tree, config)
        or _doubt_files(tree, len(names))
        or _doubt_meaning(survey, ClassTable(names, rows, background))
        or _doubt_look(labels, names)
    )
    if doubted is not None:
        return doubted
    return DefaultNames(names, _write_note(names, survey, background))


def _doubt_folder(tree: VocTree, config: VocSegConfig) -> DoubtedNames | None:
    """Returns a doubt if a path of masks has a word of other pictures, and no option names it."""
    options = config.layout or {}
    if "masks" in options or "mask_name" in options:
        return None
    for part in tree.layout.folders():
        path = posixpath.join(part.masks, part.mask_name)
        for word in re.split(r"[^a-z]+", path.lower()):
            if word in _WORDS_OF_OTHER_PICTURES:
                doubt = f"their name, {path}, says {word}, so they may be no labels"
                folder = posixpath.join(tree.root_below_given, part.masks)
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
    word_counts = [len(re.findall(r"[^\W\d]+", line)) for line in file.lines]
    are_names = min(word_counts) > 0 and max(word_counts) <= _MAX_NAME_WORDS
    return are_names and abs(len(file.lines) - class_count) <= 1


def _doubt_meaning(survey: Survey, table: ClassTable) -> DoubtedNames | None:
    """Returns a doubt if the masks' colors contradict their values as these classes."""
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
    rows = {0: BINARY_NAMES[0], STAR: "NAME"}
    proposal = Alternative("if they are objects of one class", {"classes": rows})
    return DoubtedNames(look.value, (proposal,))


def _write_note(names: Sequence[str], survey: Survey, background: str) -> str:
    """Returns the note that classes have default names, and how to give others."""
    colors = {pixel.color: pixel.value for pixel in survey.palette_entries if pixel.value}
    has_voc_palette = bool(colors) and colors.items() <= VOC_NUMBERS.items()
    note = note_default_names(names, set(survey.values), has_voc_palette=has_voc_palette)
    sentences = [note]
    if tuple(names) != BINARY_NAMES and not background:
        sentences.append(
            "No class is background, so labels lists class_0, too; to change that, add "
            f"{command(background=names[0])}."
        )
    for proposal in propose_other_background(survey):
        condition = proposal.words[:1].upper() + proposal.words[1:]
        sentences.append(f"{condition}, say {proposal.command}.")
    return " ".join(sentences)
