"""What TFDS gets to know about a dataset: its features and its description."""

import dataclasses
import json
import re
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import dataset_files
from voc_seg_tfrecord.core import names as names_of
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.core.layout import IMAGES, LISTS, MASKS
from voc_seg_tfrecord.core.names import VOC_POSES, VOID, background_index

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for context59 and context60, VOC2010 with Pascal Context's labels, which no server has;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
With none of them, releases whose archive is registered are downloaded."""


@dataclasses.dataclass(frozen=True)
class Description:
    """How a dataset describes itself; a citation, homepage or license may be missing."""

    description: str
    citation: str | None
    homepage: str | None
    license: str | None


def dataset_description(config: VocSegConfig, of_releases: str, bibliography: str) -> Description:
    """Returns the description of a config's dataset.

    Only a release has the citation and the page of VOC. The config's own texts take precedence.

    Args:
      config: the config.
      of_releases: the description of a release's dataset.
      bibliography: the text of a BibTeX file with the citations of all releases.
    """
    release = config.official
    citation = None
    homepage = None
    if release is not None:
        entries = _read_bibliography(bibliography)
        citation = "\n\n".join(entries[key] for key in release.citations)
        homepage = release.page
    return Description(
        _description(config, of_releases),
        citation if config.citation is None else config.citation,
        homepage if config.homepage is None else config.homepage,
        config.license,
    )


def description_of_built(info: tfds.core.DatasetInfo) -> Description:
    """Returns the description of a built dataset."""
    proto = info.as_proto
    return Description(
        info.description.strip(),
        info.citation.strip() or None,
        # Without an address, `info.homepage` makes one up, of a page that does not exist.
        proto.location.urls[0] if proto.location.urls else None,
        proto.redistribution_info.license.strip() or None,
    )


_BIBTEX_ENTRY = re.compile(r"^(@\w+{([^,]+),.*?^})", re.M | re.S)


def _read_bibliography(text: str) -> dict[str, str]:
    """Returns the entries of a BibTeX file by their keys."""
    return {key: entry for entry, key in _BIBTEX_ENTRY.findall(text)}


_CONTENT_FIELDS = ("class_names", "classes", "tile", "tile_overlap", "tile_format")
"""The fields of a config that change the content of its dataset."""


def check_same_content(folder: epath.Path, config: VocSegConfig) -> None:
    """Checks that a dataset of a config's name has the classes and tiles of the config.

    TFDS reuses a dataset of the same name, so it would silently ignore changed rules.

    Raises:
      ConfigError: if it was built with other classes, meanings of mask values or tiles.
    """
    path = folder / "metadata.json"
    built = json.loads(dataset_files.read_small(path)).get("config") if path.exists() else None
    if not isinstance(built, dict):
        return  # another program has built it; reading it reports that
    fields = json.loads(config.to_json())
    for field in _CONTENT_FIELDS:
        if built.get(field) != fields.get(field):
            raise ConfigError(
                folder,
                found=f"a dataset that was built with {field} {built.get(field, 'as by default')}",
                expected=f"{field} {fields.get(field, 'as by default')}, as in this config",
                remedy="choose another name for the new dataset, or delete the folder",
            )


def _description(config: VocSegConfig, of_releases: str) -> str:
    release = config.official
    if release is not None and not config.classes:
        return of_releases
    if release is not None:
        text = config.description or release.description
        return f"{text} {_describe_classes(config)} Classes mapped: {config.table.describe()}."
    if config.description:
        return str(config.description)
    if config.task == "images":
        return "Images alone, built by voc_seg_tfrecord."
    if config.task == "classification":
        return "Images with one label each, built by voc_seg_tfrecord."
    classes = _describe_classes(config)
    return f"Own data for semantic segmentation, built by voc_seg_tfrecord. {classes}"


def _describe_classes(config: VocSegConfig) -> str:
    names = config.built_class_names
    background = background_index(names, config.built_background)
    background_text = "no class is known to be background"
    if background is not None:
        background_text = f"index {background} is background"
    classes = counted(len(names), "class")
    return f"Masks have one class index per pixel: {classes}, {background_text}, {VOID} is void."


def feature_table(config: VocSegConfig) -> tuple[dict[str, Any], str | None]:
    """Returns the features of a config.

    Returns:
      The features by name; and the name of the one that a model learns, None if there is none.
    """
    if config.task == "images":
        features = _image_features()
        return features | {names_of.HEIGHT: np.int32, names_of.WIDTH: np.int32}, None
    if config.task == "classification":
        label = tfds.features.ClassLabel(names=list(config.built_class_names))
        return _image_features() | {names_of.LABEL: label}, names_of.LABEL
    return _segmentation_features(config), names_of.MASK


def _image_features() -> dict[str, Any]:
    """Returns the features of images without masks."""
    image = tfds.features.Image(shape=(None, None, 3))
    return {names_of.IMAGE: image, names_of.FILENAME: tfds.features.Text()}


def _segmentation_features(config: VocSegConfig) -> dict[str, Any]:
    names = list(config.built_class_names)
    features: dict[str, Any] = {
        names_of.IMAGE: _image_feature(config),
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
        image_id = tfds.features.Text(doc="The id of the image that was cut.")
        features[names_of.TILE_IMAGE_ID] = image_id
        for name in names_of.TILE_PLACE:
            features[name] = np.int32
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
    return features


def _image_feature(config: VocSegConfig) -> Any:
    """Returns the feature of images with masks: RGB, or the bands that are kept."""
    bands = config.kept_bands
    if bands is None and config.tiling:
        return tfds.features.Image(
            shape=(None, None, 3), encoding_format=config.tile_format, doc="The tile's pixels."
        )
    if bands is None:
        return tfds.features.Image(
            shape=(None, None, 3), encoding_format="jpeg", doc="The file's own bytes."
        )
    shape = (None, None, len(bands.numbers))
    doc = f"The bands {bands.numbers} of the image."
    dtype = np.dtype(bands.dtype).type
    if bands.is_png:
        return tfds.features.Image(shape=shape, dtype=dtype, encoding_format="png", doc=doc)
    return tfds.features.Tensor(shape=shape, dtype=dtype, encoding="zlib", doc=doc)
