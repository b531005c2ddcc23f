"""From a built dataset to a stream of examples, with rare classes more often if asked for."""

from collections.abc import Sequence
import dataclasses
from typing import Literal

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import FILENAME, LABELS, MASK, SEGMENTATION
from voc_seg_tfrecord.facts.lists import IdList
from voc_seg_tfrecord.pipeline import geometry, records
from voc_seg_tfrecord.pipeline.geometry import shuffle_seed
from voc_seg_tfrecord.pipeline.records import Selection, in_order, select
from voc_seg_tfrecord.pipeline.window import Example, Examples, decode

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

    def copies(self, seed: int, epoch: tf.Tensor) -> tf.Tensor:
        """Returns how often each record is in an epoch, int64 `[N]`; the sum is N."""
        salted = tf.stack([tf.constant(_SALT, tf.int64), shuffle_seed(seed, epoch)])
        offset = tf.random.stateless_uniform([], salted, dtype=tf.float64)
        ends = tf.cast(tf.floor(self.ends + offset), tf.int64)
        starts = tf.concat([tf.zeros([1], tf.int64), ends[:-1]], axis=0)
        return tf.gather(ends - starts, self.rank)


_SALT = int.from_bytes(b"balance", "little")


def balanced(
    builder: tfds.core.DatasetBuilder, selection: Selection, by: By, threshold: float
) -> Balance:
    """Finds how often each record is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Reads all records once, without decoding an image or a mask.

    Args:
      builder: of the built dataset.
      selection: the records.
      by: `classes`, those of the feature `labels`. Background and void are no classes here.
      threshold: 0 to 1; only classes in a smaller share of the images are drawn more often.

    Raises:
      ConfigError: if the arguments are wrong, or the dataset has no `labels`.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
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
    builder: tfds.core.DatasetBuilder,
    split: IdList,
    *,
    features: Sequence[str] = SEGMENTATION,
    seed: int = 0,
    shuffle: int = 0,
    epochs: int | None = 1,
    first_epoch: int = 0,
    partial: bool = False,
    balance: By | None = None,
    balance_threshold: float = 1,
    decoded: bool = False,
) -> Examples:
    """Reads examples, each with its seed. They are not decoded, unless `decoded` is set.

    Args:
      builder: of the built dataset, from `tfds.builder`.
      split: as everywhere in TFDS: `train`, `train+validation`, `train[:80%]`. Or a list: its
        name, such as `semi_1_16`, or image ids, which are looked for in all splits. Every
        record is then read once more, to see which ids there are.
      features: which to read; the others cost nothing. `image/filename` is always read,
        because an example's seed is made from it.
      seed: seed for the order and for the examples' seeds, 0 to 2**31 - 1 (0).
      shuffle: how many examples the shuffle buffer holds; 0, the default, keeps the records'
        order, which is TFDS's hash order. The buffer holds encoded examples: a thousand take
        about 0.1 GB.
      epochs: how often the split is read, each time in another order and with other seeds
        (1); None never ends.
      first_epoch: number of the first epoch (0). A run that stopped after epoch 3 continues
        with 4, as if it had never stopped.
      partial: whether the dataset may lack ids of a list (False).
      balance: `classes` draws images with rare classes more often; see `training_batches`.
        None, the default, reads each example once per epoch.
      balance_threshold: see `training_batches` (1).
      decoded: whether images and masks are decoded, as `pipeline.decode` does it (False). It
        is faster than mapping `pipeline.decode` over what this returns, because no example is
        handed from one stage to another.

    Returns:
      A dataset of examples whose image and masks are scalar strings, with `seed`, int64 `[2]`.
      With `decoded`, image is uint8 `[H, W, 3]` and masks are uint8 `[H, W, 1]`.

    Raises:
      ConfigError: if the split is empty, or has no such feature, or ids of a list are missing.
    """
    parse = records.parser(builder, features)

    def example(epoch: tf.Tensor, drawn: tuple[tf.Tensor, tf.Tensor]) -> Example:
        copy, record = drawn
        parsed = parse(record)
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
        balance=balance and balanced(builder, selection, balance, balance_threshold),
    )
    return in_order(stream, example)


def epoch_stream(
    selection: Selection,
    *,
    seed: int = 0,
    shuffle: int = 0,
    epochs: int | None = 1,
    first_epoch: int = 0,
    take: int | None = None,
    balance: Balance | None = None,
) -> tf.data.Dataset:
    """Streams `(epoch, (copy, record))`; see `read`. `take` limits each epoch; None takes all.

    Without a balance each epoch has each record once, as copy 0.
    """
    geometry.check_seed(seed)
    total, in_order = selection.count, selection.records

    def one_epoch(epoch: tf.Tensor) -> tf.data.Dataset:
        found = _copied(in_order, None if balance is None else balance.copies(seed, epoch))
        found = _shuffled(found, shuffle, seed, epoch) if shuffle else found
        if take is not None:
            found = found.take(take)
        return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(epoch).repeat(), found))

    if epochs is None:
        cardinality = tf.data.INFINITE_CARDINALITY
        numbers = tf.data.Dataset.counter(first_epoch)
    else:
        cardinality = epochs * (total if take is None else take)
        numbers = tf.data.Dataset.range(first_epoch, first_epoch + epochs)
    options = tf.data.Options()
    # A shuffle with a fixed seed keeps no state outside of its iterator, but claims to:
    # without this no iterator could be saved in a checkpoint.
    options.experimental_external_state_policy = tf.data.experimental.ExternalStatePolicy.IGNORE
    stream = numbers.flat_map(one_epoch).with_options(options)
    return stream.apply(tf.data.experimental.assert_cardinality(cardinality))


def _copied(dataset: tf.data.Dataset, copies: tf.Tensor | None) -> tf.data.Dataset:
    """Returns `(copy, record)`, each record as often as `copies`, int64 `[N]`, says."""
    if copies is None:
        first = tf.data.Dataset.from_tensors(tf.constant(0, tf.int64)).repeat()
        return tf.data.Dataset.zip((first, dataset))

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
