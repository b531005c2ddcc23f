"""Computes the figures that papers print from a confusion matrix."""

from collections.abc import Mapping
import dataclasses
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOC_CLASSES, background_index
from voc_seg_tfrecord.splits import FOLD_COUNT, fold_classes


@dataclasses.dataclass(frozen=True, eq=False)
class ImageScore:
    """The score of one image; of one tile, if the dataset holds tiles.

    Attributes:
      id: the id of the image or tile.
      split: the split that it was read from.
      number: the number of its record in the split, from 0.
      pixels: the number of pixels of each pair of class in the mask and class in the prediction.
      label_quality: how likely the mask is right, 0 to 1; None without probabilities.
    """

    id: str
    split: str
    number: int
    pixels: Mapping[tuple[int, int], int]
    label_quality: float | None = None

    @property
    def wrong_pixels(self) -> int:
        """How many pixels were predicted as another class than that of the mask."""
        return sum(count for (truth, found), count in self.pixels.items() if truth != found)

    def result(self, class_names: tuple[str, ...]) -> "Result":
        """Returns the score of this image alone."""
        matrix = np.zeros((len(class_names), len(class_names)), np.int64)
        for cell, pixels in self.pixels.items():
            matrix[cell] = pixels
        return Result(class_names, matrix, 1, background=background_index(class_names))


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """The scores of predictions. All arrays have one entry per class.

    Attributes:
      class_names: the classes, in mask order.
      matrix: pixels by class of the mask (rows) and of the prediction (columns), int64
        `[C, C]`; void pixels of the mask are not in it.
      images: how many images were scored.
      fingerprint: sha256 over the ids, images and masks that were scored; empty if only arrays were
        given.
      dataset: name and split that were scored; empty if only arrays were given.
      predictions: sha256 over the ids and the predicted classes; empty if only arrays were given.
      background: index of the background class, None if there is none.
      bands: pixels within the bands of Boundary IoU, int64 `[3, C]`: in the mask, in the
        prediction, and in both; None if they were not counted.
      per_image: the score of each image; empty unless `per_image` was given.
    """

    class_names: tuple[str, ...]
    matrix: npt.NDArray[np.int64]
    images: int = 0
    fingerprint: str = ""
    dataset: str = ""
    predictions: str = ""
    background: int | None = None
    bands: npt.NDArray[np.int64] | None = None
    per_image: tuple[ImageScore, ...] = ()

    def __repr__(self) -> str:
        return display.brief_line(
            self,
            f"mIoU {self.miou:.4f} over {counted(int(self.present.sum()), 'class')}",
            counted(self.images, "image"),
            self.dataset,
        )

    def _repr_html_(self) -> str:
        pixels = self.matrix.sum(1)
        rows = []
        for index, name in enumerate(self.class_names):
            iou = float(self.iou[index])
            rows.append((name, iou, float(self.accuracy[index]), int(pixels[index])))
        return display.brief_table(repr(self), ("class", "IoU", "accuracy", "pixels"), rows)

    @property
    def iou(self) -> npt.NDArray[np.float64]:
        """Intersection over union of each class, float64 `[C]`, 0 to 1; NaN where absent."""
        return _ratio(self.matrix.diagonal(), _union(self.matrix))

    @property
    def present(self) -> npt.NDArray[np.bool_]:
        """Which classes occur in a mask or in a prediction, bool `[C]`."""
        return _union(self.matrix) > 0

    @property
    def absent(self) -> tuple[str, ...]:
        """The names of classes that occur in no mask and no prediction: they have no IoU."""
        return self._names(~self.present)

    @property
    def only_predicted(self) -> tuple[str, ...]:
        """The names of classes that were predicted but occur in no mask: their IoU is 0."""
        return self._names(self.present & (self.matrix.sum(1) == 0))

    @property
    def miou(self) -> float:
        """The mean IoU of the classes that occur, 0 to 1; NaN if none does."""
        return _mean(self.iou[self.present])

    @property
    def foreground_miou(self) -> float:
        """The mean IoU of the classes that occur, without background; NaN if none does.

        In the JSON of the command `evaluate`, its key is `miou_without_background`.
        """
        return _mean(self.iou[self._foreground & self.present])

    @property
    def dice(self) -> npt.NDArray[np.float64]:
        """Dice coefficient of each class, which is its F1, float64 `[C]`; NaN where absent."""
        both = self.matrix.diagonal()
        return _ratio(2 * both, self.matrix.sum(0) + self.matrix.sum(1))

    @property
    def mean_dice(self) -> float:
        """The mean of `dice` for the classes that occur; NaN if none does."""
        return _mean(self.dice[self.present])

    @property
    def fb_iou(self) -> float:
        """FB-IoU: the mean of the IoU of background and that of all other classes as one.

        NaN if there is no background class, or if one of the two does not occur.

        References:
          Rakelly et al., Conditional Networks for Few-Shot Semantic Segmentation, ICLR 2018
          workshop.
        """
        if self.background is None:
            return float("nan")
        # Background is 0 and all other classes are 1; cells of one pair of these are added up.
        merged_class = self._foreground.astype(int)
        merged = np.zeros((2, 2), np.int64)
        np.add.at(merged, np.ix_(merged_class, merged_class), self.matrix)
        return float(np.mean(_ratio(merged.diagonal(), _union(merged))))

    def rank_images(self) -> tuple[ImageScore, ...]:
        """Returns the scores of `per_image`, the lowest mIoU first.

        Equal scores are in the order of the ids. Images without a counted pixel come last.
        """
        return tuple(sorted(self.per_image, key=self._rank_of_image))

    def worst_images(self, count: int) -> tuple[ImageScore, ...]:
        """Returns up to `count` images with wrong pixels, the lowest mIoU first."""
        ranked = self.rank_images()
        return tuple(score for score in ranked if score.wrong_pixels)[:count]

    def _rank_of_image(self, score: ImageScore) -> tuple[bool, float, str]:
        """Returns what images are sorted by; see `rank_images`."""
        miou = score.result(self.class_names).miou
        if math.isnan(miou):
            return True, 0.0, score.id  # NaN has no order
        return False, miou, score.id

    @property
    def fold_mious(self) -> tuple[float, ...]:
        """The mIoU of the five classes of each fold of PASCAL-5i; empty if classes are not VOC's.

        It is the mean of the fold's classes that occur, with one prediction per image. It is not
        the score of episodes, in which each pair of image and class has its own prediction.

        References:
          Shaban et al., One-Shot Learning for Semantic Segmentation, BMVC 2017.
        """
        if self.class_names != VOC_CLASSES:
            return ()
        mious = []
        for number in range(FOLD_COUNT):
            fold = list(fold_classes(number))
            mious.append(_mean(self.iou[fold][self.present[fold]]))
        return tuple(mious)

    @property
    def boundary_iou(self) -> npt.NDArray[np.float64] | None:
        """Boundary IoU of each class, float64 `[C]`; NaN if it is in no band. None if not counted.

        References:
          Cheng et al., Boundary IoU: Improving Object-Centric Image Segmentation Evaluation,
          CVPR 2021.
        """
        if self.bands is None:
            return None
        mask_pixels, predicted_pixels, both = self.bands
        return _ratio(both, mask_pixels + predicted_pixels - both)

    @property
    def boundary_miou(self) -> float:
        """The mean of `boundary_iou` without NaN; NaN if all are NaN."""
        boundary_iou = self.boundary_iou
        if boundary_iou is None:
            return float("nan")
        return _mean(boundary_iou[~np.isnan(boundary_iou)])

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """Recall: the share of correct pixels of each class, float64 `[C]`; NaN without pixels."""
        return _ratio(self.matrix.diagonal(), self.matrix.sum(1))

    @property
    def mean_accuracy(self) -> float:
        """The mean of `accuracy` for the classes that occur in masks; NaN if none does."""
        return _mean(self.accuracy[self.matrix.sum(1) > 0])

    @property
    def pixel_accuracy(self) -> float:
        """The share of correct pixels among all pixels; NaN without pixels."""
        return float(_ratio(np.trace(self.matrix), self.matrix.sum()))

    @property
    def pixels(self) -> int:
        """The number of pixels that were counted."""
        return int(self.matrix.sum())

    def as_dict(self) -> dict[str, Any]:
        """Returns the scores as values for JSON; undefined figures are None."""
        return {
            "dataset": self.dataset,
            "fingerprint": self.fingerprint,
            "predictions": self.predictions,
            "images": self.images,
            "pixels": self.pixels,
            "miou": _defined(self.miou),
            "pixel_accuracy": _defined(self.pixel_accuracy),
            "mean_accuracy": _defined(self.mean_accuracy),
            "miou_without_background": _defined(self.foreground_miou),
            "mean_dice": _defined(self.mean_dice),
            "fb_iou": _defined(self.fb_iou),
            "pascal5i": [_defined(miou) for miou in self.fold_mious],
            "boundary_miou": _defined(self.boundary_miou),
            "classes": self._classes_as_dict(),
            "absent": list(self.absent),
            "only_predicted": list(self.only_predicted),
            "confusion": self.matrix.tolist(),
        }

    def _classes_as_dict(self) -> dict[str, dict[str, float | None]]:
        """Returns the figures of each class by its name."""
        figures = {"iou": self.iou, "accuracy": self.accuracy, "dice": self.dice}
        boundary_iou = self.boundary_iou
        if boundary_iou is not None:
            figures["boundary_iou"] = boundary_iou
        classes = {}
        for index, name in enumerate(self.class_names):
            classes[name] = {key: _defined(values[index]) for key, values in figures.items()}
        return classes

    @property
    def _foreground(self) -> npt.NDArray[np.bool_]:
        """Which classes are not background, bool `[C]`."""
        return np.arange(len(self.class_names)) != self.background

    def _names(self, is_named: np.ndarray) -> tuple[str, ...]:
        """Returns the names of the classes that are marked, bool `[C]`."""
        return tuple(self.class_names[index] for index in np.flatnonzero(is_named))


def _union(matrix: np.ndarray) -> np.ndarray:
    """Returns how many pixels have each class in the mask, in the prediction, or in both."""
    return matrix.sum(0) + matrix.sum(1) - matrix.diagonal()


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Returns part / whole; NaN where both are 0."""
    with np.errstate(invalid="ignore"):
        return np.true_divide(part, whole)


def _mean(values: np.ndarray) -> float:
    """Returns the mean; NaN of no value."""
    if not len(values):
        return float("nan")
    # Added one after the other, as the Keras metric does, so that both agree to the last digit.
    return sum(values.tolist()) / len(values)


def _defined(value: float) -> float | None:
    """Returns a figure, None if it is not defined."""
    return None if np.isnan(value) else float(value)
