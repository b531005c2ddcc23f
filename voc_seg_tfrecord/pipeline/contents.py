"""What an example holds: which pictures, decoded or not, and of what size."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILL, HEIGHT, WIDTH

Example: TypeAlias = dict[str, Any]
"""Feature names and tensors."""


def is_encoded(picture: tf.Tensor) -> bool:
    """Says whether a picture is still the bytes of its file."""
    return picture.dtype == tf.string


def names(example: Mapping[str, Any]) -> list[str]:
    """Returns the names of the pictures in an example.

    Raises:
      ConfigError: if there is none, or they are those of a batch.
    """
    found = [name for name in FILL if name in example]
    if not found:
        raise ConfigError(
            "example", found=f"features {sorted(example)}", expected=f"one of {', '.join(FILL)}"
        )
    for name in found:
        rank = example[name].shape.rank
        if rank not in (None, 0 if is_encoded(example[name]) else 3):
            raise ConfigError(
                name,
                found=f"a tensor of rank {rank}",
                expected="one example: rank 3, or 0 if it is not decoded",
                remedy="map the function before batching",
            )
    return found


def size(example: Mapping[str, Any]) -> tf.Tensor:
    """Returns height and width of the pictures as they are now, int32 `[2]`.

    Nothing is decoded for it: for pictures that are still encoded they are `image/height`
    and `image/width`.

    Raises:
      ConfigError: if the pictures are encoded and the example does not say their size.
    """
    first = example[names(example)[0]]
    if not is_encoded(first):
        return tf.shape(first)[:2]
    if HEIGHT not in example or WIDTH not in example:
        raise ConfigError(
            "example",
            found=f"pictures that are not decoded, and features {sorted(example)}",
            expected=f"{HEIGHT} and {WIDTH} with them",
            remedy="keep both features, or decode before",
        )
    return tf.cast(tf.stack([example[HEIGHT], example[WIDTH]]), tf.int32)
