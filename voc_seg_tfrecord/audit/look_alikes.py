"""Finds images that look alike, though their files differ: scaled, or encoded again.

An image is squeezed to 16 x 18 brightness values. Two images look alike if a hash of which
neighbour is brighter (64 bits) differs in few bits, and the values themselves differ little.
Images without contrast are not compared, since they all look alike; mirrored, rotated and cropped
copies are not found.
"""

from collections.abc import Iterator, Mapping
import itertools

import numpy as np

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File

HEIGHT, WIDTH = 16, 18
_BITS = 4  # of 64 that may differ
_DIFFERENCE = 6  # of 255, on average
_CONTRAST = 8  # of 255, standard deviation
_ROWS = 2048  # that are compared with as many at once: 16 MB


Place = tuple[str, int]
"""A split, and the number of a record in it."""


def look_of(file: File) -> np.ndarray:
    """Returns what is compared of an image, uint8 `[16, 18]`.

    Raises:
      RecordError: if the image cannot be decoded.
    """
    return pillow.decode(file, RecordError, side=4 * WIDTH).grey(HEIGHT, WIDTH)


def find(looks: Mapping[str, np.ndarray]) -> Iterator[tuple[Place, Place]]:
    """Yields images of two different splits that look alike.

    Args:
      looks: of each split, uint8 `[N, 16, 18]`.
    """
    signs = {split: _signs(of_split) for split, of_split in looks.items()}
    for first, second in itertools.combinations(looks, 2):
        starts = itertools.product(
            range(0, len(looks[first]), _ROWS), range(0, len(looks[second]), _ROWS)
        )
        for top, left in starts:
            # The product of two rows of signs is 64 less two for each bit that differs.
            alike = signs[first][top : top + _ROWS] @ signs[second][left : left + _ROWS].T
            for row, column in np.argwhere(alike >= 64 - 2 * _BITS):
                ours, theirs = top + int(row), left + int(column)
                if _close(looks[first][ours], looks[second][theirs]):
                    yield (first, ours), (second, theirs)


def _signs(looks: np.ndarray) -> np.ndarray:
    """Returns which neighbour is brighter as 1 or -1, float32 `[N, 64]`; 0 without contrast."""
    cells = looks.reshape(-1, HEIGHT // 2, 2, WIDTH // 2, 2).astype(np.float32).sum((2, 4))
    signs = np.where(cells[:, :, 1:] > cells[:, :, :-1], 1, -1).reshape(-1, 64)
    flat = looks.reshape(-1, HEIGHT * WIDTH).std(1) < _CONTRAST
    return (signs * ~flat[:, None]).astype(np.float32)


def _close(first: np.ndarray, second: np.ndarray) -> bool:
    return bool(np.abs(first.astype(int) - second.astype(int)).mean() <= _DIFFERENCE)
