"""The features of a dataset, by its config."""

from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import names as names_of
from voc_seg_tfrecord.base.names import VOC_POSES, VOID
from voc_seg_tfrecord.configs.config import VocSegConfig


def feature_table(config: VocSegConfig) -> tuple[dict[str, Any], str | None]:
    """Returns the features of a config.

    Returns:
      The features by name; and the name of the one that a model learns, None if there is none.
    """
    names = list(config.built_class_names)
    if config.task == "images":
        size = {names_of.HEIGHT: np.int32, names_of.WIDTH: np.int32}
        return _image_features() | size, None
    if config.task == "classification":
        label = {names_of.LABEL: tfds.features.ClassLabel(names=names)}
        return _image_features() | label, names_of.LABEL
    features = {
        names_of.IMAGE: _image_of(config),
        names_of.FILENAME: tfds.features.Text(doc="Name below the image folder."),
        names_of.HEIGHT: np.int32,
        names_of.WIDTH: np.int32,
        names_of.MASK: tfds.features.LabeledImage(
            labels=names,
            shape=(None, None, 1),
            encoding_format="png",
            doc=f"One class index per pixel; {VOID} is void. Batches that TFDS makes (batch_size=) "
            "are padded with 0, which is background; voc_seg_tfrecord.pipeline.padded_batch pads "
            f"with {VOID}.",
        ),
        names_of.LABELS: tfds.features.Sequence(
            tfds.features.ClassLabel(names=names),
            doc="Classes in the mask, ascending, without background and void.",
        ),
    }
    if config.tiling:
        features |= _tile_features()
    if config.instance_mask:
        features[names_of.INSTANCES] = tfds.features.Image(
            shape=(None, None, 1),
            encoding_format="png",
            use_colormap=True,
            doc=f"One object number per pixel; 0 is background, {VOID} is void.",
        )
    if config.mask_sources:
        features[names_of.MASK_SOURCE] = tfds.features.ClassLabel(
            names=list(config.mask_sources),
            doc=f"Who drew the mask: {' or '.join(config.mask_sources.values())}.",
        )
    if config.objects:
        features[names_of.OBJECTS] = tfds.features.Sequence(
            {
                "label": tfds.features.ClassLabel(names=names),
                "bbox": tfds.features.BBoxFeature(),
                "pose": tfds.features.ClassLabel(names=list(VOC_POSES)),
                "is_truncated": np.bool_,
                "is_difficult": np.bool_,
            }
        )
    return features, names_of.MASK


def _image_of(config: VocSegConfig) -> Any:
    if (bands := config.kept_bands) is None:
        return tfds.features.Image(
            shape=(None, None, 3),
            encoding_format=config.tile_format if config.tiling else "jpeg",
            doc="The tile's pixels." if config.tiling else "The file's own bytes.",
        )
    shape, doc = (None, None, len(bands.numbers)), f"The bands {bands.numbers} of the image."
    dtype = np.dtype(bands.dtype).type
    if bands.is_png:
        return tfds.features.Image(shape=shape, dtype=dtype, encoding_format="png", doc=doc)
    return tfds.features.Tensor(shape=shape, dtype=dtype, encoding="zlib", doc=doc)


def _image_features() -> dict[str, Any]:
    return {
        names_of.IMAGE: tfds.features.Image(shape=(None, None, 3)),
        names_of.FILENAME: tfds.features.Text(),
    }


def _tile_features() -> dict[str, Any]:
    return {
        names_of.TILE_IMAGE_ID: tfds.features.Text(doc="The id of the image that was cut."),
        names_of.TILE_Y: np.int32,
        names_of.TILE_X: np.int32,
        names_of.TILE_IMAGE_HEIGHT: np.int32,
        names_of.TILE_IMAGE_WIDTH: np.int32,
    }
