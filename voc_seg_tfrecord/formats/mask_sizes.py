"""Masks of another size than their images: refused, or scaled if the user says so."""

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.scaling import is_scaled
from voc_seg_tfrecord.core.shell import command

OTHER_SIZE = "size of mask and image differ"
"""The kind of the error about a mask of another size than its image."""

_FIND_MASK = "find the mask that belongs to the image; do not resize this one"

ADVICE_ON_OTHER_SIZE = "find the masks that belong to the images; do not resize these"
"""What to do about masks that do not show their images at another size."""

ADVICE_ON_SIZE = (
    "find the mask that belongs to the image; or, if it shows all of the image at another size, "
    f"say {command(resize_masks='nearest')}"
)
"""What to do about a mask that may show its image at another size."""


def check_size(
    mask_size: tuple[int, ...], size: tuple[int, int], file: File, *, may_suggest_resizing: bool
) -> None:
    """Checks that a mask has the height and width of its image.

    Args:
      mask_size: height and width of the mask.
      size: those of the image.
      file: the mask.
      may_suggest_resizing: see `_size_error`.

    Raises:
      MaskError: if it has others.
    """
    height, width = mask_size
    if (height, width) != tuple(size):
        raise _size_error((height, width), size, file, may_suggest_resizing=may_suggest_resizing)


def _size_error(
    mask_size: tuple[int, int], size: tuple[int, int], file: File, *, may_suggest_resizing: bool
) -> MaskError:
    """Returns the error about a mask of another size than its image.

    Args:
      mask_size: height and width of the mask.
      size: those of the image.
      file: the mask.
      may_suggest_resizing: whether the error names the option `resize_masks` if the proportions are
        the same; not for a release, nor if the option was given.
    """
    height, width = mask_size
    remedy = _FIND_MASK
    if may_suggest_resizing and is_scaled(mask_size, size):
        remedy = ADVICE_ON_SIZE
    return MaskError(
        file.where,
        found=f"mask of {width} x {height} pixels",
        expected=f"{size[1]} x {size[0]} (width x height), as its image has",
        remedy=remedy,
        kind=OTHER_SIZE,
    )


def fit_pixels(
    pixels: np.ndarray, size: tuple[int, int], file: File, *, may_be_scaled: bool
) -> np.ndarray:
    """Returns the pixels of a mask, `[H, W]`, at the height and width of its image.

    Args:
      pixels: the pixels.
      size: height and width of the image.
      file: the file of the mask, for errors.
      may_be_scaled: whether pixels of another size are scaled: each pixel takes the nearest value.

    Raises:
      MaskError: if they have another size and are not scaled, or have other proportions than the
        image, so that they cannot be the same picture.
    """
    height, width = pixels.shape
    if (height, width) == size:
        return pixels
    if not may_be_scaled or not is_scaled((height, width), size):
        raise _size_error((height, width), size, file, may_suggest_resizing=not may_be_scaled)
    rows = _nearest_positions(height, size[0])
    columns = _nearest_positions(width, size[1])
    return pixels[rows[:, np.newaxis], columns]


def _nearest_positions(count: int, new_count: int) -> np.ndarray:
    """Returns for each of `new_count` pixels in a row that of `count` in which its middle lies.

    It counts in whole numbers, so that all machines store the same pixels. `pipeline.window` and
    `arrays` scale in float32, as TensorFlow does, and may take a neighbor.
    """
    return (2 * np.arange(new_count) + 1) * count // (2 * new_count)
