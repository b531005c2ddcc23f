"""Which records of a built dataset are read, as its files hold them, and how they are parsed.

`tfds.load` parses in one stage and decodes in the next, and handing examples over takes time:
parsing and decoding in one stage saves an eighth (benchmarks/read.py). The records and their order
are those of `tfds.load`. Files on a disk are read by the number of a record too, in any order.
"""

from collections.abc import Callable, Collection, Iterable
import dataclasses
import functools
from typing import Any, cast

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.core.named_lists import named_lists
from voc_seg_tfrecord.core.names import FILENAME, FILL, IMAGE
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.core.wanted_ids import IdList, check_present, ids_in
from voc_seg_tfrecord.pipeline.window import Example
from voc_seg_tfrecord.reading.dataset import bands_of, check_unchanged
from voc_seg_tfrecord.reading.places import Shards
from voc_seg_tfrecord.reading.records import check_tfrecord

_CYCLE, _BLOCK = 16, 16  # as TFDS reads: number of files in turn, records of each
# Bytes read at once. From a disk, what fits into the processor's cache takes a sixth less time per
# record than TFDS's 8 MB; from an object store, each read is a request.
_BUFFER, _REMOTE_BUFFER = 256 << 10, 8 << 20
_ONE_BUFFER = 128 << 10  # of one record in the middle of a file


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
    paths, skips, takes = zip(
        *((str(i.filename), i.skip, i.take) for i in instructions),
        strict=True,
    )
    buffer = _REMOTE_BUFFER if is_bucket(paths[0]) else _BUFFER
    return _interleaved(
        (list(paths), tf.constant(skips, tf.int64), tf.constant(takes, tf.int64)),
        lambda path, skip, take: (
            tf.data.TFRecordDataset(path, buffer_size=buffer).skip(skip).take(take)
        ),
    )


def _interleaved(pieces: Any, read: Callable[..., tf.data.Dataset]) -> tf.data.Dataset:
    """Reads pieces of files in the order of `tfds.load`."""
    return tf.data.Dataset.from_tensor_slices(pieces).interleave(
        read,
        cycle_length=_CYCLE,
        block_length=_BLOCK,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


@dataclasses.dataclass(frozen=True, eq=False)
class Places:
    """Records on a disk, by their numbers.

    Attributes:
      shards: reads a record by its number in the order of the files.
      numbers: int64 `[N]`, these numbers, in the order of `tfds.load`.
    """

    shards: Shards
    numbers: np.ndarray

    @classmethod
    def of(cls, builder: tfds.core.DatasetBuilder, split: str) -> "Places | None":
        """Finds the records of a split, None if they lie in a bucket.

        Raises:
          RecordError: naming a file that is missing, truncated, or has other records than the
            dataset's info says.
        """
        if is_bucket(builder.data_path):
            return None
        shards = Shards.of(builder, split)
        ends = np.cumsum(shards.lengths)
        ranges = (ends - shards.lengths, ends)
        numbers = _interleaved(ranges, lambda start, end: tf.data.Dataset.range(start, end))
        return cls(shards, np.fromiter(numbers.as_numpy_iterator(), np.int64, len(shards)))

    def only(self, keep: np.ndarray) -> "Places":
        """Returns some of them, bool `[N]`."""
        return dataclasses.replace(self, numbers=self.numbers[keep])

    def read(self, number: tf.Tensor) -> tf.Tensor:
        """Returns a record by its number in the order of `tfds.load`."""
        file, start = (tf.gather(column, number) for column in self.starts)
        of_record = {"output_types": [tf.string], "output_shapes": [[]]}
        record = tf.raw_ops.TFRecordDatasetV2(
            filenames=[tf.gather(self.shards.paths, file)],
            compression_type="",
            buffer_size=tf.constant(_ONE_BUFFER, tf.int64),
            byte_offsets=[start],
        )
        record = tf.raw_ops.IgnoreErrorsDataset(input_dataset=record, **of_record)
        nothing = tf.raw_ops.TensorDataset(components=[tf.constant(b"")], output_shapes=[[]])
        record = tf.raw_ops.ConcatenateDataset(
            input_dataset=record, another_dataset=nothing, **of_record
        )
        first = tf.raw_ops.TakeDataset(
            input_dataset=record, count=tf.constant(1, tf.int64), **of_record
        )
        (data,) = tf.raw_ops.DatasetToSingleElement(dataset=first, **of_record)
        data = tf.ensure_shape(data, [])
        # TensorFlow's error does not name the file. Python's function does, and takes longer.
        return tf.cond(data == b"", lambda: self._read_by_python(number), lambda: data)

    def _read_by_python(self, number: tf.Tensor) -> tf.Tensor:
        def read(number: np.ndarray) -> bytes:
            return self.shards.read(int(self.numbers[number]))

        return tf.ensure_shape(tf.numpy_function(read, [number], tf.string), [])

    @functools.cached_property
    def starts(self) -> tuple[np.ndarray, np.ndarray]:
        """The file of each record, and the byte at which its frame begins, int64 `[N]` each."""
        files, starts = self.shards.starts()
        return files[self.numbers], starts[self.numbers]


def parser(
    builder: tfds.core.DatasetBuilder, features: Iterable[str]
) -> Callable[[tf.Tensor], Example]:
    """Returns a function from a record to its example: named features, images still encoded.

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
    deep = bands_of(builder)
    encoded = {
        name: tfds.decode.SkipDecoding()
        for name in names
        if name in FILL and not (name == IMAGE and deep)
    }
    return lambda record: parser.deserialize_example(record, decoders=encoded)


def in_order(dataset: tf.data.Dataset, function: Callable[..., Any]) -> tf.data.Dataset:
    """Maps a function in several threads; the results come in the order of the dataset."""
    # Not converted, so that an error about an argument stays what it is.
    plain = tf.autograph.experimental.do_not_convert(function)
    return dataset.map(plain, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


KEPT = 256 << 20
"""Up to so many bytes of records of a list in a bucket are kept in memory. Of more, each epoch
reads the splits and passes over what is not wanted."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """Some records of a built dataset.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      count: how many.
      places: the same by number; of several splits, one behind the other. Empty in a bucket.
    """

    records: tf.data.Dataset
    count: int
    places: tuple[Places, ...] = ()

    def read(self, number: tf.Tensor) -> tf.Tensor:
        """Returns a record by its number. There must be places."""
        if len(self.places) == 1:
            return self.places[0].read(number)
        ends = np.cumsum([len(place.numbers) for place in self.places])

        def part(index: int) -> Callable[[], tf.Tensor]:
            start = ends[index] - len(self.places[index].numbers)
            return lambda: self.places[index].read(number - start)

        where = tf.searchsorted(tf.constant(ends), [number], side="right")[0]
        return tf.switch_case(where, [part(index) for index in range(len(ends))])


def select(builder: tfds.core.DatasetBuilder, split: IdList, *, partial: bool = False) -> Selection:
    """Returns the records of a split or of a list.

    Args:
      builder: of the built dataset.
      split: a split as everywhere in TFDS; or the name of a list, or image ids, which are
        looked for in all splits of the dataset.
      partial: whether the dataset may lack ids of a list (False).

    Raises:
      ConfigError: if there is nothing to read, or ids are missing or in several splits.
      RecordError: if a build has replaced the dataset since it was opened.
    """
    check_unchanged(builder)
    if not _is_list(builder, split):
        split = cast(str, split)  # or a ReadInstruction of TFDS, which has no types
        total = count_records(builder, split)  # of an empty split there is nothing to open
        stream = records(builder, split)
        places = Places.of(builder, split)
        return Selection(stream, total, (places,) if places else ())
    where = builder.info.full_name + (f", list {split!r}" if isinstance(split, str) else "")
    ids = ids_in(split)
    splits = [name for name, info in builder.info.splits.items() if info.num_examples]
    stream = {name: _Scanned.of(builder, name) for name in splits}
    everywhere = [i for scanned in stream.values() for i in scanned.ids]
    present = check_present(ids, everywhere, where, partial=partial)
    times = sum(i in present for i in everywhere)
    if times > len(present):
        raise ConfigError(
            where,
            found=f"{times - len(present)} of its {len(present)} ids are in more than one split",
            expected="each id in one split",
            remedy="take the ids of one split with splits.load(builder, split, ids)",
        )
    return _joined([scanned.only(present) for scanned in stream.values()], where)


def divide(
    builder: tfds.core.DatasetBuilder, split: str, labeled: IdList, *, partial: bool = False
) -> tuple[Selection, Selection]:
    """Returns the records of a split that are in a list, and all others; see `select`.

    Raises:
      ConfigError: if one of both is empty, or ids are missing.
    """
    where = f"{builder.info.full_name}, split {split!r}"
    count_records(builder, split)
    scanned = _Scanned.of(builder, split)
    present = check_present(ids_in(labeled), scanned.ids, where, partial=partial)
    others = frozenset(scanned.ids) - present
    return (
        _joined([scanned.only(present)], f"{where}, labeled part"),
        _joined([scanned.only(others)], f"{where}, unlabeled part"),
    )


@dataclasses.dataclass(frozen=True)
class _Scanned:
    """The records of a split, with the id and the length in bytes of each."""

    records: tf.data.Dataset
    places: Places | None
    ids: list[str]
    lengths: list[int]

    @classmethod
    def of(cls, builder: tfds.core.DatasetBuilder, split: str) -> "_Scanned":
        stream = records(builder, split)
        parse = parser(builder, [FILENAME])
        named = in_order(stream, lambda r: (parse(r)[FILENAME], tf.strings.length(r)))
        pairs = list(named.batch(64).as_numpy_iterator())
        names = [name for batch, _ in pairs for name in batch]
        lengths = [int(length) for _, batch in pairs for length in batch]
        ids = [image_id(name.decode()) for name in names]
        return cls(stream, Places.of(builder, split), ids, lengths)

    def only(self, ids: Collection[str]) -> tuple[Selection, int]:
        """Returns the records with these ids, and their length in bytes."""
        keep = np.array([i in ids for i in self.ids], bool)
        flags = tf.constant(keep)
        wanted = self.records.enumerate().filter(lambda number, _: flags[number])
        places = () if self.places is None else (self.places.only(keep),)
        selection = Selection(wanted.map(lambda _, record: record), int(keep.sum()), places)
        return selection, int(np.array(self.lengths, np.int64)[keep].sum())


def _joined(parts: list[tuple[Selection, int]], where: object) -> Selection:
    """Returns parts of several splits as one; what lies in a bucket in memory, if it is small."""
    parts = [(part, length) for part, length in parts if part.count]
    if not parts:
        raise ConfigError(
            where, found="no examples", expected="a list or a split that is not empty"
        )
    count = sum(part.count for part, _ in parts)
    places = tuple(place for part, _ in parts for place in part.places)
    if places:
        numbered = Selection(tf.data.Dataset.range(count), count, places)
        return dataclasses.replace(numbered, records=in_order(numbered.records, numbered.read))
    stream = parts[0][0].records
    for other, _ in parts[1:]:
        stream = stream.concatenate(other.records)
    if sum(length for _, length in parts) <= KEPT:
        stream = tf.data.Dataset.from_tensor_slices(list(stream.as_numpy_iterator()))
    return Selection(stream, count)


def _is_list(builder: tfds.core.DatasetBuilder, split: IdList) -> bool:
    if isinstance(split, str):
        # A split's own name comes first: own data may have one called trainaug.
        return split not in builder.info.splits and split in named_lists()
    return isinstance(split, Collection)
