"""The memory of batches, into which examples are written.

The buffers of a loader are written to again when nobody holds the tensors in them; see
`core.lent_buffers`. Images and masks have buffers of their own, so that who keeps the masks of many
batches does not keep their images.
"""

from collections.abc import Callable
import dataclasses
import functools
import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch.utils import data

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.lent_buffers import LentBuffers
from voc_seg_tfrecord.torch.batch import Channels
from voc_seg_tfrecord.torch.crops import DecodedPair

Allocate: TypeAlias = Callable[[tuple[int, ...], np.dtype], torch.Tensor]
"""Returns a tensor of a shape and a dtype, whose values are not set."""

_PAGE_BYTES = 4096


@dataclasses.dataclass(frozen=True)
class Allocators:
    """Where the memory of a batch comes from.

    Attributes:
      images: returns memory for images.
      masks: returns memory for masks.
    """

    images: Allocate
    masks: Allocate


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
        cls, count: int, size: tuple[int, int], allocators: Allocators, *, like: np.ndarray
    ) -> "BatchMemory":
        """Returns memory for so many images of a size, with the channels and dtype of another."""
        return cls(
            allocators.images((count, *size, like.shape[2]), like.dtype),
            allocators.masks((count, *size), np.dtype(np.uint8)),
        )

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


class BatchBytes(NamedTuple):
    """Bytes of the images and of the masks of a batch; 0 if they are not known."""

    images: int
    masks: int

    @classmethod
    def of_images(cls, count: int, size: tuple[int, int], feature: Any) -> "BatchBytes":
        """Returns the bytes of so many images of a size, with their masks.

        Args:
          count: how many images.
          size: height and width of each.
          feature: describes an image, as TFDS does.
        """
        pixels = count * math.prod(size)
        bytes_per_pixel = (feature.shape[-1] or 0) * np.dtype(feature.np_dtype).itemsize
        return cls(images=pixels * bytes_per_pixel, masks=pixels)


NO_BUFFERS = BatchBytes(0, 0)
"""For batches whose size is not known, so that each needs new memory."""


class BufferNumbers(NamedTuple):
    """The buffers that are reserved for a batch; None for new memory."""

    images: int | None
    masks: int | None


class _TensorInBuffer(NamedTuple):
    """A tensor as a worker describes it to the process that trains.

    It begins with the first byte of its buffer; see `_tensor_at_start`.

    Attributes:
      buffer_number: the number of the buffer.
      dtype: the dtype of the tensor.
      size: its size.
      stride: its strides, which are others if its channels were moved.
    """

    buffer_number: int
    dtype: torch.dtype
    size: tuple[int, ...]
    stride: tuple[int, ...]


class _TensorInNewMemory(NamedTuple):
    """A tensor that a worker did not write to the buffer that was reserved for it.

    Attributes:
      unused_buffer_number: the number of that buffer.
      tensor: the tensor; None if the source has no masks.
    """

    unused_buffer_number: int
    tensor: torch.Tensor | None


@dataclasses.dataclass(frozen=True, eq=False)
class BatchBuffers:
    """The memory of the buffers of a loader, which its workers write to.

    Attributes:
      images: uint8 `[count, bytes of the images of a batch]`.
      masks: uint8 `[count, bytes of the masks of a batch]`.
    """

    images: torch.Tensor
    masks: torch.Tensor

    @classmethod
    def allocate(cls, count: int, byte_counts: BatchBytes, *, is_shared: bool) -> "BatchBuffers":
        """Returns buffers. If they are shared, all of their memory is taken at once.

        Args:
          count: how many batches they are for.
          byte_counts: bytes of a batch, or `NO_BUFFERS`.
          is_shared: whether workers write to them.
        """
        buffers = []
        for byte_count in byte_counts:
            whole_pages = -(-byte_count // _PAGE_BYTES) * _PAGE_BYTES
            memory = _allocate_bytes(count * whole_pages, is_shared=is_shared)
            buffers.append(memory.view(count, whole_pages))
        return cls(*buffers)

    def allocators_in(self, numbers: BufferNumbers) -> Allocators:
        """Returns what gives the memory of the reserved buffers, or new memory."""
        return Allocators(
            functools.partial(_allocate_in, self.images, numbers.images),
            functools.partial(_allocate_in, self.masks, numbers.masks),
        )

    def describe(self, batch: Any, numbers: BufferNumbers) -> Any:
        """Returns a batch with the places of its tensors, where these lie in buffers."""
        return batch._replace(
            images=_describe_tensor(batch.images, self.images, numbers.images),
            masks=_describe_tensor(batch.masks, self.masks, numbers.masks),
        )


class BatchLoans:
    """Lends the buffers of a loader to the process that trains.

    Args:
      buffers: the buffers.
    """

    def __init__(self, buffers: BatchBuffers) -> None:
        self._images = LentBuffers(list(buffers.images.numpy()))
        self._masks = LentBuffers(list(buffers.masks.numpy()))

    def allocators_on_loan(self) -> Allocators:
        """Returns what lends free buffers, and gives new memory if there is none."""
        return Allocators(
            functools.partial(_allocate_on_loan, self._images),
            functools.partial(_allocate_on_loan, self._masks),
        )

    def reserve(self) -> BufferNumbers:
        """Reserves buffers for a batch that a worker makes."""
        return BufferNumbers(self._images.reserve(), self._masks.reserve())

    def free_reserved(self) -> None:
        """Frees what was reserved for batches that did not come, when no worker writes to it."""
        self._images.free_reserved()
        self._masks.free_reserved()

    def lend(self, described: Any) -> Any:
        """Returns a batch that `BatchBuffers.describe` described, with its tensors."""
        return described._replace(
            images=_lend_tensor(self._images, described.images),
            masks=_lend_tensor(self._masks, described.masks),
        )


def _allocate(shape: tuple[int, ...], dtype: np.dtype) -> torch.Tensor:
    """Returns a tensor in new memory; in a worker of a loader, in memory that is shared."""
    is_shared = data.get_worker_info() is not None
    return _tensor_at_start(
        _allocate_bytes(_count_bytes(shape, dtype), is_shared=is_shared), shape, dtype
    )


NEW_MEMORY = Allocators(_allocate, _allocate)
"""Memory that is used once."""


def _allocate_bytes(count: int, *, is_shared: bool) -> torch.Tensor:
    """Returns uint8 `[count]`, whose values are not set."""
    if not is_shared or not count:
        return torch.empty(count, dtype=torch.uint8)
    # As PyTorch's own collation does it: a tensor that is shared later would be copied.
    storage = torch.UntypedStorage._new_shared(count)
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (count,))


def _allocate_in(
    buffers: torch.Tensor, number: int | None, shape: tuple[int, ...], dtype: np.dtype
) -> torch.Tensor:
    """Returns a tensor in a buffer; in new memory if it does not fit."""
    if number is None or _count_bytes(shape, dtype) > buffers.shape[1]:
        return _allocate(shape, dtype)
    return _tensor_at_start(buffers[number], shape, dtype)


def _allocate_on_loan(loans: LentBuffers, shape: tuple[int, ...], dtype: np.dtype) -> torch.Tensor:
    """Returns a tensor in a buffer that is lent; in new memory if none is free, or fits."""
    if _count_bytes(shape, dtype) > loans.byte_count:
        return _allocate(shape, dtype)
    number = loans.reserve()
    if number is None:
        return _allocate(shape, dtype)
    return _tensor_at_start(torch.from_numpy(loans.lend(number)), shape, dtype)


def _tensor_at_start(memory: torch.Tensor, shape: tuple[int, ...], dtype: np.dtype) -> torch.Tensor:
    """Returns the tensor that begins with the first of some bytes, uint8 `[N]`."""
    used = memory[: _count_bytes(shape, dtype)]
    return used.view(_torch_dtype(dtype)).view(shape)


def _describe_tensor(
    tensor: torch.Tensor | None, buffers: torch.Tensor, number: int | None
) -> torch.Tensor | _TensorInBuffer | _TensorInNewMemory | None:
    """Returns where a tensor lies; the tensor itself if no buffer is reserved for it.

    A source without masks has None in place of their tensor.
    """
    if number is None:
        return tensor
    if tensor is None:
        return _TensorInNewMemory(number, None)
    if tensor.untyped_storage().data_ptr() != buffers.untyped_storage().data_ptr():
        return _TensorInNewMemory(number, tensor)
    return _TensorInBuffer(number, tensor.dtype, tuple(tensor.size()), tensor.stride())


def _lend_tensor(
    loans: LentBuffers, described: torch.Tensor | _TensorInBuffer | _TensorInNewMemory | None
) -> torch.Tensor | None:
    """Returns a tensor that was described. One in a buffer lasts as long as somebody holds it."""
    if isinstance(described, _TensorInNewMemory):
        loans.free(described.unused_buffer_number)
        return described.tensor
    if not isinstance(described, _TensorInBuffer):
        return described
    memory = torch.from_numpy(loans.lend(described.buffer_number))
    return memory.view(described.dtype).as_strided(described.size, described.stride)


def _count_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return int(np.prod(shape)) * dtype.itemsize


def _describe_pixels(pixels: np.ndarray) -> str:
    """Returns in words dtype and channels, the last axis, of an image or of several."""
    return f"{pixels.dtype} of {counted(pixels.shape[-1], 'channel')}"


def _torch_dtype(dtype: np.dtype) -> torch.dtype:
    return torch.from_numpy(np.empty(0, dtype)).dtype
