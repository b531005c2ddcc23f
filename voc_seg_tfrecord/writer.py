"""Records with the same bytes in every process and with every protobuf library."""

from collections.abc import Iterable, Iterator
from typing import Any

from etils import epath
from tensorflow_datasets.core import writer as tfds_writer
from tensorflow_datasets.proto import tf_example_pb2, tf_feature_pb2

_FEATURES_TAG = b"\x0a"  # field 1 of tf.train.Example, length-delimited


class StableExampleWriter(tfds_writer.ExampleWriter):
    """TFDS's example writer, with the features of each record sorted by name.

    The features of a `tf.train.Example` are a protobuf map, and protobuf serialises a map
    in an order that changes from process to process. Sorted, equal data is equal bytes.
    """

    def write(self, path: epath.PathLike, examples: Iterable[tuple[Any, bytes]]) -> Any:
        """Writes `(key, serialized tf.train.Example)` pairs to one shard; see TFDS."""
        return super().write(path, _sorted_features(examples))


def _sorted_features(examples: Iterable[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    example = tf_example_pb2.Example()
    for key, serialized in examples:
        example.ParseFromString(serialized)
        features = example.features.feature
        # Serialised messages may be joined, so each feature is serialised by itself.
        # protobuf's own deterministic order is another in each of its implementations.
        body = b"".join(
            tf_feature_pb2.Features(feature={name: features[name]}).SerializeToString()
            for name in sorted(features)
        )
        yield key, _FEATURES_TAG + _varint(len(body)) + body


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
