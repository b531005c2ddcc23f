"""A VOC tree of random pairs, for tests that need more examples than dummy_data has."""

import pathlib

import numpy as np
from PIL import Image

from voc_seg_tfrecord import voc_palette

SIZES = [(24, 32), (32, 24), (40, 32), (1, 1), (1, 37), (33, 20), (32, 32)]
"""Height and width, cycled through."""


def write_small_tree(folder: pathlib.Path, count: int) -> pathlib.Path:
    """Writes `count` pairs, all of them in train; returns the folder."""
    for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        rng = np.random.default_rng(number)
        size = SIZES[number % len(SIZES)]
        image = Image.fromarray(rng.integers(0, 256, (*size, 3), np.uint8))
        image.save(folder / "JPEGImages" / f"{number:03}.jpg")
        mask = Image.fromarray(rng.choice([0, 1, 20, 255], size).astype(np.uint8), mode="L")
        mask.putpalette(voc_palette().tobytes())
        mask.save(folder / "SegmentationClass" / f"{number:03}.png")
    ids = "".join(f"{number:03}\n" for number in range(count))
    (folder / "ImageSets" / "Segmentation" / "train.txt").write_text(ids)
    return folder
