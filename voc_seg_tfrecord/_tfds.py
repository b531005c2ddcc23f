"""Every step around TFDS 4.9.10 in one place, each with its reason and when it can go.

`Builder` in `voc_seg_tfrecord_dataset_builder` is what a TFDS builder usually is: features, splits
and examples. `SteppingAroundBuilder` stands between it and TFDS's own class:

1. `data_path` hides the dataset from the `rmtree` of `tfds build --overwrite`. That command removes
   the old dataset itself before it asks the builder to build, and a build that fails would leave
   none. The step can go when the command leaves this to `download_mode`.
2. `download_and_prepare` lets TFDS build in a staging folder, which then takes the dataset's place.
   TFDS removes the old dataset before it makes the new one. The step can go when TFDS exchanges the
   two.
3. `_generate_splits` writes the shards in TFDS's order. TFDS itself shuffles all records through
   temporary files, makes them in one process without Beam, and serializes them to bytes that differ
   from process to process. The step can go when TFDS does none of the three.
4. `DatasetInfo.initialize_from_bucket` does nothing. TFDS looks into its own bucket for any
   dataset, and leaves a temporary folder behind. The step can go when TFDS looks for its own
   datasets only.
5. `_download_and_prepare` checks `manual_dir`. TFDS's own error does not say what may lie there.
   The step can go when TFDS prints `MANUAL_DOWNLOAD_INSTRUCTIONS` for a folder that is missing.
6. `as_dataset` warns of `batch_size`, which pads masks with 0. The step can go when a feature can
   say with what it is padded.
7. `as_data_source` refuses TFRecord files, for which TFDS raises `File format is already set`.
   The step can go when TFDS reads TFRecord files at random.
8. Within `tfds.testing.mock_data`, `download_and_prepare` builds nothing and `as_data_source`
   refuses nothing. `mock_data` replaces the methods of TFDS's own class, and these here would do
   their work before they call it. The step can go with steps 2 and 7.
9. `_as_dataset` refuses to read on if another build replaces the dataset. The step can go when TFDS
   compares a dataset with the one that was opened.
"""

from collections.abc import Mapping, Sequence
import contextlib
import dataclasses
import json
import os
import sys
import types
from typing import TYPE_CHECKING, Any
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import requirements, staging, storage
from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, SplitError
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.core.id_lists import id_list_sha256, id_of_file
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.writing import engines, shards
from voc_seg_tfrecord.writing.copies import CopyFinder, SharedImages
from voc_seg_tfrecord.writing.tasks import StreamedItems, stream_items

_TFRECORD = tfds.core.FileFormat.TFRECORD
_COMMAND_THAT_REMOVES_DATASETS = "tensorflow_datasets.scripts.cli.build"

_CONTENT_FIELDS = (
    "release",
    "class_names",
    "default_names",
    "classes",
    "background",
    "splits",
    "split_by",
    "group_by",
    "seed",
    "layout",
    "exclude",
    "instance_mask",
    "objects",
    "bands",
    "dtype",
    "tile",
    "tile_overlap",
    "tile_format",
)
"""The fields of a config that change the content of its dataset."""


class DatasetInfo(tfds.core.DatasetInfo):
    """TFDS's info of a dataset, which is not looked for in TFDS's bucket."""

    def initialize_from_bucket(self) -> None:
        """Does nothing; see step 4."""


@dataclasses.dataclass
class _RunningBuild:
    """The state of a build in a staging folder while TFDS runs it.

    Attributes:
      final_data_dir: the dataset's folder, which does not hold the new dataset yet.
      workers: how many processes make the examples; None for as many as are fastest.
      written: what was written, split by split.
    """

    final_data_dir: str
    workers: int | None
    written: Sequence[shards.WrittenSplit] = ()


class SteppingAroundBuilder(  # TFDS has no types
    tfds.core.GeneratorBasedBuilder,
    skip_registration=True,  # type: ignore[call-arg]
):
    """A builder whose dataset appears when it is complete, with shards in TFDS's order.

    A subclass implements `open_source`.
    """

    # About the dataset that this builder has built: the images that two splits share, and images
    # and pixels of each class in each split whose records are all kept.
    copies = SharedImages()
    class_counts: Mapping[str, ClassCounts] = types.MappingProxyType({})

    _running: _RunningBuild | None = None

    def __init__(
        self, *, file_format: str | tfds.core.FileFormat | None = None, **options: Any
    ) -> None:
        if not _is_mocked():
            _check_format(file_format)
        super().__init__(**options)

    if TYPE_CHECKING:  # TFDS's annotation is the base class of all configs

        @property
        def builder_config(self) -> VocSegConfig:
            """The config that the dataset is made from."""
            ...

    def open_source(self, dl_manager: tfds.download.DownloadManager) -> Source:
        """Finds the files of each split and checks its list before any record is made."""
        raise NotImplementedError

    @property
    def data_path(self) -> epath.Path:
        """The dataset's folder; see TFDS.

        Only the caller's name tells `tfds build --overwrite` from others, because TFDS does not
        tell the builder that it removes the folder. See step 1.
        """
        path = super().data_path
        caller = sys._getframe(1).f_globals.get("__name__")
        if caller == _COMMAND_THAT_REMOVES_DATASETS:
            return _PathThatStays(path)
        return path

    def as_dataset(
        self, split: Any = None, *, batch_size: int | None = None, **options: Any
    ) -> Any:
        """Reads the dataset as `tf.data`; see TFDS.

        It warns of `batch_size`, which pads masks with background where sizes differ.

        Raises:
          MissingPackageError: if TensorFlow is not installed.
          RecordError: if another build has replaced the dataset since this builder opened it.
        """
        requirements.require("tensorflow", "tfds.load", "use voc_seg_tfrecord.data_source")
        if batch_size is not None:
            warn_of_padding(self.builder_config, batch_size)
        return super().as_dataset(split=split, batch_size=batch_size, **options)

    def _as_dataset(self, *args: Any, **options: Any) -> Any:
        """Reads one split; see TFDS, and step 9."""
        if _is_mocked():
            return super()._as_dataset(*args, **options)
        from voc_seg_tfrecord.pipeline.records import check_records_of  # builds do not need it

        snapshot = dataset_files.Snapshot.take(self)
        return check_records_of(snapshot, super()._as_dataset(*args, **options))

    def as_data_source(self, split: Any = None, **options: Any) -> Any:
        """Reads files that TFDS can read at random; see TFDS.

        Raises:
          ConfigError: for TFRecord files, which `voc_seg_tfrecord.data_source` reads.
        """
        if self.info.file_format == _TFRECORD and not _is_mocked():
            _check_format("array_record")
        return super().as_data_source(split=split, **options)

    def download_and_prepare(
        self,
        *,
        download_config: tfds.download.DownloadConfig | None = None,
        workers: int | None = None,
        file_format: str | tfds.core.FileFormat | None = None,
        **options: Any,
    ) -> None:
        """Builds the dataset; see TFDS.

        A dataset that is replaced stays until the new one is complete. The remains of killed builds
        are removed.

        Args:
          download_config: see TFDS.
          workers: number of processes that make the examples; by default one for each 3,000 images,
            at most one per core.
          file_format: only `tfrecord`.
          **options: see TFDS.

        Raises:
          VocSegError: if the data or the call is wrong, or the disk cannot be written; then
            nothing was built, and a dataset that was there is still there.
        """
        if _is_mocked():
            return
        _check_format(file_format)
        storage.check_encoding()
        download_config = download_config or tfds.download.DownloadConfig()
        mode = download_config.download_mode
        if mode == tfds.download.GenerateMode.UPDATE_DATASET_INFO:
            _check_same_content(self.data_path, self.builder_config)
            super().download_and_prepare(download_config=download_config, **options)
            dataset_files.write_sums(self.data_path, known=dataset_files.read_sums(self.data_path))
            return
        if self.data_path.exists() and not mode.overwrite_dataset:
            _check_same_content(self.data_path, self.builder_config)
            super().download_and_prepare(download_config=download_config, **options)
            return
        self._build(download_config, workers, options)

    def _build(
        self,
        download_config: tfds.download.DownloadConfig,
        workers: int | None,
        options: Mapping[str, Any],
    ) -> None:
        """Builds in a staging folder, which takes the dataset's place when it is complete."""
        _check_bucket(os.fspath(self.data_path))
        if self.data_path.exists():
            self._renew_info()
        running = _RunningBuild(self.data_dir, workers)
        replace = download_config.download_mode.overwrite_dataset
        assign = tfds.core.utils.temporary_assignment
        with (
            storage.as_storage_error(self.data_path),
            staging.staged_folder(self.data_path, replace=replace) as folder,
            assign(self, "_running", running),
            assign(self, "_data_dir", os.fspath(folder)),
        ):
            super().download_and_prepare(download_config=download_config, **options)
            dataset_files.write_sums(folder)
        self.copies = _find_shared_images(running.written, overlap=self.builder_config.overlap)
        self.class_counts = {
            split.name: split.class_counts
            for split in running.written
            if split.class_counts is not None
        }
        self.info.update_data_dir(self.data_dir)
        self.copies.warn(self.data_path)

    def _renew_info(self) -> None:
        """Makes all fields of the info anew, which describe the dataset that is replaced.

        TFDS would keep its metadata and splits. The object stays, because others may hold it.
        """
        self.info.__dict__.update(vars(self._info()))
        self.info.set_file_format(_TFRECORD)

    def _log_download_bytes(self) -> None:
        with self._under_final_name():
            super()._log_download_bytes()

    def _log_download_done(self) -> None:
        with self._under_final_name():
            super()._log_download_done()

    def _under_final_name(self) -> contextlib.AbstractContextManager[None]:
        """Returns a context in which TFDS prints the dataset's folder, not the staging folder."""
        if self._running is None:
            return contextlib.nullcontext()
        final = self._running.final_data_dir
        return tfds.core.utils.temporary_assignment(self, "_data_dir", final)

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
        """Writes all splits shard by shard, and notes the digest of the image ids of each split."""
        # Readers do not need these.
        from voc_seg_tfrecord.audit.versions import NewClasses, open_older_version
        from voc_seg_tfrecord.folder.splits.excluded import add_way_out

        assert self._running is not None
        source = stream_items(self.open_source(dl_manager))
        engine = _choose_engine(self, source, download_config, self._running.workers)
        older = open_older_version(epath.Path(self._running.final_data_dir))
        if older is not None:
            older.check_classes(NewClasses.of_source(source, self.builder_config))
        templates = {split: self._get_filename_template(split) for split in source.splits}
        try:
            self._running.written = shards.write(
                source,
                templates,
                self.info.features,
                download_config,
                engine,
                takes_digests=len(source.splits) > 1,
            )
        except SplitError as error:
            if self.builder_config.release:  # its images are known, and none may be left out
                raise
            raise add_way_out(error, self.builder_config.exclude) from None
        max_examples = download_config.max_examples_per_split
        ids = _image_ids(source, max_examples)
        if older is not None:
            older.check_ids(ids, _image_digests(self._running.written, ids))
        # The first tiles may be those of any images, so their ids are not known.
        are_ids_known = max_examples is None or source.spec.tiling is None
        if are_ids_known:
            self.info.metadata["splits"] = {
                split: {"ids_sha256": id_list_sha256(ids_of_split)}
                for split, ids_of_split in ids.items()
            }
        return [split.info() for split in self._running.written]


def _find_shared_images(written: Sequence[shards.WrittenSplit], *, overlap: bool) -> SharedImages:
    """Finds the images that two splits share, byte for byte."""
    finder = CopyFinder(overlap=overlap)
    for split in written:
        finder.add(split.name, split.image_digests, split.id_of)
    return finder.find()


def _is_mocked() -> bool:
    """Returns whether this runs within `tfds.testing.mock_data`; see step 8."""
    method = tfds.core.DatasetBuilder.download_and_prepare
    return str(method.__module__) == "tensorflow_datasets.testing.mocking"


class _PathThatStays(type(epath.Path())):  # type: ignore[misc]
    """A folder that a call does not remove; see step 1."""

    def rmtree(self, missing_ok: bool = False) -> None:
        """Does nothing."""


def _check_same_content(folder: epath.Path, config: VocSegConfig) -> None:
    """Checks that a dataset of a config's name was built with the content of the config.

    TFDS reuses a dataset of the same name, so it would silently ignore changed options.

    Raises:
      ConfigError: if one of `_CONTENT_FIELDS` was another one.
    """
    path = folder / "metadata.json"
    built = json.loads(dataset_files.read_small(path)).get("config") if path.exists() else None
    if not isinstance(built, dict):
        return  # another program has built it; reading it reports that
    fields = json.loads(config.to_json())
    if config.official is None:
        for names in (built, fields):
            names.setdefault("class_names", list(VOC_CLASSES))
    for field in _CONTENT_FIELDS:
        if built.get(field) != fields.get(field):
            raise ConfigError(
                folder,
                found=f"a dataset that was built with another value of {field}: "
                f"{built.get(field, 'the default')}",
                expected=f"{fields.get(field, 'the default')}, as in this config",
                remedy="choose another name for the new dataset, or delete the folder",
            )


def _image_ids(source: Source, max_examples: int | None) -> dict[str, list[str]]:
    """Returns the ids of the images of each split, or of its first examples."""
    ids = {}
    for split, items in source.splits.items():
        numbers = range(len(items))[:max_examples]
        ids[split] = [id_of_file(items[number].filename) for number in numbers]
    return ids


def _image_digests(
    written: Sequence[shards.WrittenSplit], ids: Mapping[str, Sequence[str]]
) -> dict[str, int]:
    """Returns the digest of each image by its id, as far as digests were taken."""
    digest_by_id: dict[str, int] = {}
    for split in written:
        ids_of_split = ids[split.name]
        if len(split.image_digests) == len(ids_of_split):
            digest_by_id.update(zip(ids_of_split, split.image_digests.tolist(), strict=True))
    return digest_by_id


def _choose_engine(
    builder: SteppingAroundBuilder,
    source: Source,
    download_config: tfds.download.DownloadConfig,
    workers: int | None,
) -> engines.Engine:
    """Returns the engine of a build: this process, several, or Apache Beam.

    Raises:
      ConfigError: if the work cannot be done where the user wants it.
    """
    on_beam = bool(download_config.beam_options or download_config.beam_runner)
    if workers is not None and on_beam:
        raise ConfigError(
            f"workers {workers}",
            found="given together with Apache Beam",
            expected="the number of processes on this machine, 1 or more",
            remedy="leave workers out, and set the number of workers in the options of the Beam "
            "runner",
        )
    if workers is not None and workers < 1:
        raise ConfigError(
            f"workers {workers}",
            found="a number below 1",
            expected="the number of processes on this machine, 1 or more",
            remedy="change workers (--workers)",
        )
    in_memory = any(isinstance(items, StreamedItems) for items in source.splits.values())
    if in_memory and (on_beam or (workers or 1) > 1):
        raise ConfigError(
            "Apache Beam" if on_beam else f"workers {workers}",
            found="examples that only this process has in memory",
            expected="examples that lie in files, which workers can read",
            remedy="build them without Beam options and without workers",
        )
    if not on_beam:
        return engines.LocalEngine(workers or shards.fastest_worker_count(source))
    requirements.require("apache_beam", "a build with Beam options", "leave them out")
    return engines.BeamEngine(builder.data_path / shards.CHUNK_FOLDER, download_config)


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
    """Refuses every file format but TFRecord."""
    if file_format is None or tfds.core.FileFormat.from_value(file_format) == _TFRECORD:
        return
    raise ConfigError(
        f"file_format {getattr(file_format, 'value', file_format)}",
        found="an unsupported file format",
        expected="tfrecord",
        remedy="leave --file_format out; read TFRecords in any order with "
        "voc_seg_tfrecord.data_source, or write Parquet with `voc-seg-tfrecord export "
        "--layout parquet`",
    )


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
        stacklevel=3,  # the call of `as_dataset`
    )
