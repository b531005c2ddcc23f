"""Scores of predictions: IoU per class, mIoU and accuracies, counted as VOC's devkit counts.

Enter at `evaluate` for a folder of predictions, at `Confusion` for arrays, and at `keras_metric`
for a metric in `model.compile`. `confusion` counts, `result` divides and draws, `predictions`
reads files and packs them for VOC's server, `folder` streams a dataset. May
import: up to `audit`. As users import this room by name, it gives out its names.
"""

from typing import TYPE_CHECKING

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.evaluation.confusion import Confusion
from voc_seg_tfrecord.evaluation.folder import evaluate
from voc_seg_tfrecord.evaluation.result import Result

__all__ = ["Confusion", "Result", "evaluate", "keras_metric"]

if TYPE_CHECKING:
    from voc_seg_tfrecord.evaluation.keras_miou import keras_metric
else:

    def __getattr__(name):
        if name == "keras_metric":  # Keras takes seconds to import
            requirements.require("keras", "keras_metric", "use evaluation.Confusion")
            try:
                from voc_seg_tfrecord.evaluation.keras_miou import keras_metric
            except ModuleNotFoundError as error:
                if error.name != "tensorflow":
                    raise
                # Keras imports its backend: TensorFlow unless KERAS_BACKEND names another one.
                instead = "set KERAS_BACKEND to jax or torch"
                raise requirements.missing_error("tensorflow", "keras_metric", instead) from None
            return keras_metric
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
