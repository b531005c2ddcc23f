"""Reads each record of a built dataset once, and adds up what the report page shows of a split."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import itertools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.counting import RecordCounts, Tally, find_objects
from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint
from voc_seg_tfrecord.audit.record import decode_masks, digests_of, inner_problems
from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality.evidence import Evidence, examine
from voc_seg_tfrecord.quality.fit import sample_pixels
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.stats import Stats

_GRID_SIDE = 32  # points along each side at which a mask is sampled


@dataclasses.dataclass(frozen=True, eq=False)
class ObjectTable:
    """The objects of a split as an array.

    Without instance masks, all pixels that a class has in an image stand for one object, whose
    number is 0, and background is left out.

    Attributes:
      rows: int64 `[M, 5]`. The columns are the number of the record, the number of the object in
        the instance mask, its class, its pixels, and the pixels of its image.
    """

    rows: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The class of each object, int64 `[M]`."""
        return self.rows[:, 2]

    @property
    def pixels(self) -> np.ndarray:
        """The pixels of each object, int64 `[M]`."""
        return self.rows[:, 3]

    @property
    def shares(self) -> np.ndarray:
        """The share of its image's pixels that each object has, float64 `[M]`."""
        return self.pixels / np.maximum(1, self.rows[:, 4])


def join_tables(tables: Iterable[ObjectTable]) -> ObjectTable:
    """Returns the objects of several tables in one."""
    none = np.zeros((0, 5), np.int64)
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
      void_shares: void's share of each image's pixels, float32 `[N]`; empty without masks.
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
      ConfigError: if voc_seg_tfrecord did not build the dataset.
      RecordError: if a shard is damaged. A record that is wrong is a problem of its split.
    """
    dataset.check_features(builder, (IMAGE, FILENAME))
    names = dataset.class_names(builder)
    background = dataset.background(builder) if MASK in builder.info.features else None
    read = functools.partial(_read_record, names, background, fits)
    facts = {split: _add_up(names, ()) for split in splits}  # a split without records has one too
    facts_of_records = records.scan_splits(builder, list(facts), read, progress=progress)
    for split, of_split in itertools.groupby(facts_of_records, key=lambda pair: pair[0]):
        facts[split] = _add_up(names, (of_record for _, of_record in of_split))
    return facts


@dataclasses.dataclass(frozen=True, eq=False)
class _MaskFacts:
    """What the mask of one record shows.

    Attributes:
      objects: number, class and pixels of each object, int64 `[M, 3]`; see `ObjectTable`.
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
    """Decodes a record, and measures it."""
    arrays, problems = decode_masks(record)
    image = File(record.file(IMAGE).data, IMAGE)
    evidence = None
    try:
        size = records.image_size(image)
        problems += inner_problems(record, size, arrays, names, background)
        evidence = examine(
            image,
            arrays.get(MASK),
            image_id=record.id,
            split=split,
            measure_fit=fits,
            objects=arrays.get(INSTANCES),
        )
    except ImageError as error:
        problems.append(str(error))
    counts, mask_facts = _count_record(record, arrays, background)
    return _RecordFacts(
        counts,
        mask_facts,
        evidence,
        digests_of(record, arrays),
        source=record.bytes(TILE_IMAGE_ID).decode(errors="replace"),
        problems=tuple(dict.fromkeys(problems)),
    )


def _count_record(
    record: Record, arrays: Mapping[str, np.ndarray], background: int | None
) -> tuple[RecordCounts, _MaskFacts | None]:
    """Counts the pixels and objects of a record.

    Args:
      record: the record.
      arrays: those of its masks that can be decoded, uint8 `[H, W]`.
      background: the index of the background class; None if there is none.
    """
    has_instances = INSTANCES in record.features
    if MASK not in arrays:
        no_objects = np.zeros(256, np.int64) if has_instances else None
        size = records.size_of(record)
        return RecordCounts(record.id, size, record.label_counts(), no_objects), None
    mask = arrays[MASK]
    pixels = count_values(mask)
    if has_instances:
        objects = np.zeros((0, 3), np.int64)
        if INSTANCES in arrays and arrays[INSTANCES].shape == mask.shape:
            objects = find_objects(mask, arrays[INSTANCES])
        objects_of_class = np.bincount(objects[:, 1], minlength=256)
    else:
        objects = _classes_as_objects(pixels, background)
        objects_of_class = None
    counts = RecordCounts(record.id, mask.shape, pixels, objects_of_class)
    return counts, _MaskFacts(objects, sample_pixels(mask, _GRID_SIDE, _GRID_SIDE))


def _classes_as_objects(pixels: np.ndarray, background: int | None) -> np.ndarray:
    """Returns one object for each class in an image but background, int64 `[M, 3]`.

    Args:
      pixels: how many pixels have each mask value, int64 `[256]`.
      background: the index of the background class; None if there is none.
    """
    labels = [label for label in np.flatnonzero(pixels[:VOID]) if label != background]
    objects = [(0, label, pixels[label]) for label in labels]
    return np.array(objects, np.int64).reshape(-1, 3)


def _add_up(names: tuple[str, ...], records_of_split: Iterable[_RecordFacts]) -> SplitFacts:
    """Adds up the records of a split."""
    tally = Tally()
    together = np.zeros((256, 256), np.int64)
    images_at_points = np.zeros((256, _GRID_SIDE, _GRID_SIDE), np.int64)
    rows, columns = np.ogrid[:_GRID_SIDE, :_GRID_SIDE]
    void_shares: list[float] = []
    packed_present: list[np.ndarray] = []
    tables: list[ObjectTable] = []
    evidence: list[Evidence] = []
    digests: dict[str, Digests] = {}
    sources: set[str] = set()
    problems: list[RecordProblem] = []
    for number, record in enumerate(records_of_split):
        counts = record.counts
        tally.add(counts)
        values = np.flatnonzero(counts.pixels)
        together[np.ix_(values, values)] += 1
        packed_present.append(np.packbits(counts.pixels > 0))
        digests[counts.id] = record.digests
        problems += [RecordProblem(number, counts.id, text) for text in record.problems]
        if record.evidence is not None:
            evidence.append(record.evidence)
        if record.source:
            sources.add(record.source)
        if record.mask is not None:
            image_pixels = int(counts.pixels.sum())
            void_shares.append(counts.pixels[VOID] / image_pixels)
            images_at_points[record.mask.points, rows, columns] += 1
            tables.append(_add_record(record.mask.objects, number, image_pixels))
    present = np.unpackbits(np.array(packed_present, np.uint8).reshape(-1, 32), axis=1)
    return SplitFacts(
        stats=tally.stats(names),
        void_shares=np.array(void_shares, np.float32),
        present=present.astype(bool),
        objects=join_tables(tables),
        together=together,
        images_at_points=images_at_points,
        evidence=tuple(evidence),
        fingerprint=fingerprint.of_split(digests),
        sources=len(sources) if sources else None,
        problems=tuple(problems),
    )


def _add_record(objects: np.ndarray, number: int, image_pixels: int) -> ObjectTable:
    """Returns the objects of a record, int64 `[M, 3]`, with its number and its pixels."""
    first = np.full((len(objects), 1), number)
    last = np.full((len(objects), 1), image_pixels)
    return ObjectTable(np.concatenate([first, objects, last], axis=1))
