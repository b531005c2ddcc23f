"""Batches of random crops and of complete images, and the datasets that make them of a source."""

from collections.abc import Sequence
import dataclasses
import functools
import math
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.utils import data

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.names import FILENAME, HEIGHT, IMAGE, MASK, VOID, WIDTH
from voc_seg_tfrecord.reading.data_source import DataSource
from voc_seg_tfrecord.reading.epoch_order import check_count, check_seed, example_rng
from voc_seg_tfrecord.torch.crops import DecodedPair, make_crop
from voc_seg_tfrecord.torch.epochs import Draw
from voc_seg_tfrecord.torch.transforms import Transform, check_transformed

Channels: TypeAlias = Literal["first", "last"]
"""Where the channels of a batch of images are: `[B, C, H, W]` or `[B, H, W, C]`."""


class Batch(NamedTuple):
    """A batch to train on.

    Attributes:
      images: uint8 `[B, 3, H, W]` in the memory format `torch.channels_last`, or uint8 `[B, H, W,
        3]`; 0 in padding. Images with other bands keep their number of bands and their dtype.
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


def check_channels(channels: Channels) -> None:
    """Raises a ConfigError if this is no place of channels."""
    if channels not in ("first", "last"):
        raise ConfigError("channels", found=repr(channels), expected="'first' or 'last'")


@dataclasses.dataclass(frozen=True, eq=False)
class BatchMemory:
    """The memory of a batch, into which examples are written.

    Attributes:
      pixels: `[B, H, W, C]`.
      masks: uint8 `[B, H, W]`.
    """

    pixels: torch.Tensor
    masks: torch.Tensor

    @classmethod
    def allocate(
        cls, count: int, size: tuple[int, int], buffer: torch.Tensor | None, *, like: np.ndarray
    ) -> "BatchMemory":
        """Returns memory for so many images of a size, with the channels and dtype of another.

        Args:
          count: how many images.
          size: height and width of each.
          buffer: uint8 `[N]`, which is used if the batch fits; None for new memory.
          like: the other image, `[H, W, C]`.
        """
        mask_bytes = count * math.prod(size)
        pixel_bytes = mask_bytes * like.shape[2] * like.dtype.itemsize
        if buffer is not None and pixel_bytes + mask_bytes <= len(buffer):
            pixels = buffer[:pixel_bytes]
            masks = buffer[pixel_bytes : pixel_bytes + mask_bytes]
        else:
            # Each has memory of its own, so that who keeps the masks does not keep the images.
            is_shared = data.get_worker_info() is not None
            pixels = allocate_bytes(pixel_bytes, is_shared=is_shared)
            masks = allocate_bytes(mask_bytes, is_shared=is_shared)
        dtype = torch.from_numpy(np.empty(0, like.dtype)).dtype
        return cls(pixels.view(dtype).view(count, *size, like.shape[2]), masks.view(count, *size))

    def images(self, channels: Channels) -> torch.Tensor:
        """Returns the images with their channels first or last; the memory is the same."""
        return self.pixels.permute(0, 3, 1, 2) if channels == "first" else self.pixels

    def arrays_of(self, place: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the image and the mask at a place of the batch, to be written to."""
        pixels, masks = self._arrays
        return pixels[place], masks[place]

    @functools.cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The same memory as `pixels` and `masks`."""
        return self.pixels.numpy(), self.masks.numpy()

    def check_fits(self, pair: DecodedPair, *, any_size: bool) -> None:
        """Checks that an image can be written into the batch.

        Raises:
          ConfigError: if it has other channels or another dtype, or has not the size of the batch.
        """
        pixels, _ = self._arrays
        height, width, channels = pixels.shape[1:]
        if pair.image.dtype != pixels.dtype or pair.image.shape[2] != channels:
            raise ConfigError(
                pair.id,
                found=_describe_pixels(pair.image),
                expected=f"{_describe_pixels(pixels)}, as the batch's first image has",
            )
        if not any_size and pair.size != (height, width):
            raise ConfigError(
                pair.id,
                found=f"height and width {pair.size}",
                expected=f"{(height, width)}, the size of the batch",
                remedy="crop by size=, or let the transform make all images of one size",
            )


def _describe_pixels(pixels: np.ndarray) -> str:
    """Returns in words dtype and channels, the last axis, of an image or of several."""
    return f"{pixels.dtype} of {counted(pixels.shape[-1], 'channel')}"


def allocate_bytes(count: int, *, is_shared: bool) -> torch.Tensor:
    """Returns uint8 `[count]`, whose values are not set."""
    if not is_shared or not count:
        return torch.empty(count, dtype=torch.uint8)
    # As PyTorch's own collation does it: a tensor that is shared later would be copied.
    storage = torch.UntypedStorage._new_shared(count)
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (count,))


def _count_pixel_bytes(count: int, size: tuple[int, int], feature: Any) -> int:
    """Returns the bytes of so many images of a size with their masks.

    Args:
      count: how many images.
      size: height and width of each.
      feature: describes an image, as TFDS does.
    """
    bytes_per_pixel = (feature.shape[-1] or 0) * np.dtype(feature.np_dtype).itemsize
    return count * math.prod(size) * (bytes_per_pixel + 1)


_IMAGE_FILL = 0
"""Value of padding in images; that in masks is void."""

_MAX_SAMPLED_IMAGES = 256
"""Images whose sizes are read to estimate the bytes of a batch."""

_MAX_KEPT_BYTES = 64 << 20
"""Bytes of a batch for which memory is kept. There are several batches at a time, and few of them
may be as large as the largest one."""


class SegmentationDataset(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Random crops, one for each `Draw`. A batch is made at once, by `__getitems__`.

    In a worker the batch lies in shared memory. If you make a `DataLoader` yourself, give it
    `EpochBatches` as `batch_sampler`, and `collate_fn=lambda batch: batch`.

    Args:
      source: the examples.
      size: see `loader`.
      scales: see `loader`.
      step: see `loader`.
      flip: see `loader`.
      seed: see `loader`.
      transform: see `loader`.
      channels: see `loader`.

    Raises:
      ConfigError: if an argument is wrong, or a feature is missing in the source.
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
        check_channels(channels)
        self._source = with_features(source, [IMAGE, MASK, FILENAME])
        self._crop = make_crop(size, scales, step, flip)
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
        return self.make_batch(draws, None)

    def count_bytes(self, batch_size: int) -> int:
        """Returns the number of bytes of a batch; 0 if images stay complete.

        A transform may make it larger.
        """
        if self._crop is None:
            return 0
        return _count_pixel_bytes(batch_size, self._crop.size, self._source.features[IMAGE])

    def make_batch(self, draws: Sequence[Draw], buffer: torch.Tensor | None) -> Batch:
        """Returns a batch of these examples, in this order, in a buffer if it fits there."""
        batch: BatchMemory | None = None
        ids = []
        for place, draw in enumerate(draws):
            pair, rng = self._read(draw)
            is_cropped_in_place = self._crop is not None and self._transform is None
            if not is_cropped_in_place:
                pair = self._crop_and_transform(pair, rng)
            if batch is None:
                size = pair.size if self._crop is None else self._crop.size
                batch = BatchMemory.allocate(len(draws), size, buffer, like=pair.image)
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

    def _read(self, draw: Draw) -> tuple[DecodedPair, np.random.Generator]:
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
        return DecodedPair.of_example(example), rng

    def _crop_and_transform(self, pair: DecodedPair, rng: np.random.Generator) -> DecodedPair:
        if self._crop is not None:
            pair = self._crop.apply(pair, rng)
        if self._transform is None:
            return pair
        transformed = self._transform(pair.image, pair.mask, rng)
        image, mask = check_transformed(pair.id, transformed)
        return DecodedPair(image, mask, pair.id)


class EvaluationDataset(data.Dataset):  # type: ignore[type-arg, unused-ignore]
    """Complete images by their number in the source. A batch is made at once, by `__getitems__`.

    Args:
      source: the examples.
      multiple: see `evaluation_loader`.
      channels: see `evaluation_loader`.

    Raises:
      ConfigError: if an argument is wrong, or a feature is missing in the source.
    """

    def __init__(
        self, source: DataSource, *, multiple: int = 1, channels: Channels = "first"
    ) -> None:
        check_count("multiple", multiple)
        check_channels(channels)
        self._has_masks = MASK in source.features
        features = [IMAGE, MASK, FILENAME] if self._has_masks else [IMAGE, FILENAME]
        self._source = with_features(source, features)
        self._sizes = _open_sizes(source)
        self._multiple = multiple
        self._channels: Channels = channels

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, number: int) -> EvaluationBatch:
        """Returns a batch of one example."""
        return self.__getitems__([number])

    def __getitems__(self, numbers: Sequence[int]) -> EvaluationBatch:
        """Returns a batch of the examples, in their order."""
        return self.make_batch(numbers, None)

    def make_batch(self, numbers: Sequence[int], buffer: torch.Tensor | None) -> EvaluationBatch:
        """Returns a batch of these examples, in this order, in a buffer if it fits there."""
        pairs = [DecodedPair.of_example(example) for example in self._source[list(numbers)]]
        size = self._padded_size([pair.size for pair in pairs])
        batch = BatchMemory.allocate(len(pairs), size, buffer, like=pairs[0].image)
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

    def count_bytes(self, batch_size: int) -> int:
        """Returns how many bytes a batch has at most, as far as a sample of the images tells.

        It is 0 if the source lacks the sizes of images, or if a batch may have more than 64 MiB.
        """
        if self._sizes is None or not len(self):
            return 0
        sample_count = min(len(self), _MAX_SAMPLED_IMAGES)
        sample = np.linspace(0, len(self) - 1, sample_count).astype(int).tolist()
        sizes = [(example[HEIGHT], example[WIDTH]) for example in self._sizes[sample]]
        count = min(batch_size, len(self))
        byte_count = _count_pixel_bytes(
            count, self._padded_size(sizes), self._source.features[IMAGE]
        )
        return byte_count if byte_count <= _MAX_KEPT_BYTES else 0

    def _padded_size(self, sizes: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Returns height and width of a batch with images of these heights and widths."""
        largest = np.max(sizes, axis=0)
        height, width = -(-largest // self._multiple) * self._multiple
        return int(height), int(width)


def _open_sizes(source: DataSource) -> DataSource | None:
    """Returns the heights and widths of the images of a source; None if it has not both."""
    if HEIGHT not in source.features or WIDTH not in source.features:
        return None
    return with_features(source, [HEIGHT, WIDTH])


def check_source(source: object) -> None:
    """Checks that examples come from `data_source`.

    Raises:
      ConfigError: if they do not, as those of a list, of a name or of PyTorch's `Subset`.
    """
    if not isinstance(source, DataSource):
        raise ConfigError(
            "source",
            found=f"a {type(source).__name__}",
            expected="what voc_seg_tfrecord.data_source returns for a split",
            remedy="open the dataset with data_source(NAME, SPLIT); to choose examples, slice the "
            "source (source[:100]), or give ids=",
        )


def with_features(source: DataSource, names: Sequence[str]) -> DataSource:
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
