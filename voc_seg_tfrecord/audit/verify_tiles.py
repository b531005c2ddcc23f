"""Whether the tiles of a dataset are those of its images: none missing, none in a wrong place."""

from collections.abc import Iterator, Mapping
import dataclasses
import itertools

from voc_seg_tfrecord.audit.records import Record
from voc_seg_tfrecord.examples.grid import Tiling
from voc_seg_tfrecord.features import (
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
)


@dataclasses.dataclass(frozen=True)
class Place:
    """What a record says about where its tile lies.

    Attributes:
      image_id: the image.
      size: height and width of the image.
    """

    image_id: str
    size: tuple[int, ...]


def place_of(record: Record) -> Place | None:
    """Returns what a record says, None if it is no tile."""
    if TILE_IMAGE_ID not in record.features:
        return None
    size = record.ints(TILE_IMAGE_HEIGHT) + record.ints(TILE_IMAGE_WIDTH)
    return Place(record.bytes(TILE_IMAGE_ID).decode(errors="replace"), size)


def problems(record: Record, tiling: Tiling | None) -> Iterator[str]:
    """Yields what is wrong about the place of one tile."""
    place = place_of(record)
    if place is None or tiling is None:
        return
    if len(place.size) != 2 or min(place.size) < 1:
        yield f"{TILE_IMAGE_HEIGHT}, {TILE_IMAGE_WIDTH}: {place.size}"
        return
    at = record.ints(TILE_Y) + record.ints(TILE_X)
    tile = tiling.tile_at(*place.size, *at) if len(at) == 2 else None
    if tile is None:
        yield f"{TILE_Y}, {TILE_X}: {at}, no tile of an image of {place.size} begins there"
        return
    name = tile.name(place.image_id)
    if name != record.id:
        yield f"the id is {record.id}, the tile's place {at} is that of {name}"
    if (tile.height, tile.width) != record.size:
        expected = (tile.height, tile.width)
        yield f"height and width {record.size}, a tile at {at} has {expected}"


def missing(places: Mapping[str, Place], tiling: Tiling | None) -> Iterator[tuple[str, str]]:
    """Yields what no record by itself shows: id and problem.

    Args:
      places: of the tiles of a split, by their ids.
      tiling: how images were cut.
    """
    sizes: dict[str, set[tuple[int, ...]]] = {}
    for place in places.values():
        sizes.setdefault(place.image_id, set()).add(place.size)
    for image_id, found in sorted(sizes.items()):
        if len(found) > 1:
            yield image_id, f"its tiles say different sizes of the image: {sorted(found)}"
        elif tiling is not None and all(len(size) == 2 for size in found):
            for tile in tiling.tiles(*found.pop()):
                if tile.name(image_id) not in places:
                    yield tile.name(image_id), "missing: other tiles of its image are there"


def shared(images: Mapping[str, set[str]]) -> Iterator[tuple[str, str, str]]:
    """Yields split, image and problem for each image whose tiles are in two splits.

    Args:
      images: the ids of images by split.
    """
    for first, second in itertools.combinations(images, 2):
        for image_id in sorted(images[first] & images[second]):
            yield second, image_id, f"tiles of this image are in the split {first} too"
