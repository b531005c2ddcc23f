"""Draws small twins of SBD and of Pascal Context on VOC2010, with masks of our own."""

from collections.abc import Mapping
import pathlib

import numpy as np
from PIL import Image
from scipy import io, sparse
from support.drawing import put

from voc_seg_tfrecord.core import releases

Masks = Mapping[str, np.ndarray]
"""Values by id, uint8 `[H, W]`."""

Lists = Mapping[str, str]
"""`train.txt` or `val.txt` by id."""


def write_sbd(dataset: pathlib.Path, masks: Masks, lists: Lists) -> None:
    """Writes SBD's folder `dataset`: MATLAB files in its structure, an object for each class."""
    _write_images(dataset, "img", masks, 9)
    _write_lists(dataset, masks, lists)
    for image_id, mask in masks.items():
        classes = [int(value) for value in np.unique(mask) if value]
        objects = np.searchsorted([0, *classes], mask).astype(np.uint8)
        borders = np.empty((20, 1), object)
        borders[:, 0] = [sparse.csc_matrix(mask.shape) for _ in range(20)]
        categories = np.array(classes, np.uint8)[:, None]
        of_classes = {
            "Boundaries": borders,
            "Segmentation": mask,
            "CategoriesPresent": categories,
        }
        of_objects = {
            "Segmentation": objects,
            "Boundaries": borders[: len(classes)],
            "Categories": categories,
        }
        _write_matlab(dataset / "cls" / f"{image_id}.mat", "GTcls", of_classes)
        _write_matlab(dataset / "inst" / f"{image_id}.mat", "GTinst", of_objects)


def write_context(
    root: pathlib.Path, masks: Masks, lists: Lists, folder: str = "ImageSets/SegmentationContext"
) -> None:
    """Writes images and lists of Pascal Context.

    Args:
      root: the folder `VOC2010`.
      masks: values, of which 0 is none of the classes and 1 to 59 are the classes.
      lists: the lists.
      folder: the folder of the lists.
    """
    _write_images(root, "JPEGImages", masks, 4)
    _write_lists(root / folder, masks, lists)


def write_context_pngs(folder: pathlib.Path, masks: Masks) -> None:
    """Writes labels as mmsegmentation's converter does: grayscale, without a palette."""
    for image_id, mask in masks.items():
        put(folder, f"{image_id}.png", mask)


def write_context_mats(folder: pathlib.Path, masks: Masks) -> None:
    """Writes labels as the original archive has them, uint16, and 431 (unknown) for 0."""
    numbers = np.array([431, *releases.CONTEXT_NUMBERS.values()], np.uint16)
    for image_id, mask in masks.items():
        _write_matlab(folder / f"{image_id}.mat", "LabelMap", numbers[mask])


def context_names() -> str:
    """Returns a `labels.txt` with the names of the 59 classes, and others between them."""
    names = {number: name for name, number in releases.CONTEXT_NUMBERS.items()}
    numbers = range(1, releases.CONTEXT_LABELS + 1)
    return "".join(f"{n}: {names.get(n, f'other {n}')}\n" for n in numbers)


def _write_images(root: pathlib.Path, folder: str, masks: Masks, factor: int) -> None:
    for image_id, mask in masks.items():
        gray = Image.fromarray(mask * factor)
        put(root, f"{folder}/{image_id}.jpg", Image.merge("RGB", [gray] * 3))


def _write_lists(folder: pathlib.Path, masks: Masks, lists: Lists) -> None:
    for name in ("train.txt", "val.txt"):
        ids = [image_id for image_id in masks if lists[image_id] == name]
        put(folder, name, "".join(f"{image_id}\n" for image_id in ids))


def _write_matlab(path: pathlib.Path, name: str, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    io.savemat(path, {name: content}, do_compression=True)
