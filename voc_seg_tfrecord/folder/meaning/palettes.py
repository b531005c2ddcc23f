"""What the palettes of a set's masks show: whether values or colors can be its classes."""

import collections

from voc_seg_tfrecord.core.names import VOC_NUMBERS, VOID, VOID_COLOR, Color
from voc_seg_tfrecord.folder.mask_survey import StoredPixel, Survey

MAX_REPEATED_COLORS_SHARE = 0.1
"""Up to this share of colors may come back in a second mask if each palette is at random."""


def entries_out_of_place(survey: Survey) -> list[StoredPixel]:
    """Returns the palette entries in use that have neither VOC's color nor the gray of their value.

    A value beyond the end of a palette has no color, and so none that is wrong.
    """
    entries = []
    for pixel in survey.palette_entries:
        assert pixel.color  # as all of these have
        gray_of_value = (pixel.value, pixel.value, pixel.value)
        if pixel.color != gray_of_value and VOC_NUMBERS.get(pixel.color) != pixel.value:
            entries.append(pixel)
    return entries


def has_values_of_one_color(survey: Survey) -> bool:
    """Says whether a palette mask uses two values that have the same color."""
    for pixels in survey.masks_by_pixels:
        colors: set[Color] = set()
        for pixel in pixels:
            if pixel.kind != "palette" or pixel.color is None:
                continue
            if pixel.color in colors:
                return True
            colors.add(pixel.color)
    return False


def values_with_several_colors(survey: Survey) -> set[int | None]:
    """Returns the values of palette masks that have different colors in different masks."""
    colors_by_value: dict[int | None, set[Color | None]] = {}
    for pixel in survey.palette_entries:
        colors_by_value.setdefault(pixel.value, set()).add(pixel.color)
    if survey.voc.masks:  # they are not decoded, but their colors are known
        for value, color in enumerate(VOC_NUMBERS):
            if value in colors_by_value:
                colors_by_value[value].add(color)
    return {value for value, colors in colors_by_value.items() if len(colors) > 1}


def has_value_gaps(survey: Survey) -> bool:
    """Says whether a palette mask leaves out a value below its highest one, but for void."""
    for pixels in survey.masks_by_pixels:
        values = {pixel.value for pixel in pixels if pixel.kind == "palette"} - {VOID}
        if values != set(range(len(values))):
            return True
    return False


def were_packed(survey: Survey, *, names_are_voc: bool) -> bool:
    """Says whether the palettes were made of the colors in use, so that values mean nothing.

    A program that optimizes PNG files numbers the colors of each mask anew. Then no mask leaves out
    a value, and a value has several colors; or VOC's color of void is moved among VOC's classes.

    Args:
      survey: what the masks use.
      names_are_voc: whether the classes are VOC's 21.
    """
    if has_value_gaps(survey):
        return False
    if values_with_several_colors(survey):
        return True
    entries_of_void = [pixel for pixel in survey.palette_entries if pixel.color == VOID_COLOR]
    has_moved_void = any(pixel.value != VOID for pixel in entries_of_void)
    return names_are_voc and has_moved_void


def are_random(survey: Survey) -> bool:
    """Says whether each mask has a palette at random, so that hardly any color comes back."""
    if survey.voc.masks or not has_value_gaps(survey):
        return False
    several = values_with_several_colors(survey)
    masks_by_color: collections.Counter[Color | None] = collections.Counter()
    for pixel in survey.palette_entries:
        if pixel.value in several:
            masks_by_color[pixel.color] += survey.pixels[pixel].masks
    repeated_colors = [color for color, masks in masks_by_color.items() if masks > 1]
    most_repeated = MAX_REPEATED_COLORS_SHARE * len(masks_by_color)
    return len(repeated_colors) < most_repeated
