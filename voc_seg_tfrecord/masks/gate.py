"""The gate: accepts only values and colours that a rule knows."""

from collections.abc import Mapping

import numpy as np

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.stored import Samples

_ENOUGH = 5  # unknown values or colours that an error lists


def by_value(samples: Samples, rule: MaskRule, where: object) -> np.ndarray:
    """Returns the class of each value, uint8 `[H, W]`.

    Raises:
      MaskError: if there are colours, or values that the rule does not know.
    """
    stored = samples.values
    if samples.kind == "rgb":
        stored = _values_of_rgb(stored, rule, where)
    values, counts = np.unique(stored, return_counts=True)
    check_values(dict(zip(values.tolist(), counts.tolist(), strict=True)), rule, where)
    return lookup(stored, rule)


def _values_of_rgb(colors: np.ndarray, rule: MaskRule, where: object) -> np.ndarray:
    """Returns the values of RGB pixels in which red, green and blue are equal, uint8 `[H, W]`."""
    colored = int((colors != colors[..., :1]).any(axis=-1).sum())
    if rule.rgb_values and not colored:
        return colors[..., 0]
    equal = "red, green and blue equal on each pixel"
    raise MaskError(
        where,
        found=f"an RGB mask with {colored} pixels in which red, green and blue differ, although "
        "the masks are read by index"
        if colored
        else f"an RGB mask with {equal}, although the other masks hold one value per pixel",
        expected=f"a palette or greyscale mask of class indices, or {equal}"
        if rule.rgb_values
        else "a palette or greyscale mask of class indices",
        remedy="Correct the mask. If all masks of the set hold colours, say --masks_by color"
        if colored
        else "Correct the mask, or say --masks_by index if red is the class",
    )


def lookup(values: np.ndarray, rule: MaskRule) -> np.ndarray:
    """Returns the class of each value, all of which the rule knows, uint8."""
    known = np.array(sorted(rule.values))
    classes = np.array([rule.values[value] for value in known.tolist()], np.uint8)
    return classes[np.searchsorted(known, values)]


def by_color(samples: Samples, rule: MaskRule, where: object) -> np.ndarray | None:
    """Returns the class of each colour, uint8 `[H, W]`; None where values decide.

    Raises:
      MaskError: if there are colours that the rule does not know.
    """
    if rule.colors is None or (samples.kind == "grey" and not rule.grey_is_color):
        return None
    colors = samples.values
    if samples.kind == "palette":
        top = int(samples.values.max())
        if top >= len(samples.palette):
            raise MaskError(
                where,
                found=f"value {top}, which has no colour in a palette of {len(samples.palette)}",
                expected="a colour for each value, because the masks are read by colour",
                remedy="Export the mask again with a colour for each value",
            )
        colors = samples.palette[samples.values]
    elif samples.kind == "grey":
        colors = np.repeat(samples.values[..., None], 3, axis=-1)
    packed = colors.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    keys, classes = rule.packed_colors
    found = np.minimum(np.searchsorted(keys, packed), len(keys) - 1)
    unknown = packed[keys[found] != packed]
    if unknown.size:
        _raise_unknown_colors(unknown, rule, where)
    return classes[found]


def _raise_unknown_colors(unknown: np.ndarray, rule: MaskRule, where: object) -> None:
    packed, counts = np.unique(unknown, return_counts=True)
    order = np.argsort(-counts)[:_ENOUGH]
    listed = ", ".join(
        f"{packed[i] >> 16},{packed[i] >> 8 & 255},{packed[i] & 255} on {counts[i]} pixels"
        for i in order
    )
    more = f" and {len(packed) - _ENOUGH} more" if len(packed) > _ENOUGH else ""
    raise MaskError(
        where,
        found=f"unknown colours: {listed}{more}",
        expected=f"one of the {len(rule.colors)} colours of the classes, exactly",
        remedy=(
            f"Add the colours to {rule.source}, or export masks without smoothing. If the values "
            "of the masks are the classes, say --masks_by index"
            if rule.source
            else "Write a labelmap.txt that gives each class its colour, or export masks without "
            "smoothing"
        ),
        kind="unknown mask colour",
    )


def check_values(histogram: Mapping[int, int], rule: MaskRule, where: object) -> None:
    """Accepts only values that the rule knows.

    Args:
      histogram: number of pixels by value.
      rule: what is known.
      where: the file, for the error.

    Raises:
      MaskError: naming the unknown values and how many pixels have each.
    """
    wrong = [(value, count) for value, count in histogram.items() if value not in rule.values]
    if wrong:
        listed = ", ".join(f"value {v} on {n} pixels" for v, n in wrong[:_ENOUGH])
        more = f" and {len(wrong) - _ENOUGH} more values" if len(wrong) > _ENOUGH else ""
        classes = [value for value, index in rule.values.items() if index != VOID]
        voids = sorted(value for value, index in rule.values.items() if index == VOID)
        void = f", or {' or '.join(map(str, voids))} for void" if voids else ""
        raise MaskError(
            where,
            found=listed + more,
            expected=f"{min(classes)} to {max(classes)}{void}",
            remedy="name all classes in class_names, say what is void, or correct the mask",
            kind="unknown mask value",
        )
