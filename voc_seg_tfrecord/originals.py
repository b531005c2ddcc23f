"""The files that a built dataset was made from, found again to be compared with it."""

from collections.abc import Mapping
import dataclasses
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord import records, sources
from voc_seg_tfrecord.configs import BUILDER_CONFIGS, VOC_SPLITS, VocSegConfig
from voc_seg_tfrecord.errors import ConfigError, LayoutError, ListError
from voc_seg_tfrecord.examples import ExampleSpec, make_example
from voc_seg_tfrecord.layout import Pair


@dataclasses.dataclass(frozen=True)
class _Folder:
    """Stands for TFDS's download manager where nothing may be downloaded or unpacked."""

    manual_dir: epath.Path

    def extract(self, path: epath.Path) -> epath.Path:
        raise ConfigError(
            path,
            found="an archive",
            expected="an unpacked tree",
            remedy="unpack it, or give the folder that TFDS unpacked it into",
        )


def find(
    builder: tfds.core.DatasetBuilder, folder: epath.PathLike, lists: Mapping[str, str]
) -> dict[str, dict[str, Pair]]:
    """Finds the pairs of each split in an unpacked tree; no image or mask is opened.

    Args:
      builder: of a built dataset.
      folder: what its `--manual_dir` was.
      lists: names of the lists of splits that have another than VOC's.

    Returns:
      By split and id: that which has `.id` and `.read()`.

    Raises:
      ConfigError: if the folder has no list for a split.
      LayoutError: if the folder has no tree, or files are missing.
    """
    folder = epath.Path(folder).expanduser()
    if not folder.is_dir():
        raise ConfigError(f"--source {folder}", found="no such folder", expected="a VOC tree")
    config = _config(builder, lists)
    found = {}
    for split, listed in sources.find_splits(config, _Folder(folder)).items():
        if split in builder.info.splits:
            pairs = listed.tree.pairs(
                split,
                _ids(split, listed),
                instances=config.instance_mask,
                annotations=config.objects,
            )
            found[split] = {pair.id: pair for pair in pairs}
    return found


def encode(builder: tfds.core.DatasetBuilder, pair: Pair) -> records.Record:
    """Returns the record that a pair has to become in this dataset.

    Raises:
      VocSegError: if the pair's files cannot be used.
    """
    features = builder.info.features
    spec = ExampleSpec(
        records.class_names(builder), "instance_mask" in features, "objects" in features
    )
    return records.parse(features.serialize_example(make_example(pair.read(), spec)))


def _config(builder: tfds.core.DatasetBuilder, lists: Mapping[str, str]) -> VocSegConfig:
    """Returns the config that finds the dataset's pairs in any tree of its kind."""
    features, name = builder.info.features, builder.info.config_name
    official = next((config for config in BUILDER_CONFIGS if config.name == name), None)
    return VocSegConfig(
        name="source",
        release=official.release if official else "",
        strict=False,
        class_names=records.class_names(builder),
        splits={s: lists.get(s, VOC_SPLITS.get(s, s)) for s in builder.info.splits},
        instance_mask="instance_mask" in features,
        objects="objects" in features,
    )


def _ids(split: str, listed: Any) -> list[str]:
    try:
        return listed.read_ids()
    except ListError:
        raise
    except LayoutError as error:
        raise ConfigError(
            error.where,
            found=error.found,
            expected=f"the list of split {split!r}",
            remedy=f"name the list that the split was built from: --list {split}=NAME",
        ) from None
