"""Checks the places of tiles: of one tile in its image, and of all tiles of a split together."""

from collections.abc import Container, Iterable, Iterator, Mapping
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
"""How many missing tiles of one image are named one by one."""


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


@dataclasses.dataclass(frozen=True)
class TileFault:
    """A fault that only all tiles of a split together show.

    Attributes:
      id: of the tile, or of the image if the fault is about many of its tiles.
      problem: what is wrong.
      is_missing: whether the tile, or many of the image, are missing.
    """

    id: str
    problem: str
    is_missing: bool


def find_tile_faults(places: Mapping[str, TilePlace], tiling: Tiling | None) -> Iterator[TileFault]:
    """Yields the faults that only all tiles of a split together show.

    Args:
      places: the places of all tiles of a split, by the id of the record.
      tiling: how the images were cut; None if they were not.
    """
    places_by_image: dict[str, list[TilePlace]] = {}
    for place in places.values():
        places_by_image.setdefault(place.image_id, []).append(place)
    for image_id, places_of_image in sorted(places_by_image.items()):
        sizes = {place.size for place in places_of_image}
        if len(sizes) > 1:
            problem = f"its tiles give different sizes of the image: {sorted(sizes)}"
            yield TileFault(image_id, problem, is_missing=False)
        elif tiling is not None and places_of_image[0].has_size:
            height, width = places_of_image[0].size
            count = tiling.count(height, width)
            if count - len(places_of_image) > _MAX_NAMED_TILES:
                missing_count = count - len(places_of_image)
                problem = f"missing: at least {missing_count:,} of its tiles"
                yield TileFault(image_id, problem, is_missing=True)
            else:
                yield from _name_missing_tiles(image_id, tiling.tiles(height, width), places)


def _name_missing_tiles(
    image_id: str, tiles: Iterable[Tile], places: Container[str]
) -> Iterator[TileFault]:
    """Yields each missing tile of an image; if they are many, one fault with their number."""
    tile_ids = [tile.name(image_id) for tile in tiles]
    missing_ids = [tile_id for tile_id in tile_ids if tile_id not in places]
    if len(missing_ids) > _MAX_NAMED_TILES:
        problem = f"missing: {len(missing_ids):,} of its tiles"
        yield TileFault(image_id, problem, is_missing=True)
        return
    for tile_id in missing_ids:
        problem = "missing, although the image has other tiles"
        yield TileFault(tile_id, problem, is_missing=True)
