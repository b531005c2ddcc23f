"""The TFDS builder: how a dataset describes itself, its features, splits and examples.

Other modules do everything about pixels, and `_tfds` holds every step around TFDS.
"""

from collections.abc import Iterable
import json
import re
from typing import Any, ClassVar

import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core.split_builder import SplitGenerator

from voc_seg_tfrecord._tfds import DatasetInfo, SteppingAroundBuilder
from voc_seg_tfrecord.core import config as configs
from voc_seg_tfrecord.core import names as feature_names
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import VocSegError, counted
from voc_seg_tfrecord.core.example import Bands, ExampleSpec, Item, Source
from voc_seg_tfrecord.core.layout import IMAGES, LISTS, MASKS
from voc_seg_tfrecord.core.names import VOC_POSES, VOID, background_index, voc_palette
from voc_seg_tfrecord.writing.examples import try_examples


class Builder(SteppingAroundBuilder):
    """The TFDS builder of a dataset of this package.

    `builder.as_dataset(split="train")` reads a built dataset, and `builder.info` has its features,
    splits and metadata.
    """

    VERSION = tfds.core.Version("1.0.0")  # of the format, and of datasets that name none
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    DEFAULT_BUILDER_CONFIG_NAME = "2012"
    MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for context59 and context60, VOC2010 with Pascal Context's labels, which cannot be downloaded;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
Without any of these, the archive of a release is downloaded if its checksum is registered."""

    # What to build from in place of what the config names: records or arrays.
    source: Source | None = None

    _checksums_path = releases.facts_folder("checksums") / "checksums.tsv"

    def _info(self) -> tfds.core.DatasetInfo:
        """Returns features, citation and metadata; see the package's README for each."""
        config = self.builder_config
        package = self.get_metadata()
        target = _target_feature(config)
        return DatasetInfo(
            builder=self,
            description=_describe_dataset(config, package.description),
            citation=_cite(config, package.citation),
            homepage=_page_of(config),
            license=config.license,
            features=tfds.features.FeaturesDict(make_features(config)),
            supervised_keys=(feature_names.IMAGE, target) if target else None,
            metadata=tfds.core.MetadataDict(
                format_version=str(self.VERSION),
                ignore_label=VOID,
                class_names=list(config.built_class_names),
                palette=voc_palette().tolist(),
                config=self.stored_config(),
                **_class_map(config),
            ),
        )

    def stored_config(self) -> dict[str, Any]:
        """Returns the fields of the config that the bytes of the dataset depend on."""
        stored: dict[str, Any] = json.loads(self.builder_config.to_json())
        stored.pop("trust_images", None)
        if stored.get("version") == str(self.VERSION):
            del stored["version"]  # the same as none
        return stored

    def _split_generators(
        self, dl_manager: tfds.download.DownloadManager
    ) -> dict[str, SplitGenerator]:
        """Returns the examples of each split in the order of its list.

        TFDS wants this method and the next one of each builder. A build itself does not call them,
        as `_generate_splits` of the base class writes the shards.
        """
        source = self.open_source(dl_manager)
        return {
            split: self._generate_examples(items, source.spec)
            for split, items in source.splits.items()
        }

    def _generate_examples(self, items: Iterable[Item], spec: ExampleSpec) -> SplitGenerator:
        """Yields `(key, example)` of each item; with tiles, of each tile.

        Raises:
          VocSegError: for the first item that cannot be used.
        """
        for item in items:
            examples = try_examples(spec, item)
            if isinstance(examples, VocSegError):
                raise examples
            for example in examples:
                yield example.key, dict(example.features)

    def open_source(self, dl_manager: tfds.download.DownloadManager) -> Source:
        """Finds the files of each split and checks its list before any record is made."""
        # Imported here, as what is built is read without them.
        from voc_seg_tfrecord.sources.fetcher import Fetcher
        from voc_seg_tfrecord.sources.open import open_source

        source = self.source or open_source(self.builder_config, Fetcher(dl_manager))
        if source.archives:  # without the key, no archive was verified
            self.info.metadata["archives"] = list(source.archives)
        if source.rows:
            self.info.metadata["classes"] = [list(row) for row in source.rows]
        for index, color in source.colors.items():
            self.info.metadata["palette"][index] = list(color)
        return source


def _class_map(config: VocSegConfig) -> dict[str, Any]:
    """Returns the metadata on classes that were merged or renamed; empty if all just stayed."""
    new_by_old = config.table.map_names_by_rows()
    if config.task != "segmentation" or not new_by_old:
        return {}
    return {"class_map": {"to": new_by_old, "background": config.built_background}}


Features = dict[str, Any]
"""Features of TFDS by their names."""


def make_features(config: VocSegConfig) -> Features:
    """Returns the features of a config's dataset."""
    if config.task == "images":
        return _image_features() | {feature_names.HEIGHT: np.int32, feature_names.WIDTH: np.int32}
    if config.task == "classification":
        label = tfds.features.ClassLabel(names=list(config.built_class_names))
        return _image_features() | {feature_names.LABEL: label}
    features = _segmentation_features(config)
    if config.tiling:
        features |= _tile_features()
    if config.instance_mask:
        features[feature_names.INSTANCES] = _instance_mask_feature()
    if config.mask_sources:
        features[feature_names.MASK_SOURCE] = tfds.features.ClassLabel(
            names=list(config.mask_sources),
            doc=f"Who drew the mask: {' or '.join(config.mask_sources.values())}.",
        )
    if config.objects:
        features[feature_names.OBJECTS] = _objects_feature(list(config.built_class_names))
    return features


def _target_feature(config: VocSegConfig) -> str | None:
    """Returns the name of the feature that a model learns; None for images alone."""
    if config.task == "images":
        return None
    return feature_names.LABEL if config.task == "classification" else feature_names.MASK


def _image_features() -> Features:
    """Returns the features of images without masks."""
    image = tfds.features.Image(shape=(None, None, 3))
    return {feature_names.IMAGE: image, feature_names.FILENAME: tfds.features.Text()}


def _segmentation_features(config: VocSegConfig) -> Features:
    """Returns the features of every segmentation dataset."""
    class_names = list(config.built_class_names)
    return {
        feature_names.IMAGE: _image_feature(config),
        feature_names.FILENAME: tfds.features.Text(doc="Name below the image folder."),
        feature_names.HEIGHT: np.int32,
        feature_names.WIDTH: np.int32,
        feature_names.MASK: tfds.features.LabeledImage(
            labels=class_names,
            shape=(None, None, 1),
            encoding_format="png",
            doc=f"One class index per pixel; {VOID} is void. Batches that TFDS makes (batch_size=) "
            "are padded with 0, which is background; voc_seg_tfrecord.pipeline.padded_batch pads "
            f"with {VOID}.",
        ),
        feature_names.LABELS: tfds.features.Sequence(
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
        feature_names.TILE_IMAGE_ID: tfds.features.Text(doc="The id of the image that was cut.")
    }
    for name in feature_names.TILE_POSITION:
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


_BIBTEX_ENTRY = re.compile(r"^(@\w+{([^,]+),.*?^})", re.M | re.S)


def _cite(config: VocSegConfig, bibliography: str) -> str | None:
    """Returns the citation of a config's dataset; the config's own text takes precedence.

    Args:
      config: the config.
      bibliography: the text of a BibTeX file with the citations of all releases.
    """
    if config.citation is not None or config.official is None:
        return config.citation
    entry_by_key = {key: entry for entry, key in _BIBTEX_ENTRY.findall(bibliography)}
    return "\n\n".join(entry_by_key[key] for key in config.official.citations)


def _page_of(config: VocSegConfig) -> str | None:
    """Returns the address of a config's dataset; the config's own text takes precedence."""
    if config.homepage is not None or config.official is None:
        return config.homepage
    return config.official.page


def _describe_dataset(config: VocSegConfig, release_description: str) -> str:
    """Returns the description of a config's dataset.

    Args:
      config: the config, whose own text takes precedence.
      release_description: the description of a release's dataset.
    """
    if config.official is not None:
        return _describe_release(config, config.official, release_description)
    if config.description:
        return str(config.description)
    if config.task == "images":
        return "Images without labels, built by voc_seg_tfrecord."
    if config.task == "classification":
        return "Images with one label each, built by voc_seg_tfrecord."
    classes = _describe_classes(config)
    return f"Own data for semantic segmentation, built by voc_seg_tfrecord. {classes}"


def _describe_release(
    config: VocSegConfig, release: releases.Release, release_description: str
) -> str:
    """Returns the text of a release's dataset, or of a part of it."""
    text = config.description or release.description
    if config.classes:
        return f"{text} {_describe_classes(config)} Classes mapped: {config.table.describe()}."
    is_text_of_release = text == release.description
    return release_description if is_text_of_release else str(text)


def _describe_classes(config: VocSegConfig) -> str:
    names = config.built_class_names
    index = background_index(names, config.built_background)
    background = "no class is known to be background"
    if index is not None:
        background = f"index {index} is background"
    classes = counted(len(names), "class")
    return f"Masks have one class index per pixel: {classes}, {background}, {VOID} is void."
