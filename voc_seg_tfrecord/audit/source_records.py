"""Finds the files that a built dataset was made from, to compare them with its records."""

from collections.abc import Mapping
import dataclasses

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.audit.tile_sources import TileOriginals
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.examples.make import ExampleSpec, make_example
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.official.archives import Verified
from voc_seg_tfrecord.storage import PathLike


@dataclasses.dataclass(frozen=True)
class Originals:
    """A dataset's source.

    Attributes:
      features: the dataset's features, which turn examples into records.
      spec: what examples hold.
      splits: the items of the source, by split and id.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: Mapping[str, Mapping[str, Item]]

    def agrees(self, split: str, record: records.Record) -> bool:
        """Says whether a record is known to be what its files give without looking at them."""
        del split, record
        return False

    def record(self, split: str, wanted: str) -> records.Record | None:
        """Returns the record that an id must have, None if the source has no such id.

        Raises:
          VocSegError: if the id's files cannot be used.
        """
        pair = self.splits[split].get(wanted)
        if pair is None:
            return None
        example = make_example(pair.read(), self.spec)
        return records.parse(self.features.serialize_example(example))


@dataclasses.dataclass(frozen=True)
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


def find(
    builder: tfds.core.DatasetBuilder,
    folder: PathLike,
    config: VocSegConfig | None = None,
    *,
    progress: bool = False,
) -> Originals | TileOriginals:
    """Finds the files of each split in an unpacked tree.

    Args:
      builder: of a built dataset.
      folder: what its `--manual_dir` was.
      config: the config that it was built with, if its metadata does not hold it.
      progress: whether to show bars on standard error, for tiles.

    Returns:
      The source. Only the files that tell what masks mean have been read; all files, if the
      dataset holds tiles.

    Raises:
      ConfigError: if the folder is not there, or has other splits than the dataset.
      VocSegError: if the folder cannot be a source.
    """
    folder = epath.Path(folder).expanduser()
    if not folder.is_dir():
        raise ConfigError(
            f"--source {folder}",
            found="no such folder",
            expected="a VOC tree",
            remedy="give the folder that was the dataset's --manual_dir",
        )
    from voc_seg_tfrecord import sources  # most who look at records have no source to look at

    source = sources.open_source(config or _config(builder), _OnlyFolder(folder))
    if set(source.splits) != set(builder.info.splits):
        raise ConfigError(
            f"--source {folder}",
            found=f"splits {', '.join(source.splits)}",
            expected=f"the dataset's splits {', '.join(builder.info.splits)}",
            remedy="give the config that it was built with, as --config JSON",
        )
    if source.spec.tiling is not None:
        return TileOriginals.of(
            builder.info.features, source.spec, source.splits, progress=progress
        )
    splits = {
        split: {image_id(pair.filename): pair for pair in pairs}
        for split, pairs in source.splits.items()
    }
    spec = dataclasses.replace(source.spec, decoding="none")  # what is compared is bytes
    return Originals(builder.info.features, spec, splits)


def _config(builder: tfds.core.DatasetBuilder) -> VocSegConfig:
    """Returns the config that the dataset says it was built with.

    Its metadata never says that the tree came with the package, so `sample` as well is read
    from the folder that is given.
    """
    said = (builder.info.metadata or {}).get("config")
    if said is None:
        raise ConfigError(
            builder.info.full_name,
            found="no config in its metadata",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy="give the config that it was built with, as --config JSON",
        )
    return VocSegConfig(**said)
