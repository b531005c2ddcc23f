"""What a dataset's source gives, files and tiles, to compare it with the records.

Records are in no order of images, so to decode the image of each record would be to decode each
image once for every tile of it. Here each image is cut once, and a digest of each tile is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.base.errors import ConfigError, VocSegError
from voc_seg_tfrecord.base.names import FILENAME, IMAGE
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.base.threads import THREADS, ordered_map
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.built.dataset import class_names, config_of
from voc_seg_tfrecord.built.records import Record
from voc_seg_tfrecord.configs import VocSegConfig, field_types
from voc_seg_tfrecord.examples.make import ExampleSpec, Item, Source, try_examples
from voc_seg_tfrecord.examples.serializer import stand_in
from voc_seg_tfrecord.examples.tiles import image_of
from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.masks.readings import rule_of_rows
from voc_seg_tfrecord.sources.devkit import Verified


@dataclasses.dataclass(frozen=True)
class Originals:
    """A dataset's source.

    Attributes:
      features: the dataset's features, which turn examples into records.
      spec: what examples hold.
      splits: the item that each record is made from, by split and the record's id.
      digests: of tiles, the digest of the record that each must have, likewise.
      unusable: of tiles, the images whose files cannot be used, by split and id, with the reason.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: dict[str, dict[str, Item]] = dataclasses.field(default_factory=dict)
    digests: dict[str, dict[str, bytes]] = dataclasses.field(default_factory=dict)
    unusable: dict[str, dict[str, VocSegError]] = dataclasses.field(default_factory=dict)

    def agrees(self, split: str, record: Record) -> bool:
        """Says whether a tile is, byte for byte, what its files give; of others it is not known."""
        return split in self.digests and self.digests[split].get(record.id) == _digest(record)

    def record(self, split: str, record_id: str) -> Record | None:
        """Returns the record that an id must have, None if the source has no such id.

        Raises:
          VocSegError: if the id's files cannot be used.
        """
        item = self.splits[split].get(record_id)
        if item is None:
            if error := self.unusable.get(split, {}).get(image_of(record_id) or ""):
                raise error
            return None
        made = try_examples(self.spec, item)
        if isinstance(made, VocSegError):
            raise made
        (example,) = (example for _, example in made if _id(example) == record_id)
        return _as_record(self.features, example)


def _of_tiles(
    originals: Originals, splits: Mapping[str, Iterable[Item]], *, progress: bool
) -> Originals:
    """Cuts each image once, and fills in what is known of its tiles."""
    digested = functools.partial(_digests, originals.features, originals.spec)
    for split, items in splits.items():
        for by_split in (originals.splits, originals.digests, originals.unusable):
            by_split[split] = {}
        made = ordered_map(digested, items, ahead=THREADS)
        bar = tqdm(made, desc=f"source of {split}", unit=" images", disable=not progress)
        for item, tiles in bar:
            if isinstance(tiles, VocSegError):
                originals.unusable[split][item.id] = tiles
            else:
                originals.digests[split] |= tiles
                originals.splits[split] |= dict.fromkeys(tiles, item)
    return originals


def _digests(
    features: tfds.features.FeaturesDict, spec: ExampleSpec, item: Item
) -> dict[str, bytes] | VocSegError:
    made = try_examples(spec, item)
    if isinstance(made, VocSegError):
        return made
    return {_id(example): _digest(_as_record(features, example)) for _, example in made}


def _as_record(features: tfds.features.FeaturesDict, example: Mapping[str, Any]) -> Record:
    image = example[IMAGE]
    shown = stand_in(image)
    record = records.parse(features.serialize_example({**example, IMAGE: shown}))
    if shown is not image:
        record.keep(image)
    return record


def _id(example: Mapping[str, Any]) -> str:
    return image_id(example[FILENAME])


def _digest(record: Record) -> bytes:
    digest = hashlib.sha256()
    for name in sorted(record.features):
        value = record.features[name].SerializeToString(deterministic=True)
        digest.update(f"{name} {len(value)} ".encode() + value)
    return digest.digest()


@dataclasses.dataclass
class _OnlyFolder:
    """A `Fetcher` that has a folder, and neither downloads nor unpacks anything."""

    manual_dir: epath.Path
    verified: list[Verified] = dataclasses.field(default_factory=list)

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
    builder: tfds.core.DatasetBuilder,
    root: PathLike,
    config: VocSegConfig | None = None,
    *,
    progress: bool = False,
) -> Originals:
    """Finds the files of each split in an unpacked tree.

    Args:
      builder: of a built dataset.
      root: what its `--manual_dir` was.
      config: the config that it was built with, if its metadata does not hold it.
      progress: whether to show bars on standard error, for tiles.

    Returns:
      The source. Only the files that decide what masks mean have been read; all files, if
      the dataset holds tiles.

    Raises:
      ConfigError: if the folder is not there, or has other splits than the dataset.
      VocSegError: if the folder cannot be a source.
    """
    folder = epath.Path(root).expanduser()
    source = open_folder(builder, folder, config)
    if set(source.splits) != set(builder.info.splits):
        raise ConfigError(
            f"--source {folder}",
            found=f"splits {', '.join(source.splits)}",
            expected=f"the dataset's splits {', '.join(builder.info.splits)}",
            remedy="give the config that it was built with, as --config JSON",
        )
    spec = dataclasses.replace(source.spec, decoding="none")  # what is compared is bytes
    if spec.tiling is not None:
        originals = Originals(builder.info.features, spec)
        return _of_tiles(originals, source.splits, progress=progress)
    pairs: Mapping[str, Iterable[Any]] = source.splits  # all of them have file names
    splits = {
        split: {image_id(p.filename): p for p in of_split} for split, of_split in pairs.items()
    }
    return Originals(builder.info.features, spec, splits)


def open_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, config: VocSegConfig | None = None
) -> Source:
    """Returns what a build of a dataset would read in an unpacked folder now.

    Args:
      builder: of the dataset.
      folder: the folder.
      config: the config that it was built with, if its metadata does not hold it.

    Raises:
      ConfigError: if the folder is not there.
      VocSegError: if the folder cannot be a source.
    """
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
    rule = rule_of_rows(rows, class_names(builder)) if rows and config is None else None
    return open_source(config or _config(builder), _OnlyFolder(folder), rule)


def read_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, *, progress: bool = False
) -> Iterator[tuple[str, str, list[Record] | VocSegError]]:
    """Yields what a build of a dataset would make of an unpacked folder now.

    Args:
      builder: of the dataset.
      folder: the folder.
      progress: whether to show progress bars on standard error.

    Yields:
      Split, image id, and its records: one, or one per tile. Files that cannot be used give the
      error in place of records.

    Raises:
      VocSegError: as `open_folder` does.
    """
    source = open_folder(builder, folder)
    spec = dataclasses.replace(source.spec, decoding="none")  # what is compared is bytes

    def read(item: Any) -> list[Record] | VocSegError:
        made = try_examples(spec, item)
        if isinstance(made, VocSegError):
            return made
        return [_as_record(builder.info.features, example) for _, example in made]

    splits: Mapping[str, Sequence[Any]] = source.splits  # all of them have file names
    for split, items in splits.items():
        bar = tqdm(total=len(items), desc=split, unit=" images", disable=not progress, leave=False)
        with bar:
            for item, made in ordered_map(read, items):
                bar.update()
                yield split, image_id(item.filename), made


def _config(builder: tfds.core.DatasetBuilder) -> VocSegConfig:
    """Returns the config that the dataset says it was built with.

    Its metadata never says that the tree came with the package, so `sample` as well is read
    from the folder that is given.
    """
    fields = config_of(builder)
    if not fields:
        raise ConfigError(
            builder.info.full_name,
            found="no config in its metadata",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy="give the config that it was built with, as --config JSON",
        )
    if old := [field for field in fields if field in field_types.GONE]:
        raise ConfigError(
            builder.info.full_name,
            found=f"a config with {old[0]}, which is gone",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy="build it again from its source, or verify it without --source",
        )
    return VocSegConfig(**fields)
