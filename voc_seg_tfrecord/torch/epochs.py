"""Which examples each batch of an epoch has."""

from collections.abc import Iterator
from typing import NamedTuple

from torch.utils import data

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.reading.epoch_order import (
    Balance,
    EpochOrder,
    check_count,
    check_flag,
    check_seed,
    check_shard,
)


class Draw(NamedTuple):
    """An example in an epoch: the index of a `SegmentationDataset`.

    Attributes:
      number: number of the example in the source.
      epoch: number of the epoch.
      copy: number of the copy, from 0, if an epoch has the example more than once.
    """

    number: int
    epoch: int = 0
    copy: int = 0


class EpochBatches(data.Sampler):  # type: ignore[type-arg, unused-ignore]
    """Gives a list of `Draw` for each batch of an epoch. Each iteration gives the next epoch.

    Args:
      count: number of examples.
      batch_size: number of examples per batch of this process.
      seed: see `loader`.
      shuffle: see `loader`.
      drop_last: see `loader`.
      balance: how often each example comes in an epoch; None for once.
      shard: see `loader`.
      first_epoch: see `loader`.
      start_step: see `loader`.

    Attributes:
      next_epoch: number of the epoch of the next iteration.

    Raises:
      ConfigError: if an argument is wrong, or an epoch would have no batch.
    """

    def __init__(
        self,
        count: int,
        *,
        batch_size: int,
        seed: int = 0,
        shuffle: bool = True,
        drop_last: bool = True,
        balance: Balance | None = None,
        shard: tuple[int, int] = (0, 1),
        first_epoch: int = 0,
        start_step: int = 0,
    ) -> None:
        check_seed(seed)
        check_count("batch_size", batch_size)
        check_shard(shard)
        check_flag("shuffle", shuffle)
        check_flag("drop_last", drop_last)
        self._rank, ranks = shard
        self._ranks = ranks
        self._per_batch = batch_size * ranks
        self._batch_count = _count_batches(count, self._per_batch, ranks, drop_last=drop_last)
        _check_start(first_epoch, start_step, self._batch_count)
        self._order = EpochOrder(count, seed, shuffle, self._per_batch, balance)
        self._start_step = start_step
        self.next_epoch = first_epoch

    def __len__(self) -> int:
        return self._batch_count

    def __iter__(self) -> Iterator[list[Draw]]:
        epoch = self.next_epoch
        start_step = self._start_step
        self.next_epoch += 1
        self._start_step = 0
        records = self._order.list_records(epoch)
        for step in range(start_step, self._batch_count):
            first = step * self._per_batch
            own = slice(first + self._rank, first + self._per_batch, self._ranks)
            numbers = records.numbers[own].tolist()
            pairs = zip(numbers, records.copies[own].tolist(), strict=True)
            yield [Draw(number, epoch, copy) for number, copy in pairs]


def _count_batches(count: int, per_batch: int, ranks: int, *, drop_last: bool) -> int:
    """Returns how many batches an epoch has, which is the same in each rank.

    Args:
      count: examples of an epoch.
      per_batch: examples of a batch of all ranks.
      ranks: how many ranks there are.
      drop_last: whether to drop the rest.

    Raises:
      ConfigError: if there is none, or the last batch has fewer examples than there are ranks.
    """
    if not count:
        raise ConfigError("source", found="no examples", expected="one or more")
    full_count, rest = divmod(count, per_batch)
    if drop_last or not rest:
        if not full_count:
            raise ConfigError(
                "batch_size",
                found=f"{counted(count, 'example')}, for batches of {per_batch}",
                expected="at least one full batch",
                remedy="use smaller batches or drop_last=False",
            )
        return full_count
    if rest < ranks:
        raise ConfigError(
            "drop_last",
            found=f"False, and {counted(rest, 'example')} in the last batch of {ranks} ranks",
            expected="at least one example for each rank, which would wait for the others",
            remedy="use drop_last=True or another batch_size",
        )
    return full_count + 1


def _check_start(first_epoch: int, start_step: int, batch_count: int) -> None:
    """Raises a ConfigError if a run cannot begin at this step of this epoch."""
    are_whole = isinstance(first_epoch, int) and isinstance(start_step, int)
    if not are_whole or first_epoch < 0 or not 0 <= start_step < batch_count:
        raise ConfigError(
            "first_epoch, start_step",
            found=f"{first_epoch}, {start_step}",
            expected=f"an epoch of 0 or more, and a step of 0 to {batch_count - 1}",
            remedy="divmod(steps_done, len(loader)) gives both",
        )
