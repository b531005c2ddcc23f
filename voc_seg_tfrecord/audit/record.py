"""Checks one record: in itself, against its source files, and as a tile of its image."""

from collections.abc import Iterator, Mapping
import dataclasses
import itertools

import numpy as np

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.base.errors import RecordError, VocSegError
from voc_seg_tfrecord.base.names import (
    HEIGHT,
    IMAGE,
    INSTANCES,
    LABEL,
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
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.examples.tiles import Tile, Tiling
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.png_pixels import count_values


@dataclasses.dataclass(frozen=True)
class TilePlace:
    """What a record says about where its tile lies.

    Attributes:
      image_id: the image.
      size: height and width of the image.
      at: row and column at which the tile begins.
    """

    image_id: str
    size: tuple[int, ...]
    at: tuple[int, ...]

    def tile(self, tiling: Tiling) -> Tile | None:
        """Returns the tile that begins there; None if no tile of such an image does."""
        if len(self.size) != 2 or min(self.size) < 1 or len(self.at) != 2:
            return None
        return tiling.tile_at(*self.size, *self.at)


def tile_place(record: Record) -> TilePlace | None:
    """Returns what a record says, None if it is no tile."""
    if TILE_IMAGE_ID not in record.features:
        return None
    size = record.ints(TILE_IMAGE_HEIGHT) + record.ints(TILE_IMAGE_WIDTH)
    at = record.ints(TILE_Y) + record.ints(TILE_X)
    return TilePlace(record.bytes(TILE_IMAGE_ID).decode(errors="replace"), size, at)


def tile_problems(record: Record, tiling: Tiling | None) -> Iterator[str]:
    """Yields what is wrong about the place of one tile."""
    place = tile_place(record)
    if place is None or tiling is None:
        return
    if len(place.size) != 2 or min(place.size) < 1:
        yield f"{TILE_IMAGE_HEIGHT}, {TILE_IMAGE_WIDTH}: {place.size}"
        return
    at = place.at
    tile = place.tile(tiling)
    if tile is None:
        yield f"{TILE_Y}, {TILE_X}: {at}, no tile of an image of {place.size} begins there"
        return
    name = tile.name(place.image_id)
    if name != record.id:
        yield f"the id is {record.id}, the tile's place {at} is that of {name}"
    if (tile.height, tile.width) != record.size:
        expected = (tile.height, tile.width)
        yield f"height and width {record.size}, a tile at {at} has {expected}"


def missing_tiles(
    places: Mapping[str, TilePlace], tiling: Tiling | None
) -> Iterator[tuple[str, str]]:
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


def shared_tiles(images: Mapping[str, set[str]]) -> Iterator[tuple[str, str, str]]:
    """Yields split, image and problem for each image whose tiles are in two splits.

    Args:
      images: the ids of images by split.
    """
    for first, second in itertools.combinations(images, 2):
        for image_id in sorted(images[first] & images[second]):
            yield second, image_id, f"tiles of this image are in the split {first} too"


@dataclasses.dataclass(frozen=True)
class Examined:
    """What verifying found in one record: its digests, its problems, and its place if a tile."""

    id: str
    digests: fingerprint.Digests
    problems: tuple[str, ...]
    place: TilePlace | None = None


def examine(
    class_names: tuple[str, ...],
    background: int | None,
    split: str,
    source: Originals | None,
    record: Record,
    *,
    tiling: Tiling | None = None,
) -> Examined:
    """Hashes one record and collects its problems.

    Args:
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
      split: the record's split.
      source: what the dataset was made from; None if it is not available.
      record: the record.
      tiling: how the dataset's images were cut into tiles; None if they were not.
    """
    arrays, problems = decode_masks(record)
    problems += inner_problems(record, arrays, class_names, background)
    problems += tile_problems(record, tiling)
    if source is not None and not source.agrees(split, record):
        problems += _outer_problems(record, arrays, source, split)
    place = tile_place(record)
    return Examined(record.id, digests_of(record, arrays), tuple(problems), place)


def decode_masks(record: Record) -> tuple[dict[str, np.ndarray], list[str]]:
    """Returns a record's masks by feature, uint8 `[H, W]`, and what is wrong with the others."""
    arrays, problems = {}, []
    for name in MASKS:
        if name in record.features:
            try:
                arrays[name] = records.pixels(File(record.bytes(name), name))
            except VocSegError as error:
                problems.append(str(error))
    return arrays, problems


def digests_of(record: Record, masks: Mapping[str, np.ndarray]) -> fingerprint.Digests:
    """Hashes one record.

    Args:
      record: the record.
      masks: its masks by the name of their feature, uint8 `[H, W]`.
    """
    digests = {name: fingerprint.mask_digest(record.id, mask) for name, mask in masks.items()}
    return fingerprint.Digests(
        fingerprint.image_digest(record.id, record.bytes(IMAGE)),
        digests.get(MASK, b""),
        digests.get(INSTANCES, b""),
    )


def inner_problems(
    record: Record,
    arrays: Mapping[str, np.ndarray],
    class_names: tuple[str, ...],
    background: int | None,
) -> Iterator[str]:
    """Yields what is inconsistent within a record.

    Args:
      record: the record.
      arrays: its masks by the name of their feature, uint8 `[H, W]`.
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
    """
    try:
        size = records.image_size(File(record.bytes(IMAGE), IMAGE))
    except VocSegError as error:
        yield str(error)
        return
    if size != record.size and LABEL not in record.features:  # with a label no size is stored
        yield f"{HEIGHT}, {WIDTH}: {record.size}, the image has {size}"
    for name, array in arrays.items():
        if array.shape != size:
            yield f"{name}: height and width {array.shape}, the image has {size}"
    if MASK not in arrays:
        return
    counts = count_values(arrays[MASK])
    values = [int(value) for value in np.flatnonzero(counts) if value != VOID]
    if wrong := [value for value in values if value >= len(class_names)]:
        yield f"{MASK}: values {wrong}, there are {len(class_names)} classes"
    labels = tuple(value for value in values if value != background)
    if labels != record.ints(LABELS):
        yield f"{LABELS}: {record.ints(LABELS)}, the mask has {labels}"


def _outer_problems(
    record: Record,
    arrays: Mapping[str, np.ndarray],
    source: Originals,
    split: str,
) -> Iterator[str]:
    """Yields where a record differs from the record that its files give."""
    try:
        original = source.record(split, record.id)
    except VocSegError as error:
        yield f"its source cannot be used: {error}"
        return
    if original is None:
        yield "unexpected: the source's list does not name it"
        return
    for name in sorted({*record.features, *original.features}):
        if record.features[name] == original.features[name]:
            continue
        if name in arrays:
            mask = records.pixels(File(original.bytes(name), name))
            if difference := _pixel_difference(arrays[name], mask):
                yield f"{name}: {difference}"
        elif name == IMAGE:
            found, expected = record.bytes(name), original.bytes(name)
            if TILE_IMAGE_ID in original.features and _same_pixels(found, expected):
                continue  # another version of a library compresses in another way
            yield f"{IMAGE}: {len(found)} bytes differ from the source's {len(expected)} bytes"
        else:
            yield f"{name}: {_text(record, name)}, the source has {_text(original, name)}"


def _same_pixels(found: bytes, expected: bytes) -> bool:
    """Says whether two image files have the same pixels; the first one may be damaged."""
    try:
        first, second = (
            pillow.decode(File(data, IMAGE), RecordError).values() for data in (found, expected)
        )
    except RecordError:
        return False
    return np.array_equal(first, second)


def _pixel_difference(found: np.ndarray, expected: np.ndarray) -> str:
    """Says how two masks, uint8 `[H, W]`, differ; nothing if they do not."""
    if found.shape != expected.shape:
        return f"height and width {found.shape}, the source has {expected.shape}"
    rows, columns = np.nonzero(found != expected)
    if not len(rows):
        return ""
    row, column = int(rows[0]), int(columns[0])
    pixels = "1 pixel differs" if len(rows) == 1 else f"{len(rows)} pixels differ"
    return (
        f"{pixels} from the source, first at row {row}, column {column}: "
        f"{found[row, column]} instead of {expected[row, column]}"
    )


def _text(record: Record, name: str) -> str:
    return " ".join(str(record.features[name]).split()) if name in record.features else "nothing"
