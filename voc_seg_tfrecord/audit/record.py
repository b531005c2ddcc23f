"""Checks one record: in itself, against its source files, and as a tile of its image.

Enter at `examine`, which makes all checks. A check is a function that yields one sentence for each
problem.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.core.errors import RecordError, VocSegError, counted
from voc_seg_tfrecord.core.file import File, name_fault, show_file_name
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
from voc_seg_tfrecord.core.tiling import MAX_TILES, Tile, Tiling
from voc_seg_tfrecord.formats import images, pillow
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.fields import Field, fields_of
from voc_seg_tfrecord.reading.records import Record


@dataclasses.dataclass(frozen=True)
class Standard:
    """The description of a dataset that each of its records is checked against.

    Attributes:
      class_names: the dataset's classes, in mask order.
      background: the index of background, which `labels` leaves out; None if there is none.
      fields: what a record holds, by path.
      tiling: how the dataset's images were cut into tiles; None if they were not.
      images: the features that are images and no masks.
      bands: number and dtype of the bands of `image`, in words; empty of RGB of 8 bits.
      source: what the dataset was made from; None if it is not available.
    """

    class_names: tuple[str, ...]
    background: int | None
    fields: Mapping[str, Field]
    tiling: Tiling | None
    images: tuple[str, ...]
    bands: str
    source: Originals | None


def make_standard(builder: tfds.core.DatasetBuilder, source: Originals | None = None) -> Standard:
    """Returns the description that the records of a built dataset are checked against.

    Raises:
      ConfigError: if it is not a dataset of this package.
    """
    only_images = metadata.has_only_images(builder)
    metadata.check_features(builder, IMAGE_AND_SIZE if only_images else SEGMENTATION)
    fields = fields_of(builder.info.features)
    other_images = (name for name, field in fields.items() if field.is_image and name not in MASKS)
    bands = ""
    if metadata.bands_of(builder):
        image = builder.info.features[IMAGE]
        bands = _describe_bands(image.shape[-1], np.dtype(image.np_dtype))
    return Standard(
        class_names=metadata.class_names(builder),
        background=metadata.background(builder),
        fields=fields,
        tiling=metadata.tiling_of(builder),
        images=tuple(dict.fromkeys((IMAGE, *other_images))),
        bands=bands,
        source=source,
    )


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
    problems: list[str] = []
    sizes: dict[str, tuple[int, ...]] = {}
    for name in standard.images:
        # The pixels of a large image are freed before the next one is decoded.
        try:
            problems += _examine_image(standard, record, name, sizes)
        except VocSegError as error:
            problems.append(str(error.changed(where=name)))
    masks, mask_problems = decode_masks(record)
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
    problems += _tile_problems(record, standard.tiling)
    source = standard.source
    if source is not None and not source.agrees(split, record):
        has_bands = bool(standard.bands)
        problems += _source_problems(record, masks, source, split, has_bands=has_bands)
    return RecordReport(record.id, digests_of(record, masks), tuple(problems), tile_place(record))


def _examine_image(
    standard: Standard, record: Record, name: str, sizes: dict[str, tuple[int, ...]]
) -> list[str]:
    """Decodes an image and adds its height and width to `sizes`; returns what is wrong with it.

    Raises:
      VocSegError: if it cannot be decoded.
    """
    is_array = name == IMAGE and IMAGE_VALUE in record.features
    if name not in record.features and not is_array:
        return []
    if name == IMAGE and standard.bands:
        pixels = record.bands()
        sizes[name] = pixels.shape[:2]
        bands = _describe_bands(pixels.shape[2], pixels.dtype)
        return [] if bands == standard.bands else [f"{name}: {bands}"]
    file = record.file(name)
    image = images.open_image(file, decoding="readable", user_wants_rgb=True)
    sizes[name] = (image.height, image.width)
    if isinstance(image, images.StoredImage):
        return []
    return [f"{name}: {file.kind.value}, expected what TensorFlow and NumPy read alike"]


def _describe_bands(count: int, dtype: np.dtype[Any]) -> str:
    return f"{count} bands of {dtype}"


def _feature_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what TFDS could not parse, or would parse as something else."""
    surplus = record.length - record.message.ByteSize()
    if surplus:
        yield f"{surplus} bytes that belong to no feature, or to one that is there twice"
    for name in sorted(set(record.features) - set(standard.fields)):
        yield f"{name}: a feature that features.json does not have"
    yield from value_problems(standard.fields, record)
    for name in (FILENAME, TILE_IMAGE_ID):
        if name not in record.features:
            continue
        text = record.bytes(name).decode(errors="replace")
        fault = name_fault(text)
        if fault:
            yield f"{name}: {show_file_name(text)}, which {fault}"


def value_problems(fields: Mapping[str, Field], record: Record) -> Iterator[str]:
    """Yields which features of a record are missing, or hold other values than expected."""
    for name, field in sorted(fields.items()):
        if name not in record.features:
            yield f"{name}: missing"
            continue
        problem = _value_problem(field, record.features[name])
        if problem:
            yield f"{name}: {problem}"


_KIND_OF_DTYPE = {"O": "bytes_list", "f": "float_list"}
"""The list that holds values by the kind of their dtype; `int64_list` holds all others."""


def _value_problem(field: Field, feature: Any) -> str:
    """Returns what is wrong with the values of a `tf.train.Feature`; empty if nothing is."""
    expected_kind = _KIND_OF_DTYPE.get(field.np_dtype.kind, "int64_list")
    kind = feature.WhichOneof("kind")
    if kind != expected_kind:
        return f"{kind or 'no values'}, expected a {expected_kind}"
    values = getattr(feature, kind).value
    if field.sequence:
        if len(values) % field.values_per_item:
            return f"{len(values)} values, expected groups of {field.values_per_item}"
    elif len(values) != field.values_per_record:
        return f"{len(values)} values, expected {field.values_per_record}"
    if field.feature is tfds.features.Text:
        try:
            b"".join(values).decode()
        except UnicodeDecodeError as error:
            return str(error)
    limits = _limits_of(field)
    if limits is not None:
        lowest, highest = limits
        for value in values:
            if not lowest <= value <= highest:  # NaN is wrong too
                return f"{value}, expected {lowest} to {highest}"
    return ""


@functools.cache
def _limits_of(field: Field) -> tuple[int, int] | None:
    """Returns the lowest and the highest number that a feature may have; None for any."""
    if field.feature is tfds.features.ClassLabel:
        return 0, field.classes - 1
    if field.feature is tfds.features.BBoxFeature or field.np_dtype.kind == "b":
        return 0, 1
    if field.np_dtype.kind in "Of":
        return None
    integers = np.iinfo(field.np_dtype)
    return int(integers.min), int(integers.max)


def _object_problems(standard: Standard, record: Record) -> Iterator[str]:
    """Yields what is wrong with sequences of dictionaries, such as annotated objects."""
    lengths: dict[str, set[int]] = {}
    for path, field in standard.fields.items():
        if not field.sequence or path not in record.features:
            continue
        numbers = record.values(path)
        lengths.setdefault(field.sequence, set()).add(len(numbers) // field.values_per_item)
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
        if not _fits(size, shape):
            yield f"{name}: height and width {size}, the feature's shape is {shape}"


def _fits(size: tuple[int, ...], shape: tuple[int | None, ...]) -> bool:
    """Says whether a height and width are those of a shape `[H, W, C]`; None is any length."""
    return all(
        expected is None or side == expected for side, expected in zip(size, shape[:2], strict=True)
    )


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
        fingerprint.image_digest(record.id, _image_data(record)),
        digests.get(MASK, b""),
        digests.get(INSTANCES, b""),
    )


def _image_data(record: Record) -> bytes:
    """Returns the image's file, or the stored bytes if they are a damaged array."""
    try:
        return record.file(IMAGE).data
    except RecordError:
        return record.bytes(IMAGE)


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


def _tile_problems(record: Record, tiling: Tiling | None) -> Iterator[str]:
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
        yield "only in the dataset: this split of the source has no such example"
        return
    names = {*record.features, *original.features}
    if has_bands:
        difference = _band_difference(record, original)
        if difference:
            yield f"{IMAGE}: {difference}"
        names -= {IMAGE, IMAGE_SHAPE, IMAGE_VALUE}
    for name in sorted(names):
        difference = _feature_difference(name, record, original, masks)
        if difference:
            yield f"{name}: {difference}"


def _feature_difference(
    name: str, record: Record, original: Record, masks: Mapping[str, np.ndarray]
) -> str:
    """Returns how a feature of a record differs from the source's; empty if it does not.

    Args:
      name: the feature.
      record: the record.
      original: the record that its source files give.
      masks: the masks of the record that can be decoded, uint8 `[H, W]`, by feature.
    """
    both_values = f"{_show_values(record, name)}, the source has {_show_values(original, name)}"
    # The features are a map of protobuf, which adds what it does not have when it is read.
    if name not in record.features or name not in original.features:
        return both_values
    if record.features[name] == original.features[name]:
        return ""
    if name == IMAGE:
        return _image_difference(record, original)
    if name in masks:
        expected_mask = records.pixels(File(original.bytes(name), name))
        return _array_difference(masks[name], expected_mask, "pixel")
    return both_values


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
    indices = np.argwhere((stored != expected) & ~both_are_nan)
    if not len(indices):
        return ""
    first = tuple(int(index) for index in indices[0])
    row, column, *bands = first
    verb = "differs" if len(indices) == 1 else "differ"
    position = f"row {row}, column {column}"
    if bands:
        position += f", band {bands[0]}"
    return (
        f"{counted(len(indices), unit)} {verb} from the source, first at {position}: "
        f"{stored[first]}, the source has {expected[first]}"
    )


_MAX_SHOWN_CHARACTERS = 200
"""How many characters of a feature's values a problem shows."""


def _show_values(record: Record, name: str) -> str:
    """Returns the values of a feature in one line; of an image or a mask the number of bytes."""
    if name not in record.features:
        return "nothing"
    if name in (IMAGE, *MASKS):
        return counted(len(record.bytes(name)), "byte")
    line = " ".join(str(record.features[name]).split())
    if len(line) > _MAX_SHOWN_CHARACTERS:
        return f"{line[:_MAX_SHOWN_CHARACTERS]}..."
    return line
