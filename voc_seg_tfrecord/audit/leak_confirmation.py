"""Compares the pixels of pairs of images that `leaks` found, where both images are at hand.

Signs and keypoints propose pairs; see `leaks` and `leak_parts`. The images of each pair are read
again and laid over each other by `quality.pixel_confirmation`.

Pixels tell whether two images show the same view. They do not tell a copy from a neighbor: two
frames of a still camera agree, too.
"""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.picture_signs import Orientation
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.quality import pixel_confirmation

ReadFiles = Callable[[Collection[str]], Iterator[tuple[str, File]]]
"""Yields some ids with their image files."""


def read_grays_of_pairs(
    read_first: ReadFiles | None, read_second: ReadFiles | None, pairs: Collection[tuple[str, str]]
) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Returns the brightness of both images of each pair, uint8 `[H, W]`, at most 256 long.

    Args:
      read_first: reads images of the first side; None if they are not at hand.
      read_second: the same for the second side.
      pairs: ids, one of each side.

    Returns:
      The images by their ids; empty if those of a side are not at hand.
    """
    if read_first is None or read_second is None or not pairs:
        return {}
    first_grays = dict(_decode_grays(read_first({first_id for first_id, _ in pairs})))
    second_grays = dict(_decode_grays(read_second({second_id for _, second_id in pairs})))
    return {
        (first_id, second_id): (first_grays[first_id], second_grays[second_id])
        for first_id, second_id in pairs
    }


def _decode_grays(files: Iterator[tuple[str, File]]) -> Iterator[tuple[str, np.ndarray]]:
    for image_id, file in files:
        still = images.decode(file, side=pixel_confirmation.SIDE_PX)
        factor = min(1, pixel_confirmation.SIDE_PX / max(still.height, still.width))
        height = max(1, round(still.height * factor))
        width = max(1, round(still.width * factor))
        yield image_id, still.gray(height, width)


def shows_same_picture(first: np.ndarray, second: np.ndarray, orientation: Orientation) -> bool:
    """Says whether the pixels of two whole images agree.

    Args:
      first: brightness, uint8 `[H, W]`.
      second: brightness, uint8 `[h, w]`; it may be stretched.
      orientation: what turns the first image into the second.
    """
    second_to_first = _map_corners(orientation, first.shape, second.shape)
    return pixel_confirmation.confirm(first, second, second_to_first).is_confirmed


def _map_corners(
    orientation: Orientation, first_shape: tuple[int, ...], second_shape: tuple[int, ...]
) -> np.ndarray:
    """Returns the affine map that carries the corners of a turned image onto the original's.

    Args:
      orientation: what turns the first image into the second.
      first_shape: height and width of the first image.
      second_shape: height and width of the second image, which may be stretched.

    Returns:
      The map of (x, y, 1) in shares of the long sides, float64 `[2, 3]`.
    """
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.float64)
    first_corners = _scale_to_long_side(corners, first_shape)
    second_corners = _scale_to_long_side(orientation.apply_to_points(corners), second_shape)
    with_ones = np.column_stack([second_corners, np.ones(len(corners))])
    return np.linalg.lstsq(with_ones, first_corners, rcond=None)[0].T


def _scale_to_long_side(points: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Returns points in shares of width and height, `[N, 2]`, in shares of the long side."""
    height, width = shape
    return points * np.array([width, height]) / max(height, width)
