"""The gate: accepts only values and colours that a rule knows."""

from collections.abc import Mapping

import numpy as np

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.lookup import count_values, map_colors, map_values
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
    check_values(count_values(stored), rule, where)
    return map_values(stored, rule.values)


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


def by_color(samples: Samples, rule: MaskRule, where: object) -> np.ndarray | None:
    """Returns the class of each colour, uint8 `[H, W]`; None where values decide.

    Raises:
      MaskError: if there are colours that the rule does not know.
    """
    if rule.colors is None or (samples.kind == "grey" and not rule.grey_is_color):
        return None
    keys, classes = rule.packed_colors
    if samples.kind == "rgb":
        found, (unknown, counts) = map_colors(samples.values, keys, classes)
        if unknown.size:
            _raise_unknown_colors(unknown, counts, rule, where)
        return found
    occurring = count_values(samples.values)
    colors = _packed_colors(samples, list(occurring), where)
    class_of = dict(zip(keys.tolist(), classes.tolist(), strict=True))
    if samples.palette is None and rule.values.get(VOID) == VOID:
        class_of.setdefault(VOID * 0x010101, VOID)
    missing: dict[int, int] = {}
    for color, count in zip(colors, occurring.values(), strict=True):
        if color not in class_of:
            missing[color] = missing.get(color, 0) + count
    if missing:
        unknown, counts = (np.array(numbers) for numbers in zip(*missing.items(), strict=True))
        _raise_unknown_colors(unknown, counts, rule, where)
    return map_values(
        samples.values, {v: class_of[c] for v, c in zip(occurring, colors, strict=True)}
    )


def _packed_colors(samples: Samples, values: list[int], where: object) -> list[int]:
    """Returns the colour of each value, ascending, as a 24-bit number."""
    if samples.palette is None:
        return [value * 0x010101 for value in values]
    if values[-1] >= len(samples.palette):
        raise MaskError(
            where,
            found=f"value {values[-1]}, which has no colour in a palette of {len(samples.palette)}",
            expected="a colour for each value, because the masks are read by colour",
            remedy="Export the mask again with a colour for each value",
        )
    return [r << 16 | g << 8 | b for r, g, b in samples.palette[values].tolist()]


def _raise_unknown_colors(
    packed: np.ndarray, counts: np.ndarray, rule: MaskRule, where: object
) -> None:
    order = np.argsort(-counts.astype(np.int64), kind="stable")[:_ENOUGH]
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
