"""The files that a built dataset was made from, found again to be compared with it."""

from collections.abc import Mapping
import dataclasses

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord import sources
from voc_seg_tfrecord.audit import records
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.examples.make import ExampleSpec, make_example
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.formats.id_lists import image_id


@dataclasses.dataclass(frozen=True)
class Originals:
    """A dataset's source.

    Attributes:
      features: the dataset's, which make records of examples.
      spec: what examples hold.
      splits: by split and id: what has `read()`.
    """

    features: tfds.features.FeaturesDict
    spec: ExampleSpec
    splits: Mapping[str, Mapping[str, Item]]

    def record(self, split: str, wanted: str) -> records.Record | None:
        """Returns the record that an id has to have, None where the source has no such id.

        Raises:
          VocSegError: if the id's files cannot be used.
        """
        pair = self.splits[split].get(wanted)
        if pair is None:
            return None
        example = make_example(pair.read(), self.spec)
        return records.parse(self.features.serialize_example(example))


class _OnlyFolder:
    """Stands for TFDS's download manager where nothing is to be downloaded or unpacked."""

    def __init__(self, folder: epath.Path):
        self.manual_dir = folder

    def extract(self, path: epath.Path) -> epath.Path:
        raise ConfigError(
            path,
            found="an archive",
            expected="an unpacked tree",
            remedy="unpack it, or give the folder that TFDS unpacked it into",
        )

    def download(self, url: str) -> epath.Path:
        raise ConfigError(
            f"--source {self.manual_dir}",
            found=f"neither the release's tree nor its archive, which would be {url}",
            expected="the unpacked tree that the dataset was built from",
        )

    def _get_checksum_dl_result(self, resource: object) -> object:
        return resource  # so that no address is asked before `download` refuses


def find(
    builder: tfds.core.DatasetBuilder, folder: epath.PathLike, config: VocSegConfig | None = None
) -> Originals:
    """Finds the files of each split in an unpacked tree.

    Args:
      builder: of a built dataset.
      folder: what its `--manual_dir` was.
      config: the config that it was built with, if its metadata does not hold it.

    Returns:
      The source; none of its files have been read but those that tell what masks mean.

    Raises:
      ConfigError: if the folder is not there, or has other splits than the dataset.
      VocSegError: if the folder cannot be a source.
    """
    folder = epath.Path(folder).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"--source {folder}", found="no such folder", expected="a VOC tree")
    source = sources.open_source(config or _config(builder), _OnlyFolder(folder))
    if set(source.splits) != set(builder.info.splits):
        raise ConfigError(
            f"--source {folder}",
            found=f"splits {', '.join(source.splits)}",
            expected=f"the dataset's splits {', '.join(builder.info.splits)}",
            remedy="give the config that it was built with: --config JSON",
        )
    splits = {
        split: {image_id(pair.filename): pair for pair in pairs}
        for split, pairs in source.splits.items()
    }
    return Originals(builder.info.features, source.spec, splits)


def _config(builder: tfds.core.DatasetBuilder) -> VocSegConfig:
    """Returns the config that the dataset says it was built with, under a name of its own.

    Under `sample` the source would be the package's own tree, whatever folder is given.
    """
    said = (builder.info.metadata or {}).get("config")
    if said is None:
        raise ConfigError(
            builder.info.full_name,
            found="no config in its metadata",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy="give the config that it was built with: --config JSON",
        )
    return VocSegConfig(**{**said, "name": "source"})
