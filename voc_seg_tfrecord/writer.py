"""Records with the same bytes in every process."""

from collections.abc import Iterable, Iterator
from typing import Any

from etils import epath
from tensorflow_datasets.core import writer as tfds_writer
from tensorflow_datasets.proto import tf_example_pb2


class StableExampleWriter(tfds_writer.ExampleWriter):
    """TFDS's example writer, with the features of each record in one fixed order.

    A `tf.train.Example` is a protobuf map, and protobuf serialises a map in an order that
    changes from process to process. Writing the map sorted makes equal data equal bytes.
    """

    def write(self, path: epath.PathLike, examples: Iterable[tuple[Any, bytes]]) -> Any:
        """Writes `(key, serialized tf.train.Example)` pairs to one shard; see TFDS."""
        return super().write(path, _stable(examples))


def _stable(examples: Iterable[tuple[Any, bytes]]) -> Iterator[tuple[Any, bytes]]:
    example = tf_example_pb2.Example()
    for key, serialized in examples:
        example.ParseFromString(serialized)
        yield key, example.SerializeToString(deterministic=True)
