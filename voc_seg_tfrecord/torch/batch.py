"""What loaders give: batches of crops and of complete images, and the memory that they lie in.

Worker processes write batches to buffers, which they share with the process that trains. A buffer
is written to again when nobody holds the tensors in it. A system hands out memory page by page, and
clears each page when it is first written to: with new shared memory for each batch, 2 workers took
1.4 times the CPU (600 images of 500 x 375, batches of 16 crops of 512 x 512). Threads take 0.97 to
1.02 times as much with new memory as with buffers, so they have none.
"""

import dataclasses
import functools
import math
from typing import Any, Literal, NamedTuple, TypeAlias
import weakref

import numpy as np
import torch
from torch.utils import data

from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.torch.crops import DecodedPair

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


_PAGE_BYTES = 4096


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
            pixels = _allocate_bytes(pixel_bytes, is_shared=is_shared)
            masks = _allocate_bytes(mask_bytes, is_shared=is_shared)
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


def _allocate_bytes(count: int, *, is_shared: bool) -> torch.Tensor:
    """Returns uint8 `[count]`, whose values are not set."""
    if not is_shared or not count:
        return torch.empty(count, dtype=torch.uint8)
    # As PyTorch's own collation does it: a tensor that is shared later would be copied.
    storage = torch.UntypedStorage._new_shared(count)
    return torch.empty(0, dtype=torch.uint8).set_(storage, 0, (count,))


def count_bytes(count: int, size: tuple[int, int], feature: Any) -> int:
    """Returns the bytes of so many images of a size with their masks.

    Args:
      count: how many images.
      size: height and width of each.
      feature: describes an image, as TFDS does.
    """
    bytes_per_pixel = (feature.shape[-1] or 0) * np.dtype(feature.np_dtype).itemsize
    return count * math.prod(size) * (bytes_per_pixel + 1)


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


def describe_batch(
    batch: Any, buffers: torch.Tensor, number: int | None
) -> _BatchInBuffer | _BatchInNewMemory:
    """Returns what a worker sends.

    Args:
      batch: the batch.
      buffers: uint8 `[count, bytes]`.
      number: the buffer that was reserved for it; None for new memory.
    """
    storage = buffers.untyped_storage()
    is_in_buffer = batch.images.untyped_storage().data_ptr() == storage.data_ptr()
    if number is None or not is_in_buffer:
        return _BatchInNewMemory(batch, number)
    places = {}
    other_fields = {}
    for name, value in batch._asdict().items():
        if isinstance(value, torch.Tensor):
            first_byte = value.storage_offset() * value.element_size()
            start = first_byte - buffers[number].storage_offset()
            places[name] = _TensorPlace(start, value.dtype, tuple(value.size()), value.stride())
        else:
            other_fields[name] = value
    return _BatchInBuffer(type(batch), places, other_fields, number)


class BatchBuffers:
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
        memory = _allocate_bytes(count * whole_pages, is_shared=True)
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
