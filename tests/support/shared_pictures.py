"""Builds datasets of drawn photos, some of which are in two splits or two datasets."""

import numpy as np
from PIL import Image
from support import pictures

import voc_seg_tfrecord

NAMES = ["background", "thing"]


def build(root, name, train, val):
    """Builds a dataset from images by id, uint8 `[H, W, 3]`, and returns its builder."""
    write_folder(root / name, train, val)
    return voc_seg_tfrecord.builder_from_tree(
        root / name, name=name, class_names=NAMES, data_dir=root / "data"
    )


def write_folder(root, train, val):
    """Writes images by id, uint8 `[H, W, 3]`, with masks and the lists of two splits."""
    images, masks, lists = (
        root / folder for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation")
    )
    for folder in (images, masks, lists):
        folder.mkdir(parents=True)
    for image_id, pixels in {**train, **val}.items():
        Image.fromarray(pixels).save(images / f"{image_id}.png")
        mask = np.zeros(pixels.shape[:2], np.uint8)
        mask[: len(mask) // 2] = 1
        Image.fromarray(mask).save(masks / f"{image_id}.png")
    (lists / "train.txt").write_text("\n".join(train))
    (lists / "val.txt").write_text("\n".join(val))


def draw(*seeds):
    """Returns photos by their ids."""
    return {f"photo_{seed}": pictures.draw_photo(seed) for seed in seeds}
