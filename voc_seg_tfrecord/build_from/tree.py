"""From a source, or a folder that some tool exported, to a built dataset, in one call."""

from collections.abc import Sequence
import dataclasses
import re
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import BUILDER_CONFIGS, VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import BACKGROUND_NAMES, VOC_CLASSES
from voc_seg_tfrecord.own_data import plan as own_data
from voc_seg_tfrecord.sources import Source
from voc_seg_tfrecord.trees.tree import VocTree

NO_CLASS_NAMES = "no class names"
"""The kind of the error of a tree without them."""


def find_config(
    root: epath.PathLike, *, name: str, **said: Any
) -> tuple[VocSegConfig, own_data.Plan]:
    """Finds out all about a tree that its config has to say.

    Args:
      root: the folder that a tool exported, or one above it.
      name: the config's name.
      **said: see `find_config_of`.

    Returns:
      The config, which needs nothing more to be found out, and the plan it came from.

    Raises:
      VocSegError: if something is missing, or cannot be told.
    """
    tree, config = find_config_of(root, name=name, **said)
    plan = own_data.plan(tree, config)
    if config.values is None:
        config = dataclasses.replace(config, masks_by=plan.decision.by)
    return config, plan


def find_config_of(
    root: epath.PathLike,
    *,
    name: str,
    class_names: Sequence[str] | None = None,
    background_first: bool = False,
    images: str | None = None,
    masks: str | None = None,
    missing_mask: str = "skip",
    **fields: Any,
) -> tuple[VocTree, VocSegConfig]:
    """Finds a tree and its class names.

    Args:
      root: the folder that a tool exported, or one above it.
      name: the config's name.
      class_names: names in mask order; found in the tree's class file by default.
        `['voc']` means VOC's 21.
      background_first: whether background becomes class 0.
      images: the folder of images, if it has a name that is not known.
      masks: the folder of masks, likewise.
      missing_mask: what a listed image without a mask is; left out by default.
      **fields: other fields of `VocSegConfig`.

    Returns:
      The tree, and the config with what was said and the class names.

    Raises:
      VocSegError: if there is no tree, or no class names.
    """
    check_name(name)
    folders = {"images": images, "masks": masks}
    layout = {key: value for key, value in folders.items() if value is not None} or None
    fields |= {"layout": layout, "missing_mask": missing_mask}
    config = VocSegConfig(name=name, **fields)
    tree = own_data.open_tree(root, config)
    names = spelled_out(class_names) if class_names else _names_in(tree, config)
    if background_first:
        names.sort(key=lambda n: n not in BACKGROUND_NAMES)
    return tree, dataclasses.replace(config, class_names=names)


def builder_from_tree(
    root: epath.PathLike,
    *,
    name: str | None = None,
    config: VocSegConfig | None = None,
    data_dir: epath.PathLike | None = None,
    file_format: str | None = None,
    num_shards: int | None = None,
    overwrite: bool = False,
    **fields: Any,
) -> tfds.core.DatasetBuilder:
    """Builds a dataset from a folder in the VOC layout, of whatever tool.

    Args:
      root: the folder.
      name: the config's name: the dataset is `voc_seg_tfrecord/<name>`.
      config: what `find_config` returned, in place of `name` and `fields`.
      data_dir: where to write; TFDS's default if not given.
      file_format: `tfrecord` by default, or another of TFDS's.
      num_shards: shards a split; TFDS chooses by default.
      overwrite: whether to build anew what is there.
      **fields: see `find_config_of`.

    Returns:
      The builder of the dataset, built: `builder.as_dataset(split='train')` reads it.

    Raises:
      VocSegError: if the tree or the call is wrong; then nothing was built.
    """
    if config is None:
        if name is None:
            raise ConfigError("builder_from_tree", found="no name", expected="name='cracks'")
        config, _ = find_config(root, name=name, **fields)
    return build_source(
        None,
        config,
        manual_dir=epath.Path(root).expanduser(),
        data_dir=data_dir,
        file_format=file_format,
        num_shards=num_shards,
        overwrite=overwrite,
    )


def build_source(
    source: Source | None,
    config: VocSegConfig,
    *,
    manual_dir: epath.PathLike | None = None,
    data_dir: epath.PathLike | None = None,
    file_format: str | None = None,
    num_shards: int | None = None,
    overwrite: bool = False,
) -> tfds.core.DatasetBuilder:
    """Builds a config from a source; if none is given, from what `manual_dir` holds.

    Args:
      source: the items of each split.
      config: the config.
      manual_dir: the tree, where there is no source.
      data_dir: where to write; TFDS's default if not given.
      file_format: `tfrecord` by default, or another of TFDS's.
      num_shards: shards a split; TFDS chooses by default.
      overwrite: whether to build anew what is there.

    Returns:
      The builder, its dataset built.

    Raises:
      VocSegError: if something is wrong; then nothing was built.
    """
    from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

    mode = tfds.download.GenerateMode
    builder = Builder(data_dir=data_dir, config=config)
    if builder.data_path.exists() and not overwrite:
        raise ConfigError(
            builder.data_path,
            found="a dataset that is there already",
            expected="a name that is free",
            remedy="build it anew with overwrite (--overwrite), or choose another name",
        )
    builder.source = source
    builder.download_and_prepare(
        file_format=file_format,
        download_config=tfds.download.DownloadConfig(
            manual_dir=manual_dir,
            num_shards=num_shards,
            download_mode=mode.REUSE_CACHE_IF_EXISTS if overwrite else mode.REUSE_DATASET_IF_EXISTS,
        ),
    )
    return builder


def spelled_out(class_names: Sequence[str]) -> list[str]:
    """Returns the names themselves; `['voc']` stands for VOC's 21."""
    return list(VOC_CLASSES if list(class_names) == ["voc"] else class_names)


def check_name(name: str) -> None:
    """Checks that a config may have this name.

    Raises:
      ConfigError: if TFDS cannot take it, or a release or the sample has it.
    """
    if not re.fullmatch(r"[\w.-]+", name) or name in {c.name for c in BUILDER_CONFIGS}:
        raise ConfigError(
            f"name {name!r}",
            found="a name that TFDS cannot take, or that a release or the sample has",
            expected="letters, digits, _, - and .",
            remedy="choose another name",
        )


def _names_in(tree: VocTree, config: VocSegConfig) -> list[str]:
    class_file = own_data.find_class_file(tree)
    if class_file is None:
        raise ConfigError(
            tree.root,
            found="no class names: no labelmap.txt, dataset_meta.json, class_names.txt, "
            "colors.txt or _classes.csv",
            expected="the names of the classes, in the order of the masks' values",
            remedy="give them with --class_names background,crack; VOC's 21 with --class_names voc",
            kind=NO_CLASS_NAMES,
        )
    return list(class_file.class_names(config.void))
