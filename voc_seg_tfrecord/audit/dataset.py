"""Opens built datasets, and says what is known of them."""

from collections.abc import Sequence

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord import sums
from voc_seg_tfrecord.audit.lookup import INFO, find
from voc_seg_tfrecord.errors import ConfigError, RecordError
from voc_seg_tfrecord.examples.grid import Tiling
from voc_seg_tfrecord.features import LABEL, LABELS, MASK, SEGMENTATION, TILE_IMAGE_ID
from voc_seg_tfrecord.labels import background_index, voc_palette
from voc_seg_tfrecord.storage import PathLike
from voc_seg_tfrecord.wording.near_names import did_you_mean


def open_built(name: str, data_dir: PathLike | None = None) -> tfds.core.DatasetBuilder:
    """Opens a built dataset. Its config and its source are not needed.

    Args:
      name: such as `voc_seg_tfrecord/2012` or `2012`, with or without a version, or the path of
        a version folder; see `lookup`.
      data_dir: the folder of all datasets; TFDS's default if not given.

    Returns:
      A builder that can only read.

    Raises:
      ConfigError: if there is no such dataset, or if the name stands for two.
      RecordError: if the files that describe it are damaged.
    """
    folder = find(name, data_dir)
    sums.check(folder)
    try:
        builder = tfds.builder_from_directory(folder)
        if not builder.info.splits:
            raise ValueError("no splits")
    except Exception as error:  # TFDS lets out whatever its parsers raise
        raise RecordError(
            folder,
            found=f"a damaged {INFO}, features.json or metadata.json: {_brief(error)}",
            expected="the files of a dataset that was built completely",
            remedy="copy the dataset again, or build it again",
            kind="damaged dataset",
        ) from None
    return builder


def _brief(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


def check_splits(builder: tfds.core.DatasetBuilder, wanted: Sequence[str]) -> list[str]:
    """Returns the wanted splits; all splits if none is named.

    Raises:
      ConfigError: naming the first split that the dataset does not have.
    """
    for split in wanted:
        if split not in builder.info.splits:
            raise ConfigError(
                f"{builder.info.full_name}@{split}",
                found=f"no such split{did_you_mean(split, builder.info.splits)}",
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
            expected="a dataset with images and masks that voc_seg_tfrecord built; the images of "
            "a test have no masks",
        )


def has_only_images(builder: tfds.core.DatasetBuilder) -> bool:
    """Says whether a dataset has images with neither masks nor labels."""
    return not {MASK, LABEL} & set(builder.info.features)


def background(builder: tfds.core.DatasetBuilder) -> int | None:
    """Returns the index of a built dataset's background class, None where none is known."""
    if has_only_images(builder):
        return None
    metadata = builder.info.metadata or {}
    said = metadata.get("class_map") or metadata.get("config") or {}
    return background_index(builder.info.features[MASK].names, said.get("background", ""))


def palette(builder: tfds.core.DatasetBuilder) -> np.ndarray:
    """Returns the colours of a built dataset's classes, uint8 `[256, 3]`: VOC's or its own."""
    said = (builder.info.metadata or {}).get("palette")
    return voc_palette() if said is None else np.array(said, np.uint8)


def class_map(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the class that each class of the source became at build; empty if none did."""
    said = (builder.info.metadata or {}).get("class_map") or {}
    return dict(said.get("to", {}))


def tiling_of(builder: tfds.core.DatasetBuilder) -> Tiling | None:
    """Returns how a built dataset's images were cut, None if it holds complete images.

    Raises:
      ConfigError: if it holds tiles, and its metadata does not say how they were cut.
    """
    if TILE_IMAGE_ID not in builder.info.features:
        return None
    config = (builder.info.metadata or {}).get("config") or {}
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
