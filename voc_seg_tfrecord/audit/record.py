"""Checks one record: in itself, against its source files, and as a tile of its image."""

import collections
from collections.abc import Callable, Iterator, Mapping
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.core.errors import RecordError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.file_names import name_fault, show_name
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    IMAGE_AND_SIZE,
    IMAGE_SHAPE,
    IMAGE_VALUE,
    INSTANCES,
    LABEL,
    LABELS,
    MASK,
    MASKS,
    SEGMENTATION,
    TILE_IMAGE_HEIGHT,
    TILE_IMAGE_ID,
    TILE_IMAGE_WIDTH,
    TILE_X,
    TILE_Y,
    VOID,
    WIDTH,
)
from voc_seg_tfrecord.core.tiling import MOST_TILES, Tile, Tiling
from voc_seg_tfrecord.formats import images, pillow
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.reading.trust import Field, fields_of

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

    @property
    def has_size(self) -> bool:
        """Whether an image can have that size."""
        return len(self.size) == 2 and min(self.size) > 0

    def tile(self, tiling: Tiling) -> Tile | None:
        """Returns the tile that begins there; None if no tile of such an image does."""
        fits = self.has_size and len(self.at) == 2 and tiling.count(*self.size) <= MOST_TILES
        return tiling.tile_at(*self.size, *self.at) if fits else None


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
    tile = place.tile(tiling)
    if tile is None:
        found = f"{place.at}, no tile of an image of {place.size} begins there"
        yield f"{TILE_Y}, {TILE_X}: {found}"
        return
    name = tile.name(place.image_id)
    if name != record.id:
        yield f"the id is {record.id}, the tile's place {place.at} is that of {name}"
    if (tile.height, tile.width) != record.size:
        expected = (tile.height, tile.width)
        yield f"height and width {record.size}, a tile at {place.at} has {expected}"


def missing_tiles(
    places: Mapping[str, TilePlace], tiling: Tiling | None
) -> Iterator[tuple[str, str]]:
    """Yields what no record by itself shows: id and problem."""
    sizes: dict[str, set[tuple[int, ...]]] = {}
    counts = collections.Counter(place.image_id for place in places.values())
    for place in places.values():
        sizes.setdefault(place.image_id, set()).add(place.size)
    for image_id, of_image in sorted(sizes.items()):
        if len(of_image) > 1:
            yield image_id, f"its tiles say different sizes of the image: {sorted(of_image)}"
        elif tiling is not None and TilePlace(image_id, size := of_image.pop(), ()).has_size:
            lacking = tiling.count(*size) - counts[image_id]
            if lacking > _MANY:
                yield image_id, f"missing: at least {lacking:,} of its tiles"
                continue
            for tile in tiling.tiles(*size):
                if tile.name(image_id) not in places:
                    yield tile.name(image_id), "missing: other tiles of its image are there"


Check = Callable[[Any], str]
"""Says what is wrong with a `tf.train.Feature`; empty if nothing is."""


def value_checks(features: tfds.features.FeaturesDict) -> dict[str, Check]:
    """Returns a check of each feature of a dataset's records, by path in their order."""
    return {name: _value_check(field) for name, field in sorted(fields_of(features).items())}


def value_problems(checks: Mapping[str, Check], record: Record) -> Iterator[str]:
    """Yields which features of a record are missing, or hold other values than expected."""
    for name, check in checks.items():
        if name not in record.features:
            yield f"{name}: missing"
        elif problem := check(record.features[name]):
            yield f"{name}: {problem}"


def _value_check(field: Field) -> Check:
    dtype, bounds = field.np_dtype, None
    kind = {"O": "bytes_list", "f": "float_list"}.get(dtype.kind, "int64_list")
    if field.feature is tfds.features.BBoxFeature:
        bounds = 0, 1
    elif field.feature is tfds.features.ClassLabel:
        bounds = 0, field.classes - 1
    elif kind == "int64_list":
        bounds = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    is_text = field.feature is tfds.features.Text

    def problem(feature: Any) -> str:
        if (actual := feature.WhichOneof("kind")) != kind:
            return f"{actual or 'no values'}, expected a {kind}"
        values = getattr(feature, kind).value
        if len(values) % field.group if field.sequence else len(values) != field.count:
            expected = f"groups of {field.group}" if field.sequence else field.count
            return f"{len(values)} values, expected {expected}"
        if bounds and (wrong := [v for v in values if not bounds[0] <= v <= bounds[1]]):
            return f"{wrong[0]}, expected {bounds[0]} to {bounds[1]}"
        try:
            if is_text:
                b"".join(values).decode()
        except UnicodeDecodeError as error:
            return str(error)
        return ""

    return problem


@dataclasses.dataclass(frozen=True)
class Standard:
    """What every record of a dataset is held against, read once before the first one.

    Attributes:
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
      fields: what a record holds, by path.
      checks: of the values of each feature, by path.
      tiling: how the dataset's images were cut into tiles; None if they were not.
      images: the features that are images and no masks.
      bands: number and dtype of the bands of `image`; None of RGB of 8 bits.
      source: what the dataset was made from; None if it is not available.
    """

    class_names: tuple[str, ...]
    background: int | None
    fields: Mapping[str, Field]
    checks: Mapping[str, Check]
    tiling: Tiling | None
    images: tuple[str, ...]
    bands: tuple[int, np.dtype[Any]] | None
    source: Originals | None


def make_standard(builder: tfds.core.DatasetBuilder, source: Originals | None = None) -> Standard:
    """Returns what the records of a built dataset are held against.

    Raises:
      ConfigError: if it is not a dataset of this package.
    """
    only_images = dataset.has_only_images(builder)
    dataset.check_features(builder, IMAGE_AND_SIZE if only_images else SEGMENTATION)
    image, fields = builder.info.features[IMAGE], fields_of(builder.info.features)
    others = (name for name, field in fields.items() if field.is_image and name not in MASKS)
    return Standard(
        class_names=dataset.class_names(builder),
        background=dataset.background(builder),
        fields=fields,
        checks=value_checks(builder.info.features),
        tiling=dataset.tiling_of(builder),
        images=tuple(dict.fromkeys((IMAGE, *others))),
        bands=(image.shape[-1], np.dtype(image.np_dtype)) if dataset.bands_of(builder) else None,
        source=source,
    )


@dataclasses.dataclass(frozen=True)
class Examined:
    """What verifying found in one record.

    Attributes:
      id: the record's id.
      digests: of its image and masks.
      problems: what is wrong.
      place: where its tile lies; None if it is no tile.
    """

    id: str
    digests: fingerprint.Digests
    problems: tuple[str, ...]
    place: TilePlace | None = None


def examine(standard: Standard, split: str, record: Record) -> Examined:
    """Decodes one record, hashes it and collects its problems."""
    problems: list[str] = []
    sizes: dict[str, tuple[int, ...]] = {}
    for name in standard.images:
        if name in record.features or (name == IMAGE and IMAGE_VALUE in record.features):
            try:
                sizes[name], unlike = _decoded(record, name, standard.bands)
                problems += [f"{name}: {unlike}"] if unlike else []
            except VocSegError as error:
                problems.append(str(error.changed(where=name)))
    masks, of_masks = decode_masks(record)  # when the pixels of a large image are gone
    problems += of_masks
    sizes |= {name: mask.shape for name, mask in masks.items()}
    problems += _value_problems(standard, record)
    problems += _object_problems(standard, record)
    problems += _shape_problems(standard, sizes)
    if IMAGE in sizes:
        names, background = standard.class_names, standard.background
        problems += inner_problems(record, sizes[IMAGE], masks, names, background)
    problems += tile_problems(record, standard.tiling)
    if standard.source is not None and not standard.source.agrees(split, record):
        banded = standard.bands is not None
        problems += _outer_problems(record, masks, standard.source, split, banded=banded)
    return Examined(record.id, digests_of(record, masks), tuple(problems), tile_place(record))


def _decoded(
    record: Record, name: str, bands: tuple[int, np.dtype[Any]] | None
) -> tuple[tuple[int, ...], str]:
    """Decodes an image; returns height and width, and what it is if it should not be that."""
    if name == IMAGE and bands is not None:
        pixels = record.bands()
        found = pixels.shape[2], pixels.dtype
        return pixels.shape[:2], "" if found == bands else f"{found[0]} bands of {found[1]}"
    image = images.open_image(record.file(name), decoding="readable")
    fits = isinstance(image, images.StoredImage)
    unlike = f"{record.file(name).kind.value}, expected what TensorFlow and NumPy read alike"
    return (image.height, image.width), "" if fits else unlike


def _value_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what of a record TFDS could not parse, or would parse as something else."""
    if surplus := record.length - record.message.ByteSize():
        yield f"{surplus} bytes that belong to no feature, or to one that is there twice"
    for name in sorted(set(record.features) - set(standard.fields)):
        yield f"{name}: a feature that features.json does not have"
    yield from value_problems(standard.checks, record)
    for name in {FILENAME, TILE_IMAGE_ID} & set(record.features):
        text = record.bytes(name).decode(errors="replace")
        if fault := name_fault(text):
            yield f"{name}: {show_name(text)}, which {fault}"


def _object_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what is wrong with sequences of dictionaries, such as annotated objects."""
    lengths: dict[str, set[int]] = {}
    for path, field in standard.fields.items():
        if field.sequence and path in record.features:
            numbers = record.values(path)
            lengths.setdefault(field.sequence, set()).add(len(numbers) // field.group)
            is_box = field.feature is tfds.features.BBoxFeature
            boxes = zip(*[iter(numbers)] * 4, strict=False) if is_box else ()
            if wrong := [box for box in boxes if not (box[0] <= box[2] and box[1] <= box[3])]:
                yield f"{path}: {wrong[0]}, which ends before it begins"
    for name, different in lengths.items():
        if len(different) > 1:
            yield f"{name}: lists of {sorted(different)} values, expected as many of each"


def _shape_problems(standard: Standard, sizes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """Yields which images and masks do not fit the features' shapes."""
    for name, size in sizes.items():
        shape = standard.fields[name].shape if name in standard.fields else ()
        if any(fixed not in (None, actual) for fixed, actual in zip(shape, size, strict=False)):
            yield f"{name}: height and width {size}, the feature's shape is {shape}"


def decode_masks(record: Record) -> tuple[dict[str, np.ndarray], list[str]]:
    """Returns a record's masks by feature, uint8 `[H, W]`, and what is wrong with the others."""
    arrays, problems = {}, []
    for name in MASKS:
        if name in record.features:
            try:
                arrays[name] = records.pixels(record.file(name))
            except VocSegError as error:
                problems.append(str(error.changed(where=name)))
    return arrays, problems


def digests_of(record: Record, masks: Mapping[str, np.ndarray]) -> fingerprint.Digests:
    """Hashes one record, whose masks are uint8 `[H, W]` by the name of their feature."""
    digests = {name: fingerprint.mask_digest(record.id, mask) for name, mask in masks.items()}
    return fingerprint.Digests(
        fingerprint.image_digest(record.id, record.file(IMAGE).data),
        digests.get(MASK, b""),
        digests.get(INSTANCES, b""),
    )


def inner_problems(
    record: Record,
    size: tuple[int, ...],
    arrays: Mapping[str, np.ndarray],
    class_names: tuple[str, ...],
    background: int | None,
) -> Iterator[str]:
    """Yields what is inconsistent within a record, whose image has this height and width.

    Its masks are uint8 `[H, W]`, by the name of their feature. `labels` leaves out background.
    """
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
    *,
    banded: bool,
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
    if banded and (difference := _band_difference(record, original)):
        yield f"{IMAGE}: {difference}"
    compared = {IMAGE, IMAGE_SHAPE, IMAGE_VALUE} if banded else set()
    for name in sorted({*record.features, *original.features} - compared):
        if record.features[name] == original.features[name]:
            continue
        if name in arrays:
            mask = records.pixels(File(original.bytes(name), name))
            if difference := _difference(arrays[name], mask, "pixel"):
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


def _band_difference(record: Record, original: Record) -> str:
    try:
        return _difference(record.bands(), original.bands(), "value")
    except RecordError as error:
        return str(error.found)


def _difference(stored: np.ndarray, expected: np.ndarray, what: str) -> str:
    """Says how masks `[H, W]` or bands `[H, W, N]` differ; nothing if they do not."""
    if stored.shape != expected.shape or stored.dtype != expected.dtype:
        found, right = (f"shape {array.shape} of {array.dtype}" for array in (stored, expected))
        return f"{found}, the source has {right}"
    places = np.argwhere((stored != expected) & ~((stored != stored) & (expected != expected)))
    if not len(places):
        return ""
    row, column, *band = first = tuple(map(int, places[0]))
    return (
        f"{counted(len(places), what)} {'differs' if len(places) == 1 else 'differ'} from the "
        f"source, first at row {row}, column {column}{f', band {band[0]}' if band else ''}: "
        f"{stored[first]} instead of {expected[first]}"
    )


def _text(record: Record, name: str) -> str:
    return " ".join(str(record.features[name]).split()) if name in record.features else "nothing"
