"""What TFDS's own ways to read a dataset get wrong, or do not say."""

import os
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError

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


def converted(folder: epath.Path) -> tfds.core.DatasetBuilder:
    """Opens a dataset to which `tfds convert_format` has added files with random access.

    TFDS looks for them only if it does not know the class of the builder.

    Args:
      folder: the dataset's version folder.

    Raises:
      ConfigError: if it has no such files.
    """
    builder = tfds.builder_from_directory(folder)
    available = builder.info.available_file_formats()
    if available & set(_FORMAT.with_random_access()):
        return builder
    place = folder if "://" in os.fspath(folder) else os.path.abspath(folder)  # noqa: PTH100
    raise ConfigError(
        folder,
        found=f"records in the format {builder.info.file_format.value}, which has no random access",
        expected="array_record, which tfds.data_source reads",
        remedy="add it beside the records that are there: tfds convert_format "
        f"--dataset_version_dir {place} --out_file_format array_record",
    )
