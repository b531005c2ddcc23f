"""What loaders give: batches of crops, and of complete images."""

from typing import Literal, NamedTuple, TypeAlias

import torch

from voc_seg_tfrecord.core.errors import ConfigError

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
