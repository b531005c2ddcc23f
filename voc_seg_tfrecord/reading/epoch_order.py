"""Computes in which order an epoch has the records, and the random numbers of each example.

Records are known by their numbers. Both depend on the seed of the run and the epoch, and the random
numbers on the example; on no thread, worker or process.
"""

import dataclasses
import hashlib
from typing import NamedTuple, SupportsInt

import numpy as np

from voc_seg_tfrecord.core.ranges import concatenate_ranges
from voc_seg_tfrecord.reading.balance import Balance


class EpochRecords(NamedTuple):
    """The records of an epoch, in its order.

    Example: copy 1 of record 7 stands for the second time that the epoch has record 7.

    Attributes:
      copies: the copy of each record, from 0, int64 `[N]`.
      numbers: its number, int64 `[N]`.
    """

    copies: np.ndarray
    numbers: np.ndarray


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

    def list_records(self, epoch: SupportsInt) -> EpochRecords:
        """Returns the records of an epoch, by its number."""
        rng = self._make_rng(epoch)
        times = self._count_copies(rng)
        # Times of 2, 1, 0 give the numbers 0, 0, 1 and the copies 0, 1, 0.
        numbers = np.repeat(np.arange(self.count), times)
        copies = concatenate_ranges(0, times)
        order = self._permutation(rng)
        if self.balance is not None and self.shuffle:
            order = separate_copies(order, numbers, self.per_batch, rng)
        return EpochRecords(copies[order], numbers[order])

    def count_copies(self, epoch: SupportsInt) -> np.ndarray:
        """Returns how often an epoch has each record, int64 `[count]`."""
        return self._count_copies(self._make_rng(epoch))

    def _make_rng(self, epoch: SupportsInt) -> np.random.Generator:
        return np.random.default_rng([self.seed, int(epoch)])

    def _count_copies(self, rng: np.random.Generator) -> np.ndarray:
        if self.balance is None:
            return np.ones(self.count, np.int64)
        return self.balance.copies(rng)

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
    batches = _Batches(order, numbers, per_batch, rng)
    batches.separate_copies()
    return batches.order


class _Batches:
    """An order of records, divided into batches.

    Args:
      order: the order, int64 `[N]`, by which `numbers` is indexed.
      numbers: of the records, int64 `[N]`.
      per_batch: how many records a batch has.
      rng: the random generator.

    Attributes:
      order: the order, in which records of different batches are swapped.
    """

    def __init__(
        self, order: np.ndarray, numbers: np.ndarray, per_batch: int, rng: np.random.Generator
    ):
        self.order = order.copy()
        self._numbers = numbers
        self._rng = rng
        starts = range(0, len(numbers), per_batch)
        self._batches = [slice(start, start + per_batch) for start in starts]

    def separate_copies(self) -> None:
        """Swaps each record that comes twice into a batch, as far as another batch can take it."""
        for batch in self._batches:
            for slot in _repeated_slots(self._numbers_in(batch)):
                position = batch.start + slot
                other_position = self._find_swap(position, batch)
                if other_position is not None:
                    pair = [position, other_position]
                    self.order[pair] = self.order[pair[::-1]]

    def _numbers_in(self, batch: slice) -> np.ndarray:
        """Returns the numbers of the records of a batch, int64 `[per_batch]` or fewer."""
        return self._numbers[self.order[batch]]

    def _find_swap(self, position: int, batch: slice) -> int | None:
        """Returns the position of a record of another batch that may take that of a repeated one.

        After the swap neither batch has one of the two records twice. None if there is no such
        record.

        Args:
          position: of the repeated record.
          batch: the positions of its batch.
        """
        repeated_number = self._numbers[self.order[position]]
        own_numbers = self._numbers_in(batch)
        for index in self._rng.permutation(len(self._batches)).tolist():
            other_batch = self._batches[index]
            other_numbers = self._numbers_in(other_batch)
            if repeated_number in other_numbers:  # as in its own batch
                continue
            slots = np.flatnonzero(~np.isin(other_numbers, own_numbers))
            if len(slots):
                return other_batch.start + int(slots[self._rng.integers(len(slots))])
        return None


def _repeated_slots(batch_numbers: np.ndarray) -> list[int]:
    """Returns where a batch has a number again: for 5, 7, 5 that is 2."""
    _, first_slots = np.unique(batch_numbers, return_index=True)
    return np.setdiff1d(np.arange(len(batch_numbers)), first_slots).tolist()


def example_rng(
    filename: str | bytes, *, seed: int, epoch: int = 0, copy: int = 0
) -> np.random.Generator:
    """Makes the random generator of an example in an epoch, which depends on nothing else.

    Args:
      filename: its `image/filename`, which identifies it.
      seed: of the run.
      epoch: number of the epoch.
      copy: number of the copy, from 0, if an epoch has the example more than once.
    """
    encoded = filename.encode() if isinstance(filename, str) else filename
    digest = hashlib.blake2b(encoded, digest_size=16).digest()
    return np.random.default_rng([seed, epoch, copy, int.from_bytes(digest, "little")])
