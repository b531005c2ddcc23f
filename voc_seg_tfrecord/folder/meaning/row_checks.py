"""Checks of the user's rows against what the masks hold."""

import collections

from voc_seg_tfrecord.core.class_rows import color_key, table_error
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.mask_rule import Class, MaskRule
from voc_seg_tfrecord.core.names import Color
from voc_seg_tfrecord.folder.meaning.candidates import MeaningCandidate
from voc_seg_tfrecord.formats.mask_errors import two_classes_error
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey


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
    """Where colors give the classes, checks that rows by value do not give one color two classes.

    Raises:
      ConfigError: if a color has two classes.
    """
    rule = candidate.rule
    has_rgb_masks = any(pixel.kind == "rgb" for pixel in survey.pixels)
    colors_give_classes = candidate.by == "color" or has_rgb_masks
    if not colors_give_classes or not rule.given_values:
        return
    classes_by_color: dict[Color, set[int]] = collections.defaultdict(set)
    for pixel in survey.pixels:
        if pixel.color is None or pixel.kind == "gray":
            continue
        classes_by_color[pixel.color] |= _find_classes(pixel, rule)
    for color, classes in classes_by_color.items():
        if len(classes) > 1:
            names = " and ".join(candidate.class_names[index] for index in classes)
            raise table_error(
                f"rows with values, by which pixels of {color_key(color)} are {names}",
                "rows with colors or names, because colors give the classes of these masks",
            )


def _find_classes(pixel: StoredPixel, rule: MaskRule) -> set[Class]:
    """Returns the classes of a pixel that is not gray.

    Returns:
      The classes by the user's rows, of which two contradict each other. If no row is for the
      pixel, its class by the rest of the rule; none if the rule does not know the pixel.
    """
    classes_by_rows = rule.given_classes(pixel.value, pixel.color)
    if classes_by_rows:
        return classes_by_rows
    class_by_rule = rule.class_of(*pixel)
    if class_by_rule is None:
        return set()
    return {class_by_rule}
