"""Stops a build whose masks are numbered from another number on than its images."""

from collections.abc import Iterable, Sequence
import re

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MIN_NUMBERED_IMAGES = 3
"""Images with numbers, of which fewer may be shifted by chance."""

_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")
"""An id: what is before its last number, the number, and what is behind it."""


def check_no_shifted_numbers(tree: VocTree) -> None:
    """Checks that masks are not numbered from 1 while images are numbered from 0, or the like.

    By their names all of them but one would be pairs, and each image would get another's mask.

    Raises:
      LayoutError: if they are numbered so.
    """
    images_alone = tree.images.keys() - tree.masks.keys()
    masks_alone = tree.masks.keys() - tree.images.keys()
    no_name_fits = len(images_alone) == len(tree.images)
    if not images_alone or not masks_alone or no_name_fits:
        return
    image_numbers = _numbers_by_pattern(tree.images)
    mask_numbers = _numbers_by_pattern(tree.masks)
    for pattern in sorted(image_numbers.keys() & mask_numbers.keys()):
        images = sorted(image_numbers[pattern])
        masks = sorted(mask_numbers[pattern])
        if not _is_shifted(images, masks):
            continue
        options = command(**tree.layout.options(tree.root_below_given))
        raise LayoutError(
            tree.given,
            found=f"images {pattern} numbered {images[0]} to {images[-1]}, and as many masks "
            f"numbered {masks[0]} to {masks[-1]}. Each image may get the mask of another one",
            expected="the same numbers for an image and its mask",
            remedy="rename the masks. If the names are right, because one image and one mask are "
            f"missing, add {options}",
            kind="names of masks",
        )


def _numbers_by_pattern(ids: Iterable[str]) -> dict[str, list[int]]:
    """Returns the last number of each id, by the id with `{id}` in place of the number."""
    numbers: dict[str, list[int]] = {}
    for image_id in ids:
        match = _LAST_NUMBER.fullmatch(image_id)
        if match:
            before, number, after = match.groups()
            numbers.setdefault(f"{before}{ID}{after}", []).append(int(number))
    return numbers


def _is_shifted(images: Sequence[int], masks: Sequence[int]) -> bool:
    """Says whether sorted numbers of masks are those of images plus the same number."""
    if len(images) != len(masks) or len(images) < _MIN_NUMBERED_IMAGES:
        return False
    shifts = {mask - image for image, mask in zip(images, masks, strict=True)}
    return len(shifts) == 1 and 0 not in shifts
