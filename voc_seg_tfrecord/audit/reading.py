"""What TFDS's own ways to read a dataset get wrong, or do not say."""

import os
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.storage import is_bucket

_FORMAT = tfds.core.FileFormat


class PaddedWithBackground(UserWarning):
    """Masks of different sizes are padded with 0 in a batch, and 0 is background."""


def warn_of_padding(config: VocSegConfig, batch_size: int) -> None:
    """Warns of batches of TFDS's, in which masks of different sizes are padded with 0.

    Tiles have one size, and a batch of one example is not padded.
    """
    if batch_size == 1 or config.tiling or config.task != "segmentation":
        return
    warnings.warn(
        f"batch_size={batch_size} pads masks with 0, which is background, where sizes in a batch "
        "differ, and images with black. Read without it, and make batches with "
        "voc_seg_tfrecord.pipeline: padded_batch pads masks with 255, which is void; "
        "training_batches makes crops of one size",
        PaddedWithBackground,
        stacklevel=3,
    )


def has_random_access(info: tfds.core.DatasetInfo) -> bool:
    """Says whether the format that a dataset was built in has random access."""
    return info.file_format in _FORMAT.with_random_access()


def choose_format(builder: tfds.core.DatasetBuilder, file_format: str | _FORMAT) -> None:
    """Sets the format of a dataset that is not built yet, and looks for that of one that is.

    `tfds.data_source` asks for array_record, whatever the dataset was built in.

    Args:
      builder: a builder that was opened without a format.
      file_format: the format that is asked for.

    Raises:
      ConfigError: if the dataset is built, and not in this format.
    """
    wanted = _FORMAT.from_value(file_format)
    if not (builder.data_path / "dataset_info.json").exists():
        builder.info.set_file_format(wanted, override=True)
    elif wanted != builder.info.file_format:
        _with_one_of({wanted}, builder.data_path)


def converted(folder: epath.Path) -> tfds.core.DatasetBuilder:
    """Opens a dataset to which `tfds convert_format` has added files with random access.

    TFDS looks for them only if it does not know the class of the builder.

    Args:
      folder: the dataset's version folder.

    Raises:
      ConfigError: if it has no such files.
    """
    return _with_one_of(set(_FORMAT.with_random_access()), folder)


def _with_one_of(formats: set[_FORMAT], folder: epath.Path) -> tfds.core.DatasetBuilder:
    builder = tfds.builder_from_directory(folder)
    if builder.info.available_file_formats() & formats:
        return builder
    found = builder.info.file_format
    random_access = formats <= set(_FORMAT.with_random_access())
    wanted = "array_record" if random_access else " or ".join(sorted(f.value for f in formats))
    place = folder if is_bucket(folder) else os.path.abspath(folder)  # noqa: PTH100
    raise ConfigError(
        folder,
        found=f"records in the format {found.value}"
        + (", which has no random access" if found not in _FORMAT.with_random_access() else ""),
        expected=f"the format {wanted}",
        remedy="add it beside the records that are there: tfds convert_format "
        f"--dataset_version_dir {place} --out_file_format {wanted}",
    )
