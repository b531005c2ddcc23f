"""From a built dataset to a stream of examples that are not decoded yet."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import pictures
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.pipeline import randomness
from voc_seg_tfrecord.pipeline.contents import Example

FEATURES = ("image", "segmentation_mask", "image/filename", "image/height", "image/width")
"""Features that are read if nothing else is said: those whose batches need no more care."""


def read(
    builder: tfds.core.DatasetBuilder,
    split: str,
    *,
    features: Sequence[str] = FEATURES,
    seed: int = 0,
    shuffle: int = 0,
    epochs: int | None = 1,
    first_epoch: int = 0,
) -> tf.data.Dataset:
    """Reads examples without decoding them, each with its seed.

    Args:
      builder: of the built dataset, from `tfds.builder`.
      split: as everywhere in TFDS: `train`, `train+validation`, `train[:80%]`.
      features: which to read; what is not named costs nothing. `image/filename` is always
        read: it is what makes an example's seed.
      seed: of order and of the examples' seeds, 0 to 2**31 - 1.
      shuffle: how many examples the shuffle buffer holds; 0 keeps the records' order, which
        is TFDS's hash order. Shuffled are the encoded examples: a thousand take about 0.1 GB.
      epochs: how often the split is gone through, every time in another order and with
        other seeds; None never ends.
      first_epoch: where to begin. A run that stopped after epoch 3 goes on with 4, as if it
        had never stopped.

    Returns:
      A dataset of examples whose pictures are scalar strings, with `seed`, int64 `[2]`.

    Raises:
      ConfigError: if the split is empty, or has no such feature.
    """
    stream = epoch_stream(
        builder, split, features, seed=seed, shuffle=shuffle, epochs=epochs, first_epoch=first_epoch
    )
    return stream.map(
        lambda epoch, example: with_seed(example, seed, epoch),
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


def with_seed(example: Mapping[str, Any], seed: int, epoch: tf.Tensor) -> Example:
    """Puts an example's seed beside its features."""
    return {**example, randomness.SEED: randomness.example_seed(example, seed=seed, epoch=epoch)}


def epoch_stream(
    builder: tfds.core.DatasetBuilder,
    split: str,
    features: Sequence[str],
    *,
    seed: int,
    shuffle: int,
    epochs: int | None,
    first_epoch: int,
    take: int | None = None,
) -> tf.data.Dataset:
    """Streams `(epoch, example)`; see `read`. `take` is how many of each epoch, not all."""
    randomness.check_seed(seed)
    total = count(builder, split)
    one_epoch = builder.as_dataset(
        split=split,
        decoders=_undecoded(builder, {*features, pictures.FILENAME}),
        # The cache of TFDS would be filled by the first epoch's reader alone.
        read_config=tfds.ReadConfig(try_autocache=False, skip_prefetch=True),
    )

    def examples_of(epoch: tf.Tensor) -> tf.data.Dataset:
        examples = one_epoch
        if not tf.executing_eagerly():
            # Of this function's graph alone: else a global seed would change the order.
            tf.compat.v1.set_random_seed(1)
        if shuffle:
            examples = examples.shuffle(
                shuffle,
                seed=randomness.shuffle_seed(seed, epoch),
                reshuffle_each_iteration=False,
            )
        if take is not None:
            examples = examples.take(take)
        return tf.data.Dataset.zip((tf.data.Dataset.from_tensors(epoch).repeat(), examples))

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
    stream = numbers.flat_map(examples_of).with_options(options)
    return stream.apply(tf.data.experimental.assert_cardinality(cardinality))


def count(builder: tfds.core.DatasetBuilder, split: str) -> int:
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


class _Named(tfds.decode.PartialDecoding):
    """Parses named features only, pictures not at all.

    TFDS's own `PartialDecoding` does the same, and logs warnings of its own deprecations.
    """

    def __init__(self, names: set[str]):
        skipped = {name: tfds.decode.SkipDecoding() for name in names & set(pictures.FILL)}
        super().__init__(dict.fromkeys(names, True), decoders=skipped)
        self._names = sorted(names)

    def extract_features(self, features: tfds.features.FeaturesDict) -> tfds.features.FeaturesDict:
        """Returns the features that are to be parsed."""
        return tfds.features.FeaturesDict({name: features[name] for name in self._names})


def _undecoded(builder: tfds.core.DatasetBuilder, features: set[str]) -> _Named:
    unknown = sorted(features - set(builder.info.features))
    if unknown:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(unknown)}",
            expected=f"some of {', '.join(sorted(builder.info.features))}",
        )
    return _Named(features)
