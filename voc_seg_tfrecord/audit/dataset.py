"""Opens built datasets by their TFDS name or by their folder."""

from collections.abc import Sequence

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import read_only_builder

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import LABELS, MASK, SEGMENTATION
from voc_seg_tfrecord.labels import background_index


def open_built(name: str, data_dir: epath.PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Opens a built dataset. Its config and its source are not needed.

    Args:
      name: such as `voc_seg_tfrecord/2012`, with or without a version, or the path of a
        version folder.
      data_dir: the folder of all datasets; TFDS's default if not given.

    Returns:
      A builder that can only read.

    Raises:
      ConfigError: if there is no such dataset.
    """
    folder = epath.Path(name).expanduser()
    if (folder / "dataset_info.json").exists():
        return tfds.builder_from_directory(folder)
    try:
        return read_only_builder.builder_from_files(name, data_dir=data_dir)
    except (tfds.core.DatasetNotFoundError, ValueError):
        place = data_dir or "TFDS's data_dir"
        raise ConfigError(
            name,
            found=f"no such dataset in {place}, and no version folder at this path",
            expected="a built dataset such as voc_seg_tfrecord/2012",
            remedy="build it with `tfds build`, or name your datasets' folder with --data_dir",
        ) from None


def split_name(name: str) -> tuple[str, list[str]]:
    """Divides `DATASET@SPLIT` into the dataset's name and its splits; `+` joins several."""
    dataset, at, splits = name.partition("@")
    return dataset, splits.split("+") if at else []


def check_splits(builder: tfds.core.DatasetBuilder, wanted: Sequence[str]) -> list[str]:
    """Returns the wanted splits; all splits if none is named.

    Raises:
      ConfigError: naming the first split that the dataset does not have.
    """
    for split in wanted:
        if split not in builder.info.splits:
            raise ConfigError(
                f"{builder.info.full_name}@{split}",
                found="no such split",
                expected=f"one of {', '.join(builder.info.splits)}",
            )
    return list(wanted or builder.info.splits)


def check_features(builder: tfds.core.DatasetBuilder, needed: Sequence[str] = SEGMENTATION) -> None:
    """Checks that a dataset has this package's features.

    Raises:
      ConfigError: naming the missing features.
    """
    lacking = [name for name in needed if name not in builder.info.features]
    if lacking:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(lacking)}",
            expected="a dataset that voc_seg_tfrecord built",
        )


def background(builder: tfds.core.DatasetBuilder) -> int | None:
    """Returns the index of a built dataset's background class, None where none is known."""
    config = (builder.info.metadata or {}).get("config") or {}
    return background_index(builder.info.features[MASK].names, config.get("background", ""))


def class_names(builder: tfds.core.DatasetBuilder) -> tuple[str, ...]:
    """Returns a built dataset's class names, in mask order."""
    return tuple(builder.info.features[LABELS].feature.names)
