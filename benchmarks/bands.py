"""Compares builds and reads of images of other bands with reading their files by tifffile.

    python benchmarks/bands.py FOLDER [--pairs 200] [--repeats 5]

Draws scenes of 512 x 512 pixels with texture and noise, of 3 and 13 bands of 16 bits, as TIFFs
that deflate compresses after a difference of neighbors, as GDAL does. Reads image and mask
of each.
"""

from collections.abc import Callable
import contextlib
from functools import partial
import pathlib
import shutil
import sys

import measuring
from measuring import Figures, Way
import numpy as np
from PIL import Image
import tensorflow_datasets as tfds
import tifffile

from voc_seg_tfrecord import builder_from_tree, data_source, pipeline

FULL, QUICK = {"pairs": 200, "repeats": 5}, {"pairs": 12, "repeats": 2}
SIDE, BY_TIFFFILE = 512, "tifffile and Pillow in a loop"
KINDS = {"RGB of 16 bits": 3, "13 bands of 16 bits": 13}


def write_set(root: pathlib.Path, pairs: int, count: int) -> None:
    """Writes scenes and their masks."""
    for name in ("images", "masks"):
        (root / name).mkdir(parents=True)
    for number in range(pairs):
        rng = np.random.default_rng(number)
        coarse = rng.integers(500, 9000, (16, 16, count)).astype(np.float32)
        rows = np.linspace(0, 14.99, SIDE)
        whole, part = rows.astype(int), (rows % 1)[:, None, None]
        scene = coarse[whole] * (1 - part) + coarse[whole + 1] * part
        scene = scene[:, whole] * (1 - part[:, 0]) + scene[:, whole + 1] * part[:, 0]
        scene = (scene + rng.normal(0, 30, scene.shape)).clip(0, 65535).astype(np.uint16)
        options = {"photometric": "minisblack", "planarconfig": "contig", "compression": "zlib"}
        tifffile.imwrite(root / f"images/{number}.tif", scene, predictor=True, **options)
        Image.fromarray((scene[..., 0] > 5000).astype(np.uint8)).save(root / f"masks/{number}.png")


def by_tifffile(root: pathlib.Path) -> None:
    """Reads each image and its mask, as a training loop without any preparation does."""
    for path in sorted((root / "images").iterdir()):
        tifffile.imread(path)
        np.asarray(Image.open(root / "masks" / f"{path.stem}.png"))


def build(root: pathlib.Path, out: pathlib.Path) -> None:
    """Builds the set below an empty folder."""
    shutil.rmtree(out, ignore_errors=True)
    options = {"class_names": ["background", "high"], "bands": "all", "dtype": "uint16"}
    with contextlib.redirect_stdout(sys.stderr):
        builder_from_tree(root, name="bands", data_dir=out, verbose=False, **options)


def read_source(out: pathlib.Path) -> None:
    """Reads the built set by number."""
    for _ in data_source("voc_seg_tfrecord/bands", "train", data_dir=out):
        pass


def read_pipeline(out: pathlib.Path) -> None:
    """Reads the built set by `tf.data`."""
    builder = tfds.builder_from_directory(out / "voc_seg_tfrecord" / "bands" / "1.0.0")
    for _ in pipeline.read(builder, "train", decoded=True):
        pass


def timed(function: Callable[..., None], *paths: pathlib.Path) -> Callable[[], Figures]:
    """Returns what calls a function and returns how long it took."""
    return partial(measuring.timed, partial(function, *paths))


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Builds and reads each kind, in turns with the loop."""
    ways = []
    for kind, count in KINDS.items():
        root, out = folder / f"bands_{pairs}_{count}", folder / f"bands_{pairs}_{count}_data"
        if not root.exists():
            write_set(root, pairs, count)
        build(root, out)
        task = f"{kind}, {SIDE} x {SIDE}"
        ways += [
            Way(f"read {task}", "data_source", timed(read_source, out), pairs),
            Way(f"read {task}", "pipeline", timed(read_pipeline, out), pairs),
            Way(f"read {task}", BY_TIFFFILE, timed(by_tifffile, root), pairs),
            Way(f"build {task}", "build", timed(build, root, out), pairs),
            Way(f"build {task}", BY_TIFFFILE, timed(by_tifffile, root), pairs),
        ]
        for way in ways:
            way.against = [] if way.name == BY_TIFFFILE else [BY_TIFFFILE]
    measuring.take_turns(ways, repeats)
    return ways


if __name__ == "__main__":
    measuring.main(__doc__, measure, **FULL)
