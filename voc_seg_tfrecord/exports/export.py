"""Writes a built dataset in a layout that other code reads, with the dataset's card beside it.

A new layout is a function that writes a split, a row of `LAYOUTS`, and what the card says of it.
"""

from collections.abc import Callable, Collection, Sequence
import dataclasses
import functools
import re

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import staging, storage
from voc_seg_tfrecord.core.errors import ConfigError, StorageError
from voc_seg_tfrecord.core.file import check_file_name, show_file_name
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, MASK, SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.exports import card, coco, parquet, ultralytics, writers
from voc_seg_tfrecord.exports.card import Summary, summarize
from voc_seg_tfrecord.exports.writers import ExportedSplit
from voc_seg_tfrecord.reading import dataset_files, metadata

_LINE_OF_EACH_CARD = re.compile(
    rb"^Fingerprint of the [\d,]+ examples \(`voc-seg-tfrecord verify` computes it again\):\r?$",
    re.MULTILINE,
)
"""A line of the template that every card has. A file with this line is taken for a card."""

PALETTE_SUFFIX = "-palette"
"""The end of a layout's name if its masks are palette PNGs; the option --palette adds it."""


@dataclasses.dataclass(frozen=True)
class ExportLayout:
    """A layout that a dataset can be exported in.

    Attributes:
      help: what it writes, for `export --help`.
      write: writes a split; returns what differs from the dataset, in sentences.
      needs_masks: whether only datasets with masks can be exported.
      check_split: raises a `ConfigError` if a split's name does not fit; takes the name, and the
        dataset's name.
      finish: writes what all splits share, after them; takes the dataset, the folder of the export
        and the names of the splits' folders; returns sentences as `write` does.
      is_tree: whether it has one file per image or more, whose digests stand in SHA256SUMS. Then
        it has no shards.
      takes_any_bands: whether images may have other bands than RGB of 8 bits.
    """

    help: str
    write: Callable[[ExportedSplit], list[str]]
    needs_masks: bool = True
    check_split: Callable[[str, str], None] | None = None
    finish: Callable[[tfds.core.DatasetBuilder, epath.Path, Sequence[str]], list[str]] | None = None
    is_tree: bool = False
    takes_any_bands: bool = False

    def can_hold(self, has_masks: bool, has_bands: bool) -> bool:
        """Says whether a dataset fits; it `has_bands` if its images are not RGB of 8 bits."""
        if self.needs_masks and not has_masks:
            return False
        return self.takes_any_bands or not has_bands


BASE_LAYOUTS: dict[str, ExportLayout] = {
    "raw": ExportLayout(
        help="TFRecords with pixels in image_raw and label_raw",
        write=functools.partial(writers.write_records, writers.raw_features),
        needs_masks=False,
    ),
    "deeplab": ExportLayout(
        help="TFRecords with DeepLab's features, image/encoded and others",
        write=functools.partial(writers.write_records, writers.deeplab_features),
    ),
    "voc": ExportLayout(
        help="a tree with JPEGImages, SegmentationClass and ImageSets",
        write=writers.write_voc,
        finish=writers.write_table_of_folds,
        is_tree=True,
        takes_any_bands=True,
    ),
    "ultralytics": ExportLayout(
        help="images, mask PNGs and data.yaml, for Ultralytics' task semantic",
        write=ultralytics.write_masks,
        check_split=ultralytics.check_split,
        finish=ultralytics.write_data_of_masks,
        is_tree=True,
    ),
    "yolo": ExportLayout(
        help="images, texts of polygons with holes and data.yaml, for YOLO's task segment",
        write=ultralytics.write_polygons,
        check_split=ultralytics.check_split,
        finish=ultralytics.write_data_of_polygons,
        is_tree=True,
    ),
    "coco": ExportLayout(
        help="images, and COCO's JSON with masks as RLE",
        write=coco.write,
        is_tree=True,
    ),
    "parquet": ExportLayout(
        help="every feature as a column, for Hugging Face's datasets.load_dataset(FOLDER)",
        write=parquet.write,
        needs_masks=False,
        check_split=parquet.check_split,
        takes_any_bands=True,
    ),
}
"""The layouts by name, without the one whose name ends with `PALETTE_SUFFIX`."""

_PARQUET_WITH_PALETTE = dataclasses.replace(BASE_LAYOUTS["parquet"], write=parquet.write_colored)

LAYOUTS = BASE_LAYOUTS | {f"parquet{PALETTE_SUFFIX}": _PARQUET_WITH_PALETTE}
"""All layouts by name."""


def export(
    builder: tfds.core.DatasetBuilder,
    out: PathLike,
    *,
    layout: str,
    num_shards: int | None = None,
    with_card: bool = False,
    splits: Collection[str] | None = None,
) -> list[str]:
    """Writes a built dataset in another layout, and nothing outside its folder.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`, `deeplab`, `voc`, `ultralytics`, `yolo`, `coco`, `parquet` or `parquet-palette`
        (masks as palette PNGs); see docs/guides/publishing.md.
      num_shards: files per split. By default 1 file of TFRecords, and Parquet files of about
        500 MB. Not for the layouts of one file per image.
      with_card: whether to add `README.md`, and `SHA256SUMS` to a tree of many files (False). A
        card describes a complete dataset, so there is none if `splits` are given.
      splits: what to write: splits, or `ListedSplit`s of them; by default all splits.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      ConfigError: if the folder is not empty or cannot be made, if the layout has no shards, or if
        it cannot hold the dataset: it needs masks, or other names of splits.
      KeyError: if there is no such layout.
      RecordError: if the name of an image or a split cannot be that of a file below the folder.
      StorageError: if the folder cannot be written, or the dataset cannot be read. The folder is
        there only if the export is complete.
    """
    folder = epath.Path(out).expanduser()
    folder = folder.resolve()  # so that "." has a name and a parent
    export_layout = LAYOUTS[layout]
    if num_shards is not None and export_layout.is_tree:
        raise ConfigError(
            "--num_shards",
            found=f"the layout {layout}, which writes one file per image",
            expected="raw, deeplab or parquet",
            remedy="leave --num_shards out, or export in another layout",
        )
    _check_out(folder)
    _check_layout(builder, export_layout)
    staging.check_output_folder(folder.parent, "--out")
    chosen_splits = builder.info.splits if splits is None else splits
    with storage.as_storage_error(folder), staging.staged_folder(folder) as incomplete:
        incomplete.mkdir()
        notes: list[str] = []
        folders: list[str] = []
        for name in chosen_splits:
            split = ExportedSplit(builder, name, incomplete, num_shards)
            notes += export_layout.write(split)
            folders.append(split.short_name)
        if export_layout.finish is not None:
            notes += export_layout.finish(builder, incomplete, folders)
        if with_card and export_layout.is_tree:
            dataset_files.write_sums(incomplete)
        if with_card and splits is None:
            summary = summarize(builder, progress=True)
            (incomplete / card.NAME).write_bytes(_encode_card(builder, summary, layout))
    return notes


def _check_out(folder: epath.Path) -> None:
    """Raises a `ConfigError` if something is at the place of the new folder."""
    if not folder.exists():
        return
    if not folder.is_dir():
        found = "a file"
    elif any(folder.iterdir()):
        found = "a folder that is not empty"
    else:
        return
    raise ConfigError(
        folder, found=found, expected="a new folder", remedy="name a new or empty folder"
    )


def _check_layout(builder: tfds.core.DatasetBuilder, layout: ExportLayout) -> None:
    """Raises a `ConfigError` if a layout cannot hold a dataset."""
    dataset_name = builder.info.full_name
    if layout.needs_masks and MASK not in builder.info.features:
        raise ConfigError(
            dataset_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy=_advise_instead(builder),
        )
    metadata.check_features(builder, SEGMENTATION if layout.needs_masks else (IMAGE, FILENAME))
    if not layout.takes_any_bands:
        metadata.check_rgb(builder, "this layout", _advise_instead(builder))
    for split in builder.info.splits:
        check_file_name(split, f"{dataset_name}, split {show_file_name(split)}")
        if layout.check_split is not None:
            layout.check_split(split, dataset_name)


def _advise_instead(builder: tfds.core.DatasetBuilder) -> str:
    """Returns what to do with a dataset that a layout cannot hold."""
    has_masks = MASK in builder.info.features
    has_bands = bool(metadata.bands_of(builder))
    names = [name for name, layout in BASE_LAYOUTS.items() if layout.can_hold(has_masks, has_bands)]
    if not names:
        return "read it with tfds.load, no layout holds such images without masks"
    return f"export it as {' or '.join(names)}, or read it with tfds.load"


def _encode_card(builder: tfds.core.DatasetBuilder, summary: Summary, layout: str) -> bytes:
    """Returns the card's file; half a surrogate pair, which UTF-8 cannot hold, becomes `?`."""
    return card.write(builder, summary, layout).encode("utf-8", "replace")


def write_card(
    builder: tfds.core.DatasetBuilder, out: PathLike, *, progress: bool = False
) -> epath.Path:
    """Writes the card of a dataset as it was built; replaces an earlier card.

    Args:
      builder: the builder of the built dataset.
      out: a file whose name ends with `.md`; or a folder, which may be the dataset's own, for
        `README.md`. A folder that does not exist is made.
      progress: whether to show a progress bar.

    Returns:
      The file that was written.

    Raises:
      ConfigError: if the file exists and is no card.
      RecordError: if a record cannot be read.
      StorageError: if the file cannot be written.
    """
    path = epath.Path(out).expanduser()
    if path.suffix.lower() != ".md":
        path /= card.NAME
    if path.exists() and not _is_card(path):
        raise ConfigError(
            path,
            found="a file that voc_seg_tfrecord did not write",
            expected="none, or an earlier card of this package",
            remedy="name another folder, or move the file away",
        )
    with storage.as_storage_error(path.parent):
        summary = summarize(builder, progress=progress)
        data = _encode_card(builder, summary, card.BUILT)
        if path.parent.exists():
            with staging.staged_file(path) as file:
                file.write_bytes(data)
        else:
            staging.write_files(path.parent, {path.name: data})
    return path


def _is_card(path: epath.Path) -> bool:
    """Says whether a file is a card that this package wrote."""
    try:
        data = storage.read_bytes(path, storage.MAX_FILE_BYTES[StorageError])
    except OSError:
        return False
    return _LINE_OF_EACH_CARD.search(data) is not None
