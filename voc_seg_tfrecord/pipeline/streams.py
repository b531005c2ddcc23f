"""Reads the examples of a selection over epochs, in the order that a seed gives.

`read` gives single examples. `batches` takes an `epoch_stream`.
"""

from collections.abc import Callable, Sequence
import dataclasses
import functools
import itertools
import warnings

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.named_lists import IdList
from voc_seg_tfrecord.core.names import FILENAME, LABELS, MASK, SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.pipeline.records import (
    after_check,
    after_check_of_record,
    in_order,
    parser,
)
from voc_seg_tfrecord.pipeline.seeds import epoch_seed, example_seed
from voc_seg_tfrecord.pipeline.selection import Selection, select
from voc_seg_tfrecord.pipeline.window import Example, Examples, decode
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.reading.dataset_files import Snapshot
from voc_seg_tfrecord.reading.epoch_order import (
    Balance,
    BalanceBy,
    EpochOrder,
    balance_classes,
    check_balance,
    check_seed,
)

SEED = "seed"
"""Name under which `read` puts an example's seed beside its features."""


def read(
    dataset: BuiltDataset,
    split: IdList,
    *,
    features: Sequence[str] = SEGMENTATION,
    seed: int = 0,
    shuffle: bool | int = False,
    epochs: int | None = 1,
    first_epoch: int = 0,
    partial: bool = False,
    balance: BalanceBy | None = None,
    balance_threshold: float | None = None,
    decoded: bool = False,
    data_dir: PathLike | None = None,
) -> Examples:
    """Reads examples, each with its seed. They are decoded only if `decoded` is set.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: a split as in TFDS: `train`, `train+validation`, `train[:80%]`. Or the name of a
        published list, such as `semi_1_16`, or image ids: these are looked up in all splits, for
        which every record is read once more.
      features: the features to read; others are skipped. `image/filename` is always read, because
        the seed is made from it.
      seed: seed for the order and for the examples' seeds, from 0 to 2**31 - 1 (0).
      shuffle: True gives a new random order of all examples in each epoch. False, the default,
        keeps the order of the records, which is TFDS's hash order. A number is the size of a
        shuffle buffer; an example then comes at about the same time in every epoch. For a dataset
        in a bucket, True needs a buffer of all records, about 0.1 GB per thousand.
      epochs: number of epochs, each with other seeds and, if shuffled, another order (1). A
        second iteration gives the next epochs; Keras iterates again for each of its own epochs.
        None repeats without end, and a second iteration begins with the first epoch again.
      first_epoch: number of the first epoch, from 0 (0). To resume a training after three epochs,
        give 3.
      partial: whether ids of the list may be missing (False).
      balance: `classes` reads images with rare classes more often; see `training_batches`. None,
        the default, reads each example once per epoch.
      balance_threshold: see `training_batches` (1).
      decoded: whether to decode images and masks (False). This is faster than mapping
        `pipeline.decode` over the result.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      A dataset of examples whose image and masks are scalar strings, with `seed`, int64 `[2]`.
      With `decoded`, image is uint8 `[H, W, 3]` and masks are uint8 `[H, W, 1]`.

    Raises:
      ConfigError: if the split is empty, or a feature or an id is missing.
      RecordError: if a build replaced the dataset after it was opened.
      tf.errors.InvalidArgumentError: when the examples are read, if a build has replaced it
        meanwhile.
    """
    builder = as_builder(dataset, data_dir)
    parse = parser(builder, features)
    selection = select(builder, split, partial=partial)
    stream = epoch_stream(
        selection,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        balance=balanced(builder, selection, balance, balance_threshold),
    )

    def prepare(epoch: tf.Tensor, draw: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, record = draw
        example = parse(stream.load(record))
        own_seed = example_seed(example, seed=seed, epoch=epoch, copy=copy)
        example = {**example, SEED: own_seed}
        return decode(example) if decoded else example

    return in_order(stream.draws, prepare)


_MIN_BUFFER_SHARE = 0.1
"""A smaller buffer, as a share of the examples, hardly shuffles."""


@dataclasses.dataclass(frozen=True)
class Stream:
    """The records of a run in its order.

    Attributes:
      draws: `(epoch, (copy, record))`; without a balance each epoch has each record once, as copy
        0. `record` is what `load` takes.
      load: returns the bytes of the `record` of a draw.
    """

    draws: tf.data.Dataset
    load: Callable[[tf.Tensor], tf.Tensor]

    @classmethod
    def of_draws(
        cls, draws: tf.data.Dataset, count: int | None, load: Callable[[tf.Tensor], tf.Tensor]
    ) -> "Stream":
        """Returns a stream of so many draws, None for no end, with the options that it needs."""
        cardinality = tf.data.INFINITE_CARDINALITY if count is None else count
        counted = draws.apply(tf.data.experimental.assert_cardinality(cardinality))
        return cls(counted.with_options(_options()), load)


def epoch_stream(
    selection: Selection,
    *,
    seed: int = 0,
    shuffle: bool | int = False,
    epochs: int | None = 1,
    first_epoch: int = 0,
    per_batch: int | None = None,
    shard: tuple[int, int] = (0, 1),
    balance: Balance | None = None,
) -> Stream:
    """Streams records; the arguments are those of `read` and of `batches.training_batches`.

    With `per_batch`, the number of records of all ranks in a batch, an epoch ends with the last
    full batch. A split that is smaller than one batch is streamed completely, and the stream as a
    whole ends with the last full batch.
    """
    check_shuffle(shuffle, selection.count)
    _check_epochs(epochs, first_epoch)
    reader = epoch_reader(
        selection, seed=seed, shuffle=shuffle, per_batch=per_batch, balance=balance
    )
    draws = epoch_numbers(first_epoch, epochs).flat_map(reader.draws_of)
    # Ranks divide the stream and not each epoch: an epoch of fewer records than ranks would leave
    # some of them without any.
    rank, ranks = shard
    count = None
    if epochs is not None:
        total = epochs * reader.epoch_length
        total -= total % (per_batch or 1)
        draws = draws.take(total)
        count = len(range(rank, total, ranks))
    return Stream.of_draws(draws.shard(ranks, rank), count, reader.load)


@dataclasses.dataclass(frozen=True)
class EpochReader:
    """Reads one epoch or another of a selection.

    Attributes:
      snapshot: of the dataset, by which it is compared at each epoch.
      epoch_length: how many records an epoch has.
      records_of: returns `(copy, record)` of each record of an epoch, in its order, by its number.
      load: returns the bytes of a `record`; see `Stream`.
    """

    snapshot: Snapshot
    epoch_length: int
    records_of: Callable[[tf.Tensor], tf.data.Dataset]
    load: Callable[[tf.Tensor], tf.Tensor]

    def draws_of(self, epoch: tf.Tensor) -> tf.data.Dataset:
        """Returns the draws of an epoch, as in `Stream`, by its number, scalar int64."""
        epoch = after_check(self.snapshot, epoch)
        records = self.records_of(epoch).take(self.epoch_length)
        return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(epoch).repeat(), records))


def epoch_reader(
    selection: Selection,
    *,
    seed: int,
    shuffle: bool | int,
    per_batch: int | None,
    balance: Balance | None = None,
) -> EpochReader:
    """Returns what reads an epoch of a selection; the arguments are those of `epoch_stream`."""
    check_seed(seed)
    order = EpochOrder(selection.count, seed, shuffle, per_batch or 1, balance)
    epoch_length = selection.count
    if per_batch is not None and per_batch <= selection.count:
        epoch_length -= selection.count % per_batch
    if selection.parts and (shuffle or balance):
        return _reader_by_number(selection, order, epoch_length)
    return _reader_in_stream_order(selection, order, epoch_length)


def _reader_by_number(selection: Selection, order: EpochOrder, epoch_length: int) -> EpochReader:
    """Returns a reader whose draws have numbers of records, each of which is read when loaded."""
    return EpochReader(
        selection.snapshot,
        epoch_length,
        records_of=functools.partial(_numbers_of_epoch, order),
        load=lambda number: after_check_of_record(selection.snapshot, selection.read(number)),
    )


def _reader_in_stream_order(
    selection: Selection, order: EpochOrder, epoch_length: int
) -> EpochReader:
    """Returns a reader whose draws have the records themselves, shuffled by a buffer at most."""
    return EpochReader(
        selection.snapshot,
        epoch_length,
        records_of=functools.partial(_records_of_epoch, selection.records, order),
        load=functools.partial(after_check_of_record, selection.snapshot),
    )


def _options() -> tf.data.Options:
    options = tf.data.Options()
    # The order depends on seed and epoch alone, but TensorFlow takes a shuffle, and a function of
    # Python's, for something with a state: without this no iterator could be saved in a checkpoint.
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    # With several workers each takes a part of the examples. By default TensorFlow divides files,
    # and takes this for a stream that reads one file.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return options


def epoch_numbers(first_epoch: int, epochs: int | None) -> tf.data.Dataset:
    """Returns the numbers of epochs, scalar int64; whoever iterates again gets the next ones.

    Args:
      first_epoch: the first number.
      epochs: how many; None for no end, and then whoever iterates again begins again.
    """
    if epochs is None:
        return tf.data.Dataset.counter(first_epoch)
    passes = itertools.count()

    def first_of_pass(_: np.ndarray) -> np.int64:
        return np.int64(first_epoch + epochs * next(passes))

    def numbers_of_pass(zero: tf.Tensor) -> tf.data.Dataset:
        first = tf.numpy_function(first_of_pass, [zero], tf.int64)
        first = tf.ensure_shape(first, [])
        return tf.data.Dataset.range(first, first + epochs)

    return tf.data.Dataset.from_tensors(0).flat_map(numbers_of_pass)


def _numbers_of_epoch(order: EpochOrder, epoch: tf.Tensor) -> tf.data.Dataset:
    """Returns `(copy, number)` of each record of an epoch."""
    types = (tf.int64, tf.int64)
    columns = tf.numpy_function(order.list_records, [epoch], types, stateful=False)
    for column in columns:
        column.set_shape([None])
    return tf.data.Dataset.from_tensor_slices(tuple(columns))


def _records_of_epoch(
    records: tf.data.Dataset, order: EpochOrder, epoch: tf.Tensor
) -> tf.data.Dataset:
    """Returns `(copy, record)` of each record of an epoch, with a buffer if they are shuffled."""
    examples = _repeat_records(records, order, epoch)
    buffer = order.count if order.shuffle is True else order.shuffle
    if not buffer:
        return examples
    if not tf.executing_eagerly():
        # Of this function's graph alone: else a global seed would change the order.
        tf.compat.v1.set_random_seed(1)
    seed = epoch_seed(order.seed, epoch)
    return examples.shuffle(buffer, seed=seed, reshuffle_each_iteration=False)


def _repeat_records(
    records: tf.data.Dataset, order: EpochOrder, epoch: tf.Tensor
) -> tf.data.Dataset:
    """Returns `(copy, record)`, each record as often as the balance says."""
    if order.balance is None:
        first_copy = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).repeat()
        return tf.data.Dataset.zip((first_copy, records))

    copies = tf.numpy_function(order.count_copies, [epoch], tf.int64, stateful=False)
    copies = tf.ensure_shape(copies, [None])

    def repeat(number: tf.Tensor, record: tf.Tensor) -> tf.data.Dataset:
        count = copies[number]
        return tf.data.Dataset.from_tensor_slices((tf.range(count), tf.repeat(record, count)))

    return records.enumerate().flat_map(repeat)


def check_shuffle(shuffle: bool | int, count: int) -> None:
    """Refuses what is no order, and warns the caller's caller of a buffer that hardly shuffles."""
    if not isinstance(shuffle, bool | int | np.integer) or shuffle < 0:
        raise ConfigError(
            "shuffle", found=repr(shuffle), expected="True, False, or the size of a buffer"
        )
    if shuffle is not True and 0 < shuffle < count * _MIN_BUFFER_SHARE:
        warnings.warn(
            f"shuffle={shuffle} of {count} examples: in each epoch an example comes at about the "
            "same time. shuffle=True draws the order of all examples anew",
            stacklevel=4,
        )


def _check_epochs(epochs: int | None, first_epoch: int) -> None:
    is_whole = isinstance(first_epoch, int | np.integer)
    is_whole = is_whole and isinstance(epochs, int | np.integer | None)
    if not is_whole or first_epoch < 0 or (epochs is not None and epochs < 1):
        raise ConfigError(
            "epochs, first_epoch",
            found=f"{epochs}, {first_epoch}",
            expected="a number of epochs of 1 or more, or None, and a first epoch of 0 or more",
        )


def balanced(
    builder: tfds.core.DatasetBuilder,
    selection: Selection,
    by: BalanceBy | None,
    threshold: float | None,
) -> Balance | None:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: None, which returns None; or `classes`, those of the feature `labels`, without background
        and void.
      threshold: above 0, up to 1; None is 1. See `balance_classes`.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.
    """
    check_balance(by, threshold)
    if by is None:
        return None
    filenames, has_class = _read_labels(builder, selection)
    return balance_classes(filenames, has_class, threshold)


def _read_labels(
    builder: tfds.core.DatasetBuilder, selection: Selection
) -> tuple[Sequence[bytes], np.ndarray]:
    """Returns each record's file name, and which classes it has, bool `[N, classes]`."""
    if LABELS not in builder.info.features or MASK not in builder.info.features:
        raise ConfigError(
            builder.info.full_name,
            found=f"features {', '.join(sorted(builder.info.features))}",
            expected=f"{LABELS} among them, which balance needs",
            remedy="leave balance out, or build the dataset with masks",
        )
    class_count = len(builder.info.features[MASK].names)
    parse = parser(builder, [LABELS])

    def name_and_classes(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = parse(record)
        one_hot = tf.one_hot(example[LABELS], class_count, on_value=True, off_value=False)
        return example[FILENAME], tf.reduce_any(one_hot, axis=0)

    filenames: list[bytes] = []
    batches = []
    stream = in_order(selection.records, name_and_classes).batch(256)
    for names, has_class in stream.as_numpy_iterator():
        filenames += names.tolist()
        batches.append(has_class)
    return filenames, np.concatenate(batches)
