"""Writes small twins of Pascal Context on VOC2010, in both forms of its labels."""

from collections.abc import Mapping
import pathlib

import numpy as np
from PIL import Image
from scipy import io

from voc_seg_tfrecord.core import releases


def write(
    root: pathlib.Path,
    masks: Mapping[str, np.ndarray],
    lists: Mapping[str, str],
    folder: str = "ImageSets/SegmentationContext",
) -> None:
    """Writes images and lists.

    Args:
      root: the folder `VOC2010`.
      masks: values by id, uint8 `[H, W]`, 0 for none of the classes and 1 to 59 for them.
      lists: `train.txt` or `val.txt` by id.
      folder: the lists' folder.
    """
    (root / "JPEGImages").mkdir(parents=True)
    (root / folder).mkdir(parents=True)
    for image_id, mask in masks.items():
        image = Image.fromarray(np.repeat(mask[..., None] * 4, 3, 2))
        image.save(root / "JPEGImages" / f"{image_id}.jpg")
    for name in ("train.txt", "val.txt"):
        ids = [image_id for image_id in masks if lists[image_id] == name]
        (root / folder / name).write_text("".join(f"{i}\n" for i in ids))


def write_pngs(folder: pathlib.Path, masks: Mapping[str, np.ndarray]) -> None:
    """Writes labels as mmsegmentation's converter does: grayscale, without a palette."""
    folder.mkdir(parents=True)
    for image_id, mask in masks.items():
        Image.fromarray(mask).save(folder / f"{image_id}.png")


def write_mats(folder: pathlib.Path, masks: Mapping[str, np.ndarray]) -> None:
    """Writes labels as the original archive has them, uint16, and 431 (unknown) for 0."""
    folder.mkdir(parents=True)
    numbers = np.array([431, *releases.CONTEXT_NUMBERS.values()], np.uint16)
    for image_id, mask in masks.items():
        path = folder / f"{image_id}.mat"
        io.savemat(path, {"LabelMap": numbers[mask]}, do_compression=True)


def names_text() -> str:
    """Returns a `labels.txt` with the names of the 59 classes, and others between them."""
    names = {number: name for name, number in releases.CONTEXT_NUMBERS.items()}
    numbers = range(1, releases.CONTEXT_LABELS + 1)
    return "".join(f"{n}: {names.get(n, f'other {n}')}\n" for n in numbers)
