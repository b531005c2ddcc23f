"""Transforms of an image together with its mask, of one's own or of a library."""

from collections.abc import Callable
import dataclasses
from typing import Any, TypeAlias

import numpy as np
import torch

from voc_seg_tfrecord.core.errors import ConfigError

Transform: TypeAlias = Callable[
    [np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray]
]
"""Changes an image `[H, W, C]` and its mask, uint8 `[H, W]`, by random numbers of the generator."""


def torchvision_transform(transform: Callable[..., Any]) -> Transform:
    """Makes a `Transform` from one of `torchvision.transforms.v2`.

    It gets a `tv_tensors.Image` and a `tv_tensors.Mask`. Give steps that move pixels
    `fill={tv_tensors.Image: 0, tv_tensors.Mask: 255}`, so that uncovered pixels of the mask become
    void.

    Args:
      transform: the transform.
    """
    return _TorchvisionTransform(transform)


def albumentations_transform(transform: Any) -> Transform:
    """Makes a `Transform` from an `albumentations.Compose` of version 2.

    Give steps that move pixels `fill_mask=255`, so that uncovered pixels of the mask become void.

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


def check_transformed(image_id: str, transformed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Returns the image and the mask that a transform returned.

    Raises:
      ConfigError: naming the image, if it returned something else.
    """
    where = f"{image_id}, transform"
    expected = "a NumPy array [H, W, C] and a mask, uint8 [H, W], of the same height and width"
    if not isinstance(transformed, tuple | list) or len(transformed) != 2:
        found = f"a {type(transformed).__name__}"
        if isinstance(transformed, tuple | list):
            found = f"{len(transformed)} values"
        raise ConfigError(where, found=found, expected=expected)
    image, mask = transformed
    for value in (image, mask):
        if not isinstance(value, np.ndarray):
            raise ConfigError(where, found=f"a {type(value).__name__}", expected=expected)
    is_pair = image.ndim == 3 and mask.shape == image.shape[:2] and mask.dtype == np.uint8
    if not is_pair:
        found = f"{image.dtype} {image.shape} and {mask.dtype} {mask.shape}"
        raise ConfigError(where, found=found, expected=expected)
    return image, mask
