"""From a built dataset to a stream of examples, with rare classes more often if asked for."""

from collections.abc import Callable, Sequence
import dataclasses
import functools
import itertools
from typing import Literal
import warnings

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILENAME, LABELS, MASK, SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.wanted_ids import IdList
from voc_seg_tfrecord.pipeline import geometry, records
from voc_seg_tfrecord.pipeline.records import Selection, in_order, select
from voc_seg_tfrecord.pipeline.window import Example, Examples, decode
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder

By = Literal["classes"]
"""What images may be drawn by."""


@dataclasses.dataclass(frozen=True, eq=False)
class Balance:
    """How often each example and each class is to be drawn.

    Attributes:
      ends: float64 `[N]`, where the share of each example of an epoch ends, in the order of
        ids. An example whose share reaches from 3.2 to 5.4 is drawn two or three times.
      rank: int64 `[N]`, the place of each record in that order.
      factors: float32 `[classes]`, the repeat factor of each class; 1 if it is in no image.
    """

    ends: np.ndarray
    rank: np.ndarray
    factors: np.ndarray

    def copies(self, rng: np.random.Generator) -> np.ndarray:
        """Returns how often each record is in an epoch, int64 `[N]`; the sum is N."""
        ends = np.floor(self.ends + rng.random()).astype(np.int64)
        return np.diff(ends, prepend=0)[self.rank]


def balanced(
    builder: tfds.core.DatasetBuilder, selection: Selection, by: By | None, threshold: float | None
) -> Balance | None:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: None, which returns None; or `classes`, those of the feature `labels`, without background
        and void.
      threshold: t, above 0, up to 1; None is 1.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    if by is None and threshold is not None:
        raise ConfigError(
            "balance_threshold",
            found=f"{threshold} without balance",
            expected="balance='classes' beside it",
            remedy="give both, or none",
        )
    if by is None:
        return None
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
    threshold = 1 if threshold is None else threshold
    if not 0 < threshold <= 1:
        raise ConfigError("balance_threshold", found=str(threshold), expected="above 0, up to 1")
    names, present = _scanned(builder, selection)
    factors = class_factors(present, threshold)
    images = np.where(present, factors, 1).max(axis=1, initial=1)
    order = np.argsort(names, kind="stable")
    ends = np.cumsum(images[order])
    ends *= len(images) / ends[-1]
    ends[-1] = len(images)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return Balance(ends, rank, factors.astype(np.float32))


def class_factors(present: np.ndarray, threshold: float) -> np.ndarray:
    """Returns the repeat factor of each class, float64 `[classes]`, from bool `[N, classes]`."""
    share = np.maximum(present.mean(axis=0), 1 / len(present))  # a class in no image repeats none
    return np.where(present.any(axis=0), np.maximum(1, np.sqrt(threshold / share)), 1)


def _scanned(
    builder: tfds.core.DatasetBuilder, selection: Selection
) -> tuple[Sequence[bytes], np.ndarray]:
    """Returns each record's file name, and which classes it has, bool `[N, classes]`."""
    if LABELS not in builder.info.features or MASK not in builder.info.features:
        raise ConfigError(
            builder.info.full_name,
            found=f"features {', '.join(sorted(builder.info.features))}",
            expected=f"{LABELS} among them, by which images are drawn",
            remedy="leave balance out, or build the dataset with masks",
        )
    classes = len(builder.info.features[MASK].names)
    parse = records.parser(builder, [LABELS])

    def looked_at(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = parse(record)
        hot = tf.one_hot(example[LABELS], classes, on_value=True, off_value=False)
        return example[FILENAME], tf.reduce_any(hot, axis=0)

    batches = list(in_order(selection.records, looked_at).batch(256).as_numpy_iterator())
    return (
        [name for names, _ in batches for name in names],
        np.concatenate([present for _, present in batches]),
    )


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
    balance: By | None = None,
    balance_threshold: float | None = None,
    decoded: bool = False,
    data_dir: PathLike | None = None,
) -> Examples:
    """Reads examples, each with its seed. They are not decoded, unless `decoded` is set.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      split: as everywhere in TFDS: `train`, `train+validation`, `train[:80%]`. Or a list: its
        name, such as `semi_1_16`, or image ids, which are looked for in all splits. Every
        record is then read once more, to see which ids there are.
      features: which to read; the others cost nothing. `image/filename` is always read,
        because an example's seed is made from it.
      seed: seed for the order and for the examples' seeds, 0 to 2**31 - 1 (0).
      shuffle: True draws the order of all examples anew in each epoch. False, the default, keeps
        the records' order, which is TFDS's hash order. A number is the size of a shuffle buffer:
        an example then comes early or late in every epoch. Records in a bucket have no places, so
        that True is a buffer of all of them, of about 0.1 GB per thousand.
      epochs: how often the split is read, each time in another order and with other seeds
        (1); None never ends. Whoever iterates again, as Keras does in each epoch of its own, gets
        the next epochs.
      first_epoch: number of the first epoch (0). A run that stopped after epoch 3 continues
        with 4, as if it had never stopped.
      partial: whether the dataset may lack ids of a list (False).
      balance: `classes` draws images with rare classes more often; see `training_batches`.
        None, the default, reads each example once per epoch.
      balance_threshold: see `training_batches` (1).
      decoded: whether images and masks are decoded, as `pipeline.decode` does it (False). It
        is faster than mapping `pipeline.decode` over what this returns, because no example is
        handed from one stage to another.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A dataset of examples whose image and masks are scalar strings, with `seed`, int64 `[2]`.
      With `decoded`, image is uint8 `[H, W, 3]` and masks are uint8 `[H, W, 1]`.

    Raises:
      ConfigError: if the split is empty, or has no such feature, or ids of a list are missing.
    """
    builder = as_builder(dataset, data_dir)
    parse = records.parser(builder, features)

    def example(epoch: tf.Tensor, drawn: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, what = drawn
        parsed = parse(stream.record(what))
        own_seed = geometry.example_seed(parsed, seed=seed, epoch=epoch, copy=copy)
        seeded = {**parsed, geometry.SEED: own_seed}
        return decode(seeded) if decoded else seeded

    selection = select(builder, split, partial=partial)
    stream = epoch_stream(
        selection,
        seed=seed,
        shuffle=shuffle,
        epochs=epochs,
        first_epoch=first_epoch,
        balance=balanced(builder, selection, balance, balance_threshold),
    )
    return in_order(stream.drawn, example)


@dataclasses.dataclass(frozen=True)
class Stream:
    """What a run reads, in its order.

    Attributes:
      drawn: `(epoch, (copy, what))`; without a balance each epoch has each record once, as copy 0.
      record: makes the record of a `what`: of its number, or of itself.
    """

    drawn: tf.data.Dataset
    record: Callable[[tf.Tensor], tf.Tensor]


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
    full batch.
    """
    geometry.check_seed(seed)
    total = selection.count
    take = (per_batch and total // per_batch * per_batch) or total
    _check_order(shuffle, total, epochs, first_epoch)
    numbered = bool(selection.places) and bool(shuffle or balance)

    def one_epoch(epoch: tf.Tensor) -> tf.data.Dataset:
        if numbered:
            order = functools.partial(_order, total, seed, shuffle, per_batch or 1, balance)
            drawn = tf.numpy_function(order, [epoch], (tf.int64, tf.int64), stateful=False)
            for column in drawn:
                column.set_shape([None])
            examples = tf.data.Dataset.from_tensor_slices(tuple(drawn))
        else:
            examples = _copied(selection.records, balance, seed, epoch)
            buffer = total if shuffle is True else shuffle
            examples = _shuffled(examples, buffer, seed, epoch) if buffer else examples
        examples = examples.take(take).shard(shard[1], shard[0])
        return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(epoch).repeat(), examples))

    if epochs is None:
        cardinality = tf.data.INFINITE_CARDINALITY
        numbers = tf.data.Dataset.counter(first_epoch)
    else:
        cardinality = epochs * len(range(shard[0], take, shard[1]))
        numbers = _epochs_of_each_pass(first_epoch, epochs)
    options = tf.data.Options()
    # The order depends on seed and epoch alone, but TensorFlow takes a shuffle, and a function of
    # Python's, for something with a state: without this no iterator could be saved in a checkpoint.
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    stream = numbers.flat_map(one_epoch).with_options(options)
    stream = stream.apply(tf.data.experimental.assert_cardinality(cardinality))
    return Stream(stream, selection.read if numbered else lambda record: record)


def _epochs_of_each_pass(first_epoch: int, epochs: int) -> tf.data.Dataset:
    """Returns the numbers of epochs; whoever iterates again gets the next ones."""
    passes = itertools.count()

    def first(_: np.ndarray) -> np.int64:
        return np.int64(first_epoch + epochs * next(passes))

    def numbers(nothing: tf.Tensor) -> tf.data.Dataset:
        start = tf.ensure_shape(tf.numpy_function(first, [nothing], tf.int64), [])
        return tf.data.Dataset.range(start, start + epochs)

    return tf.data.Dataset.from_tensors(0).flat_map(numbers)


def _order(
    total: int,
    seed: int,
    shuffle: bool | int,
    per_batch: int,
    balance: Balance | None,
    epoch: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns which copy of which record comes when in an epoch, int64 `[N]` each."""
    rng = np.random.default_rng([seed, int(epoch)])
    times = np.ones(total, np.int64) if balance is None else balance.copies(rng)
    numbers = np.repeat(np.arange(total), times)
    copies = np.arange(total) - np.repeat(np.cumsum(times) - times, times)
    order = rng.permutation(total) if shuffle is True else _by_buffer(total, shuffle, rng)
    if balance is not None and shuffle:
        order = order[_apart(numbers[order], per_batch, rng)]
    return copies[order], numbers[order]


def _by_buffer(total: int, buffer: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the order that `tf.data` gives with a buffer: at each step one of it is drawn."""
    if not buffer:
        return np.arange(total)
    waiting, order = list(range(min(buffer, total))), np.empty(total, np.int64)
    for step in range(total):
        place = int(rng.integers(len(waiting)))
        order[step] = waiting[place]
        if step + buffer < total:
            waiting[place] = step + buffer
        else:
            waiting[place] = waiting[-1]
            waiting.pop()
    return order


def _apart(numbers: np.ndarray, per_batch: int, rng: np.random.Generator) -> np.ndarray:
    """Returns an order in which no batch has a record twice, as far as there is one.

    Whatever comes twice into a batch is swapped with something of another batch, drawn at random.
    """
    order = np.arange(len(numbers))
    batches = [order[start : start + per_batch] for start in range(0, len(order), per_batch)]
    held_by = [set(numbers[batch].tolist()) for batch in batches]
    for index, batch in enumerate(batches):
        _, first = np.unique(numbers[batch], return_index=True)
        for place in np.setdiff1d(np.arange(len(batch)), first):
            for other in rng.permutation(len(batches)).tolist():
                mine = int(numbers[batch[place]])
                if other == index or mine in held_by[other]:
                    continue
                theirs = [
                    p for p, n in enumerate(numbers[batches[other]]) if n not in held_by[index]
                ]
                if theirs:
                    there = theirs[int(rng.integers(len(theirs)))]
                    moved = int(numbers[batches[other][there]])
                    batch[place], batches[other][there] = batches[other][there], batch[place]
                    held_by[index].add(moved)
                    held_by[other] = set(numbers[batches[other]].tolist())
                    break
    return order


def _check_order(shuffle: bool | int, total: int, epochs: int | None, first_epoch: int) -> None:
    """Refuses what is no order, and notes a buffer that hardly shuffles."""
    if not isinstance(shuffle, bool | int | np.integer) or shuffle < 0:
        raise ConfigError(
            "shuffle", found=repr(shuffle), expected="True, False, or the size of a buffer"
        )
    whole = isinstance(first_epoch, int | np.integer) and isinstance(
        epochs, int | np.integer | None
    )
    if not whole or first_epoch < 0 or (epochs is not None and epochs < 1):
        raise ConfigError(
            "epochs, first_epoch",
            found=f"{epochs}, {first_epoch}",
            expected="a number of epochs of 1 or more, or None, and a first epoch of 0 or more",
        )
    if shuffle is not True and 0 < shuffle < total / 10:
        warnings.warn(
            f"shuffle={shuffle} of {total} examples: in each epoch an example comes at about the "
            "same time. shuffle=True draws the order of all examples anew",
            stacklevel=4,
        )


def _copied(
    dataset: tf.data.Dataset, balance: Balance | None, seed: int, epoch: tf.Tensor
) -> tf.data.Dataset:
    """Returns `(copy, record)`, each record as often as the balance says."""
    if balance is None:
        first = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).repeat()
        return tf.data.Dataset.zip((first, dataset))

    def drawn(epoch: np.ndarray) -> np.ndarray:
        return balance.copies(np.random.default_rng([seed, int(epoch)]))

    copies = tf.ensure_shape(tf.numpy_function(drawn, [epoch], tf.int64, stateful=False), [None])

    def several(number: tf.Tensor, record: tf.Tensor) -> tf.data.Dataset:
        count = copies[number]
        return tf.data.Dataset.from_tensor_slices((tf.range(count), tf.repeat(record, count)))

    return dataset.enumerate().flat_map(several)


def _shuffled(
    dataset: tf.data.Dataset, buffer: int, seed: int, epoch: tf.Tensor
) -> tf.data.Dataset:
    """Shuffles within the function of an epoch, by the seed and the epoch alone."""
    if not tf.executing_eagerly():
        # Of this function's graph alone: else a global seed would change the order.
        tf.compat.v1.set_random_seed(1)
    return dataset.shuffle(
        buffer, seed=geometry.shuffle_seed(seed, epoch), reshuffle_each_iteration=False
    )
