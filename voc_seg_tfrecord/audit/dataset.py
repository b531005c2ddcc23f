"""Datasets that are built already, found as TFDS names them or by their folder."""

import argparse
from collections.abc import Sequence

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import read_only_builder

from voc_seg_tfrecord.errors import ConfigError


def add_arguments(parser: argparse.ArgumentParser, *names: str) -> None:
    """Adds positional arguments that name built datasets, and `--data_dir`."""
    for name in names:
        parser.add_argument(
            name,
            metavar=name.upper(),
            help="a built dataset: voc_seg_tfrecord/CONFIG, or the path of its version folder",
        )
    parser.add_argument(
        "--data_dir", help="where datasets are, as everywhere in TFDS (~/tensorflow_datasets)"
    )


def open_built(name: str, data_dir: epath.PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Opens a built dataset. Neither its config nor its source is needed.

    Args:
      name: such as `voc_seg_tfrecord/2012`, with a version or without, or the path of a
        version folder.
      data_dir: where datasets are; TFDS's default if not given.

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
            found=f"no such dataset in {place}, nor a version folder of that path",
            expected="a built dataset such as voc_seg_tfrecord/2012",
            remedy="build it with `tfds build`, or say where it is with --data_dir",
        ) from None


def split_name(name: str) -> tuple[str, list[str]]:
    """Divides `DATASET@SPLIT` into the dataset's name and its splits; `+` joins several."""
    dataset, at, splits = name.partition("@")
    return dataset, splits.split("+") if at else []


def check_splits(builder: tfds.core.DatasetBuilder, wanted: Sequence[str]) -> list[str]:
    """Returns the wanted splits, all where none is named.

    Raises:
      ConfigError: naming one that the dataset does not have.
    """
    for split in wanted:
        if split not in builder.info.splits:
            raise ConfigError(
                f"{builder.info.full_name}@{split}",
                found="no such split",
                expected=f"one of {', '.join(builder.info.splits)}",
            )
    return list(wanted or builder.info.splits)
