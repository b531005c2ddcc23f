"""Refuses to read on if a build replaces a dataset while a `tf.data` pipeline reads it.

A pipeline may run for days and over many epochs. It opens files by their names, so that it would
read the records of the new dataset under the old names of classes. The check is an operation of
TensorFlow's and no function of Python's, so that it also runs where a dataset is sent to another
process.
"""

from collections.abc import Sequence
import dataclasses
import os

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.reading.identity import (
    OPEN_AGAIN,
    REPLACED,
    check_unchanged,
    identifying_files,
)

_MAX_BYTES_PER_RECORD = 256 << 10
"""Up to so many bytes of files are compared at each record: they are read in 10 to 50 us. Of more
bytes, and in a bucket, they are compared at the beginning of each epoch."""


@dataclasses.dataclass(frozen=True)
class Watch:
    """The identity of a dataset on disk, which is compared while its records are read.

    Attributes:
      paths: the files that would differ.
      contents: what they held when the watch began, one after the other.
    """

    paths: Sequence[str]
    contents: bytes

    @classmethod
    def start(cls, builder: tfds.core.DatasetBuilder) -> "Watch":
        """Begins to watch a dataset.

        Raises:
          RecordError: if a build replaced the dataset after it was opened.
        """
        files = identifying_files(builder)
        contents = b"".join(path.read_bytes() for path in files)
        check_unchanged(builder)  # after the files were read: one of the two sees any new dataset
        return cls([os.fspath(path) for path in files], contents)

    def after_check(self, value: tf.Tensor) -> tf.Tensor:
        """Returns a value, after the files were compared.

        Args:
          value: a scalar that is known only when the graph runs.

        Raises:
          tf.errors.InvalidArgumentError: when the graph runs, if they differ.
        """
        text = value if value.dtype == tf.string else tf.strings.as_string(value)
        # A path that is known before the graph runs would be read once, by TensorFlow's optimizer.
        # This text is empty, which the optimizer cannot know.
        empty_text_of_value = tf.strings.substr(text, 0, 0)
        parts = []
        for path in self.paths:
            parts.append(tf.io.read_file(tf.strings.join([path, empty_text_of_value])))
        contents = parts[0] if len(parts) == 1 else tf.strings.join(parts)
        message = f"{os.path.dirname(self.paths[0])}: {REPLACED}; {OPEN_AGAIN}"  # noqa: PTH120
        # `tf.debugging.Assert` would add a branch, which takes longer than all else here.
        check = tf.raw_ops.Assert(condition=tf.equal(contents, self.contents), data=[message])
        with tf.control_dependencies([check]):
            return tf.identity(value)

    def after_check_of_record(self, data: tf.Tensor) -> tf.Tensor:
        """Returns a record, after the files were compared, if they can be at each record."""
        return self.after_check(data) if self.is_cheap else data

    @property
    def is_cheap(self) -> bool:
        """Whether the files can be compared at each record."""
        return len(self.contents) <= _MAX_BYTES_PER_RECORD and not is_bucket(self.paths[0])

    def check_records_of(self, dataset: tf.data.Dataset) -> tf.data.Dataset:
        """Returns the same examples, which end with an error if another dataset is read."""

        def step(count: tf.Tensor, *example: object) -> tuple[tf.Tensor, object]:
            if self.is_cheap:
                count = self.after_check(count)
            else:
                count = tf.cond(count == 0, lambda: self.after_check(count), lambda: count)
            return count + 1, example[0] if len(example) == 1 else example

        # Not `map`, as the path has to depend on something; `scan` hands on a count.
        plain = tf.autograph.experimental.do_not_convert(step)
        return dataset.scan(np.int64(0), plain)
