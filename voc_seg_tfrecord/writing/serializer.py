"""Makes records with the same bytes in every process and with every protobuf library.

A record is a `tf.train.Example`. `StableSerializer` makes one of a dataset's features,
`serialize_record` one of plain values, and `Encoder` prepares examples for the first of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer, utils
from tensorflow_datasets.proto import tf_feature_pb2
from zlib_ng import zlib_ng

from voc_seg_tfrecord.core.names import IMAGE


class StableSerializer(example_serializer.ExampleSerializer):
    """TFDS's serializer, with the features of each record sorted by name.

    Strings and integers, which nearly all features are, are taken as they are. TFDS would make an
    array of each first, which takes half as long again.
    """

    def __init__(self, example_specs: Mapping[str, Any]):
        super().__init__(example_specs)
        self._strings: list[str] = []
        self._integers: dict[str, Any] = {}
        others: dict[str, Any] = {}
        for name, spec in self._flat_example_specs.items():
            if _is_string(spec):
                self._strings.append(name)
            elif _is_integers(spec):
                self._integers[name] = spec
            else:
                others[name] = spec
        self._serializer_of_others = example_serializer.ExampleSerializer(others)

    def serialize_example(self, example: Mapping[str, Any]) -> bytes:
        """Returns the bytes of a `tf.train.Example`; see TFDS."""
        if any(isinstance(value, dict) for value in example.values()):
            example = utils.flatten_nest_dict(example)
        features = dict(self._serializer_of_others.get_tf_example(example).features.feature)
        for name in self._strings:
            features[name] = _bytes_feature(_as_bytes(example[name]))
        for name, spec in self._integers.items():
            numbers = np.asanyarray(example[name], spec.np_dtype)
            if numbers.ndim != len(spec.shape):
                raise ValueError(f"{name} has the shape {numbers.shape}, expected {spec.shape}")
            features[name] = _integers_feature(numbers.ravel().tolist())
        return _serialize_sorted(features)


def _as_bytes(text: Any) -> bytes:
    """Returns the bytes of a text, which TFDS may have put into an array."""
    if isinstance(text, np.ndarray):
        text = text.item()
    return text.encode() if isinstance(text, str) else text


def _is_string(spec: Any) -> bool:
    """Whether a `tfds.features.TensorInfo` is of a text or of an encoded image."""
    return np.dtype(spec.np_dtype).kind == "O" and tuple(spec.shape) == ()


def _is_integers(spec: Any) -> bool:
    """Whether a `tfds.features.TensorInfo` is of one integer, or of a sequence of them."""
    is_integer = np.dtype(spec.np_dtype) in (np.int32, np.int64)
    return is_integer and tuple(spec.shape) in ((), (None,))


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


def serialize_record(values: Mapping[str, bytes | memoryview | int | Sequence[int]]) -> bytes:
    """Returns the bytes of a `tf.train.Example` with its features sorted by name.

    Args:
      values: bytes, a number or numbers by the name of their feature.
    """
    features = {}
    for name, value in values.items():
        if isinstance(value, bytes | memoryview):
            features[name] = _bytes_feature(bytes(value))
        elif isinstance(value, int):
            features[name] = _integers_feature([value])
        else:
            features[name] = _integers_feature(value)
    return _serialize_sorted(features)


def _bytes_feature(value: bytes) -> tf_feature_pb2.Feature:
    return tf_feature_pb2.Feature(bytes_list=tf_feature_pb2.BytesList(value=[value]))


def _integers_feature(values: Iterable[int]) -> tf_feature_pb2.Feature:
    return tf_feature_pb2.Feature(int64_list=tf_feature_pb2.Int64List(value=values))


_EXAMPLE_FEATURES_TAG = b"\x0a"
"""The tag of `features`, the one field of an example: field 1, which is length-delimited."""


def _serialize_sorted(features: dict[str, tf_feature_pb2.Feature]) -> bytes:
    """Returns the bytes of an example with its features sorted by name.

    Each feature is removed from `features` when it is written, to free its memory.

    The features are a protobuf map, which protobuf writes in an order that changes from process to
    process. The bytes of a map are those of its entries, one after the other. So each entry is
    written as a map of its own.
    """
    entries = []
    for name in sorted(features):
        map_of_one = tf_feature_pb2.Features(feature={name: features.pop(name)})
        entries.append(map_of_one.SerializeToString())
        del map_of_one  # it may be as large as an image
    length = sum(map(len, entries))
    return b"".join([_EXAMPLE_FEATURES_TAG, _varint(length), *entries])


def _varint(number: int) -> bytes:
    """Returns a length as a protobuf varint: 7 bits per byte, the lowest first.

    The highest bit of a byte is set if another byte follows.

    References:
      https://protobuf.dev/programming-guides/encoding, "Base 128 Varints".
    """
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
