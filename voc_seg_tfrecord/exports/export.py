"""Writes a built dataset in a layout that other code reads, with the dataset's card beside it.

A new layout is a function that writes a split, a row of `LAYOUTS`, and what the card says of it.
"""

from collections.abc import Callable, Collection
import dataclasses
import functools

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import dataset_files, file_names, output_files, staging, storage
from voc_seg_tfrecord.core.errors import ConfigError, StorageError
from voc_seg_tfrecord.core.file_names import show_name
from voc_seg_tfrecord.core.names import FILENAME, IMAGE, MASK, SEGMENTATION
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.exports import card, parquet, writers
from voc_seg_tfrecord.exports.card import summarize
from voc_seg_tfrecord.exports.writers import ExportedSplit
from voc_seg_tfrecord.reading import dataset

_CARD_MARK = b"Fingerprint of "
"""Stands in each card, so that a card of this package is known."""

PALETTE = "-palette"
"""Ends the name of a layout whose masks are palette PNGs."""


@dataclasses.dataclass(frozen=True)
class ExportLayout:
    """A layout that a dataset can be exported in.

    Attributes:
      help: what it writes, for `export --help`.
      write: writes a split; returns what differs from the dataset, in sentences.
      needs_masks: whether only datasets with masks can be exported.
      check_split: raises a `ConfigError` if a split's name does not fit; takes the name, and the
        dataset's name.
      is_tree: whether it has one file per image or more, whose digests stand in SHA256SUMS.
      has_bands: whether images may have other bands than RGB of 8 bits.
    """

    help: str
    write: Callable[[ExportedSplit], list[str]]
    needs_masks: bool = True
    check_split: Callable[[str, str], None] | None = None
    is_tree: bool = False
    has_bands: bool = False


EXPORTED: dict[str, ExportLayout] = {
    "raw": ExportLayout(
        "TFRecords with pixels in image_raw and label_raw",
        functools.partial(writers.write_records, writers.raw_features),
        needs_masks=False,
    ),
    "deeplab": ExportLayout(
        "TFRecords with DeepLab's features, image/encoded and others",
        functools.partial(writers.write_records, writers.deeplab_features),
    ),
    "voc": ExportLayout(
        "a tree with JPEGImages, SegmentationClass and ImageSets",
        writers.write_voc,
        is_tree=True,
        has_bands=True,
    ),
    "parquet": ExportLayout(
        "every feature as a column, for Hugging Face's datasets.load_dataset(FOLDER)",
        parquet.write,
        needs_masks=False,
        check_split=parquet.check_split,
    ),
}
"""The layouts by name, without the one whose name ends with `PALETTE`."""

_COLORED_PARQUET = dataclasses.replace(EXPORTED["parquet"], write=parquet.write_colored)

LAYOUTS = EXPORTED | {f"parquet{PALETTE}": _COLORED_PARQUET}
"""All layouts by name."""

_LAYOUTS_WITHOUT_MASKS = [name for name, row in EXPORTED.items() if not row.needs_masks]


def export(
    builder: tfds.core.DatasetBuilder,
    out: PathLike,
    *,
    layout: str,
    num_shards: int | None = None,
    described: bool = False,
    splits: Collection[str] | None = None,
) -> list[str]:
    """Writes a built dataset in another layout, and nothing outside its folder.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`, `deeplab`, `voc`, `parquet` or `parquet-palette` (masks as
        palette PNGs); see docs/guides/publishing.md.
      num_shards: files per split. By default 1 file of TFRecords, and Parquet files of about
        500 MB.
      described: whether to add `README.md`, and `SHA256SUMS` to a tree of many files (False). A
        card describes a complete dataset, so there is none if `splits` are given.
      splits: what to write: splits, or `find.Part`s of them; by default all splits.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      ConfigError: if the folder is not empty or cannot be made, or if the layout cannot hold the
        dataset: it needs masks, or other names of splits.
      RecordError: if the name of an image or a split cannot be that of a file below the folder.
      StorageError: if the folder cannot be written, or the dataset cannot be read. The folder is
        there only if the export is complete.
    """
    folder = epath.Path(out).expanduser()
    folder = folder.resolve()  # so that "." has a name and a parent
    row = LAYOUTS[layout]
    _check_export(builder, folder, row)
    output_files.check_folder(folder.parent, "--out")
    with storage.as_storage_error(folder), staging.staged_folder(folder) as incomplete:
        incomplete.mkdir()
        notes: list[str] = []
        for split in builder.info.splits if splits is None else splits:
            notes += row.write(ExportedSplit(builder, split, incomplete, num_shards))
        if described:
            if row.is_tree:
                dataset_files.write_sums(incomplete)
            if splits is None:
                text = card.write(builder, summarize(builder, progress=True), layout)
                # Half a surrogate pair cannot be written.
                (incomplete / card.NAME).write_bytes(text.encode("utf-8", "replace"))
    return notes


def _check_export(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, layout: ExportLayout
) -> None:
    """Refuses a folder that is not empty, and a dataset that a layout cannot hold."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            folder,
            found="a folder that is not empty",
            expected="a new folder",
            remedy="name a new or empty folder",
        )
    if MASK not in builder.info.features and layout.needs_masks:
        raise ConfigError(
            builder.info.full_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy=f"export it as {' or '.join(_LAYOUTS_WITHOUT_MASKS)}, or read it with tfds.load",
        )
    dataset.check_features(builder, SEGMENTATION if layout.needs_masks else (IMAGE, FILENAME))
    if not layout.has_bands:
        dataset.check_rgb(builder, "this layout", "export it as voc (--layout voc)")
    for split in builder.info.splits:
        file_names.check_name(split, f"{builder.info.full_name}, split {show_name(split)}")
        if layout.check_split is not None:
            layout.check_split(split, builder.info.full_name)


def write_card(
    builder: tfds.core.DatasetBuilder, out: PathLike, *, progress: bool = False
) -> epath.Path:
    """Writes the card of a dataset as it was built, also over one that this package wrote.

    It goes to a file whose name ends with `.md`; or to the folder for `README.md`, which is made if
    it does not exist, and may be the dataset's own. Returns the file that was written.

    Raises:
      ConfigError: if somebody else's file has the name.
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
        data = card.write(builder, summary, card.BUILT).encode("utf-8", "replace")
        if path.parent.exists():
            with staging.staged_file(path) as file:
                file.write_bytes(data)
        else:
            staging.write_files(path.parent, {path.name: data})
    return path


def _is_card(path: epath.Path) -> bool:
    """Whether a file is a card that this package wrote."""
    try:
        return _CARD_MARK in storage.read_bytes(path, storage.MAX_FILE_BYTES[StorageError])
    except OSError:
        return False
