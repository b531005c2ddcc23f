"""Random numbers that depend on the example, not on a thread, a worker or a run."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import FILENAME

SEED = "seed"
"""Name under which `read` puts an example's seed beside its features."""

_EPOCHS = 1 << 32  # a seed's epochs never reach into the next seed's


def example_seed(
    example: Mapping[str, Any],
    *,
    seed: int,
    epoch: int | tf.Tensor = 0,
    copy: int | tf.Tensor = 0,
) -> tf.Tensor:
    """Makes the seed for all that is random about an example in an epoch.

    It depends on nothing else: not on order, batch, number of threads, shards or hosts.

    Args:
      example: its `image/filename`, scalar string, identifies it.
      seed: the run's seed, 0 to 2**31 - 1.
      epoch: how often the example was seen before (0).
      copy: which one it is, if an epoch has the example more than once (0). Each copy has
        numbers of its own, and copy 0 has those of an epoch that has the example once.

    Returns:
      int64 `[2]`, for the `seed` argument of this package's functions and of
      `tf.random.stateless_*`.

    Raises:
      ConfigError: if the example has no file name, or the seed is out of range.
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
    return tf.stack([name, seed * _EPOCHS + tf.cast(epoch, tf.int64)])


def check_seed(seed: int) -> None:
    """Raises a ConfigError if a seed is not in 0 to 2**31 - 1."""
    if not 0 <= seed < 1 << 31:
        raise ConfigError("seed", found=str(seed), expected="0 to 2147483647")


def shuffle_seed(seed: int, epoch: tf.Tensor) -> tf.Tensor:
    """Makes the int64 seed of an epoch's order."""
    return seed * _EPOCHS + epoch


def uniform(seed: tf.Tensor, purpose: str, count: int) -> list[tf.Tensor]:
    """Draws numbers for one purpose, so that flips are independent of crops.

    Args:
      seed: integer `[2]`.
      purpose: any name; another name draws other numbers.
      count: how many.

    Returns:
      float32 scalars, 0 or more and below 1.
    """
    salt = sum(byte << (8 * place) for place, byte in enumerate(purpose.encode()[:7]))
    salted = tf.bitwise.bitwise_xor(tf.cast(seed, tf.int64), tf.constant([salt, 0], tf.int64))
    return tf.unstack(tf.random.stateless_uniform([count], salted), num=count)


def up_to(fraction: tf.Tensor, largest: tf.Tensor) -> tf.Tensor:
    """Turns a uniform number into an int32 of 0 to `largest`, each equally likely."""
    drawn = tf.cast(fraction * tf.cast(largest + 1, tf.float32), tf.int32)
    return tf.minimum(drawn, largest)  # float32 may round up


def places(
    seed: tf.Tensor, lowest: tf.Tensor | int, highest: tf.Tensor, count: int = 1
) -> list[tf.Tensor]:
    """Draws places for a crop or for padding.

    Args:
      seed: integer `[2]`.
      lowest: int32 `[2]`, or 0 for both axes.
      highest: int32 `[2]`.
      count: how many. The first one is the same, however many are drawn.

    Returns:
      int32 `[2]` each, `lowest` to `highest` inclusive.
    """
    fractions = uniform(seed, "place", 2)
    if count > 1:
        fractions += uniform(seed, "places", 2 * (count - 1))
    room = highest - lowest
    return [
        lowest + tf.stack([up_to(fractions[2 * n + axis], room[axis]) for axis in (0, 1)])
        for n in range(count)
    ]


def coin(seed: tf.Tensor) -> tf.Tensor:
    """Draws whether to flip, a scalar bool that is true with probability 0.5."""
    (fraction,) = uniform(seed, "flip", 1)
    return fraction < 0.5
