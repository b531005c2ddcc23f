"""Computes in which order an epoch has the records, which are known by their numbers."""

import dataclasses

import numpy as np

from voc_seg_tfrecord.pipeline.balance import Balance


@dataclasses.dataclass(frozen=True)
class EpochOrder:
    """The rule that gives the order of each epoch; it depends on seed and epoch alone.

    Attributes:
      count: how many records there are.
      seed: of the run.
      shuffle: True for any order, False for that of the records, or the size of a buffer.
      per_batch: how many records a batch has.
      balance: how often each record is drawn; None for once.
    """

    count: int
    seed: int
    shuffle: bool | int
    per_batch: int
    balance: Balance | None

    def of_epoch(self, epoch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the copies and the numbers of the records of an epoch, int64 `[N]` each.

        For example copy 1 of record 7 stands for the second time that record 7 is drawn.
        """
        rng = np.random.default_rng([self.seed, int(epoch)])
        times = np.ones(self.count, np.int64)
        if self.balance is not None:
            times = self.balance.copies(rng)
        numbers = np.repeat(np.arange(self.count), times)
        first_of_number = np.repeat(np.cumsum(times) - times, times)
        copies = np.arange(self.count) - first_of_number
        order = self._permutation(rng)
        if self.balance is not None and self.shuffle:
            order = order[separate_copies(numbers[order], self.per_batch, rng)]
        return copies[order], numbers[order]

    def _permutation(self, rng: np.random.Generator) -> np.ndarray:
        if self.shuffle is True:
            return rng.permutation(self.count)
        if not self.shuffle:
            return np.arange(self.count)
        return _shuffle_by_buffer(self.count, self.shuffle, rng)


def _shuffle_by_buffer(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Returns the order that `tf.data` gives with a buffer: each step draws one entry of it."""
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


def separate_copies(numbers: np.ndarray, per_batch: int, rng: np.random.Generator) -> np.ndarray:
    """Returns an order in which no batch has a record twice, as far as there is one.

    A record that comes twice into a batch is swapped with a record of another batch, which is
    drawn at random.

    Args:
      numbers: of the records in the order so far, int64 `[N]`; a number may be there several times.
      per_batch: how many records a batch has.
      rng: the random generator.

    Returns:
      int64 `[N]`, by which `numbers` is indexed.
    """
    order = np.arange(len(numbers))
    # Views of `order`: what is swapped in them is swapped there.
    batches = [order[start : start + per_batch] for start in range(0, len(order), per_batch)]
    numbers_of = [set(numbers[batch].tolist()) for batch in batches]
    for index, batch in enumerate(batches):
        _, first_slots = np.unique(numbers[batch], return_index=True)
        repeated_slots = np.setdiff1d(np.arange(len(batch)), first_slots)
        for slot in repeated_slots:
            number = int(numbers[batch[slot]])
            for other_index in rng.permutation(len(batches)).tolist():
                if other_index == index or number in numbers_of[other_index]:
                    continue
                other = batches[other_index]
                other_numbers = numbers[other]
                slots = [s for s, n in enumerate(other_numbers) if n not in numbers_of[index]]
                if not slots:
                    continue
                other_slot = slots[int(rng.integers(len(slots)))]
                numbers_of[index].add(int(other_numbers[other_slot]))
                batch[slot], other[other_slot] = other[other_slot], batch[slot]
                numbers_of[other_index] = set(numbers[other].tolist())
                break
    return order
