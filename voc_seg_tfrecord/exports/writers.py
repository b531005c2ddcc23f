"""A split on its way into an export: TFRecords with raw pixels or DeepLab features, or a tree."""

from collections.abc import Callable, Iterator, Mapping
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

from voc_seg_tfrecord.audit.record import Check, value_checks, value_problems
from voc_seg_tfrecord.core import file_names, id_lists, staging
from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.file import File, Kind, kind_of
from voc_seg_tfrecord.core.file_names import show_name
from voc_seg_tfrecord.core.layout import LISTS, VOC
from voc_seg_tfrecord.core.names import (
    FILENAME,
    FILL,
    HEIGHT,
    IMAGE,
    IMAGE_SHAPE,
    IMAGE_VALUE,
    INSTANCES,
    LABEL,
    MASK,
    WIDTH,
    voc_palette,
)
from voc_seg_tfrecord.formats import bands, frames, images, png
from voc_seg_tfrecord.reading.records import count, parse, pixels, read_shards
from voc_seg_tfrecord.sources.records.layouts import DEEPLAB
from voc_seg_tfrecord.writing.serializer import record_parts

Record = dict[str, list[Any]]
"""The values of each feature of a record."""

_SINGLE = (FILENAME, HEIGHT, WIDTH, LABEL, *FILL)


@dataclasses.dataclass(frozen=True)
class Split:
    """A split, and where its export goes; `num_shards` is None for the layout's default."""

    builder: tfds.core.DatasetBuilder
    name: str
    folder: epath.Path
    num_shards: int | None

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yields each record's name for errors, and its features; shows a progress bar.

        Raises:
          RecordError: if a record cannot be read, or holds something else than its features.
        """
        checks = value_checks(self.builder.info.features)
        total, desc = count(self.builder, self.name), f"Exporting {self.name}..."
        with tqdm(total=total, desc=desc, unit=" examples", leave=False) as bar:
            # A loop would keep the last record, which may be large.
            read = functools.partial(self._read, checks, bar)
            yield from map(read, read_shards(self.builder, self.name))

    def _read(
        self, checks: Mapping[str, Check], bar: "tqdm[Any]", serialized: bytes
    ) -> tuple[str, Record]:
        where = f"{self.builder.info.full_name}, split {self.name}, record {bar.n}"
        record = parse(serialized)
        if problem := next(value_problems(checks, record), ""):
            raise RecordError(
                where,
                found=problem,
                expected="a record with the features that features.json describes",
                remedy="run `voc-seg-tfrecord verify` to find all faults, or build the dataset "
                "again",
            )
        bar.update()
        return where, {name: list(record.values(name)) for name in checks}

    def examples(self) -> Iterator[dict[str, Any]]:
        """Yields features with one value, images and masks still encoded; see `records`."""
        needed = [name for name in _SINGLE if name in self.builder.info.features]
        for where, record in self.records():
            if IMAGE_VALUE in record:
                array = bands.array_of(record[IMAGE_VALUE][0], record[IMAGE_SHAPE], where)
                record[IMAGE] = [bands.as_file(array, where).data]
            yield {name: record[name][0] for name in needed}


def rotated(split: Split, images: int) -> list[str]:
    """Returns what to say of images that lost metadata by which readers would rotate them."""
    if not images:
        return []
    written = "1 image was" if images == 1 else f"{images} images were"
    return [
        f"{split.name}: {written} written without EXIF, XMP and texts, because readers would "
        "rotate as they say, away from the mask; the compressed pixels are the same"
    ]


def write_records(
    features_of: Callable[[dict[str, Any]], dict[str, Any]], split: Split
) -> list[str]:
    """Writes files named `SPLIT-00000-of-00001.tfrecord`, one record at a time into each.

    The first argument makes the features of a record. Nothing differs from the dataset.
    """
    shards = split.num_shards or 1
    names = [f"{split.name}-{n:05}-of-{shards:05}.tfrecord" for n in range(shards)]
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context((split.folder / name).open("wb")) for name in names]
        for number, example in enumerate(split.examples()):
            frames.write(files[number % shards], record_parts(features_of(example)))
    return []


def raw_features(example: dict[str, Any]) -> dict[str, Any]:
    """Returns decoded pixels, uint8, and the label if there is one in place of a mask."""
    features: dict[str, Any] = {"name": example[FILENAME]}
    # The pixels are those that training on the dataset sees.
    image = images.pixels(File(example[IMAGE], example[FILENAME].decode()), as_tensorflow=True)
    if MASK in example:
        mask = pixels(File(example[MASK], example[FILENAME].decode()))
        features["label_raw"] = np.ascontiguousarray(mask).data.cast("B")
    features["image_raw"] = np.ascontiguousarray(image).data.cast("B")
    features |= {"height": int(image.shape[0]), "width": int(image.shape[1])}
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


def write_voc(split: Split) -> list[str]:
    """Writes a tree: JPEGImages, SegmentationClass, SegmentationObject, the list, and the classes.

    Nothing differs from the dataset.

    Raises:
      RecordError: if a name cannot be that of a file below the folder, or two files have it.
    """
    root = split.folder
    class_names = split.builder.info.features[MASK].names
    # With its value in each line, no list of names is read as one without background.
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("id", "name"), *enumerate(class_names)])
    (root / "labelmap.csv").write_text(text.getvalue())
    palette = voc_palette().tobytes()
    ids: set[str] = set()
    for number, example in enumerate(split.examples()):
        where, filename = f"split {split.name}, record {number}", example[FILENAME].decode()
        file_names.check_name(filename, where)
        image_id, kind = id_lists.image_id(filename), kind_of(example[IMAGE])
        if image_id == filename:  # without an ending, readers do not take it for an image
            filename += ".jpg" if kind is Kind.JPEG else ".png"
        if kind is Kind.NUMPY:
            filename = f"{image_id}.npy"
        files = {f"{VOC.images}/{filename}": example[IMAGE]}
        for feature, place in ((MASK, VOC.masks), (INSTANCES, VOC.instances)):
            if feature in example:
                mask = png.palette_png(File(example[feature], filename), palette)
                files[f"{place}/{image_id}.png"] = mask
        if image_id in ids or _other_files(root, files):
            raise RecordError(
                where,
                found=f"the name {show_name(filename)}, under which another record was written",
                expected="names that differ without their endings",
                remedy="export it as raw or deeplab, or build it again with other names",
            )
        staging.write_below(root, files)
        ids.add(image_id)
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    name = {"validation": "val"}.get(split.name, split.name)
    staging.write_below(root, {f"{LISTS}/{name}.txt": lines.encode()})
    return []


def _other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Says whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    there = [(root / name).exists() for name in files]
    return any(there) and not all((root / name).read_bytes() == files[name] for name in files)
