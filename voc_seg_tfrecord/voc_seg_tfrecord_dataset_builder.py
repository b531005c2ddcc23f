"""The TFDS builder: features, splits, and what TFDS's own ways to read a dataset get wrong.

Other modules do everything about pixels. Where a build steps around TFDS 4.9.10, it is done here:

1. `data_path` looks at its caller, because `tfds build --overwrite` removes a dataset before it
   asks the builder to replace it. There is no other way: that command removes `data_path` itself
   and tells the builder nothing. It can go when it leaves this to `download_mode`.
2. `_data_dir` is exchanged for a staging folder while a dataset is built, because TFDS removes the
   old dataset before it makes the new one. It can go when TFDS exchanges the two.
3. `_generate_splits` writes the shards in TFDS's order, because TFDS shuffles all records through
   temporary files, makes them in one process without Beam, and serialises them to bytes that
   differ from process to process. The examples are those of `_split_generators`.
4. `_Info.initialize_from_bucket` does nothing, because TFDS looks into its bucket for any dataset,
   and leaves a temporary folder behind. It can go when TFDS asks for its own datasets only.
"""

from collections.abc import Iterable, Sequence
import json
import os
import sys
from typing import TYPE_CHECKING, Any, ClassVar
import warnings

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.split_builder import SplitGenerator

from voc_seg_tfrecord.core import config as configs
from voc_seg_tfrecord.core import description, releases, requirements, staging, storage
from voc_seg_tfrecord.core import names as names_of
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, Item, Source
from voc_seg_tfrecord.core.id_lists import id_list_sha256, image_id
from voc_seg_tfrecord.core.names import VOID, voc_palette
from voc_seg_tfrecord.writing import pieces, shards
from voc_seg_tfrecord.writing.copies import Copies, Digests
from voc_seg_tfrecord.writing.examples import try_examples

_TFRECORD = tfds.core.FileFormat.TFRECORD


class Builder(tfds.core.GeneratorBasedBuilder):
    """Semantic segmentation data in the Pascal VOC layout."""

    VERSION = tfds.core.Version("1.0.0")  # of the format, and of datasets that name none
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"1.0.0": "First release."}
    BUILDER_CONFIGS = configs.BUILDER_CONFIGS
    DEFAULT_BUILDER_CONFIG_NAME = "2012"
    MANUAL_DOWNLOAD_INSTRUCTIONS = description.MANUAL_DOWNLOAD_INSTRUCTIONS

    # What to build from in place of what the config names: records or arrays.
    source: Source | None = None

    # The images that two splits share, of the dataset that it has built.
    copies = Copies()

    _checksums_path = releases.facts_folder("checksums") / "checksums.tsv"
    _workers: int | None = None  # set while it is built
    _place: str = ""  # of the dataset, set while it is built beside it
    _digests: Digests | None = None  # of its images, set while it is built of several splits

    def __init__(
        self, *, file_format: str | tfds.core.FileFormat | None = None, **options: Any
    ) -> None:
        _check_format(file_format)
        super().__init__(**options)

    if TYPE_CHECKING:  # TFDS says no more than that it is a config

        @property
        def builder_config(self) -> VocSegConfig:
            """What the dataset is made from."""
            ...

    def _info(self) -> tfds.core.DatasetInfo:
        """Returns features, citation and metadata; see the package's README for each."""
        config, package = self.builder_config, self.get_metadata()
        features, target = description.feature_table(config)
        said = description.dataset_description(config, package.description, package.citation)
        # All of the config but what changes no byte of the dataset.
        stored = json.loads(config.to_json())
        stored.pop("trust_images", None)
        if stored.get("version") == str(self.VERSION):
            del stored["version"]  # the same as none
        return _Info(
            builder=self,
            **vars(said),
            features=tfds.features.FeaturesDict(features),
            supervised_keys=(names_of.IMAGE, target) if target else None,
            metadata=tfds.core.MetadataDict(
                format_version=str(self.VERSION),
                ignore_label=VOID,
                class_names=list(config.built_class_names),
                palette=voc_palette().tolist(),
                config=stored,
                **_class_map(config),
            ),
        )

    @property
    def data_path(self) -> epath.Path:
        """The dataset's folder; see TFDS.

        `tfds build --overwrite` removes it before this builder is asked to build. It is not
        removed for that caller, and replaced when the new dataset is complete. There is no way but
        the caller's name: TFDS says nothing to the builder before it removes the folder.
        """
        path = super().data_path
        caller = sys._getframe(1).f_globals.get("__name__")
        return _Kept(path) if caller == "tensorflow_datasets.scripts.cli.build" else path

    def as_dataset(
        self, split: Any = None, *, batch_size: int | None = None, **options: Any
    ) -> Any:
        """Reads the dataset as `tf.data`; see TFDS.

        It warns of `batch_size`, which pads masks with background where sizes differ.

        Raises:
          MissingPackageError: if TensorFlow is not installed.
          RecordError: if another build has replaced the dataset since this builder opened it.
        """
        from voc_seg_tfrecord.reading.dataset import check_unchanged  # builds do not need it

        requirements.require("tensorflow", "tfds.load", "use voc_seg_tfrecord.data_source")
        if batch_size is not None:
            warn_of_padding(self.builder_config, batch_size)
        if self.data_path.exists():  # TFDS says what to do if it is not built
            check_unchanged(self)
        return super().as_dataset(split, batch_size=batch_size, **options)

    def as_data_source(self, split: Any = None, **options: Any) -> Any:
        """Reads files that TFDS can read at random; see TFDS.

        Raises:
          ConfigError: for TFRecord files, which `voc_seg_tfrecord.data_source` reads.
        """
        if self.info.file_format == _TFRECORD:
            _check_format("array_record")
        return super().as_data_source(split, **options)

    def download_and_prepare(
        self,
        *,
        download_config: tfds.download.DownloadConfig | None = None,
        workers: int | None = None,
        file_format: str | tfds.core.FileFormat | None = None,
        **options: Any,
    ) -> None:
        """Builds the dataset; see TFDS.

        A dataset that is replaced stays until the new one is complete. What builds left that
        were killed is removed.

        Args:
          download_config: see TFDS.
          workers: how many processes make the examples; by default as many as are fastest.
          file_format: only `tfrecord`.
          **options: see TFDS.

        Raises:
          VocSegError: if the data or the call is wrong, or the disk cannot be written; then
            nothing was built, and a dataset that was there is still there.
        """
        _check_format(file_format)
        storage.check_encoding()
        download_config = download_config or tfds.download.DownloadConfig()
        mode = download_config.download_mode
        update = mode == tfds.download.GenerateMode.UPDATE_DATASET_INFO
        if update or (self.data_path.exists() and not mode.overwrite_dataset):
            description.check_same_content(self.data_path, self.builder_config)
            super().download_and_prepare(download_config=download_config, **options)
            if update:
                storage.write_sums(self.data_path, kept=storage.read_sums(self.data_path))
            return
        _check_bucket(os.fspath(self.data_path))
        if self.data_path.exists():  # TFDS would keep metadata of the dataset that is replaced
            self.info.__dict__.update(vars(self._info()))
            self.info.set_file_format(_TFRECORD)
        assign = tfds.core.utils.temporary_assignment
        with (
            storage.as_storage_error(self.data_path),
            staging.staged_folder(self.data_path, replace=mode.overwrite_dataset) as folder,
            assign(self, "_place", self.data_dir),
            assign(self, "_data_dir", os.fspath(folder)),
            assign(self, "_workers", workers),
            assign(self, "_digests", None),
        ):
            super().download_and_prepare(download_config=download_config, **options)
            storage.write_sums(folder)
            self.copies = self._digests.find() if self._digests else Copies()
        self.info.update_data_dir(self.data_dir)
        self.copies.warn(self.data_path)

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
        super()._download_and_prepare(dl_manager, download_config)

    def _generate_splits(
        self,
        dl_manager: tfds.download.DownloadManager,
        download_config: tfds.download.DownloadConfig,
    ) -> Sequence[tfds.core.SplitInfo]:
        """Writes all splits shard by shard, and notes the digest of the image ids of each.

        There is none of tiles of which only the first are written, because it is not known of which
        images these are.
        """
        from voc_seg_tfrecord.audit.versions import OlderVersion  # readers do not need it

        source = shards.drawn(self._open_source(dl_manager))
        most = download_config.max_examples_per_split
        engine = self._engine(source, download_config)
        older = OlderVersion(epath.Path(self._place))
        older.check_classes(source.spec.class_names, are_numbered=source.numbered)
        if len(source.splits) > 1:
            self._digests = Digests(overlap=self.builder_config.overlap)
        templates = {split: self._get_filename_template(split) for split in source.splits}
        infos = shards.write(
            source, templates, self.info.features, download_config, engine, self._digests
        )
        ids = {
            split: [image_id(items[number].filename) for number in range(len(items))[:most]]
            for split, items in source.splits.items()
        }
        older.check_ids(ids)
        if most is None or source.spec.tiling is None:
            self.info.metadata["splits"] = {
                split: {"ids_sha256": id_list_sha256(of_split)} for split, of_split in ids.items()
            }
        return infos

    def _split_generators(
        self, dl_manager: tfds.download.DownloadManager
    ) -> dict[str, SplitGenerator]:
        """Returns the examples of each split in the order of its list."""
        source = self._open_source(dl_manager)
        return {
            split: self._generate_examples(items, source.spec)
            for split, items in source.splits.items()
        }

    def _generate_examples(self, items: Iterable[Item], spec: ExampleSpec) -> SplitGenerator:
        """Yields `(key, example)` of each item; of tiles, of each tile.

        Raises:
          VocSegError: for the first item that cannot be used.
        """
        for item in items:
            made = try_examples(spec, item)
            if isinstance(made, VocSegError):
                raise made
            yield from made

    def _engine(
        self, source: Source, download_config: tfds.download.DownloadConfig
    ) -> pieces.Engine:
        """Returns what does the work.

        Raises:
          ConfigError: if it cannot be done where the user wants it.
        """
        on_beam = bool(download_config.beam_options or download_config.beam_runner)
        if self._workers is not None and (self._workers < 1 or on_beam):
            raise ConfigError(
                f"workers {self._workers}",
                found="Apache Beam beside it" if on_beam else "no number of processes",
                expected="the number of processes on this machine, 1 or more",
                remedy="say to the runner how many workers it may use, and leave workers out"
                if on_beam
                else "change workers (--workers)",
            )
        in_memory = any(isinstance(items, shards.Drawn) for items in source.splits.values())
        if in_memory and (on_beam or (self._workers or 1) > 1):
            raise ConfigError(
                "Apache Beam" if on_beam else f"workers {self._workers}",
                found="examples that are in the memory of this process alone",
                expected="examples that lie in files, which workers can read",
                remedy="build them without Beam options and without workers",
            )
        if not on_beam:
            return pieces.Here(self._workers or shards.fastest(source))
        requirements.require("apache_beam", "a build with Beam options", "leave them out")
        return pieces.Beam(self.data_path / "pieces", download_config)

    def _open_source(self, dl_manager: tfds.download.DownloadManager) -> Source:
        """Finds every split's files and checks its list, all before the first record."""
        # Imported here, as what is built is read without them.
        from voc_seg_tfrecord.sources.devkit import Fetcher
        from voc_seg_tfrecord.sources.open import open_source

        source = self.source or open_source(self.builder_config, Fetcher(dl_manager))
        if source.archives:  # no key at all otherwise: what was not verified is not recorded
            self.info.metadata["archives"] = list(source.archives)
        if source.rows:
            self.info.metadata["classes"] = [list(row) for row in source.rows]
        for index, color in source.colors.items():
            self.info.metadata["palette"][index] = list(color)
        return source


class _Kept(type(epath.Path())):  # type: ignore[misc]
    """A folder that a call does not remove."""

    def rmtree(self, missing_ok: bool = False) -> None:
        """Does nothing."""


class _Info(tfds.core.DatasetInfo):
    """What TFDS says of a dataset of ours."""

    def initialize_from_bucket(self) -> None:
        """Does nothing. TFDS would look in its bucket, and leave a temporary folder behind."""


def _check_bucket(data_path: str) -> None:
    """Refuses to build into an object store that cannot be written from here.

    Raises:
      ConfigError: for `s3://`, where TFDS cannot rename the folder in which it has built.
      MissingPackageError: for `gs://` without TensorFlow, by which TFDS writes there.
    """
    copy_it = "build into a folder on a disk, then copy the dataset to the bucket"
    if data_path.startswith("s3://"):
        raise ConfigError(
            f"data_dir {data_path}",
            found="a bucket that TFDS cannot build into",
            expected="a folder on a disk, or a bucket of gs://",
            remedy=f"{copy_it}, as with `aws s3 sync`",
        )
    if data_path.startswith("gs://"):
        requirements.require("tensorflow", f"a build into {data_path}", copy_it)


def _check_format(file_format: str | tfds.core.FileFormat | None) -> None:
    if file_format is not None and tfds.core.FileFormat.from_value(file_format) != _TFRECORD:
        raise ConfigError(
            f"file_format {getattr(file_format, 'value', file_format)}",
            found="a file format that is not written",
            expected="tfrecord",
            remedy="leave --file_format out; read TFRecords in any order with "
            "voc_seg_tfrecord.data_source, or write Parquet with `voc-seg-tfrecord export "
            "--layout parquet`",
        )


def _class_map(config: VocSegConfig) -> dict[str, Any]:
    """Returns what became of the source's classes, where they did not just stay."""
    became = config.table.became() if config.task == "segmentation" else {}
    said = {"to": became, "background": config.built_background}
    return {"class_map": said} if became else {}


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
