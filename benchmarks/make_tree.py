"""Writes a VOC tree of drawn images for benchmarks, in VOC's sizes, about 90 kB per JPEG.

    python benchmarks/make_tree.py FOLDER [--pairs 2913] [--copies 1] [--seed 0]

Half of the ids are in train, half in val. `--copies N` makes N times as many ids whose files
are hard links to the first ones.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib

import numpy as np
from PIL import Image, ImageDraw
from tqdm import tqdm

from voc_seg_tfrecord import VOID, voc_palette

SIZES = ((500, 375), (375, 500), (500, 333), (500, 375), (333, 500), (500, 332), (480, 360))
"""Width and height, cycled through: most of VOC is 500 x 375 or its like."""


def make_pair(root: pathlib.Path, image_id: str, seed: int) -> None:
    """Writes one image and its class and instance masks."""
    rng = np.random.default_rng(seed)
    width, height = SIZES[seed % len(SIZES)]
    coarse = rng.integers(0, 256, (height // 16, width // 16, 3), np.uint8)
    image = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    noise = rng.normal(0, 14.5, (height, width, 1))
    image = Image.fromarray(np.clip(image + noise, 0, 255).astype(np.uint8))
    classes, objects = Image.new("L", image.size), Image.new("L", image.size)
    for number in range(1, 2 + seed % 4):
        box = sorted(rng.integers(0, width, 2)), sorted(rng.integers(0, height, 2))
        corners = [int(box[0][0]), int(box[1][0]), int(box[0][1]) + 9, int(box[1][1]) + 9]
        for canvas, value in ((classes, int(rng.integers(1, 21))), (objects, number)):
            ImageDraw.Draw(canvas).ellipse(corners, value, VOID, 5)
    image.save(root / "JPEGImages" / f"{image_id}.jpg", quality=88)
    for folder, mask in (("SegmentationClass", classes), ("SegmentationObject", objects)):
        mask.putpalette(voc_palette().tobytes())
        mask.save(root / folder / f"{image_id}.png")


def make_tree(folder: pathlib.Path, pairs: int, copies: int = 1, seed: int = 0) -> pathlib.Path:
    """Writes the tree if it is not there yet; returns its root.

    Args:
      folder: where `VOCdevkit/VOC2012` is put.
      pairs: how many different pairs.
      copies: how many ids share each pair's files.
      seed: of all that is random.
    """
    root = folder / "VOCdevkit" / "VOC2012"
    lists = root / "ImageSets" / "Segmentation"
    if (lists / "val.txt").exists():
        return root
    for name in ("JPEGImages", "SegmentationClass", "SegmentationObject"):
        (root / name).mkdir(parents=True, exist_ok=True)
    ids = [f"{2007 + n % 6}_{n:06}" for n in range(pairs)]
    with concurrent.futures.ProcessPoolExecutor() as pool:
        seeds = range(seed, seed + pairs)
        written = pool.map(make_pair, itertools.repeat(root), ids, seeds, chunksize=16)
        for _ in tqdm(written, total=pairs, desc="Writing pairs", unit=" pairs"):
            pass
    for copy in range(1, copies):
        for image_id in ids[:pairs]:
            for name, suffix in (
                ("JPEGImages", ".jpg"),
                ("SegmentationClass", ".png"),
                ("SegmentationObject", ".png"),
            ):
                source = root / name / f"{image_id}{suffix}"
                os.link(source, root / name / f"{image_id}_{copy:03}{suffix}")
    ids += [f"{i}_{copy:03}" for copy in range(1, copies) for i in ids[:pairs]]
    lists.mkdir(parents=True, exist_ok=True)
    for name, part in (("train", ids[0::2]), ("val", ids[1::2])):
        (lists / f"{name}.txt").write_text("".join(f"{i}\n" for i in part))
    return root


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--pairs", type=int, default=2913, help="images with masks in the tree (%(default)s)"
    )
    parser.add_argument("--copies", type=int, default=1, help="ids per image (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed for drawing (%(default)s)")
    args = parser.parse_args()
    print(make_tree(args.folder, args.pairs, args.copies, args.seed))
