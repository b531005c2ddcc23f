"""Gives mIoU as a Keras metric that counts exactly as `Confusion` does, on every Keras backend."""

import dataclasses
from typing import Any

import keras
from keras import ops
import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.evaluation.result import Result

_WORD_PIXELS = 1 << 24
"""Pixels that are carried from the low word of a count to the high one.

They are so few that the low words of 127 replicas, or of a batch of 2**31 - 2**24 pixels, can be
added in int32.
"""


@keras.saving.register_keras_serializable("voc_seg_tfrecord")
class VocMeanIoU(keras.metrics.Metric):
    """mIoU over the classes that occur, by the rule of `evaluation.Confusion`.

    Masks are integers `[B, H, W]` or `[B, H, W, 1]` with 255 for void and for padding.
    Predictions are scores `[B, H, W, C]`, or class indices of the masks' shape. A score that is
    NaN, a pixel whose highest score is infinite, or an index that is no class or no whole number
    makes the result NaN: a metric cannot raise inside a graph. A score of -inf says that a class
    cannot be there, so that one of the others has to be finite.

    For tiles it differs from the figure of `voc-seg-tfrecord evaluate`: pixels that neighbors share
    count once in each tile here, and once there, where tiles are stitched first. Give the metric a
    name that says so, such as `tile_miou`.

    Counts are exact up to 2**53 pixels on all backends, and under `tf.distribute` and JAX's
    data parallelism. JAX has no int64 by default, so each count is kept in two words. The result
    is float64 and that of `Confusion` to the last digit, with one exception: where JAX traces
    `result`, which includes the progress bar of `fit` but not what `fit` and `evaluate` return
    or hand to callbacks at the end of an epoch, it is float32, with about 6 digits, unless
    `jax_enable_x64` is set.

    Args:
      num_classes: how many classes there are, background included, void not.
      name: the metric's name.

    Raises:
      ConfigError: if `num_classes` is not 1 to 255; when called, if masks and predictions differ
        in shape, or a `sample_weight` is given.
    """

    def __init__(self, num_classes: int, name: str = "miou") -> None:
        super().__init__(name=name)
        if not 0 < num_classes <= VOID:
            raise ConfigError("num_classes", found=str(num_classes), expected=f"1 to {VOID}")
        self.num_classes: int = num_classes
        # int64 where there is one: TensorFlow cannot add to int32 variables on a GPU.
        dtype = "int32" if keras.backend.backend() == "jax" else "int64"
        cells = (num_classes * num_classes,)
        self.low = self.add_variable(cells, "zeros", dtype=dtype, name="low")
        self.high = self.add_variable(cells, "zeros", dtype=dtype, name="high")
        self.wrong = self.add_variable((), "zeros", dtype=dtype, name="wrong")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch."""
        if sample_weight is not None:
            raise ConfigError(
                self.name,
                found="a sample_weight",
                expected="none: each pixel that is not void counts once",
                remedy="give the metric to `metrics=` of compile, not to `weighted_metrics=`",
            )
        truth = _squeeze(ops.convert_to_tensor(y_true))
        predicted = _as_classes(ops.convert_to_tensor(y_pred), self.num_classes)
        _check_shapes(truth.shape, predicted.indices.shape, tuple(y_pred.shape), self.name)
        truth_is_class = _is_class(truth, self.num_classes)
        truth = ops.cast(truth, "int32")
        is_counted = truth_is_class & predicted.is_class
        self._add_counts(_count_cells(truth, predicted.indices, is_counted, self.num_classes))
        is_wrong = ~predicted.is_class | ~(truth_is_class | (truth == VOID))
        self.wrong.assign_add(ops.cast(ops.any(is_wrong), self.wrong.dtype))

    def _add_counts(self, counts: Any) -> None:
        """Adds the pixels of each cell of the matrix, integers `[C * C]`."""
        low = self.low + ops.cast(counts, self.low.dtype)
        self.low.assign(low % _WORD_PIXELS)
        self.high.assign_add(low // _WORD_PIXELS)

    def result(self) -> Any:
        """Returns the mIoU, a float64 scalar, or float32 (see the class); NaN without any pixel."""
        if _numpy_can_read(self.low.value, self.high.value, self.wrong.value):
            return self._result_by_numpy()
        return self._result_by_backend()

    def _result_by_numpy(self) -> float:
        """Returns the mIoU of counts that are known now."""
        low = ops.convert_to_numpy(self.low.value).astype(np.int64)
        high = ops.convert_to_numpy(self.high.value).astype(np.int64)
        if ops.convert_to_numpy(self.wrong.value):
            return float("nan")
        matrix = (high * _WORD_PIXELS + low).reshape([self.num_classes] * 2)
        class_names = ("",) * self.num_classes
        return Result(class_names, matrix).miou

    def _result_by_backend(self) -> Any:
        """Returns `Result.miou` in operations of the backend, which may be those of a graph."""
        low = ops.cast(self.low.value, _float_type())
        high = ops.cast(self.high.value, _float_type())
        matrix = ops.reshape(high * _WORD_PIXELS + low, [self.num_classes] * 2)
        correct = ops.diagonal(matrix)
        union = ops.sum(matrix, 0) + ops.sum(matrix, 1) - correct
        is_present = union > 0
        ones = ops.ones_like(union)
        zeros = ops.zeros_like(union)
        iou = ops.where(is_present, correct / ops.where(is_present, union, ones), zeros)
        total = ops.zeros((), _float_type())
        for index in range(self.num_classes):
            # One after the other: a sum in another order differs in the last digit.
            total = total + iou[index]
        mean = total / ops.sum(ops.where(is_present, ones, zeros))
        return ops.where(ops.equal(self.wrong.value, 0), mean, float("nan"))

    def get_config(self) -> dict[str, Any]:
        """Returns what makes the metric again; see Keras."""
        return {"num_classes": self.num_classes, "name": self.name}


def keras_metric(num_classes: int, name: str = "miou") -> VocMeanIoU:
    """Returns a metric for `model.compile(metrics=[...])`; see `VocMeanIoU`."""
    return VocMeanIoU(num_classes, name=name)


@dataclasses.dataclass(frozen=True)
class _PredictedClasses:
    """The predictions of a batch.

    Attributes:
      indices: class indices, int32 `[B, H, W]`.
      is_class: where the index is that of a class, bool `[B, H, W]`.
    """

    indices: Any
    is_class: Any


def _as_classes(predicted: Any, classes: int) -> _PredictedClasses:
    """Returns the classes of predictions: scores `[B, H, W, C]`, or class indices."""
    if not _are_scores(predicted, classes):
        indices = _squeeze(predicted)
        return _PredictedClasses(ops.cast(indices, "int32"), _is_class(indices, classes))
    indices = ops.argmax(predicted, axis=-1)
    is_class = _is_class(indices, classes)
    if keras.backend.is_float_dtype(keras.backend.standardize_dtype(predicted.dtype)):
        is_class = is_class & ~_have_no_class(predicted)
    return _PredictedClasses(ops.cast(indices, "int32"), is_class)


def _are_scores(predicted: Any, classes: int) -> bool:
    """Whether predictions are scores `[B, H, W, C]`, and no class indices."""
    shape = predicted.shape
    return len(shape) == 4 and shape[-1] == classes and classes > 1


def _have_no_class(scores: Any) -> Any:
    """Returns where floating-point scores `[B, H, W, C]` name no class; argmax would take one."""
    has_nan = ops.any(ops.isnan(scores), axis=-1)
    has_finite_maximum = ops.isfinite(ops.max(scores, axis=-1))
    return has_nan | ~has_finite_maximum


def _squeeze(values: Any) -> Any:
    """Returns `[B, H, W, 1]` as `[B, H, W]`, and all else as it is."""
    has_single_channel = len(values.shape) == 4 and values.shape[-1] == 1
    return values[..., 0] if has_single_channel else values


def _check_shapes(truth: Any, predicted: Any, given: tuple[int | None, ...], name: str) -> None:
    """Checks that the shapes are `[B, H, W]` and agree; a graph may not know all sides.

    Args:
      truth: the shape of the masks.
      predicted: the shape of the class indices.
      given: the shape of the predictions as they were given.
      name: the metric's name, for errors.
    """
    are_images = len(truth) == 3 and len(predicted) == 3
    agree = True
    for side, predicted_side in zip(truth, predicted, strict=False):
        if side is not None and predicted_side is not None and side != predicted_side:
            agree = False
    if not are_images or not agree:
        raise ConfigError(
            name,
            found=f"masks {list(truth)}, predictions {list(given)}",
            expected="masks [B, H, W] or [B, H, W, 1], and scores [B, H, W, C] or class indices "
            "of the masks' shape",
            remedy="give the metric the number of classes of the network, and resize scores to "
            "the size of the masks",
        )


def _is_class(values: Any, classes: int) -> Any:
    """Returns where values `[B, H, W]` are class indices: whole numbers from 0 to C - 1."""
    indices = ops.cast(values, "int32")
    is_whole = ops.cast(indices, values.dtype) == values
    return is_whole & (indices >= 0) & (indices < classes)


def _count_cells(truth: Any, predicted: Any, is_counted: Any, classes: int) -> Any:
    """Returns how many pixels have each pair of classes, integers `[C * C]`.

    Args:
      truth: the classes of the masks, int32 `[B, H, W]`.
      predicted: the predicted classes, int32 `[B, H, W]`.
      is_counted: which pixels count, bool `[B, H, W]`.
      classes: how many classes there are.
    """
    cells = classes * classes
    # Pixels that do not count go to one more cell.
    cell_of_pixel = ops.where(is_counted, truth * classes + predicted, cells)
    return _count_numbers(ops.reshape(cell_of_pixel, [-1]), cells + 1)[:cells]


def _count_numbers(numbers: Any, length: int) -> Any:
    """Returns how often each number occurs, integers `[length]`.

    Args:
      numbers: int32 `[N]`, 0 to `length` - 1.
      length: how many numbers there are.
    """
    if keras.backend.backend() == "torch":
        return ops.bincount(numbers, minlength=length)  # `segment_sum` adds in float32, up to 2**24
    return ops.segment_sum(ops.ones_like(numbers), numbers, num_segments=length)


def _numpy_can_read(*values: Any) -> bool:
    """Says whether NumPy can compute the result of these values now, in float64.

    It cannot where they are part of a graph. Nor is it needed for TensorFlow, which computes in
    float64 itself, also in a graph.
    """
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return not any(isinstance(value, jax.core.Tracer) for value in values)
    return backend == "torch" and all(value.device.type != "meta" for value in values)


def _float_type() -> str:
    """Returns the widest type of floats that the backend computes with."""
    if keras.backend.backend() == "jax":
        import jax

        return "float64" if jax.config.jax_enable_x64 else "float32"
    return "float64"
