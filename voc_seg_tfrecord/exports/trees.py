"""Writes examples as a tree in VOC's layout, or in COCO's panoptic format.

COCO's panoptic format holds classes and objects to the pixel. A segment is what has one class and
one object number. Its id is 1 + 256 x class + number, so that both masks can be made of the ids
alone. Void is 0, which the format calls unlabelled.

References:
  https://cocodataset.org/#format-data, part 4.
"""

from collections.abc import Iterator, Mapping
import csv
import io
import json
import struct
from typing import Any
import zlib

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.base.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    INSTANCES,
    MASK,
    VOID,
    WIDTH,
    voc_palette,
)
from voc_seg_tfrecord.built import dataset, records
from voc_seg_tfrecord.exports.records import Split, rotated
from voc_seg_tfrecord.formats import id_lists, jpeg, png
from voc_seg_tfrecord.formats.file import File, Kind, kind_of
from voc_seg_tfrecord.formats.id_lists import show_name
from voc_seg_tfrecord.trees.layout import LISTS, VOC

_ROWS = 384  # of large images, at a time
_SPLITS = {"validation": "val"}


def write_voc(split: Split) -> list[str]:
    """Writes a split: JPEGImages, SegmentationClass, SegmentationObject, its list, and the classes.

    Returns:
      Nothing, as nothing differs from the dataset.

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
    for where, filename, image_id, example in _named(split):
        if image_id == filename:  # without an ending, readers do not take it for an image
            filename += ".jpg" if kind_of(example[IMAGE]) is Kind.JPEG else ".png"
        files = {f"{VOC.images}/{filename}": example[IMAGE]}
        for feature, place in ((MASK, VOC.masks), (INSTANCES, VOC.instances)):
            if feature in example:
                mask = png.palette_png(File(example[feature], filename), palette)
                files[f"{place}/{image_id}.png"] = mask
        if image_id in ids or _other_files(root, files):
            raise _same_name(where, filename, "raw or deeplab")
        for name, data in files.items():
            _put(root / name, data)
        ids.add(image_id)
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    _put(root / LISTS / f"{_SPLITS.get(split.name, split.name)}.txt", lines.encode())
    return []


def _other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Says whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    there = [(root / name).exists() for name in files]
    return any(there) and not all((root / name).read_bytes() == files[name] for name in files)


IMAGES, ANNOTATIONS = "images", "annotations"
"""The folders of an export."""


def write_coco(split: Split) -> list[str]:
    """Writes a split: its images, one PNG of segment ids for each, and a JSON file.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      RecordError: if a name cannot be that of a file below the folder, or two files have it.
    """
    images, annotations, turned, lost = [], [], 0, 0
    folder, masks = split.folder, f"panoptic_{split.name}"
    written: set[str] = set()
    for number, (where, filename, image_id, example) in enumerate(_named(split), start=1):
        if image_id in written:
            raise _same_name(where, filename, "parquet")
        written.add(image_id)
        data = jpeg.unturned(File(example[IMAGE], where))
        turned += data is not example[IMAGE]
        _put(folder / IMAGES / split.name / filename, data)
        ids, unlabelled = segment_ids(example, where)
        lost += unlabelled
        _put(folder / ANNOTATIONS / masks / f"{image_id}.png", _segment_png(ids))
        size = {"height": int(example[HEIGHT]), "width": int(example[WIDTH])}
        images.append({"id": number, "file_name": filename, **size})
        mask_name = f"{image_id}.png"
        annotation = {"image_id": number, "file_name": mask_name, "segments_info": segments(ids)}
        annotations.append(annotation)
    described = _categories(split.builder)
    text = {"images": images, "annotations": annotations, "categories": described}
    _put(folder / ANNOTATIONS / f"{masks}.json", json.dumps(text).encode())
    notes = rotated(split, turned)
    if lost:
        notes.append(
            f"{split.name}: {lost} pixels of objects are void, because their class is void and "
            "this format has no object without a class; parquet and voc hold both masks"
        )
    return notes


def _categories(builder: tfds.core.DatasetBuilder) -> list[dict[str, Any]]:
    """Returns a built dataset's classes as the format describes them; ids are those of the masks.

    With instance masks all classes but background are things: they consist of objects.
    """
    names = builder.info.features[MASK].names
    background = dataset.background(builder)
    things = INSTANCES in builder.info.features
    return [
        {"id": n, "name": name, "supercategory": name, "isthing": int(things and n != background)}
        for n, name in enumerate(names)
    ]


def segment_ids(example: dict[str, Any], where: str) -> tuple[np.ndarray, int]:
    """Returns the segment of each pixel of an example, and how many pixels of objects are void.

    A segment is uint16 `[H, W]`, and 0 is void. Where the class is void so is the segment, whatever
    the number of the object.
    """
    # Of large images each array counts: the largest id is 1 + 256 * 254 + 254.
    mask = records.pixels(File(example[MASK], where))
    ids = mask.astype(np.uint16)
    ids *= 256
    ids += 1
    ids[mask == VOID] = 0
    if INSTANCES not in example:
        return ids, 0
    numbers = records.pixels(File(example[INSTANCES], where))
    lost = int(((mask == VOID) & (numbers != 0) & (numbers != VOID)).sum())
    return np.add(ids, numbers, out=ids, where=ids > 0, casting="unsafe"), lost


def _segment_png(ids: np.ndarray) -> bytes:
    """Returns ids as the format stores them: red is the low byte, green the high one."""
    # Pillow would take four bytes per pixel beside these, and zlib takes rows as they come.
    packer, packed = zlib.compressobj(), []
    for start in range(0, len(ids), _ROWS):
        some = ids[start : start + _ROWS]
        rows = np.zeros((len(some), 1 + 3 * ids.shape[1]), np.uint8)  # no filter
        rows[:, 1::3], rows[:, 2::3] = some & 255, some >> 8
        packed.append(packer.compress(rows.tobytes()))
    packed.append(packer.flush())
    header = struct.pack(">IIBBBBB", ids.shape[1], ids.shape[0], 8, png.ColorType.RGB, 0, 0, 0)
    contents = {b"IHDR": header, b"IDAT": b"".join(packed), b"IEND": b""}
    return png.join_chunks(png.make_chunk(kind, data) for kind, data in contents.items())


def segments(ids: np.ndarray) -> list[dict[str, Any]]:
    """Returns what the format says of each segment: class, area, and box as x, y, width, height."""
    infos = []
    counts = np.zeros(1 << 16, np.int64)
    for start in range(0, len(ids), _ROWS):
        counts += np.bincount(ids[start : start + _ROWS].ravel(), minlength=1 << 16)
    for segment in (np.flatnonzero(counts[1:]) + 1).tolist():
        inside = ids == segment
        rows, columns = (np.flatnonzero(inside.any(axis)) for axis in (1, 0))
        top, left = int(rows[0]), int(columns[0])
        box = [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1]
        infos.append(
            {
                "id": segment,
                "category_id": (segment - 1) // 256,
                "area": int(counts[segment]),
                "bbox": box,
                "iscrowd": 0,
            }
        )
    return infos


def _named(split: Split) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yields the name of each record for errors, its file's name, its image id and the example."""
    for number, example in enumerate(split.examples()):
        where, filename = f"split {split.name}, record {number}", example[FILENAME].decode()
        id_lists.check_name(filename, where)
        yield where, filename, id_lists.image_id(filename), example


def _same_name(where: str, filename: str, others: str) -> RecordError:
    return RecordError(
        where,
        found=f"the name {show_name(filename)}, under which another record was written",
        expected="names that differ without their endings",
        remedy=f"export it as {others}, or build it again with other names",
    )


def _put(path: epath.Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
