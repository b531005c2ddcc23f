"""Compares a built dataset with its source tree and with the pinned facts."""

from collections.abc import Iterable, Iterator, Mapping
import dataclasses
import functools
import hashlib
import itertools

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, record, source_records
from voc_seg_tfrecord.base import storage, wording
from voc_seg_tfrecord.base.errors import VocSegError
from voc_seg_tfrecord.base.names import IMAGE_AND_SIZE, SEGMENTATION
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import dataset, records
from voc_seg_tfrecord.configs import VocSegConfig


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
      faults: in order of id.
      facts: a sentence about what agrees with the pinned facts of a release and what could not
        be compared; empty if nothing is pinned for data like this.
      published_as: which published list or masks a hash belongs to, by field of the fingerprint.
    """

    fingerprint: fingerprint.Fingerprint
    faults: tuple[Fault, ...]
    facts: str
    published_as: Mapping[str, str]

    def __repr__(self) -> str:
        return wording.brief_line(
            self,
            wording.counted(self.fingerprint.examples, "example"),
            wording.counted(len(self.faults), "fault"),
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
      lists_shards: whether it lists the shards; those of old versions do not.
      files: faults of files that belong to no split.
    """

    splits: Mapping[str, SplitReport]
    fingerprint: str
    archives: tuple[Mapping[str, str], ...] = ()
    has_sums: bool = True
    lists_shards: bool = True
    files: tuple[Fault, ...] = ()

    def __repr__(self) -> str:
        faults = wording.counted(len(self.faults), "fault")
        splits = (f"{n} {s.fingerprint.examples:,}" for n, s in self.splits.items())
        return wording.brief_line(self, faults, *splits, f"fingerprint {self.fingerprint[:12]}")

    def _repr_html_(self) -> str:
        rows = (
            (
                name,
                split.fingerprint.examples,
                len(split.faults),
                "; ".join(map(str, split.faults[:3])),
            )
            for name, split in self.splits.items()
        )
        title = f"fingerprint {self.fingerprint}"
        return wording.brief_table(title, ("split", "examples", "faults", "first faults"), rows)

    @property
    def faults(self) -> list[Fault]:
        """All faults: those of files, then split after split."""
        return [*self.files, *(f for split in self.splits.values() for f in split.faults)]


def verify(
    builder: tfds.core.DatasetBuilder,
    source: PathLike | None = None,
    *,
    config: VocSegConfig | None = None,
    progress: bool = False,
) -> Report:
    """Reads every record once and says what is wrong with it.

    1. The files are compared with SHA256SUMS in both directions, if it is there.
    2. Each record is checked in itself, by the checks of `record`: what passes them can be read to
       the end by `tfds.load`, `pipeline`, and the commands.
    3. The records of a split are checked together: their number, ids that are there twice, tiles
       that are missing, and that files in other formats hold the same records.
    4. With a source, each record is compared with the one that its files give, and the ids with
       the tree's lists.
    5. Counts, ids and masks of a release are compared with `checksums/splits.tsv`, see
       `fingerprint`.

    Args:
      builder: of a built dataset, as `tfds.builder` returns it.
      source: the folder that the dataset was built from, unpacked.
      config: the config that it was built with, if its metadata does not hold it.
      progress: whether to show one progress bar per split on standard error.

    Returns:
      The report. It has no faults if all that could be checked is right; see `SplitReport.facts`
      for what could not.

    Raises:
      ConfigError: if the dataset or the source cannot be verified.
    """
    only_images = dataset.has_only_images(builder)
    dataset.check_features(builder, IMAGE_AND_SIZE if only_images else SEGMENTATION)
    originals = (
        source_records.find_originals(builder, source, config, progress=progress)
        if source
        else None
    )
    standard = make_standard(builder, originals)
    splits = {
        split: _read_split(builder, split, standard, progress) for split in builder.info.splits
    }
    sums = storage.read_sums(builder.data_path)
    shards = {
        path.name: split
        for split in builder.info.splits
        for path in dataset.shard_paths(builder, split)
    }
    faults = [
        *_file_faults(builder, sums, shards),
        *(
            fault
            for split, seen in splits.items()
            for fault in _split_faults(builder, split, seen, standard)
        ),
        *_faults_across(builder, splits),
    ]
    reports = {}
    for split, seen in splits.items():
        lacking = _lacking(split, seen, originals.splits[split]) if originals else ()
        of_split = (fault for fault in faults if fault.split == split)
        reports[split] = _report(builder, split, seen, [*of_split, *seen.faults, *lacking])
    total = fingerprint.of_dataset({name: r.fingerprint for name, r in reports.items()})
    return Report(
        reports,
        total,
        tuple((builder.info.metadata or {}).get("archives", ())),
        has_sums=bool(sums),
        lists_shards=bool(set(sums) & set(shards)),
        files=tuple(fault for fault in faults if not fault.split),
    )


def make_standard(
    builder: tfds.core.DatasetBuilder, source: source_records.Originals | None = None
) -> record.Standard:
    """Returns what the records of a built dataset are held against."""
    features = builder.info.features
    return record.Standard(
        dataset.class_names(builder),
        dataset.background(builder),
        record.expected_values(features),
        {n: f.shape for n, f in features.items() if isinstance(f, tfds.features.Image)},
        dataset.tiling_of(builder),
        source,
    )


@dataclasses.dataclass
class _Seen:
    """What reading a split once gave.

    Attributes:
      digests: of its records, by id.
      places: of its tiles, by id.
      stored: sha256 of the bytes of each record, in their order.
      faults: of records.
    """

    digests: dict[str, fingerprint.Digests] = dataclasses.field(default_factory=dict)
    places: dict[str, record.TilePlace] = dataclasses.field(default_factory=dict)
    stored: list[bytes] = dataclasses.field(default_factory=list)
    faults: list[Fault] = dataclasses.field(default_factory=list)


def _read_split(
    builder: tfds.core.DatasetBuilder, split: str, standard: record.Standard, progress: bool
) -> _Seen:
    seen = _Seen()
    examine = functools.partial(record.examine, standard, split)
    try:
        for examined in records.scan(builder, split, examine, progress=progress, complete=False):
            problems = examined.problems
            if examined.id in seen.digests:
                problems = ("duplicate: more than one record has this id", *problems)
            seen.faults += [Fault(split, examined.id, problem) for problem in problems]
            seen.digests[examined.id] = examined.digests
            seen.stored.append(examined.stored)
            if examined.place is not None:
                seen.places[examined.id] = examined.place
    except VocSegError as error:
        seen.faults.append(Fault(split, "", f"reading stopped: {error}"))
    return seen


def _split_faults(
    builder: tfds.core.DatasetBuilder, split: str, seen: _Seen, standard: record.Standard
) -> Iterator[Fault]:
    """Yields what the records of a split show together."""
    expected = builder.info.splits[split].num_examples
    if not expected:
        yield Fault(split, "", "no records, which tfds.load cannot read")
    if len(seen.stored) != expected:
        message = f"{len(seen.stored)} records, the dataset's info says {expected}"
        yield Fault(split, "", message)
    for tile_id, problem in record.missing_tiles(seen.places, standard.tiling):
        yield Fault(split, tile_id, problem)
    for file_format, paths in _added_files(builder, split).items():
        lengths = builder.info.splits[split].shard_lengths
        try:
            stored = [
                hashlib.sha256(serialized).digest()
                for path, length in zip(paths, lengths, strict=True)
                if length
                for serialized in records.read_shard(file_format, path, length)
            ]
        except VocSegError as error:
            yield Fault(split, "", f"reading its {file_format.value} files stopped: {error}")
            continue
        if stored != seen.stored:
            yield Fault(split, "", f"its {file_format.value} files hold other records")


def _added_files(
    builder: tfds.core.DatasetBuilder, split: str
) -> dict[tfds.core.FileFormat, list[epath.Path]]:
    """Returns the shards that `tfds convert_format` added for a split, by file format."""
    info = builder.info.splits[split]
    return {
        added: info.filename_template.replace(filetype_suffix=added.file_suffix).sharded_filepaths(
            len(info.shard_lengths)
        )
        for added in builder.info.available_file_formats() - {builder.info.file_format}
    }


def _faults_across(
    builder: tfds.core.DatasetBuilder, splits: Mapping[str, _Seen]
) -> Iterator[Fault]:
    """Yields what splits may not share."""
    config = dataset.config_of(builder)
    if config.get("overlap"):
        return
    images = {name: {p.image_id for p in seen.places.values()} for name, seen in splits.items()}
    for split, image_id, problem in record.shared_tiles(images):
        yield Fault(split, image_id, problem)
    if config:
        for first, second in itertools.combinations(splits, 2):
            for image_id in sorted(set(splits[first].digests) & set(splits[second].digests)):
                yield Fault(second, image_id, f"a record with this id is in the split {first} too")


def _lacking(split: str, seen: _Seen, ids: Iterable[str]) -> Iterator[Fault]:
    for image_id in sorted(set(ids) - set(seen.digests)):
        yield Fault(split, image_id, "missing: the source lists it, no record has it")


def _report(
    builder: tfds.core.DatasetBuilder, split: str, seen: _Seen, faults: list[Fault]
) -> SplitReport:
    total = fingerprint.of_split(seen.digests)
    claim = fingerprint.claim_of(builder)
    facts = fingerprint.compare_with_pinned(claim, split, total, seen.digests)
    # A tile that is missing is named once.
    ordered = {
        (fault.id, fault.found.startswith("missing") or fault.found): fault for fault in faults
    }
    first = sorted(ordered.values(), key=lambda fault: fault.id)
    pinned = [Fault(split, "", fault) for fault in facts.faults]
    return SplitReport(total, (*first, *pinned), facts.checked, facts.published_as)


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
    others = {*storage.WRITTEN_LATER, *(() if set(sums) & set(shards) else shards)}
    for split in builder.info.splits:
        others |= {p.name for paths in _added_files(builder, split).values() for p in paths}
    for name in sorted({path.name for path in folder.iterdir()} - {*sums, *others}):
        yield Fault(shards.get(name, ""), "", f"{name}: {storage.SUMS} has no line for it")
