"""Ignore masks, such as DRIVE's field of view: where one is 0, the label is void."""

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import index_masks, mask_samples
from voc_seg_tfrecord.formats.index_masks import IndexMask, fit_pixels

MIN_KEPT_SHARE = 0.5
"""Which share of an image its field of view has at least."""

_EXPECTED = "an ignore mask of two values, of which 0 (black) is void"


def read_ignored_pixels(file: File, size: tuple[int, int], *, may_be_scaled: bool) -> np.ndarray:
    """Returns where the label of an image is void, bool `[H, W]`: where its ignore mask is 0.

    Args:
      file: the ignore mask.
      size: height and width of the image.
      may_be_scaled: whether an ignore mask of another size is scaled to the image.

    Raises:
      MaskError: if it cannot be read, has colors or more than two values, is 0 everywhere, or has
        another size than the image.
    """
    values = _read_values(file)
    _check_values(values, file)
    return fit_pixels(values == 0, size, file, may_be_scaled=may_be_scaled)


def looks_like_field_of_view(file: File) -> bool:
    """Says whether a mask may be a field of view: 0 in its four corners, and not 0 mostly.

    Raises:
      MaskError: if it is no ignore mask, whatever its size is.
    """
    values = _read_values(file)
    _check_values(values, file)
    corners = values[[0, 0, -1, -1], [0, -1, 0, -1]]
    kept_share = (values != 0).mean()
    return not corners.any() and kept_share >= MIN_KEPT_SHARE


def make_void(
    mask: IndexMask, ignored: np.ndarray, background: int | None, file: File
) -> IndexMask:
    """Returns a mask that is void where its image is ignored.

    Args:
      mask: the mask.
      ignored: where the image is ignored, bool `[H, W]`.
      background: the index of background, whose pixels are not labeled; None if there is none.
      file: the ignore mask, for errors.

    Raises:
      MaskError: if all labeled pixels become void, as if 0 means the opposite.
    """
    if not ignored.any():
        return mask
    pixels = index_masks.pixels_of(mask)
    _check_labels_are_inside(pixels, ignored, background, file)
    return index_masks.encode_mask(np.where(ignored, np.uint8(VOID), pixels))


def make_instances_void(mask: IndexMask, ignored: np.ndarray) -> IndexMask:
    """Returns an instance mask that is void where its image is ignored, bool `[H, W]`."""
    pixels = index_masks.pixels_of(mask)
    return index_masks.encode_mask(np.where(ignored, np.uint8(VOID), pixels))


def _check_labels_are_inside(
    pixels: np.ndarray, ignored: np.ndarray, background: int | None, file: File
) -> None:
    """Checks that not all labeled pixels, of class indices uint8 `[H, W]`, become void."""
    is_labeled = pixels != VOID
    if background is not None:
        is_labeled &= pixels != background
    count = int(is_labeled.sum())
    if count and ignored[is_labeled].all():
        raise MaskError(
            file.where,
            found=f"0 (void) on all {counted(count, 'labeled pixel')} of the image",
            expected="an ignore mask that is 0 only outside of the labeled area",
            remedy="check that this is the ignore mask of the image, and that 0 means void in it",
        )


def _read_values(file: File) -> np.ndarray:
    """Returns the values of an ignore mask, integers `[H, W]`; 0 is black."""
    samples = mask_samples.read_samples_on_black(file)
    if samples.kind == "palette":
        beyond = samples.values >= len(samples.palette)
        if beyond.any():
            raise _other_values_error(file, "values without a color in the palette")
        colors = samples.palette[samples.values]
    elif samples.kind == "rgb":
        colors = samples.values
    else:
        return samples.values
    if not mask_samples.equal_channels(colors):
        raise _other_values_error(file, "colors")
    return colors[..., 0]


def _check_values(values: np.ndarray, file: File) -> None:
    """Checks that there are at most two values, and not 0 alone."""
    counts = mask_samples.counts_by_value(values)
    others = [value for value in counts if value != 0]
    if len(others) > 1:
        raise _other_values_error(file, f"{len(counts)} values")
    if not others:
        raise _other_values_error(file, "0 everywhere, so that all of the image would be void")


def _other_values_error(file: File, found: str) -> MaskError:
    return MaskError(
        file.where,
        found=found,
        expected=_EXPECTED,
        remedy="save it as a PNG of 0 and 255 without smoothing, or name another folder with "
        "--ignore_masks",
    )
