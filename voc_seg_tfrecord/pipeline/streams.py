"""Streams the records of a selection over epochs, in the order that a seed gives."""

from collections.abc import Callable
import dataclasses
import itertools
import warnings

import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.pipeline import geometry
from voc_seg_tfrecord.pipeline.balance import Balance
from voc_seg_tfrecord.pipeline.order import EpochOrder
from voc_seg_tfrecord.pipeline.records import Selection

_MIN_BUFFER_SHARE = 0.1
"""A smaller buffer, as a share of the examples, hardly shuffles."""


@dataclasses.dataclass(frozen=True)
class Stream:
    """The records of a run in its order.

    Attributes:
      draws: `(epoch, (copy, record))`; without a balance each epoch has each record once, as copy
        0. `record` is a record's number or its bytes.
      load: returns the bytes of the `record` of a draw.
    """

    draws: tf.data.Dataset
    load: Callable[[tf.Tensor], tf.Tensor]


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
    full batch. A split that is smaller than one batch is streamed completely.
    """
    geometry.check_seed(seed)
    _check_order(shuffle, selection.count, epochs, first_epoch)
    rank, ranks = shard
    epoch_length = selection.count
    if per_batch is not None and per_batch <= selection.count:
        epoch_length -= selection.count % per_batch
    is_numbered = bool(selection.parts) and bool(shuffle or balance)
    order = EpochOrder(selection.count, seed, shuffle, per_batch or 1, balance)

    def stream_epoch(epoch: tf.Tensor) -> tf.data.Dataset:
        epoch = selection.watch.passed(epoch)
        if is_numbered:
            examples = _numbers_of_epoch(order, epoch)
        else:
            examples = _records_of_epoch(selection.records, order, epoch)
        examples = examples.take(epoch_length).shard(ranks, rank)
        return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(epoch).repeat(), examples))

    if epochs is None:
        cardinality = tf.data.INFINITE_CARDINALITY
        numbers = tf.data.Dataset.counter(first_epoch)
    else:
        cardinality = epochs * len(range(rank, epoch_length, ranks))
        numbers = _epochs_of_each_pass(first_epoch, epochs)
    stream = numbers.flat_map(stream_epoch).with_options(_options())
    stream = stream.apply(tf.data.experimental.assert_cardinality(cardinality))

    def load(record: tf.Tensor) -> tf.Tensor:
        data = selection.read(record) if is_numbered else record
        return selection.watch.passed(data) if selection.watch.is_cheap else data

    return Stream(stream, load)


def _options() -> tf.data.Options:
    options = tf.data.Options()
    # The order depends on seed and epoch alone, but TensorFlow takes a shuffle, and a function of
    # Python's, for something with a state: without this no iterator could be saved in a checkpoint.
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    # With several workers each takes a part of the examples. By default TensorFlow divides files,
    # and takes this for a stream that reads one file.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return options


def _epochs_of_each_pass(first_epoch: int, epochs: int) -> tf.data.Dataset:
    """Returns the numbers of epochs; whoever iterates again gets the next ones."""
    passes = itertools.count()

    def first_of_pass(_: np.ndarray) -> np.int64:
        return np.int64(first_epoch + epochs * next(passes))

    def numbers(nothing: tf.Tensor) -> tf.data.Dataset:
        first = tf.numpy_function(first_of_pass, [nothing], tf.int64)
        first = tf.ensure_shape(first, [])
        return tf.data.Dataset.range(first, first + epochs)

    return tf.data.Dataset.from_tensors(0).flat_map(numbers)


def _numbers_of_epoch(order: EpochOrder, epoch: tf.Tensor) -> tf.data.Dataset:
    """Returns `(copy, number)` of each record of an epoch."""
    types = (tf.int64, tf.int64)
    columns = tf.numpy_function(order.of_epoch, [epoch], types, stateful=False)
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
    shuffle_seed = geometry.shuffle_seed(order.seed, epoch)
    return examples.shuffle(buffer, seed=shuffle_seed, reshuffle_each_iteration=False)


def _repeat_records(
    records: tf.data.Dataset, order: EpochOrder, epoch: tf.Tensor
) -> tf.data.Dataset:
    """Returns `(copy, record)`, each record as often as the balance says."""
    balance = order.balance
    if balance is None:
        first_copy = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).repeat()
        return tf.data.Dataset.zip((first_copy, records))

    def copies_of_epoch(epoch: np.ndarray) -> np.ndarray:
        return balance.copies(np.random.default_rng([order.seed, int(epoch)]))

    copies = tf.numpy_function(copies_of_epoch, [epoch], tf.int64, stateful=False)
    copies = tf.ensure_shape(copies, [None])

    def repeat(number: tf.Tensor, record: tf.Tensor) -> tf.data.Dataset:
        count = copies[number]
        return tf.data.Dataset.from_tensor_slices((tf.range(count), tf.repeat(record, count)))

    return records.enumerate().flat_map(repeat)


def _check_order(shuffle: bool | int, count: int, epochs: int | None, first_epoch: int) -> None:
    """Refuses what is no order, and warns of a buffer that hardly shuffles."""
    if not isinstance(shuffle, bool | int | np.integer) or shuffle < 0:
        raise ConfigError(
            "shuffle", found=repr(shuffle), expected="True, False, or the size of a buffer"
        )
    is_whole = isinstance(first_epoch, int | np.integer)
    is_whole = is_whole and isinstance(epochs, int | np.integer | None)
    if not is_whole or first_epoch < 0 or (epochs is not None and epochs < 1):
        raise ConfigError(
            "epochs, first_epoch",
            found=f"{epochs}, {first_epoch}",
            expected="a number of epochs of 1 or more, or None, and a first epoch of 0 or more",
        )
    if shuffle is not True and 0 < shuffle < count * _MIN_BUFFER_SHARE:
        warnings.warn(
            f"shuffle={shuffle} of {count} examples: in each epoch an example comes at about the "
            "same time. shuffle=True draws the order of all examples anew",
            stacklevel=4,
        )
