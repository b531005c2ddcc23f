"""Messages of large records, in which the sha256 of a value takes its place.

A large value is kept once, as bytes, and not in the parsed `tf.train.Example` too.
"""

import dataclasses
import hashlib
from typing import Any

from voc_seg_tfrecord.writing.serializer import entry_length, example_length

MAX_KEPT_BYTES = 1 << 24
"""The message of a record that is read has the sha256 in place of a larger value."""


def stand_in(value: bytes) -> bytes:
    """Returns what the message of a record has for a value: the value, or its sha256."""
    return value if len(value) <= MAX_KEPT_BYTES else hashlib.sha256(value).digest()


@dataclasses.dataclass(frozen=True)
class ShortenedMessage:
    """A message in which one value is replaced by its stand-in.

    Attributes:
      message: a `tf.train.Example`.
      saved_bytes: how much shorter it is, serialized.
    """

    message: Any
    saved_bytes: int


def shorten(message: Any, name: str, value: bytes) -> ShortenedMessage:
    """Replaces the value of a feature by its stand-in.

    The bytes that are saved are counted without serializing the message, which may be large.

    Args:
      message: a `tf.train.Example`, which is changed.
      name: the feature.
      value: its one value.
    """
    message.features.feature[name].bytes_list.value[0] = stand_in(value)
    # A message that is parsed anew does not keep the memory of the value.
    shortened = type(message).FromString(message.SerializeToString())
    short_features = shortened.features.ByteSize()
    long_features = short_features + entry_length(name, value) - entry_length(name, stand_in(value))
    saved_bytes = example_length(long_features) - example_length(short_features)
    return ShortenedMessage(shortened, saved_bytes)
