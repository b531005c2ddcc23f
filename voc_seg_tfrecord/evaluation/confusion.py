"""The confusion matrix over all pixels, from which every score follows; bands around objects."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, counted, several
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.evaluation.result import Result
from voc_seg_tfrecord.formats.png_pixels import count_pairs


class Confusion:
    """Counts pixels by class of the mask and class of the prediction.

    The rule is that of VOC's devkit (`VOCevalseg.m`):

    1. One matrix is summed over all images; no mean over images is taken.
    2. Pixels that are void (255) in the mask count nowhere, whatever was predicted there.
    3. A prediction is a class everywhere. A prediction of void, or of any other value that
       is no class, is an error, also where the mask is void.
    4. The IoU of a class is its correct pixels divided by all pixels that have the class in
       the mask, in the prediction, or in both.
    5. The mean is over classes. The devkit divides 0 by 0 for a class that occurs neither in
       masks nor in predictions; here such a class is left out of the mean and named.

    References:
      Everingham et al., The PASCAL Visual Object Classes Challenge 2012 Development Kit,
      section 7.2, and its `VOCevalseg.m`.

    Args:
      class_names: the classes, in mask order, background among them.
      boundary: if given, Boundary IoU is counted too, in bands as wide as this share of the
        image's diagonal; its authors take 0.02.
    """

    def __init__(self, class_names: Sequence[str], *, boundary: float | None = None) -> None:
        if not 0 < len(class_names) <= VOID:
            raise ConfigError(
                "class_names", found=f"{len(class_names)} names", expected=f"1 to {VOID} names"
            )
        if boundary is not None and not 0 < boundary <= 1:
            raise ConfigError(
                "boundary",
                found=str(boundary),
                expected="a share of the image's diagonal, above 0 and at most 1, such as 0.02",
            )
        self.class_names: tuple[str, ...] = tuple(class_names)
        self.boundary = boundary
        self.bands: npt.NDArray[np.int64] = np.zeros((3, len(class_names)), np.int64)
        self.images: int = 0
        self.matrix: npt.NDArray[np.int64] = np.zeros(
            (len(class_names), len(class_names)), np.int64
        )

    def __repr__(self) -> str:
        return display.brief_line(
            self,
            counted(self.images, "image"),
            f"{len(self.class_names)} classes ({several(self.class_names)})",
            counted(int(self.matrix.sum()), "pixel"),
        )

    def _repr_html_(self) -> str:
        return self.result()._repr_html_()

    def update(
        self,
        masks: npt.NDArray[np.integer[Any]],
        predictions: npt.NDArray[np.integer[Any]],
        where: object = "",
    ) -> None:
        """Adds one image or a batch.

        Args:
          masks: class indices, integers `[H, W]`, `[H, W, 1]`, `[B, H, W]` or
            `[B, H, W, 1]`; 0 to C - 1, or 255 for void, which padding is as well, and so are the
            masked pixels of a masked array.
          predictions: class indices of the same shape, with or without the last axis of 1;
            0 to C - 1.
          where: names the image in errors.

        Raises:
          MaskError: if shapes differ, or a value is no class.
        """
        masks, predictions = _plain(masks, "mask", where), _plain(predictions, "prediction", where)
        if masks.shape != predictions.shape:
            raise MaskError(
                where or "prediction",
                found=f"a prediction of shape {list(predictions.shape)}",
                expected=f"{list(masks.shape)}, as its mask has",
                remedy="resize the scores of the network to the size of the mask before "
                "taking the class of each pixel",
            )
        for mask, prediction in zip(masks, predictions, strict=True):
            self._add(mask, prediction, where)

    def merge(self, other: "Confusion") -> "Confusion":
        """Adds what another worker has counted; returns this object.

        Raises:
          ConfigError: if the other one counts other classes or other bands.
        """
        ours, theirs = (
            f"classes {list(counts.class_names)}, boundary {counts.boundary}"
            for counts in (self, other)
        )
        if ours != theirs:
            raise ConfigError("merge", found=theirs, expected=ours)
        self.matrix += other.matrix
        self.bands += other.bands
        self.images += other.images
        return self

    def result(self, *, fingerprint: str = "", dataset: str = "") -> Result:
        """Returns the scores of all that was added."""
        return Result(
            self.class_names,
            self.matrix.copy(),
            self.images,
            fingerprint,
            dataset,
            background=background_index(self.class_names),
            bands=None if self.boundary is None else self.bands.copy(),
        )

    def _add(self, mask: np.ndarray, prediction: np.ndarray, where: object) -> None:
        of_codes = count_pairs(mask, prediction)
        codes = np.flatnonzero(of_codes)
        pairs, counts = np.stack([codes >> 8, codes & 255]), of_codes[codes]  # those that occur
        _check_values(pairs, counts, len(self.class_names), where)
        if self.boundary is not None:
            self.bands += _count_bands(mask, prediction, self.boundary, len(self.class_names))
        valid = pairs[0] < len(self.class_names)  # all but void
        self.matrix[pairs[0][valid], pairs[1][valid]] += counts[valid]
        self.images += 1


def _check_values(pairs: np.ndarray, counts: np.ndarray, classes: int, where: object) -> None:
    for name, values in (("mask", pairs[0]), ("prediction", pairs[1])):
        void = name == "mask"
        wrong = (values >= classes) & ~(void & (values == VOID))
        if wrong.any():
            of_value = np.bincount(values[wrong], weights=counts[wrong]).astype(int)
            first = np.flatnonzero(of_value)[:5]
            shown = ", ".join(f"{v} on {of_value[v]} pixels" for v in first)
            rest = f", or {VOID} for void" if void else f"; {VOID} is no prediction"
            raise MaskError(
                where or name,
                found=f"a {name} with the values {shown}",
                expected=f"0 to {classes - 1}{rest}",
                remedy="give the masks of the dataset"
                if void
                else "predict one of the classes for every pixel",
                kind=f"unknown {name} value",
            )


def _plain(array: np.ndarray, name: str, where: object) -> np.ndarray:
    """Returns masks or predictions as uint8 `[B, H, W]`."""
    if np.ma.is_masked(array):
        if name == "prediction":
            raise MaskError(
                where or name,
                found=f"a prediction with {np.ma.getmaskarray(array).sum()} masked pixels",
                expected="a class for every pixel",
                remedy="mask the pixels that do not count in the mask, not in the prediction",
            )
        masked = np.ma.getmaskarray(array)
        array = np.asarray(array).astype(np.int64)  # which holds 255 too
        array[masked] = VOID
    values = np.asarray(array)
    shape = values.shape
    if values.ndim > 2 and shape[-1] == 1:
        values = values[..., 0]
    if values.ndim == 2:
        values = values[np.newaxis]
    if values.ndim != 3 or values.dtype.kind not in "iu":
        raise MaskError(
            where or name,
            found=f"a {name} {array.dtype if hasattr(array, 'dtype') else ''}{list(shape)}",
            expected="integers [H, W], [H, W, 1], [B, H, W] or [B, H, W, 1]",
            remedy="take .argmax(-1) of the scores of a network",
        )
    if values.dtype != np.uint8:
        if values.size and (values.min() < 0 or values.max() > VOID):
            raise MaskError(
                where or name,
                found=f"a {name} with values from {values.min()} to {values.max()}",
                expected=f"0 to {VOID}",
                kind=f"unknown {name} value",
            )
        values = values.astype(np.uint8)
    return values


_ROWS = 1024


def _spread(near: np.ndarray, axis: int, before: int, after: int) -> np.ndarray:
    """Returns where a pixel, or one of so many before and after it along an axis, is set."""
    length = near.shape[axis]
    shape = [1 if other == axis else side for other, side in enumerate(near.shape)]
    none = np.zeros(shape, np.int32)
    counts = np.concatenate([none, np.cumsum(near, axis=axis, dtype=np.int32)], axis)
    places = np.arange(length)
    last = np.take(counts, np.minimum(places + after + 1, length), axis=axis)
    return last > np.take(counts, np.maximum(places - before, 0), axis=axis)


def _count_bands(
    mask: np.ndarray, prediction: np.ndarray, share: float, classes: int
) -> np.ndarray:
    """Returns what `Result.bands` holds of one image."""
    width = max(1, round(share * float(np.hypot(*mask.shape))))
    counted = np.zeros((3, classes), np.int64)
    for top in range(0, len(mask), _ROWS):  # of large masks, what counts pixels takes gigabytes
        first = max(0, top - width)
        near, inside = slice(first, top + _ROWS + width), slice(top - first, top - first + _ROWS)
        ours, theirs = (inner_band(of[near], width)[inside] for of in (mask, prediction))
        masks, predictions = mask[top : top + _ROWS], prediction[top : top + _ROWS]
        known = masks != VOID
        both = ours & theirs & (masks == predictions)
        sides = (masks[known & ours], predictions[known & theirs], masks[known & both])
        counted += [np.bincount(side, minlength=classes) for side in sides]
    return counted


def inner_band(mask: np.ndarray, width: int) -> np.ndarray:
    """Returns which pixels have another value, or the border, within a square around them.

    For a mask, uint8 `[H, W]`, this is, bool `[H, W]` and of all classes together, what an erosion
    by a square of 2 * width + 1 pixels takes from the region of a class, as in the code of the
    authors of Boundary IoU.
    """
    near = np.zeros(mask.shape, bool)
    for axis in (0, 1):
        # A change lies before the pixel that has the same number; there is one before the first.
        pad = [(1, 1) if other == axis else (0, 0) for other in (0, 1)]
        wide = np.pad(mask.astype(np.int16), pad, constant_values=-1)
        changed = np.diff(wide, axis=axis) != 0
        along = _spread(changed, axis, width - 1, width)
        near |= _spread(along.take(range(mask.shape[axis]), axis), 1 - axis, width, width)
    return near
