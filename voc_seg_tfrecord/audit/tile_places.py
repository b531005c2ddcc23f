"""Checks the places of tiles: of one tile in its image, and of all tiles of a split together."""

import collections
from collections.abc import Iterator, Mapping
import dataclasses

from voc_seg_tfrecord.core.names import (
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
)
from voc_seg_tfrecord.core.tiling import MAX_TILES, Tile, Tiling
from voc_seg_tfrecord.reading.records import Record

_MAX_NAMED_TILES = 1000
"""Missing tiles of one image that are named one by one."""


@dataclasses.dataclass(frozen=True)
class TilePlace:
    """The place of a tile in its image, as its record gives it.

    Attributes:
      image_id: the id of the image.
      size: height and width of the image.
      at: row and column at which the tile begins.
    """

    image_id: str
    size: tuple[int, ...]
    at: tuple[int, ...]

    @property
    def has_size(self) -> bool:
        """Whether an image can have that size."""
        return len(self.size) == 2 and min(self.size) > 0

    def tile(self, tiling: Tiling) -> Tile | None:
        """Returns the tile that begins there; None if no tile of such an image does."""
        if not self.has_size or len(self.at) != 2:
            return None
        height, width = self.size
        if tiling.count(height, width) > MAX_TILES:
            return None
        top, left = self.at
        return tiling.tile_at(height, width, top, left)


def tile_place(record: Record) -> TilePlace | None:
    """Returns the place of a record's tile, None if it is no tile."""
    if TILE_IMAGE_ID not in record.features:
        return None
    image_id = record.bytes(TILE_IMAGE_ID).decode(errors="replace")
    size = record.ints(TILE_IMAGE_HEIGHT) + record.ints(TILE_IMAGE_WIDTH)
    at = record.ints(TILE_Y) + record.ints(TILE_X)
    return TilePlace(image_id, size, at)


def tile_problems(record: Record, tiling: Tiling | None) -> Iterator[str]:
    """Yields what is wrong about the place of one tile."""
    place = tile_place(record)
    if place is None or tiling is None:
        return
    tile = place.tile(tiling)
    if tile is None:
        yield f"{TILE_Y}, {TILE_X}: {place.at}, no tile of an image of {place.size} begins there"
        return
    name = tile.name(place.image_id)
    if name != record.id:
        yield f"the id is {record.id}, the tile's place {place.at} is that of {name}"
    size = (tile.height, tile.width)
    if size != record.size:
        yield f"height and width {record.size}, a tile at {place.at} has {size}"


def missing_tiles(
    places: Mapping[str, TilePlace], tiling: Tiling | None
) -> Iterator[tuple[str, str]]:
    """Yields id and problem of what no record by itself shows.

    Args:
      places: the places of all tiles of a split, by the id of the record.
      tiling: how the images were cut; None if they were not.
    """
    sizes: dict[str, set[tuple[int, ...]]] = {}
    tile_counts = collections.Counter(place.image_id for place in places.values())
    for place in places.values():
        sizes.setdefault(place.image_id, set()).add(place.size)
    for image_id, sizes_of_image in sorted(sizes.items()):
        if len(sizes_of_image) > 1:
            yield image_id, f"its tiles say different sizes of the image: {sorted(sizes_of_image)}"
            continue
        (size,) = sizes_of_image
        if tiling is None or not TilePlace(image_id, size, ()).has_size:
            continue
        height, width = size
        lacking = tiling.count(height, width) - tile_counts[image_id]
        if lacking > _MAX_NAMED_TILES:
            yield image_id, f"missing: at least {lacking:,} of its tiles"
            continue
        for tile in tiling.tiles(height, width):
            tile_id = tile.name(image_id)
            if tile_id not in places:
                yield tile_id, "missing: other tiles of its image are there"
