"""From a built dataset to a stream of examples."""

from collections.abc import Sequence

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord.facts.wanted import Wanted
from voc_seg_tfrecord.features import SEGMENTATION
from voc_seg_tfrecord.pipeline import randomness, records
from voc_seg_tfrecord.pipeline.balance import Balance, By, balanced
from voc_seg_tfrecord.pipeline.contents import Example, Examples
from voc_seg_tfrecord.pipeline.decoding import decode
from voc_seg_tfrecord.pipeline.selection import Selection, select


def read(
    builder: tfds.core.DatasetBuilder,
    split: Wanted,
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
        own_seed = randomness.example_seed(parsed, seed=seed, epoch=epoch, copy=copy)
        seeded = {**parsed, randomness.SEED: own_seed}
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
    return stream.map(example, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


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
    randomness.check_seed(seed)
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
        buffer, seed=randomness.shuffle_seed(seed, epoch), reshuffle_each_iteration=False
    )
