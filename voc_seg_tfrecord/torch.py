"""Batches of a built dataset for PyTorch, without TensorFlow.

`loader` gives random crops to train on, and `evaluation_loader` complete images. Both take a
`voc_seg_tfrecord.data_source`. A worker decodes, crops and pads straight into the shared memory of
one batch, so that nothing is collated or copied on its way to the training process.

Everything random about an example depends on the seed, the epoch and the example. The same seed
gives the same batches for any number of workers, however they are started.
"""

from collections.abc import Callable, Iterator, Sequence
import dataclasses
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, counted
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, LABELS, MASK, VOID
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.reading.balance import Balance, BalanceBy, balance_classes, check_balance
from voc_seg_tfrecord.reading.data_source import DataSource, Example
from voc_seg_tfrecord.reading.epoch_order import (
    EpochOrder,
    check_count,
    check_seed,
    check_shard,
    example_rng,
)

requirements.require("torch", "voc_seg_tfrecord.torch", "use voc_seg_tfrecord.arrays")

# isort: split
import torch
from torch.utils import data

__all__ = [
    "Batch",
    "Draw",
    "EpochBatches",
    "EvaluationBatch",
    "EvaluationDataset",
    "SegmentationDataset",
    "SegmentationLoader",
    "Transform",
    "albumentations_transform",
    "evaluation_loader",
    "loader",
    "torchvision_transform",
]

Channels: TypeAlias = Literal["first", "last"]
"""Where the channels of a batch of images are: `[B, C, H, W]` or `[B, H, W, C]`."""

Transform: TypeAlias = Callable[
    [np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]
]
"""Changes an image `[H, W, C]` and its mask, uint8 `[H, W]`, by random numbers of the generator."""

_DEEPLAB_SCALES = (0.5, 2.0)

_IMAGE_FILL = 0
"""Value of padding in images; that in masks is void."""


class Batch(NamedTuple):
    """A batch to train on.

    Attributes:
      images: uint8 `[B, 3, H, W]` in the memory format `torch.channels_last`, or uint8
        `[B, H, W, 3]`; 0 in padding. Images of other bands have their number and dtype.
      masks: uint8 `[B, H, W]`, class indices, and 255 for void and padding.
      ids: the image id of each example.
    """

    images: torch.Tensor
    masks: torch.Tensor
    ids: list[str]


class EvaluationBatch(NamedTuple):
    """A batch of complete images, which are padded at the bottom and the right.

    Attributes:
      images: as in `Batch`.
      masks: as in `Batch`; None if the dataset has none.
      ids: the image id of each example.
      sizes: height and width of each image without padding.
    """

    images: torch.Tensor
    masks: torch.Tensor | None
    ids: list[str]
    sizes: list[tuple[int, int]]


class Draw(NamedTuple):
    """An example in an epoch: the index of a `SegmentationDataset`.

    Attributes:
      number: of the example in the source.
      epoch: its number.
      copy: which one it is, if an epoch has the example more than once.
    """

    number: int
    epoch: int = 0
    copy: int = 0


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
    """Shuffles, scales, crops and flips at random. Each iteration is the next epoch.

    Args:
      source: the examples, as `data_source` opens them.
      size: size of the crops, one number for a square, or height and width. None leaves images
        complete, and `transform` has to bring those of a batch to one size.
      batch_size: examples per batch of this process.
      seed: 0 to 2**31 - 1 (0).
      scales: the smallest and the largest random scale, (0.5, 2) by default; (1, 1) does not
        scale.
      step: difference between neighboring scales; see `arrays.random_scaled_crop`.
      flip: whether to swap left and right with probability 0.5, which is the default.
      transform: changes each crop and its mask; see `torchvision_transform` and
        `albumentations_transform`.
      shuffle: whether to draw the order of all examples anew in each epoch (True).
      drop_last: whether to drop the examples that do not fill a batch (True), in each epoch other
        ones.
      balance: `classes` draws images with rare classes more often; see
        `pipeline.training_batches`. All records are read once more for it.
      balance_threshold: above 0, up to 1; see `pipeline.training_batches`.
      shard: the rank of this process and how many there are (0 of 1). All together have each
        example of an epoch once, and each has as many batches.
      first_epoch: number of the first epoch (0).
      start_step: how many batches of the first epoch to leave out (0), to go on where a run has
        stopped: `first_epoch, start_step = divmod(steps_done, len(loader))`.
      channels: whether images are `[B, 3, H, W]` or `[B, H, W, 3]`.
      workers: processes that make batches (0). They stay for all epochs. Without them threads of
        this process do it, or with a `transform` this thread.
      **options: of PyTorch's `DataLoader`, such as `pin_memory`.

    Returns:
      A loader of `Batch`.

    Raises:
      ConfigError: if an argument is wrong, the source lacks a feature, or an epoch has no batch.
    """
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
    batches = EpochBatches(
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
    # Libraries of transforms draw from generators of the process, which threads would share.
    in_threads = transform is None
    return SegmentationLoader(dataset, batches, workers, in_threads=in_threads, options=options)


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
      batch_size: examples per batch (1); the last batch may be smaller.
      multiple: height and width of a batch are those of its largest image, rounded up to a
        multiple of this (1).
      shard: the rank of this process and how many there are (0 of 1). All together have each
        example once; some may have one example less than others.
      channels: whether images are `[B, 3, H, W]` or `[B, H, W, 3]`.
      workers: processes that make batches (0); without them threads of this process do it.
      **options: of PyTorch's `DataLoader`, such as `pin_memory`.

    Returns:
      A loader of `EvaluationBatch`.

    Raises:
      ConfigError: if an argument is wrong or the source lacks a feature.
    """
    check_count("batch_size", batch_size)
    check_shard(shard)
    dataset = EvaluationDataset(source.shard(*shard), multiple=multiple, channels=channels)
    batches = data.BatchSampler(range(len(dataset)), batch_size, drop_last=False)
    return SegmentationLoader(dataset, batches, workers, in_threads=True, options=options)


def torchvision_transform(transform: Callable[..., Any]) -> Transform:
    """Makes a `Transform` of one of `torchvision.transforms.v2`.

    It gets a `tv_tensors.Image` and a `tv_tensors.Mask`. What it uncovers in a mask is void only
    with `fill={tv_tensors.Image: 0, tv_tensors.Mask: 255}`.

    Args:
      transform: the transform.
    """
    return _TorchvisionTransform(transform)


def albumentations_transform(transform: Any) -> Transform:
    """Makes a `Transform` of an `albumentations.Compose`, version 2.

    What it uncovers in a mask is void only with `fill_mask=255`.

    Args:
      transform: the transform.
    """
    return _AlbumentationsTransform(transform)


@dataclasses.dataclass(frozen=True)
class _TorchvisionTransform:
    """A transform of torchvision, as a `Transform`."""

    transform: Callable[..., Any]

    def __call__(
        self, image: np.ndarray, mask: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        from torchvision import tv_tensors

        pixels = tv_tensors.Image(torch.from_numpy(image).permute(2, 0, 1))
        classes = tv_tensors.Mask(torch.from_numpy(mask))
        # torchvision draws from the generator of the process, which is the training's too.
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(int(rng.integers(1 << 63)))
            pixels, classes = self.transform(pixels, classes)
        return pixels.permute(1, 2, 0).numpy(), classes.numpy()


@dataclasses.dataclass(frozen=True)
class _AlbumentationsTransform:
    """A transform of albumentations, as a `Transform`."""

    transform: Any

    def __call__(
        self, image: np.ndarray, mask: np.ndarray, rng: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        self.transform.set_random_seed(int(rng.integers(1 << 32)))
        changed = self.transform(image=image, mask=mask)
        return changed["image"], changed["mask"]


class SegmentationDataset(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Random crops by `Draw`, made in whole batches.

    PyTorch's loader asks for a batch at once, by `__getitems__`. In a worker the batch lies in
    shared memory. For a `DataLoader` of your own use `EpochBatches` as its `batch_sampler`, and
    `collate_fn=lambda batch: batch`.

    Args:
      source: the examples.
      size: see `loader`, as all that follows.
      scales: see `loader`.
      step: see `loader`.
      flip: see `loader`.
      seed: see `loader`.
      transform: see `loader`.
      channels: see `loader`.

    Raises:
      ConfigError: if an argument is wrong or the source lacks a feature.
    """

    def __init__(
        self,
        source: DataSource,
        *,
        size: arrays.Size | None,
        scales: tuple[float, float] | None = None,
        step: float | None = None,
        flip: bool | None = None,
        seed: int = 0,
        transform: Transform | None = None,
        channels: Channels = "first",
    ) -> None:
        check_seed(seed)
        _check_channels(channels)
        self._source = _with_features(source, [IMAGE, MASK, FILENAME])
        self._crop = _make_crop(size, scales, step, flip)
        self._seed = seed
        self._transform = transform
        self._channels: Channels = channels

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, draw: Draw) -> Batch:
        """Returns a batch of one example."""
        return self.__getitems__([draw])

    def __getitems__(self, draws: Sequence[Draw]) -> Batch:
        """Returns a batch of the examples, in their order."""
        batch: _BatchMemory | None = None
        ids = []
        for place, draw in enumerate(draws):
            pair, rng = self._read(draw)
            is_cropped_in_place = self._crop is not None and self._transform is None
            if not is_cropped_in_place:
                pair = self._crop_and_transform(pair, rng)
            if batch is None:
                size = pair.size if self._crop is None else self._crop.size
                batch = _BatchMemory.allocate(len(draws), size, like=pair.image)
            batch.check_fits(pair, any_size=is_cropped_in_place)
            images, masks = batch.arrays_of(place)
            if self._crop is not None and is_cropped_in_place:
                self._crop.write(pair, rng, images, masks)
            else:
                images[...] = pair.image
                masks[...] = pair.mask
            ids.append(pair.id)
        if batch is None:
            raise ConfigError("batch", found="no index", expected="one or more")
        return Batch(batch.images(self._channels), batch.masks, ids)

    def _read(self, draw: Draw) -> tuple["_DecodedPair", np.random.Generator]:
        """Returns an example, and the generator of its random numbers."""
        if not isinstance(draw, Draw):
            raise ConfigError(
                "SegmentationDataset",
                found=f"the index {draw!r}",
                expected="a Draw, whose epoch decides on the crop",
                remedy="use voc_seg_tfrecord.torch.loader, or give EpochBatches to a DataLoader "
                "as its batch_sampler",
            )
        example = self._source[draw.number]
        rng = example_rng(example[FILENAME], seed=self._seed, epoch=draw.epoch, copy=draw.copy)
        return _DecodedPair.of_example(example), rng

    def _crop_and_transform(self, pair: "_DecodedPair", rng: np.random.Generator) -> "_DecodedPair":
        if self._crop is not None:
            pair = self._crop.apply(pair, rng)
        if self._transform is None:
            return pair
        image, mask = self._transform(pair.image, pair.mask, rng)
        _check_transformed(pair.id, image, mask)
        return _DecodedPair(image, mask, pair.id)


class EvaluationDataset(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Complete images by number, made in whole batches.

    Args:
      source: the examples.
      multiple: see `evaluation_loader`.
      channels: see `evaluation_loader`.

    Raises:
      ConfigError: if an argument is wrong or the source lacks a feature.
    """

    def __init__(
        self, source: DataSource, *, multiple: int = 1, channels: Channels = "first"
    ) -> None:
        check_count("multiple", multiple)
        _check_channels(channels)
        self._has_masks = MASK in source.features
        features = [IMAGE, MASK, FILENAME] if self._has_masks else [IMAGE, FILENAME]
        self._source = _with_features(source, features)
        self._multiple = multiple
        self._channels: Channels = channels

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, number: int) -> EvaluationBatch:
        """Returns a batch of one example."""
        return self.__getitems__([number])

    def __getitems__(self, numbers: Sequence[int]) -> EvaluationBatch:
        """Returns a batch of the examples, in their order."""
        pairs = [_DecodedPair.of_example(example) for example in self._source[list(numbers)]]
        largest = np.max([pair.size for pair in pairs], axis=0)
        height, width = -(-largest // self._multiple) * self._multiple
        batch = _BatchMemory.allocate(len(pairs), (int(height), int(width)), like=pairs[0].image)
        for place, pair in enumerate(pairs):
            batch.check_fits(pair, any_size=True)
            images, masks = batch.arrays_of(place)
            height, width = pair.size
            images[...] = _IMAGE_FILL
            masks[...] = VOID
            images[:height, :width] = pair.image
            masks[:height, :width] = pair.mask
        return EvaluationBatch(
            batch.images(self._channels),
            batch.masks if self._has_masks else None,
            [pair.id for pair in pairs],
            [pair.size for pair in pairs],
        )


class EpochBatches(data.Sampler):  # type: ignore[type-arg, unused-ignore]
    """The draws of each batch of an epoch; each iteration is the next epoch.

    Args:
      count: how many examples there are.
      batch_size: examples per batch of this process.
      seed: see `loader`.
      shuffle: see `loader`.
      drop_last: see `loader`.
      balance: how often each example is drawn; None for once.
      shard: see `loader`.
      first_epoch: see `loader`.
      start_step: see `loader`.

    Attributes:
      next_epoch: number of the epoch that the next iteration gives.

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
        if not isinstance(shuffle, bool):
            raise ConfigError("shuffle", found=repr(shuffle), expected="True or False")
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
        copies, numbers = self._order.of_epoch(np.asarray(epoch))
        for step in range(start_step, self._batch_count):
            first = step * self._per_batch
            own = slice(first + self._rank, first + self._per_batch, self._ranks)
            pairs = zip(numbers[own].tolist(), copies[own].tolist(), strict=True)
            yield [Draw(number, epoch, copy) for number, copy in pairs]


class SegmentationLoader(data.DataLoader):  # type: ignore[type-arg, unused-ignore]
    """PyTorch's loader with workers that stay, or with threads if it has no workers.

    An error of this package that a worker raises is raised here with its own class.

    Args:
      dataset: makes a batch of a list of indices.
      batches: the lists of indices of an epoch.
      workers: how many processes make batches.
      in_threads: whether threads make batches if there are no workers.
      options: of `DataLoader`.
    """

    def __init__(
        self,
        dataset: SegmentationDataset | EvaluationDataset,
        batches: "data.Sampler[Any]",
        workers: int,
        *,
        in_threads: bool,
        options: dict[str, Any],
    ) -> None:
        if isinstance(workers, bool) or not isinstance(workers, int) or workers < 0:
            raise ConfigError("workers", found=repr(workers), expected="0 or more processes")
        self._batch_maker = dataset
        self._in_threads = in_threads
        super().__init__(
            _ErrorsAsValues(dataset),
            batch_sampler=batches,
            num_workers=workers,
            persistent_workers=workers > 0,
            collate_fn=_return_batch,
            **options,
        )

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers == 0 and self._in_threads:
            yield from self._make_in_threads()
            return
        for batch in super().__iter__():
            if isinstance(batch, VocSegError):
                raise batch
            yield batch

    def _make_in_threads(self) -> Iterator[Any]:
        """Yields the batches of an epoch, some of which are made ahead."""
        is_pinned = self.pin_memory and torch.cuda.is_available()
        for _, batch in ordered_map(self._batch_maker.__getitems__, self.batch_sampler):
            yield _pin(batch) if is_pinned else batch


def _pin(batch: Any) -> Any:
    """Returns a batch whose tensors are in pinned memory."""
    return type(batch)(
        *(value.pin_memory() if isinstance(value, torch.Tensor) else value for value in batch)
    )


def _return_batch(batch: Any) -> Any:
    """Stands for PyTorch's collation, as the dataset makes whole batches."""
    return batch


class _ErrorsAsValues(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Returns errors of this package in place of batches.

    PyTorch sends an error of a worker as text, and makes a RuntimeError of it.
    """

    def __init__(self, dataset: SegmentationDataset | EvaluationDataset) -> None:
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitems__(self, indices: Any) -> Any:
        try:
            return self._dataset.__getitems__(indices)
        except VocSegError as error:
            return error


@dataclasses.dataclass(frozen=True, eq=False)
class _DecodedPair:
    """An image and its mask.

    Attributes:
      image: `[H, W, C]`.
      mask: uint8 `[H, W]`; void everywhere if the dataset has no masks.
      id: of the image.
    """

    image: np.ndarray
    mask: np.ndarray
    id: str

    @classmethod
    def of_example(cls, example: Example) -> "_DecodedPair":
        """Returns the pair of an example of a source."""
        image = example[IMAGE]
        image_id = id_of_file(example[FILENAME].decode())
        if not isinstance(image, np.ndarray):
            raise ConfigError(
                image_id,
                found="the bytes of an image file",
                expected="a decoded image",
                remedy="open the data_source without decode=False",
            )
        if MASK in example:
            mask = example[MASK][..., 0]
        else:
            mask = np.full(image.shape[:2], VOID, np.uint8)
        return cls(image, mask, image_id)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        height, width = self.image.shape[:2]
        return height, width


@dataclasses.dataclass(frozen=True)
class _RandomCrop:
    """The arguments of `arrays.random_scaled_crop`.

    Attributes:
      size: height and width.
      scales: the smallest and the largest.
      step: between scales.
      flip: whether to flip.
    """

    size: tuple[int, int]
    scales: tuple[float, float]
    step: float | None
    flip: bool

    def apply(self, pair: _DecodedPair, rng: np.random.Generator) -> _DecodedPair:
        """Returns a crop in new memory."""
        height, width = self.size
        image = np.empty((height, width, pair.image.shape[2]), pair.image.dtype)
        mask = np.empty((height, width), np.uint8)
        self.write(pair, rng, image, mask)
        return _DecodedPair(image, mask, pair.id)

    def write(
        self, pair: _DecodedPair, rng: np.random.Generator, image: np.ndarray, mask: np.ndarray
    ) -> None:
        """Writes a crop into an image and a mask of its size."""
        arrays.random_scaled_crop(
            {IMAGE: pair.image, MASK: pair.mask},
            self.size,
            rng,
            scales=self.scales,
            step=self.step,
            flip=self.flip,
            out={IMAGE: image, MASK: mask},
            resize_image=_resize_by_torch if pair.image.dtype == np.uint8 else None,
        )


def _resize_by_torch(image: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Resizes an image, uint8 `[H, W, C]`, bilinearly, in a tenth of the time of NumPy.

    PyTorch calculates with whole numbers, so values differ by up to 1 from those of `arrays`.
    """
    if image.shape[:2] == size:
        return image
    channels_first = torch.from_numpy(image).permute(2, 0, 1)[None]
    resized = torch.nn.functional.interpolate(channels_first, size=size, mode="bilinear")
    return resized[0].permute(1, 2, 0).numpy()


@dataclasses.dataclass(frozen=True, eq=False)
class _BatchMemory:
    """The memory of a batch, into which examples are written.

    Attributes:
      pixels: `[B, H, W, C]`.
      masks: uint8 `[B, H, W]`.
    """

    pixels: torch.Tensor
    masks: torch.Tensor

    @classmethod
    def allocate(cls, count: int, size: tuple[int, int], *, like: np.ndarray) -> "_BatchMemory":
        """Returns memory for so many images of a size, with the channels and dtype of another."""
        return cls(
            _allocate((count, *size, like.shape[2]), like.dtype),
            _allocate((count, *size), np.dtype(np.uint8)),
        )

    def images(self, channels: Channels) -> torch.Tensor:
        """Returns the images with their channels first or last; the memory is the same."""
        return self.pixels.permute(0, 3, 1, 2) if channels == "first" else self.pixels

    def arrays_of(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the image and the mask at a place of the batch, to be written to."""
        return self.pixels[place].numpy(), self.masks[place].numpy()

    def check_fits(self, pair: _DecodedPair, *, any_size: bool) -> None:
        """Checks that an image can be written into the batch.

        Raises:
          ConfigError: if it has other channels or another dtype, or has not the size of the batch.
        """
        height, width, channels = self.pixels.shape[1:]
        expected = f"{_numpy_dtype(self.pixels)} of {counted(channels, 'channel')}"
        found = f"{pair.image.dtype} of {counted(pair.image.shape[2], 'channel')}"
        if found != expected:
            raise ConfigError(
                pair.id, found=found, expected=f"{expected}, as the batch's first image has"
            )
        if not any_size and pair.size != (height, width):
            raise ConfigError(
                pair.id,
                found=f"height and width {pair.size}",
                expected=f"{(height, width)}, the size of the batch",
                remedy="crop by size=, or let the transform make all images of one size",
            )


def _numpy_dtype(tensor: torch.Tensor) -> np.dtype:
    return tensor[:0].numpy().dtype


def _allocate(shape: tuple[int, ...], dtype: np.dtype) -> torch.Tensor:
    """Returns a tensor whose values are not set; in a worker of a loader, in shared memory."""
    empty = torch.from_numpy(np.empty(0, dtype))
    if data.get_worker_info() is None:
        return empty.new_empty(shape)
    # As PyTorch's own collation does it: a tensor that is shared later would be copied.
    byte_count = int(np.prod(shape)) * dtype.itemsize
    storage = torch.UntypedStorage._new_shared(byte_count)
    return empty.new_empty(0).set_(storage, 0, shape)


def _with_features(source: DataSource, names: Sequence[str]) -> DataSource:
    """Returns a source with these features and no others.

    Raises:
      ConfigError: if it lacks one.
    """
    missing = [name for name in names if name not in source.features]
    if missing:
        raise ConfigError(
            "source",
            found=f"no {' and no '.join(missing)} among {', '.join(sorted(source.features))}",
            expected=f"{', '.join(names)}",
            remedy="open the data_source without features=, or build the dataset with masks",
        )
    return source.without([name for name in source.features if name not in names])


def _find_balance(
    source: DataSource, by: BalanceBy | None, threshold: float | None
) -> Balance | None:
    """Finds how often each example is to be drawn; reads the labels of all records."""
    check_balance(by, threshold)
    if by is None:
        return None
    filenames = []
    has_class = np.zeros((len(source), len(source.class_names)), bool)
    for number, example in enumerate(_with_features(source, [FILENAME, LABELS])):
        filenames.append(example[FILENAME])
        has_class[number, example[LABELS]] = True
    return balance_classes(filenames, has_class, threshold)


def _make_crop(
    size: arrays.Size | None,
    scales: tuple[float, float] | None,
    step: float | None,
    flip: bool | None,
) -> _RandomCrop | None:
    """Returns how images are cropped; None if they are not.

    Raises:
      ConfigError: if an argument is wrong, or would do nothing.
    """
    if size is None:
        given = {"scales": scales, "step": step, "flip": flip}
        useless = [name for name, value in given.items() if value is not None]
        if useless:
            raise ConfigError(
                "size",
                found=f"None, with {' and '.join(useless)}",
                expected="a size of crops",
                remedy=f"give a size, or leave {' and '.join(useless)} to the transform",
            )
        return None
    scales = _DEEPLAB_SCALES if scales is None else scales
    arrays.scale_step(scales, step)
    return _RandomCrop(
        size=arrays.parse_size("size", size),
        scales=scales,
        step=step,
        flip=True if flip is None else flip,
    )


def _check_transformed(image_id: str, image: Any, mask: Any) -> None:
    """Refuses what a transform returns if it is no image with its mask."""
    expected = "a NumPy array [H, W, C] and a mask, uint8 [H, W], of the same height and width"
    for value in (image, mask):
        if not isinstance(value, np.ndarray):
            raise ConfigError(
                f"{image_id}, transform", found=f"a {type(value).__name__}", expected=expected
            )
    is_pair = image.ndim == 3 and mask.shape == image.shape[:2] and mask.dtype == np.uint8
    if not is_pair:
        raise ConfigError(
            f"{image_id}, transform",
            found=f"{image.dtype} {image.shape} and {mask.dtype} {mask.shape}",
            expected=expected,
        )


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


def _check_channels(channels: Channels) -> None:
    if channels not in ("first", "last"):
        raise ConfigError("channels", found=repr(channels), expected="'first' or 'last'")
