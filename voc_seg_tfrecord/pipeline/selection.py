"""Which records are read: a split, or the ids of a list wherever they lie in a dataset."""

from collections.abc import Collection
import dataclasses

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.facts import named_lists
from voc_seg_tfrecord.facts.wanted import Wanted, check_held, wanted_ids
from voc_seg_tfrecord.features import FILENAME
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.pipeline import records

KEPT = 256 << 20
"""Up to so many bytes of records of a list are kept in memory. Of more, each epoch reads the
splits and passes over what is not wanted."""


@dataclasses.dataclass(frozen=True)
class Selection:
    """Some records of a built dataset.

    Attributes:
      records: serialized examples, in the order of `tfds.load`.
      count: how many.
    """

    records: tf.data.Dataset
    count: int


def select(builder: tfds.core.DatasetBuilder, split: Wanted, *, partial: bool = False) -> Selection:
    """Returns the records of a split or of a list.

    Args:
      builder: of the built dataset.
      split: a split as everywhere in TFDS; or the name of a list, or image ids, which are
        looked for in all splits of the dataset.
      partial: whether the dataset may lack ids of a list (False).

    Raises:
      ConfigError: if there is nothing to read, or ids are missing or in several splits.
    """
    if not _is_list(builder, split):
        total = records.count(builder, split)  # of an empty split there is nothing to open
        return Selection(records.records(builder, split), total)
    where = (
        f"{builder.info.full_name}, list {split!r}"
        if isinstance(split, str)
        else (builder.info.full_name)
    )
    ids = wanted_ids(split)
    splits = [name for name, info in builder.info.splits.items() if info.num_examples]
    found = {name: _Scanned.of(builder, name) for name in splits}
    everywhere = [i for scanned in found.values() for i in scanned.ids]
    held = check_held(ids, everywhere, where, partial=partial)
    times = sum(i in held for i in everywhere)
    if times > len(held):
        raise ConfigError(
            where,
            found=f"{times - len(held)} of its {len(held)} ids are in more than one split",
            expected="each id in one split",
            remedy="take the ids of one split with splits.load(builder, split, ids)",
        )
    return _joined([scanned.only(held) for scanned in found.values()], where)


def divide(
    builder: tfds.core.DatasetBuilder, split: str, labelled: Wanted, *, partial: bool = False
) -> tuple[Selection, Selection]:
    """Returns the records of a split that are in a list, and all others.

    Args:
      builder: of the built dataset.
      split: a split as everywhere in TFDS.
      labelled: the name of a list, or image ids.
      partial: whether the split may lack ids of the list (False).

    Raises:
      ConfigError: if one of both is empty, or ids are missing.
    """
    where = f"{builder.info.full_name}, split {split!r}"
    records.count(builder, split)
    scanned = _Scanned.of(builder, split)
    held = check_held(wanted_ids(labelled), scanned.ids, where, partial=partial)
    others = frozenset(scanned.ids) - held
    return tuple(
        _joined([scanned.only(part)], f"{where}, {name}")
        for part, name in ((held, "labelled part"), (others, "unlabelled part"))
    )


@dataclasses.dataclass(frozen=True)
class _Scanned:
    """The records of a split, with the id and the length in bytes of each."""

    records: tf.data.Dataset
    ids: list[str]
    lengths: list[int]

    @classmethod
    def of(cls, builder: tfds.core.DatasetBuilder, split: str) -> "_Scanned":
        found = records.records(builder, split)
        parse = records.parser(builder, [FILENAME])
        named = found.map(
            lambda record: (parse(record)[FILENAME], tf.strings.length(record)),
            num_parallel_calls=tf.data.AUTOTUNE,
            deterministic=True,
        )
        pairs = list(named.batch(64).as_numpy_iterator())
        names = [name for batch, _ in pairs for name in batch]
        lengths = [int(length) for _, batch in pairs for length in batch]
        return cls(found, [image_id(name.decode()) for name in names], lengths)

    def only(self, ids: Collection[str]) -> tuple[tf.data.Dataset, int, int]:
        """Returns the records with these ids, how many, and their length in bytes."""
        wanted = np.array([i in ids for i in self.ids], bool)
        flags = tf.constant(wanted)
        kept = self.records.enumerate().filter(lambda number, _: flags[number])
        length = int(np.array(self.lengths, np.int64)[wanted].sum())
        return kept.map(lambda _, record: record), int(wanted.sum()), length


def _joined(parts: list[tuple[tf.data.Dataset, int, int]], where: object) -> Selection:
    """Returns parts of several splits as one, in memory if it is small."""
    parts = [part for part in parts if part[1]]
    if not parts:
        raise ConfigError(
            where, found="no examples", expected="a list or a split that is not empty"
        )
    found = parts[0][0]
    for other, *_ in parts[1:]:
        found = found.concatenate(other)
    if sum(length for *_, length in parts) <= KEPT:
        found = tf.data.Dataset.from_tensor_slices(list(found.as_numpy_iterator()))
    return Selection(found, sum(count for _, count, _ in parts))


def _is_list(builder: tfds.core.DatasetBuilder, split: Wanted) -> bool:
    if isinstance(split, str):
        # A split's own name comes first: own data may have one called trainaug.
        return split not in builder.info.splits and split in named_lists.named()
    return isinstance(split, Collection)
