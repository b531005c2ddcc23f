"""Finds images that look alike, though their files differ: scaled, or encoded again.

An image is squeezed to 16 x 18 brightness values. Two images look alike if a hash of which
neighbour is brighter (64 bits) differs in few bits, and the values themselves differ little.
Images without contrast are not compared, since they all look alike; mirrored, rotated and cropped
copies are not found.
"""

from collections.abc import Iterator
import itertools

import numpy as np

from voc_seg_tfrecord.base.errors import ImageError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File

HEIGHT, WIDTH = 16, 18
_BITS = 4  # of 64 that may differ
_DIFFERENCE = 6  # of 255, on average
_CONTRAST = 8  # of 255, standard deviation
_ROWS = 2048  # that are compared with as many at once: 16 MB


def look_of(image: File) -> np.ndarray:
    """Returns what is compared of an image, uint8 `[16, 18]`.

    Raises:
      ImageError: if the image cannot be decoded.
    """
    return pillow.decode(image, ImageError, side=4 * WIDTH).grey(HEIGHT, WIDTH)


def find(looks: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yields the numbers of two images that look alike, the smaller one first.

    Args:
      looks: each image squeezed to this size, uint8 `[N, 16, 18]`.
    """
    signs = _signs(looks)
    starts = range(0, len(looks), _ROWS)
    for top, left in itertools.combinations_with_replacement(starts, 2):
        # The product of two rows of signs is 64 less two for each bit that differs.
        alike = signs[top : top + _ROWS] @ signs[left : left + _ROWS].T
        pairs = np.argwhere(alike >= 64 - 2 * _BITS) + np.array((top, left))
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        for start in range(0, len(pairs), _ROWS):
            ours, theirs = pairs[start : start + _ROWS].T
            differences = np.abs(looks[ours].astype(np.int16) - looks[theirs]).mean((1, 2))
            yield from map(tuple, pairs[start : start + _ROWS][differences <= _DIFFERENCE].tolist())


def _signs(looks: np.ndarray) -> np.ndarray:
    """Returns which neighbour is brighter as 1 or -1, float32 `[N, 64]`; 0 without contrast."""
    cells = looks.reshape(-1, HEIGHT // 2, 2, WIDTH // 2, 2).astype(np.float32).sum((2, 4))
    signs = np.where(cells[:, :, 1:] > cells[:, :, :-1], 1, -1).reshape(-1, 64)
    flat = looks.reshape(-1, HEIGHT * WIDTH).std(1) < _CONTRAST
    return (signs * ~flat[:, None]).astype(np.float32)
