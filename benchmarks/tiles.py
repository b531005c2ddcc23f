"""Measures random crops read from tiles against the same crops read from whole images, and disk.

    python benchmarks/tiles.py [--pairs 200] [--repeats 5] [--crop 384] [--folder FOLDER]

Makes images of 4000 x 3000 pixels that compress as photos do, builds them whole, as PNG tiles and
as JPEG tiles, and reads crops in each way, image and mask: the tiles themselves and the same
windows of the whole images, then smaller random crops. From whole images a crop is decoded as far
as it needs. Every way is run once a round, in turns; what is printed are medians. An "image" of
the table is a crop. What an earlier run left in FOLDER is used again.
"""

import argparse
import contextlib
from functools import partial
import os
import pathlib
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import machine
from measuring import Way, drained, take_turns
import numpy as np
from PIL import Image, ImageFilter
from rows import Row, markdown, table
import tensorflow as tf
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord import builder_from_tree, pipeline
from voc_seg_tfrecord.examples.tiles import Tiling
from voc_seg_tfrecord.pipeline.window import decode_window

FULL, QUICK = {"pairs": 200, "repeats": 5}, {"pairs": 4, "repeats": 2}
HEIGHT, WIDTH = 3000, 4000
CROP = 384
NAMES = ["background", "road", "roof", "tree", "water"]
FORMS = {
    "whole": {},
    "png": {"tile": 512},
    "jpeg": {"tile": 512, "tile_format": "jpeg"},
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
    for number in tqdm(range(count), desc="drawing"):
        image, mask = draw(number)
        image.save(root / "JPEGImages" / f"{number:04}.jpg", quality=95)
        mask.save(root / "SegmentationClass" / f"{number:04}.png")


def crops(builder: tfds.core.DatasetBuilder, *, size: int, count: int) -> tf.data.Dataset:
    """Reads crops, image and mask: one per record, as long as it takes."""
    read = pipeline.read(builder, "train", epochs=None, shuffle=0)

    def cropped(example: dict) -> dict:
        return pipeline.random_crop_or_pad(example, size, seed=example["seed"])

    return read.map(cropped, num_parallel_calls=tf.data.AUTOTUNE).take(count)


def same_crops(builder: tfds.core.DatasetBuilder, count: int) -> tf.data.Dataset:
    """Reads the windows of tiles from whole images, image after image, all over the images."""
    grid = [(tile.top, tile.left, 512, 512) for tile in Tiling(512).tiles(HEIGHT, WIDTH)]
    windows = tf.constant(np.random.default_rng(0).permutation(grid), tf.int32)
    read = pipeline.read(builder, "train", epochs=None, shuffle=0)

    def cropped(number: tf.Tensor, example: dict) -> tuple:
        window = windows[number % len(grid)]
        names = ("image", "segmentation_mask")
        return tuple(decode_window(example[name], name, window) for name in names)

    return read.enumerate().map(cropped, num_parallel_calls=tf.data.AUTOTUNE).take(count)


def whole_tiles(builder: tfds.core.DatasetBuilder, count: int) -> tf.data.Dataset:
    """Reads complete tiles: the windows of `same_crops`."""
    read = pipeline.read(builder, "train", epochs=None, shuffle=0)
    return read.map(pipeline.decode, num_parallel_calls=tf.data.AUTOTUNE).take(count)


def build(folder: pathlib.Path, tree: pathlib.Path) -> dict[str, tfds.core.DatasetBuilder]:
    """Builds what is not there."""
    builders = {}
    for form, options in FORMS.items():
        there = folder / "data" / "voc_seg_tfrecord" / form / "1.0.0"
        if there.exists():
            builders[form] = tfds.builder_from_directory(there)
            continue
        with contextlib.redirect_stdout(sys.stderr):
            builders[form] = builder_from_tree(
                tree,
                name=form,
                data_dir=folder / "data",
                class_names=NAMES,
                **options,
            )
    return builders


def ways(builders: dict[str, tfds.core.DatasetBuilder], crop: int, few: int) -> list[Way]:
    """Returns the ways of reading: few crops of whole images, ten times as many of tiles."""
    found = []
    for part, of_whole, of_tiles in (
        ("crops of large images: tiles of 512 x 512", same_crops, whole_tiles),
        (
            f"crops of large images: random {crop} x {crop}",
            partial(crops, size=crop),
            partial(crops, size=crop),
        ),
    ):
        read = drained(of_whole(builders["whole"], count=few))
        found.append(Way(part, "whole images", read, few))
        for form in ("png", "jpeg"):
            read = drained(of_tiles(builders[form], count=10 * few))
            found.append(Way(part, f"{form} tiles", read, 10 * few, "whole images"))
    return found


def rows(
    folder: pathlib.Path, *, pairs: int, repeats: int, crop: int = CROP, crops_read: int = 0
) -> list[Row]:
    """Draws, builds, reads.

    Args:
      folder: where to work.
      pairs: how many large images.
      repeats: rounds.
      crop: side of random crops.
      crops_read: how many of whole images in a round; 0, the default, is as many as
        images, but at least 20.
    """
    folder = folder / f"large_{pairs}"
    if not (folder / "tree").exists():
        write_tree(folder / "tree", pairs)
    return take_turns(
        ways(build(folder, folder / "tree"), crop, crops_read or max(pairs, 20)), repeats
    )


def disk(folder: pathlib.Path, pairs: int) -> str:
    """Returns the table of bytes."""
    folder = folder / f"large_{pairs}"
    files = (folder / "tree").rglob("*.*")
    sizes = {"folder of JPEG and PNG": sum(file.stat().st_size for file in files)}
    builders = build(folder, folder / "tree")
    sizes |= {form: int(builder.info.dataset_size) for form, builder in builders.items()}
    lines = [["stored as", "MB on disk", "MB per image"]]
    lines += [[form, f"{n / 1e6:.0f}", f"{n / 1e6 / pairs:.2f}"] for form, n in sizes.items()]
    return markdown(lines, numbers=(1, 2))


def main() -> None:
    """Makes, builds, reads, prints."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200, help="large images (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument("--crop", type=int, default=CROP, help="side of random crops (%(default)s)")
    parser.add_argument("--crops", type=int, default=200, help="crops per round from whole images")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work (a temporary folder)")
    args = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = args.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        print(machine.description(), "\n")
        sizes = {"crop": args.crop, "crops_read": args.crops}
        print(table(rows(folder, pairs=args.pairs, repeats=args.repeats, **sizes)))
        print("\n" + disk(folder, args.pairs))


if __name__ == "__main__":
    main()
