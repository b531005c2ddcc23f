"""mIoU as a Keras metric that counts exactly as `Confusion` does, on every backend of Keras."""

from typing import Any

import keras
from keras import ops
import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.evaluation.result import Result

_WORD = 1 << 24
"""Pixels that are carried from the low word of a count to the high one. So small that the low
words of 127 replicas, or of a batch of 2**31 - 2**24 pixels, can be added in int32."""


@keras.saving.register_keras_serializable("voc_seg_tfrecord")
class VocMeanIoU(keras.metrics.Metric):
    """mIoU over the classes that occur, by the rule of `evaluation.Confusion`.

    Masks are integers `[B, H, W]` or `[B, H, W, 1]` with 255 for void and for padding.
    Predictions are scores `[B, H, W, C]`, or class indices of the masks' shape. A score that is
    NaN, or an index that is no class or no whole number, makes the result NaN: a metric cannot
    raise inside a graph.

    Of tiles it is another number than that of `voc-seg-tfrecord evaluate`: what neighbours share
    counts once in each tile here, and once there, where tiles are stitched first. Give it a name
    that says so, such as `tile_miou`.

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
        classes = self.num_classes
        truth, predicted = ops.convert_to_tensor(y_true), ops.convert_to_tensor(y_pred)
        has_nan = None
        if len(predicted.shape) == 4 and predicted.shape[-1] == classes and classes > 1:
            if keras.backend.is_float_dtype(keras.backend.standardize_dtype(predicted.dtype)):
                has_nan = ops.any(ops.isnan(predicted), axis=-1)  # argmax would take it for a class
            predicted = ops.argmax(predicted, axis=-1)
        truth, predicted = _plain(truth), _plain(predicted)
        _check_shapes(truth.shape, predicted.shape, tuple(y_pred.shape), self.name)
        truth, broken_truth = _whole(truth)
        predicted, broken = _whole(predicted)
        if has_nan is not None:
            broken = broken | has_nan
        void = truth == VOID
        valid = (predicted >= 0) & (predicted < classes) & ~broken
        is_class = (truth >= 0) & (truth < classes) & ~broken_truth
        cells = classes * classes
        pairs = ops.where(is_class & valid, truth * classes + predicted, cells)
        counts = ops.cast(_counted(ops.reshape(pairs, [-1]), cells + 1), self.low.dtype)
        low = self.low + counts[:cells]
        self.low.assign(low % _WORD)
        self.high.assign_add(low // _WORD)
        wrong = ops.any(~valid | ~(is_class | void))
        self.wrong.assign_add(ops.cast(wrong, self.wrong.dtype))

    def result(self) -> Any:
        """Returns the mIoU, a float64 scalar, or float32 (see the class); NaN without any pixel."""
        words = [v.value for v in (self.low, self.high, self.wrong)]
        if _are_known(words):
            low, high, wrong = (ops.convert_to_numpy(w).astype(np.int64) for w in words)
            matrix = (high * _WORD + low).reshape([self.num_classes] * 2)
            return float("nan") if wrong else Result(("",) * self.num_classes, matrix).miou
        low, high = (ops.cast(w, _float_type()) for w in words[:2])
        matrix = ops.reshape(high * _WORD + low, [self.num_classes] * 2)
        correct = ops.diagonal(matrix)
        union = ops.sum(matrix, 0) + ops.sum(matrix, 1) - correct
        present = union > 0
        ones, zero = ops.ones_like(union), ops.zeros_like(union)
        iou = ops.where(present, correct / ops.where(present, union, ones), zero)
        total = ops.zeros((), _float_type())
        for index in range(self.num_classes):
            # One after the other: a sum in another order differs in the last digit.
            total = total + iou[index]
        mean = total / ops.sum(ops.where(present, ones, zero))
        return ops.where(ops.equal(words[2], 0), mean, float("nan"))

    def get_config(self) -> dict[str, Any]:
        """Returns what makes the metric again; see Keras."""
        return {"num_classes": self.num_classes, "name": self.name}


def keras_metric(num_classes: int, name: str = "miou") -> VocMeanIoU:
    """Returns a metric for `model.compile(metrics=[...])`; see `VocMeanIoU`."""
    return VocMeanIoU(num_classes, name=name)


def _plain(values: Any) -> Any:
    """Returns `[B, H, W, 1]` as `[B, H, W]`, and all else as it is."""
    return values[..., 0] if len(values.shape) == 4 and values.shape[-1] == 1 else values


def _check_shapes(truth: Any, predicted: Any, given: tuple[int | None, ...], name: str) -> None:
    """Checks what is known of the shapes `[B, H, W]`; a graph may not know all of them."""
    pairs = zip(truth, predicted, strict=False)
    same = all(a is None or b is None or a == b for a, b in pairs)
    if not same or not len(truth) == len(predicted) == 3:
        raise ConfigError(
            name,
            found=f"masks {list(truth)}, predictions {list(given)}",
            expected="masks [B, H, W] or [B, H, W, 1], and scores [B, H, W, C] or class indices "
            "of the masks' shape",
            remedy="give the metric the number of classes of the network, and resize scores to "
            "the size of the masks",
        )


def _whole(values: Any) -> tuple[Any, Any]:
    """Returns values as int32, and where they are no whole numbers."""
    whole = ops.cast(values, "int32")
    return whole, ops.cast(whole, values.dtype) != values


def _counted(numbers: Any, length: int) -> Any:
    """Counts int32 `[N]` of 0 to `length` - 1; integers `[length]`."""
    if keras.backend.backend() == "torch":  # whose `segment_sum` adds in float32, up to 2**24
        return ops.bincount(numbers, minlength=length)
    return ops.segment_sum(ops.ones_like(numbers), numbers, num_segments=length)


def _are_known(values: Any) -> bool:
    """Says whether NumPy can compute with the values now, in float64."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return not any(isinstance(value, jax.core.Tracer) for value in values)
    return backend == "torch" and all(value.device.type != "meta" for value in values)


def _float_type() -> str:
    if keras.backend.backend() == "jax":
        import jax

        return "float64" if jax.config.jax_enable_x64 else "float32"
    return "float64"
