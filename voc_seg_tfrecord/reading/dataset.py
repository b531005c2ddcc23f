"""Opens built datasets, and finds the splits of one that are named."""

from collections.abc import Sequence
import operator
import os
from typing import TypeAlias
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    ListError,
    counted,
    did_you_mean,
    join_names,
    raise_if_out_of_memory,
)
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.reading import dataset_files, metadata
from voc_seg_tfrecord.reading.chosen_ids import read_ids_option
from voc_seg_tfrecord.reading.dataset_files import INFO, METADATA
from voc_seg_tfrecord.reading.fields import FEATURES
from voc_seg_tfrecord.reading.find import find_dataset, split_name
from voc_seg_tfrecord.reading.records import ListedSplit, scan
from voc_seg_tfrecord.reading.trust import check_description, damaged

BuiltDataset: TypeAlias = tfds.core.DatasetBuilder | PathLike
"""A built dataset as users name one: its builder, its name as in TFDS, or its folder's path."""


def as_builder(dataset: BuiltDataset, data_dir: PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Returns the builder of a built dataset.

    Args:
      dataset: a builder, which is returned as it is; a name, such as `voc_seg_tfrecord/2012`; or
        the path of a version folder.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.

    Raises:
      ConfigError: if there is no such dataset.
      RecordError: if the files that describe it are damaged.
    """
    if isinstance(dataset, str | os.PathLike):
        return open_built(os.fspath(dataset), data_dir)
    if not isinstance(dataset, tfds.core.DatasetBuilder):
        raise ConfigError(
            "dataset",
            found=f"a {type(dataset).__name__}",
            expected="the name of a dataset, its folder, or a builder of TFDS",
            remedy="give the name, such as voc_seg_tfrecord/2012, and the split as split=",
        )
    return dataset


def open_built(name: str, data_dir: PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Opens a built dataset. Its config and its source are not needed.

    Args:
      name: such as `voc_seg_tfrecord/2012` or `2012`, with or without a version, or the path of
        a version folder; see `find`.
      data_dir: the folder of all datasets; by default TFDS's.

    Returns:
      A builder that can only read.

    Raises:
      ConfigError: if there is no such dataset, or if the name stands for two.
      RecordError: if the files that describe it are damaged.
    """
    folder = find_dataset(name, data_dir)
    dataset_files.check_sums(folder)
    check_description(folder)
    try:
        builder = _open_folder(folder)
        shards = []
        for split in builder.info.splits:
            shards += [path.name for path in shard_paths(builder, split)]
    except Exception as error:  # TFDS lets out whatever its parsers raise
        raise_if_out_of_memory(error, folder)
        if storage.is_lack_of_threads(error):
            raise
        raise damaged(folder, error) from None
    names = [path.name for path in folder.iterdir() if path.name.endswith(".labels.txt")]
    dataset_files.check_listed(folder, [INFO, FEATURES, *names, *shards])
    return builder


def _open_folder(folder: epath.Path) -> tfds.core.DatasetBuilder:
    """Opens a version folder by TFDS."""
    with warnings.catch_warnings():
        # With PYTHONWARNINGS=error a warning of TFDS would be an error of the dataset's.
        warnings.simplefilter("ignore")
        builder = tfds.builder_from_directory(folder)
    if not builder.info.splits:
        raise ValueError("no splits")
    metadata.check_readable(builder)
    _check_names(builder)
    return builder


def open_splits(
    name: str, data_dir: PathLike | None = None, ids: PathLike | None = None
) -> tuple[tfds.core.DatasetBuilder, list[str | ListedSplit]]:
    """Opens what `DATASET`, `DATASET@SPLIT` or `DATASET@SPLIT+SPLIT` names; see `open_built`.

    Returns:
      The builder, and the splits that are named; with a list of ids what `check_splits` returns,
      which raises errors too.
    """
    dataset, splits = split_name(name)
    builder = open_built(dataset, data_dir)
    return builder, check_splits(builder, splits, ids) if splits or ids else []


def _check_names(builder: tfds.core.DatasetBuilder) -> None:
    """Checks that all files with the names of classes agree, as SHA256SUMS may be gone."""
    names_by_feature = dataset_files.names_of_classes(builder)
    names_by_source = dict(names_by_feature)
    in_metadata = (builder.info.metadata or {}).get("class_names")
    if in_metadata is not None:
        names_by_source = {METADATA: in_metadata, **names_by_feature}
    for source, expected in names_by_source.items():
        for feature, names in names_by_feature.items():
            if names != expected:
                raise ValueError(f"the class names of {feature} are not those of {source}")


def shard_paths(builder: tfds.core.DatasetBuilder, split: str) -> list[epath.Path]:
    """Returns the files with the records of a split. A shard without records may be missing."""
    info = builder.info.splits[split]
    lengths = zip(info.filepaths, info.shard_lengths, strict=True)
    return [path for path, length in lengths if length]


def check_splits(
    builder: tfds.core.DatasetBuilder, wanted: Sequence[str], ids: PathLike | None = None
) -> list[str | ListedSplit]:
    """Returns the splits that names and a file of ids stand for.

    | `wanted` | `ids` | result |
    |---|---|---|
    | nothing | None | all splits |
    | `train`, `val` | None | `train`, `val` |
    | `seg11valid`, a list of `core.named_lists` | None | one `ListedSplit`, out of all splits |
    | `train`, `val` | `some.txt` | one `ListedSplit`, out of `train` and `val` |
    | nothing | `some.txt` | one `ListedSplit`, out of all splits |

    Args:
      builder: the dataset.
      wanted: names of splits, or of one list; results of an earlier call too.
      ids: a file of ids; see `read_ids_option`.

    Raises:
      ConfigError: naming the first split that the dataset does not have; or if a list is named
        beside something else, or `ids` is a slice of another form than `FILE[:N]`.
      ListError: if the file of ids is not there, or is no list.
    """
    for name in wanted:
        # A `ListedSplit`, which is a `str` too, comes from an earlier call and is resolved already.
        if isinstance(name, ListedSplit) or name in builder.info.splits:
            continue
        _check_list_alone(builder, name, wanted, ids)
        return [ListedSplit(name, tuple(builder.info.splits), list_ids(name))]
    splits = list(wanted or builder.info.splits)
    if ids is None:
        return splits
    return [ListedSplit(epath.Path(ids).name, splits, read_ids_option(ids))]


def _check_list_alone(
    builder: tfds.core.DatasetBuilder, name: str, wanted: Sequence[str], ids: PathLike | None
) -> None:
    """Checks that what is no split is a list, and that nothing is wanted beside it."""
    if name not in named_lists():
        known = [*builder.info.splits, *named_lists()]
        raise ConfigError(
            f"{builder.info.full_name}@{name}",
            found=f"no such split{did_you_mean(name, known)}",
            expected=f"{join_names([*builder.info.splits], 'or')}, or a published list",
            remedy=f"name a split that is there, such as {next(iter(builder.info.splits))}",
        )
    if ids or len(wanted) > 1:
        raise ConfigError(
            f"{builder.info.full_name}@{'+'.join(wanted)}",
            found=f"the list {name} together with {'--ids' if ids else 'other names'}",
            expected="splits, or one list of ids",
            remedy="write all ids into one file, and give it with --ids",
        )


def parts_with(builder: tfds.core.DatasetBuilder, ids: PathLike) -> dict[ListedSplit, int]:
    """Returns the parts of splits that a file chooses, and how many examples each has.

    The file has ids, see `read_ids_option`. A tile is chosen by the id of its image.

    Raises:
      ListError: if the file is none, or names what the dataset does not have.
    """
    wanted = set(read_ids_option(ids))
    parts: dict[ListedSplit, int] = {}
    known: set[str] = set()
    for split in builder.info.splits:
        all_ids = scan(builder, split, operator.attrgetter("image_id"))
        # The tiles of an image have its id, which then is here once for each: `len` counts tiles.
        image_ids = [image_id for image_id in all_ids if image_id in wanted]
        if image_ids:
            parts[ListedSplit(split, (split,), image_ids)] = len(image_ids)
            known.update(image_ids)
    unknown = sorted(wanted - known)
    if unknown:
        raise ListError(
            ids,
            found=f"{counted(len(unknown), 'id')} of {len(wanted)} that the dataset does not have: "
            + ", ".join(unknown[:3]),
            expected=f"ids of images of {builder.info.full_name}",
            remedy="correct them, or take them out of the file",
        )
    return parts
