"""Checks one record: in itself, against its source files, and as a tile of its image.

Enter at `examine`, which makes all checks. A check is a function that yields one sentence for each
problem. `missing_tiles` looks at all tiles of a split together.
"""

import collections
from collections.abc import Iterator, Mapping, Sequence
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
        if tiling.count(height, width) > MOST_TILES:
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


@dataclasses.dataclass(frozen=True)
class ValueCheck:
    """The values that a feature may have in a record.

    Attributes:
      field: describes the feature.
      kind: the list of a `tf.train.Feature` that holds them, such as `int64_list`.
      lowest: the lowest number; None for any.
      highest: the highest number; None for any.
    """

    field: Field
    kind: str
    lowest: int | None = None
    highest: int | None = None

    def problem(self, feature: Any) -> str:
        """Returns what is wrong with a `tf.train.Feature`; empty if nothing is."""
        kind = feature.WhichOneof("kind")
        if kind != self.kind:
            return f"{kind or 'no values'}, expected a {self.kind}"
        values = getattr(feature, kind).value
        if self.field.sequence:
            if len(values) % self.field.group:
                return f"{len(values)} values, expected groups of {self.field.group}"
        elif len(values) != self.field.count:
            return f"{len(values)} values, expected {self.field.count}"
        if self.lowest is not None and self.highest is not None:
            for value in values:
                if not self.lowest <= value <= self.highest:
                    return f"{value}, expected {self.lowest} to {self.highest}"
        if self.field.feature is tfds.features.Text:
            try:
                b"".join(values).decode()
            except UnicodeDecodeError as error:
                return str(error)
        return ""


_KIND_OF_DTYPE = {"O": "bytes_list", "f": "float_list"}
"""The list that holds values by the kind of their dtype; `int64_list` holds all others."""


def value_checks(features: tfds.features.FeaturesDict) -> dict[str, ValueCheck]:
    """Returns a check of each feature of a dataset's records, by path in their order."""
    return {name: _value_check(field) for name, field in sorted(fields_of(features).items())}


def _value_check(field: Field) -> ValueCheck:
    dtype = field.np_dtype
    kind = _KIND_OF_DTYPE.get(dtype.kind, "int64_list")
    if field.feature is tfds.features.BBoxFeature:
        return ValueCheck(field, kind, 0, 1)
    if field.feature is tfds.features.ClassLabel:
        return ValueCheck(field, kind, 0, field.classes - 1)
    if dtype.kind == "b":
        return ValueCheck(field, kind, 0, 1)
    if kind == "int64_list":
        limits = np.iinfo(dtype)
        return ValueCheck(field, kind, int(limits.min), int(limits.max))
    return ValueCheck(field, kind)


def value_problems(checks: Mapping[str, ValueCheck], record: Record) -> Iterator[str]:
    """Yields which features of a record are missing, or hold other values than expected."""
    for name, check in checks.items():
        if name not in record.features:
            yield f"{name}: missing"
            continue
        problem = check.problem(record.features[name])
        if problem:
            yield f"{name}: {problem}"


@dataclasses.dataclass(frozen=True)
class BandFormat:
    """The number and dtype of an image's bands."""

    count: int
    dtype: np.dtype[Any]

    def __str__(self) -> str:
        return f"{self.count} bands of {self.dtype}"


@dataclasses.dataclass(frozen=True)
class Standard:
    """The description of a dataset that each of its records is checked against.

    Attributes:
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
      fields: what a record holds, by path.
      checks: of the values of each feature, by path.
      tiling: how the dataset's images were cut into tiles; None if they were not.
      images: the features that are images and no masks.
      bands: the bands of `image`; None of RGB of 8 bits.
      source: what the dataset was made from; None if it is not available.
    """

    class_names: tuple[str, ...]
    background: int | None
    fields: Mapping[str, Field]
    checks: Mapping[str, ValueCheck]
    tiling: Tiling | None
    images: tuple[str, ...]
    bands: BandFormat | None
    source: Originals | None


def make_standard(builder: tfds.core.DatasetBuilder, source: Originals | None = None) -> Standard:
    """Returns what the records of a built dataset are held against.

    Raises:
      ConfigError: if it is not a dataset of this package.
    """
    only_images = dataset.has_only_images(builder)
    dataset.check_features(builder, IMAGE_AND_SIZE if only_images else SEGMENTATION)
    fields = fields_of(builder.info.features)
    other_images = (name for name, field in fields.items() if field.is_image and name not in MASKS)
    bands = None
    if dataset.bands_of(builder):
        image = builder.info.features[IMAGE]
        bands = BandFormat(image.shape[-1], np.dtype(image.np_dtype))
    return Standard(
        class_names=dataset.class_names(builder),
        background=dataset.background(builder),
        fields=fields,
        checks=value_checks(builder.info.features),
        tiling=dataset.tiling_of(builder),
        images=tuple(dict.fromkeys((IMAGE, *other_images))),
        bands=bands,
        source=source,
    )


@dataclasses.dataclass(frozen=True)
class RecordReport:
    """The result of verifying one record.

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


def examine(standard: Standard, split: str, record: Record) -> RecordReport:
    """Decodes one record, hashes it and collects its problems."""
    sizes, problems = _decode_images(standard, record)
    masks, mask_problems = decode_masks(record)  # when the pixels of a large image are freed
    problems += mask_problems
    for name, mask in masks.items():
        sizes[name] = mask.shape
    problems += _feature_problems(standard, record)
    problems += _object_problems(standard, record)
    problems += _shape_problems(standard, sizes)
    if IMAGE in sizes:
        problems += inner_problems(
            record, sizes[IMAGE], masks, standard.class_names, standard.background
        )
    problems += tile_problems(record, standard.tiling)
    source = standard.source
    if source is not None and not source.agrees(split, record):
        has_bands = standard.bands is not None
        problems += _source_problems(record, masks, source, split, has_bands=has_bands)
    return RecordReport(record.id, digests_of(record, masks), tuple(problems), tile_place(record))


def _decode_images(
    standard: Standard, record: Record
) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Returns height and width of each image by feature, and what is wrong with images."""
    sizes: dict[str, tuple[int, ...]] = {}
    problems: list[str] = []
    for name in standard.images:
        is_array = name == IMAGE and IMAGE_VALUE in record.features
        if name not in record.features and not is_array:
            continue
        try:
            if name == IMAGE and standard.bands is not None:
                pixels = record.bands()
                bands = BandFormat(pixels.shape[2], pixels.dtype)
                sizes[name] = pixels.shape[:2]
                if bands != standard.bands:
                    problems.append(f"{name}: {bands}")
                continue
            image = images.open_image(record.file(name), decoding="readable")
            sizes[name] = (image.height, image.width)
            if not isinstance(image, images.StoredImage):
                kind = record.file(name).kind.value
                expected = "expected what TensorFlow and NumPy read alike"
                problems.append(f"{name}: {kind}, {expected}")
        except VocSegError as error:
            problems.append(str(error.changed(where=name)))
    return sizes, problems


def _feature_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what TFDS could not parse, or would parse as something else."""
    surplus = record.length - record.message.ByteSize()
    if surplus:
        yield f"{surplus} bytes that belong to no feature, or to one that is there twice"
    for name in sorted(set(record.features) - set(standard.fields)):
        yield f"{name}: a feature that features.json does not have"
    yield from value_problems(standard.checks, record)
    for name in (FILENAME, TILE_IMAGE_ID):
        if name not in record.features:
            continue
        text = record.bytes(name).decode(errors="replace")
        fault = name_fault(text)
        if fault:
            yield f"{name}: {show_name(text)}, which {fault}"


def _object_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what is wrong with sequences of dictionaries, such as annotated objects."""
    lengths: dict[str, set[int]] = {}
    for path, field in standard.fields.items():
        if not field.sequence or path not in record.features:
            continue
        numbers = record.values(path)
        lengths.setdefault(field.sequence, set()).add(len(numbers) // field.group)
        if field.feature is tfds.features.BBoxFeature:
            yield from _box_problems(path, numbers)
    for name, different in lengths.items():
        if len(different) > 1:
            yield f"{name}: lists of {sorted(different)} values, expected as many of each"


def _box_problems(path: str, numbers: Sequence[float]) -> Iterator[str]:
    """Yields a problem for the first box that ends before it begins."""
    for start in range(0, len(numbers) - 3, 4):
        box = tuple(numbers[start : start + 4])
        top, left, bottom, right = box
        if not (top <= bottom and left <= right):  # NaN is wrong too
            yield f"{path}: {box}, which ends before it begins"
            return


def _shape_problems(standard: Standard, sizes: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """Yields which images and masks do not fit the features' shapes."""
    for name, size in sizes.items():
        if name not in standard.fields:
            continue
        shape = standard.fields[name].shape
        sides = zip(shape, size, strict=False)
        if any(expected not in (None, side) for expected, side in sides):
            yield f"{name}: height and width {size}, the feature's shape is {shape}"


def decode_masks(record: Record) -> tuple[dict[str, np.ndarray], list[str]]:
    """Returns a record's masks by feature, uint8 `[H, W]`, and what is wrong with the others."""
    masks = {}
    problems = []
    for name in MASKS:
        if name not in record.features:
            continue
        try:
            masks[name] = records.pixels(record.file(name))
        except VocSegError as error:
            problems.append(str(error.changed(where=name)))
    return masks, problems


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
    masks: Mapping[str, np.ndarray],
    class_names: tuple[str, ...],
    background: int | None,
) -> Iterator[str]:
    """Yields what is inconsistent within a record.

    Args:
      record: the record.
      size: height and width of its image.
      masks: its masks, uint8 `[H, W]`, by the name of their feature.
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
    """
    if size != record.size and LABEL not in record.features:  # with a label no size is stored
        yield f"{HEIGHT}, {WIDTH}: {record.size}, the image has {size}"
    for name, mask in masks.items():
        if mask.shape != size:
            yield f"{name}: height and width {mask.shape}, the image has {size}"
    if MASK not in masks:
        return
    counts = count_values(masks[MASK])
    present = [int(value) for value in np.flatnonzero(counts) if value != VOID]
    unknown = [value for value in present if value >= len(class_names)]
    if unknown:
        yield f"{MASK}: values {unknown}, there are {len(class_names)} classes"
    labels = tuple(value for value in present if value != background)
    if labels != record.ints(LABELS):
        yield f"{LABELS}: {record.ints(LABELS)}, the mask has {labels}"


def _source_problems(
    record: Record,
    masks: Mapping[str, np.ndarray],
    source: Originals,
    split: str,
    *,
    has_bands: bool,
) -> Iterator[str]:
    """Yields where a record differs from the record that its source files give."""
    try:
        original = source.record(split, record.id)
    except VocSegError as error:
        yield f"its source cannot be used: {error}"
        return
    if original is None:
        yield "unexpected: the source's list does not name it"
        return
    names = {*record.features, *original.features}
    if has_bands:
        difference = _band_difference(record, original)
        if difference:
            yield f"{IMAGE}: {difference}"
        names -= {IMAGE, IMAGE_SHAPE, IMAGE_VALUE}
    for name in sorted(names):
        if record.features[name] == original.features[name]:
            continue
        if name in masks:
            mask = records.pixels(File(original.bytes(name), name))
            difference = _array_difference(masks[name], mask, "pixel")
        elif name == IMAGE:
            difference = _image_difference(record, original)
        else:
            difference = f"{_show_values(record, name)}, the source has "
            difference += _show_values(original, name)
        if difference:
            yield f"{name}: {difference}"


def _image_difference(record: Record, original: Record) -> str:
    """Returns how image files differ; empty for tiles whose pixels are the same.

    Another version of a library compresses tiles in another way.
    """
    stored = record.bytes(IMAGE)
    expected = original.bytes(IMAGE)
    if TILE_IMAGE_ID in original.features and _have_same_pixels(stored, expected):
        return ""
    return f"{len(stored)} bytes differ from the source's {len(expected)} bytes"


def _have_same_pixels(stored: bytes, expected: bytes) -> bool:
    """Whether two image files have the same pixels; the first one may be damaged."""
    try:
        stored_pixels = pillow.decode(File(stored, IMAGE), RecordError).values()
        expected_pixels = pillow.decode(File(expected, IMAGE), RecordError).values()
    except RecordError:
        return False
    return np.array_equal(stored_pixels, expected_pixels)


def _band_difference(record: Record, original: Record) -> str:
    """Returns how the bands of two records differ; empty if they do not."""
    try:
        return _array_difference(record.bands(), original.bands(), "value")
    except RecordError as error:
        return str(error.found)


def _array_difference(stored: np.ndarray, expected: np.ndarray, unit: str) -> str:
    """Returns how masks `[H, W]` or bands `[H, W, N]` differ; empty if they do not.

    Args:
      stored: the array of the record.
      expected: that of the source.
      unit: one entry of the arrays: a pixel or a value.
    """
    if stored.shape != expected.shape or stored.dtype != expected.dtype:
        return (
            f"shape {stored.shape} of {stored.dtype}, the source has shape {expected.shape} of "
            f"{expected.dtype}"
        )
    both_are_nan = (stored != stored) & (expected != expected)
    places = np.argwhere((stored != expected) & ~both_are_nan)
    if not len(places):
        return ""
    first = tuple(int(index) for index in places[0])
    row, column, *bands = first
    verb = "differs" if len(places) == 1 else "differ"
    place = f"row {row}, column {column}"
    if bands:
        place += f", band {bands[0]}"
    return (
        f"{counted(len(places), unit)} {verb} from the source, first at {place}: "
        f"{stored[first]} instead of {expected[first]}"
    )


def _show_values(record: Record, name: str) -> str:
    """Returns the values of a feature in one line."""
    if name not in record.features:
        return "nothing"
    return " ".join(str(record.features[name]).split())
