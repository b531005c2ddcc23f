"""Where classes lie in their images, and which classes lie there together."""

import numpy as np

GRID = 32
"""Points along each side at which a mask is looked at."""


class Places:
    """Adds up at which of 32 x 32 points each class lies; every image counts as a square.

    Attributes:
      counts: images that have each mask value at each point, int64 `[256, 32, 32]`.
    """

    def __init__(self) -> None:
        self.counts = np.zeros((256, GRID, GRID), np.int64)

    def add(self, points: np.ndarray) -> None:
        """Adds one mask by its points, uint8 `[32, 32]`, as `points_of` returns them."""
        flat = points.ravel().astype(np.intp) * points.size + np.arange(points.size)
        self.counts.reshape(-1)[flat] += 1  # no cell is in it twice


def points_of(mask: np.ndarray) -> np.ndarray:
    """Returns a mask's values, uint8 `[H, W]`, in the middle of 32 x 32 equal cells."""
    rows, columns = (((np.arange(GRID) + 0.5) * side / GRID).astype(int) for side in mask.shape)
    return mask[np.ix_(rows, columns)]


class Together:
    """Adds up which classes are in one image.

    Attributes:
      counts: images that have both of two mask values, int64 `[256, 256]`; on the diagonal,
        images that have the value.
    """

    def __init__(self) -> None:
        self.counts = np.zeros((256, 256), np.int64)

    def add(self, values: np.ndarray) -> None:
        """Adds one image by the mask values that are in it, integers `[N]`, each once."""
        self.counts[np.ix_(values, values)] += 1
