"""Reads each record of a built dataset once, and adds up what the report page shows of a split."""

from collections.abc import Sequence
import dataclasses
import functools

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.counting import RecordCounts, Tally, count_objects
from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint
from voc_seg_tfrecord.audit.record import decode_masks, digests_of, inner_problems
from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.errors import ImageError, RecordError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, LABEL, MASK, TILE_IMAGE_ID
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality.evidence import Evidence, examine, is_fitted
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.stats import Stats


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
      class_counts: how many images have each mask value or label, and its pixels.
      has_masks: whether any record has a mask that can be decoded.
      evidence: what tells which labels may be wrong, of each record whose image can be decoded.
      fingerprint: of the split.
      sources: how many images tiles were cut from; None if there are no tiles.
      problems: what is wrong with records.
    """

    stats: Stats
    class_counts: ClassCounts
    has_masks: bool
    evidence: tuple[Evidence, ...]
    fingerprint: Fingerprint
    sources: int | None
    problems: tuple[RecordProblem, ...]


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
    images = sum(records.count(builder, split) for split in splits)
    options = _GatherOptions(names, background, fits, images)
    read = functools.partial(_read_record, options)
    sums = {split: _SplitSums() for split in splits}
    for split, record in records.scan_splits(builder, list(sums), read, progress=progress):
        sums[split].add(record)
    return {split: split_sums.facts(names) for split, split_sums in sums.items()}


@dataclasses.dataclass(frozen=True)
class _GatherOptions:
    """How records are read. It is sent to the processes that read.

    Attributes:
      class_names: the names of the classes, by index.
      background: the index of the background class; None if there is none, or no mask.
      fits: whether to measure how well masks fit their images.
      images: how many records are read in all.
    """

    class_names: tuple[str, ...]
    background: int | None
    fits: bool
    images: int


@dataclasses.dataclass(frozen=True, eq=False)
class _RecordFacts:
    """What one record shows.

    Attributes:
      counts: its pixels and objects by class.
      has_mask: whether it has a mask that can be decoded.
      evidence: None if the image cannot be decoded.
      digests: of its image and masks.
      source: the id of the image that a tile was cut from; empty if it is none.
      problems: what is wrong with it.
    """

    counts: RecordCounts
    has_mask: bool
    evidence: Evidence | None
    digests: Digests
    source: str
    problems: tuple[str, ...]


def _read_record(options: _GatherOptions, split: str, record: Record) -> _RecordFacts:
    """Decodes a record and measures it. An error of the record becomes one of its problems."""
    masks, problems = decode_masks(record)
    evidence = None
    try:
        image = File(record.file(IMAGE).data, IMAGE)  # so that an error names the feature alone
        size = records.image_size(image)
        problems += inner_problems(record, size, masks, options.class_names, options.background)
        evidence = examine(
            image,
            masks.get(MASK),
            image_id=record.id,
            split=split,
            measure_fit=options.fits and is_fitted(record.id, options.images),
            objects=masks.get(INSTANCES),
        )
    except ImageError as error:
        problems.append(str(error))
    except RecordError as error:  # the stored array of bands is damaged
        problems.append(str(error.changed(where=IMAGE)))
    mask = masks.get(MASK)
    instances = masks.get(INSTANCES)
    size_of_record: tuple[int, ...] = records.size_of(record)
    if mask is not None:
        pixels = count_values(mask)
        size_of_record = mask.shape
    else:
        try:
            # Labels stand for pixels: `Tally` takes a class that has any as present in the image.
            pixels = record.label_counts()
        except RecordError as error:
            problems.append(str(error.changed(where=LABEL)))
            pixels = np.zeros(256, np.int64)
    objects = None
    if INSTANCES in record.features:
        objects = np.zeros(256, np.int64)
        if mask is not None and instances is not None and instances.shape == mask.shape:
            objects = count_objects(mask, instances)
    return _RecordFacts(
        RecordCounts(record.id, size_of_record, pixels, objects),
        has_mask=mask is not None,
        evidence=evidence,
        digests=digests_of(record, masks),
        source=record.bytes(TILE_IMAGE_ID).decode(errors="replace"),
        problems=tuple(dict.fromkeys(problems)),
    )


@dataclasses.dataclass(eq=False)
class _SplitSums:
    """The sums over the records of one split; see `SplitFacts` for those of the same name."""

    tally: Tally = dataclasses.field(default_factory=Tally)
    class_counts: ClassCounts = dataclasses.field(default_factory=ClassCounts)
    has_masks: bool = False
    evidence: list[Evidence] = dataclasses.field(default_factory=list)
    digests: dict[str, Digests] = dataclasses.field(default_factory=dict)
    sources: set[str] = dataclasses.field(default_factory=set)
    problems: list[RecordProblem] = dataclasses.field(default_factory=list)
    records: int = 0

    def add(self, record: _RecordFacts) -> None:
        """Adds the next record of the split."""
        counts = record.counts
        self.tally.add(counts)
        self.class_counts.add(counts.pixels)
        self.has_masks |= record.has_mask
        self.digests[counts.id] = record.digests
        for text in record.problems:
            self.problems.append(RecordProblem(self.records, counts.id, text))
        if record.evidence is not None:
            self.evidence.append(record.evidence)
        if record.source:
            self.sources.add(record.source)
        self.records += 1

    def facts(self, class_names: tuple[str, ...]) -> SplitFacts:
        """Returns what is known of the split after its last record."""
        return SplitFacts(
            stats=self.tally.stats(class_names),
            class_counts=self.class_counts,
            has_masks=self.has_masks,
            evidence=tuple(self.evidence),
            fingerprint=fingerprint.of_split(self.digests),
            sources=len(self.sources) if self.sources else None,
            problems=tuple(self.problems),
        )
