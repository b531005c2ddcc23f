"""Compares a built dataset with its source tree and with the pinned facts."""

from collections.abc import Iterator, Mapping
import dataclasses
import functools

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, record, source_records
from voc_seg_tfrecord.audit.source_records import Originals
from voc_seg_tfrecord.base import storage, wording
from voc_seg_tfrecord.base.errors import VocSegError
from voc_seg_tfrecord.base.names import IMAGE_AND_SIZE, SEGMENTATION
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.dataset import (
    background,
    check_features,
    class_names,
    config_of,
    has_only_images,
    shard_paths,
    tiling_of,
)
from voc_seg_tfrecord.configs import VocSegConfig


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that is wrong in one record, or in a split if `id` is empty."""

    split: str
    id: str
    found: str

    def __str__(self) -> str:
        return f"{self.split} {self.id}: {self.found}" if self.id else f"{self.split}: {self.found}"


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
    """

    splits: Mapping[str, SplitReport]
    fingerprint: str
    archives: tuple[Mapping[str, str], ...] = ()
    has_sums: bool = True

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
        """All faults, split after split."""
        return [fault for split in self.splits.values() for fault in split.faults]


def verify(
    builder: tfds.core.DatasetBuilder,
    source: PathLike | None = None,
    *,
    config: VocSegConfig | None = None,
    progress: bool = False,
) -> Report:
    """Reads every record once and says what is wrong with it.

    The files are compared with SHA256SUMS, if it is there. Each record's mask values, labels and
    sizes are checked, and of images alone the sizes; and that tiles are complete, where their
    images have them, and of one split. With a source, each record is also compared with the
    record that its files give, and the ids with the tree's lists. Counts, ids and masks of a
    release are compared with `checksums/splits.tsv`, see `fingerprint`.

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
    check_features(builder, IMAGE_AND_SIZE if has_only_images(builder) else SEGMENTATION)
    found = (
        source_records.find_originals(builder, source, config, progress=progress)
        if source
        else None
    )
    images: dict[str, set[str]] = {}
    reports = {
        split: _verify_split(builder, split, found, progress, images.setdefault(split, set()))
        for split in builder.info.splits
    }
    if not config_of(builder).get("overlap"):
        for split, image_id, problem in record.shared_tiles(images):
            faults = (*reports[split].faults, Fault(split, image_id, problem))
            reports[split] = dataclasses.replace(reports[split], faults=faults)
    total = fingerprint.of_dataset({name: r.fingerprint for name, r in reports.items()})
    archives = (builder.info.metadata or {}).get("archives", ())
    return Report(reports, total, tuple(archives), bool(storage.read_sums(builder.data_path)))


def _verify_split(
    builder: tfds.core.DatasetBuilder,
    split: str,
    source: Originals | None,
    progress: bool,
    images: set[str],
) -> SplitReport:
    """Verifies one split, and adds to `images` those that its tiles are of."""
    digests: dict[str, fingerprint.Digests] = {}
    faults: list[Fault] = []
    count = 0
    places: dict[str, record.TilePlace] = {}
    tiling = tiling_of(builder)
    examine = functools.partial(
        record.examine,
        class_names(builder),
        background(builder),
        split,
        source,
        tiling=tiling,
    )
    try:
        for found in records.scan(builder, split, examine, progress=progress, complete=False):
            count += 1
            problems = found.problems
            if found.id in digests:
                problems = ("duplicate: more than one record has this id", *problems)
            faults += [Fault(split, found.id, problem) for problem in problems]
            digests[found.id] = found.digests
            if found.place is not None:
                places[found.id] = found.place
    except VocSegError as error:
        faults.append(Fault(split, "", f"reading stopped: {error}"))
    missing = sorted(set(source.splits[split] if source else ()) - set(digests))
    faults += [Fault(split, i, "missing: the source lists it, no record has it") for i in missing]
    incomplete = list(record.missing_tiles(places, tiling))
    faults += [Fault(split, i, problem) for i, problem in incomplete if i not in missing]
    images |= {place.image_id for place in places.values()}
    faults.sort(key=lambda fault: fault.id)
    if count != builder.info.splits[split].num_examples:
        said = builder.info.splits[split].num_examples
        faults.insert(0, Fault(split, "", f"{count} records, the dataset's info says {said}"))
    faults[:0] = [Fault(split, "", fault) for fault in _changed_shards(builder, split)]
    total = fingerprint.of_split(digests)
    facts = fingerprint.compare_with_pinned(fingerprint.claim_of(builder), split, total, digests)
    faults += [Fault(split, "", fault) for fault in facts.faults]
    return SplitReport(total, tuple(faults), facts.checked, facts.published_as)


def _changed_shards(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[str]:
    """Yields a sentence for each shard that is not the one that was built."""
    sums = storage.read_sums(builder.data_path)
    if not sums and (found := records.wrong_size(builder, split)):
        yield found
    for path in shard_paths(builder, split) if sums else ():
        if path.is_file() and (found := storage.digest_of(path)[0]) != sums.get(path.name):
            said = sums.get(path.name, "none")
            yield f"{path.name}: the file's sha256 is {found}, {storage.SUMS} says {said}"
