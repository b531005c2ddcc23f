"""Selects records of a built dataset: those of a split, or those that a list of ids means.

`select` and `divide` return a `Selection`: a stream of records and, from a disk, `NumberedRecords`,
which hold the same records by number. If ids are wanted, they first read each split once, as a
`_ScannedSplit`, take from each a `_PartOfSplit`, and join the parts.
"""

from collections import Counter
from collections.abc import Collection, Sequence
import dataclasses
import functools
import itertools
from typing import cast

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.named_lists import IdList, check_present, ids_in, named_lists
from voc_seg_tfrecord.core.names import FILENAME, TILE_IMAGE_ID
from voc_seg_tfrecord.pipeline.records import NumberedRecords, in_order, parser, stream_records
from voc_seg_tfrecord.reading.dataset_files import Snapshot

MAX_BYTES_IN_MEMORY = 256 << 20
"""Up to so many bytes of records of a list in a bucket stay in memory. Of more, each epoch reads
the splits and passes over records of other ids."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """Some records of a built dataset.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      count: how many.
      snapshot: of the dataset, by which `after_check` tells whether a build has replaced it.
      parts: the same by number, of several splits one after the other; empty in a bucket.
    """

    records: tf.data.Dataset
    count: int
    snapshot: Snapshot
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
      partial: whether ids of the list may be missing (False).

    Raises:
      ConfigError: if there is nothing to read, or ids are missing or in several splits.
      RecordError: if a build replaced the dataset after it was opened.
    """
    if _is_list(builder, split):
        return _select_ids(builder, split, partial=partial)
    return _select_split(builder, cast(str, split))  # or a ReadInstruction of TFDS, without types


def _is_list(builder: tfds.core.DatasetBuilder, split: IdList) -> bool:
    """Returns whether a split is given as the name of a list, or as image ids."""
    if isinstance(split, str):
        # A split's own name comes first: own data may have one called trainaug.
        return split not in builder.info.splits and split in named_lists()
    return isinstance(split, Collection)


def _select_split(builder: tfds.core.DatasetBuilder, split: str) -> Selection:
    """Returns all records of a split or a slice; see `select`."""
    snapshot = Snapshot.take(builder)
    count = count_records(builder, split)  # before it is opened, which an empty split cannot be
    stream = stream_records(builder, split)
    numbered = NumberedRecords.find(builder, split, snapshot)
    return Selection(stream, count, snapshot, () if numbered is None else (numbered,))


def _select_ids(builder: tfds.core.DatasetBuilder, wanted: IdList, *, partial: bool) -> Selection:
    """Returns the records of a list, from all splits; see `select`."""
    snapshot = Snapshot.take(builder)
    where = builder.info.full_name
    if isinstance(wanted, str):
        where = f"{where}, list {wanted!r}"
    wanted_ids = ids_in(wanted)
    splits = [name for name, info in builder.info.splits.items() if info.num_examples]
    scanned = [_ScannedSplit.read(builder, name, snapshot) for name in splits]
    split_counts = Counter(itertools.chain.from_iterable(of_split.ids for of_split in scanned))
    present_ids = check_present(wanted_ids, split_counts, where, partial=partial)
    repeated_ids = [wanted_id for wanted_id in present_ids if split_counts[wanted_id] > 1]
    if repeated_ids:
        raise ConfigError(
            where,
            found=f"{len(repeated_ids)} of its {counted(len(present_ids), 'id')} in more than one "
            "split",
            expected="each id in one split",
            remedy="take the ids of one split with splits.load(builder, split, ids)",
        )
    parts = [of_split.only(of_split.is_named_by(present_ids)) for of_split in scanned]
    return _join(parts, snapshot, where)


def divide(
    builder: tfds.core.DatasetBuilder, split: str, labeled: IdList, *, partial: bool = False
) -> tuple[Selection, Selection]:
    """Returns the records of a split that are in a list, and all others; see `select`.

    Raises:
      ConfigError: if one of both is empty, or ids are missing.
      RecordError: if a build replaced the dataset after it was opened.
    """
    where = f"{builder.info.full_name}, split {split!r}"
    snapshot = Snapshot.take(builder)
    count_records(builder, split)
    scanned = _ScannedSplit.read(builder, split, snapshot)
    labeled_ids = check_present(ids_in(labeled), scanned.ids, where, partial=partial)
    is_labeled = scanned.is_named_by(labeled_ids)
    return (
        _join([scanned.only(is_labeled)], snapshot, f"{where}, labeled part"),
        _join([scanned.only(~is_labeled)], snapshot, f"{where}, unlabeled part"),
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
    def read(
        cls, builder: tfds.core.DatasetBuilder, split: str, snapshot: Snapshot
    ) -> "_ScannedSplit":
        """Reads all records of a split once."""
        stream = stream_records(builder, split)
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
        numbered = NumberedRecords.find(builder, split, snapshot)
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


def _join(parts: Sequence[_PartOfSplit], snapshot: Snapshot, where: object) -> Selection:
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
        return Selection(in_order(tf.data.Dataset.range(count), read), count, snapshot, numbered)
    stream = parts[0].records
    for part in parts[1:]:
        stream = stream.concatenate(part.records)
    if sum(part.bytes for part in parts) <= MAX_BYTES_IN_MEMORY:
        stream = tf.data.Dataset.from_tensor_slices(list(stream.as_numpy_iterator()))
    return Selection(stream, count, snapshot)


def count_records(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split has.

    Raises:
      ConfigError: if it has none.
    """
    total = builder.info.splits[split].num_examples
    if not total:
        raise ConfigError(
            f"{builder.info.full_name}, split {split!r}",
            found="no examples",
            expected="a split that is not empty",
        )
    return total
