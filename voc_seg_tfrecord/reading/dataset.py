"""Opens built datasets, and tells what is known of one without reading its records."""

from collections.abc import Collection, Sequence
import os
from typing import Any, TypeAlias
import warnings

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import dataset_files, storage
from voc_seg_tfrecord.core.chosen_ids import chosen_ids
from voc_seg_tfrecord.core.dataset_files import INFO
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    ListError,
    counted,
    did_you_mean,
)
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.core.names import (
    CHANNELS,
    IMAGE,
    LABEL,
    LABELS,
    MASK,
    SEGMENTATION,
    TILE_IMAGE_ID,
    background_index,
    voc_palette,
)
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.reading import identity
from voc_seg_tfrecord.reading.fields import FEATURES
from voc_seg_tfrecord.reading.find import (
    Part,
    find_dataset,
    split_name,
)
from voc_seg_tfrecord.reading.records import Record, scan
from voc_seg_tfrecord.reading.trust import METADATA, check_description, damaged

BuiltDataset: TypeAlias = tfds.core.DatasetBuilder | PathLike
"""A built dataset as users name one: its builder, its name as in TFDS, or its folder's path."""


def as_builder(dataset: BuiltDataset, data_dir: PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Returns the builder of a built dataset.

    Args:
      dataset: a builder, which is returned as it is; a name, such as `voc_seg_tfrecord/2012`; or
        the path of a version folder.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Raises:
      ConfigError: if there is no such dataset.
      RecordError: if the files that describe it are damaged.
    """
    if isinstance(dataset, str | os.PathLike):
        return open_built(os.fspath(dataset), data_dir)
    return dataset


def open_built(name: str, data_dir: PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Opens a built dataset. Its config and its source are not needed.

    Args:
      name: such as `voc_seg_tfrecord/2012` or `2012`, with or without a version, or the path of
        a version folder; see `find`.
      data_dir: the folder of all datasets; TFDS's default if not given.

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
    _check_names(builder)
    return builder


def open_splits(
    name: str, data_dir: PathLike | None = None, ids: PathLike | None = None
) -> tuple[tfds.core.DatasetBuilder, list[str]]:
    """Opens what `DATASET`, `DATASET@SPLIT` or `DATASET@SPLIT+SPLIT` names; see `open_built`.

    Returns:
      The builder, and the splits that are named; with a list of ids what `check_splits` returns,
      which raises errors too.
    """
    dataset, splits = split_name(name)
    builder = open_built(dataset, data_dir)
    return builder, check_splits(builder, splits, ids) if splits or ids else []


def config_of(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    """Returns the config that a dataset says it was built with; empty if it does not say it."""
    return dict((builder.info.metadata or {}).get("config") or {})


def ids_sha256(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the `id_list_sha256` of each split's image ids, as the build noted it, if it did."""
    splits = (builder.info.metadata or {}).get("splits") or {}
    return {name: of_split["ids_sha256"] for name, of_split in splits.items()}


def _check_names(builder: tfds.core.DatasetBuilder) -> None:
    """Checks that all files with the names of classes agree, as SHA256SUMS may be gone."""
    names_by_feature = identity.names_of_classes(builder)
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
) -> list[str]:
    """Returns the wanted splits, all if none is named; or one `find.Part`.

    If no split has the name, a list of `core.named_lists` stands for the examples of all splits
    whose ids are in it. A file of ids, see `chosen_ids`, selects from the wanted splits.

    Raises:
      ConfigError: naming the first split that the dataset does not have; or if a list is named
        beside something else.
      ListError: if the file of ids is not there, or is no list.
    """
    for name in wanted:
        if name in builder.info.splits or isinstance(name, Part):
            continue
        _check_list_alone(builder, name, wanted, ids)
        return [Part(name, tuple(builder.info.splits), list_ids(name))]
    splits = list(wanted or builder.info.splits)
    if ids is not None:
        path = epath.Path(ids).expanduser()
        return [Part(path.name, splits, _read_ids(path))]
    return splits


def _check_list_alone(
    builder: tfds.core.DatasetBuilder, name: str, wanted: Sequence[str], ids: PathLike | None
) -> None:
    """Checks that what is no split is a list, and that nothing is wanted beside it."""
    if name not in named_lists():
        known = [*builder.info.splits, *named_lists()]
        raise ConfigError(
            f"{builder.info.full_name}@{name}",
            found=f"no such split{did_you_mean(name, known)}",
            expected=f"one of {', '.join(builder.info.splits)}, or a list of papers",
        )
    if ids or len(wanted) > 1:
        raise ConfigError(
            f"{builder.info.full_name}@{'+'.join(wanted)}",
            found=f"the list {name} beside {'--ids' if ids else 'other names'}",
            expected="splits, or one list of ids",
            remedy="write the ids that you want into one file, and give it with --ids",
        )


def _read_ids(path: epath.Path) -> Collection[str]:
    return chosen_ids(File.read(path, ListError).data, path)


def parts_with(builder: tfds.core.DatasetBuilder, ids: PathLike) -> dict[Part, int]:
    """Returns the parts of splits that a file chooses, and how many examples each has.

    The file has ids, see `chosen_ids`. A tile is chosen by the id of its image.

    Raises:
      ListError: if the file is none, or names what the dataset does not have.
    """
    path = epath.Path(ids).expanduser()
    wanted = set(_read_ids(path))
    parts: dict[Part, int] = {}
    known: set[str] = set()
    for split in builder.info.splits:
        image_ids = [image_id for image_id in scan(builder, split, image_of) if image_id in wanted]
        if image_ids:
            parts[Part(split, (split,), image_ids)] = len(image_ids)
            known.update(image_ids)
    unknown = sorted(wanted - known)
    if unknown:
        raise ListError(
            path,
            found=f"{len(unknown)} of {len(wanted)} ids that the dataset does not have: "
            + ", ".join(unknown[:3]),
            expected=f"ids of images of {builder.info.full_name}",
            remedy="correct them, or take them out of the file",
        )
    return parts


def image_of(record: Record) -> str:
    """Returns the id of a record's image; for a tile, that of the complete image."""
    return record.bytes(TILE_IMAGE_ID).decode() or record.id


def check_features(builder: tfds.core.DatasetBuilder, needed: Sequence[str] = SEGMENTATION) -> None:
    """Raises a `ConfigError` that names features that a dataset does not have."""
    lacking = [name for name in needed if name not in builder.info.features]
    if lacking:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(lacking)}",
            expected="a dataset with images and masks that voc_seg_tfrecord built; the images of "
            "a test have no masks",
        )


def bands_of(builder: tfds.core.DatasetBuilder) -> str:
    """Returns the bands of a dataset's images, as in `13 bands of uint16`; empty for 8-bit RGB."""
    if IMAGE not in builder.info.features:
        return ""
    image = builder.info.features[IMAGE]
    band_count = image.shape[-1]
    if band_count == CHANNELS[IMAGE] and image.np_dtype == np.uint8:
        return ""
    return f"{counted(band_count, 'band')} of {np.dtype(image.np_dtype)}"


def check_rgb(builder: tfds.core.DatasetBuilder, what: str, remedy: str) -> None:
    """Raises a `ConfigError` if images are not RGB of 8 bits, where something takes no others."""
    bands = bands_of(builder)
    if bands:
        raise ConfigError(
            builder.info.full_name,
            found=f"images of {bands}",
            expected=f"RGB of 8 bits, which is all that {what} can hold",
            remedy=remedy,
        )


def has_only_images(builder: tfds.core.DatasetBuilder) -> bool:
    """Says whether a dataset has images with neither masks nor labels."""
    return not {MASK, LABEL} & set(builder.info.features)


def background(builder: tfds.core.DatasetBuilder) -> int | None:
    """Returns the index of a built dataset's background class, None where none is known."""
    if MASK not in builder.info.features:
        return None
    # A class map has the name that background got at build; the config may have an older one.
    named_by = (builder.info.metadata or {}).get("class_map") or config_of(builder)
    return background_index(builder.info.features[MASK].names, named_by.get("background", ""))


def palette(builder: tfds.core.DatasetBuilder) -> np.ndarray:
    """Returns the colors of a built dataset's classes, uint8 `[256, 3]`: VOC's or its own."""
    colors = (builder.info.metadata or {}).get("palette")
    return voc_palette() if colors is None else np.array(colors, np.uint8)


def class_map(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the class that each class of the source became at build; empty if none did."""
    changes = (builder.info.metadata or {}).get("class_map") or {}
    return dict(changes.get("to", {}))


def tiling_of(builder: tfds.core.DatasetBuilder) -> Tiling | None:
    """Returns how a built dataset's images were cut, None if it holds complete images.

    Raises:
      ConfigError: if it holds tiles, and its metadata does not say how they were cut.
    """
    if TILE_IMAGE_ID not in builder.info.features:
        return None
    config = config_of(builder)
    if "tile" not in config:
        raise ConfigError(
            builder.info.full_name,
            found="tiles, and no config in the metadata that says how they were cut",
            expected="a dataset that this version of voc_seg_tfrecord built",
            remedy="build it again",
        )
    return Tiling(config["tile"], config.get("tile_overlap", 0))


def class_names(builder: tfds.core.DatasetBuilder) -> tuple[str, ...]:
    """Returns a built dataset's class names, of masks or of images; none for images alone."""
    if has_only_images(builder):
        return ()
    if LABEL in builder.info.features:
        return tuple(builder.info.features[LABEL].names)
    return tuple(builder.info.features[LABELS].feature.names)
