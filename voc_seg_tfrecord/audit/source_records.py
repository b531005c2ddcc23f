"""Makes the records that the source of a dataset gives, to compare them with those that it has.

The tiles of an image are far from each other in a dataset. To make the record of each tile alone
would decode the image once for every tile. Here each file is read once, and a digest of each record
stays in memory.
"""

from collections.abc import Iterator, Mapping
import dataclasses
import hashlib
import operator
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import NO_GROUPS
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    MissingPackageError,
    RecordError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.core.example import ExampleSpec, Item, Source
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.mask_rule import rule_of_rows
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.core.releases import Archive
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import THREADS, ordered_map
from voc_seg_tfrecord.core.tiling import image_of
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.fields import FEATURES
from voc_seg_tfrecord.reading.metadata import RETIRED_OPTION, class_names, config_of
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.sources.fetcher import Fetcher
from voc_seg_tfrecord.writing.examples import try_examples
from voc_seg_tfrecord.writing.serializer import Encoder, StableSerializer

RecordsOrError = list[Record] | VocSegError
"""The records of an item, one or one for each tile, or why its files cannot be used."""


@dataclasses.dataclass(frozen=True)
class SplitOriginals:
    """The source of a split.

    Attributes:
      items: the item that each record is made from, by the record's id.
      digests: the digest that each record must have, by its id.
      unusable: why the files of an image cannot be used, by the image's id.
    """

    items: Mapping[str, Item]
    digests: Mapping[str, bytes]
    unusable: Mapping[str, VocSegError]


@dataclasses.dataclass(frozen=True)
class Originals:
    """A dataset's source.

    Attributes:
      features: the dataset's features, which turn examples into records.
      spec: what examples hold.
      splits: the source of each split.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: Mapping[str, SplitOriginals]

    def agrees(self, split: str, record: Record) -> bool:
        """Says whether a record is, byte for byte, the one that its files give."""
        return self.splits[split].digests.get(record.id) == _digest(record)

    def expected_ids(self, split: str) -> set[str]:
        """Returns the ids that the records of a split must have.

        An image that cannot be used is expected too. If images are cut, the ids of its tiles are
        not known.
        """
        ids = set(self.splits[split].items)
        if self.spec.tiling is None:
            ids.update(self.splits[split].unusable)
        return ids

    def record(self, split: str, record_id: str) -> Record | None:
        """Returns the record that an id must have, None if the source has no such id.

        Raises:
          VocSegError: if its files cannot be used.
        """
        image = record_id
        if self.spec.tiling is not None:
            image = image_of(record_id) or record_id
        originals = self.splits[split]
        if image in originals.unusable:
            raise originals.unusable[image]
        if record_id not in originals.items:
            return None
        item = originals.items[record_id]
        examples = try_examples(self.spec, item)
        if isinstance(examples, VocSegError):
            raise examples
        for keyed in examples:
            record = _as_record(self.features, keyed.features)
            if record.id == record_id:
                return record
        return None


def _as_record(features: tfds.features.FeaturesDict, example: Mapping[str, Any]) -> Record:
    """Returns the record of an example as a build would write it.

    Raises:
      RecordError: if the example has other features than the dataset. It is an error about the
        dataset: its features are what was found, and those of the example what was expected.
    """
    others = set(features) ^ set(example)
    if others:
        raise RecordError(
            FEATURES,
            found=f"features {', '.join(sorted(features))}",
            expected=f"{', '.join(sorted(example))}, as a build of the source makes them",
            remedy="build the dataset again",
        )
    image = example[IMAGE]
    if not isinstance(image, bytes):
        serializer = StableSerializer(features.get_serialized_info())
        return records.parse(serializer.serialize_example(Encoder(features)(example)))
    return records.parse(features.serialize_example(example))


def _digest(record: Record) -> bytes:
    """Returns the sha256 of all features of a record, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(record.features):
        value = record.features[name].SerializeToString(deterministic=True)
        digest.update(f"{name} {len(value)} ".encode() + value)
    return digest.digest()


class _OnlyFolder(Fetcher):
    """Has a folder, and neither downloads nor unpacks anything."""

    def __init__(self, folder: epath.Path):
        self._folder = folder
        self.verified = []

    @property
    def manual_dir(self) -> epath.Path:
        """The folder."""
        return self._folder

    def extract(self, path: epath.Path) -> epath.Path:
        raise ConfigError(
            path,
            found="an archive",
            expected="an unpacked tree",
            remedy="unpack it, or give the folder that TFDS unpacked it into",
        )

    def download(self, archive: Archive) -> epath.Path:
        raise ConfigError(
            f"--source {self.manual_dir}",
            found=f"neither the release's tree nor its archive {archive.filename}",
            expected="the unpacked tree that the dataset was built from",
            remedy="give the folder that was its --manual_dir, or the one TFDS unpacked it into",
        )


def find_originals(
    builder: tfds.core.DatasetBuilder, root: PathLike, *, progress: bool = False
) -> Originals:
    """Reads the folder that a dataset was built from, as `source` of `verify`.

    Args:
      builder: the builder of the dataset.
      root: the folder; for a release, the unpacked `--manual_dir`.
      progress: whether to show a progress bar on standard error (False).

    Raises:
      ConfigError: if the folder is not there, or has other splits than the dataset.
      VocSegError: if the folder cannot be a source.
    """
    folder = epath.Path(root).expanduser()
    source = _open_folder(builder, folder)
    if set(source.splits) != set(builder.info.splits):
        raise ConfigError(
            f"--source {folder}",
            found=f"splits {', '.join(source.splits)}",
            expected=f"the dataset's splits {', '.join(builder.info.splits)}",
            remedy="give the folder as it was when the dataset was built",
        )
    return _collect(builder, source, progress=progress)


def has_records_of(builder: tfds.core.DatasetBuilder, source: Source) -> bool:
    """Says whether a built dataset has exactly the records that a source gives, byte for byte.

    Raises:
      RecordError: if a record of the dataset cannot be read.
    """
    if set(source.splits) != set(builder.info.splits):
        return False
    originals = _collect(builder, source, progress=False)
    for split in source.splits:
        if originals.splits[split].unusable:
            return False
        ids = set()
        for record in records.scan(builder, split, lambda record: record):
            if not originals.agrees(split, record):
                return False
            ids.add(record.id)
        if ids != originals.splits[split].digests.keys():
            return False
    return True


def _collect(builder: tfds.core.DatasetBuilder, source: Source, *, progress: bool) -> Originals:
    """Reads the items of a source, which has the splits of a dataset."""
    splits: dict[str, SplitOriginals] = {}
    for split in source.splits:
        splits[split] = _collect_split(builder, source, split, progress=progress)
    return Originals(builder.info.features, source.spec, splits)


def _collect_split(
    builder: tfds.core.DatasetBuilder, source: Source, split: str, *, progress: bool
) -> SplitOriginals:
    """Reads the items of a split."""
    items: dict[str, Item] = {}
    digests: dict[str, bytes] = {}
    unusable: dict[str, VocSegError] = {}
    title = f"source of {split}"
    for item, result in _read_split(builder, source, split, title=title, progress=progress):
        if isinstance(result, VocSegError):
            unusable[id_of_file(item.filename)] = result
            continue
        for record in result:
            items[record.id] = item
            digests[record.id] = _digest(record)
    return SplitOriginals(items, digests, unusable)


def _open_folder(builder: tfds.core.DatasetBuilder, folder: epath.Path) -> Source:
    """Returns what a build of a dataset would read in an unpacked folder now."""
    if not folder.is_dir():
        raise ConfigError(
            f"--source {folder}",
            found="no such folder",
            expected="a VOC tree",
            remedy="give the folder that was the dataset's --manual_dir",
        )
    # Imported here, because most datasets are verified without their source.
    from voc_seg_tfrecord.sources.open import open_source

    rows = (builder.info.metadata or {}).get("classes")
    rule = rule_of_rows(rows, class_names(builder)) if rows else None
    try:
        source = open_source(_config_of_build(builder), _OnlyFolder(folder), rule)
    except MissingPackageError:
        raise
    except (ConfigError, LayoutError, SplitError) as error:
        raise error.changed(remedy=_advise_build(builder, folder, error)) from None
    # Bytes are compared, so no image has to be decoded.
    spec = dataclasses.replace(source.spec, decoding="none")
    return dataclasses.replace(source, spec=spec)


def _advise_build(builder: tfds.core.DatasetBuilder, folder: epath.Path, error: VocSegError) -> str:
    """Returns what to do if a folder cannot be read as the dataset's source was.

    `verify` and `diff` take no options about a folder, so that it has to be built with them.
    """
    build = command("voc-seg-tfrecord", "build", folder, like=builder.data_path, name="NAME")
    diff = command("voc-seg-tfrecord", "diff", builder.data_path, "NAME")
    if isinstance(error, QuestionError):
        return (
            "give the folder as it was when the dataset was built; or build this one with the "
            f"options of one line, and compare the datasets: {build}; {diff}"
        )
    return (
        f"{error.remedy}. If this needs options, build the folder with them, and compare the "
        f"datasets: {build}; {diff}"
    )


def read_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, *, progress: bool = False
) -> Iterator[tuple[str, str, RecordsOrError]]:
    """Yields the records that a build of a dataset would make of an unpacked folder now.

    Yields:
      Split, image id, and its records: one, or one per tile. Files that cannot be used give the
      error in place of records.
    """
    source = _open_folder(builder, folder)
    for split in source.splits:
        for item, result in _read_split(builder, source, split, title=split, progress=progress):
            yield split, id_of_file(item.filename), result


def _read_split(
    builder: tfds.core.DatasetBuilder, source: Source, split: str, *, title: str, progress: bool
) -> Iterator[tuple[Item, RecordsOrError]]:
    """Yields the items of a split with their records.

    Args:
      builder: the builder of the dataset.
      source: its source.
      split: the split.
      title: of the progress bar.
      progress: whether to show it.
    """

    def read(item: Item) -> RecordsOrError:
        examples = try_examples(source.spec, item)
        if isinstance(examples, VocSegError):
            return examples
        return [_as_record(builder.info.features, keyed.features) for keyed in examples]

    items = source.splits[split]
    results = ordered_map(read, items, ahead=THREADS)
    yield from tqdm(
        results,
        desc=title,
        total=operator.length_hint(items) or None,  # a stream has no length
        unit=" images",
        disable=not progress,
        leave=False,
    )


def _config_of_build(builder: tfds.core.DatasetBuilder) -> VocSegConfig:
    """Returns the config by which a dataset was built, as its metadata has it.

    The metadata does not have the folder: `sample` too is read from the one that is given.
    """
    fields = config_of(builder)
    fields.pop(RETIRED_OPTION, None)
    remedy = "build it again from its source, or leave out --source"
    if not fields:
        raise ConfigError(
            builder.info.full_name,
            found="no config in its metadata",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy=remedy,
        )
    try:
        config = VocSegConfig(**fields)
        divides = config.ratios or config.folds
        if divides and not config.group_by:  # it is built, so nobody is asked
            return VocSegConfig(**{**fields, "group_by": NO_GROUPS})
    except ConfigError as error:  # another version built it
        raise error.changed(remedy=remedy) from None
    return config
