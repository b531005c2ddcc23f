"""Compares the pixels of pairs of images that `leaks` found, where both images are at hand.

Signs and keypoints propose pairs; see `leaks` and `leak_parts`. The images of each pair are read
again and laid over each other by `quality.pixel_confirmation`.

Pixels tell whether two images show the same view. They do not tell a copy from a neighbor: two
frames of a still camera agree, too.
"""

from collections.abc import Callable, Collection, Iterator

import numpy as np

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.picture_signs import Orientation
from voc_seg_tfrecord.quality import pixel_confirmation
from voc_seg_tfrecord.quality.similarity import fit_orientation

ReadFiles = Callable[[Collection[str]], Iterator[tuple[str, File]]]
"""Yields some ids with their image files."""


def read_grays_of_pairs(
    read_first: ReadFiles | None, read_second: ReadFiles | None, pairs: Collection[tuple[str, str]]
) -> dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]:
    """Returns the brightness of both images of each pair, uint8 `[H, W]`, with a long side of 256.

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
        factor = pixel_confirmation.SIDE_PX / max(still.height, still.width)
        height = max(1, round(still.height * factor))
        width = max(1, round(still.width * factor))
        yield image_id, still.gray(height, width)


def shows_same_picture(first: np.ndarray, second: np.ndarray, orientation: Orientation) -> bool:
    """Says whether the pixels of two whole images agree.

    Args:
      first: brightness, uint8 `[H, W]`.
      second: brightness, uint8 `[h, w]`; it may be stretched a little.
      orientation: what turns the first image into the second.
    """
    similarity = fit_orientation(orientation, first.shape, second.shape)
    return pixel_confirmation.confirm(first, second, similarity).is_confirmed
