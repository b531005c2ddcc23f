"""Loaders of batches, by threads of this process or by worker processes.

Worker processes write batches to buffers, which they share with the process that trains. A buffer
is written to again when nobody holds the tensors in it. A system hands out memory page by page, and
clears each page when it is first written to: with new shared memory for each batch, 2 workers took
1.4 times the CPU (600 images of 500 x 375, batches of 16 crops of 512 x 512). Threads take 0.97 to
1.02 times as much with new memory as with buffers, so they have none.
"""

from collections.abc import Iterator
import inspect
from typing import Any, NamedTuple
import weakref

import numpy as np
import torch
from torch.utils import data

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, did_you_mean
from voc_seg_tfrecord.core.names import FILENAME, LABELS
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.reading.data_source import DataSource
from voc_seg_tfrecord.reading.epoch_order import (
    Balance,
    BalanceBy,
    balance_classes,
    check_balance,
    check_count,
    check_shard,
)
from voc_seg_tfrecord.torch.batch import (
    Channels,
    EvaluationDataset,
    SegmentationDataset,
    allocate_bytes,
    check_source,
    with_features,
)
from voc_seg_tfrecord.torch.epochs import EpochBatches
from voc_seg_tfrecord.torch.transforms import Transform

_BATCHES_AHEAD_OF_WORKER = 2
"""PyTorch's default of `prefetch_factor`."""

_OWN_OPTIONS = {
    "num_workers": "give workers, the number of processes that make batches",
    "collate_fn": "leave it out, because the loader makes whole batches; to change images and "
    "masks, give transform",
    "persistent_workers": "leave it out, because workers are kept for all epochs",
    "sampler": "leave it out; shuffle, balance and shard choose the examples",
    "batch_sampler": "leave it out; shuffle, balance and shard choose the examples",
    "dataset": "give the data_source as the first argument",
}
"""Arguments of PyTorch's `DataLoader` that a loader sets itself, and what to do instead."""

_DATA_LOADER_ARGUMENTS = frozenset(inspect.signature(data.DataLoader.__init__).parameters)
"""The arguments of PyTorch's `DataLoader`."""

_PAGE_BYTES = 4096

_BATCHES_OF_USER = 3
"""How many batches a training may hold without new memory: one that it trains on, the next one, and
one that it keeps."""


def loader(
    source: DataSource,
    *,
    size: arrays.Size | None,
    batch_size: int,
    seed: int = 0,
    scales: tuple[float, float] | None = None,
    step: float | None = None,
    flip: bool | None = None,
    transform: Transform | None = None,
    shuffle: bool = True,
    drop_last: bool = True,
    balance: BalanceBy | None = None,
    balance_threshold: float | None = None,
    shard: tuple[int, int] = (0, 1),
    first_epoch: int = 0,
    start_step: int = 0,
    channels: Channels = "first",
    workers: int = 0,
    **options: Any,
) -> "SegmentationLoader":
    """Gives batches, shuffled, scaled, cropped and flipped at random. Each iteration is an epoch.

    Args:
      source: the examples, as `data_source` opens them.
      size: height and width of the crops, or one number for both. With None, images stay complete
        and are neither scaled nor flipped, and `transform` has to give all images of a batch the
        same size.
      batch_size: number of examples per batch of this process.
      seed: a number from 0 to 2**31 - 1 (0). The same seed gives the same batches.
      scales: the smallest and the largest random scale (0.5 and 2); (1, 1) does not scale.
      step: difference between possible scales; 0 allows any scale between the ends. By default 0.25
        if both ends are multiples of 0.25, otherwise 0.
      flip: whether to swap left and right with probability 0.5 (True).
      transform: changes each crop and its mask; see `torchvision_transform` and
        `albumentations_transform`.
      shuffle: whether each epoch has a new random order of all examples (True).
      drop_last: whether to drop the examples that do not fill a batch, other ones in each epoch
        (True).
      balance: `classes` draws images with rare classes more often; see `pipeline.training_batches`.
        All records are read once more to count the classes.
      balance_threshold: above 0, up to 1; see `pipeline.training_batches`.
      shard: the rank of this process and the number of ranks; (0, 1) by default. The ranks share
        the examples of an epoch, and all have the same number of batches.
      first_epoch: number of the first epoch, from 0 (0).
      start_step: number of batches of the first epoch to skip (0). To resume a run: `first_epoch,
        start_step = divmod(steps_done, len(loader))`.
      channels: whether images are `[B, 3, H, W]` or `[B, H, W, 3]`.
      workers: number of processes that make batches, kept for all epochs. With 0, the default,
        threads of this process make them, or, with a `transform`, the calling thread.
      **options: further arguments of PyTorch's `DataLoader`, such as `pin_memory`.

    Returns:
      A loader of `Batch`.

    Raises:
      ConfigError: if an argument is wrong, a feature is missing in the source, or an epoch has no
        batch.
    """
    check_source(source)
    dataset = SegmentationDataset(
        source,
        size=size,
        scales=scales,
        step=step,
        flip=flip,
        seed=seed,
        transform=transform,
        channels=channels,
    )
    index_lists = EpochBatches(
        len(dataset),
        batch_size=batch_size,
        seed=seed,
        shuffle=shuffle,
        drop_last=drop_last,
        balance=_find_balance(source, balance, balance_threshold),
        shard=shard,
        first_epoch=first_epoch,
        start_step=start_step,
    )
    return SegmentationLoader(
        dataset,
        index_lists,
        workers,
        byte_count=dataset.count_bytes(batch_size),
        # Libraries of transforms draw from generators of the process, which threads would share.
        in_threads=transform is None,
        options=options,
    )


def evaluation_loader(
    source: DataSource,
    *,
    batch_size: int = 1,
    multiple: int = 1,
    shard: tuple[int, int] = (0, 1),
    channels: Channels = "first",
    workers: int = 0,
    **options: Any,
) -> "SegmentationLoader":
    """Gives complete images, each once, in the order of the source.

    Args:
      source: the examples, as `data_source` opens them.
      batch_size: number of examples per batch (1); the last batch may be smaller.
      multiple: height and width of a batch are the largest of its images, rounded up to a multiple
        of this (1).
      shard: the rank of this process and the number of ranks; (0, 1) by default. The ranks share
        the examples; some may have one example less than others.
      channels: whether images are `[B, 3, H, W]` or `[B, H, W, 3]`.
      workers: number of processes that make batches. With 0, the default, threads of this process
        make them.
      **options: further arguments of PyTorch's `DataLoader`, such as `pin_memory`.

    Returns:
      A loader of `EvaluationBatch`.

    Raises:
      ConfigError: if an argument is wrong, or a feature is missing in the source.
    """
    check_source(source)
    check_count("batch_size", batch_size)
    check_shard(shard)
    dataset = EvaluationDataset(source.shard(*shard), multiple=multiple, channels=channels)
    index_lists = data.BatchSampler(range(len(dataset)), batch_size, drop_last=False)
    return SegmentationLoader(
        dataset,
        index_lists,
        workers,
        byte_count=dataset.count_bytes(batch_size),
        in_threads=True,
        options=options,
    )


_LOADER_ARGUMENTS = inspect.signature(loader).parameters
"""The arguments of `loader`, most of which `evaluation_loader` does not have."""


def _unknown_argument_error(name: str) -> ConfigError:
    expected = "an argument of this loader, or of PyTorch's DataLoader"
    if name in _LOADER_ARGUMENTS:
        return ConfigError(
            name,
            found="an argument of loader, and not of evaluation_loader",
            expected=expected,
            remedy="leave it out: evaluation_loader gives complete images, in order",
        )
    return ConfigError(
        name,
        found=f"no argument of this loader{did_you_mean(name, _LOADER_ARGUMENTS)}",
        expected=expected,
        remedy="correct its name, or leave it out",
    )


class SegmentationLoader(data.DataLoader):  # type: ignore[type-arg, unused-ignore]
    """A `DataLoader` that keeps its workers for all epochs, or uses threads if it has none.

    If a worker raises an error of this package, the loader raises the same error. With workers, an
    iteration that goes on after a newer one began raises a `ConfigError`.

    Args:
      dataset: the dataset, which makes a batch from a list of indices.
      index_lists: gives the list of indices of each batch of an epoch.
      workers: number of processes that make batches.
      byte_count: bytes of a batch, for which workers have buffers; 0 if they are not known.
      in_threads: whether threads make batches if there are no workers.
      options: further arguments of `DataLoader`.
    """

    def __init__(
        self,
        dataset: SegmentationDataset | EvaluationDataset,
        index_lists: "data.Sampler[Any]",
        workers: int,
        *,
        byte_count: int,
        in_threads: bool,
        options: dict[str, Any],
    ) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
            raise ConfigError("workers", found=repr(workers), expected="0 or more processes")
        for name in options.keys() - _DATA_LOADER_ARGUMENTS:
            raise _unknown_argument_error(name)
        for name in _OWN_OPTIONS.keys() & options.keys():
            raise ConfigError(
                name,
                found=repr(options[name]),
                expected="an argument of DataLoader that the loader does not set itself",
                remedy=_OWN_OPTIONS[name],
            )
        buffers = _BatchBuffers(_count_buffers(workers, options), byte_count)
        self._batch_maker = dataset
        self._index_lists = index_lists
        self._in_threads = in_threads
        self._buffers = buffers
        self._newest_iteration = 0
        # Pinned here: PyTorch's thread for it knows nothing of buffers.
        options = dict(options)
        self._wants_pinned = options.pop("pin_memory", False)
        super().__init__(
            _WorkerDataset(dataset, buffers.memory),
            batch_sampler=_BatchTasks(index_lists, buffers),
            num_workers=workers,
            persistent_workers=workers > 0,
            collate_fn=_return_batch,
            **options,
        )

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers:
            batches = self._make_in_workers()
        elif self._in_threads:
            batches = self._make_in_threads()
        else:
            batches = map(self._make_here, self._index_lists)
        is_pinned = self._wants_pinned and torch.cuda.is_available()
        return map(_pin, batches) if is_pinned else batches

    def _make_in_workers(self) -> Iterator[Any]:
        """Yields the batches of an epoch, and raises an error once a newer iteration has begun.

        Workers make one epoch at a time: when another iteration begins, they drop the last one.
        """
        self._newest_iteration += 1
        iteration = self._newest_iteration
        for batch in super().__iter__():
            if isinstance(batch, VocSegError):
                raise batch
            yield self._buffers.receive(batch)
            if self._newest_iteration != iteration:
                raise ConfigError(
                    "loader",
                    found="another iteration, which began before this one ended",
                    expected=f"one epoch at a time with {self.num_workers} workers",
                    remedy="end one loop before the next one begins, or make a second loader",
                )

    def _make_in_threads(self) -> Iterator[Any]:
        """Yields the batches of an epoch, some of which are made ahead."""
        for _, batch in ordered_map(self._make_here, self._index_lists):
            yield batch

    def _make_here(self, indices: Any) -> Any:
        """Returns a batch that this thread makes."""
        return self._batch_maker.make_batch(indices, None)


def _count_buffers(workers: int, options: dict[str, Any]) -> int:
    """Returns for how many batches a loader has memory: those made ahead, and those of the user.

    Threads need none.
    """
    if not workers:
        return 0
    batches_ahead = options.get("prefetch_factor") or _BATCHES_AHEAD_OF_WORKER
    return workers * batches_ahead + _BATCHES_OF_USER


def _pin(batch: Any) -> Any:
    """Returns a batch whose tensors are in pinned memory."""
    return type(batch)(
        *(value.pin_memory() if isinstance(value, torch.Tensor) else value for value in batch)
    )


def _return_batch(batch: Any) -> Any:
    """Stands for PyTorch's collation, as the dataset makes whole batches."""
    return batch


class _TensorPlace(NamedTuple):
    """Where a tensor lies in a buffer.

    Attributes:
      start: its first byte.
      dtype: its dtype.
      size: its size.
      stride: its strides, which are others if its channels were moved.
    """

    start: int
    dtype: torch.dtype
    size: tuple[int, ...]
    stride: tuple[int, ...]


class _BatchInBuffer(NamedTuple):
    """A batch whose tensors a worker has written to a buffer. It is sent without them.

    Attributes:
      batch_class: `Batch` or `EvaluationBatch`.
      places: where each tensor lies in the buffer, by its field.
      other_fields: the values of all other fields, such as the ids.
      buffer_number: the number of the buffer.
    """

    batch_class: Any
    places: dict[str, _TensorPlace]
    other_fields: dict[str, Any]
    buffer_number: int


class _BatchInNewMemory(NamedTuple):
    """A batch that a worker has written to new memory. It is sent with its tensors.

    Attributes:
      batch: the batch.
      unused_buffer: the number of the buffer that was reserved for it, into which it did not fit;
        None if no buffer was free.
    """

    batch: Any
    unused_buffer: int | None


def _describe_batch(
    batch: Any, buffers: torch.Tensor, number: int | None
) -> _BatchInBuffer | _BatchInNewMemory:
    """Returns what a worker sends.

    Args:
      batch: the batch. If it did not fit into its buffer, it is in new memory.
      buffers: uint8 `[count, bytes]`.
      number: the buffer that was reserved for it; None if no buffer was free.
    """
    storage = buffers.untyped_storage()
    is_in_buffer = batch.images.untyped_storage().data_ptr() == storage.data_ptr()
    if number is None or not is_in_buffer:
        return _BatchInNewMemory(batch, number)
    buffer_start = buffers[number].storage_offset()  # in bytes, as the elements are uint8
    places = {}
    other_fields = {}
    for name, value in batch._asdict().items():
        if isinstance(value, torch.Tensor):
            start = value.storage_offset() * value.element_size() - buffer_start
            places[name] = _TensorPlace(start, value.dtype, tuple(value.size()), value.stride())
        else:
            other_fields[name] = value
    return _BatchInBuffer(type(batch), places, other_fields, number)


class _BatchBuffers:
    """The buffers of a loader, each of which is free, reserved, or lent.

    A reserved buffer is being written to by a worker. A lent one is held by the process that
    trains. It becomes free when all tensors in it are garbage. Any thread may call any method.

    Args:
      count: how many batches they are for.
      byte_count: bytes of a batch; 0 for no buffers.

    Attributes:
      memory: uint8 `[count, bytes]`, shared, with whole pages.
    """

    def __init__(self, count: int, byte_count: int) -> None:
        if not byte_count:
            count = 0
        whole_pages = -(-byte_count // _PAGE_BYTES) * _PAGE_BYTES
        memory = allocate_bytes(count * whole_pages, is_shared=True)
        self.memory = memory.view(count, whole_pages)
        # The one that became free last is taken first: its pages are there, and maybe cached.
        self._free = list(range(count))
        self._reserved: set[int] = set()

    def reserve(self) -> int | None:
        """Returns the number of a free buffer, which is now reserved; None if none is free."""
        try:
            number = self._free.pop()
        except IndexError:
            return None
        self._reserved.add(number)
        return number

    def free_reserved(self) -> None:
        """Frees what was reserved for batches that did not come, when no worker writes to it."""
        while self._reserved:
            self._free.append(self._reserved.pop())

    def receive(self, sent: _BatchInBuffer | _BatchInNewMemory) -> Any:
        """Returns a batch that a worker sent, with its tensors. Its buffer is lent or free then."""
        if isinstance(sent, _BatchInNewMemory):
            if sent.unused_buffer is not None:
                self._reserved.remove(sent.unused_buffer)
                self._free.append(sent.unused_buffer)
            return sent.batch
        self._reserved.remove(sent.buffer_number)
        buffer = self._lend(sent.buffer_number)
        tensors = {}
        for name, place in sent.places.items():
            tensor = buffer[place.start :].view(place.dtype)
            tensors[name] = tensor.as_strided(place.size, place.stride)
        return sent.batch_class(**sent.other_fields, **tensors)

    def _lend(self, number: int) -> torch.Tensor:
        """Returns a buffer, uint8 `[bytes]`, which becomes free when no tensor in it is left."""
        # A view of a view holds the array below both, and not the view between. NumPy does not look
        # for an array below a memoryview, so that all views of this array hold it.
        lent = np.frombuffer(self.memory[number].numpy().data, np.uint8)
        loan = weakref.finalize(lent, self._free.append, number)
        loan.atexit = False  # at its end the process needs no buffers
        return torch.from_numpy(lent)


class _BatchTask(NamedTuple):
    """What a worker is to do.

    Attributes:
      indices: which examples make the batch, as the dataset's `make_batch` takes them.
      buffer: number of the buffer that it writes to; None if no buffer was free.
    """

    indices: Any
    buffer: int | None


class _BatchTasks(data.Sampler):  # type: ignore[type-arg, unused-ignore]
    """The tasks of an epoch for workers.

    Args:
      index_lists: gives the list of indices of each batch of an epoch.
      buffers: reserved for them, one after the other.
    """

    def __init__(self, index_lists: "data.Sampler[Any]", buffers: _BatchBuffers) -> None:
        self._index_lists = index_lists
        self._buffers = buffers

    def __len__(self) -> int:
        return len(self._index_lists)  # type: ignore[arg-type, unused-ignore]

    def __iter__(self) -> Iterator[_BatchTask]:
        # PyTorch asks for the first task when no worker has one of the last epoch any more.
        self._buffers.free_reserved()
        for indices in self._index_lists:
            yield _BatchTask(indices, self._buffers.reserve())


class _WorkerDataset(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Does the tasks of a worker.

    Errors of this package are returned in place of batches: PyTorch sends an error of a worker as
    text, and makes a RuntimeError of it.

    Args:
      dataset: makes the batches.
      buffers: to which they are written, uint8 `[count, bytes]`.
    """

    def __init__(
        self, dataset: SegmentationDataset | EvaluationDataset, buffers: torch.Tensor
    ) -> None:
        self._dataset = dataset
        self._buffers = buffers

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitems__(self, task: _BatchTask) -> _BatchInBuffer | _BatchInNewMemory | VocSegError:
        try:
            buffer = None if task.buffer is None else self._buffers[task.buffer]
            batch = self._dataset.make_batch(task.indices, buffer)
        except VocSegError as error:
            return error
        return _describe_batch(batch, self._buffers, task.buffer)


def _find_balance(
    source: DataSource, by: BalanceBy | None, threshold: float | None
) -> Balance | None:
    """Finds how often each example is to be drawn; reads the labels of all records."""
    check_balance(by, threshold)
    if by is None:
        return None
    filenames = []
    has_class = np.zeros((len(source), len(source.class_names)), bool)
    for number, example in enumerate(with_features(source, [FILENAME, LABELS])):
        filenames.append(example[FILENAME])
        has_class[number, example[LABELS]] = True
    return balance_classes(filenames, has_class, threshold)
