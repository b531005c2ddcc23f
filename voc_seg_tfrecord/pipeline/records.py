"""Selects records of a built dataset, as its files hold them, and parses them.

`tfds.load` parses in one stage and decodes in the next, and handing examples over takes time:
parsing and decoding in one stage saves an eighth (benchmarks/read.py). The records and their order
are those of `tfds.load`. Files on a disk are read by the number of a record too, in any order.

`select` and `divide` return a `Selection`: a stream of records and, from a disk, `NumberedRecords`,
which hold the same records by number. If ids are wanted, they first read each split once, as a
`_ScannedSplit`, take from each a `_PartOfSplit`, and join the parts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
import dataclasses
import functools
import itertools
from typing import Any, cast

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.named_lists import named_lists
from voc_seg_tfrecord.core.names import FILENAME, FILL, IMAGE, TILE_IMAGE_ID
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.core.wanted_ids import IdList, check_present, ids_in
from voc_seg_tfrecord.pipeline.watch import Watch
from voc_seg_tfrecord.pipeline.window import Example
from voc_seg_tfrecord.reading.metadata import bands_of
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

MAX_BYTES_IN_MEMORY = 256 << 20
"""Up to so many bytes of records of a list in a bucket stay in memory. Of more, each epoch reads
the splits and passes over records of other ids."""


def count_records(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split has; raises a `ConfigError` if it has none."""
    total = builder.info.splits[split].num_examples
    if not total:
        raise ConfigError(
            f"{builder.info.full_name}, split {split!r}",
            found="no examples",
            expected="a split that is not empty",
        )
    return total


def records(builder: tfds.core.DatasetBuilder, split: str) -> tf.data.Dataset:
    """Reads serialized examples, in the order of `tfds.load`; see `check_tfrecord`."""
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
    def find(cls, builder: tfds.core.DatasetBuilder, split: str) -> "NumberedRecords | None":
        """Finds the records of a split; None if they lie in a bucket.

        Raises:
          RecordError: naming a file that is missing, truncated, or has other records than the
            dataset's info says.
        """
        if is_bucket(builder.data_path):
            return None
        index = RecordIndex.open(builder, split)
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
    unknown = [name for name in names if name not in builder.info.features]
    if unknown:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(unknown)}"
            + did_you_mean(unknown[0], builder.info.features),
            expected=f"some of {', '.join(sorted(builder.info.features))}",
        )
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


@dataclasses.dataclass(frozen=True)
class Selection:
    """Some records of a built dataset.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      count: how many.
      watch: tells whether they are still those of the dataset that was opened.
      parts: the same by number, of several splits one after the other; empty in a bucket.
    """

    records: tf.data.Dataset
    count: int
    watch: Watch
    parts: tuple[NumberedRecords, ...] = ()

    def read(self, number: tf.Tensor) -> tf.Tensor:
        """Returns a record by its number. There must be parts."""
        return _read_by_number(self.parts, number)


def _read_by_number(parts: Sequence[NumberedRecords], number: tf.Tensor) -> tf.Tensor:
    """Returns a record, a scalar string, by its number in parts that follow each other."""
    if len(parts) == 1:
        return parts[0].read(number)
    ends = np.cumsum([len(part) for part in parts])
    readers = []
    for part, end in zip(parts, ends, strict=True):
        readers.append(functools.partial(_read_in_part, part, end - len(part), number))
    part_index = tf.searchsorted(tf.constant(ends), [number], side="right")[0]
    return tf.switch_case(part_index, readers)


def _read_in_part(part: NumberedRecords, first: int, number: tf.Tensor) -> tf.Tensor:
    """Reads a record of a part whose first record has the number `first`."""
    return part.read(number - first)


def select(builder: tfds.core.DatasetBuilder, split: IdList, *, partial: bool = False) -> Selection:
    """Returns the records of a split or of a list.

    Args:
      builder: of the built dataset.
      split: a split as everywhere in TFDS; or the name of a list, or image ids, which are
        looked for in all splits of the dataset. A tile is meant by its own id and by its image's.
      partial: whether the dataset may lack ids of a list (False).

    Raises:
      ConfigError: if there is nothing to read, or ids are missing or in several splits.
      RecordError: if a build has replaced the dataset since it was opened.
    """
    watch = Watch.start(builder)
    if not _is_list(builder, split):
        split = cast(str, split)  # or a ReadInstruction of TFDS, which has no types
        total = count_records(builder, split)  # of an empty split there is nothing to open
        stream = records(builder, split)
        numbered = NumberedRecords.find(builder, split)
        return Selection(stream, total, watch, () if numbered is None else (numbered,))
    where = builder.info.full_name + (f", list {split!r}" if isinstance(split, str) else "")
    wanted_ids = ids_in(split)
    splits = [name for name, info in builder.info.splits.items() if info.num_examples]
    scanned = [_ScannedSplit.read(builder, name) for name in splits]
    split_counts = Counter(itertools.chain.from_iterable(of_split.ids for of_split in scanned))
    present_ids = check_present(wanted_ids, split_counts, where, partial=partial)
    repeated_ids = [wanted_id for wanted_id in present_ids if split_counts[wanted_id] > 1]
    if repeated_ids:
        raise ConfigError(
            where,
            found=f"{len(repeated_ids)} of its {len(present_ids)} ids are in more than one split",
            expected="each id in one split",
            remedy="take the ids of one split with splits.load(builder, split, ids)",
        )
    parts = [of_split.only(of_split.is_named_by(present_ids)) for of_split in scanned]
    return _join(parts, watch, where)


def divide(
    builder: tfds.core.DatasetBuilder, split: str, labeled: IdList, *, partial: bool = False
) -> tuple[Selection, Selection]:
    """Returns the records of a split that are in a list, and all others; see `select`.

    Raises:
      ConfigError: if one of both is empty, or ids are missing.
      RecordError: if a build has replaced the dataset since it was opened.
    """
    where = f"{builder.info.full_name}, split {split!r}"
    watch = Watch.start(builder)
    count_records(builder, split)
    scanned = _ScannedSplit.read(builder, split)
    labeled_ids = check_present(ids_in(labeled), scanned.ids, where, partial=partial)
    is_labeled = scanned.is_named_by(labeled_ids)
    return (
        _join([scanned.only(is_labeled)], watch, f"{where}, labeled part"),
        _join([scanned.only(~is_labeled)], watch, f"{where}, unlabeled part"),
    )


@dataclasses.dataclass(frozen=True)
class _PartOfSplit:
    """Some records of a split.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      count: how many.
      bytes: of all of them.
      numbered: the same by number; None in a bucket.
    """

    records: tf.data.Dataset
    count: int
    bytes: int
    numbered: NumberedRecords | None


@dataclasses.dataclass(frozen=True, eq=False)
class _ScannedSplit:
    """The records of a split, with the ids and the length in bytes of each.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      numbered: the same by number; None in a bucket.
      ids_of_records: the ids by which a list may mean each record: its own and, if it is a tile,
        that of its image.
      lengths: the bytes of each, int64 `[N]`.
    """

    records: tf.data.Dataset
    numbered: NumberedRecords | None
    ids_of_records: list[tuple[str, ...]]
    lengths: np.ndarray

    @classmethod
    def read(cls, builder: tfds.core.DatasetBuilder, split: str) -> "_ScannedSplit":
        """Reads all records of a split once."""
        stream = records(builder, split)
        id_features = [FILENAME]
        if TILE_IMAGE_ID in builder.info.features:
            id_features.append(TILE_IMAGE_ID)
        parse = parser(builder, id_features)

        def ids_and_length(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            example = parse(record)
            return tf.stack([example[name] for name in id_features]), tf.strings.length(record)

        ids_of_records: list[tuple[str, ...]] = []
        lengths: list[int] = []
        for texts, batch_lengths in in_order(stream, ids_and_length).batch(64).as_numpy_iterator():
            for filename, *image_ids in texts.tolist():
                own_id = id_of_file(filename.decode())
                ids_of_records.append((own_id, *(text.decode() for text in image_ids)))
            lengths += batch_lengths.tolist()
        numbered = NumberedRecords.find(builder, split)
        return cls(stream, numbered, ids_of_records, np.array(lengths, np.int64))

    @functools.cached_property
    def ids(self) -> frozenset[str]:
        """All ids by which a list may mean a record."""
        return frozenset(itertools.chain.from_iterable(self.ids_of_records))

    def is_named_by(self, ids: Collection[str]) -> np.ndarray:
        """Returns which records a list of ids means, bool `[N]`."""
        wanted_ids = frozenset(ids)
        return np.array([not wanted_ids.isdisjoint(own) for own in self.ids_of_records], bool)

    def only(self, is_wanted: np.ndarray) -> _PartOfSplit:
        """Returns the records that are marked, bool `[N]`."""
        flags = tf.constant(is_wanted)
        wanted = self.records.enumerate().filter(lambda number, _: flags[number])
        return _PartOfSplit(
            records=wanted.map(lambda _, record: record),
            count=int(is_wanted.sum()),
            bytes=int(self.lengths[is_wanted].sum()),
            numbered=None if self.numbered is None else self.numbered.only(is_wanted),
        )


def _join(parts: Sequence[_PartOfSplit], watch: Watch, where: object) -> Selection:
    """Returns parts of several splits as one; what lies in a bucket in memory, if it is small."""
    parts = [part for part in parts if part.count]
    if not parts:
        raise ConfigError(
            where, found="no examples", expected="a list or a split that is not empty"
        )
    count = sum(part.count for part in parts)
    numbered = tuple(part.numbered for part in parts if part.numbered is not None)
    if numbered:
        read = functools.partial(_read_by_number, numbered)
        return Selection(in_order(tf.data.Dataset.range(count), read), count, watch, numbered)
    stream = parts[0].records
    for part in parts[1:]:
        stream = stream.concatenate(part.records)
    if sum(part.bytes for part in parts) <= MAX_BYTES_IN_MEMORY:
        stream = tf.data.Dataset.from_tensor_slices(list(stream.as_numpy_iterator()))
    return Selection(stream, count, watch)


def _is_list(builder: tfds.core.DatasetBuilder, split: IdList) -> bool:
    """Whether a split is given as the name of a list, or as image ids."""
    if isinstance(split, str):
        # A split's own name comes first: own data may have one called trainaug.
        return split not in builder.info.splits and split in named_lists()
    return isinstance(split, Collection)
