"""Notes on the meaning of masks that was chosen: what the user should look at."""

import collections
from collections.abc import Container, Mapping

from voc_seg_tfrecord.core.class_entries import is_void_name, may_be_background
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, color_key, format_pairs
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.decide import Decision
from voc_seg_tfrecord.folder.meaning import doubts, palettes
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.folder.meaning.evidence import MeaningEvidence
from voc_seg_tfrecord.folder.meaning.rules import FILE_COLORS
from voc_seg_tfrecord.folder.meaning.words import compare_candidates, describe_pixel, list_first
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey


def list_notes(
    taken: MeaningCandidate, decision: Decision[MeaningCandidate], evidence: MeaningEvidence
) -> list[str]:
    """Returns what the user should look at, if the masks are read by a candidate."""
    survey = evidence.survey
    notes = [
        _note_255_as_class(taken),
        _note_file_colors(taken, decision, evidence),
        _note_moved_voc_colors(taken, survey),
        _note_private_palette(taken, survey),
        _note_equal_channels(taken, survey),
        _note_transparent(taken, survey),
        _note_absent_rows(taken.naming.table, survey),
        _note_255_as_void(taken, survey),
        _note_background_among_classes(taken, survey),
    ]
    return [note for note in notes if note]


def _note_255_as_class(taken: MeaningCandidate) -> str:
    if not taken.reads_255_as_class or VOID in taken.naming.table.class_by_value:
        return ""
    indices = taken.rule.all_values
    class_of_0, class_of_255 = taken.class_names[indices[0]], taken.class_names[indices[VOID]]
    return (
        "The masks hold only the values 0 and 255, and there are two classes. So 0 is "
        f"{class_of_0} and 255 is {class_of_255}. If 255 is void, give --classes 255=void."
    )


def _note_file_colors(
    taken: MeaningCandidate, decision: Decision[MeaningCandidate], evidence: MeaningEvidence
) -> str:
    """Compares the colors of a class file with what lost to them, and reads as many masks."""
    comparable = []
    for candidate, reason in decision.lost.items():
        differs = evidence.classes[candidate] != evidence.classes[taken]
        reads_as_many = evidence.masks_read[candidate] >= evidence.masks_read[taken]
        if reason.rule == FILE_COLORS.name and reads_as_many and differs:
            comparable.append(candidate)
    if not comparable:
        return ""
    compared = compare_candidates(evidence.survey, [*comparable, taken])
    return f"The colors are {taken.source}, and give the classes. {compared}"


def _note_moved_voc_colors(taken: MeaningCandidate, survey: Survey) -> str:
    uses_voc_colors = taken.kind in ("VOC order", "VOC names")
    if not uses_voc_colors or not palettes.entries_out_of_place(survey):
        return ""
    meanings = compare_candidates(survey, [taken])
    return f"The colors are VOC's, in another order. {meanings}"


def _note_private_palette(taken: MeaningCandidate, survey: Survey) -> str:
    if taken.kind != "values" or not palettes.entries_out_of_place(survey):
        return ""
    return (
        "The palette's colors are not VOC's, so the values are taken as classes. Look at a preview."
    )


def _note_equal_channels(taken: MeaningCandidate, survey: Survey) -> str:
    if taken.by == "value" and any(pixel.kind == "equal" for pixel in survey.pixels):
        return "In RGB masks whose red, green and blue are equal, red is the class."
    return ""


def _note_transparent(taken: MeaningCandidate, survey: Survey) -> str:
    """Says as what transparent pixels are read: as the color or value that lies under them."""
    lines = []
    for pixel, occurrence in survey.transparent.items():
        masks = counted(occurrence.masks, "mask")
        lines.append(f"{describe_pixel(pixel)} is {taken.class_of(pixel)} in {masks}")
    if not lines:
        return ""
    return f"Transparent pixels are read by what lies under them: {list_first(lines)}."


def _note_absent_rows(table: ClassTable, survey: Survey) -> str:
    """Names the rows with classes for which no mask has a pixel."""
    if not survey.pixels or survey.voc.masks:
        return ""
    absent: list[str] = []
    for value, name in table.class_by_value.items():
        if value not in survey.values and name != VOID_CLASS:
            absent.append(f"{value} ({name})")
    for color, name in table.class_by_color.items():
        if color not in survey.colors and name != VOID_CLASS:
            absent.append(f"{color_key(color)} ({name})")
    if not absent:
        return ""
    return f"These rows of the class table occur in no mask: {list_first(absent)}."


def _note_255_as_void(taken: MeaningCandidate, survey: Survey) -> str:
    if survey.binary.masks and doubts.reads_255_as_void_without_row(taken):
        return f"{doubts.count_255(survey)}. So 255 is void."
    return ""


def _note_background_among_classes(taken: MeaningCandidate, survey: Survey) -> str:
    """Names a class that is called void, unlabeled or the like, and covers most pixels."""
    pixels_by_name = collections.Counter[str]()
    total = 0
    for pixel, occurrence in survey.pixels.items():
        total += occurrence.pixels
        name = _name_without_rows(pixel, taken)
        if name is not None:
            pixels_by_name[name] += occurrence.pixels
    return note_possible_background(pixels_by_name, total, taken.naming.table.class_by_name)


def note_possible_background(
    pixels_by_class: Mapping[str, int], total: int, given: Container[str]
) -> str:
    """Returns a note on the class that covers most pixels, if it `may_be_background`.

    Args:
      pixels_by_class: how many pixels each class has.
      total: how many pixels there are.
      given: the classes of which the user said what they become.

    Returns:
      The note with the option that makes it background; empty if there is no such class.
    """
    for name, pixels in pixels_by_class.items():
        covers_most = pixels > total / 2
        if covers_most and may_be_background(name) and name not in given:
            share = f"{pixels / total:.0%}"
            option = command(classes=format_pairs([(name, "background")]))
            return f"{name} covers {share} of the pixels. If it is the background, say {option}."
    return ""


def _name_without_rows(pixel: StoredPixel, taken: MeaningCandidate) -> str | None:
    """Returns the name of a pixel's class; None if it has none, or a row of the user.

    A class that counts as void is named as the class file or the user called it, such as
    `unlabeled`.
    """
    if taken.rule.given_classes(pixel.value, pixel.color):
        return None
    name = taken.class_of(pixel)
    if name != VOID_CLASS:
        return name
    by_color = taken.uses_file_colors and pixel.kind != "gray"
    for entry in taken.naming.entries:
        is_of_pixel = entry.color == pixel.color if by_color else entry.value == pixel.value
        if is_of_pixel and is_void_name(entry.name):
            return entry.name
    return None
