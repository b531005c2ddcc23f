"""Measures crops read from tiles against the same crops read from whole images, and disk.

    python benchmarks/tiles.py FOLDER [--pairs 200] [--repeats 5]

Makes images of 4000 x 3000 pixels that compress as photos do, builds them whole, as PNG tiles and
as JPEG tiles, and reads image and mask: the tiles, and the same windows of the whole images, which
are decoded as far as a window needs. An "image" of the table is a crop. What a whole image takes on
the disk is printed beside the progress.
"""

import contextlib
import pathlib
import sys

import measuring
from measuring import Way
import numpy as np
from PIL import Image, ImageFilter
from read import drained
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import builder_from_tree, pipeline
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.pipeline.window import decode_crop

FULL, QUICK = {"pairs": 200, "repeats": 5}, {"pairs": 4, "repeats": 2}
HEIGHT, WIDTH, TILE = 3000, 4000, 512
NAMES = ["background", "road", "roof", "tree", "water"]
TASK, WHOLE = "crops of large images: tiles of 512 x 512", "whole images"
FORMS = {
    WHOLE: {"name": "whole"},
    "png tiles": {"name": "png", "tile": TILE},
    "jpeg tiles": {"name": "jpeg", "tile": TILE, "tile_format": "jpeg"},
}


def draw(number: int) -> tuple[Image.Image, Image.Image]:
    """Returns a drawn image with texture and grain, and its mask of patches with void borders."""
    rng = np.random.default_rng(number)
    patches = Image.fromarray(rng.integers(0, len(NAMES), (24, 32), np.uint8))
    mask = np.array(patches.resize((WIDTH, HEIGHT), Image.Resampling.NEAREST))
    mask = np.roll(mask, rng.integers(0, 200, 2), (0, 1))
    colors = rng.integers(40, 200, (len(NAMES), 3))
    coarse = Image.fromarray(rng.integers(0, 256, (HEIGHT // 40, WIDTH // 40, 3), np.uint8))
    fine = Image.fromarray(rng.integers(0, 256, (HEIGHT // 4, WIDTH // 4, 3), np.uint8))
    layers = [
        np.asarray(layer.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC), np.float32) - 128
        for layer in (coarse, fine)
    ]
    grain = rng.normal(0, 3, (HEIGHT, WIDTH, 1)).astype(np.float32)
    pixels = colors[mask] + 0.25 * layers[0] + 0.12 * layers[1] + grain
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    mask[rng.random((HEIGHT // 8, WIDTH // 8)).repeat(8, 0).repeat(8, 1) < 0.002] = 255
    return image.filter(ImageFilter.GaussianBlur(0.6)), Image.fromarray(mask)


def write_tree(root: pathlib.Path, count: int) -> None:
    """Writes the images as JPEG of quality 95, and their masks."""
    for folder in ("JPEGImages", "SegmentationClass"):
        (root / folder).mkdir(parents=True)
    for number in range(count):
        image, mask = draw(number)
        image.save(root / "JPEGImages" / f"{number:04}.jpg", quality=95)
        mask.save(root / "SegmentationClass" / f"{number:04}.png")


def build(folder: pathlib.Path, root: pathlib.Path, form: str) -> tfds.core.DatasetBuilder:
    """Builds the tree in a form, unless it is built."""
    options = FORMS[form]
    built = folder / "voc_seg_tfrecord" / options["name"] / "1.0.0"
    if built.exists():
        return tfds.builder_from_directory(built)
    with contextlib.redirect_stdout(sys.stderr):
        return builder_from_tree(root, data_dir=folder, class_names=NAMES, **options)


def crops(builder: tfds.core.DatasetBuilder, form: str) -> tf.data.Dataset:
    """Reads tiles, or the same windows of whole images, image after image, without an end."""
    read = pipeline.read(builder, "train", epochs=None, shuffle=0)
    if form != WHOLE:
        return read.map(pipeline.decode, num_parallel_calls=tf.data.AUTOTUNE)
    grid = [(tile.top, tile.left, TILE, TILE) for tile in Tiling(TILE).tiles(HEIGHT, WIDTH)]
    windows = tf.constant(np.random.default_rng(0).permutation(grid), tf.int32)

    def cropped(number: tf.Tensor, example: dict) -> list[tf.Tensor]:
        window = windows[number % len(grid)]
        return [decode_crop(example[n], n, window) for n in ("image", "segmentation_mask")]

    return read.enumerate().map(cropped, num_parallel_calls=tf.data.AUTOTUNE)


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Reads crops of so many large images: at least 20 whole ones, ten times as many of tiles."""
    folder = folder / f"large_{pairs}"
    if not (folder / "tree").exists():
        write_tree(folder / "tree", pairs)
    ways = []
    for form in FORMS:
        builder = build(folder / "data", folder / "tree", form)
        count = max(pairs, 20) * (1 if form == WHOLE else 10)
        run = drained(crops(builder, form).take(count))
        against = [] if form == WHOLE else [WHOLE]
        ways.append(Way(TASK, form, run, count, against))
        megabytes = int(builder.info.dataset_size) / 1e6 / pairs
        print(f"{form}: {megabytes:.1f} MB per image", file=sys.stderr)
    measuring.take_turns(ways, repeats)
    return ways


if __name__ == "__main__":
    measuring.main(__doc__, measure, **FULL)
