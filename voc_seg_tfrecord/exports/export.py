"""Writes a built dataset in layouts that other code reads: TFRecords, Parquet, or a VOC tree."""

from collections.abc import Callable, Iterator
import dataclasses
from typing import Any, Literal

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.base import staging, storage
from voc_seg_tfrecord.base.errors import ConfigError, RecordError
from voc_seg_tfrecord.base.names import FILENAME, FILL, HEIGHT, LABEL, MASK, WIDTH
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import records
from voc_seg_tfrecord.exports import columns, parquet, trees
from voc_seg_tfrecord.exports.records import write
from voc_seg_tfrecord.formats import id_lists
from voc_seg_tfrecord.formats.id_lists import show_name
from voc_seg_tfrecord.imports.files import Record, parse

LayoutName = Literal["raw", "deeplab", "voc", "parquet", "coco-panoptic"]

_NEEDED = (FILENAME, HEIGHT, WIDTH, LABEL, *FILL)
_WITHOUT_MASKS = ("raw", "parquet")  # layouts that need none


@dataclasses.dataclass(frozen=True)
class Exported:
    """What an export wrote.

    Attributes:
      counts: examples of each split.
      notes: what differs from the dataset, in words.
    """

    counts: dict[str, int]
    notes: tuple[str, ...] = ()


def export(
    builder: tfds.core.DatasetBuilder,
    out: PathLike,
    *,
    layout: LayoutName,
    num_shards: int | None = None,
    finish: Callable[[epath.Path], None] | None = None,
) -> Exported:
    """Writes a built dataset in another layout, and nothing outside its folder.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`: TFRecords of `image_raw` and `label_raw` (uint8 pixels), `height`,
        `width`, `name`; where images have a label or nothing in place of a mask, `label` (an
        integer) or nothing; `deeplab`: TFRecords with DeepLab's features, the image's own bytes;
        `voc`: JPEGImages (the images' own bytes), palette masks, lists, `class_names.txt`;
        `parquet`: every feature as a column, as Hugging Face's `datasets` reads them;
        `coco-panoptic`: images, PNGs of segment ids and a JSON file per split.
      num_shards: files per split. By default 1 file of TFRecords, and Parquet files of about
        500 MB.
      finish: is called with the folder of the complete export, before it is moved to its place,
        and adds what belongs to it.

    Returns:
      What was written.

    Raises:
      ConfigError: if the folder is not empty or cannot be made, or if the layout cannot hold the
        dataset: it needs masks, or other names of splits.
      RecordError: if the name of an image or a split cannot be that of a file below the folder.
      StorageError: if the folder cannot be written, or the dataset cannot be read. The folder is
        there only if the export is complete.
    """
    folder = epath.Path(out).expanduser()
    folder = folder.resolve()  # so that "." has a name and a parent
    _check(builder, folder, layout)
    _make(folder.parent)
    with storage.as_storage_error(folder), staging.staged_folder(folder) as incomplete:
        incomplete.mkdir()
        notes = []
        for split in builder.info.splits:
            notes += _write_split(builder, split, incomplete, layout, num_shards)
        if layout == "voc":
            classes = builder.info.features[MASK].names
            (incomplete / "class_names.txt").write_text("".join(f"{name}\n" for name in classes))
        if finish is not None:
            finish(incomplete)
    counts = {name: split.num_examples for name, split in builder.info.splits.items()}
    return Exported(counts, tuple(notes))


def _check(builder: tfds.core.DatasetBuilder, folder: epath.Path, layout: LayoutName) -> None:
    """Checks all that can be checked before the first record is read."""
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            folder,
            found="a folder that is not empty",
            expected="a new folder",
            remedy="name a new or empty folder",
        )
    if MASK not in builder.info.features and layout not in _WITHOUT_MASKS:
        raise ConfigError(
            builder.info.full_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy="export it as raw or parquet, or read it with tfds.load",
        )
    for split in builder.info.splits:
        id_lists.check_name(split, f"{builder.info.full_name}, split {show_name(split)}")
        if layout == "parquet":
            parquet.check_split(split, builder.info.full_name)


def _make(parent: epath.Path) -> None:
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--out, {parent}",
            found=f"it cannot be written: {error.strerror or error}",
            expected="a new folder, in a folder that can be written",
            remedy="name another folder",
        ) from None


def _write_split(
    builder: tfds.core.DatasetBuilder,
    split: str,
    folder: epath.Path,
    layout: LayoutName,
    num_shards: int | None,
) -> list[str]:
    """Writes one split; returns what differs from the dataset, in words."""
    info = builder.info.splits[split]
    records = tqdm(
        _records(builder, split),
        total=info.num_examples,
        desc=f"Exporting {split}...",
        unit=" examples",
        leave=False,
    )
    if layout == "voc":
        trees.write_voc(_single(builder, records), folder, split)
    elif layout == "coco-panoptic":
        turned = trees.write_coco(
            _single(builder, records), folder, split, trees.categories(builder)
        )
        return [_turned(split, turned)] if turned else []
    elif layout == "parquet":
        turned = parquet.write(
            records,
            folder,
            split,
            columns.columns(builder.info.features, builder.info.full_name),
            examples=info.num_examples,
            num_shards=parquet.shards_for(info.num_bytes, info.num_examples, num_shards),
        )
        return [_turned(split, turned)] if turned else []
    else:
        write(_single(builder, records), folder, split, layout, num_shards or 1)
    return []


def _turned(split: str, count: int) -> str:
    images = "1 image was" if count == 1 else f"{count} images were"
    return (
        f"{split}: {images} written without EXIF, XMP and texts, because readers would rotate "
        "as they say, away from the mask; the compressed pixels are the same"
    )


def _records(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[tuple[str, Record]]:
    """Yields each record's name for errors, and its features."""
    for number, serialized in enumerate(records.read_shards(builder, split)):
        where = f"{builder.info.full_name}, split {split}, record {number}"
        yield where, parse(serialized, where)


def _single(
    builder: tfds.core.DatasetBuilder, records: Iterator[tuple[str, Record]]
) -> Iterator[dict[str, Any]]:
    """Yields the features that have one value, images and masks still encoded."""
    needed = [name for name in _NEEDED if name in builder.info.features]
    for where, record in records:
        lacking = [name for name in needed if len(record.get(name, ())) != 1]
        if lacking:
            raise RecordError(
                where,
                found=f"no {', '.join(lacking)}",
                expected=f"one value each of {', '.join(needed)}",
                remedy="build the dataset again",
            )
        yield {name: record[name][0] for name in needed}
