"""Draws a set of images with masks, and plants mistakes in its masks."""

import dataclasses
import pathlib

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from support.drawing import put, put_lists

NAMES = ("background", "coin", "leaf", "sign")
COUNT = 101
SIZE = (150, 200)  # height, width


@dataclasses.dataclass
class Pair:
    """An image, uint8 `[H, W, 3]`, and its mask, uint8 `[H, W]`."""

    image: np.ndarray
    mask: np.ndarray


def draw(number: int) -> Pair:
    """Returns a textured image with one to three objects, and its mask."""
    rng = np.random.default_rng(number)
    height, width = SIZE
    coarse = rng.integers(0, 256, (9, 12, 3), np.uint8)
    image = Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)
    mask = Image.new("L", (width, height))
    for _ in range(rng.integers(1, 4)):
        label = int(rng.integers(1, len(NAMES)))
        x, y = rng.integers(10, width - 70), rng.integers(10, height - 70)
        w, h = rng.integers(35, 60, 2)
        color = tuple(rng.integers(0, 256, 3).tolist())
        box = [int(x), int(y), int(x + w), int(y + h)]
        if np.asarray(mask)[box[1] : box[3] + 1, box[0] : box[2] + 1].any():
            continue  # a hidden object would leave specks
        corners = [(box[0], box[3]), (box[0] + int(w) // 3, box[1]), (box[2], box[3])]
        for canvas, fill in ((image, color), (mask, label)):
            pen = ImageDraw.Draw(canvas)
            if NAMES[label] == "coin":
                pen.ellipse(box, fill)
            elif NAMES[label] == "leaf":
                pen.polygon(corners, fill)
            else:
                pen.rectangle(box, fill)
    image = image.filter(ImageFilter.GaussianBlur(0.7))
    noise = rng.normal(0, 6, (height, width, 3))
    pixels = np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)
    return Pair(pixels, np.array(mask))


def moved(mask: np.ndarray, right: int, down: int) -> np.ndarray:
    """Returns a mask shifted; what comes in is background."""
    found = np.roll(mask, (down, right), (0, 1))
    found[: max(0, down)] = 0
    found[len(mask) + min(0, down) :] = 0
    found[:, : max(0, right)] = 0
    found[:, mask.shape[1] + min(0, right) :] = 0
    return found


def plant(pairs: list[Pair], seed: int) -> dict[int, str]:
    """Changes 25 masks and images; returns the kind of finding that names each, by number."""
    rng = np.random.default_rng(seed)
    numbers = rng.permutation(np.arange(1, len(pairs) - 1, 3))[:25].tolist()
    expected = {}
    for turn, number in enumerate(numbers):
        pair = pairs[number]
        before = pairs[number - 1]
        mask = pair.mask
        kind = turn % 10
        if kind < 5:
            expected[number] = "mask does not fit its image"
        if kind == 0:
            pair.mask = mask[:, ::-1]
        elif kind == 1:
            pair.mask = mask[::-1]
        elif kind == 2:
            pair.mask = mask[::-1, ::-1]
        elif kind == 3:
            pair.mask = moved(mask, 25, 0)
        elif kind == 4:
            pair.mask = before.mask
        elif kind == 5:
            pair.mask, expected[number] = np.zeros_like(mask), "all background"
        elif kind == 6:
            pair.mask, expected[number] = mask.copy(), "speck"
            y, x = np.argwhere(mask == 0)[rng.integers(np.count_nonzero(mask == 0))]
            pair.mask[y, x] = pair.mask[y, max(0, x - 1)] = 1
        elif kind == 7:
            pair.mask, expected[number] = np.full_like(mask, mask.max()), "unusual size"
        elif kind == 8:
            pair.mask, expected[number] = mask.copy(), "hole of one pixel"
            inner = np.argwhere(
                (mask > 0) & (moved(mask, 3, 3) == mask) & (moved(mask, -3, -3) > 0)
            )
            y, x = inner[len(inner) // 2]
            pair.mask[y, x] = 0
        else:
            pair.image, expected[number] = before.image, "same image, other mask"
    return expected


def write(root: pathlib.Path, pairs: list[Pair]) -> None:
    """Writes a tree: four fifths in train, one fifth in val."""
    put(root, "class_names.txt", "\n".join(NAMES))
    ids = {"train": [], "val": []}
    for number, pair in enumerate(pairs):
        image_id = f"{number:03}"
        ids["val" if number % 5 == 4 else "train"].append(image_id)
        put(root, f"JPEGImages/{image_id}.jpg", pair.image, quality=90)
        put(root, f"SegmentationClass/{image_id}.png", pair.mask)
    put_lists(root, **ids)
