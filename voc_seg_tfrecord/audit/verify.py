"""Compares a built dataset with its source tree and with the pinned facts."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, record
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.audit.source_records import find_originals as find_originals
from voc_seg_tfrecord.core import display, storage
from voc_seg_tfrecord.core.errors import VocSegError, counted
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that is wrong in a record, a split (no `id`) or the files (nor `split`)."""

    split: str
    id: str
    found: str

    def __str__(self) -> str:
        return ": ".join(filter(None, (f"{self.split} {self.id}".strip(), self.found)))


@dataclasses.dataclass(frozen=True)
class SplitReport:
    """What verifying found in one split.

    Attributes:
      fingerprint: of its examples.
      ids_sha256: of the ids of its images, which of tiles are those of the complete images.
      faults: in order of id.
      facts: a sentence about what agrees with the pinned facts of a release and what could not
        be compared; empty if nothing is pinned for data like this.
      published_as: which published list or masks a hash belongs to, by field of the fingerprint.
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
class Report:
    """What verifying found in a dataset.

    Attributes:
      splits: one report per split.
      fingerprint: sha256 of the complete dataset.
      archives: `filename` and `sha256` of each archive that the dataset was built from, if its
        sha256 was verified at build.
      has_sums: whether the dataset has SHA256SUMS, with which its files were compared.
      files: faults of files that belong to no split.
    """

    splits: Mapping[str, SplitReport]
    fingerprint: str
    archives: tuple[Mapping[str, str], ...] = ()
    has_sums: bool = True
    files: tuple[Fault, ...] = ()

    def __repr__(self) -> str:
        faults = counted(len(self.faults), "fault")
        splits = (f"{n} {s.fingerprint.examples:,}" for n, s in self.splits.items())
        return display.brief_line(self, faults, *splits, f"fingerprint {self.fingerprint[:12]}")

    def _repr_html_(self) -> str:
        rows = (
            (name, of.fingerprint.examples, len(of.faults), "; ".join(map(str, of.faults[:3])))
            for name, of in self.splits.items()
        )
        title = f"fingerprint {self.fingerprint}"
        return display.brief_table(title, ("split", "examples", "faults", "first faults"), rows)

    @property
    def faults(self) -> list[Fault]:
        """All faults: those of files, then split after split."""
        return [*self.files, *(f for split in self.splits.values() for f in split.faults)]


def verify(
    dataset: BuiltDataset,
    source: Originals | None = None,
    *,
    progress: bool = False,
    data_dir: PathLike | None = None,
) -> Report:
    """Reads every record once and says what is wrong with it.

    1. The files are compared with SHA256SUMS in both directions, if it is there.
    2. Each record is checked in itself, by the checks of `record`: what passes them can be read to
       the end by `tfds.load`, `pipeline`, and the commands.
    3. The records of a split are checked together: their number, the digest of their ids, ids that
       are there twice, and tiles that are missing.
    4. With a source, each record is compared with the one that its files give, and the ids with
       the tree's lists.
    5. Counts, ids and masks of a release are compared with `checksums/splits.tsv`, see
       `fingerprint`.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      source: what it was built from, as `find_originals` returns it.
      progress: whether to show one progress bar per split on standard error.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      The report. It has no faults if all that could be checked is right; see `SplitReport.facts`
      for what could not.

    Raises:
      ConfigError: if the dataset cannot be verified.
    """
    builder = as_builder(dataset, data_dir)
    records.check_tfrecord(builder)
    standard = record.make_standard(builder, source)
    sums = storage.read_sums(builder.data_path)
    shards = {
        path.name: split
        for split in builder.info.splits
        for path in datasets.shard_paths(builder, split)
    }
    splits = {
        split: _read_split(builder, split, standard, progress) for split in builder.info.splits
    }
    faults = [*_file_faults(builder, sums, shards), *_faults_across(builder, splits)]
    claim = fingerprint.claim_of(builder)
    reports = {
        split: _report(claim, split, seen, [fault for fault in faults if fault.split == split])
        for split, seen in splits.items()
    }
    return Report(
        reports,
        fingerprint.of_dataset({name: r.fingerprint for name, r in reports.items()}),
        tuple((builder.info.metadata or {}).get("archives", ())),
        has_sums=bool(sums),
        files=tuple(fault for fault in faults if not fault.split),
    )


@dataclasses.dataclass
class _Seen:
    """What reading a split once gave: digests and places of tiles by id, and what is wrong."""

    digests: dict[str, fingerprint.Digests] = dataclasses.field(default_factory=dict)
    places: dict[str, record.TilePlace] = dataclasses.field(default_factory=dict)
    records: int = 0
    faults: list[Fault] = dataclasses.field(default_factory=list)

    @property
    def ids_sha256(self) -> str:
        """The digest of the ids of the images."""
        return id_list_sha256({place.image_id for place in self.places.values()} or self.digests)


def _read_split(
    builder: tfds.core.DatasetBuilder, split: str, standard: record.Standard, progress: bool
) -> _Seen:
    seen, examine = _Seen(), functools.partial(record.examine, standard, split)
    try:
        for examined in records.scan(builder, split, examine, progress=progress, complete=False):
            problems = examined.problems
            if examined.id in seen.digests:
                problems = ("duplicate: more than one record has this id", *problems)
            seen.faults += [Fault(split, examined.id, problem) for problem in problems]
            seen.digests[examined.id] = examined.digests
            seen.records += 1
            if examined.place is not None:
                seen.places[examined.id] = examined.place
    except VocSegError as error:
        seen.faults.append(Fault(split, "", f"reading stopped: {error}"))
    seen.faults += _split_faults(builder, split, seen, standard)
    return seen


def _split_faults(
    builder: tfds.core.DatasetBuilder, split: str, seen: _Seen, standard: record.Standard
) -> Iterator[Fault]:
    """Yields what the records of a split show together."""
    expected = builder.info.splits[split].num_examples
    if not expected:
        yield Fault(split, "", "no records, which tfds.load cannot read")
    if seen.records != expected:
        message = f"{seen.records} records, the dataset's info says {expected}"
        yield Fault(split, "", message)
    elif seen.ids_sha256 != (said := datasets.ids_sha256(builder).get(split, seen.ids_sha256)):
        message = f"ids: sha256 {seen.ids_sha256}, the dataset's metadata says {said}"
        yield Fault(split, "", message)
    for tile_id, problem in record.missing_tiles(seen.places, standard.tiling):
        yield Fault(split, tile_id, problem)
    if standard.source is not None:
        for image_id in sorted(set(standard.source.splits[split]) - set(seen.digests)):
            yield Fault(split, image_id, "missing: the source lists it, no record has it")


def _faults_across(
    builder: tfds.core.DatasetBuilder, splits: Mapping[str, _Seen]
) -> Iterator[Fault]:
    """Yields what splits may not share."""
    config = datasets.config_of(builder)
    if config.get("overlap"):
        return
    images = {name: {p.image_id for p in seen.places.values()} for name, seen in splits.items()}
    ids = {name: set(seen.digests) for name, seen in splits.items()} if config else {}
    for what, of_splits in (("tiles of this image are", images), ("a record with this id is", ids)):
        for first, second in itertools.combinations(of_splits, 2):
            for image_id in sorted(of_splits[first] & of_splits[second]):
                yield Fault(second, image_id, f"{what} in the split {first} too")


def _report(
    claim: fingerprint.Claim, split: str, seen: _Seen, faults: Sequence[Fault]
) -> SplitReport:
    total = fingerprint.of_split(seen.digests)
    facts = fingerprint.compare_with_pinned(claim, split, total, seen.digests)
    once = {  # a tile that is missing is named once
        (fault.id, fault.found.startswith("missing") or fault.found): fault
        for fault in (*faults, *seen.faults)
    }
    first = sorted(once.values(), key=lambda fault: fault.id)
    pinned = [Fault(split, "", fault) for fault in facts.faults]
    return SplitReport(total, seen.ids_sha256, (*first, *pinned), facts.checked, facts.published_as)


def _file_faults(
    builder: tfds.core.DatasetBuilder, sums: Mapping[str, str], shards: Mapping[str, str]
) -> Iterator[Fault]:
    """Yields which files are not those that were built, and lines and files without the other."""
    folder = builder.data_path
    for name, problem in storage.compare_sums(folder, sums):
        yield Fault(shards.get(name, ""), "", f"{name}: {problem}")
    for split in builder.info.splits:
        if message := records.wrong_size(builder, split):
            yield Fault(split, "", message)
    if not sums:
        return
    for name in sorted({path.name for path in folder.iterdir()} - {*sums, *storage.WRITTEN_LATER}):
        yield Fault(shards.get(name, ""), "", f"{name}: {storage.SUMS} has no line for it")
