"""Reads each record of a built dataset once, adds up what the report page shows, and chooses
which examples it shows: by a seed where there is a choice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import random

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint
from voc_seg_tfrecord.audit.counting import RecordCounts, Tally, find_objects
from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint
from voc_seg_tfrecord.audit.record import decode_masks, digests_of, inner_problems
from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, INSTANCES, MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.quality.evidence import Evidence, examine
from voc_seg_tfrecord.quality.finding import (
    SAME_IMAGE_IN_TWO_SPLITS,
    SIMILAR_IMAGES_IN_TWO_SPLITS,
    Finding,
)
from voc_seg_tfrecord.quality.fit import sample_pixels
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.stats import Stats

Place = tuple[str, int]
"""A split, and the number of a record in it."""

NUM = 24
"""Examples in each split's gallery, at most."""

MOST = 240
"""Examples in all galleries together, at most."""

_GRID = 32  # points along each side at which a mask is looked at
_CLASSES, _EXAMPLES = 5, 4  # least common classes, and how many examples of each
_OBJECTS, _PAIRS, _PROBLEMS, _SUSPECTS = 6, 6, 6, 12  # objects: of the largest, and the smallest


@dataclasses.dataclass(frozen=True, eq=False)
class SplitFacts:
    """What is known of one split after its records were read.

    Attributes:
      stats: counts of pixels, images and objects; images with a label in place of a mask have no
        pixels.
      shares: void's share of each image's pixels, float32 `[N]`; empty without masks.
      present: which mask values each image has, bool `[N, 256]`.
      objects: of each object the number of its record, its own number, its class, its pixels and
        its image's pixels, int64 `[M, 5]`. Without instance masks, all pixels that a class has in
        an image stand for one object, its number is 0, and background is left out.
      together: images that have both of two mask values, int64 `[256, 256]`.
      places: images that have a mask value at a point, int64 `[256, 32, 32]`.
      evidence: what tells which labels may be wrong, of each record whose image can be decoded.
      fingerprint: of the split.
      sources: how many images tiles were cut from; None if there are no tiles.
      problems: number, id and what is wrong, of records that are.
    """

    stats: Stats
    shares: np.ndarray
    present: np.ndarray
    objects: np.ndarray
    together: np.ndarray
    places: np.ndarray
    evidence: tuple[Evidence, ...]
    fingerprint: Fingerprint
    sources: int | None
    problems: tuple[tuple[int, str, str], ...]

    @property
    def has_objects(self) -> bool:
        """Whether `objects` are those of instance masks."""
        return self.stats.objects is not None

    @property
    def object_shares(self) -> np.ndarray:
        """The share that each of `objects` has of its image's pixels, float64 `[M]`."""
        return self.objects[:, 3] / np.maximum(1, self.objects[:, 4])


def gather(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    *,
    fits: bool = True,
    progress: bool = False,
) -> dict[str, SplitFacts]:
    """Reads the splits of a built dataset.

    Raises:
      ConfigError: if voc_seg_tfrecord did not build the dataset.
      RecordError: if a shard is damaged. A record that is wrong is a problem of its split.
    """
    dataset.check_features(builder, (IMAGE, FILENAME))
    names = dataset.class_names(builder)
    background = dataset.background(builder) if MASK in builder.info.features else None
    read = functools.partial(_read, names, background, fits)
    facts = {split: _add_up(names, ()) for split in splits}
    readings = records.scan_splits(builder, [*facts], read, progress=progress)
    for split, of_split in itertools.groupby(readings, key=lambda reading: reading[0]):
        facts[split] = _add_up(names, (read for _, read in of_split))
    return facts


@dataclasses.dataclass(frozen=True)
class _Read:
    """What one record gives; `objects` and `points` are None without masks."""

    counts: RecordCounts
    objects: np.ndarray | None
    points: np.ndarray | None
    evidence: Evidence | None
    digests: Digests
    source: str
    problems: tuple[str, ...]


def _read(
    names: tuple[str, ...], background: int | None, fits: bool, split: str, record: Record
) -> _Read:
    arrays, problems = decode_masks(record)
    image = File(record.file(IMAGE).data, IMAGE)
    evidence = None
    try:
        size = records.image_size(image)
        problems += inner_problems(record, size, arrays, names, background)
        mask, objects = arrays.get(MASK), arrays.get(INSTANCES)
        evidence = examine(
            image, mask, image_id=record.id, split=split, measure_fit=fits, objects=objects
        )
    except ImageError as error:
        problems.append(str(error))
    return _Read(
        *_counted(record, arrays, background),
        evidence,
        digests_of(record, arrays),
        record.bytes(TILE_IMAGE_ID).decode(errors="replace"),
        tuple(dict.fromkeys(problems)),
    )


def _counted(
    record: Record, arrays: Mapping[str, np.ndarray], background: int | None
) -> tuple[RecordCounts, np.ndarray | None, np.ndarray | None]:
    """Returns the counts of a record, its objects, int64 `[N, 3]`, and its mask's points."""
    instances = INSTANCES in record.features
    if MASK not in arrays:
        size = records.size_of(record)
        of_class = record.label_counts()
        none = np.zeros(256, np.int64) if instances else None
        return RecordCounts(record.id, size, of_class, none), None, None
    mask = arrays[MASK]
    pixels = count_values(mask)
    objects, per_class = np.zeros((0, 3), np.int64), None
    if instances:
        if INSTANCES in arrays and arrays[INSTANCES].shape == mask.shape:
            objects = find_objects(mask, arrays[INSTANCES])
        per_class = np.bincount(objects[:, 1], minlength=256)
    else:
        of = [c for c in np.flatnonzero(pixels[:VOID]) if c != background]
        objects = np.array([(0, c, pixels[c]) for c in of], np.int64).reshape(-1, 3)
    return (
        RecordCounts(record.id, mask.shape, pixels, per_class),
        objects,
        sample_pixels(mask, _GRID, _GRID),
    )


def _add_up(names: tuple[str, ...], readings: Iterable[_Read]) -> SplitFacts:
    tally, places = Tally(), np.zeros((256, _GRID, _GRID), np.int64)
    rows, columns = np.ogrid[:_GRID, :_GRID]
    together = np.zeros((256, 256), np.int64)
    shares, present, objects, evidence = [], [], [], []
    digests: dict[str, Digests] = {}
    sources: set[str] = set()
    problems: list[tuple[int, str, str]] = []
    for number, reading in enumerate(readings):
        counts = reading.counts
        tally.add(counts)
        values = np.flatnonzero(counts.pixels)
        together[np.ix_(values, values)] += 1
        present.append(np.packbits(counts.pixels > 0))
        evidence += [reading.evidence] if reading.evidence else []
        digests[counts.id] = reading.digests
        sources |= {reading.source} - {""}
        problems += [(number, counts.id, problem) for problem in reading.problems]
        if reading.objects is not None and reading.points is not None:
            area = int(counts.pixels.sum())
            shares.append(counts.pixels[VOID] / area)
            places[reading.points, rows, columns] += 1
            # The record's number comes before them, its pixels behind.
            ends = ((0, 0), (number, area))
            objects.append(np.pad(reading.objects, ((0, 0), (1, 1)), constant_values=ends))
    stats = tally.stats(names)
    return SplitFacts(
        stats=stats,
        shares=np.array(shares, np.float32),
        present=np.unpackbits(np.array(present, np.uint8).reshape(-1, 32), axis=1).astype(bool),
        objects=np.concatenate([np.zeros((0, 5), np.int64), *objects]),
        together=together,
        places=places,
        evidence=tuple(evidence),
        fingerprint=fingerprint.of_split(digests),
        sources=len(sources) if sources else None,
        problems=tuple(problems),
    )


@dataclasses.dataclass(frozen=True)
class Object:
    """An object to show.

    Its number is that in the instance mask, 0 for all that the class has in the image; its share is
    of the image's pixels.
    """

    place: Place
    number: int
    label: int
    pixels: int
    share: float


@dataclasses.dataclass(frozen=True)
class Chosen:
    """What is shown.

    Attributes:
      gallery: the records of each split's gallery, ascending.
      rare: least common classes, the least common first, and examples of each.
      largest, smallest: objects, the first of each first.
      pairs: images that look alike, or are the same, in two splits.
      problems: records with problems.
      suspects: records whose labels may be wrong, the most suspicious first, and what was found.
    """

    gallery: Mapping[str, list[int]]
    rare: list[tuple[int, list[Place]]]
    largest: list[Object]
    smallest: list[Object]
    pairs: list[tuple[Place, Place]]
    problems: list[Place]
    suspects: list[tuple[Place, Finding]]

    def places(self) -> Iterator[Place]:
        """Yields the records of which thumbnails are needed."""
        yield from ((split, n) for split, numbers in self.gallery.items() for n in numbers)
        yield from (place for _, places in self.rare for place in places)
        yield from (place for pair in self.pairs for place in pair)
        yield from self.problems
        yield from (place for place, _ in self.suspects)


def choose(
    facts: Mapping[str, SplitFacts], background: int | None, label_errors: Sequence[Finding]
) -> Chosen:
    """Chooses what is shown; the same input gives the same choice.

    Args:
      facts: of each split.
      background: index of the background class, None if there is none.
      label_errors: labels that may be wrong, the most suspicious first.
    """
    most = min(NUM, MOST // max(1, len(facts)))
    gallery = {}
    for split, of_split in facts.items():
        count = len(of_split.present)
        # Seeded by the split's name, so that another split does not change the choice.
        gallery[split] = sorted(random.Random(f"0 {split}").sample(range(count), min(most, count)))
    objects = list(_extremes(facts))
    number_of = {
        split: {image_id: n for n, image_id in enumerate(of_split.stats.ids)}
        for split, of_split in facts.items()
    }
    return Chosen(
        gallery,
        _rare(facts, background),
        sorted(objects, key=lambda o: (-o.share, o.place, o.number, o.label))[:_OBJECTS],
        sorted(objects, key=lambda o: (o.pixels, o.place, o.number, o.label))[:_OBJECTS],
        list(_pairs(number_of, label_errors))[:_PAIRS],
        list(dict.fromkeys((s, n) for s, f in facts.items() for n, *_ in f.problems))[:_PROBLEMS],
        [
            ((error.split, number_of[error.split][error.ids[-1]]), error)
            for error in label_errors
            if error.box
        ][:_SUSPECTS],
    )


def least_common(facts: Mapping[str, SplitFacts], background: int | None) -> list[int]:
    """Returns the classes that fewest images have, ascending by images; none that no image has."""
    images = sum(of_split.present.sum(0) for of_split in facts.values())
    classes = min((len(f.stats.class_names) for f in facts.values()), default=0)
    present = [c for c in range(min(classes, VOID)) if c != background and images[c]]
    return sorted(present, key=lambda c: (images[c], c))


def _rare(facts: Mapping[str, SplitFacts], background: int | None) -> list[tuple[int, list[Place]]]:
    examples = []
    for label in least_common(facts, background)[:_CLASSES]:
        places = [
            (split, int(number))
            for split, of_split in facts.items()
            for number in np.flatnonzero(of_split.present[:, label])
        ]
        chosen = random.Random(f"0 {label}").sample(places, min(_EXAMPLES, len(places)))
        examples.append((label, sorted(chosen)))
    return examples


def _extremes(facts: Mapping[str, SplitFacts]) -> Iterator[Object]:
    """Yields of each split the objects that may be among the largest and smallest of all."""
    for split, of_split in facts.items():
        record, number, label, pixels, area = of_split.objects.T
        share = pixels / np.maximum(1, area)
        first = np.argsort(-share, kind="stable")[:_OBJECTS]
        last = np.argsort(pixels, kind="stable")[:_OBJECTS]
        for i in {*first.tolist(), *last.tolist()}:
            place = (split, int(record[i]))
            yield Object(place, int(number[i]), int(label[i]), int(pixels[i]), float(share[i]))


def _pairs(
    numbers: Mapping[str, Mapping[str, int]], label_errors: Sequence[Finding]
) -> Iterator[tuple[Place, Place]]:
    """Yields two images of each group that are the same, or else look alike, in two splits."""
    for kind in (SAME_IMAGE_IN_TWO_SPLITS, SIMILAR_IMAGES_IN_TWO_SPLITS):
        for error in (error for error in label_errors if error.kind == kind):
            first, *others = (
                (split, numbers[split][image_id])
                for image_id in error.ids
                for split in error.split.split(", ")
                if image_id in numbers[split]
            )
            yield first, next(place for place in others if place[0] != first[0])
