"""Records with the same bytes in every process and with every protobuf library, at less cost."""

from collections.abc import Callable, Mapping, Sequence
import functools
import hashlib
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer, utils
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.names import IMAGE

# Protobuf's tags of length-delimited fields 1 to 3. Field 1 is `features` of an example, each entry
# of its map, the key of an entry, and what a list of values holds; 2 is the value of an entry.
_FIRST, _VALUE = b"\x0a", b"\x12"
_BYTES_LIST, _INT64_LIST = b"\x0a", b"\x1a"
_SHORT = [bytes((number,)) for number in range(0x80)]


class StableSerializer(example_serializer.ExampleSerializer):
    """TFDS's serializer, with the features of each record sorted by name.

    The features of a `tf.train.Example` are a protobuf map, and protobuf serialises a map in an
    order that changes from process to process. Sorted, equal data is equal bytes.

    Strings and integers, which nearly all features are, are laid out here: the bytes of images are
    copied once, and no protobuf is made of each number. TFDS serialises all others, one by one.
    """

    def __init__(self, example_specs: Mapping[str, Any]):
        super().__init__(example_specs)
        specs = self._flat_example_specs
        ordered = sorted((name.encode(), name) for name in specs)
        self._content = [
            (name, _head(_FIRST, len(key)) + key, _content_of(specs[name])) for key, name in ordered
        ]
        self._alone = {
            name: example_serializer.ExampleSerializer({name: spec}) for name, spec in specs.items()
        }

    def serialize_example(self, example: Mapping[str, Any]) -> bytes:
        """Returns the bytes of a `tf.train.Example`; see TFDS."""
        if any(isinstance(value, dict) for value in example.values()):
            example = utils.flatten_nest_dict(example)
        parts: list[bytes] = []
        for name, key, content in self._content:
            entry = content(example[name]) if content else None
            if entry is None:
                parts.append(self._entry(name, example[name]))
            else:
                parts += _entry(key, *entry)
        return b"".join([_FIRST, _varint(sum(map(len, parts))), *parts])

    def _entry(self, name: str, value: Any) -> bytes:
        features = self._alone[name].get_tf_example({name: value}).features
        if len(features.feature) > 1:  # nested sequences are several features
            raise ValueError(f"feature {name} of several lists, which have no order")
        return bytes(features.SerializeToString())


_SAMPLE, _WORTH = 1 << 18, 0.85  # bytes of an array that tell whether it gets much smaller


class Encoder:
    """Encodes examples as TFDS does, arrays of bands apart, which zlib-ng compresses.

    TFDS would compress them by zlib, which takes four times as long.
    """

    def __init__(self, features: tfds.features.FeaturesDict):
        others = {name: feature for name, feature in features.items() if name != IMAGE}
        self._all, self._others = features, tfds.features.FeaturesDict(others)

    def __call__(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what a serializer takes."""
        image = example[IMAGE]
        if not isinstance(image, np.ndarray):
            return dict(self._all.encode_example(example))
        others = {name: value for name, value in example.items() if name != IMAGE}
        raw = np.ascontiguousarray(image).reshape(-1).view(np.uint8)
        # Noise hardly gets smaller, and what is only stored is read several times as fast.
        sample = raw[len(raw) // 2 :][:_SAMPLE]
        level = 3 if len(zlib_ng.compress(sample, 3)) < _WORTH * len(sample) else 0
        value = zlib_ng.compress(raw, level)
        array = {"shape": np.array(image.shape, np.int32), "value": value}
        return {**self._others.encode_example(others), IMAGE: array}


def record_parts(
    features: Mapping[str, bytes | memoryview | int | Sequence[int]],
) -> list[bytes | memoryview]:
    """Returns the bytes of a `tf.train.Example` in pieces; those of values are not copied.

    Args:
      features: bytes, a number or numbers by name.
    """
    parts: list[Any] = []
    for key, value in sorted((name.encode(), value) for name, value in features.items()):
        front = _head(_FIRST, len(key)) + key
        if isinstance(value, bytes | memoryview):
            parts += _entry(front, _BYTES_LIST, _head(_FIRST, len(value)), value)
        else:
            numbers = [value] if isinstance(value, int) else value
            parts += _entry(front, *(_integers(np.dtype(np.int64), 1, numbers) or ()))
    return [_FIRST + _varint(sum(map(len, parts))), *parts]


LARGE = 1 << 24
"""Bytes of a value above which the message of a record that is read has its sha256 instead."""


def stand_in(value: bytes) -> bytes:
    """Returns what the message of a record has for a value."""
    return value if len(value) <= LARGE else hashlib.sha256(value).digest()


def with_stand_in(message: Any, name: str, value: bytes) -> tuple[Any, int]:
    """Returns a `tf.train.Example` with the stand-in of a value, and how much shorter it is.

    The bytes that are saved are counted without serialising the message, which may be large.
    """
    long, short = (
        sum(map(len, record_parts({name: data})[1:])) for data in (value, stand_in(value))
    )
    message.features.feature[name].bytes_list.value[0] = stand_in(value)
    shorter = type(message).FromString(message.SerializeToString())
    now = shorter.features.ByteSize()
    then = now - short + long
    return shorter, then + len(_varint(then)) - now - len(_varint(now))


_Content = tuple[bytes, bytes, bytes]
"""The tag of a list of values, what stands in front of its values, and the values."""


def _content_of(spec: Any) -> Callable[[Any], _Content | None] | None:
    """Returns what lays out the values of a feature, None if TFDS has to serialise it."""
    dtype, shape = np.dtype(spec.np_dtype), tuple(spec.shape)
    if dtype.kind == "O" and shape == ():
        return _string
    if dtype in (np.int32, np.int64) and shape in ((), (None,)):
        return functools.partial(_integers, dtype, len(shape))
    return None


def _string(value: Any) -> _Content | None:
    item = value.item() if isinstance(value, np.ndarray) and not value.ndim else value
    data = item.encode() if isinstance(item, str) else item
    if not isinstance(data, bytes):
        return None
    return _BYTES_LIST, _head(_FIRST, len(data)), data


def _integers(dtype: np.dtype, rank: int, value: Any) -> _Content | None:
    array = np.asanyarray(value, dtype)
    if array.ndim != rank:
        return None
    numbers = b"".join(map(_varint, array.ravel().tolist()))
    return _INT64_LIST, _head(_FIRST, len(numbers)) if numbers else b"", numbers


def _entry(key: bytes, kind: bytes, front: bytes, content: Any) -> tuple[bytes, Any]:
    """Returns the two parts of a map's entry: what stands in front of the values, and these."""
    inner = _head(kind, len(front) + len(content)) + front
    value = _head(_VALUE, len(inner) + len(content)) + inner
    return _head(_FIRST, len(key) + len(value) + len(content)) + key + value, content


def _head(tag: bytes, length: int) -> bytes:
    return tag + _varint(length)


def _varint(number: int) -> bytes:
    """Returns a number as protobuf writes it, 7 bits per byte, a negative one in 64 bits."""
    if 0 <= number < 0x80:
        return _SHORT[number]
    if 0 <= number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
