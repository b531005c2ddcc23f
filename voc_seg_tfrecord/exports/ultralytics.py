"""Writes what Ultralytics trains on: images, PNG masks or texts of polygons, and `data.yaml`.

References:
  https://docs.ultralytics.com/datasets/semantic/, masks of the task `semantic`; 255 is ignored.
  https://docs.ultralytics.com/datasets/segment/, polygons of the task `segment`.
"""

from collections.abc import Mapping, Sequence
import pathlib

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, counted
from voc_seg_tfrecord.core.names import MASK
from voc_seg_tfrecord.exports import yaml_text
from voc_seg_tfrecord.exports.images import (
    ExportedImage,
    LabeledObject,
    Losses,
    read_images,
    split_by_object,
)
from voc_seg_tfrecord.exports.outlines import trace_parts
from voc_seg_tfrecord.exports.writers import ExportedSplit, write_class_file
from voc_seg_tfrecord.reading import metadata

_IMAGES = "images"
_MASKS = "masks"
_LABELS = "labels"
_DATA_FILE = "data.yaml"

_KNOWN_FOLDERS = ("train", "val", "test")
"""The folders of splits that Ultralytics knows."""

_NEEDED_FOLDERS = ("train", "val")
"""Those without which it does not read `data.yaml`."""

_MIN_SIDE_PX = 10
"""It leaves out images of fewer rows or columns."""

_MIN_CORNERS = 3
"""A line of fewer points is a box."""

_OFFSET_PX = 0.25
"""Where in its pixel a corner lies: programs that round and those that truncate find the pixel."""


def check_split(split: str, where: str) -> None:
    """Raises a `ConfigError` if Ultralytics would look for the masks of a split elsewhere."""
    if split == _IMAGES:
        raise ConfigError(
            f"{where}, split {split}",
            found=f"the split name {_IMAGES}, which Ultralytics reads as the folder of all images",
            expected="another name",
            remedy="build it with another name of the split, such as --splits train=my-list",
        )


def write_masks(split: ExportedSplit) -> list[str]:
    """Writes `images/SPLIT` and `masks/SPLIT`, grayscale PNGs as the dataset has them.

    `labelmap.csv` names the classes for this package.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      RecordError: see `read_images`; or if an id has a folder `images`.
    """
    write_class_file(split)
    folder = split.short_name
    losses = Losses()
    small_images = 0
    for image in read_images(split):
        _check_id(split, image)
        files = {
            f"{_IMAGES}/{folder}/{image.filename}": image.data,
            f"{_MASKS}/{folder}/{image.id}.png": image.mask_png,
        }
        staging.write_below(split.folder, files)
        losses.add(image)
        if _is_left_out(image):
            small_images += 1
    return losses.describe_metadata(split) + _describe_small_images(split, small_images)


def write_polygons(split: ExportedSplit) -> list[str]:
    """Writes `images/SPLIT` and `labels/SPLIT`, texts of polygons.

    Each part of an object is a polygon, whose holes are joined to it. OpenCV and Pillow fill it to
    the part's pixels.

    Returns:
      What differs from the dataset, in sentences.

    Raises:
      RecordError: see `read_images`; or if an id has a folder `images`.
    """
    folder = split.short_name
    numbers = _number_classes(split.builder)
    background = metadata.background(split.builder)
    losses = Losses()
    small_images = 0
    objects_of_parts = 0
    for image in read_images(split):
        _check_id(split, image)
        lines = []
        for labeled in split_by_object(image.mask, image.instance_mask, background):
            polygons = trace_parts(labeled.is_inside)
            number = numbers[labeled.class_index]
            lines += [_polygon_line(number, labeled, corners, image) for corners in polygons]
            if image.instance_mask is not None and len(polygons) > 1:
                objects_of_parts += 1
        files = {
            f"{_IMAGES}/{folder}/{image.filename}": image.data,
            f"{_LABELS}/{folder}/{image.id}.txt": "".join(lines).encode(),
        }
        staging.write_below(split.folder, files)
        losses.add(image)
        if _is_left_out(image):
            small_images += 1
    return [
        *losses.describe_void(split, "YOLO"),
        *_describe_parts(split, objects_of_parts),
        *losses.describe_metadata(split),
        *_describe_small_images(split, small_images),
    ]


def _check_id(split: ExportedSplit, image: ExportedImage) -> None:
    """Raises a `RecordError` if Ultralytics would look for an image's mask elsewhere.

    It replaces the last folder `images` of an image's path.
    """
    if _IMAGES in pathlib.PurePosixPath(image.id).parts[:-1]:
        raise RecordError(
            f"split {split.name}, image {image.id}",
            found=f"a folder {_IMAGES} in the id, where Ultralytics would not find the mask",
            expected=f"ids without a folder {_IMAGES}",
            remedy=f"export it as coco or voc, or build the dataset from the folder {_IMAGES} "
            "itself, so that ids begin below it",
        )


def _is_left_out(image: ExportedImage) -> bool:
    return min(image.mask.shape) < _MIN_SIDE_PX


def _polygon_line(
    class_number: int, labeled: LabeledObject, corners: np.ndarray, image: ExportedImage
) -> str:
    """Returns the line of a polygon: the class, and corners as fractions of the image's sides.

    Args:
      class_number: the number that Ultralytics has for the class.
      labeled: the object that the polygon is a part of.
      corners: int64 `[N, 2]`, x and y in pixels from the object's first column and row.
      image: the image.
    """
    height, width = image.mask.shape
    if len(corners) < _MIN_CORNERS:
        corners = np.resize(corners, (_MIN_CORNERS, 2))  # repeats them
    corners_in_image = np.add(corners, (labeled.left, labeled.top))
    fractions = (corners_in_image + _OFFSET_PX) / (width, height)
    words = [str(class_number), *(f"{fraction:.6f}" for fraction in fractions.ravel())]
    return f"{' '.join(words)}\n"


def _number_classes(builder: tfds.core.DatasetBuilder) -> dict[int, int]:
    """Returns the number in YOLO of each class but background, by its index in the dataset."""
    background = metadata.background(builder)
    classes = range(len(builder.info.features[MASK].names))
    with_polygons = [index for index in classes if index != background]
    return {index: number for number, index in enumerate(with_polygons)}


def write_data_of_masks(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, folders: Sequence[str]
) -> list[str]:
    """Writes `data.yaml` beside masks; see `_write_data`."""
    names = dict(enumerate(builder.info.features[MASK].names))
    return _write_data(folder, folders, names, {"masks_dir": _MASKS})


def write_data_of_polygons(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, folders: Sequence[str]
) -> list[str]:
    """Writes `data.yaml` beside polygons; see `_write_data`."""
    names = {}
    for index, number in _number_classes(builder).items():
        names[number] = builder.info.features[MASK].names[index]
    return _write_data(folder, folders, names, {})


def _write_data(
    folder: epath.Path,
    folders: Sequence[str],
    names: Mapping[int, str],
    more: Mapping[str, str],
) -> list[str]:
    """Writes `data.yaml`.

    Args:
      folder: the folder of the export.
      folders: the names of the splits' folders.
      names: the names of classes by their numbers.
      more: what else it holds.

    Returns:
      Sentences about splits that Ultralytics lacks or does not know.
    """
    known = [name for name in _KNOWN_FOLDERS if name in folders]
    paths = {name: f"{_IMAGES}/{name}" for name in known}
    text = yaml_text.dump({**paths, **more, "names": dict(names)})
    (folder / _DATA_FILE).write_text(text)
    notes = []
    for name in _NEEDED_FOLDERS:
        if name not in folders:
            notes.append(
                f"Ultralytics needs {' and '.join(_NEEDED_FOLDERS)}, and the export has no {name}. "
                f"Give the folder of another split in {_DATA_FILE}, such as "
                f"{name}: {_IMAGES}/{folders[0]}"
            )
    for name in folders:
        if name not in _KNOWN_FOLDERS:
            notes.append(
                f"Ultralytics knows no split {name}, so it is not in {_DATA_FILE}; "
                f"its images are in {_IMAGES}/{name}"
            )
    return notes


def _describe_small_images(split: ExportedSplit, count: int) -> list[str]:
    if not count:
        return []
    return [
        f"{split.name}: Ultralytics leaves out {counted(count, 'image')} with fewer than "
        f"{_MIN_SIDE_PX} rows or columns"
    ]


def _describe_parts(split: ExportedSplit, count: int) -> list[str]:
    if not count:
        return []
    return [
        f"{split.name}: {counted(count, 'object')} of several parts: each part became a polygon "
        "of its own, because a polygon of YOLO has one part"
    ]
