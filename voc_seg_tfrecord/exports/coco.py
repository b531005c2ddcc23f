"""Writes COCO's JSON, with masks as run-length encodings (RLE).

References:
  https://cocodataset.org/#format-data, and pycocotools, `maskApi.c`: `rleEncode`, `rleToString`.
"""

import json
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.names import MASK
from voc_seg_tfrecord.exports.images import (
    ExportedImage,
    LabeledObject,
    Losses,
    read_images,
    split_by_object,
)
from voc_seg_tfrecord.exports.writers import ExportedSplit
from voc_seg_tfrecord.reading import metadata

_BITS_PER_CHARACTER = 5
_MORE_FOLLOWS = 32
_FIRST_CHARACTER = 48

_RUNS_WITHOUT_REFERENCE = 3
"""The first runs are written as they are, later ones as differences to the last but one."""


def write(split: ExportedSplit) -> list[str]:
    """Writes the images to `SPLIT`, and `annotations/instances_SPLIT.json`.

    An annotation is an object of the instance mask, or else all pixels of a class in an image.

    Returns:
      What differs from the dataset, in sentences.
    """
    folder = split.short_name
    background = metadata.background(split.builder)
    category_ids = _number_categories(split.builder)
    losses = Losses()
    images = list[dict[str, Any]]()
    annotations = list[dict[str, Any]]()
    for image in read_images(split):
        staging.write_below(split.folder, {f"{folder}/{image.filename}": image.data})
        losses.add(image)
        height, width = image.mask.shape
        image_id = len(images) + 1
        entry = {"id": image_id, "file_name": image.filename, "height": height, "width": width}
        images.append(entry)
        for labeled in split_by_object(image.mask, image.instance_mask, background):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": image_id,
                    "category_id": category_ids[labeled.class_index],
                    **_describe_pixels(labeled, image),
                    "iscrowd": 0,
                }
            )
    names = split.builder.info.features[MASK].names
    content = {
        "info": {"description": split.builder.info.full_name},
        "images": images,
        "annotations": annotations,
        "categories": [{"id": i, "name": names[index]} for index, i in category_ids.items()],
    }
    data = json.dumps(content, ensure_ascii=False).encode("utf-8", "replace")
    staging.write_below(split.folder, {f"annotations/instances_{folder}.json": data})
    return losses.describe_void(split, "COCO") + losses.describe_metadata(split)


def _number_categories(builder: tfds.core.DatasetBuilder) -> dict[int, int]:
    """Returns the id of the category of each class but background, by its index in the dataset.

    Ids begin with 1, so where background is class 0 they are the indices.
    """
    background = metadata.background(builder)
    classes = range(len(builder.info.features[MASK].names))
    without_background = [index for index in classes if index != background]
    return {index: number for number, index in enumerate(without_background, 1)}


def _describe_pixels(labeled: LabeledObject, image: ExportedImage) -> dict[str, Any]:
    """Returns the fields of an annotation that say which pixels it has."""
    height, width = image.mask.shape
    box_height, box_width = labeled.is_inside.shape
    is_inside = np.zeros((height, width), bool)
    rows = slice(labeled.top, labeled.top + box_height)
    is_inside[rows, labeled.left : labeled.left + box_width] = labeled.is_inside
    return {
        "segmentation": {"size": [height, width], "counts": encode_runs(is_inside)},
        "area": int(np.count_nonzero(is_inside)),
        "bbox": [labeled.left, labeled.top, box_width, box_height],
    }


def encode_runs(is_inside: np.ndarray) -> str:
    """Returns a mask, bool `[H, W]`, as COCO's text of runs.

    Runs outside and inside take turns, column by column, and begin outside.
    """
    columns = is_inside.ravel(order="F")
    changes = np.flatnonzero(columns[1:] != columns[:-1]) + 1
    starts = [0, *changes.tolist(), columns.size]
    runs = np.diff(starts).tolist()
    if columns[0]:
        runs.insert(0, 0)
    characters = bytearray()
    for index, run in enumerate(runs):
        value = run
        if index >= _RUNS_WITHOUT_REFERENCE:
            value -= runs[index - 2]
        characters += _encode_number(value)
    return characters.decode()


def _encode_number(value: int) -> bytes:
    """Returns a number as characters of five bits each, the lowest first, with its sign."""
    characters = bytearray()
    while True:
        digit = value & 31
        value >>= _BITS_PER_CHARACTER
        is_negative = digit & 16
        is_complete = value == (-1 if is_negative else 0)
        if is_complete:
            characters.append(_FIRST_CHARACTER + digit)
            return bytes(characters)
        characters.append(_FIRST_CHARACTER + (digit | _MORE_FOLLOWS))
