"""Which prediction a record is scored with, and which of its pixels: of a tile, its own part.

Pixels that several tiles have are scored in the first of them, row by row. So each pixel of an
image counts once, and the score is that of the complete image.
"""

from collections.abc import Iterable

import numpy as np

from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.audit.verify_tiles import place_of
from voc_seg_tfrecord.errors import MaskError, RecordError
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.examples.grid import Tile, Tiling, image_of
from voc_seg_tfrecord.features import TILE_X, TILE_Y


def scored(
    record: Record, mask: np.ndarray, predictions: Predictions, tiling: Tiling | None
) -> tuple[str, np.ndarray, np.ndarray]:
    """Reads the prediction for a record.

    Args:
      record: of a complete image or of a tile.
      mask: its mask, `[H, W]`.
      predictions: named by ids of images; those of tiles by the tiles' or by their images'.
      tiling: how images were cut; None if they were not.

    Returns:
      The id that the prediction is named by; and what is compared, of mask and prediction,
      integers `[h, w]`.

    Raises:
      MaskError: if there is no prediction, or one of the tile and one of the image, or it has
        another size, or holds colours.
      RecordError: if the record is no tile of its image.
    """
    if tiling is None:
        return record.id, mask, predictions.read(record.id, mask.shape)
    place = place_of(record)
    at = record.ints(TILE_Y) + record.ints(TILE_X)
    known = place is not None and len(place.size) == len(at) == 2
    tile = tiling.tile_at(*place.size, *at) if known else None
    if tile is None or mask.shape != (tile.height, tile.width):
        raise RecordError(
            record.id,
            found=f"a tile of {mask.shape} at {at}",
            expected="a tile of its image, of the size and in the place that its id says",
            remedy="run `voc-seg-tfrecord verify` to find the fault, or build the dataset again",
        )
    name, found = _read(record.id, place.image_id, place.size, tile, predictions)
    return name, mask[tile.own], found[tile.own]


def _read(
    tile_id: str, image_id: str, size: tuple[int, ...], tile: Tile, predictions: Predictions
) -> tuple[str, np.ndarray]:
    """Returns the prediction of a tile: its own, or its part of that of the image."""
    if image_id in predictions.names:
        if tile_id in predictions.names:
            raise MaskError(
                predictions.path(tile_id),
                found=f"a second prediction of these pixels, in {predictions.path(image_id)}",
                expected="a prediction of the tile or of the complete image",
                remedy="take one of the two out of the folder",
                kind="predictions of tile and image",
            )
        return image_id, predictions.read(image_id, size)[tile.window]
    return tile_id, predictions.read(tile_id, (tile.height, tile.width))


def count_images(ids: Iterable[str], tiling: Tiling | None) -> int:
    """Returns how many images records are of, by the ids of the records."""
    return len({i if tiling is None else image_of(i) for i in ids})
