"""Computes in which order an epoch has the records, and the random numbers of each example.

Records are known by their numbers. Both depend on the seed of the run and the epoch, and the random
numbers on the example; on no thread, worker or process.
"""

from collections.abc import Sequence
import dataclasses
import hashlib
from typing import Literal, NamedTuple, SupportsInt

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError

BalanceBy = Literal["classes"]
"""What images may be balanced by."""


@dataclasses.dataclass(frozen=True, eq=False)
class Balance:
    """How often each example and each class is to be drawn.

    Attributes:
      cumulative_copies: expected copies of each example and all before it, in the order of file
        names, so that the draw does not depend on the order of records, float64 `[N]`. An example
        that follows 3.2 copies and ends at 5.4 is drawn two or three times.
      rank_by_filename: the place of each record in the order of file names, int64 `[N]`.
      factors: the repeat factor of each class, float32 `[classes]`; 1 if it is in no image.
    """

    cumulative_copies: np.ndarray
    rank_by_filename: np.ndarray
    factors: np.ndarray

    def copies(self, rng: np.random.Generator) -> np.ndarray:
        """Returns how often each record is in an epoch, int64 `[N]`; the sum is N."""
        drawn_so_far = np.floor(self.cumulative_copies + rng.random()).astype(np.int64)
        copies_in_order_of_names = np.diff(drawn_so_far, prepend=0)
        return copies_in_order_of_names[self.rank_by_filename]


def check_balance(by: BalanceBy | None, threshold: float | None) -> None:
    """Checks the arguments `balance` and `balance_threshold`.

    Raises:
      ConfigError: if one of them is wrong, or there is a threshold without a balance.
    """
    if by is None:
        if threshold is not None:
            raise ConfigError(
                "balance_threshold",
                found=f"{threshold} without balance",
                expected="balance='classes' too",
                remedy="give both, or none",
            )
        return
    if by != "classes":
        raise ConfigError("balance", found=repr(by), expected="'classes' or None")
    if threshold is not None and not 0 < threshold <= 1:
        raise ConfigError("balance_threshold", found=str(threshold), expected="above 0, up to 1")


def balance_classes(
    filenames: Sequence[bytes], has_class: np.ndarray, threshold: float | None
) -> Balance:
    """Finds how often each example is to be drawn, by repeat factor sampling.

    A class that is in the share f of the images has the repeat factor max(1, sqrt(t / f)), with
    the threshold t, and an image has the largest factor of its classes. Here the factors are
    divided by their mean, so that an epoch keeps its length, and the numbers of copies of each
    epoch are drawn by systematic sampling: each is the number expected, rounded down or up.

    Args:
      filenames: of the examples.
      has_class: which classes each example has, bool `[N, classes]`.
      threshold: t, above 0, up to 1; None is 1.

    References:
      Gupta, Dollar and Girshick, "LVIS: A Dataset for Large Vocabulary Instance Segmentation",
      CVPR 2019, section 5.2 (repeat factor sampling).
    """
    factors = class_factors(has_class, 1 if threshold is None else threshold)
    image_factors = np.where(has_class, factors, 1).max(axis=1, initial=1)
    order_of_names = np.argsort(filenames, kind="stable")
    return Balance(
        cumulative_copies=_expected_copies(image_factors[order_of_names]),
        rank_by_filename=_inverse_permutation(order_of_names),
        factors=factors.astype(np.float32),
    )


def _expected_copies(factors: np.ndarray) -> np.ndarray:
    """Returns the expected copies of each image and all before it, float64 `[N]`; the last is N.

    Factors of 1, 2 and 1 give 0.75, 2.25 and 3.
    """
    count = len(factors)
    cumulative = np.cumsum(factors)
    cumulative *= count / cumulative[-1]
    cumulative[-1] = count  # exactly, whatever was rounded
    return cumulative


def _inverse_permutation(order: np.ndarray) -> np.ndarray:
    """Returns the place of each number in an order, int64 `[N]`: of 2, 0, 1 it is 1, 2, 0."""
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    return places


def class_factors(has_class: np.ndarray, threshold: float) -> np.ndarray:
    """Returns the repeat factor of each class, float64 `[classes]`.

    Args:
      has_class: which classes each image has, bool `[N, classes]`.
      threshold: the share of the images below which a class is repeated.
    """
    share = has_class.mean(axis=0)
    share = np.maximum(share, 1 / len(has_class))  # a class in no image would divide by 0
    factors = np.maximum(1, np.sqrt(threshold / share))
    return np.where(has_class.any(axis=0), factors, 1)


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


def check_seed(seed: int) -> None:
    """Raises a ConfigError if a seed is not in 0 to 2**31 - 1."""
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 1 << 31:
        raise ConfigError("seed", found=repr(seed), expected="0 to 2147483647")


def check_count(name: str, count: int) -> None:
    """Raises a ConfigError if a number is not a whole one of 1 or more."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigError(name, found=repr(count), expected="a whole number of 1 or more")


def check_flag(name: str, flag: bool) -> None:
    """Raises a ConfigError if a flag is a text such as `False`, which would count as true."""
    if not isinstance(flag, bool | np.bool_):
        raise ConfigError(name, found=repr(flag), expected="True or False")


def check_shard(shard: tuple[int, int]) -> None:
    """Raises a ConfigError if a rank is not below the number of ranks."""
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ConfigError(
            "shard",
            found=f"rank {rank} of {ranks}",
            expected="a rank of 0 or more that is below the number of ranks",
        )


def concatenate_ranges(starts: np.ndarray | int, counts: np.ndarray) -> np.ndarray:
    """Returns `starts[0], starts[0] + 1, ...`, `counts[0]` of them, then those of the next ones.

    Example: the counts 2, 0, 3 and the start 0 give 0, 1, 0, 1, 2.

    Args:
      starts: the first number of each range, int64 `[N]`, or of all of them.
      counts: how many numbers each range has, int64 `[N]`.
    """
    first_positions = np.cumsum(counts) - counts
    return np.arange(counts.sum()) + np.repeat(starts - first_positions, counts)
