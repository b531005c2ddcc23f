"""Reads each record of a built dataset once, and adds up what the report page shows of a split."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.counting import RecordCounts, Tally, find_objects
from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint
from voc_seg_tfrecord.audit.record import decode_masks, digests_of, inner_problems
from voc_seg_tfrecord.core.errors import ImageError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, LABEL, MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality.evidence import Evidence, examine
from voc_seg_tfrecord.quality.fit import sample_pixels
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.stats import Stats

_GRID_SIDE = 32  # points along each side at which a mask is sampled


OBJECT_DTYPE = np.dtype(
    [
        ("record", np.int64),
        ("number", np.int64),
        ("label", np.int64),
        ("pixels", np.int64),
        ("image_pixels", np.int64),
    ]
)
"""An object: the number of its record in the split, its own number in the instance mask, its class,
its pixels, and the pixels of its image."""


@dataclasses.dataclass(frozen=True, eq=False)
class ObjectTable:
    """The objects of a split as an array.

    Without instance masks, all pixels that a class has in an image stand for one object, whose
    number is 0, and background is left out.

    Attributes:
      rows: one for each object, `OBJECT_DTYPE` `[M]`.
    """

    rows: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The class of each object, int64 `[M]`."""
        return self.rows["label"]

    @property
    def pixels(self) -> np.ndarray:
        """The pixels of each object, int64 `[M]`."""
        return self.rows["pixels"]

    @property
    def shares(self) -> np.ndarray:
        """The share of its image's pixels that each object has, float64 `[M]`."""
        return self.pixels / np.maximum(1, self.rows["image_pixels"])


def join_tables(tables: Iterable[ObjectTable]) -> ObjectTable:
    """Returns the objects of several tables in one."""
    none = np.zeros(0, OBJECT_DTYPE)
    return ObjectTable(np.concatenate([none, *(table.rows for table in tables)]))


@dataclasses.dataclass(frozen=True)
class RecordProblem:
    """Something wrong with a record: its number in the split, its id, and what is wrong."""

    number: int
    id: str
    text: str


@dataclasses.dataclass(frozen=True, eq=False)
class SplitFacts:
    """What is known of one split after its records were read.

    Attributes:
      stats: counts of pixels, images and objects; images with a label in place of a mask have no
        pixels.
      void_shares: void's share of the pixels of each image with a mask, float32 `[K]`.
      present: which mask values each image has, bool `[N, 256]`.
      objects: the objects of all images.
      together: how many images have both of two mask values, int64 `[256, 256]`.
      images_at_points: how many images have a mask value at a point, int64 `[256, 32, 32]`.
      evidence: what tells which labels may be wrong, of each record whose image can be decoded.
      fingerprint: of the split.
      sources: how many images tiles were cut from; None if there are no tiles.
      problems: what is wrong with records.
    """

    stats: Stats
    void_shares: np.ndarray
    present: np.ndarray
    objects: ObjectTable
    together: np.ndarray
    images_at_points: np.ndarray
    evidence: tuple[Evidence, ...]
    fingerprint: Fingerprint
    sources: int | None
    problems: tuple[RecordProblem, ...]

    @property
    def has_instances(self) -> bool:
        """Whether `objects` are those of instance masks."""
        return self.stats.objects is not None


def gather(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    *,
    fits: bool = True,
    progress: bool = False,
) -> dict[str, SplitFacts]:
    """Reads the splits of a built dataset.

    Args:
      builder: of the built dataset.
      splits: the names of the splits.
      fits: whether to measure how well masks fit their images, which takes most of the time.
      progress: whether to show a progress bar.

    Raises:
      ConfigError: if this package did not build the dataset.
      RecordError: if a shard is damaged. A record that is wrong is a problem of its split.
    """
    metadata.check_features(builder, (IMAGE, FILENAME))
    names = metadata.class_names(builder)
    background = metadata.background(builder) if MASK in builder.info.features else None
    read = functools.partial(_read_record, names, background, fits)
    sums = {split: _SplitSums() for split in splits}
    for split, record in records.scan_splits(builder, list(sums), read, progress=progress):
        sums[split].add(record)
    return {split: split_sums.facts(names) for split, split_sums in sums.items()}


@dataclasses.dataclass(frozen=True, eq=False)
class _MaskFacts:
    """What the mask of one record shows.

    Attributes:
      objects: one row for each object, `OBJECT_DTYPE` `[M]`, whose `record` is not set yet.
      points: the mask at a grid of points, uint8 `[32, 32]`.
    """

    objects: np.ndarray
    points: np.ndarray


@dataclasses.dataclass(frozen=True, eq=False)
class _RecordFacts:
    """What one record shows.

    Attributes:
      counts: its pixels and objects by class.
      mask: None without a mask that can be decoded.
      evidence: None if the image cannot be decoded.
      digests: of its image and masks.
      source: the id of the image that a tile was cut from; empty if it is none.
      problems: what is wrong with it.
    """

    counts: RecordCounts
    mask: _MaskFacts | None
    evidence: Evidence | None
    digests: Digests
    source: str
    problems: tuple[str, ...]


def _read_record(
    names: tuple[str, ...], background: int | None, fits: bool, split: str, record: Record
) -> _RecordFacts:
    """Decodes a record and measures it. An error of the record becomes one of its problems."""
    masks, problems = decode_masks(record)
    evidence = None
    try:
        image = File(record.file(IMAGE).data, IMAGE)  # so that an error names the feature alone
        size = records.image_size(image)
        problems += inner_problems(record, size, masks, names, background)
        evidence = examine(
            image,
            masks.get(MASK),
            image_id=record.id,
            split=split,
            measure_fit=fits,
            objects=masks.get(INSTANCES),
        )
    except ImageError as error:
        problems.append(str(error))
    except RecordError as error:  # the stored array of bands is damaged
        problems.append(str(error.changed(where=IMAGE)))
    mask_facts = None
    if MASK in masks:
        counts, mask_facts = _count_mask(record, masks, background)
    else:
        try:
            label_counts = record.label_counts()
        except RecordError as error:
            problems.append(str(error.changed(where=LABEL)))
            label_counts = np.zeros(256, np.int64)
        counts = _count_without_mask(record, label_counts)
    return _RecordFacts(
        counts,
        mask_facts,
        evidence,
        digests_of(record, masks),
        source=record.bytes(TILE_IMAGE_ID).decode(errors="replace"),
        problems=tuple(dict.fromkeys(problems)),
    )


def _count_without_mask(record: Record, label_counts: np.ndarray) -> RecordCounts:
    """Returns the counts of a record with a label, or whose mask cannot be decoded.

    The labels stand for pixels: `Tally` takes a class that has any as present in the image.

    Args:
      record: the record.
      label_counts: how often it has each label, int64 `[256]`.
    """
    has_instances = INSTANCES in record.features
    return RecordCounts(
        id=record.id,
        size=records.size_of(record),
        pixels=label_counts,
        objects=np.zeros(256, np.int64) if has_instances else None,
    )


def _count_mask(
    record: Record, masks: Mapping[str, np.ndarray], background: int | None
) -> tuple[RecordCounts, _MaskFacts]:
    """Counts the pixels and objects of a record.

    Args:
      record: the record.
      masks: those of its masks that can be decoded, uint8 `[H, W]`, with `segmentation_mask`.
      background: the index of the background class; None if there is none.
    """
    mask = masks[MASK]
    pixels = count_values(mask)
    objects_of_class = None
    if INSTANCES in record.features:
        objects = np.zeros(0, OBJECT_DTYPE)
        if INSTANCES in masks and masks[INSTANCES].shape == mask.shape:
            objects = _instances_as_objects(mask, masks[INSTANCES])
        objects_of_class = np.bincount(objects["label"], minlength=256)
    else:
        objects = _classes_as_objects(pixels, background)
    counts = RecordCounts(record.id, mask.shape, pixels, objects_of_class)
    return counts, _MaskFacts(objects, sample_pixels(mask, _GRID_SIDE, _GRID_SIDE))


def _instances_as_objects(mask: np.ndarray, instances: np.ndarray) -> np.ndarray:
    """Returns the objects of an instance mask, `OBJECT_DTYPE` `[M]`; see `find_objects`.

    Args:
      mask: class indices, uint8 `[H, W]`.
      instances: object numbers, uint8 `[H, W]`.
    """
    numbers, labels, pixels = find_objects(mask, instances).T
    objects = np.zeros(len(numbers), OBJECT_DTYPE)
    objects["number"] = numbers
    objects["label"] = labels
    objects["pixels"] = pixels
    objects["image_pixels"] = mask.size
    return objects


def _classes_as_objects(pixels: np.ndarray, background: int | None) -> np.ndarray:
    """Returns one object for each class in an image but background, `OBJECT_DTYPE` `[M]`.

    Args:
      pixels: how many pixels have each mask value, int64 `[256]`.
      background: the index of the background class; None if there is none.
    """
    labels = [label for label in np.flatnonzero(pixels[:VOID]) if label != background]
    objects = np.zeros(len(labels), OBJECT_DTYPE)  # each has the number 0
    objects["label"] = labels
    objects["pixels"] = pixels[labels]
    objects["image_pixels"] = pixels.sum()
    return objects


@dataclasses.dataclass(eq=False)
class _SplitSums:
    """The sums over the records of one split; see `SplitFacts` for those of the same name."""

    tally: Tally = dataclasses.field(default_factory=Tally)
    together: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((256, 256), np.int64))
    images_at_points: np.ndarray = dataclasses.field(
        default_factory=lambda: np.zeros((256, _GRID_SIDE, _GRID_SIDE), np.int64)
    )
    void_shares: list[float] = dataclasses.field(default_factory=list)
    packed_present: list[np.ndarray] = dataclasses.field(default_factory=list)
    tables: list[ObjectTable] = dataclasses.field(default_factory=list)
    evidence: list[Evidence] = dataclasses.field(default_factory=list)
    digests: dict[str, Digests] = dataclasses.field(default_factory=dict)
    sources: set[str] = dataclasses.field(default_factory=set)
    problems: list[RecordProblem] = dataclasses.field(default_factory=list)

    def add(self, record: _RecordFacts) -> None:
        """Adds the next record of the split."""
        number = len(self.packed_present)
        counts = record.counts
        self.tally.add(counts)
        values = np.flatnonzero(counts.pixels)
        self.together[np.ix_(values, values)] += 1
        self.packed_present.append(np.packbits(counts.pixels > 0))
        self.digests[counts.id] = record.digests
        self.problems += [RecordProblem(number, counts.id, text) for text in record.problems]
        if record.evidence is not None:
            self.evidence.append(record.evidence)
        if record.source:
            self.sources.add(record.source)
        if record.mask is not None:
            self._add_mask(record.mask, number, counts.pixels)

    def _add_mask(self, mask: _MaskFacts, number: int, pixels: np.ndarray) -> None:
        """Adds the mask of a record.

        Args:
          mask: what it shows.
          number: of the record in the split.
          pixels: how many pixels have each mask value, int64 `[256]`.
        """
        rows, columns = np.ogrid[:_GRID_SIDE, :_GRID_SIDE]
        self.void_shares.append(pixels[VOID] / pixels.sum())
        self.images_at_points[mask.points, rows, columns] += 1
        objects = mask.objects.copy()
        objects["record"] = number
        self.tables.append(ObjectTable(objects))

    def facts(self, class_names: tuple[str, ...]) -> SplitFacts:
        """Returns what is known of the split after its last record."""
        packed = np.array(self.packed_present, np.uint8).reshape(-1, 32)
        return SplitFacts(
            stats=self.tally.stats(class_names),
            void_shares=np.array(self.void_shares, np.float32),
            present=np.unpackbits(packed, axis=1).astype(bool),
            objects=join_tables(self.tables),
            together=self.together,
            images_at_points=self.images_at_points,
            evidence=tuple(self.evidence),
            fingerprint=fingerprint.of_split(self.digests),
            sources=len(self.sources) if self.sources else None,
            problems=tuple(self.problems),
        )
