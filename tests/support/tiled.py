"""Draws a tree of images of several sizes, to be cut into tiles."""

import pathlib

import numpy as np
from support.drawing import put

SIZES = [(40, 50), (16, 16), (9, 33), (31, 10), (7, 5), (33, 32)]
"""Height and width by number, of some images in a tree."""

NAMES = ["background", "crack", "hole"]


def truth(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns an image, uint8 `[H, W, 3]`, and its mask, uint8 `[H, W]`."""
    rng = np.random.default_rng(number)
    size = SIZES[number % len(SIZES)]
    mask = np.kron(rng.choice([0, 1, 2, 255], (7, 9)), np.ones((7, 7))).astype(np.uint8)
    return rng.integers(0, 256, (*size, 3), np.uint8), mask[: size[0], : size[1]]


def write_tree(root: pathlib.Path, count: int = len(SIZES)) -> pathlib.Path:
    """Writes images `0.png` and so on with their masks; returns the folder."""
    for number in range(count):
        image, mask = truth(number)
        put(root, f"JPEGImages/{number}.png", image)
        put(root, f"SegmentationClass/{number}.png", mask)
        put(root, f"SegmentationObject/{number}.png", np.where(mask == 1, 7, mask))
    return root


def tree_options(**more) -> dict:
    """Returns what `builder_from_tree` has to be told about such a tree."""
    return {"class_names": NAMES, **more}
