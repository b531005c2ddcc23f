"""The TFDS builder: features, splits and examples.

Other modules do everything about pixels, and `_tfds` holds every step around TFDS.
"""

from collections.abc import Iterable
import json
from typing import Any, ClassVar

import tensorflow_datasets as tfds
from tensorflow_datasets.core.split_builder import SplitGenerator

from voc_seg_tfrecord._tfds import DatasetInfo, SteppingAroundBuilder
from voc_seg_tfrecord.core import config as configs
from voc_seg_tfrecord.core import description, features, releases
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, Item, Source
from voc_seg_tfrecord.core.names import IMAGE, VOID, voc_palette
from voc_seg_tfrecord.writing.examples import try_examples


class Builder(SteppingAroundBuilder):
    """Semantic segmentation data in the Pascal VOC layout."""

    VERSION = tfds.core.Version("1.0.0")  # of the format, and of datasets that name none
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    DEFAULT_BUILDER_CONFIG_NAME = "2012"
    MANUAL_DOWNLOAD_INSTRUCTIONS = description.MANUAL_DOWNLOAD_INSTRUCTIONS

    # What to build from in place of what the config names: records or arrays.
    source: Source | None = None

    _checksums_path = releases.facts_folder("checksums") / "checksums.tsv"

    def _info(self) -> tfds.core.DatasetInfo:
        """Returns features, citation and metadata; see the package's README for each."""
        config = self.builder_config
        package = self.get_metadata()
        target = features.target_feature(config)
        texts = description.dataset_description(config, package.description, package.citation)
        return DatasetInfo(
            builder=self,
            **vars(texts),
            features=tfds.features.FeaturesDict(features.make_features(config)),
            supervised_keys=(IMAGE, target) if target else None,
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
