"""Trees of drawn images in VOC's layout and sizes, about 90 kB per JPEG, and datasets of them."""

import concurrent.futures
import contextlib
import itertools
import os
import pathlib
import sys
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VOID, Builder, VocSegConfig, voc_palette

SIZES = ((500, 375), (375, 500), (500, 333), (500, 375), (333, 500), (500, 332), (480, 360))
"""Width and height, cycled through: most of VOC is 500 x 375 or its like."""
FOLDERS = {"JPEGImages": ".jpg", "SegmentationClass": ".png", "SegmentationObject": ".png"}


def make_tree(folder: pathlib.Path, pairs: int, different: int | None = None) -> pathlib.Path:
    """Writes a tree if it is not there yet; returns its root, `VOCdevkit/VOC2012` in a folder.

    Args:
      folder: where trees are kept.
      pairs: how many ids; half are in train, half in val.
      different: how many of them have images of their own (all); the files of the others are hard
        links to these.
    """
    different = min(different or pairs, pairs)
    root = folder / f"tree_{pairs}_{different}" / "VOCdevkit" / "VOC2012"
    lists = root / "ImageSets" / "Segmentation"
    if (lists / "val.txt").exists():
        return root
    for name in FOLDERS:
        (root / name).mkdir(parents=True, exist_ok=True)
    drawn = [f"{2007 + n % 6}_{n:06}" for n in range(different)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        list(pool.map(_draw, itertools.repeat(root), drawn, range(different), chunksize=16))
    ids = list(drawn)
    for number in range(different, pairs):
        original = drawn[number % different]
        ids.append(f"{original}_{number // different:05}")
        for name, suffix in FOLDERS.items():
            source, link = (root / name / f"{one}{suffix}" for one in (original, ids[-1]))
            link.unlink(missing_ok=True)  # of a run that was killed
            os.link(source, link)
    lists.mkdir(parents=True, exist_ok=True)
    (lists / "train.txt").write_text("\n".join(ids[0::2]))
    (lists / "val.txt").write_text("\n".join(ids[1::2]))
    return root


def _draw(root: pathlib.Path, image_id: str, seed: int) -> None:
    """Writes one image and its class and instance masks."""
    rng = np.random.default_rng(seed)
    width, height = SIZES[seed % len(SIZES)]
    coarse = rng.integers(0, 256, (height // 16, width // 16, 3), np.uint8)
    image = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    noise = rng.normal(0, 14.5, (height, width, 1))
    image = Image.fromarray(np.clip(image + noise, 0, 255).astype(np.uint8))
    classes, objects = Image.new("L", image.size), Image.new("L", image.size)
    for number in range(1, 2 + seed % 4):
        (left, right), (top, bottom) = (
            sorted(rng.integers(0, side, 2).tolist()) for side in (width, height)
        )
        for canvas, value in ((classes, int(rng.integers(1, 21))), (objects, number)):
            ellipse = (left, top, right + 9, bottom + 9)
            ImageDraw.Draw(canvas).ellipse(ellipse, value, VOID, 5)
    image.save(root / "JPEGImages" / f"{image_id}.jpg", quality=88)
    for folder, mask in (("SegmentationClass", classes), ("SegmentationObject", objects)):
        mask.putpalette(voc_palette().tobytes())
        mask.save(root / folder / f"{image_id}.png")


def ids_of(root: pathlib.Path, name: str) -> list[str]:
    """Returns the ids of a list, such as `val`."""
    return (root / "ImageSets" / "Segmentation" / f"{name}.txt").read_text().split()


def build(
    root: pathlib.Path,
    data_dir: pathlib.Path,
    *,
    name: str = "bench",
    workers: int | None = None,
    beam_options: Any = None,
    **fields: Any,
) -> Builder:
    """Builds a tree as own data, unless it is built; `fields` are those of the config."""
    config = VocSegConfig(name=name, **fields)
    builder = Builder(data_dir=data_dir, config=config)
    options = tfds.download.DownloadConfig(manual_dir=root, beam_options=beam_options)
    with contextlib.redirect_stdout(sys.stderr):  # TFDS prints; the tables are to stand alone
        builder.download_and_prepare(download_config=options, workers=workers)
    return builder
