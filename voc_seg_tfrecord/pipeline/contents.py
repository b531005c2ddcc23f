"""What an example holds: which images and masks, decoded or not, and their size."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILL, HEIGHT, WIDTH

Example: TypeAlias = dict[str, Any]
"""Feature names and tensors."""

if TYPE_CHECKING:
    Examples: TypeAlias = tf.data.Dataset[Example]
    ExamplePairs: TypeAlias = tf.data.Dataset[tuple[Example, Example]]
else:  # the class takes no parameter when it runs
    Examples: TypeAlias = tf.data.Dataset
    ExamplePairs: TypeAlias = tf.data.Dataset


def is_encoded(image: tf.Tensor) -> bool:
    """Says whether an image or mask is still the bytes of its file."""
    return image.dtype == tf.string


def names(example: Mapping[str, Any]) -> list[str]:
    """Returns the names of the image and masks in an example.

    Raises:
      ConfigError: if the example has none of them, or is a batch.
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
    """Returns the current height and width of image and masks, int32 `[2]`.

    Nothing is decoded: while they are still encoded, the size is `image/height` and
    `image/width`.

    Raises:
      ConfigError: if they are encoded and the example does not give their size.
    """
    first = example[names(example)[0]]
    if not is_encoded(first):
        return tf.shape(first)[:2]
    if HEIGHT not in example or WIDTH not in example:
        raise ConfigError(
            "example",
            found=f"images that are not decoded, and features {sorted(example)}",
            expected=f"{HEIGHT} and {WIDTH} among the features",
            remedy="keep both features, or decode before",
        )
    return tf.cast(tf.stack([example[HEIGHT], example[WIDTH]]), tf.int32)
