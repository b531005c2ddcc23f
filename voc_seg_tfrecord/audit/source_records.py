"""What a dataset's source gives, files and tiles, to compare it with the records.

Records are in no order of images, so to decode the image of each record would be to decode each
image once for every tile of it. Here each file is read once, and a digest of each record is kept.
"""

from collections.abc import Iterator, Mapping
import dataclasses
import hashlib
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, Item, Source
from voc_seg_tfrecord.core.grouping import NO_GROUPS
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.core.mask_rule import rule_of_rows
from voc_seg_tfrecord.core.names import IMAGE
from voc_seg_tfrecord.core.releases import Archive
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import THREADS, ordered_map
from voc_seg_tfrecord.core.tiling import image_of
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import class_names, config_of
from voc_seg_tfrecord.reading.fields import FEATURES
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.sources.fetcher import Fetcher
from voc_seg_tfrecord.writing.examples import try_examples
from voc_seg_tfrecord.writing.serializer import Encoder, StableSerializer, stand_in


@dataclasses.dataclass(frozen=True)
class Originals:
    """A dataset's source.

    Attributes:
      features: the dataset's features, which turn examples into records.
      spec: what examples hold.
      splits: the item that each record is made from, by split and the record's id; None if its
        files cannot be used.
      digests: the digest of the record that each must have, likewise.
      unusable: images whose files cannot be used, by split and id, with the reason.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: dict[str, dict[str, Item | None]] = dataclasses.field(default_factory=dict)
    digests: dict[str, dict[str, bytes]] = dataclasses.field(default_factory=dict)
    unusable: dict[str, dict[str, VocSegError]] = dataclasses.field(default_factory=dict)

    def agrees(self, split: str, record: Record) -> bool:
        """Says whether a record is, byte for byte, what its files give."""
        return self.digests[split].get(record.id) == _digest(record)

    def record(self, split: str, record_id: str) -> Record | None:
        """Returns the record that an id must have, None if the source has no such id.

        It raises the error of files that cannot be used.
        """
        for image in (record_id, image_of(record_id)):
            if image in self.unusable[split]:
                raise self.unusable[split][image]
        item = self.splits[split].get(record_id)
        made = [] if item is None else try_examples(self.spec, item)
        if isinstance(made, VocSegError):
            raise made
        records = (_as_record(self.features, example.features) for example in made)
        return next((record for record in records if record.id == record_id), None)


def _as_record(features: tfds.features.FeaturesDict, example: Mapping[str, Any]) -> Record:
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
    shown = stand_in(image)
    record = records.parse(features.serialize_example({**example, IMAGE: shown}))
    if shown is not image:
        record.keep(image)
    return record


def _digest(record: Record) -> bytes:
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
    """Reads what a dataset was built from, in the unpacked tree that was its `--manual_dir`.

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
    originals = Originals(builder.info.features, source.spec)
    for split in source.splits:
        items = originals.splits.setdefault(split, {})
        digests = originals.digests.setdefault(split, {})
        unusable = originals.unusable.setdefault(split, {})
        for item, made in _read(builder, source, split, f"source of {split}", progress):
            if isinstance(made, VocSegError):
                unusable[image_id(item.filename)] = made
                continue
            for record in made:
                items[record.id], digests[record.id] = item, _digest(record)
        if source.spec.tiling is None:
            items |= dict.fromkeys(unusable)
    return originals


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
    source = open_source(_config(builder), _OnlyFolder(folder), rule)
    # What is compared is bytes.
    return dataclasses.replace(source, spec=dataclasses.replace(source.spec, decoding="none"))


def read_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, *, progress: bool = False
) -> Iterator[tuple[str, str, list[Record] | VocSegError]]:
    """Yields what a build of a dataset would make of an unpacked folder now.

    Yields:
      Split, image id, and its records: one, or one per tile. Files that cannot be used give the
      error in place of records.
    """
    source = _open_folder(builder, folder)
    for split in source.splits:
        for item, made in _read(builder, source, split, split, progress):
            yield split, image_id(item.filename), made


def _read(
    builder: tfds.core.DatasetBuilder, source: Source, split: str, desc: str, progress: bool
) -> Iterator[tuple[Any, list[Record] | VocSegError]]:
    """Yields items of a split and their records."""

    def read(item: Item) -> list[Record] | VocSegError:
        made = try_examples(source.spec, item)
        if isinstance(made, VocSegError):
            return made
        return [_as_record(builder.info.features, example.features) for example in made]

    made = ordered_map(read, source.splits[split], ahead=THREADS)
    total = len(source.splits[split])
    return tqdm(made, desc, total, unit=" images", disable=not progress, leave=False)


def _config(builder: tfds.core.DatasetBuilder) -> VocSegConfig:
    """Returns the config that the dataset says it was built with.

    Its metadata never says that the tree came with the package, so `sample` as well is read
    from the folder that is given.
    """
    fields, remedy = config_of(builder), "build it again from its source, or leave out --source"
    if not fields:
        raise ConfigError(
            builder.info.full_name,
            found="no config in its metadata",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy=remedy,
        )
    try:
        config = VocSegConfig(**fields)
    except ConfigError as error:  # another version built it
        raise error.changed(remedy=remedy) from None
    if config.ratios and not config.group_by:
        config.group_by = NO_GROUPS  # it is built, so nobody is asked
    return config
