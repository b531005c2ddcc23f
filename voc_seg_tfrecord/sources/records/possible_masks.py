"""Finds features of hand-written records that may be the mask beside what a layout reads."""

from collections.abc import Mapping, Sequence
import dataclasses
import re

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.sources.records import features
from voc_seg_tfrecord.sources.records.features import Record
from voc_seg_tfrecord.sources.records.layouts import REDUNDANT_FEATURES, RecordLayout

_MASK_NAME = re.compile(r"mask|label|seg|annot|truth|target|(?<![a-z])gts?(?![a-z])", re.IGNORECASE)
"""The name of a feature that may be a mask: `Mask1`, `image/labels`, `segmap`, `im_gt`.

The features are read before anybody is asked, so a name of something else does no harm."""


def check_one_mask(record: Record, layout: RecordLayout, where: str) -> None:
    """Checks that a record with a mask or a label has no other feature that may be the mask.

    Args:
      record: the first record.
      layout: the layout that was detected.
      where: the record, for errors.

    Raises:
      RecordError: if it has one; the error says how to choose.
    """
    others = list_possible_masks(record, layout)
    if not others:
        return
    if layout.mask:
        masks = (layout.mask, *others)
        raise RecordError(
            where,
            found=f"{len(masks)} features that may be the mask: {', '.join(masks)}",
            expected="one mask",
            remedy=_advise_choice(_with_each_mask(layout, masks)),
        )
    raise RecordError(
        where,
        found=f"the label {layout.label}, and features that may be a mask: {', '.join(others)}",
        expected="a label or a mask",
        remedy=_advise_choice([layout, *_with_each_mask(layout, others)]),
    )


def list_possible_masks(record: Record, layout: RecordLayout) -> list[str]:
    """Returns the features beside those of a layout that may be the mask, sorted.

    Such a feature is named like a mask, and can be read as one.
    """
    if not layout.mask and not layout.label:
        return []  # then a record has no other features
    keys = []
    for key in sorted(record):
        is_known = key in layout.keys.values() or key in REDUNDANT_FEATURES
        if not is_known and _MASK_NAME.search(key) and _is_mask(record, layout, key):
            keys.append(key)
    return keys


def _is_mask(record: Record, layout: RecordLayout, key: str) -> bool:
    """Says whether a feature can be read as a mask of the image's size."""
    try:
        features.read_mask(record, dataclasses.replace(layout, mask=key), "")
    except RecordError:
        return False
    return True


def _with_each_mask(layout: RecordLayout, masks: Sequence[str]) -> list[RecordLayout]:
    """Returns a layout for each mask, without a label."""
    return [dataclasses.replace(layout, mask=mask, label="") for mask in masks]


def _advise_choice(choices: Sequence[RecordLayout]) -> str:
    """Returns the option that chooses each of several layouts."""
    options = [_option_keys(layout.keys) for layout in choices]
    return "choose it: " + "; or ".join(options)


def _option_keys(keys: Mapping[str, str]) -> str:
    """Returns the option that says which feature holds what."""
    return command(keys=",".join(f"{field}={key}" for field, key in keys.items()))
