"""Computes in which order an epoch has the records, and the random numbers of each example.

Records are known by their numbers. Both depend on the seed of the run and the epoch, and the random
numbers on the example; on no thread, worker or process.
"""

from collections.abc import Sequence
import dataclasses
import hashlib

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.balance import Balance


@dataclasses.dataclass(frozen=True)
class EpochOrder:
    """The rule that gives the order of each epoch; it depends on seed and epoch alone.

    Attributes:
      count: how many records there are.
      seed: of the run.
      shuffle: True for any order, False for that of the records, or the size of a buffer.
      per_batch: how many records a batch has.
      balance: how often each record is in an epoch, with `count` copies of all records together;
        None for once.
    """

    count: int
    seed: int
    shuffle: bool | int
    per_batch: int
    balance: Balance | None

    def of_epoch(self, epoch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the copies and the numbers of the records of an epoch, int64 `[N]` each.

        For example copy 1 of record 7 stands for the second time that the epoch has record 7.
        """
        rng = np.random.default_rng([self.seed, int(epoch)])
        times = np.ones(self.count, np.int64)
        if self.balance is not None:
            times = self.balance.copies(rng)
        # Times of 2, 1, 0 give the numbers 0, 0, 1 and the copies 0, 1, 0.
        numbers = np.repeat(np.arange(self.count), times)
        position_of_copy_0 = np.repeat(np.cumsum(times) - times, times)
        copies = np.arange(len(numbers)) - position_of_copy_0
        order = self._permutation(rng)
        if self.balance is not None and self.shuffle:
            order = separate_copies(order, numbers, self.per_batch, rng)
        return copies[order], numbers[order]

    def _permutation(self, rng: np.random.Generator) -> np.ndarray:
        if self.shuffle is True:
            return rng.permutation(self.count)
        if not self.shuffle:
            return np.arange(self.count)
        return _shuffle_by_buffer(self.count, self.shuffle, rng)


def _shuffle_by_buffer(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the order that `tf.data` gives with a buffer: each step samples one entry of it."""
    buffer = list(range(min(size, count)))
    order = np.empty(count, np.int64)
    for step in range(count):
        slot = int(rng.integers(len(buffer)))
        order[step] = buffer[slot]
        next_number = step + size
        if next_number < count:
            buffer[slot] = next_number
        else:
            buffer[slot] = buffer[-1]
            buffer.pop()
    return order


def separate_copies(
    order: np.ndarray, numbers: np.ndarray, per_batch: int, rng: np.random.Generator
) -> np.ndarray:
    """Returns an order in which no batch has a record twice, as far as there is one.

    A record that comes twice into a batch is swapped with a record of another batch, which is
    sampled at random.

    Args:
      order: the order so far, int64 `[N]`, by which `numbers` is indexed.
      numbers: of the records, int64 `[N]`; a number may be there several times.
      per_batch: how many records a batch has.
      rng: the random generator.

    Returns:
      The new order, as `order`.
    """
    order = order.copy()
    batches = [slice(start, start + per_batch) for start in range(0, len(numbers), per_batch)]
    for batch in batches:
        for slot in _repeated_slots(numbers[order[batch]]):
            position = batch.start + slot
            other_position = _find_swap(numbers, order, position, batch, batches, rng)
            if other_position is not None:
                order[[position, other_position]] = order[[other_position, position]]
    return order


def _repeated_slots(batch_numbers: np.ndarray) -> list[int]:
    """Returns where a batch has a number again: for 5, 7, 5 that is 2."""
    _, first_slots = np.unique(batch_numbers, return_index=True)
    return np.setdiff1d(np.arange(len(batch_numbers)), first_slots).tolist()


def _find_swap(
    numbers: np.ndarray,
    order: np.ndarray,
    position: int,
    batch: slice,
    batches: Sequence[slice],
    rng: np.random.Generator,
) -> int | None:
    """Returns the position of a record of another batch that may take that of a repeated one.

    After the swap neither batch has one of the two records twice. None if there is no such record.

    Args:
      numbers: see `separate_copies`.
      order: the order so far, int64 `[N]`, by which `numbers` is indexed.
      position: of the repeated record.
      batch: the positions of its batch.
      batches: the positions of each batch.
      rng: the random generator.
    """
    repeated_number = numbers[order[position]]
    own_numbers = numbers[order[batch]]
    for index in rng.permutation(len(batches)).tolist():
        other_batch = batches[index]
        other_numbers = numbers[order[other_batch]]
        if repeated_number in other_numbers:  # as in its own batch
            continue
        slots = np.flatnonzero(~np.isin(other_numbers, own_numbers))
        if len(slots):
            return other_batch.start + int(slots[rng.integers(len(slots))])
    return None


def example_rng(
    filename: str | bytes, *, seed: int, epoch: int = 0, copy: int = 0
) -> np.random.Generator:
    """Makes the random generator of an example in an epoch, which depends on nothing else.

    Args:
      filename: its `image/filename`, which identifies it.
      seed: of the run.
      epoch: its number.
      copy: which one it is, if an epoch has the example more than once.
    """
    encoded = filename.encode() if isinstance(filename, str) else filename
    digest = hashlib.blake2b(encoded, digest_size=16).digest()
    return np.random.default_rng([seed, epoch, copy, int.from_bytes(digest, "little")])


def check_seed(seed: int) -> None:
    """Raises a ConfigError if a seed is not in 0 to 2**31 - 1."""
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 1 << 31:
        raise ConfigError("seed", found=repr(seed), expected="0 to 2147483647")


def check_count(name: str, count: int) -> None:
    """Raises a ConfigError if a number is not a whole one of 1 or more."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigError(name, found=repr(count), expected="a whole number of 1 or more")


def check_shard(shard: tuple[int, int]) -> None:
    """Raises a ConfigError if a rank is not below the number of ranks."""
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ConfigError(
            "shard",
            found=f"rank {rank} of {ranks}",
            expected="a rank of 0 or more that is below the number of ranks",
        )
