"""Verifies a built dataset, and compares it with its source tree and with the pinned facts.

Enter at `verify`, which lists the checks.
"""

import collections
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, pinned_facts
from voc_seg_tfrecord.audit.record import (
    RecordReport,
    Standard,
    TilePlace,
    examine,
    make_standard,
)
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.audit.source_records import find_originals as find_originals
from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import VocSegError, counted, several
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import dataset_files, metadata, records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder


@dataclasses.dataclass(frozen=True)
class Fault:
    """A fault of a record, a split or the files of a dataset.

    Attributes:
      split: the split; empty if a file belongs to no split.
      id: the record's id; empty if no single record is wrong.
      found: what is wrong.
      is_missing: whether the record is missing, which several checks may find.
    """

    split: str
    id: str
    found: str
    is_missing: bool = False

    def __str__(self) -> str:
        where = f"{self.split} {self.id}".strip()
        return f"{where}: {self.found}" if where else self.found


@dataclasses.dataclass(frozen=True)
class SplitReport:
    """The result of verifying one split.

    Attributes:
      fingerprint: sha256 over the examples of the split; its hashes are empty if reading stopped.
      ids_sha256: sha256 of the image ids; for tiles, of the ids of the complete images.
      faults: the faults, in the order of the ids.
      facts: a sentence about which published counts, ids and masks of a release agree, and which
        could not be compared; empty if nothing was published about such data.
      published_as: the name of the published list or masks with the same hash, by field of the
        fingerprint.
    """

    fingerprint: fingerprint.Fingerprint
    ids_sha256: str
    faults: tuple[Fault, ...]
    facts: str
    published_as: Mapping[str, str]

    def __repr__(self) -> str:
        return display.brief_line(
            self,
            counted(self.fingerprint.examples, "example"),
            counted(len(self.faults), "fault"),
            self.facts,
        )


@dataclasses.dataclass(frozen=True)
class VerificationReport:
    """The result of verifying a dataset.

    Attributes:
      splits: one `SplitReport` per split.
      fingerprint: sha256 over the complete dataset; empty if reading stopped in a split.
      archives: `filename` and `sha256` of each archive of the source whose sha256 the build
        verified.
      has_sums: whether its files were compared with SHA256SUMS.
      files: faults of files that belong to no split.
      compared: how many examples were compared with those of the source; None without a source.
    """

    splits: Mapping[str, SplitReport]
    fingerprint: str
    archives: tuple[Mapping[str, str], ...] = ()
    has_sums: bool = True
    files: tuple[Fault, ...] = ()
    compared: int | None = None

    def __repr__(self) -> str:
        parts = [counted(len(self.faults), "fault")]
        for name, split in self.splits.items():
            parts.append(f"{name} {split.fingerprint.examples:,}")
        parts.append(f"fingerprint {self.fingerprint[:12] or 'none'}")
        return display.brief_line(self, *parts)

    def _repr_html_(self) -> str:
        rows = []
        for name, split in self.splits.items():
            first_faults = "; ".join(map(str, split.faults[:3]))
            rows.append((name, split.fingerprint.examples, len(split.faults), first_faults))
        title = f"fingerprint {self.fingerprint or 'none'}"
        return display.brief_table(title, ("split", "examples", "faults", "first faults"), rows)

    @property
    def faults(self) -> list[Fault]:
        """All faults: first those of files, then those of each split."""
        faults = list(self.files)
        for split in self.splits.values():
            faults += split.faults
        return faults


def verify(
    dataset: BuiltDataset,
    source: Originals | None = None,
    *,
    progress: bool = False,
    data_dir: PathLike | None = None,
) -> VerificationReport:
    """Reads every record once and reports all faults.

    1. The files are compared with SHA256SUMS in both directions, if it is there.
    2. Each record is checked alone. If it passes, `tfds.load`, `pipeline` and the commands can read
       it.
    3. The records of a split are checked together: their number, the sha256 of their ids, duplicate
       ids, and missing tiles.
    4. With a source, each record is compared with the one made from its source files, and the ids
       with the source's lists.
    5. Counts, ids and masks of a release are compared with the published ones. A split counts
       as official if it was built from a complete release, or has all ids of an official split
       and VOC's 21 classes.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      source: the records made from the source, as `find_originals` returns them.
      progress: whether to show a progress bar on standard error (False).
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Returns:
      The report. It has no faults if every check passed; `SplitReport.facts` has what could not be
      checked.

    Raises:
      ConfigError: if the dataset cannot be verified.
    """
    builder = as_builder(dataset, data_dir)
    records.check_tfrecord(builder)
    standard = make_standard(builder, source)
    sums = dataset_files.read_sums(builder.data_path)
    shards = {
        path.name: split
        for split in builder.info.splits
        for path in datasets.shard_paths(builder, split)
    }
    read_splits = {
        split: _read_split(builder, split, standard, progress) for split in builder.info.splits
    }
    faults_by_split: dict[str, list[Fault]] = collections.defaultdict(list)
    for fault in _file_faults(builder, sums, shards, read_splits):
        faults_by_split[fault.split].append(fault)
    for fault in _faults_across_splits(builder, read_splits):
        faults_by_split[fault.split].append(fault)
    claim = pinned_facts.claim_of(builder)
    split_reports = {}
    for split, records_of_split in read_splits.items():
        faults = [*faults_by_split[split], *records_of_split.faults]
        split_reports[split] = _make_split_report(claim, split, records_of_split, faults)
    fingerprints = {split: report.fingerprint for split, report in split_reports.items()}
    is_complete = all(records_of_split.is_complete for records_of_split in read_splits.values())
    return VerificationReport(
        split_reports,
        fingerprint.of_dataset(fingerprints) if is_complete else "",
        metadata.archives_of(builder),
        has_sums=bool(sums),
        files=tuple(faults_by_split[""]),
        compared=None if source is None else _count_compared(source, read_splits),
    )


def _count_compared(source: Originals, read_splits: "Mapping[str, _ReadSplit]") -> int:
    """Returns how many examples the source has too, in files that can be used."""
    count = 0
    for split, records_of_split in read_splits.items():
        count += len(records_of_split.digests.keys() & source.splits[split].digests.keys())
    return count


@dataclasses.dataclass
class _ReadSplit:
    """The records of a split, read once.

    Attributes:
      digests: of each example, by id.
      places: of each tile in its image, by id.
      records: how many records were read.
      stopped_at: the file at which reading stopped; None if it reached the end.
      faults: what is wrong.
    """

    digests: dict[str, fingerprint.Digests] = dataclasses.field(default_factory=dict)
    places: dict[str, TilePlace] = dataclasses.field(default_factory=dict)
    records: int = 0
    stopped_at: str | None = None
    faults: list[Fault] = dataclasses.field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether reading reached the end."""
        return self.stopped_at is None

    def add(self, split: str, record_report: RecordReport) -> None:
        """Adds a record, and what is wrong with it.

        Args:
          split: the split.
          record_report: what `examine` returns for the record.
        """
        record_id = record_report.id
        if record_id in self.digests:
            message = "duplicate: more than one record has this id"
            self.faults.append(Fault(split, record_id, message))
        for problem in record_report.problems:
            self.faults.append(Fault(split, record_id, problem))
        self.digests[record_id] = record_report.digests
        self.records += 1
        if record_report.place is not None:
            self.places[record_id] = record_report.place

    @property
    def ids_sha256(self) -> str:
        """The digest of the ids of the images."""
        image_ids = {place.image_id for place in self.places.values()}
        return id_list_sha256(image_ids or self.digests)


def _read_split(
    builder: tfds.core.DatasetBuilder, split: str, standard: Standard, progress: bool
) -> _ReadSplit:
    """Reads a split once and checks each record, then all of them together."""
    records_of_split = _ReadSplit()
    examine_record = functools.partial(examine, standard, split)
    try:
        for record_report in records.scan(
            builder, split, examine_record, progress=progress, complete=False
        ):
            records_of_split.add(split, record_report)
    except VocSegError as error:
        records_of_split.faults.append(Fault(split, "", f"reading stopped: {error}"))
        records_of_split.stopped_at = error.where
    records_of_split.faults += _split_faults(builder, split, records_of_split, standard)
    return records_of_split


def _split_faults(
    builder: tfds.core.DatasetBuilder,
    split: str,
    records_of_split: _ReadSplit,
    standard: Standard,
) -> Iterator[Fault]:
    """Yields what the records of a split show together."""
    expected = builder.info.splits[split].num_examples
    if not expected:
        yield Fault(split, "", "no records, which tfds.load cannot read")
    if records_of_split.records == expected:
        stated = metadata.ids_sha256(builder).get(split)
        sha256 = records_of_split.ids_sha256
        if stated is not None and stated != sha256:
            message = f"ids: sha256 {sha256}, the dataset's metadata says {stated}"
            yield Fault(split, "", message)
    elif records_of_split.is_complete:  # else a fault says where reading stopped
        message = f"{records_of_split.records} records, the dataset's info says {expected}"
        yield Fault(split, "", message)
    yield from _tile_faults(split, records_of_split.places, standard.tiling)
    if standard.source is not None:
        expected_ids = standard.source.expected_ids(split)
        missing_ids = sorted(expected_ids - set(records_of_split.digests))
        is_every_id_missing = len(missing_ids) == len(expected_ids)
        if is_every_id_missing and len(missing_ids) > 1:
            count = counted(len(missing_ids), "record")
            yield Fault(split, "", f"missing: all {count} of the source: {several(missing_ids)}")
            return
        for record_id in missing_ids:
            message = "missing: the source lists it, no record has it"
            yield Fault(split, record_id, message, is_missing=True)


_MAX_NAMED_TILES = 1000
"""How many missing tiles of one image are named one by one."""


def _tile_faults(
    split: str, places: Mapping[str, TilePlace], tiling: Tiling | None
) -> Iterator[Fault]:
    """Yields the faults that only all tiles of a split together show.

    Args:
      split: the split.
      places: the places of all its tiles, by the id of the record.
      tiling: how the images were cut; None if they were not.
    """
    places_by_image: dict[str, list[TilePlace]] = collections.defaultdict(list)
    for place in places.values():
        places_by_image[place.image_id].append(place)
    for image_id, places_of_image in sorted(places_by_image.items()):
        sizes = {place.size for place in places_of_image}
        if len(sizes) > 1:
            problem = f"its tiles give different sizes of the image: {sorted(sizes)}"
            yield Fault(split, image_id, problem)
        elif tiling is not None and places_of_image[0].has_size:
            yield from _missing_tiles(split, places_of_image, places, tiling)


def _missing_tiles(
    split: str,
    places_of_image: Sequence[TilePlace],
    places: Container[str],
    tiling: Tiling,
) -> Iterator[Fault]:
    """Yields each missing tile of an image; if they are many, one fault with their number.

    Args:
      split: the split.
      places_of_image: the tiles that the split has of the image.
      places: the ids of all tiles of the split.
      tiling: how the image was cut.
    """
    image_id = places_of_image[0].image_id
    height, width = places_of_image[0].size
    least_missing = tiling.count(height, width) - len(places_of_image)
    if least_missing > _MAX_NAMED_TILES:  # the image may have too many tiles to list them
        problem = f"missing: at least {least_missing:,} of its tiles"
        yield Fault(split, image_id, problem, is_missing=True)
        return
    tile_ids = [tile.name(image_id) for tile in tiling.tiles(height, width)]
    missing_ids = [tile_id for tile_id in tile_ids if tile_id not in places]
    if len(missing_ids) > _MAX_NAMED_TILES:
        problem = f"missing: {len(missing_ids):,} of its tiles"
        yield Fault(split, image_id, problem, is_missing=True)
        return
    for tile_id in missing_ids:
        problem = "missing, although the image has other tiles"
        yield Fault(split, tile_id, problem, is_missing=True)


def _faults_across_splits(
    builder: tfds.core.DatasetBuilder, read_splits: Mapping[str, _ReadSplit]
) -> Iterator[Fault]:
    """Yields what splits may not share: tiles of one image, and ids of our own datasets."""
    config = metadata.config_of(builder)
    if config.get("overlap"):
        return
    image_ids = {
        split: {place.image_id for place in records_of_split.places.values()}
        for split, records_of_split in read_splits.items()
    }
    yield from _shared_ids(image_ids, "tiles of this image are")
    is_own_dataset = bool(config)
    if is_own_dataset:
        record_ids = {
            split: set(records_of_split.digests) for split, records_of_split in read_splits.items()
        }
        yield from _shared_ids(record_ids, "a record with this id is")


def _shared_ids(ids: Mapping[str, set[str]], words: str) -> Iterator[Fault]:
    """Yields a fault for each id that is in two splits."""
    for first, second in itertools.combinations(ids, 2):
        for image_id in sorted(ids[first] & ids[second]):
            yield Fault(second, image_id, f"{words} in the split {first} too")


def _make_split_report(
    claim: pinned_facts.Claim, split: str, records_of_split: _ReadSplit, faults: Iterable[Fault]
) -> SplitReport:
    """Returns the report of a split.

    Args:
      claim: what the dataset claims to be.
      split: the split.
      records_of_split: its records.
      faults: all faults except those against pinned facts, which are added here.
    """
    total = fingerprint.of_split(records_of_split.digests)
    pinned = pinned_facts.compare_with_pinned(claim, split, total, records_of_split.digests)
    in_order = sorted(_drop_repeats(faults), key=lambda fault: fault.id)
    in_order += [Fault(split, "", message) for message in pinned.faults]
    ids_sha256 = records_of_split.ids_sha256
    if not records_of_split.is_complete:  # hashes of a part would pass for those of the split
        total = fingerprint.Fingerprint(total.examples, ids="", images="", masks="", instances="")
        ids_sha256 = ""
    return SplitReport(
        fingerprint=total,
        ids_sha256=ids_sha256,
        faults=tuple(in_order),
        facts=pinned.checked,
        published_as=pinned.published_as,
    )


def _drop_repeats(faults: Iterable[Fault]) -> Iterable[Fault]:
    """Returns each fault once, and a missing record once, though two checks find it."""
    distinct: dict[tuple[str, str], Fault] = {}
    for fault in faults:
        reason = "missing" if fault.is_missing else fault.found
        distinct[fault.id, reason] = fault
    return distinct.values()


def _file_faults(
    builder: tfds.core.DatasetBuilder,
    sums: Mapping[str, str],
    shards: Mapping[str, str],
    read_splits: Mapping[str, _ReadSplit],
) -> Iterator[Fault]:
    """Yields which files are not those that were built, and lines and files without the other."""
    folder = builder.data_path
    stopped_at = {records_of_split.stopped_at for records_of_split in read_splits.values()}
    for name, problem in dataset_files.compare_sums(folder, sums):
        if str(folder / name) in stopped_at and not (folder / name).exists():
            continue  # a fault says so already
        yield Fault(shards.get(name, ""), "", f"{name}: {problem}")
    for split in builder.info.splits:
        message = records.wrong_size(builder, split)
        if message:
            yield Fault(split, "", message)
    if not sums:
        return
    names = {path.name for path in folder.iterdir()}
    for name in sorted(names - {*sums, *dataset_files.WRITTEN_LATER}):
        yield Fault(shards.get(name, ""), "", f"{name}: {dataset_files.SUMS} has no line for it")
