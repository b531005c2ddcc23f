"""The errors about pixels of masks that have no class, or two."""

from collections.abc import Mapping, Sequence

import numpy as np

from voc_seg_tfrecord.core.class_rows import color_key
from voc_seg_tfrecord.core.errors import MaskError, counted, several
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOID, Color

UNKNOWN_COLOR = "unknown mask color"
"""The kind of the error about colors that have no class."""

UNKNOWN_VALUE = "unknown mask value"
"""The kind of the error about values that have no class."""

_MAX_LISTED_UNKNOWN = 5
"""How many unknown values or colors an error lists."""

_MAX_LISTED_EXPECTED = 12
"""How many expected values an error lists."""


def two_classes_error(value: int, color: Color, pixels: int, where: object) -> MaskError:
    """Returns the error that two rows of the user give one pixel two classes."""
    return MaskError(
        where,
        found=f"{counted(pixels, 'pixel')} of value {value} and color {color_key(color)}, for "
        "which classes has two different classes",
        expected="one class for each pixel",
        remedy=f"remove the row of {value} or that of {color_key(color)} from classes",
    )


def colors_in_place_of_values_error(colors: np.ndarray, rule: MaskRule, where: str) -> MaskError:
    """Returns the error about colors uint8 `[H, W, 3]` where only values have classes."""
    colored = int((colors != colors[..., :1]).any(axis=-1).sum())
    return MaskError(
        where,
        found=f"colors on {counted(colored, 'pixel')}, although the masks are read by value",
        expected="a palette or grayscale mask, or RGB with equal red, green and blue",
        remedy=rule.remedy,
        kind=UNKNOWN_COLOR,
    )


def unknown_colors_error(counts: Mapping[Color, int], rule: MaskRule, where: str) -> MaskError:
    """Returns the error that colors have no class, with the most frequent ones.

    Args:
      counts: the number of pixels of each such color.
      rule: which colors have a class.
      where: the mask.
    """
    by_frequency = sorted(counts, key=lambda color: (-counts[color], color))
    colors = [f"{color_key(color)} on {counted(counts[color], 'pixel')}" for color in by_frequency]
    return MaskError(
        where,
        found=f"colors without a class: {several(colors, _MAX_LISTED_UNKNOWN)}",
        expected=f"exactly one of the {len(rule.all_colors)} colors of the classes",
        remedy=f"{rule.remedy}; or export the masks without smoothing",
        kind=UNKNOWN_COLOR,
    )


def unknown_values_error(counts: Mapping[int, int], rule: MaskRule, where: str) -> MaskError:
    """Returns the error that values have no class.

    Args:
      counts: the number of pixels of each such value.
      rule: which values have a class.
      where: the mask.
    """
    values = [f"value {value} on {counted(pixels, 'pixel')}" for value, pixels in counts.items()]
    return MaskError(
        where,
        found=several(values, _MAX_LISTED_UNKNOWN),
        expected=_describe_known_values(rule),
        remedy=rule.remedy,
        kind=UNKNOWN_VALUE,
    )


def short_palette_error(value: int, color_count: int, where: str) -> MaskError:
    """Returns the error about a value beyond the end of a palette, if masks are read by color."""
    return MaskError(
        where,
        found=f"value {value}, but the palette has only {counted(color_count, 'color')}",
        expected="a color for each value, because the masks are read by color",
        remedy="export the mask again with a color for each value",
    )


def _describe_known_values(rule: MaskRule) -> str:
    """Returns which values have a class: `0 to 20, or 255 or -1 for void`.

    If no value has a class, but colors have, it names these.
    """
    classes = []
    voids = []
    for value, index in sorted(rule.all_values.items()):
        if index == VOID:
            voids.append(str(value))
        else:
            classes.append(value)
    words = _describe_numbers(classes) if classes else _describe_known_colors(rule)
    if voids:
        words += f", or {' or '.join(voids)} for void"
    return words


def _describe_numbers(numbers: Sequence[int]) -> str:
    """Returns ascending numbers in words: `0 to 20`, or `0, 7, 9`."""
    first = numbers[0]
    last = numbers[-1]
    if list(numbers) == list(range(first, last + 1)):
        return f"{first} to {last}"
    return several(map(str, numbers), _MAX_LISTED_EXPECTED)


def _describe_known_colors(rule: MaskRule) -> str:
    """Says that values need classes, and which colors have some."""
    colors = [color_key(color) for color, index in rule.all_colors.items() if index != VOID]
    words = "a class for each value"
    if colors:
        words += f", as for the colors {several(colors, _MAX_LISTED_EXPECTED)}"
    return words
