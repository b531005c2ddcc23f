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
    if samples.kind == "rgb":
        raise MaskError(
            where,
            found="colours, although the masks are read by index",
            expected="a palette or greyscale mask of class indices",
            remedy="give the classes' colours in a labelmap.txt, or correct the mask",
        )
    values, counts = np.unique(samples.values, return_counts=True)
    check_values(dict(zip(values.tolist(), counts.tolist(), strict=True)), rule, where)
    return lookup(samples.values, rule)


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
                remedy="export the masks again, or have the values decide, with --masks_by index",
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
        remedy="add the colours to the class file, or export masks without smoothing",
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
