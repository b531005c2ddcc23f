"""The seed of an example in an epoch, and the random numbers that are made from it.

Random numbers depend on the example, not on a thread, a worker or a run.
"""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import FILENAME
from voc_seg_tfrecord.reading.epoch_order import check_seed

_SEEDS_PER_RUN = 1 << 32
"""How many epochs a run may have before its seeds reach those of the next run."""


def example_seed(
    example: Mapping[str, Any],
    *,
    seed: int,
    epoch: int | tf.Tensor = 0,
    copy: int | tf.Tensor = 0,
) -> tf.Tensor:
    """Makes the seed for all random numbers of an example in an epoch.

    It depends only on the arguments, not on order, batch, threads, shards or hosts.

    Args:
      example: its `image/filename`, scalar string, identifies it.
      seed: the run's seed, 0 to 2**31 - 1.
      epoch: number of the epoch, from 0 (0).
      copy: number of the copy, from 0, if an epoch has the example more than once (0). Each copy
        gets a seed of its own; copy 0 gets that of an example that occurs once.

    Returns:
      int64 `[2]`, for the `seed` argument of this package's functions and of
      `tf.random.stateless_*`.

    Raises:
      ConfigError: if the example has no `image/filename`, or the seed is out of range.
    """
    check_seed(seed)
    if FILENAME not in example:
        raise ConfigError(
            "example", found=f"features {sorted(example)}", expected=f"{FILENAME} among them"
        )
    # No file name has a line end, so no copy is taken for another example.
    mark = tf.where(tf.equal(copy, 0), "", tf.strings.join(["\n", tf.strings.as_string(copy)]))
    marked = tf.strings.join([example[FILENAME], mark])
    name = tf.strings.to_hash_bucket_fast(marked, (1 << 63) - 1)
    return tf.stack([name, epoch_seed(seed, tf.cast(epoch, tf.int64))])


def epoch_seed(seed: int, epoch: tf.Tensor) -> tf.Tensor:
    """Makes a seed, int64, that no other epoch of the run has, and no other run.

    Args:
      seed: the run's seed, an integer of Python or NumPy.
      epoch: its number, scalar int64.
    """
    # Python's integer, because the product does not fit into an int32 of NumPy's.
    return int(seed) * _SEEDS_PER_RUN + epoch


def uniform(seed: tf.Tensor, purpose: str, count: int) -> list[tf.Tensor]:
    """Draws float32 scalars, 0 or more and below 1.

    Another purpose, which is any name, draws other numbers, so that flips are independent of crops.
    """
    salt = int.from_bytes(purpose.encode()[:7], "little")
    salted = tf.bitwise.bitwise_xor(tf.cast(seed, tf.int64), tf.constant([salt, 0], tf.int64))
    return tf.unstack(tf.random.stateless_uniform([count], salted), num=count)


def up_to(fraction: tf.Tensor, largest: tf.Tensor) -> tf.Tensor:
    """Turns a uniform number into an int32 of 0 to `largest`, each equally likely."""
    number = tf.cast(fraction * tf.cast(largest + 1, tf.float32), tf.int32)
    return tf.minimum(number, largest)  # float32 may round up


def random_offsets(seed: tf.Tensor, largest: tf.Tensor, count: int = 1) -> list[tf.Tensor]:
    """Samples offsets of a crop or of padding: int32 `[2]` each, 0 to `largest` inclusive.

    The first one is the same, however many are sampled.
    """
    fractions = uniform(seed, "place", 2)
    if count > 1:
        fractions += uniform(seed, "places", 2 * (count - 1))
    offsets = []
    for number in range(count):
        row = up_to(fractions[2 * number], largest[0])
        column = up_to(fractions[2 * number + 1], largest[1])
        offsets.append(tf.stack([row, column]))
    return offsets


def coin(seed: tf.Tensor) -> tf.Tensor:
    """Draws whether to flip, a scalar bool that is true with probability 0.5."""
    (fraction,) = uniform(seed, "flip", 1)
    return fraction < 0.5
