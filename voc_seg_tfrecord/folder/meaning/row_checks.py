"""Checks of the user's rows against what the masks hold."""

import collections

from voc_seg_tfrecord.core.class_rows import color_key, table_error
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.names import Color
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.formats.mask_errors import two_classes_error
from voc_seg_tfrecord.formats.mask_survey import Survey


def check_rows_fit(survey: Survey, table: ClassTable) -> None:
    """Checks that the masks have what the user's rows name, and that a pixel has one class by them.

    Raises:
      ConfigError: if rows have values alone and the masks colors alone, or the other way round.
      MaskError: if a palette entry has one class by its value, and another one by its color.
    """
    if not survey.pixels and not survey.voc.masks:
        return
    has_values = bool(survey.values or survey.voc.masks)
    has_colors = bool(survey.colors or survey.voc.masks)
    if table.class_by_value and not table.class_by_color and not has_values:
        raise table_error("values, but the masks hold only colors", "rows with colors or names")
    if table.class_by_color and not table.class_by_value and not has_colors:
        raise table_error("colors, but the masks hold only values", "rows with values or names")
    _check_palettes_agree(survey, table)


def _check_palettes_agree(survey: Survey, table: ClassTable) -> None:
    """Checks that no palette entry has one class by the row of its value, and another by its color.

    Raises:
      MaskError: if one has, with the first mask that uses it.
    """
    for pixel, occurrence in survey.pixels.items():
        if pixel.kind == "gray" or pixel.value is None or pixel.color is None:
            continue
        by_value = table.class_by_value.get(pixel.value)
        by_color = table.class_by_color.get(pixel.color)
        if by_value and by_color and by_value != by_color:
            raise two_classes_error(pixel.value, pixel.color, occurrence.pixels, occurrence.first)


def check_rows_by_color(candidate: MeaningCandidate, survey: Survey) -> None:
    """Checks that rows by value leave a color one class wherever colors give the classes.

    Raises:
      ConfigError: if a color is of two classes.
    """
    rule = candidate.rule
    has_rgb_masks = any(pixel.kind == "rgb" for pixel in survey.pixels)
    colors_give_classes = candidate.by == "color" or has_rgb_masks
    if not colors_give_classes or not rule.given_values:
        return
    classes_by_color: dict[Color, set[int]] = collections.defaultdict(set)
    for kind, value, color in survey.pixels:
        if color is None or kind == "gray":
            continue
        classes = rule.given_classes(value, color) or {rule.class_of(kind, value, color)}
        classes_by_color[color] |= classes - {None}
    for color, classes in classes_by_color.items():
        if len(classes) > 1:
            names = " and ".join(candidate.class_names[index] for index in classes)
            raise table_error(
                f"rows with values, by which pixels of {color_key(color)} are {names}",
                "rows with colors or names, because colors give the classes of these masks",
            )
