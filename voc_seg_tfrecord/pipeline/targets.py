"""What losses need from a mask: one channel per class, or a weight per pixel.

Call these functions after all geometry.
"""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.arrays import SAMPLE_WEIGHT
from voc_seg_tfrecord.core.names import MASK, VOID
from voc_seg_tfrecord.pipeline.window import Example


def sample_weights(example: Mapping[str, Any]) -> Example:
    """Adds `sample_weight`: 0 for void, which includes padding, and 1 elsewhere.

    Keras takes it as the third of `(image, segmentation_mask, sample_weight)`. The mask still holds
    255: give a loss that takes class indices `ignore_class=255` too.

    Args:
      example: its `segmentation_mask` is uint8 `[..., H, W, 1]`.

    Returns:
      The example with `sample_weight`, float32 `[..., H, W]`.
    """
    mask = example[MASK][..., 0]
    return {**example, SAMPLE_WEIGHT: tf.cast(tf.not_equal(mask, VOID), tf.float32)}


def one_hot(example: Mapping[str, Any], num_classes: int) -> Example:
    """Turns the mask into one channel per class; void is 0 in all of them.

    Args:
      example: its `segmentation_mask` is uint8 `[..., H, W, 1]`.
      num_classes: number of classes, counting background but not void; 21 for VOC.

    Returns:
      The example with `segmentation_mask` as float32 `[..., H, W, num_classes]`. The categorical
      cross-entropy of a pixel of zeros is 0, so void needs no weights.
    """
    return {**example, MASK: tf.one_hot(example[MASK][..., 0], num_classes)}
