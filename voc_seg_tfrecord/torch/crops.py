"""Decoded images with their masks, and random crops of them."""

import dataclasses

import numpy as np
import torch

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, MASK, VOID
from voc_seg_tfrecord.reading.data_source import Example
from voc_seg_tfrecord.reading.epoch_order import check_flag

_DEEPLAB_SCALES = (0.5, 2.0)


@dataclasses.dataclass(frozen=True, eq=False)
class DecodedPair:
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
    def of_example(cls, example: Example) -> "DecodedPair":
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
class RandomCrop:
    """The arguments of `arrays.random_scaled_crop`.

    Attributes:
      size: height and width.
      scales: the smallest and the largest.
      step: between scales; 0 for any.
      flip: whether to flip.
    """

    size: tuple[int, int]
    scales: tuple[float, float]
    step: float
    flip: bool

    def apply(self, pair: DecodedPair, rng: np.random.Generator) -> DecodedPair:
        """Returns a crop in new memory."""
        height, width = self.size
        image = np.empty((height, width, pair.image.shape[2]), pair.image.dtype)
        mask = np.empty((height, width), np.uint8)
        self.write(pair, rng, image, mask)
        return DecodedPair(image, mask, pair.id)

    def write(
        self, pair: DecodedPair, rng: np.random.Generator, image: np.ndarray, mask: np.ndarray
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


def make_crop(
    size: arrays.Size | None,
    scales: tuple[float, float] | None,
    step: float | None,
    flip: bool | None,
) -> RandomCrop | None:
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
    if scales is None:
        scales = _DEEPLAB_SCALES
    if flip is None:
        flip = True
    check_flag("flip", flip)
    return RandomCrop(
        size=arrays.parse_size("size", size),
        scales=scales,
        step=arrays.scale_step(scales, step),
        flip=flip,
    )
