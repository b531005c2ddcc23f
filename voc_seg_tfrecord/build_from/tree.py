"""From a source, or a folder that some tool exported, to a built dataset, in one call."""

from collections.abc import Sequence
import dataclasses
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.build_from.run import build_source, check_name, spelled_out
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import BACKGROUND_NAMES
from voc_seg_tfrecord.own_data.plan import Plan, find_class_file, make_plan, open_tree
from voc_seg_tfrecord.trees.tree import VocTree

NO_CLASS_NAMES = "no class names"
"""The kind of the error of a tree without them."""


def find_config(root: epath.PathLike, *, name: str, **said: Any) -> tuple[VocSegConfig, Plan]:
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
    plan = make_plan(tree, config)
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
    tree = open_tree(root, config)
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


def _names_in(tree: VocTree, config: VocSegConfig) -> list[str]:
    class_file = find_class_file(tree)
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
