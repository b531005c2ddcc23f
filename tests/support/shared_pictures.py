"""Builds datasets of drawn photos, some of which are in two splits or two datasets."""

import dataclasses
import pathlib

import numpy as np
from support import pictures
from support.drawing import put, put_lists

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
    for image_id, pixels in {**train, **val}.items():
        mask = np.zeros(pixels.shape[:2], np.uint8)
        mask[: len(mask) // 2] = 1
        put(root, f"JPEGImages/{image_id}.png", pixels)
        put(root, f"SegmentationClass/{image_id}.png", mask)
    put_lists(root, train=train, val=val)


def draw(*seeds):
    """Returns photos by their ids."""
    return {f"photo_{seed}": pictures.draw_photo(seed) for seed in seeds}


COPIES = {
    "photo_1": "as it is",
    "photo_2": "mirrored",
    "photo_3": "rotated by 90 degrees",
    "photo_4": "half the size",
}
"""Images of `ours` that `theirs` has too, and how they were changed."""


@dataclasses.dataclass(frozen=True)
class Leaking:
    """Two datasets that share images.

    Attributes:
      root: the folder of everything.
      ours: the folder that our dataset is built from.
      data_dir: the folder of datasets.
      our_dataset: the path of our dataset.
      their_dataset: the path of theirs.
    """

    root: pathlib.Path
    ours: pathlib.Path
    data_dir: pathlib.Path
    our_dataset: str
    their_dataset: str


def write_datasets(root: pathlib.Path) -> Leaking:
    """Writes `ours`, of photos 0 to 7, and `theirs`, whose split has copies of four of them."""
    ours = {f"photo_{seed}": pictures.draw_photo(seed) for seed in range(8)}
    copies = {}
    for image_id, change in COPIES.items():
        pixels = ours[image_id]
        changed = pixels if change == "as it is" else pictures.CHANGES[change](pixels)
        copies[f"copy_of_{image_id}"] = changed
    train = {image_id: ours[image_id] for image_id in list(ours)[:6]}
    val = {image_id: ours[image_id] for image_id in list(ours)[6:]}
    our_builder = build(root, "ours", train, val)
    # photo_0 is another photo than that of ours.
    other = {"photo_0": pictures.draw_photo(20)}
    their_builder = build(
        root, "theirs", {"photo_30": pictures.draw_photo(30)}, {**copies, **other}
    )
    return Leaking(
        root,
        root / "ours",
        root / "data",
        str(our_builder.data_path),
        str(their_builder.data_path),
    )
