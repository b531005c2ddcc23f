"""Images whose colors tell their classes, so that a tiny network learns them in a few steps."""

import numpy as np

CLASS_NAMES = ["background", "red", "blue"]

_COLORS = np.array([[120, 120, 120], [200, 60, 60], [60, 60, 200]])
"""Red, green and blue of each class."""

_MAX_NOISE = 30
_HEIGHT, _WIDTH = 40, 56


def images_and_masks(count: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Draws gray walls, each with a red and a blue rectangle, with noise.

    Args:
      count: how many images.

    Returns:
      Images uint8 `[H, W, 3]`, and masks uint8 `[H, W]` without void.
    """
    rng = np.random.default_rng(0)
    images = []
    masks = []
    for _ in range(count):
        mask = np.zeros((_HEIGHT, _WIDTH), np.uint8)
        for class_index in (1, 2):
            top, left = rng.integers(0, (_HEIGHT // 2, _WIDTH // 2))
            mask[top : top + _HEIGHT // 2, left : left + _WIDTH // 2] = class_index
        noise = rng.integers(-_MAX_NOISE, _MAX_NOISE, (_HEIGHT, _WIDTH, 3))
        images.append((_COLORS[mask] + noise).astype(np.uint8))
        masks.append(mask)
    return images, masks
