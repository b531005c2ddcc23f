"""Gives mIoU as a Keras metric by the rule of `Confusion`, on every Keras backend."""

from typing import Any

import keras
from keras import ops

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import VOID


@keras.saving.register_keras_serializable("voc_seg_tfrecord")
class VocMeanIoU(keras.metrics.MeanIoU):
    """The metric that `keras_metric` returns.

    The pixels of a batch are counted as integers, so that a batch of any size is counted in full.
    """

    def __init__(self, num_classes: int, name: str = "miou") -> None:
        if not 0 < num_classes <= VOID:
            raise ConfigError("num_classes", found=str(num_classes), expected=f"1 to {VOID}")
        # Of the backends only TensorFlow has float64 on all devices and without a setting.
        dtype = "float64" if keras.backend.backend() == "tensorflow" else "float32"
        super().__init__(num_classes, name=name, dtype=dtype)
        self.wrong_pixels = self.add_variable((), "zeros", dtype=dtype, name="wrong_pixels")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch."""
        if sample_weight is not None:
            raise ConfigError(
                self.name,
                found="a sample_weight",
                expected="none: each pixel that is not void counts once",
                remedy="give the metric to `metrics=` of compile, not to `weighted_metrics=`",
            )
        truth = _drop_single_channel(ops.convert_to_tensor(y_true))
        predicted = ops.convert_to_tensor(y_pred)
        if self._are_scores(predicted):
            classes = ops.argmax(predicted, axis=-1)
            is_class = _name_a_class(predicted)
        else:
            classes = _drop_single_channel(predicted)
            is_class = _is_class(classes, self.num_classes)
        _check_shapes(truth.shape, classes.shape, predicted.shape, self.name)
        truth_is_class = _is_class(truth, self.num_classes)
        truth = ops.cast(truth, "int32")
        classes = ops.cast(classes, "int32")
        is_wrong = ~is_class | ~(truth_is_class | (truth == VOID))
        self.wrong_pixels.assign_add(ops.sum(ops.cast(is_wrong, self.dtype)))
        counts = _count_cells(truth, classes, truth_is_class & is_class, self.num_classes)
        self.total_cm.assign_add(ops.cast(counts, self.dtype))

    def _are_scores(self, predicted: Any) -> bool:
        """Whether predictions are scores `[B, H, W, C]`, and no class indices."""
        has_channels = len(predicted.shape) == 4 and predicted.shape[-1] == self.num_classes
        return has_channels and self.num_classes > 1

    def result(self) -> Any:
        """Returns the mIoU, a float32 scalar, 0 to 1; NaN without any pixel."""
        has_pixels = ops.sum(self.total_cm) > 0
        is_defined = has_pixels & ops.equal(self.wrong_pixels, 0)
        return ops.where(is_defined, super().result(), float("nan"))

    def reset_state(self) -> None:
        """Forgets all batches."""
        super().reset_state()
        self.wrong_pixels.assign(0)

    def get_config(self) -> dict[str, Any]:
        """Returns what makes the metric again; see Keras."""
        return {"num_classes": self.num_classes, "name": self.name}


def keras_metric(num_classes: int, name: str = "miou") -> VocMeanIoU:
    """Returns mIoU by the rule of `Confusion`, as a metric for `model.compile(metrics=[...])`.

    Masks are integers `[B, H, W]` or `[B, H, W, 1]` with 255 for void and for padding.
    Predictions are scores `[B, H, W, C]`, or class indices of the masks' shape. A score that is
    NaN, a pixel whose highest score is infinite, or an index that is no class or no whole number
    makes the result NaN: a metric cannot raise inside a graph. A score of -inf excludes a class.

    Import this function before `keras.models.load_model` loads a network that was saved with the
    metric.

    In tiles, pixels that neighbors share count once per tile. `evaluate` stitches the tiles first,
    so its figure differs.

    Args:
      num_classes: number of classes, background included, void not.
      name: the metric's name; for tiles, one that says so, such as `tile_miou`.

    Returns:
      The metric. Its result is float32, 0 to 1, and within 1e-6 of that of `Confusion`.

    Raises:
      ConfigError: if `num_classes` is not 1 to 255; when called, if masks and predictions differ
        in shape, or a `sample_weight` is given.
    """
    return VocMeanIoU(num_classes, name=name)


def _drop_single_channel(values: Any) -> Any:
    """Returns `[B, H, W, 1]` as `[B, H, W]`, and all else as it is."""
    has_single_channel = len(values.shape) == 4 and values.shape[-1] == 1
    return values[..., 0] if has_single_channel else values


def _name_a_class(scores: Any) -> Any:
    """Returns where scores `[B, H, W, C]` name a class, bool `[B, H, W]`; argmax always takes one.

    NaN is looked for by itself, because not every backend's maximum is NaN then.
    """
    scores = ops.cast(scores, "float32")
    has_nan = ops.any(ops.isnan(scores), axis=-1)
    return ops.isfinite(ops.max(scores, axis=-1)) & ~has_nan


def _is_class(values: Any, classes: int) -> Any:
    """Returns where values `[B, H, W]` are class indices: whole numbers from 0 to C - 1."""
    indices = ops.cast(values, "int32")
    is_whole = ops.cast(indices, values.dtype) == values
    return is_whole & (indices >= 0) & (indices < classes)


def _check_shapes(truth: Any, classes: Any, predictions: Any, name: str) -> None:
    """Checks that the shapes are `[B, H, W]` and agree; a graph may not know all sides.

    Args:
      truth: the shape of the masks.
      classes: the shape of the class indices.
      predictions: the shape of the predictions as they were given.
      name: the metric's name, for errors.
    """
    agree = len(truth) == len(classes) == 3
    for side, predicted_side in zip(truth, classes, strict=False):
        if side is not None and predicted_side is not None and side != predicted_side:
            agree = False
    if not agree:
        raise ConfigError(
            name,
            found=f"masks {list(truth)}, predictions {list(predictions)}",
            expected="masks [B, H, W] or [B, H, W, 1], and scores [B, H, W, C] or class indices "
            "of the masks' shape",
            remedy="give the metric the number of classes of the network, and resize scores to "
            "the size of the masks",
        )


def _count_cells(truth: Any, classes: Any, is_counted: Any, num_classes: int) -> Any:
    """Returns how many pixels have each class in the mask and in the prediction, `[C, C]`.

    Args:
      truth: the classes of the masks, int32 `[B, H, W]`.
      classes: the predicted classes, int32 `[B, H, W]`.
      is_counted: which pixels count, bool `[B, H, W]`.
      num_classes: how many classes there are.
    """
    cells = num_classes * num_classes
    # Pixels that do not count go to one more cell.
    cell_of_pixel = ops.where(is_counted, truth * num_classes + classes, cells)
    cell_of_pixel = ops.reshape(cell_of_pixel, [-1])
    if keras.backend.backend() == "torch":
        # Its `segment_sum` adds in float32, in which 2**24 + 1 is 2**24.
        counts = ops.bincount(cell_of_pixel, minlength=cells + 1)
    else:
        ones = ops.ones_like(cell_of_pixel)
        counts = ops.segment_sum(ones, cell_of_pixel, num_segments=cells + 1)
    return ops.reshape(counts[:cells], [num_classes, num_classes])
