"""Answers what is known of a built dataset without reading its records: classes, colors, bands.

The answers come from its features and its `metadata.json`, which a builder has in memory.
"""

from collections.abc import Iterable, Sequence
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean
from voc_seg_tfrecord.core.names import (
    CHANNELS,
    HEIGHT,
    IMAGE,
    INSTANCES,
    LABEL,
    LABELS,
    MASK,
    SEGMENTATION,
    TILE_IMAGE_ID,
    WIDTH,
    background_index,
    voc_palette,
)
from voc_seg_tfrecord.core.tiling import Tiling

RETIRED_OPTION = "prefer"
"""An option that earlier versions had: whose masks to use if several people labeled an image."""


def check_readable(builder: tfds.core.DatasetBuilder) -> None:
    """Raises any exception if a dataset's features and metadata do not give what they must."""
    answers = (
        config_of,
        release_of,
        archives_of,
        ids_sha256,
        class_map,
        palette,
        bands_of,
        background,
        class_names,
    )
    for answer in answers:
        answer(builder)
    _check_kinds(builder.info.features)


def _check_kinds(features: tfds.features.FeaturesDict) -> None:
    """Raises a `ValueError` if images have no rows and columns, or sizes are no numbers."""
    for name, feature in features.items():
        if name in (IMAGE, MASK, INSTANCES) and len(feature.shape) != 3:
            raise ValueError(f"{name} is no image")
        if name in (HEIGHT, WIDTH):
            is_whole = np.issubdtype(feature.np_dtype, np.integer)
            if not is_whole:
                raise ValueError(f"{name} is no whole number")


def config_of(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    """Returns the config that a dataset says it was built with; empty if it does not say it."""
    return dict((builder.info.metadata or {}).get("config") or {})


@dataclasses.dataclass(frozen=True)
class Description:
    """How a dataset describes itself; a citation, homepage or license may be missing."""

    description: str
    citation: str | None
    homepage: str | None
    license: str | None


def description_of(builder: tfds.core.DatasetBuilder) -> Description:
    """Returns the description that a dataset was built with."""
    info = builder.info
    proto = info.as_proto
    return Description(
        info.description.strip(),
        info.citation.strip() or None,
        # Without an address, `info.homepage` makes one up, of a page that does not exist.
        proto.location.urls[0] if proto.location.urls else None,
        proto.redistribution_info.license.strip() or None,
    )


def release_of(builder: tfds.core.DatasetBuilder) -> str:
    """Returns the release that the config of a dataset names; empty if it names none.

    Raises:
      ValueError: if what it has there is no name.
    """
    release = config_of(builder).get("release") or ""
    if not isinstance(release, str):
        raise ValueError(f"a config whose release is {release!r}")
    return release


def archives_of(builder: tfds.core.DatasetBuilder) -> tuple[dict[str, str], ...]:
    """Returns `filename` and `sha256` of each archive whose sha256 the build verified.

    Raises:
      KeyError, TypeError: if the metadata has archives in another form.
    """
    archives = (builder.info.metadata or {}).get("archives") or ()
    return tuple(
        {"filename": archive["filename"], "sha256": archive["sha256"]} for archive in archives
    )


def ids_sha256(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the `id_list_sha256` of each split's image ids, as the build noted it, if it did."""
    splits = (builder.info.metadata or {}).get("splits") or {}
    return {name: of_split["ids_sha256"] for name, of_split in splits.items()}


def check_features(builder: tfds.core.DatasetBuilder, needed: Sequence[str] = SEGMENTATION) -> None:
    """Raises a `ConfigError` that names features that a dataset does not have."""
    lacking = [name for name in needed if name not in builder.info.features]
    if lacking:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(lacking)}",
            expected="a dataset with images and masks that voc_seg_tfrecord built; test images "
            "have no masks",
        )


def check_feature_names(builder: tfds.core.DatasetBuilder, names: Iterable[str]) -> None:
    """Raises a `ConfigError` if names that the user gave are none of a dataset's features."""
    known = sorted(builder.info.features)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(
            builder.info.full_name,
            found=f"no feature {', '.join(unknown)}{did_you_mean(unknown[0], known)}",
            expected=f"some of {', '.join(known)}",
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
            expected=f"8-bit RGB, because {what} cannot hold other bands",
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
    return voc_palette() if colors is None else np.array(colors, np.uint8).reshape(256, 3)


def class_map(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the class that each class of the source became at build; empty if none did."""
    changes = (builder.info.metadata or {}).get("class_map") or {}
    new_by_old = dict(changes.get("to", {}))
    if not all(isinstance(name, str) for name in new_by_old.values()):
        raise ValueError("a class map to what is no name")
    return new_by_old


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


def has_default_names(builder: tfds.core.DatasetBuilder) -> bool:
    """Says whether nobody named the classes of a built dataset; see `core.default_names`."""
    return bool(config_of(builder).get("default_names"))


def class_names(builder: tfds.core.DatasetBuilder) -> tuple[str, ...]:
    """Returns a built dataset's class names, of masks or of images; none for images alone."""
    if has_only_images(builder):
        return ()
    if LABEL in builder.info.features:
        return tuple(builder.info.features[LABEL].names)
    return tuple(builder.info.features[LABELS].feature.names)
