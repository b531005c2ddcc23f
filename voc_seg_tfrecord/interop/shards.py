"""The records of a built dataset, as its shards hold them.

TFRecord and ArrayRecord files are read without TensorFlow, which takes seconds to import and
some 600 MB. Files of other formats that TFDS writes are read by TFDS itself.
"""

from collections.abc import Iterator
import itertools
import os

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.interop import framing

_BATCH = 64  # records that are read at once

_Piece = tuple[epath.Path, int, int | None, int]
"""A shard, how many of its records to leave out and to read (None: all), how many it has."""


def read(
    builder: tfds.core.DatasetBuilder, split: str, *, complete: bool = True
) -> Iterator[bytes]:
    """Yields a split's serialized examples, shard after shard.

    Args:
      builder: of a built dataset.
      split: a split's name, or a slice such as `train[:10]`.
      complete: whether there must be as many records as the dataset's info says.

    Raises:
      RecordError: naming a shard that is missing, truncated or damaged; or, at the end, if
        records are lost, as when a shard was cut at the end of a record.
    """
    count = 0
    for path, skip, take, length in _pieces(builder, split):
        if not path.exists():
            raise _unreadable(path, "no such file", length)
        records = _shard(builder.info.file_format, path, length)
        stop = None if take is None else skip + take
        for record in itertools.islice(records, skip, stop):
            count += 1
            yield record
    expected = builder.info.splits[split].num_examples
    if complete and count != expected:
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=f"{count} records",
            expected=f"{expected} records, as the dataset's info says",
            remedy="copy the dataset again, or build it again",
        )


def _pieces(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[_Piece]:
    """Yields what to read of each shard; nothing of shards that hold no record."""
    info = builder.info.splits[split]
    if split in builder.info.splits:
        for path, length in zip(info.filepaths, info.shard_lengths, strict=True):
            if length:
                yield path, 0, None, length
        return
    for one in info.file_instructions:
        take = None if one.takes_all else one.take
        yield epath.Path(one.filename), one.skip, take, one.examples_in_shard


def _shard(file_format: tfds.core.FileFormat, path: epath.Path, length: int) -> Iterator[bytes]:
    """Yields the records of one shard."""
    formats = tfds.core.FileFormat
    readers = {formats.TFRECORD: _tfrecord, formats.ARRAY_RECORD: _array_record}
    try:
        if file_format in readers:
            yield from readers[file_format](path)
        else:
            yield from _by_tfds(file_format, path)
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        raise _unreadable(path, " ".join(str(error).split()), length) from None


def _tfrecord(path: epath.Path) -> Iterator[bytes]:
    for _, record in framing.read(path):
        yield record


def _array_record(path: epath.Path) -> Iterator[bytes]:
    from array_record.python import array_record_data_source

    source = array_record_data_source.ArrayRecordDataSource([os.fspath(path)])
    for start in range(0, len(source), _BATCH):
        yield from source.__getitems__(range(start, min(start + _BATCH, len(source))))


def _by_tfds(file_format: tfds.core.FileFormat, path: epath.Path) -> Iterator[bytes]:
    import tensorflow as tf
    from tensorflow_datasets.core import file_adapters

    adapter = file_adapters.ADAPTER_FOR_FORMAT[file_format]
    try:
        yield from adapter.make_tf_data(os.fspath(path)).as_numpy_iterator()
    except tf.errors.OpError as error:
        raise OSError(str(error)) from None


def _unreadable(path: epath.Path, found: str, length: int) -> RecordError:
    return RecordError(
        path,
        found=found,
        expected=f"a complete shard of {length} records",
        remedy="copy the shard again, or build the dataset again",
    )
