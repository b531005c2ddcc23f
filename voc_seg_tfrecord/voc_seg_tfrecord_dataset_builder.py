"""The TFDS builder: features and splits. Other modules do everything about pixels."""

from collections.abc import Iterator, Sequence
import contextlib
import dataclasses
import json
import os
import re
from typing import TYPE_CHECKING, Any, ClassVar

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.split_builder import SplitGenerator

from voc_seg_tfrecord import about, configs, storage, sums
from voc_seg_tfrecord import features as names_of
from voc_seg_tfrecord.audit import reading
from voc_seg_tfrecord.configs import feature_table
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.examples import serializer, threads
from voc_seg_tfrecord.examples.make import ExampleSpec
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.examples.source import Source
from voc_seg_tfrecord.facts import tables
from voc_seg_tfrecord.labels import VOID, voc_palette
from voc_seg_tfrecord.staging import folders


class Builder(tfds.core.GeneratorBasedBuilder):
    """Semantic segmentation data in the Pascal VOC layout."""

    VERSION = tfds.core.Version("1.0.0")
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    DEFAULT_BUILDER_CONFIG_NAME = "2012"
    MANUAL_DOWNLOAD_INSTRUCTIONS = about.MANUAL_DOWNLOAD_INSTRUCTIONS

    # What to build from in place of what the config names: records or arrays.
    source: Source | None = None

    _checksums_path = tables.folder("checksums") / "checksums.tsv"
    _beam_folder: epath.Path | None = None  # set while a build under Beam runs
    _place: str = ""  # of the dataset, set while it is built beside it

    def __init__(
        self, *, file_format: str | tfds.core.FileFormat | None = None, **options: Any
    ) -> None:
        super().__init__(**options)
        if file_format is not None:
            reading.choose_format(self, file_format)

    if TYPE_CHECKING:  # TFDS says no more than that it is a config

        @property
        def builder_config(self) -> configs.VocSegConfig:
            """What the dataset is made from."""
            ...

    def _info(self) -> tfds.core.DatasetInfo:
        """Returns features, citation and metadata; see the package's README for each."""
        features, target = feature_table.table(self.builder_config)
        return self._dataset_info(features, target)

    def _dataset_info(self, features: dict[str, Any], target: str | None) -> tfds.core.DatasetInfo:
        config = self.builder_config
        package = self.get_metadata()
        said = about.about(config, package.description, package.citation)
        return tfds.core.DatasetInfo(
            builder=self,
            description=said.description,
            citation=said.citation,
            homepage=said.homepage,
            license=said.license,
            features=tfds.features.FeaturesDict(features),
            supervised_keys=(names_of.IMAGE, target) if target else None,
            metadata=tfds.core.MetadataDict(
                ignore_label=VOID,
                class_names=list(config.built_class_names),
                palette=voc_palette().tolist(),
                config=_told(config),
                **_class_map(config),
            ),
        )

    def as_dataset(
        self, split: Any = None, *, batch_size: int | None = None, **options: Any
    ) -> Any:
        """Reads the dataset as `tf.data`; see TFDS.

        It warns of `batch_size`, which pads masks with background where sizes differ.
        """
        if batch_size is not None:
            reading.warn_of_padding(self.builder_config, batch_size)
        return super().as_dataset(split, batch_size=batch_size, **options)

    def as_data_source(self, split: Any = None, **options: Any) -> Any:
        """Reads the dataset with random access, without TensorFlow; see TFDS.

        Raises:
          ConfigError: if there are no files with random access, such as array_record.
        """
        if not self.data_path.exists() or reading.has_random_access(self.info):
            return super().as_data_source(split, **options)
        return reading.converted(self.data_path).as_data_source(split, **options)

    def download_and_prepare(
        self, *, download_config: tfds.download.DownloadConfig | None = None, **options: Any
    ) -> None:
        """Builds the dataset; see TFDS.

        A dataset that is replaced stays until the new one is complete. What builds left that
        were killed is removed.

        Raises:
          VocSegError: if the data or the call is wrong, or the disk cannot be written; then
            nothing was built, and a dataset that was there is still there.
        """
        download_config = download_config or tfds.download.DownloadConfig()
        mode = download_config.download_mode
        update = mode == tfds.download.GenerateMode.UPDATE_DATASET_INFO
        if update or (self.data_path.exists() and not mode.overwrite_dataset):
            about.check_same_content(self.data_path, self.builder_config)
            super().download_and_prepare(download_config=download_config, **options)
            if update:
                sums.write(self.data_path)
            return
        assign = tfds.core.utils.temporary_assignment
        with (
            storage.told(self.data_path),
            folders.staged(self.data_path, replace=mode.overwrite_dataset) as folder,
            assign(self, "_place", self.data_dir),
            assign(self, "_data_dir", os.fspath(folder)),
            _enough_examples(download_config.num_shards),
            serializer.used_by_tfds(),
        ):
            super().download_and_prepare(download_config=download_config, **options)
            sums.write(folder)
        self.info.update_data_dir(self.data_dir)

    def _log_download_bytes(self) -> None:
        with tfds.core.utils.temporary_assignment(self, "_data_dir", self._place):
            super()._log_download_bytes()

    def _log_download_done(self) -> None:
        with tfds.core.utils.temporary_assignment(self, "_data_dir", self._place):
            super()._log_download_done()

    def _download_and_prepare(
        self,
        dl_manager: tfds.download.DownloadManager,
        download_config: tfds.download.DownloadConfig,
    ) -> None:
        manual = download_config.manual_dir
        if manual is not None and not epath.Path(manual).expanduser().exists():
            raise ConfigError(
                f"--manual_dir {manual}",
                found="no such folder",
                expected=self.MANUAL_DOWNLOAD_INSTRUCTIONS,
            )
        if not (download_config.beam_options or download_config.beam_runner):
            super()._download_and_prepare(dl_manager, download_config)
            return
        from voc_seg_tfrecord.examples import beam  # Apache Beam takes seconds to import

        with (
            beam.exchange(self.data_path) as folder,
            tfds.core.utils.temporary_assignment(self, "_beam_folder", folder),
        ):
            super()._download_and_prepare(dl_manager, download_config)

    def _split_generators(
        self, dl_manager: tfds.download.DownloadManager
    ) -> dict[str, SplitGenerator]:
        """Finds every split's files and checks its list, all before the first record."""
        source = self.source or self._open_source(dl_manager)
        if source.archives:  # no key at all otherwise: what was not verified is not recorded
            self.info.metadata["archives"] = list(source.archives)
        for index, color in source.colors.items():
            self.info.metadata["palette"][index] = list(color)
        return {
            split: self._generate_examples(split, items, source.spec)
            for split, items in source.splits.items()
        }

    def _open_source(self, dl_manager: tfds.download.DownloadManager) -> Source:
        # Imported here, as what is built is read without them.
        from voc_seg_tfrecord import sources
        from voc_seg_tfrecord.official.downloads import TfdsFetcher

        return sources.open_source(
            self.builder_config,
            TfdsFetcher(dl_manager),
            workers_find=self._beam_folder is not None,
        )

    def _generate_examples(
        self, split: str, items: Sequence[Item], spec: ExampleSpec
    ) -> SplitGenerator:
        """Returns `(key, example)` of a split: an iterator, or a PTransform for Beam."""
        if self._beam_folder is None:
            return threads.examples(split, items, spec)
        from voc_seg_tfrecord.examples import beam

        return beam.MakeExamples(split, items, spec, self._beam_folder)


@contextlib.contextmanager
def _enough_examples(num_shards: int | None) -> Iterator[None]:
    """Turns TFDS's complaint about more shards than examples into a wrong call."""
    try:
        yield
    except AssertionError as error:
        if found := re.search(r"num_examples \((\d+)\) < number_of_shards", str(error)):
            raise ConfigError(
                f"num_shards {num_shards}",
                found=f"a split of {found[1]} examples",
                expected="at least one example for each shard of every split",
                remedy=f"give at most {found[1]} shards (--num_shards)",
            ) from None
        raise


def _told(config: configs.VocSegConfig) -> dict[str, Any]:
    """Returns what a dataset says of its config: all but what changes no byte of it."""
    return json.loads(dataclasses.replace(config, trust_images=False).to_json())


def _class_map(config: configs.VocSegConfig) -> dict[str, Any]:
    """Returns what became of the source's classes, where they were mapped."""
    if config.class_map is None:
        return {}
    return {
        "class_map": {"to": config.class_map.names(), "background": config.class_map.background}
    }
