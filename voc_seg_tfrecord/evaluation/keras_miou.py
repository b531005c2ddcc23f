"""mIoU as a Keras metric that counts exactly as `Confusion` does."""

from typing import Any

import keras
from keras import ops

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import VOID


@keras.saving.register_keras_serializable("voc_seg_tfrecord")
class VocMeanIoU(keras.metrics.Metric):
    """mIoU over the classes that occur, by the rule of `evaluation.Confusion`.

    Masks are integers `[B, H, W]` or `[B, H, W, 1]` with 255 for void and for padding.
    Predictions are scores `[B, H, W, C]`, or class indices of the masks' shape. A class
    index that is no class makes the result NaN: a metric cannot raise inside a graph.

    Args:
      num_classes: how many classes there are, background included, void not.
      name: the metric's name.
      dtype: ignored; counts are int64 and the result is float64.
    """

    def __init__(self, num_classes: int, name: str = "miou", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)
        if not 0 < num_classes <= VOID:
            raise ConfigError("num_classes", found=str(num_classes), expected=f"1 to {VOID}")
        self.num_classes: int = num_classes
        cells = num_classes * num_classes
        self.matrix = self.add_variable((cells,), "zeros", dtype="int64", name="matrix")
        self.wrong = self.add_variable((), "zeros", dtype="int64", name="wrong")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch; `sample_weight` is not used, as void tells what does not count."""
        del sample_weight
        classes = self.num_classes
        truth = ops.cast(ops.reshape(y_true, [-1]), "int32")
        if len(y_pred.shape) == 4 and y_pred.shape[-1] == classes and classes > 1:
            y_pred = ops.argmax(y_pred, axis=-1)
        predicted = ops.cast(ops.reshape(y_pred, [-1]), "int32")
        void = truth == VOID
        known = (truth >= 0) & (truth < classes) & (predicted >= 0) & (predicted < classes)
        cells = classes * classes
        pairs = ops.where(known & ~void, truth * classes + predicted, cells)
        counts = ops.segment_sum(ops.ones_like(pairs), pairs, num_segments=cells + 1)
        self.matrix.assign_add(ops.cast(counts[:cells], "int64"))
        outside = (predicted < 0) | (predicted >= classes) | (~known & ~void)
        self.wrong.assign_add(ops.cast(ops.sum(ops.cast(outside, "int32")), "int64"))

    def result(self) -> Any:
        """Returns the mIoU, a float64 scalar; NaN if nothing was counted."""
        matrix = ops.reshape(ops.cast(self.matrix, "float64"), [self.num_classes] * 2)
        correct = ops.diagonal(matrix)
        union = ops.sum(matrix, 0) + ops.sum(matrix, 1) - correct
        present = union > 0
        one, zero = ops.ones_like(union), ops.zeros_like(union)
        iou = ops.where(present, correct / ops.where(present, union, one), zero)
        total = ops.zeros((), "float64")
        for index in range(self.num_classes):
            # One after the other: a sum in another order differs in the last digit.
            total = total + iou[index]
        mean = total / ops.sum(ops.where(present, one, zero))
        return ops.where(ops.equal(self.wrong, 0), mean, float("nan"))

    def reset_state(self) -> None:
        """Forgets all that was counted."""
        self.matrix.assign(ops.zeros_like(self.matrix))
        self.wrong.assign(ops.zeros_like(self.wrong))

    def get_config(self) -> dict[str, Any]:
        """Returns what makes the metric again; see Keras."""
        return {"num_classes": self.num_classes, "name": self.name}


def keras_metric(num_classes: int, name: str = "miou") -> VocMeanIoU:
    """Returns a metric for `model.compile(metrics=[...])`; see `VocMeanIoU`."""
    return VocMeanIoU(num_classes, name=name)
