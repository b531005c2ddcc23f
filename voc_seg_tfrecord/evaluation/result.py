"""From a confusion matrix to the figures that papers print."""

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from voc_seg_tfrecord.base import wording


@dataclasses.dataclass(frozen=True, eq=False)
class Result:
    """The score of some predictions. All arrays have one entry per class.

    Attributes:
      class_names: the classes, in mask order.
      matrix: pixels by class of the mask (rows) and of the prediction (columns), int64
        `[C, C]`; void pixels of the mask are not in it.
      images: how many images were scored.
      fingerprint: sha256 that stands for the ids, images and masks that were scored; empty
        where only arrays are known.
      dataset: name and split of what was scored, empty likewise.
    """

    class_names: tuple[str, ...]
    matrix: npt.NDArray[np.int64]
    images: int = 0
    fingerprint: str = ""
    dataset: str = ""

    def __repr__(self) -> str:
        return wording.brief_line(
            self,
            f"mIoU {self.miou:.4f} over {wording.counted(int(self.present.sum()), 'class')}",
            wording.counted(self.images, "image"),
            self.dataset,
        )

    def _repr_html_(self) -> str:
        columns = (self.class_names, self.iou, self.accuracy, self.matrix.sum(1))
        rows = (
            (name, float(iou), float(accuracy), int(pixels))
            for name, iou, accuracy, pixels in zip(*columns, strict=True)
        )
        return wording.brief_table(repr(self), ("class", "IoU", "accuracy", "pixels"), rows)

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
        """The mean of the IoU over the classes that occur, 0 to 1; NaN if none does."""
        return _mean(self.iou[self.present])

    @property
    def accuracy(self) -> npt.NDArray[np.float64]:
        """The share of each class's pixels that were found, float64 `[C]`; NaN without any."""
        return _ratio(self.matrix.diagonal(), self.matrix.sum(1))

    @property
    def mean_accuracy(self) -> float:
        """The mean of `accuracy` over the classes that occur in masks; NaN if none does."""
        return _mean(self.accuracy[self.matrix.sum(1) > 0])

    @property
    def pixel_accuracy(self) -> float:
        """The share of all pixels whose class was found; NaN without any pixel."""
        return float(_ratio(np.trace(self.matrix), self.matrix.sum()))

    @property
    def pixels(self) -> int:
        """How many pixels were counted."""
        return int(self.matrix.sum())

    def as_dict(self) -> dict[str, Any]:
        """Returns what JSON can hold; figures that are not defined are None."""
        iou, accuracy = self.iou, self.accuracy
        return {
            "dataset": self.dataset,
            "fingerprint": self.fingerprint,
            "images": self.images,
            "pixels": self.pixels,
            "miou": _defined(self.miou),
            "pixel_accuracy": _defined(self.pixel_accuracy),
            "mean_accuracy": _defined(self.mean_accuracy),
            "classes": {
                name: {"iou": _defined(iou[n]), "accuracy": _defined(accuracy[n])}
                for n, name in enumerate(self.class_names)
            },
            "absent": list(self.absent),
            "only_predicted": list(self.only_predicted),
            "confusion": self.matrix.tolist(),
        }

    def _names(self, chosen: np.ndarray) -> tuple[str, ...]:
        return tuple(n for n, is_chosen in zip(self.class_names, chosen, strict=True) if is_chosen)


def _union(matrix: np.ndarray) -> np.ndarray:
    return matrix.sum(0) + matrix.sum(1) - matrix.diagonal()


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.true_divide(part, whole)


def _mean(values: np.ndarray) -> float:
    # Added one after the other, as the Keras metric does, so that both agree to the last digit.
    return sum(values.tolist()) / len(values) if len(values) else float("nan")


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
