"""A mask of blocks with the values 0, 6, 12 and void, and an image whose colors tell them."""

import numpy as np

VALUES = np.array([0, 6, 12, 255], np.uint8)
COLORS = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]], np.uint8)
"""By value. No color is a mixture of the others and of black, whatever interpolates."""


def image_and_mask() -> tuple[np.ndarray, np.ndarray]:
    """Returns an image, uint8 `[40, 56, 3]`, and its mask, uint8 `[40, 56, 1]`."""
    numbers = np.random.default_rng(0).integers(0, 4, (5, 7))
    numbers = np.kron(numbers, np.ones((8, 8), int))
    return COLORS[numbers], VALUES[numbers][..., np.newaxis]


def outside(image: np.ndarray, mask: np.ndarray) -> int:
    """Checks a pair that was moved; returns how many pixels lie outside, where it was filled.

    Args:
      image: uint8 `[H, W, 3]`, filled with black.
      mask: `[H, W]` or `[H, W, 1]`.
    """
    mask = mask.reshape(image.shape[:2])
    assert np.isin(mask, VALUES).all(), "mask values were invented"
    for color, value in zip(COLORS, VALUES, strict=True):
        pure = (image == color).all(-1)
        assert (mask[pure] == value).all(), "image and mask moved apart"
    assert sum((image == color).all(-1).sum() for color in COLORS) > 300
    black = (image == 0).all(-1)
    assert (mask[black] == 255).all(), "outside is not void"
    return int(black.sum())
