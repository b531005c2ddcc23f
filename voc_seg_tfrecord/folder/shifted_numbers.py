"""Stops a build whose masks are numbered from another number on than its images."""

from collections.abc import Iterable, Sequence
import re

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MIN_NUMBERED_IMAGES = 3
"""Images with numbers, of which fewer may be shifted by chance."""

_MAX_MISSING = 2
"""How many more images than masks there may be, or masks than images, in shifted runs."""

_MAX_SHARE_MISSING = 0.02
"""The same as a share of the images, where that is more."""

_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")
"""An id: what is before its last number, the number, and what is behind it."""


def check_no_shifted_numbers(tree: VocTree) -> None:
    """Checks that masks are not numbered from 1 while images are numbered from 0, or the like.

    By their names nearly all of them would be pairs, and each image would get another's mask.
    It may be one mask more or less: images 1 to 8 and masks 0 to 8.

    Raises:
      LayoutError: if they are numbered so.
    """
    if not tree.images.keys() & tree.masks.keys():
        return  # no name fits
    image_numbers = _numbers_by_pattern(tree.images)
    mask_numbers = _numbers_by_pattern(tree.masks)
    patterns = sorted(image_numbers.keys() & mask_numbers.keys())
    shifted: list[str] = []
    runs_with_other_starts: list[str] = []
    for pattern in patterns:
        images, masks = image_numbers[pattern], mask_numbers[pattern]
        if min(len(images), len(masks)) < _MIN_NUMBERED_IMAGES:
            continue
        shift = masks[0] - images[0]
        if shift and [number + shift for number in images] == masks:
            shifted.append(pattern)
        if shift and _are_runs_of_alike_length(images, masks):
            runs_with_other_starts.append(pattern)
    if not shifted and len(runs_with_other_starts) == len(patterns):
        shifted = runs_with_other_starts
    for pattern in shifted:
        images, masks = image_numbers[pattern], mask_numbers[pattern]
        options = command(**tree.layout.options(tree.root_below_given))
        raise LayoutError(
            tree.given,
            found=f"images {pattern} numbered {images[0]} to {images[-1]}, and masks numbered "
            f"{masks[0]} to {masks[-1]}. Each image may get the mask of another one",
            expected="the same numbers for an image and its mask",
            remedy="rename the masks. If the names are right, because images or masks are "
            f"missing, add {options}",
            kind="names of masks",
        )


def _numbers_by_pattern(ids: Iterable[str]) -> dict[str, list[int]]:
    """Returns the last numbers of ids, sorted, by the id with `{id}` in place of the number."""
    numbers: dict[str, list[int]] = {}
    for image_id in ids:
        match = _LAST_NUMBER.fullmatch(image_id)
        if match:
            before, number, after = match.groups()
            numbers.setdefault(f"{before}{ID}{after}", []).append(int(number))
    return {pattern: sorted(of_pattern) for pattern, of_pattern in numbers.items()}


def _are_runs_of_alike_length(images: Sequence[int], masks: Sequence[int]) -> bool:
    """Says whether sorted numbers are runs without gaps, and nearly as many.

    If all masks have an image, the others may be without labels, unless one run starts at 0 and the
    other one at 1.
    """
    for numbers in (images, masks):
        first = numbers[0]
        if list(numbers) != list(range(first, first + len(numbers))):
            return False
    missing = abs(len(images) - len(masks))
    if missing > max(_MAX_MISSING, _MAX_SHARE_MISSING * len(images)):
        return False
    has_masks_alone = masks[0] < images[0] or masks[-1] > images[-1]
    return has_masks_alone or {images[0], masks[0]} == {0, 1}
