"""Records with the same bytes in every process and with every protobuf library."""

from collections.abc import Iterable
from typing import Any

from etils import epath
from tensorflow_datasets.core import writer as tfds_writer

# Field 1, length-delimited: `features` of a tf.train.Example, each entry of its map, and
# the key of an entry are all tagged so.
_TAG = 0x0A


class StableExampleWriter(tfds_writer.ExampleWriter):
    """TFDS's example writer, with the features of each record sorted by name.

    The features of a `tf.train.Example` are a protobuf map, and protobuf serialises a map
    in an order that changes from process to process. Sorted, equal data is equal bytes.
    """

    def write(self, path: epath.PathLike, examples: Iterable[tuple[Any, bytes]]) -> Any:
        """Writes `(key, serialized tf.train.Example)` pairs to one shard; see TFDS."""
        return super().write(path, ((key, sort_features(record)) for key, record in examples))


def sort_features(record: bytes) -> bytes:
    """Sorts the features of a serialised example by name.

    The entries of the map are moved as they are. To parse and serialise them again, or to
    ask protobuf for its deterministic order, which differs between its
    implementations, would copy every image several times.

    Args:
      record: a serialised `tf.train.Example`.

    Returns:
      The same number of bytes, an equal example.

    Raises:
      ValueError: if the record is not laid out as protobuf writes it.
    """
    view = memoryview(record)
    length, start = _length(record, 0)
    if start + length != len(record):
        raise ValueError(f"record of {len(record)} bytes, features end at {start + length}")
    entries = []
    position = start
    while position < len(record):
        length, begin = _length(record, position)
        key_length, key_begin = _length(record, begin)
        entries.append(
            (record[key_begin : key_begin + key_length], view[position : begin + length])
        )
        position = begin + length
    entries.sort(key=lambda entry: entry[0])
    return b"".join([view[:start], *(entry for _, entry in entries)])


def _length(record: bytes, position: int) -> tuple[int, int]:
    """Reads the length of the field at a position, and where its content begins."""
    if record[position] != _TAG:
        raise ValueError(f"record with tag {record[position]} at byte {position}, not {_TAG}")
    number = shift = 0
    while True:
        position += 1
        byte = record[position]
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, position + 1
        shift += 7
