"""Proposes a threshold where the masks of a folder are black and white with soft edges."""

import os

from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.made_labels import MadeLabels
from voc_seg_tfrecord.folder.tree.soft_labels import SoftLabels
from voc_seg_tfrecord.formats.mask_survey import StoredPixel, Survey
from voc_seg_tfrecord.formats.soft_masks import (
    LOWEST_SOFT_VALUE,
    PROPOSED_THRESHOLD,
    WHITE,
    are_soft,
)

MAX_READ_SOFT_MASKS = 8
"""How many masks with soft values are tried with a threshold before it is proposed."""


def propose_threshold(labels: Labels, survey: Survey) -> list[Alternative]:
    """Returns how to read masks that are black and white with soft edges.

    Args:
      labels: the masks.
      survey: what they use.

    Returns:
      The proposal; none unless the first masks with soft values and a sample of all masks are black
      and white with soft edges.
    """
    if isinstance(labels, MadeLabels | SoftLabels):
        return []
    soft_masks = _list_soft_masks(survey)
    # A survey cannot read JPEGs and counts them as damaged; a threshold can read them.
    may_be_soft = bool(soft_masks) or survey.damaged > 0
    if not may_be_soft:
        return []
    sampled_masks = [os.fspath(labels.folder / name) for name in few([*labels.names.values()])]
    first_soft_masks = soft_masks[:MAX_READ_SOFT_MASKS]
    paths = dict.fromkeys([*first_soft_masks, *sampled_masks])
    try:
        if not are_soft([File.read(path, MaskError) for path in paths]):
            return []
    except VocSegError:  # one cannot be read
        return []
    words = (
        "if they are black and white masks of one class, read all pixels from a gray on as white"
    )
    return [Alternative(words, {"threshold": PROPOSED_THRESHOLD})]


def _list_soft_masks(survey: Survey) -> list[str]:
    """Returns the masks that are the first to have a soft or nearly white value, each once."""
    paths: list[str] = []
    for pixel, occurrence in survey.pixels.items():
        gray = _gray_of(pixel)
        if gray is not None and LOWEST_SOFT_VALUE <= gray < WHITE:
            paths.append(occurrence.first)
    return [*dict.fromkeys(paths)]


def _gray_of(pixel: StoredPixel) -> int | None:
    """Returns the gray of a pixel; None if it is colored."""
    if pixel.color is None:
        return pixel.value
    return pixel.color[0] if len({*pixel.color}) == 1 else None
