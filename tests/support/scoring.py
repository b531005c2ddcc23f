"""Masks, predictions, and the devkit's rule written down a second time."""

import pathlib

import numpy as np
from PIL import Image
from support.building import examples
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VOID


def shapes(seed: int, size: tuple[int, int] = (24, 33)) -> np.ndarray:
    """Returns a mask with classes 0, 1 and 2 and void, uint8 `[H, W]`."""
    mask = np.zeros(size, np.uint8)
    mask[3:12, 2 + seed : 15 + seed] = 1
    mask[9:20, 10 : 20 + seed] = 2
    mask[8, :] = VOID
    return mask


def moved(mask: np.ndarray, by: int = 2) -> np.ndarray:
    """Returns a prediction: the mask moved to the right, with void as background."""
    return np.roll(np.where(mask == VOID, 0, mask), by, axis=1).astype(np.uint8)


def write_predictions(builder: tfds.core.DatasetBuilder, folder: pathlib.Path) -> pathlib.Path:
    """Writes `moved` masks of train as PNGs of class indices; returns the folder."""
    folder.mkdir()
    for name, example in examples(builder, "train").items():
        values = moved(example["segmentation_mask"][..., 0])
        Image.fromarray(values).save(folder / pathlib.Path(name).with_suffix(".png"))
    return folder


def devkit(
    masks: list[np.ndarray], predictions: list[np.ndarray], classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Returns matrix and IoU as `VOCevalseg.m` computes them; absent classes are NaN."""
    matrix = np.zeros((classes, classes), np.int64)
    for mask, prediction in zip(masks, predictions, strict=True):
        locations = mask < 255
        np.add.at(matrix, (mask[locations], prediction[locations]), 1)
    truth, found, both = matrix.sum(1), matrix.sum(0), matrix.diagonal()
    with np.errstate(invalid="ignore"):
        return matrix, both / (truth + found - both)
