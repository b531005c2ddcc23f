"""The features of a dataset, and which of them a model learns; the package's README lists them."""

from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import names as names_of
from voc_seg_tfrecord.core.bands import Bands
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.names import VOC_POSES, VOID

Features = dict[str, Any]
"""Features of TFDS by their names."""


def make_features(config: VocSegConfig) -> Features:
    """Returns the features of a config's dataset."""
    if config.task == "images":
        return _image_features() | {names_of.HEIGHT: np.int32, names_of.WIDTH: np.int32}
    if config.task == "classification":
        label = tfds.features.ClassLabel(names=list(config.built_class_names))
        return _image_features() | {names_of.LABEL: label}
    features = _segmentation_features(config)
    if config.tiling:
        features |= _tile_features()
    if config.instance_mask:
        features[names_of.INSTANCES] = _instance_mask_feature()
    if config.mask_sources:
        features[names_of.MASK_SOURCE] = tfds.features.ClassLabel(
            names=list(config.mask_sources),
            doc=f"Who drew the mask: {' or '.join(config.mask_sources.values())}.",
        )
    if config.objects:
        features[names_of.OBJECTS] = _objects_feature(list(config.built_class_names))
    return features


def target_feature(config: VocSegConfig) -> str | None:
    """Returns the name of the feature that a model learns; None for images alone."""
    if config.task == "images":
        return None
    return names_of.LABEL if config.task == "classification" else names_of.MASK


def _image_features() -> Features:
    """Returns the features of images without masks."""
    image = tfds.features.Image(shape=(None, None, 3))
    return {names_of.IMAGE: image, names_of.FILENAME: tfds.features.Text()}


def _segmentation_features(config: VocSegConfig) -> Features:
    """Returns the features of every segmentation dataset."""
    class_names = list(config.built_class_names)
    return {
        names_of.IMAGE: _image_feature(config),
        names_of.FILENAME: tfds.features.Text(doc="Name below the image folder."),
        names_of.HEIGHT: np.int32,
        names_of.WIDTH: np.int32,
        names_of.MASK: tfds.features.LabeledImage(
            labels=class_names,
            shape=(None, None, 1),
            encoding_format="png",
            doc=f"One class index per pixel; {VOID} is void. Batches that TFDS makes (batch_size=) "
            "are padded with 0, which is background; voc_seg_tfrecord.pipeline.padded_batch pads "
            f"with {VOID}.",
        ),
        names_of.LABELS: tfds.features.Sequence(
            tfds.features.ClassLabel(names=class_names),
            doc="Classes in the mask, ascending, without background and void.",
        ),
    }


def _image_feature(config: VocSegConfig) -> Any:
    """Returns the feature of images with masks: RGB, or the bands that are kept."""
    bands = config.kept_bands
    if bands is not None:
        return _bands_feature(bands)
    encoding_format, doc = "jpeg", "The file's own bytes."
    if config.tiling:
        encoding_format, doc = config.tile_format, "The tile's pixels."
    return tfds.features.Image(shape=(None, None, 3), encoding_format=encoding_format, doc=doc)


def _bands_feature(bands: Bands) -> Any:
    """Returns the feature of images of any bands: a PNG if it can hold them, else an array."""
    shape = (None, None, len(bands.numbers))
    doc = f"The bands {bands.numbers} of the image."
    dtype = np.dtype(bands.dtype).type
    if bands.is_png:
        return tfds.features.Image(shape=shape, dtype=dtype, encoding_format="png", doc=doc)
    return tfds.features.Tensor(shape=shape, dtype=dtype, encoding="zlib", doc=doc)


def _tile_features() -> Features:
    """Returns the features that say where a tile lies in its image."""
    features: Features = {
        names_of.TILE_IMAGE_ID: tfds.features.Text(doc="The id of the image that was cut.")
    }
    for name in names_of.TILE_POSITION:
        features[name] = np.int32
    return features


def _instance_mask_feature() -> Any:
    return tfds.features.Image(
        shape=(None, None, 1),
        encoding_format="png",
        use_colormap=True,
        doc=f"One object number per pixel; 0 is background, {VOID} is void.",
    )


def _objects_feature(class_names: list[str]) -> Any:
    """Returns the feature of annotated boxes, as in TFDS's `voc`."""
    return tfds.features.Sequence(
        {
            "label": tfds.features.ClassLabel(names=class_names),
            "bbox": tfds.features.BBoxFeature(),
            "pose": tfds.features.ClassLabel(names=list(VOC_POSES)),
            "is_truncated": np.bool_,
            "is_difficult": np.bool_,
        }
    )
