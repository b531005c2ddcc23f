"""Writes a split in a layout: TFRecords with raw pixels or DeepLab features, or a VOC tree.

`ExportedSplit` reads the records. Each function that writes takes one, and returns sentences about
what differs from the dataset.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import csv
import dataclasses
import functools
import io
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.audit.record import value_problems
from voc_seg_tfrecord.core import id_lists, staging
from voc_seg_tfrecord.core.errors import RecordError, counted
from voc_seg_tfrecord.core.file import File, Kind, check_file_name, kind_of, show_file_name
from voc_seg_tfrecord.core.layout import LISTS, VOC
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    IMAGE_SHAPE,
    IMAGE_VALUE,
    INSTANCES,
    LABEL,
    MASK,
    MASKS,
    WIDTH,
    voc_palette,
)
from voc_seg_tfrecord.core.ratios import find_folds
from voc_seg_tfrecord.formats import bands, frames, images, png
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.fields import Field, fields_of
from voc_seg_tfrecord.reading.records import count, parse, pixels, read_shards
from voc_seg_tfrecord.sources.records.layouts import DEEPLAB
from voc_seg_tfrecord.writing.serializer import serialize_record

Record = dict[str, list[Any]]
"""The values of each feature of a record."""

_SINGLE_VALUES = (FILENAME, HEIGHT, WIDTH, LABEL, IMAGE, *MASKS)
"""Features that have one value in a record."""


@dataclasses.dataclass(frozen=True)
class ExportedSplit:
    """A split, and where its export goes.

    Attributes:
      builder: of the built dataset.
      name: the split's name.
      folder: where the export is written.
      num_shards: how many files are written; None for the layout's default.
    """

    builder: tfds.core.DatasetBuilder
    name: str
    folder: epath.Path
    num_shards: int | None

    @property
    def short_name(self) -> str:
        """What layouts call the split: `val` for `validation`, else its own name."""
        if self.name == "validation" and "val" not in self.builder.info.splits:
            return "val"
        return str(self.name)

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yields each record's name for errors, and its features; shows a progress bar.

        Raises:
          RecordError: if a record cannot be read, or holds something else than its features.
        """
        fields = dict(sorted(fields_of(self.builder.info.features).items()))
        total = count(self.builder, self.name)
        label = f"Exporting {self.name}..."
        with tqdm(total=total, desc=label, unit=" examples", leave=False) as bar:
            # A loop would keep the last record, which may be large.
            read = functools.partial(self._read, fields, bar)
            yield from map(read, read_shards(self.builder, self.name))

    def _read(
        self, fields: Mapping[str, Field], bar: "tqdm[Any]", serialized: bytes
    ) -> tuple[str, Record]:
        where = f"{self.builder.info.full_name}, split {self.name}, record {bar.n}"
        record = parse(serialized)
        problem = next(value_problems(fields, record), None)
        if problem is not None:
            raise RecordError(
                where,
                found=problem,
                expected="a record with the features that features.json describes",
                remedy="run `voc-seg-tfrecord verify` to find all faults, or build the dataset "
                "again",
            )
        bar.update()
        return where, {name: list(record.values(name)) for name in fields}

    def examples(self) -> Iterator[dict[str, Any]]:
        """Yields features with one value, images and masks still encoded; see `records`."""
        names = [name for name in _SINGLE_VALUES if name in self.builder.info.features]
        for where, record in self.records():
            if IMAGE_VALUE in record:
                array = bands.inflate_array(record[IMAGE_VALUE][0], record[IMAGE_SHAPE], where)
                record[IMAGE] = [bands.as_file(array, where).data]
            yield {name: record[name][0] for name in names}


def describe_lost_metadata(split: ExportedSplit, image_count: int) -> list[str]:
    """Returns a sentence about images that lost metadata by which readers would rotate them."""
    if not image_count:
        return []
    verb = "was" if image_count == 1 else "were"
    return [
        f"{split.name}: {counted(image_count, 'image')} {verb} written without EXIF, XMP and "
        "texts, because readers would rotate as they say, away from the mask; the compressed "
        "pixels are the same"
    ]


def write_records(
    make_features: Callable[[dict[str, Any]], dict[str, Any]], split: ExportedSplit
) -> list[str]:
    """Writes files named `SPLIT-00000-of-00001.tfrecord`, one record at a time into each.

    Args:
      make_features: returns the features of a record, given those of an example.
      split: the split.

    Returns:
      No sentence: nothing differs from the dataset.
    """
    num_shards = split.num_shards or 1
    with contextlib.ExitStack() as open_files:
        files = []
        for shard in range(num_shards):
            path = split.folder / f"{split.name}-{shard:05}-of-{num_shards:05}.tfrecord"
            files.append(open_files.enter_context(path.open("wb")))
        for number, example in enumerate(split.examples()):
            record = serialize_record(make_features(example))
            frames.write(files[number % num_shards], record)
    return []


def raw_features(example: dict[str, Any]) -> dict[str, Any]:
    """Returns decoded pixels, uint8, and the label if there is one in place of a mask."""
    features: dict[str, Any] = {"name": example[FILENAME]}
    where = example[FILENAME].decode()
    # The pixels are those that training on the dataset sees.
    image = images.decode_rgb(File(example[IMAGE], where), as_tensorflow=True)
    if MASK in example:
        mask = pixels(File(example[MASK], where))
        features["label_raw"] = np.ascontiguousarray(mask).data.cast("B")
    features["image_raw"] = np.ascontiguousarray(image).data.cast("B")
    features["height"] = int(image.shape[0])
    features["width"] = int(image.shape[1])
    if LABEL in example:
        features["label"] = int(example[LABEL])
    return features


def deeplab_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    """Returns DeepLab's features, with the image's own bytes."""
    is_jpeg = kind_of(example[IMAGE]) is Kind.JPEG
    return {
        DEEPLAB.image: example[IMAGE],
        DEEPLAB.filename: example[FILENAME],
        "image/format": b"jpeg" if is_jpeg else b"png",
        DEEPLAB.height: int(example[HEIGHT]),
        DEEPLAB.width: int(example[WIDTH]),
        DEEPLAB.channels: 3,
        DEEPLAB.mask: example[MASK],
        "image/segmentation/class/format": b"png",
    }


def write_voc(split: ExportedSplit) -> list[str]:
    """Writes a tree: JPEGImages, SegmentationClass, SegmentationObject, the list, and the classes.

    Returns:
      No sentence: nothing differs from the dataset.

    Raises:
      RecordError: if a name cannot be that of a file below the folder, or two files have it.
    """
    if not metadata.has_default_names(split.builder):
        # A build of the export gives default names again, and marks them again.
        write_class_file(split)
    ids: set[str] = set()
    for number, example in enumerate(split.examples()):
        where = f"split {split.name}, record {number}"
        check_file_name(example[FILENAME].decode(), where)
        image_id = id_lists.id_of_file(example[FILENAME].decode())
        filename = _image_filename(image_id, example)
        files = _files_of(example, image_id, filename)
        if image_id in ids or _has_other_files(split.folder, files):
            raise RecordError(
                where,
                found=f"the name {show_file_name(filename)}, which another record has too",
                expected="names that differ even without their endings",
                remedy="export it as raw or deeplab, or build it again with other names",
            )
        staging.write_below(split.folder, files)
        ids.add(image_id)
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    staging.write_below(split.folder, {f"{LISTS}/{split.short_name}.txt": lines.encode()})
    return []


def write_table_of_folds(
    _: tfds.core.DatasetBuilder, folder: epath.Path, names: Sequence[str]
) -> list[str]:
    """Writes `splits.csv` if splits are folds: lists called so do not say that all are splits.

    Args:
      folder: the folder of the export.
      names: the names of its lists.

    Returns:
      No sentence: nothing differs from the dataset.
    """
    if not find_folds(names):
        return []
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("image", "split"))
    for name in names:
        for image_id in (folder / LISTS / f"{name}.txt").read_text().splitlines():
            writer.writerow((image_id, name))
    (folder / "splits.csv").write_text(text.getvalue())
    return []


def write_class_file(split: ExportedSplit) -> None:
    """Writes the classes with their values, so that none is taken for a list without background."""
    class_names = split.builder.info.features[MASK].names
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("id", "name"))
    writer.writerows(enumerate(class_names))
    (split.folder / "labelmap.csv").write_text(text.getvalue())


def _image_filename(image_id: str, example: Mapping[str, Any]) -> str:
    """Returns the name of an example's image file, with an ending."""
    kind = kind_of(example[IMAGE])
    if kind is Kind.NUMPY:
        return f"{image_id}.npy"
    filename: str = example[FILENAME].decode()
    if image_id != filename:
        return filename
    # Without an ending, readers do not take a file for an image.
    return filename + (".jpg" if kind is Kind.JPEG else ".png")


_MASK_FOLDERS = {MASK: VOC.masks, INSTANCES: VOC.instances}


def _files_of(example: Mapping[str, Any], image_id: str, filename: str) -> dict[str, bytes]:
    """Returns the files of an example by their names below the folder; masks have VOC's palette."""
    files = {f"{VOC.images}/{filename}": example[IMAGE]}
    palette = voc_palette().tobytes()
    for feature, folder in _MASK_FOLDERS.items():
        if feature in example:
            mask = File(example[feature], filename)
            files[f"{folder}/{image_id}.png"] = png.palette_png(mask, palette)
    return files


def _has_other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    exist = [(root / name).exists() for name in files]
    if not any(exist):
        return False
    return not all(exist) or any((root / name).read_bytes() != files[name] for name in files)
