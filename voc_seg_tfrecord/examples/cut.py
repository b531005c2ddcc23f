"""One example of a complete image to one example per tile, image and masks cut as one."""

from collections.abc import Iterator, Mapping
import posixpath
from typing import Any

import numpy as np

from voc_seg_tfrecord.errors import ImageError
from voc_seg_tfrecord.examples.grid import Tile, Tiling
from voc_seg_tfrecord.features import (
    FILENAME,
    HEIGHT,
    IMAGE,
    LABELS,
    MASK,
    MASKS,
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
    WIDTH,
)
from voc_seg_tfrecord.formats import encode, pillow, png_values
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.histogram import count_values
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.formats.images import StoredImage, as_stored
from voc_seg_tfrecord.labels import VOID


def cut(
    key: str,
    image: StoredImage | pillow.Still,
    others: Mapping[str, Any],
    tiling: Tiling,
    *,
    where: str,
    background: int | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Cuts an example into tiles. Image and masks are decoded once for all of them.

    An image that is one tile is stored as if it were not cut. A JPEG is decoded accurately, as
    NumPy's readers decode it; TensorFlow's own decoder is faster, and its values differ from
    these by a few.

    Args:
      key: the example's key.
      image: the complete image, as `images.open_image` returns it.
      others: the other features of the complete image, as `make.make_example` returns them.
      tiling: how to cut.
      where: the image's file, for errors.
      background: the class that `labels` leave out, None if there is none.

    Yields:
      Key and features of each tile, row by row.

    Raises:
      ImageError: if the image's pixels cannot be decoded.
    """
    tiles = list(tiling.tiles(image.height, image.width))
    if len(tiles) == 1:
        ending = posixpath.splitext(others[FILENAME])[1]
        alone = {**others, IMAGE: as_stored(image).data, **_place(others, tiles[0], ending)}
        yield tiles[0].name(key), alone
        return
    pixels = _pixels(image, where)
    masks = {
        name: png_values.decode(File(others[name], f"{where}, {name}"))
        for name in MASKS
        if name in others
    }
    ending = {"png": ".png", "jpeg": ".jpg"}[tiling.format]
    for tile in tiles:
        parts = {name: np.ascontiguousarray(mask[tile.window]) for name, mask in masks.items()}
        yield (
            tile.name(key),
            {
                **_place(others, tile, ending),
                IMAGE: _encoded(np.ascontiguousarray(pixels[tile.window]), tiling),
                HEIGHT: tile.height,
                WIDTH: tile.width,
                LABELS: _labels(parts[MASK], background),
                **{name: encode.png(part) for name, part in parts.items()},
            },
        )


def _pixels(image: StoredImage | pillow.Still, where: str) -> np.ndarray:
    """Returns uint8 `[H, W]` or `[H, W, 3]`."""
    if isinstance(image, pillow.Still):
        return image.rgb()
    return pillow.decode(File(image.data, where), ImageError).values()


def _place(others: Mapping[str, Any], tile: Tile, ending: str) -> dict[str, Any]:
    own_id = image_id(others[FILENAME])
    return {
        FILENAME: tile.name(own_id) + ending,
        TILE_IMAGE_ID: own_id,
        TILE_Y: tile.top,
        TILE_X: tile.left,
        TILE_IMAGE_HEIGHT: others[HEIGHT],
        TILE_IMAGE_WIDTH: others[WIDTH],
    }


def _encoded(pixels: np.ndarray, tiling: Tiling) -> bytes:
    if tiling.format == "jpeg":
        return encode.jpeg(pixels, tiling.quality)
    return encode.png(pixels, photo=True)


def _labels(mask: np.ndarray, background: int | None) -> list[int]:
    present = np.flatnonzero(count_values(mask)[:VOID])
    return [int(value) for value in present if value != background]
