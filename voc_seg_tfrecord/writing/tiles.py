"""Cuts one example into the examples of its tiles."""

from collections.abc import Callable, Iterator, Mapping
import dataclasses
import functools
import posixpath
from typing import Any

import numpy as np

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.example import KeyedExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.names import (
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
    VOID,
    WIDTH,
)
from voc_seg_tfrecord.core.tiling import MAX_TILES, Tile, Tiling
from voc_seg_tfrecord.formats import bands, images, pillow, png_values, stills
from voc_seg_tfrecord.formats.bands import Banded
from voc_seg_tfrecord.formats.images import StoredImage
from voc_seg_tfrecord.formats.value_counts import count_values, nonzero_counts

JPEG_QUALITY = 95
"""Quality of tiles that are stored as JPEG."""


def cut_tiles(
    rest: KeyedExample,
    image: StoredImage | stills.Still | Banded,
    tiling: Tiling,
    *,
    where: str,
    background: int | None,
) -> Iterator[KeyedExample]:
    """Cuts an example into tiles. Image and masks are decoded once for all of them.

    An image that is one tile is stored as if it were not cut. A JPEG is decoded accurately, as
    NumPy's readers decode it; TensorFlow's own decoder is faster, and its values differ from
    these by up to 27 of 255.

    Args:
      rest: the example of the complete image, without the feature of the image.
      image: the complete image.
      tiling: how to cut.
      where: the image's file, for errors.
      background: the class that `labels` leave out, None if there is none.

    Yields:
      The example of each tile, row by row.

    Raises:
      ImageError: if the image's pixels cannot be decoded, or would be too many tiles.
    """
    _check_tile_count(image, tiling, where)
    tiles = list(tiling.tiles(image.height, image.width))
    whole_features = rest.features
    if len(tiles) == 1:
        ending = posixpath.splitext(whole_features[FILENAME])[1]
        position = _position_features(whole_features, tiles[0], ending)
        features = {**whole_features, IMAGE: image.stored(), **position}
        yield KeyedExample(tiles[0].name(rest.key), features, rest.mask_counts)
        return
    source = _decode_image(image, tiling, where)
    masks = {}
    for name in MASKS:
        if name in whole_features:
            mask_file = File(whole_features[name], f"{where}, {name}")
            masks[name] = png_values.decode_values(mask_file)
    for tile in tiles:
        features = {**whole_features, **_position_features(whole_features, tile, source.ending)}
        features[IMAGE] = source.encode(np.ascontiguousarray(source.pixels[tile.window]))
        features[HEIGHT] = tile.height
        features[WIDTH] = tile.width
        mask_counts: dict[int, int] = {}
        for name, mask in masks.items():
            part = np.ascontiguousarray(mask[tile.window])
            features[name] = pillow.encode_png(part)
            if name == MASK:
                mask_counts = nonzero_counts(count_values(part))
                features[LABELS] = [v for v in mask_counts if v not in (VOID, background)]
        yield KeyedExample(tile.name(rest.key), features, mask_counts)


def _check_tile_count(
    image: StoredImage | stills.Still | Banded, tiling: Tiling, where: str
) -> None:
    if tiling.count(image.height, image.width) > MAX_TILES:
        raise ImageError(
            where,
            found=f"more than {MAX_TILES:,} tiles of {tiling.size} pixels in an image of "
            f"{image.height} x {image.width}",
            expected="larger tiles",
            remedy="change tile (--tile), or leave the image out",
        )


@dataclasses.dataclass(frozen=True)
class _TiledImage:
    """An image whose tiles are encoded one by one.

    Attributes:
      pixels: `[H, W, N]`; uint8 RGB, or the bands of the image.
      encode: returns what a record has of a tile, `[h, w, N]`.
      ending: of the tiles' file names, such as `.png`.
    """

    pixels: np.ndarray
    encode: Callable[[np.ndarray], Any]
    ending: str


def _decode_image(
    image: StoredImage | stills.Still | Banded, tiling: Tiling, where: str
) -> _TiledImage:
    """Decodes a complete image, and chooses how its tiles are stored."""
    pixels = _decode_pixels(image, where)
    if tiling.format == "jpeg":
        as_jpeg = functools.partial(pillow.encode_jpeg, quality=JPEG_QUALITY)
        return _TiledImage(pixels, as_jpeg, ".jpg")
    if isinstance(image, Banded):
        as_bands = functools.partial(bands.as_stored, image.bands)
        return _TiledImage(pixels, as_bands, ".png" if image.bands.is_png else ".npy")
    as_png = functools.partial(pillow.encode_png, photo=True)
    return _TiledImage(pixels, as_png, ".png")


def _decode_pixels(image: StoredImage | stills.Still | Banded, where: str) -> np.ndarray:
    """Returns the pixels of a complete image, `[H, W, N]`."""
    if isinstance(image, Banded):
        return image.pixels
    if isinstance(image, stills.Still):
        return image.rgb()
    return images.decode(File(image.data, where)).values()


def _position_features(
    whole_features: Mapping[str, Any], tile: Tile, ending: str
) -> dict[str, Any]:
    """Returns the features that say where a tile lies in its image, and its file name.

    Args:
      whole_features: the features of the complete image.
      tile: the tile.
      ending: of its file name.
    """
    own_id = id_of_file(whole_features[FILENAME])
    return {
        FILENAME: tile.name(own_id) + ending,
        TILE_IMAGE_ID: own_id,
        TILE_Y: tile.top,
        TILE_X: tile.left,
        TILE_IMAGE_HEIGHT: whole_features[HEIGHT],
        TILE_IMAGE_WIDTH: whole_features[WIDTH],
    }
