"""Draws a folder: images, masks and texts, by their names below it."""

from collections.abc import Iterable
import json
import pathlib
import shlex

import numpy as np
from PIL import Image
from support.png_writer import write_png

from voc_seg_tfrecord import voc_palette

SIZE = (12, 16)  # height, width

SIZES_OF_SMALL_TREE = [(24, 32), (32, 24), (40, 32), (1, 1), (1, 37), (33, 20), (32, 32)]
"""Height and width, cycled through."""


def truth(image_id: str) -> np.ndarray:
    """Returns class indices 0, 1, 2 that differ from id to id, uint8 `[12, 16]`."""
    mask = np.zeros(SIZE, np.uint8)
    shift = sum(image_id.encode()) % 5
    mask[2:6, 1 + shift : 6 + shift] = 1
    mask[7:11, 2 + shift : 9 + shift] = 2
    return mask


def picture(image_id: str) -> Image.Image:
    """Returns an image that differs from id to id, of the masks' size."""
    seed = sum(image_id.encode())
    noise = np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), np.uint8)
    return Image.fromarray(noise)


def put(
    root: pathlib.Path,
    name: str,
    content: bytes | str | dict | list | np.ndarray | Image.Image,
    **options,
) -> pathlib.Path:
    """Writes a file with its folders; returns its path.

    Args:
      root: the folder.
      name: of the file. Its ending is the format of an image or an array.
      content: what is written as it is, as JSON, or as an image or an array.
      **options: of Pillow's `save`, such as `quality`.
    """
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict | list):
        content = json.dumps(content)
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    elif isinstance(content, Image.Image):
        content.save(path, **options)
    elif path.suffix == ".npy":
        np.save(path, content)
    else:
        Image.fromarray(content).save(path, **options)
    return path


def put_image(root: pathlib.Path, name: str) -> None:
    """Writes `picture` of the name without folders and ending."""
    put(root, name, picture(pathlib.Path(name).stem))


def put_mask(root: pathlib.Path, name: str, values: np.ndarray) -> None:
    """Writes integers `[H, W]` as a grayscale mask."""
    put(root, name, write_png(values, color=0))


def put_pair(root: pathlib.Path, image_id: str, values: np.ndarray | None = None) -> None:
    """Writes an image and its grayscale mask, `truth` if no values are given, in VOC's folders."""
    put_image(root, f"JPEGImages/{image_id}.jpg")
    values = truth(image_id) if values is None else values
    put_mask(root, f"SegmentationClass/{image_id}.png", values)


def put_pairs(root: pathlib.Path, ids: Iterable[str], image: str, mask: str) -> None:
    """Writes an image and its mask for each id; both patterns have one {} for the id."""
    for image_id in ids:
        put_image(root, image.format(image_id))
        put_mask(root, mask.format(image_id), truth(image_id))


def put_lists(root: pathlib.Path, **ids_by_split: Iterable[str]) -> None:
    """Writes VOC's lists, a line for each id."""
    for split, ids in ids_by_split.items():
        text = "".join(f"{image_id}\n" for image_id in ids)
        put(root, f"ImageSets/Segmentation/{split}.txt", text)


def write(root: pathlib.Path, *sets: str | tuple[str, str]) -> pathlib.Path:
    """Writes images and masks, all different, and texts, and returns their folder.

    Args:
      root: the folder.
      *sets: ids of a letter each, the pattern of the images' names, and those of masks, quoted as
        for a shell, such as "abc images/{}.jpg masks/{}.png". The n-th mask of an image is
        `truth` of its id, rolled by n columns; the image `-` is none. A text stands behind its
        name.
    """
    for one in sets:
        if isinstance(one, str):
            _write_set(root, *shlex.split(one))
        else:
            put(root, *one)
    return root


def _write_set(root: pathlib.Path, ids: str, image: str, *masks: str) -> None:
    for image_id in ids:
        if image != "-":
            put_image(root, image.format(image_id))
        for number, mask in enumerate(masks):
            put_mask(root, mask.format(image_id), np.roll(truth(image_id), number, 1))


def write_small_tree(root: pathlib.Path, count: int) -> pathlib.Path:
    """Writes pairs of random pixels in VOC's layout, all of them in train; returns the folder."""
    ids = [f"{number:03}" for number in range(count)]
    for number, image_id in enumerate(ids):
        rng = np.random.default_rng(number)
        size = SIZES_OF_SMALL_TREE[number % len(SIZES_OF_SMALL_TREE)]
        put(root, f"JPEGImages/{image_id}.jpg", rng.integers(0, 256, (*size, 3), np.uint8))
        mask = Image.fromarray(rng.choice([0, 1, 20, 255], size).astype(np.uint8))
        mask.putpalette(voc_palette().tobytes())
        put(root, f"SegmentationClass/{image_id}.png", mask)
    put_lists(root, train=ids)
    return root
