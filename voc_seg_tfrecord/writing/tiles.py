"""Tiles of images: which ones an image has, their names, and one example cut into them."""

from collections.abc import Callable, Iterator, Mapping
import functools
import posixpath
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.core.names import (
    FILENAME,
    FILL,
    HEIGHT,
    IMAGE,
    LABELS,
    MASK,
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
    VOID,
    WIDTH,
)
from voc_seg_tfrecord.core.tiling import MOST_TILES, Tile, Tiling
from voc_seg_tfrecord.formats import bands, images, pillow, png_pixels
from voc_seg_tfrecord.formats.bands import Banded
from voc_seg_tfrecord.formats.images import StoredImage
from voc_seg_tfrecord.formats.png_pixels import count_values

QUALITY = 95
"""Quality of JPEG tiles, if no other one is given."""


def cut(
    key: str,
    image: StoredImage | pillow.Still | Banded,
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
      image: the complete image.
      others: its other features, as `examples.make_example` returns them.
      tiling: how to cut.
      where: the image's file, for errors.
      background: the class that `labels` leave out, None if there is none.

    Yields:
      Key and features of each tile, row by row.

    Raises:
      ImageError: if the image's pixels cannot be decoded, or would be too many tiles.
    """
    if tiling.count(image.height, image.width) > MOST_TILES:
        raise ImageError(
            where,
            found=f"more than {MOST_TILES:,} tiles of {tiling.size} pixels in an image of "
            f"{image.height} x {image.width}",
            expected="larger tiles",
            remedy="change tile (--tile), or leave the image out",
        )
    tiles = list(tiling.tiles(image.height, image.width))
    if len(tiles) == 1:
        ending = posixpath.splitext(others[FILENAME])[1]
        alone = {**others, IMAGE: image.stored(), **_place(others, tiles[0], ending)}
        yield tiles[0].name(key), alone
        return
    ending = {"png": ".png", "jpeg": ".jpg"}[tiling.format]
    encode: Callable[[np.ndarray], Any] = functools.partial(pillow.encode_png, photo=True)
    if isinstance(image, Banded):
        pixels, encode = image.pixels, functools.partial(bands.as_stored, image.bands)
        ending = ".png" if image.bands.is_png else ".npy"
    elif isinstance(image, pillow.Still):
        pixels = image.rgb()
    else:
        pixels = images.decode(File(image.data, where)).values()
    if tiling.format == "jpeg":
        encode = functools.partial(pillow.encode_jpeg, quality=QUALITY)
    masks = {
        name: png_pixels.decode_values(File(others[name], f"{where}, {name}"))
        for name in FILL
        if name in others
    }
    for tile in tiles:
        parts = {name: np.ascontiguousarray(mask[tile.window]) for name, mask in masks.items()}
        present = np.flatnonzero(count_values(parts[MASK])[:VOID]).tolist()
        yield (
            tile.name(key),
            {
                **others,
                **_place(others, tile, ending),
                IMAGE: encode(np.ascontiguousarray(pixels[tile.window])),
                HEIGHT: tile.height,
                WIDTH: tile.width,
                LABELS: [value for value in present if value != background],
                **{name: pillow.encode_png(part) for name, part in parts.items()},
            },
        )


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
