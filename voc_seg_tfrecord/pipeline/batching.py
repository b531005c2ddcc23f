"""Batches of images and masks of different sizes."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILL, LABELS, OBJECTS
from voc_seg_tfrecord.pipeline import contents
from voc_seg_tfrecord.pipeline.contents import Example, Examples

ABSENT_LABEL = -1
"""Pads `labels` in a batch."""


def padded_batch(
    dataset: Examples,
    batch_size: int,
    *,
    multiple: int = 1,
    drop_remainder: bool = False,
) -> Examples:
    """Batches decoded images and masks of any size, padded at the bottom and the right.

    Args:
      dataset: of decoded examples, without `objects`.
      batch_size: examples per batch.
      multiple: height and width of a batch are those of its largest image, rounded up to
        a multiple of this (1). Many networks need 16 or 32, and it gives compilers fewer
        shapes.
      drop_remainder: whether to drop a last batch that is not full.

    Returns:
      A dataset of batches: image uint8 `[B, H, W, 3]`, 0 in padding; masks uint8
      `[B, H, W, 1]`, 255 in padding; `labels`, if there, int64 `[B, N]`, -1 in padding.
      If images were not cropped, resized or padded, `image/height` and `image/width`, int32
      `[B]`, say which part of each is the image.

    Raises:
      ConfigError: if images or masks are not decoded, or there are `objects`.
    """
    spec = dataset.element_spec
    encoded = [n for n in contents.names(spec) if contents.is_encoded(spec[n])]
    if encoded or OBJECTS in spec:
        raise ConfigError(
            "padded_batch",
            found=f"{' and '.join(encoded)} not decoded" if encoded else OBJECTS,
            expected="decoded images and masks, and no feature that is a table",
            remedy="map `pipeline.decode` before" if encoded else "drop `objects` before",
        )
    fills = {**FILL, LABELS: ABSENT_LABEL}
    values = {n: tf.constant(fills[n], t.dtype) if n in fills else None for n, t in spec.items()}
    batches = dataset.padded_batch(batch_size, padding_values=values, drop_remainder=drop_remainder)
    if multiple == 1:
        return batches
    return batches.map(lambda batch: _rounded_up(batch, multiple))


def group_by_size(dataset: Examples, batch_size: int, *, step: int = 64) -> Examples:
    """Groups examples of about the same size, so that batches need little padding.

    Uses only `image/height` and `image/width`. Call it before decoding, while examples are
    small, and `padded_batch` with the same batch size after it.

    Args:
      dataset: of examples, decoded or not.
      batch_size: how many of about the same size follow each other.
      step: in pixels; sizes are the same if they fall between the same two multiples of it.

    Returns:
      The same examples in another order. Those that are left over in the end, fewer than
      a batch of each size, follow at the end.
    """

    def size_class(example: Mapping[str, Any]) -> tf.Tensor:
        height, width = tf.unstack(tf.cast(contents.size(example), tf.int64))
        return (height // step) * (1 << 32) + width // step

    grouped = dataset.group_by_window(size_class, lambda _, window: window, window_size=batch_size)
    total = dataset.cardinality()
    if total == tf.data.UNKNOWN_CARDINALITY:
        return grouped
    return grouped.apply(tf.data.experimental.assert_cardinality(total))


def _rounded_up(batch: Example, multiple: int) -> Example:
    rounded = dict(batch)
    for name, fill in FILL.items():
        if name in batch:
            size = tf.shape(batch[name])[1:3]
            more = -size % multiple
            paddings = [[0, 0], [0, more[0]], [0, more[1]], [0, 0]]
            value = tf.cast(fill, batch[name].dtype)
            rounded[name] = tf.pad(batch[name], paddings, constant_values=value)
    return rounded
