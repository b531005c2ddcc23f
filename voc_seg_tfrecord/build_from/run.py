"""From a source, or from arrays in memory, to a built dataset, in one call.

Every call that builds ends in `build_source`.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from typing import Any, TypeVar
import warnings

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core.utils import version as tfds_version

from voc_seg_tfrecord.audit.source_records import has_records_of
from voc_seg_tfrecord.core import config_fields, staging
from voc_seg_tfrecord.core.config import BUILDER_CONFIGS, VocSegConfig
from voc_seg_tfrecord.core.config_fields import SAMPLE
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.core.example import Item, Source, Task
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.ratios import by_split_name, check_ratios
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.splits.by_ratio import assign
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.sources.arrays import array_items, copy_if_refilled, read_255_as_second_class
from voc_seg_tfrecord.tools.layouts import CLASS_NAMES_BY_WORD
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
    may_be_built: bool = False,
) -> Builder:
    """Builds a config from a source.

    Args:
      source: the items of each split; None for what the config names, as `tfds build` does it.
      config: the config.
      data_dir: where to write; TFDS's default if not given.
      num_shards: number of shards per split; TFDS chooses by default.
      overwrite: whether to replace an existing dataset.
      manual_dir: the folder with a release's tree or archive, if there is no source.
      download_dir: where downloads are kept; TFDS's default, below `data_dir`, if not given.
      workers: number of processes that make the examples; by default one for each 3,000 images, at
        most one per core.
      version: the dataset's version, if the config does not name it; 1.0.0 by default.
      may_be_built: whether a dataset that exists is returned if a build would make the same.

    Returns:
      The builder, its dataset built.

    Raises:
      ConfigError: if `data_dir` cannot be written, or a dataset is there and may not be replaced.
      VocSegError: if something is wrong; then nothing was built.
    """
    if version is not None:
        config = dataclasses.replace(config, version=version)
    mode = tfds.download.GenerateMode.REUSE_DATASET_IF_EXISTS
    if overwrite:
        mode = tfds.download.GenerateMode.REUSE_CACHE_IF_EXISTS
    if may_be_built and source is not None and not overwrite:
        built = _find_same_dataset(config, source, data_dir, num_shards)
        if built is not None:
            return built
    builder = check_free(config, data_dir, overwrite=overwrite)
    staging.check_output_folder(builder.data_path.parent, "--data_dir")
    builder.source = source
    builder.download_and_prepare(
        workers=workers,
        download_dir=download_dir and epath.Path(download_dir).expanduser(),
        download_config=tfds.download.DownloadConfig(
            manual_dir=manual_dir and epath.Path(manual_dir).expanduser(),
            num_shards=num_shards,
            download_mode=mode,
        ),
    )
    return builder


def _find_same_dataset(
    config: VocSegConfig, source: Source, data_dir: PathLike | None, num_shards: int | None
) -> Builder | None:
    """Returns the builder of a dataset that exists if a build would make the same; else None.

    It has the config, the records and, if the user gave it, the number of shards.
    """
    builder = Builder(data_dir=data_dir, config=config)
    if not builder.is_prepared():
        return None
    try:
        built = open_built(str(builder.data_path))
        if metadata.config_of(built) != builder.stored_config():
            return None
        splits = built.info.splits.values()
        if num_shards is not None and any(split.num_shards != num_shards for split in splits):
            return None
        return builder if has_records_of(built, source) else None
    except (RecordError, ConfigError):  # another program's, or a damaged one
        return None


def check_free(config: VocSegConfig, data_dir: PathLike | None, *, overwrite: bool) -> Builder:
    """Returns the builder of a build that no dataset is in the way of.

    `tfds.load` takes the newest version, so it would not load what a build writes beside it.

    Raises:
      ConfigError: if a dataset is there and may not be replaced; or if a newer version is there,
        and the config names no version.
    """
    builder = Builder(data_dir=data_dir, config=config)
    folder = builder.data_path
    has_chosen_version = builder.builder_config.version is not None
    # For a missing folder in a bucket, TensorFlow raises an error that TFDS does not expect.
    versions = tfds_version.list_all_versions(folder.parent) if folder.parent.exists() else []
    newest = max([builder.version, *versions])
    if newest > builder.version and not has_chosen_version and not config.release:
        raise ConfigError(
            folder.parent / str(newest),
            found=f"a newer version, which tfds.load would take in place of the new "
            f"{builder.version}",
            remedy=_describe_ways_out(config, newest, f"--version {newest} --overwrite"),
        )
    if folder.exists() and not overwrite:
        raise ConfigError(
            folder,
            found="the dataset exists already",
            remedy=_describe_ways_out(config, newest, "--overwrite"),
        )
    return builder


def _describe_ways_out(config: VocSegConfig, newest: tfds.core.Version, overwrite: str) -> str:
    """Returns what a user can do about a dataset that is in the way.

    Args:
      config: the config.
      newest: the newest version that is there.
      overwrite: the options that replace it.
    """
    ways_out = []
    if not config.release and config.name != SAMPLE:
        next_version = f"{newest.major}.{newest.minor + 1}.0"
        ways_out.append(f"keep it with {command(version=next_version)}")
    ways_out.append(f"replace it with {overwrite}")
    ways_out.append("choose another name or data_dir")
    return ", or ".join(ways_out)


def divide_by_ratio(
    items: Iterable[NamedItem], ratios: Mapping[str, float], seed: int
) -> dict[str, list[NamedItem]]:
    """Assigns items to splits by ratios and a hash of their ids. Splits without items are left out.

    Raises:
      ConfigError: if the ratios are wrong.
    """
    ratios = by_split_name(ratios, "splits")
    check_ratios(ratios, "splits")
    item_by_id = {item.id: item for item in items}
    items_by_split = {}
    for split, ids in assign(item_by_id, ratios, seed).items():
        if ids:
            items_by_split[split] = [item_by_id[item_id] for item_id in ids]
    return items_by_split


def expand_class_names(class_names: Sequence[str]) -> Sequence[str]:
    """Returns the names themselves, or those for which one word stands: `['voc']` for VOC's 21."""
    if isinstance(class_names, str):
        return class_names  # one name, or several with commas: the config refuses it
    names = list(class_names)
    if len(names) == 1 and names[0] in CLASS_NAMES_BY_WORD:
        return list(CLASS_NAMES_BY_WORD[names[0]])
    return names


def names_two_classes(config: VocSegConfig) -> bool:
    """Says whether a config names two classes, of which none means void.

    If one of two names means void, masks without any class are right.
    """
    return len(config.class_names) == len(config.named_classes) == 2


def check_name(name: str) -> None:
    """Checks that TFDS takes a config's name, and that no release and not the sample has it.

    Raises:
      ConfigError: if it cannot be taken.
    """
    if not config_fields.is_name(name):
        raise ConfigError(
            f"name {name[:100]!r}",
            found="a name that no dataset can have",
            expected=config_fields.NAME,
            remedy="choose another name",
        )
    if name in [config.name for config in BUILDER_CONFIGS]:
        raise ConfigError(
            f"name {name!r}",
            found="the name of a release or of the sample",
            expected="a name of your own",
            remedy="choose another name",
        )


def from_arrays(
    images: Iterable[np.ndarray],
    masks: Iterable[np.ndarray] | None = None,
    *,
    labels: Iterable[int] | None = None,
    filenames: Iterable[str] | None = None,
    name: str,
    class_names: Sequence[str],
    splits: Mapping[str, float] | None = None,
    seed: int = 0,
    data_dir: PathLike | None = None,
    **options: Any,
) -> Builder:
    """Builds a dataset from arrays, or returns the dataset that equal arrays made before.

    With one split, each array is written as soon as it comes, so an iterator may give more arrays
    than fit into memory. With ratios, all arrays are held in memory first.

    Args:
      images: uint8 `[H, W]`, `[H, W, 1]` or `[H, W, 3]` each; sizes may differ.
      masks: integers `[H, W]` or `[H, W, 1]` each: class indices, and 255 for void. Masked pixels
        of a masked array are void too. If there are two classes, and 0 and 255 are the only values,
        255 is the second class, as in `build`. Masks of 255 alone are refused.
      labels: the class index of each image, an integer, in place of masks.
      filenames: a name for each image; `00000000.png` and so on by default.
      name: the config's name; the dataset is called `voc_seg_tfrecord/<name>`.
      class_names: the classes in the order of their indices; `['voc']` for VOC's 21. With masks, a
        name such as `void` or `ignore` is not a class: its pixels are void (255).
      splits: the ratio of each split, such as `{'train': 0.8, 'test': 0.2}`. A hash of its name
        assigns each image to a split. By default all images are in `train`.
      seed: seed for assigning images to splits.
      data_dir: where to write; TFDS's default if not given.
      **options: `num_shards`, `overwrite` and `version`, as in `builder_from_tree`.

    Returns:
      The builder of the built dataset.

    Raises:
      VocSegError: if an array has another dtype or shape, a value is not a class, or the numbers of
        images and of masks or labels differ. Also if there are two classes and masks from an
        iterator hold 255 but no 1: the first masks are written before the last one is read, so 255
        may be void or the second class.
    """
    check_name(name)
    if (masks is None) == (labels is None):
        raise ConfigError(
            "from_arrays",
            found="both masks and labels" if masks is not None else "neither masks nor labels",
            expected="one of them",
            remedy="give masks for segmentation, or labels for classification",
        )
    task: Task = "segmentation" if labels is None else "classification"
    # The images are PNGs that this package makes of the arrays.
    config = VocSegConfig(
        name=name,
        class_names=expand_class_names(class_names),
        task=task,
        exif="ignore",
        trust_images=True,
    )
    images = copy_if_refilled(images)
    if masks is not None:
        masks = copy_if_refilled(masks)
    if masks is not None and names_two_classes(config):
        masks_of_two_classes = read_255_as_second_class(masks, config.class_names)
        masks = masks_of_two_classes.masks
        if masks_of_two_classes.was_255_second_class:
            first, second = config.class_names
            warnings.warn(
                f"from_arrays: the masks hold only the values 0 and {VOID}, and there are two "
                f"classes. So 0 is {first} and {VOID} is {second}",
                stacklevel=2,
            )
    items = array_items(images, masks, labels, filenames)
    by_split: dict[str, Any] = {"train": items}
    if splits is not None:
        by_split = divide_by_ratio(items, splits, seed)
    spec = config.example_spec(config.index_rule())
    source = Source(by_split, spec)
    return build_source(source, config, data_dir=data_dir, may_be_built=True, **options)
