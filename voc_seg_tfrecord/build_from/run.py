"""From a source to a built dataset: the last step of every way to build."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from typing import TypeVar

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.utils import version as tfds_version

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOC_CLASSES
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.configs import BUILDER_CONFIGS, SAMPLE, VocSegConfig, field_types
from voc_seg_tfrecord.examples.make import Item, Source
from voc_seg_tfrecord.splitting.ratios import assign, by_split_name, check_ratios
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

NamedItem = TypeVar("NamedItem", bound=Item)


def build_source(
    source: Source | None,
    config: VocSegConfig,
    *,
    data_dir: PathLike | None = None,
    num_shards: int | None = None,
    overwrite: bool = False,
    manual_dir: PathLike | None = None,
    download_dir: PathLike | None = None,
    workers: int | None = None,
    version: str | None = None,
) -> Builder:
    """Builds a config from a source.

    Args:
      source: the items of each split; None for what the config names, as `tfds build` does it.
      config: the config.
      data_dir: where to write; TFDS's default if not given.
      num_shards: number of shards per split; TFDS chooses by default.
      overwrite: whether to replace a dataset that exists.
      manual_dir: the folder with a release's tree or archive, if there is no source.
      download_dir: where downloads are kept; TFDS's default, below `data_dir`, if not given.
      workers: how many processes make the examples; by default as many as are fastest.
      version: the dataset's version, if the config does not name it; 1.0.0 by default.

    Returns:
      The builder, its dataset built.

    Raises:
      ConfigError: if `data_dir` cannot be written, or a dataset is there and may not be replaced.
      VocSegError: if something is wrong; then nothing was built.
    """
    mode = tfds.download.GenerateMode
    if version is not None:
        config = dataclasses.replace(config, version=version)
    builder = check_free(config, data_dir, overwrite=overwrite)
    staging.check_folder(builder.data_path.parent, "--data_dir")
    builder.source = source
    builder.download_and_prepare(
        workers=workers,
        download_dir=download_dir and epath.Path(download_dir).expanduser(),
        download_config=tfds.download.DownloadConfig(
            manual_dir=manual_dir and epath.Path(manual_dir).expanduser(),
            num_shards=num_shards,
            download_mode=mode.REUSE_CACHE_IF_EXISTS if overwrite else mode.REUSE_DATASET_IF_EXISTS,
        ),
    )
    return builder


def check_free(config: VocSegConfig, data_dir: PathLike | None, *, overwrite: bool) -> Builder:
    """Returns the builder of a build that no dataset is in the way of; see `build_source`.

    `tfds.load` takes the newest version, so a build that names none would not be seen beside it.

    Raises:
      ConfigError: if a dataset is there and may not be replaced, or a newer version is.
    """
    builder = Builder(data_dir=data_dir, config=config)
    config, folder = builder.builder_config, builder.data_path
    # TensorFlow's error about a folder of a bucket that is not there is none that TFDS expects.
    others = tfds_version.list_all_versions(folder.parent) if folder.parent.exists() else []
    newest = max([builder.version, *others])
    hidden = newest > builder.version and config.version is None and not config.release
    if not hidden and (overwrite or not folder.exists()):
        return builder
    remedies = []
    if not config.release and config.name != SAMPLE:
        following = f"{newest.major}.{newest.minor + 1}.0"
        remedies.append(
            f"build the next version with version={following!r} (--version {following})"
        )
    option = f"--version {newest} --overwrite" if hidden else "--overwrite"
    remedies.append(f"replace the dataset with overwrite ({option})")
    raise ConfigError(
        folder.parent / str(newest) if hidden else folder,
        found=f"a newer version, which tfds.load would take in place of the new {builder.version}"
        if hidden
        else "a dataset that exists already",
        expected="a name or version that is not in use",
        remedy=", or ".join([*remedies, "choose another name or another data_dir"]),
    )


def share_out(
    items: Iterable[NamedItem], ratios: Mapping[str, float], seed: int
) -> dict[str, list[NamedItem]]:
    """Assigns items to splits by ratios and a hash of their ids; no split is empty.

    Raises:
      ConfigError: if the ratios are none.
    """
    ratios = by_split_name(ratios, "splits")
    check_ratios(ratios, "splits")
    pool = {item.id: item for item in items}
    shared = assign(pool, ratios, seed)
    return {split: [pool[i] for i in ids] for split, ids in shared.items() if ids}


def spelled_out(class_names: Sequence[str]) -> Sequence[str]:
    """Returns the names themselves; `['voc']` stands for VOC's 21."""
    if isinstance(class_names, str):
        return class_names  # one name, or several with commas: the config refuses it
    return list(VOC_CLASSES if list(class_names) == ["voc"] else class_names)


def check_name(name: str) -> None:
    """Checks that a config may have this name.

    Raises:
      ConfigError: if TFDS does not take it, or a release or the sample has it.
    """
    if not field_types.is_name(name) or name in {c.name for c in BUILDER_CONFIGS}:
        raise ConfigError(
            f"name {name[:100]!r}",
            found="a name that no dataset can have, or that a release or the sample has",
            expected=f"a name of your own: {field_types.NAME}",
            remedy="choose another name",
        )
