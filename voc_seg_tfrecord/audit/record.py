"""Checks one record: in itself, against its source files, and as a tile of its image."""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import dataclasses
import hashlib
import itertools
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.base.errors import RecordError, VocSegError
from voc_seg_tfrecord.base.names import (
    FILENAME,
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
from voc_seg_tfrecord.examples.tiles import MOST_TILES, Tile, Tiling
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import name_fault, show_name
from voc_seg_tfrecord.formats.png_pixels import count_values

_MANY = 1000  # tiles of one image that are missing and named one by one


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
        if tiling.count(*self.size) > MOST_TILES:
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
    counts = collections.Counter(place.image_id for place in places.values())
    for place in places.values():
        sizes.setdefault(place.image_id, set()).add(place.size)
    for image_id, of_image in sorted(sizes.items()):
        if len(of_image) > 1:
            yield image_id, f"its tiles say different sizes of the image: {sorted(of_image)}"
        elif tiling is not None and all(len(size) == 2 and min(size) > 0 for size in of_image):
            size = of_image.pop()
            lacking = tiling.count(*size) - counts[image_id]
            if lacking > _MANY:
                yield image_id, f"missing: at least {lacking:,} of its tiles"
                continue
            for tile in tiling.tiles(*size):
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
class Values:
    """What the list of values of a feature must be.

    Attributes:
      kind: the field of a `tf.train.Feature` that holds it.
      count: how many values there are; None for any number of `group`s.
      group: see `count`.
      bounds: the lowest and the highest number, both included; None for any.
      is_text: whether it is text in UTF-8.
      sequence: the sequence of dictionaries that it is a field of; empty if it is none.
    """

    kind: str
    count: int | None = 1
    group: int = 1
    bounds: tuple[float, float] | None = None
    is_text: bool = False
    sequence: str = ""

    def of(self, feature: Any) -> list[Any]:
        """Returns the values of a feature of a record."""
        return list(getattr(feature, self.kind).value)

    def problem(self, feature: Any) -> str:
        """Returns what is wrong with a feature of a record; empty if nothing is."""
        if (kind := feature.WhichOneof("kind")) != self.kind:
            return f"{kind or 'no values'}, expected a {self.kind}"
        values = self.of(feature)
        if (self.count is not None and len(values) != self.count) or len(values) % self.group:
            return f"{len(values)} values, expected {self.count or f'groups of {self.group}'}"
        if self.is_text:
            try:
                b"".join(values).decode()
            except UnicodeDecodeError as error:
                return str(error)
        if self.bounds is not None:
            lowest, highest = self.bounds
            wrong = [value for value in values if not lowest <= value <= highest]
            return f"{wrong[0]}, expected {lowest} to {highest}" if wrong else ""
        return ""


def expected_values(features: tfds.features.FeaturesDict) -> dict[str, Values]:
    """Returns what a record must have by features' names, those of objects as `objects/bbox`."""
    expected = {}
    for name, feature in features.items():
        inner = feature.feature if isinstance(feature, tfds.features.Sequence) else feature
        if isinstance(inner, tfds.features.FeaturesDict):
            for field, of_object in inner.items():
                values = _values(of_object, sequence=True)
                expected[f"{name}/{field}"] = dataclasses.replace(values, sequence=name)
        else:
            expected[name] = _values(inner, sequence=inner is not feature)
    return expected


def value_problems(expected: Mapping[str, Values], record: Record) -> Iterator[str]:
    """Yields which features of a record are missing, or hold other values than expected."""
    for name, values in sorted(expected.items()):
        if name not in record.features:
            yield f"{name}: missing"
        elif problem := values.problem(record.features[name]):
            yield f"{name}: {problem}"


def _values(feature: Any, *, sequence: bool) -> Values:
    count, info = None if sequence else 1, feature.get_serialized_info()
    if isinstance(feature, tfds.features.BBoxFeature):
        return Values("float_list", count, 4, (0, 1))
    dtype = np.dtype(info.np_dtype)
    if dtype.kind == "O":
        is_text = isinstance(feature, tfds.features.Text)
        return Values("bytes_list", count, is_text=is_text)
    if dtype.kind == "f":
        return Values("float_list", count)
    bounds = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if isinstance(feature, tfds.features.ClassLabel):
        bounds = 0, feature.num_classes - 1
    return Values("int64_list", count, bounds=bounds)


@dataclasses.dataclass(frozen=True)
class Standard:
    """What every record of a dataset is held against, read once before the first one.

    Attributes:
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
      values: what each feature of a record holds, by name.
      shapes: height, width and channels of each image and mask, None for any, by name.
      tiling: how the dataset's images were cut into tiles; None if they were not.
      source: what the dataset was made from; None if it is not available.
    """

    class_names: tuple[str, ...]
    background: int | None
    values: Mapping[str, Values]
    shapes: Mapping[str, tuple[int | None, ...]]
    tiling: Tiling | None = None
    source: Originals | None = None


@dataclasses.dataclass(frozen=True)
class Examined:
    """What verifying found in one record.

    Attributes:
      id: the record's id.
      digests: of its image and masks.
      stored: sha256 of the record's bytes.
      problems: what is wrong.
      place: where its tile lies; None if it is no tile.
    """

    id: str
    digests: fingerprint.Digests
    stored: bytes
    problems: tuple[str, ...]
    place: TilePlace | None = None


def examine(standard: Standard, split: str, record: Record) -> Examined:
    """Hashes one record and collects its problems."""
    arrays, problems = decode_masks(record)
    for check in _CHECKS:
        problems += check(standard, split, record, arrays)
    digests, stored = digests_of(record, arrays), hashlib.sha256(record.serialized).digest()
    once = tuple(dict.fromkeys(problems))  # two checks may read one header
    return Examined(record.id, digests, stored, once, tile_place(record))


_Masks = Mapping[str, np.ndarray]


def _value_problems(standard: Standard, _: str, record: Record, __: _Masks) -> Iterator[str]:
    """Yields what of a record TFDS could not parse, or would parse as something else."""
    if record.surplus:
        yield f"{record.surplus} bytes that belong to no feature, or to one that is there twice"
    for name in sorted(set(record.features) - set(standard.values)):
        yield f"{name}: a feature that features.json does not have"
    yield from value_problems(standard.values, record)
    for name in {FILENAME, TILE_IMAGE_ID} & set(record.features):
        if fault := name_fault(record.bytes(name).decode(errors="replace")):
            yield f"{name}: {show_name(record.bytes(name).decode(errors='replace'))}, which {fault}"


def _object_problems(standard: Standard, _: str, record: Record, __: _Masks) -> Iterator[str]:
    """Yields what is wrong with sequences of dictionaries, such as annotated objects."""
    lengths: dict[str, set[int]] = {}
    for path, values in standard.values.items():
        if values.sequence and path in record.features:
            numbers = values.of(record.features[path])
            lengths.setdefault(values.sequence, set()).add(len(numbers) // values.group)
            boxes = zip(*[iter(numbers)] * 4, strict=False) if values.group == 4 else ()
            if wrong := [box for box in boxes if not (box[0] <= box[2] and box[1] <= box[3])]:
                yield f"{path}: {wrong[0]}, which ends before it begins"
    for name, different in lengths.items():
        if len(different) > 1:
            yield f"{name}: lists of {sorted(different)} values, expected as many of each"


def _image_problems(standard: Standard, _: str, record: Record, arrays: _Masks) -> Iterator[str]:
    """Yields which images decoders do not read, and what does not fit the features' shapes."""
    sizes = {name: mask.shape for name, mask in arrays.items()}
    for name in standard.shapes:
        if name not in MASKS and name in record.features:
            try:
                sizes[name] = records.decoded_size(File(record.bytes(name), name))
            except VocSegError as error:
                yield str(error)
    for name, size in sizes.items():
        shape = standard.shapes.get(name, ())
        if any(fixed not in (None, actual) for fixed, actual in zip(shape, size, strict=False)):
            yield f"{name}: height and width {size}, the feature's shape is {shape}"


def _label_problem(standard: Standard, _: str, record: Record, arrays: _Masks) -> Iterator[str]:
    names, background = standard.class_names, standard.background
    return inner_problems(record, arrays, names, background)


def _source_problems(
    standard: Standard, split: str, record: Record, arrays: _Masks
) -> Iterator[str]:
    if standard.source is not None and not standard.source.agrees(split, record):
        yield from _outer_problems(record, arrays, standard.source, split)


_CHECKS: Sequence[Callable[[Standard, str, Record, _Masks], Iterable[str]]] = (
    _value_problems,
    _object_problems,
    _image_problems,
    _label_problem,
    lambda standard, _, record, __: tile_problems(record, standard.tiling),
    _source_problems,
)


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
            stored, expected = record.bytes(name), original.bytes(name)
            if TILE_IMAGE_ID in original.features and _same_pixels(stored, expected):
                continue  # another version of a library compresses in another way
            yield f"{IMAGE}: {len(stored)} bytes differ from the source's {len(expected)} bytes"
        else:
            yield f"{name}: {_text(record, name)}, the source has {_text(original, name)}"


def _same_pixels(stored: bytes, expected: bytes) -> bool:
    """Says whether two image files have the same pixels; the first one may be damaged."""
    try:
        first, second = (
            pillow.decode(File(data, IMAGE), RecordError).values() for data in (stored, expected)
        )
    except RecordError:
        return False
    return np.array_equal(first, second)


def _pixel_difference(stored: np.ndarray, expected: np.ndarray) -> str:
    """Says how two masks, uint8 `[H, W]`, differ; nothing if they do not."""
    if stored.shape != expected.shape:
        return f"height and width {stored.shape}, the source has {expected.shape}"
    rows, columns = np.nonzero(stored != expected)
    if not len(rows):
        return ""
    row, column = int(rows[0]), int(columns[0])
    pixels = "1 pixel differs" if len(rows) == 1 else f"{len(rows)} pixels differ"
    return (
        f"{pixels} from the source, first at row {row}, column {column}: "
        f"{stored[row, column]} instead of {expected[row, column]}"
    )


def _text(record: Record, name: str) -> str:
    return " ".join(str(record.features[name]).split()) if name in record.features else "nothing"
