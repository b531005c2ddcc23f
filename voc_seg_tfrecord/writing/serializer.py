"""Makes records with the same bytes in every process and with every protobuf library, at less cost.

A record is a `tf.train.Example`. `StableSerializer` makes one of a dataset's features,
`record_parts` one of plain values, and `Encoder` prepares examples for the first of them.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer, utils
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.names import IMAGE

# Tags of the fields of tensorflow/core/example/example.proto and feature.proto that are written
# here. Each of them is length-delimited: field n has the tag n << 3 | 2. An example holds a map of
# features, which protobuf writes as a list of entries. An entry has a key and a value; the value is
# a feature, which has one list; the list holds values.
_EXAMPLE_FEATURES = b"\x0a"
_FEATURES_ENTRY = b"\x0a"
_ENTRY_KEY = b"\x0a"
_ENTRY_VALUE = b"\x12"
_FEATURE_BYTES_LIST = b"\x0a"
_FEATURE_INT64_LIST = b"\x1a"
_LIST_VALUES = b"\x0a"


class StableSerializer(example_serializer.ExampleSerializer):
    """TFDS's serializer, with the features of each record sorted by name.

    The features of a `tf.train.Example` are a protobuf map, and protobuf serializes a map in an
    order that changes from process to process. Sorted, equal data is equal bytes.

    Strings and integers, which nearly all features are, are laid out here: the bytes of images are
    copied once, and no protobuf is made of each number. TFDS serializes all others, one by one.
    """

    def __init__(self, example_specs: Mapping[str, Any]):
        super().__init__(example_specs)
        specs = self._flat_example_specs
        self._layouts = [
            _FeatureLayout(name, _entry_key(name), _choose_list_encoder(specs[name]))
            for name in sorted(specs, key=str.encode)
        ]
        self._by_tfds = {
            name: example_serializer.ExampleSerializer({name: spec}) for name, spec in specs.items()
        }

    def serialize_example(self, example: Mapping[str, Any]) -> bytes:
        """Returns the bytes of a `tf.train.Example`; see TFDS."""
        if any(isinstance(value, dict) for value in example.values()):
            example = utils.flatten_nest_dict(example)
        parts: list[bytes] = []
        for feature in self._layouts:
            value = example[feature.name]
            values = feature.encode(value)
            if values is None:
                parts.append(self._entry_by_tfds(feature.name, value))
            else:
                parts += _entry_parts(feature.key, values)
        return b"".join([_example_head(parts), *parts])

    def _entry_by_tfds(self, name: str, value: Any) -> bytes:
        """Returns the entry of a feature as TFDS serializes it."""
        features = self._by_tfds[name].get_tf_example({name: value}).features
        if len(features.feature) > 1:  # nested sequences are several features
            raise ValueError(f"feature {name} of several lists, which have no order")
        return bytes(features.SerializeToString())


_SAMPLE_BYTES = 1 << 18
"""Bytes from the middle of an array that show how far the array can be compressed."""

_MAX_COMPRESSED_SHARE = 0.85
"""An array whose sample does not get smaller than this is stored as it is."""


class Encoder:
    """Encodes examples as TFDS does, but compresses arrays of bands by zlib-ng.

    TFDS would compress them by zlib, which takes four times as long.
    """

    def __init__(self, features: tfds.features.FeaturesDict):
        self._features = features
        self._features_but_image = tfds.features.FeaturesDict(_without_image(features))

    def __call__(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what a serializer takes."""
        image = example[IMAGE]
        if not isinstance(image, np.ndarray):
            return dict(self._features.encode_example(example))
        encoded = dict(self._features_but_image.encode_example(_without_image(example)))
        shape = np.array(image.shape, np.int32)
        encoded[IMAGE] = {"shape": shape, "value": _compress(image)}
        return encoded


def _without_image(by_name: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what belongs to all features but the image."""
    return {name: value for name, value in by_name.items() if name != IMAGE}


def _compress(array: np.ndarray) -> bytes:
    """Returns the bytes of an array as a zlib stream."""
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    middle = len(raw) // 2
    sample = raw[middle : middle + _SAMPLE_BYTES]
    # Noise hardly gets smaller, and data that is only stored is read several times as fast.
    gets_smaller = len(zlib_ng.compress(sample, 3)) < _MAX_COMPRESSED_SHARE * len(sample)
    return zlib_ng.compress(raw, 3 if gets_smaller else 0)


def record_parts(
    features: Mapping[str, bytes | memoryview | int | Sequence[int]],
) -> list[bytes | memoryview]:
    """Returns the bytes of a `tf.train.Example` in parts, so that values are not copied.

    Args:
      features: bytes, a number or numbers by name.
    """
    parts: list[Any] = []
    for name, value in sorted(features.items(), key=lambda item: item[0].encode()):
        if isinstance(value, bytes | memoryview):
            values = _bytes_list(value)
        else:
            numbers = [value] if isinstance(value, int) else value
            values = _int64_list(np.array(numbers, np.int64))
        parts += _entry_parts(_entry_key(name), values)
    return [_example_head(parts), *parts]


def example_length(features_length: int) -> int:
    """Returns how many bytes an example takes whose features take so many."""
    return len(_head(_EXAMPLE_FEATURES, features_length)) + features_length


def entry_length(name: str, value: bytes) -> int:
    """Returns how many bytes the entry of a feature with one value of bytes takes."""
    return sum(len(part) for part in _entry_parts(_entry_key(name), _bytes_list(value)))


class _ValueList(NamedTuple):
    """The list of values of a feature, which protobuf writes as tag, length, head and values.

    Attributes:
      tag: of the list in its feature.
      values_head: tag and length of the values; empty if there are none.
      values: the bytes of the one value, or of all numbers.
    """

    tag: bytes
    values_head: bytes
    values: bytes | memoryview


_EncodeList = Callable[[Any], _ValueList | None]
"""Returns the list of values of a feature; None if TFDS has to serialize this value."""


@dataclasses.dataclass(frozen=True)
class _FeatureLayout:
    """How a feature is laid out.

    Attributes:
      name: the feature's name.
      key: the bytes of the key of its entry.
      encode: returns the list of its values; None if TFDS has to serialize them.
    """

    name: str
    key: bytes
    encode: _EncodeList


def _choose_list_encoder(spec: Any) -> _EncodeList:
    """Returns what encodes the values of a feature.

    Args:
      spec: a `tfds.features.TensorInfo`.
    """
    dtype = np.dtype(spec.np_dtype)
    shape = tuple(spec.shape)
    if dtype.kind == "O" and shape == ():
        return _encode_string
    if dtype in (np.int32, np.int64) and shape in ((), (None,)):
        return functools.partial(_encode_integers, dtype, len(shape))
    return _leave_to_tfds


def _leave_to_tfds(_: Any) -> None:
    """Encodes nothing, as TFDS has to serialize all values of the feature."""
    return


def _encode_string(value: Any) -> _ValueList | None:
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, str):
        value = value.encode()
    if not isinstance(value, bytes):
        return None
    return _bytes_list(value)


def _encode_integers(dtype: np.dtype, rank: int, value: Any) -> _ValueList | None:
    array = np.asanyarray(value, dtype)
    if array.ndim != rank:
        return None
    return _int64_list(array)


def _bytes_list(value: bytes | memoryview) -> _ValueList:
    return _ValueList(_FEATURE_BYTES_LIST, _head(_LIST_VALUES, len(value)), value)


def _int64_list(numbers: np.ndarray) -> _ValueList:
    values = b"".join(map(_varint, numbers.ravel().tolist()))
    values_head = _head(_LIST_VALUES, len(values)) if values else b""
    return _ValueList(_FEATURE_INT64_LIST, values_head, values)


def _example_head(parts: Sequence[bytes | memoryview]) -> bytes:
    """Returns what stands in front of the entries of an example."""
    return _head(_EXAMPLE_FEATURES, sum(map(len, parts)))


def _entry_key(name: str) -> bytes:
    key = name.encode()
    return _head(_ENTRY_KEY, len(key)) + key


def _entry_parts(key: bytes, values: _ValueList) -> tuple[bytes, Any]:
    """Returns a map's entry in two parts: what stands in front of the values, and the values.

    The parts are nested, and the length of each stands in front of it: so they are made from the
    inside to the outside.
    """
    length = len(values.values)
    feature = _head(values.tag, len(values.values_head) + length) + values.values_head
    entry_value = _head(_ENTRY_VALUE, len(feature) + length) + feature
    entry = _head(_FEATURES_ENTRY, len(key) + len(entry_value) + length)
    return entry + key + entry_value, values.values


def _head(tag: bytes, length: int) -> bytes:
    return tag + _varint(length)


_BELOW_128 = [bytes((number,)) for number in range(0x80)]


def _varint(number: int) -> bytes:
    """Returns a number as a protobuf varint: 7 bits per byte, the lowest first.

    The highest bit of a byte is set if another byte follows. A negative number is written as the
    unsigned number of the same 64 bits.

    References:
      https://protobuf.dev/programming-guides/encoding, "Base 128 Varints".
    """
    if 0 <= number < 0x80:  # nearly all numbers; a table is the fastest
        return _BELOW_128[number]
    if 0 <= number < 0x4000:
        return bytes((number & 0x7F | 0x80, number >> 7))
    number &= (1 << 64) - 1
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
