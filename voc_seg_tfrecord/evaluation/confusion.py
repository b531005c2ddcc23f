"""Counts the confusion matrix over all pixels, and the bands of Boundary IoU.

Every score follows from these counts; see `result`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, counted, several
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.core.spelling import describe_same_name, find_same_name
from voc_seg_tfrecord.evaluation.result import Result
from voc_seg_tfrecord.formats.value_counts import count_pairs


class Confusion:
    """Counts pixels by class of the mask and class of the prediction.

    The rule is that of VOC's devkit (`VOCevalseg.m`):

    1. One matrix is summed over all images; no mean over images is taken.
    2. Pixels that are void (255) in the mask do not count, whatever the prediction is.
    3. A prediction has a class at every pixel. Void, or another value that is not a class, is an
       error, even where the mask is void.
    4. The IoU of a class is its correct pixels divided by all pixels that have the class in
       the mask, in the prediction, or in both.
    5. The mean is over classes. For a class that occurs neither in masks nor in predictions, the
       devkit divides 0 by 0. Here the mean does not count such a class, and `Result.absent` names
       it.

    References:
      Everingham et al., The PASCAL Visual Object Classes Challenge 2012 Development Kit,
      section 7.2, and its `VOCevalseg.m`.

    Args:
      class_names: the classes, in mask order, background among them.
      boundary: the width of the bands of Boundary IoU, as a share of the image's diagonal; its
        authors take 0.02. By default Boundary IoU is not counted.
    """

    def __init__(self, class_names: Sequence[str], *, boundary: float | None = None) -> None:
        if isinstance(class_names, int):
            raise ConfigError(
                "class_names",
                found=str(class_names),
                expected="the names of the classes, as data_source(...).class_names has them",
            )
        if not 0 < len(class_names) <= VOID:
            raise ConfigError(
                "class_names", found=f"{len(class_names)} names", expected=f"1 to {VOID} names"
            )
        same = find_same_name(class_names)
        if same is not None:
            raise ConfigError(
                "class_names",
                found=describe_same_name(class_names[same.first], class_names[same.second]),
                expected="a different name for each class, because scores are listed by name",
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
        """Adds one image or a batch. If it raises an error, nothing is added.

        Args:
          masks: class indices, integers `[H, W]`, `[H, W, 1]`, `[B, H, W]` or `[B, H, W, 1]`; 0 to
            C - 1, and 255 for void and padding. Masked pixels of a masked array are void too.
          predictions: class indices of the same shape, with or without the last axis of 1;
            0 to C - 1.
          where: names the image in errors.

        Raises:
          MaskError: if shapes differ, or a value is not a class.
        """
        masks = _as_mask_batch(masks, "mask", where)
        predictions = _as_mask_batch(predictions, "prediction", where)
        if masks.shape != predictions.shape:
            raise MaskError(
                where or "prediction",
                found=f"a prediction of shape {list(predictions.shape)}",
                expected=f"{list(masks.shape)}, as its mask has",
                remedy="resize the scores of the network to the size of the mask before "
                "taking the class of each pixel",
            )
        # Counted apart, so that a batch with an image that is refused counts nowhere.
        batch = Confusion(self.class_names, boundary=self.boundary)
        for mask, prediction in zip(masks, predictions, strict=True):
            batch._add(mask, prediction, where)
        self.merge(batch)

    def merge(self, other: "Confusion") -> "Confusion":
        """Adds the counts of another worker, and returns this object.

        Raises:
          ConfigError: if the other object counts other classes or bands.
        """
        if (self.class_names, self.boundary) != (other.class_names, other.boundary):
            raise ConfigError("merge", found=other._describe(), expected=self._describe())
        self.matrix += other.matrix
        self.bands += other.bands
        self.images += other.images
        return self

    def result(self, *, fingerprint: str = "", dataset: str = "") -> Result:
        """Returns the scores of everything that was added."""
        return Result(
            self.class_names,
            self.matrix.copy(),
            self.images,
            fingerprint,
            dataset,
            background=background_index(self.class_names),
            bands=None if self.boundary is None else self.bands.copy(),
        )

    def _describe(self) -> str:
        return f"classes {list(self.class_names)}, boundary {self.boundary}"

    def _add(self, mask: np.ndarray, prediction: np.ndarray, where: object) -> None:
        """Adds one image; mask and prediction are uint8 `[H, W]`."""
        classes = len(self.class_names)
        cells = count_pairs(mask, prediction).reshape(256, 256)
        mask_values, predicted_values = np.nonzero(cells)
        pixels_of_cell = cells[mask_values, predicted_values]
        _check_mask_values(mask_values, pixels_of_cell, classes, where)
        _check_predicted_values(predicted_values, pixels_of_cell, classes, where)
        if self.boundary is not None:
            self.bands += _count_bands(mask, prediction, self.boundary, classes)
        self.matrix += cells[:classes, :classes]  # without the row of void
        self.images += 1


def _check_mask_values(values: np.ndarray, pixels: np.ndarray, classes: int, where: object) -> None:
    """Checks that the values of a mask are classes or void.

    Args:
      values: int64 `[N]`; a value may be there several times.
      pixels: how many pixels each of them has, int64 `[N]`.
      classes: how many classes there are.
      where: names the image in errors.
    """
    is_unknown = (values >= classes) & (values != VOID)
    if is_unknown.any():
        raise MaskError(
            where or "mask",
            found=f"a mask with the value {_show_values(values, pixels, is_unknown)}",
            expected=f"0 to {classes - 1}, or {VOID} for void",
            remedy="give the masks of the dataset",
            kind="unknown mask value",
        )


def _check_predicted_values(
    values: np.ndarray, pixels: np.ndarray, classes: int, where: object
) -> None:
    """Checks that the values of a prediction are classes; see `_check_mask_values`."""
    is_unknown = values >= classes
    if is_unknown.any():
        remedy = "write the index of a class for every pixel, not a color or a scaled index"
        if {*values.tolist()} <= {0, VOID}:
            remedy = f"save the index of the class in place of {VOID}, such as 1"
        raise MaskError(
            where or "prediction",
            found=f"a prediction with the value {_show_values(values, pixels, is_unknown)}",
            expected=f"0 to {classes - 1}; {VOID} (void) cannot be predicted",
            remedy=remedy,
            kind="unknown prediction value",
        )


_MAX_SHOWN_VALUES = 5


def _show_values(values: np.ndarray, pixels: np.ndarray, is_shown: np.ndarray) -> str:
    """Returns values and their pixels, as in `7 on 12 pixels`.

    Args:
      values: int64 `[N]`; a value may be there several times.
      pixels: how many pixels each of them has, int64 `[N]`.
      is_shown: which of them are shown, bool `[N]`.
    """
    pixels_of_value = np.bincount(values[is_shown], weights=pixels[is_shown]).astype(int)
    first = np.flatnonzero(pixels_of_value)[:_MAX_SHOWN_VALUES]
    return ", ".join(f"{value} on {counted(pixels_of_value[value], 'pixel')}" for value in first)


def _as_mask_batch(array: np.ndarray, name: str, where: object) -> np.ndarray:
    """Returns masks or predictions as uint8 `[B, H, W]`; masked pixels of masks become void.

    Args:
      array: integers `[H, W]`, `[H, W, 1]`, `[B, H, W]` or `[B, H, W, 1]`.
      name: `mask` or `prediction`.
      where: names the image in errors.
    """
    values = np.asarray(array)
    batch = _with_batch_axis(values)
    if values.dtype.kind not in "iu" or batch.ndim != 3:
        dtype = getattr(array, "dtype", "")  # a list of numbers has none
        raise MaskError(
            where or name,
            found=f"a {name} {dtype}{list(values.shape)}",
            expected="integers [H, W], [H, W, 1], [B, H, W] or [B, H, W, 1]",
            remedy="take the class of each pixel from the scores of a network: .argmax(1) of "
            "[B, classes, H, W], or .argmax(-1) of [B, H, W, classes]",
        )
    if np.ma.is_masked(array):
        batch = _with_batch_axis(_fill_masked(array, name, where))
    if batch.dtype != np.uint8:
        _check_range(batch, name, where)
    return batch.astype(np.uint8, copy=False)


def _with_batch_axis(values: np.ndarray) -> np.ndarray:
    """Returns values without a last axis of length 1, as `[B, H, W]` if they were `[H, W]`.

    Values `[B, H, 1]` count as `[H, W, 1]`, which cannot be told from them.
    """
    if values.ndim > 2 and values.shape[-1] == 1:
        values = values[..., 0]
    return values[np.newaxis] if values.ndim == 2 else values


def _check_range(values: np.ndarray, name: str, where: object) -> None:
    """Checks that values of any integer dtype can be those of a mask.

    Raises:
      MaskError: if one is below 0 or above 255.
    """
    if values.size == 0:
        return
    lowest = values.min()
    highest = values.max()
    if lowest < 0 or highest > VOID:
        raise MaskError(
            where or name,
            found=f"a {name} with values from {lowest} to {highest}",
            expected=f"0 to {VOID}",
            kind=f"unknown {name} value",
        )


def _fill_masked(array: np.ndarray, name: str, where: object) -> np.ndarray:
    """Returns a masked array of integers with void in place of masked pixels, int64.

    Raises:
      MaskError: if it is a prediction, which has a class everywhere.
    """
    is_masked = np.ma.getmaskarray(array)
    if name == "prediction":
        raise MaskError(
            where or name,
            found=f"a prediction with {is_masked.sum()} masked pixels",
            expected="a class for every pixel",
            remedy="mask the pixels that do not count in the mask, not in the prediction",
        )
    values = np.asarray(array).astype(np.int64)  # int8 could not hold 255
    values[is_masked] = VOID
    return values


_BAND_ROWS = 1024
"""Rows of a mask whose bands are counted at a time: those of all rows would take gigabytes."""


def _count_bands(
    mask: np.ndarray, prediction: np.ndarray, share: float, classes: int
) -> np.ndarray:
    """Returns what `Result.bands` holds of one image, int64 `[3, classes]`.

    Args:
      mask: uint8 `[H, W]`.
      prediction: uint8 `[H, W]`.
      share: the width of a band, as a share of the image's diagonal.
      classes: how many classes there are.
    """
    diagonal = float(np.hypot(*mask.shape))
    width = max(1, round(share * diagonal))
    counts = np.zeros((3, classes), np.int64)
    for top in range(0, len(mask), _BAND_ROWS):
        # The band of these rows depends on `width` more rows above and below.
        first = max(0, top - width)
        rows_around = slice(first, top + _BAND_ROWS + width)
        rows_within = slice(top - first, top - first + _BAND_ROWS)
        in_mask_band = inner_band(mask[rows_around], width)[rows_within]
        in_predicted_band = inner_band(prediction[rows_around], width)[rows_within]
        mask_rows = mask[top : top + _BAND_ROWS]
        predicted_rows = prediction[top : top + _BAND_ROWS]
        is_known = mask_rows != VOID
        in_both = in_mask_band & in_predicted_band & (mask_rows == predicted_rows)
        counts[0] += np.bincount(mask_rows[is_known & in_mask_band], minlength=classes)
        counts[1] += np.bincount(predicted_rows[is_known & in_predicted_band], minlength=classes)
        counts[2] += np.bincount(mask_rows[is_known & in_both], minlength=classes)
    return counts


def inner_band(mask: np.ndarray, width: int) -> np.ndarray:
    """Returns which pixels have another value, or the border, within a square around them.

    The square has 2 * width + 1 pixels per side. The band is the union, over all classes, of the
    pixels that an erosion by this square removes from the class's region, as in the code of the
    authors of Boundary IoU.

    The square is searched in two steps: changes of value near each pixel along one axis, then such
    pixels along the other axis.

    Args:
      mask: uint8 `[H, W]`.
      width: of the band, in pixels.

    Returns:
      bool `[H, W]`.

    References:
      Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation,
      CVPR 2021, and its `mask_to_boundary`.
    """
    in_band = np.zeros(mask.shape, bool)
    for axis in (0, 1):
        padding = [(0, 0), (0, 0)]
        padding[axis] = (1, 1)
        padded = np.pad(mask.astype(np.int16), padding, constant_values=-1)
        # `changes` has one entry more than the mask: entry n is the change before pixel n. The
        # changes before pixels n - width + 1 to n + width are within the square of pixel n.
        changes = np.diff(padded, axis=axis) != 0
        near_change = _any_within(changes, axis, before=width - 1, after=width)
        near_change = near_change.take(range(mask.shape[axis]), axis)
        in_band |= _any_within(near_change, 1 - axis, before=width, after=width)
    return in_band


def _any_within(flags: np.ndarray, axis: int, before: int, after: int) -> np.ndarray:
    """Returns where an entry, or one of so many before and after it along an axis, is set.

    The sum of a window is the difference of two cumulative sums.

    Args:
      flags: bool `[H, W]`.
      axis: 0 or 1.
      before: entries before each one that count too.
      after: entries after each one that count too.

    Returns:
      bool `[H, W]`.
    """
    length = flags.shape[axis]
    zero_shape = list(flags.shape)
    zero_shape[axis] = 1
    zero = np.zeros(zero_shape, np.int32)
    sums = np.concatenate([zero, np.cumsum(flags, axis=axis, dtype=np.int32)], axis)
    entries = np.arange(length)
    ends = np.minimum(entries + after + 1, length)
    starts = np.maximum(entries - before, 0)
    return np.take(sums, ends, axis=axis) > np.take(sums, starts, axis=axis)
