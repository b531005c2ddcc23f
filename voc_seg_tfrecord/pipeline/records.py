"""Reads the records of a built dataset, as its files hold them, and parses them.

`tfds.load` parses in one stage and decodes in the next, and handing examples over takes time:
parsing and decoding in one stage saves an eighth (benchmarks/read.py). The records and their order
are those of `tfds.load`. Files on a disk are read by the number of a record too, in any order.

A pipeline may run for days and over many epochs. It opens files by their names, so that it would
read the records of a new build under the old names of classes. `after_check` refuses it: an
operation of TensorFlow's and no function of Python's, so that it also runs where a dataset is sent
to another process.
"""

from collections.abc import Callable, Iterable
import dataclasses
import functools
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.names import FILENAME, FILL, IMAGE
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.pipeline.window import Example
from voc_seg_tfrecord.reading.dataset_files import OPEN_AGAIN, REPLACED, Snapshot
from voc_seg_tfrecord.reading.metadata import bands_of, check_feature_names
from voc_seg_tfrecord.reading.record_index import RecordIndex
from voc_seg_tfrecord.reading.records import check_tfrecord

# As TFDS reads.
_FILES_IN_TURN = 16
_RECORDS_PER_TURN = 16

# From a disk, what fits into the processor's cache takes a sixth less time per record than TFDS's
# 8 MB; from an object store, each read is a request.
_DISK_BUFFER_BYTES = 256 << 10
_BUCKET_BUFFER_BYTES = 8 << 20
_SINGLE_RECORD_BUFFER_BYTES = 128 << 10
"""Bytes read at once for one record in the middle of a file."""


def stream_records(builder: tfds.core.DatasetBuilder, split: str) -> tf.data.Dataset:
    """Returns the serialized examples of a split, in the order of `tfds.load`.

    Raises:
      ConfigError: if the dataset is not in TFRecord files.
    """
    check_tfrecord(builder)
    instructions = builder.info.splits[split].file_instructions
    paths = [str(instruction.filename) for instruction in instructions]
    skips = tf.constant([instruction.skip for instruction in instructions], tf.int64)
    takes = tf.constant([instruction.take for instruction in instructions], tf.int64)
    buffer_bytes = _BUCKET_BUFFER_BYTES if is_bucket(paths[0]) else _DISK_BUFFER_BYTES

    def read_file(path: tf.Tensor, skip: tf.Tensor, take: tf.Tensor) -> tf.data.Dataset:
        return tf.data.TFRecordDataset(path, buffer_size=buffer_bytes).skip(skip).take(take)

    return _interleave((paths, skips, takes), read_file)


def _interleave(files: Any, read_file: Callable[..., tf.data.Dataset]) -> tf.data.Dataset:
    """Reads files, or pieces of them, in the order of `tfds.load`.

    Args:
      files: what describes them: arrays or lists of one length.
      read_file: returns the records of one file by its entry of each array.
    """
    return tf.data.Dataset.from_tensor_slices(files).interleave(
        read_file,
        cycle_length=_FILES_IN_TURN,
        block_length=_RECORDS_PER_TURN,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class NumberedRecords:
    """Records on a disk, by their numbers in the order of `tfds.load`.

    Attributes:
      index: reads a record by its number in the order of the files, its `index_number`.
      index_numbers: that number of each record, int64 `[N]`.
    """

    index: RecordIndex
    index_numbers: np.ndarray

    @classmethod
    def find(
        cls, builder: tfds.core.DatasetBuilder, split: str, snapshot: Snapshot
    ) -> "NumberedRecords | None":
        """Finds the records of a split; None if they lie in a bucket.

        Raises:
          RecordError: naming a file that is missing, truncated, or has other records than the
            dataset's info says; or if a build has replaced the dataset since its snapshot.
        """
        if is_bucket(builder.data_path):
            return None
        index = RecordIndex.open(builder, split, snapshot)
        ends = np.cumsum(index.lengths)
        starts = ends - index.lengths
        index_numbers = _interleave((starts, ends), tf.data.Dataset.range)
        return cls(index, np.fromiter(index_numbers.as_numpy_iterator(), np.int64, len(index)))

    def __len__(self) -> int:
        return len(self.index_numbers)

    def only(self, is_wanted: np.ndarray) -> "NumberedRecords":
        """Returns those that are marked, bool `[N]`."""
        return dataclasses.replace(self, index_numbers=self.index_numbers[is_wanted])

    def read(self, number: tf.Tensor) -> tf.Tensor:
        """Returns a record, a scalar string, by its number."""
        path = tf.gather(self.index.paths, tf.gather(self._frame_starts.path_numbers, number))
        data = _read_at(path, tf.gather(self._frame_starts.starts, number))
        # TensorFlow's error does not name the file. Python's function does, and takes longer.
        return tf.cond(data == b"", lambda: self._read_by_python(number), lambda: data)

    def _read_by_python(self, number: tf.Tensor) -> tf.Tensor:
        def read(number: np.ndarray) -> bytes:
            return self.index.read(int(self.index_numbers[number]))

        return tf.ensure_shape(tf.numpy_function(read, [number], tf.string), [])

    @functools.cached_property
    def _frame_starts(self) -> "_FrameStarts":
        path_numbers, starts = self.index.frame_starts()
        return _FrameStarts(path_numbers[self.index_numbers], starts[self.index_numbers])


@dataclasses.dataclass(frozen=True, eq=False)
class _FrameStarts:
    """Where each record begins, by its number.

    Attributes:
      path_numbers: the file, as its number in `RecordIndex.paths`, int64 `[N]`.
      starts: the byte at which its frame begins, int64 `[N]`.
    """

    path_numbers: np.ndarray
    starts: np.ndarray


def _read_at(path: tf.Tensor, start: tf.Tensor) -> tf.Tensor:
    """Returns the record whose frame begins at a byte; empty if it is damaged or not there.

    These are operations of `tf.data`, whose classes take no offset.
    """
    of_records = {"output_types": [tf.string], "output_shapes": [[]]}
    record = tf.raw_ops.TFRecordDatasetV2(
        filenames=[path],
        compression_type="",
        buffer_size=tf.constant(_SINGLE_RECORD_BUFFER_BYTES, tf.int64),
        byte_offsets=[start],
    )
    record = tf.raw_ops.IgnoreErrorsDataset(input_dataset=record, **of_records)
    nothing = tf.raw_ops.TensorDataset(components=[tf.constant(b"")], output_shapes=[[]])
    record_or_nothing = tf.raw_ops.ConcatenateDataset(
        input_dataset=record, another_dataset=nothing, **of_records
    )
    first = tf.raw_ops.TakeDataset(
        input_dataset=record_or_nothing, count=tf.constant(1, tf.int64), **of_records
    )
    (data,) = tf.raw_ops.DatasetToSingleElement(dataset=first, **of_records)
    return tf.ensure_shape(data, [])


def parser(
    builder: tfds.core.DatasetBuilder, features: Iterable[str]
) -> Callable[[tf.Tensor], Example]:
    """Returns a function from a record to its example: named features, images still encoded.

    The file name is always among the features, because seeds and ids are made from it.

    Raises:
      ConfigError: if the dataset has no such feature.
    """
    names = sorted({*features, FILENAME})
    check_feature_names(builder, names)
    parser = tfds.features.FeaturesDict({name: builder.info.features[name] for name in names})
    # Images of other bands are decoded here, as only TFDS's feature knows their dtype.
    decoded_here = {IMAGE} if bands_of(builder) else set()
    encoded = {}
    for name in names:
        if name in FILL and name not in decoded_here:
            encoded[name] = tfds.decode.SkipDecoding()
    return lambda record: parser.deserialize_example(record, decoders=encoded)


def in_order(dataset: tf.data.Dataset, function: Callable[..., Any]) -> tf.data.Dataset:
    """Maps a function in several threads; the results come in the order of the dataset."""
    # Not converted, so that an error about an argument stays what it is.
    plain = tf.autograph.experimental.do_not_convert(function)
    return dataset.map(plain, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


def after_check(snapshot: Snapshot, value: tf.Tensor) -> tf.Tensor:
    """Returns a value, after the files of a dataset were compared with its snapshot.

    Args:
      snapshot: of the dataset.
      value: a scalar that is known only when the graph runs.

    Raises:
      tf.errors.InvalidArgumentError: when the graph runs, if a build has replaced the dataset.
    """
    text = value if value.dtype == tf.string else tf.strings.as_string(value)
    # A path that is known before the graph runs would be read once, by TensorFlow's optimizer.
    # This text is empty, which the optimizer cannot know.
    empty_text_of_value = tf.strings.substr(text, 0, 0)
    parts = []
    for path in snapshot.paths:
        parts.append(tf.io.read_file(tf.strings.join([path, empty_text_of_value])))
    contents = parts[0] if len(parts) == 1 else tf.strings.join(parts)
    is_same = tf.equal(contents, snapshot.contents)
    message = f"{snapshot.folder}: {REPLACED}; {OPEN_AGAIN}"
    # `tf.debugging.Assert` would add a branch, which takes longer than all else here.
    check = tf.raw_ops.Assert(condition=is_same, data=[message])
    with tf.control_dependencies([check]):
        return tf.identity(value)


def after_check_of_record(snapshot: Snapshot, data: tf.Tensor) -> tf.Tensor:
    """Returns a record, after the files were compared; in a bucket only epochs compare them."""
    return data if is_bucket(snapshot.folder) else after_check(snapshot, data)


def check_records_of(snapshot: Snapshot, dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Returns the same examples, which end with an error if a build replaces the dataset.

    In a bucket the files are compared before the first example alone.
    """

    def step(count: tf.Tensor, *example: object) -> tuple[tf.Tensor, object]:
        if is_bucket(snapshot.folder):
            count = tf.cond(count == 0, lambda: after_check(snapshot, count), lambda: count)
        else:
            count = after_check(snapshot, count)
        return count + 1, example[0] if len(example) == 1 else example

    # Not `map`, as the path has to depend on something; `scan` hands on a count.
    plain = tf.autograph.experimental.do_not_convert(step)
    return dataset.scan(np.int64(0), plain)
