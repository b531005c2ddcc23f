"""Times the commands that read built data on synthetic trees, each in a process of its own.

    python benchmarks/verify.py FOLDER [--pairs 2913 12031] [--repeats 5] [--only stats ...]
        [--before CHECKOUT]

The trees are made in FOLDER by make_tree.py and kept there, and so are the datasets and the
predictions. Prints a Markdown table of medians: CPU seconds of all threads, seconds, both with the
start of Python, and the largest resident set. They are compared with a plain loop over `tfds.load`
that counts the pixels of each class and nothing more. With `--before`, each command also runs with
the package of another checkout, and is compared with that. All take turns.
"""

import argparse
from collections.abc import Sequence
from functools import partial
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

import machine
import numpy as np
from PIL import Image
from rows import Row, table
from trees import drawn_tree

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 500, "repeats": 2}
_HERE = pathlib.Path(__file__).resolve().parents[1]
_CONFIG = '{"name": "bench%d", "instance_mask": true}'

_BUILD = """
import sys, json, tensorflow_datasets as tfds, voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
config = VocSegConfig(**json.loads(sys.argv[1]))
builder = voc_seg_tfrecord.Builder(data_dir=sys.argv[3], config=config)
builder.download_and_prepare(
    download_config=tfds.download.DownloadConfig(manual_dir=sys.argv[2])
)
"""

_LOOP = """
import sys, numpy as np, tensorflow_datasets as tfds
for dataset in tfds.load(sys.argv[1], data_dir=sys.argv[2]).values():
    pixels = np.zeros(256, np.int64)
    for example in dataset.as_numpy_iterator():
        pixels += np.bincount(example["segmentation_mask"].ravel(), minlength=256)
"""
_PLAIN = "loop over `tfds.load`, pixels only"


def run(checkout: pathlib.Path, *command: object) -> tuple[float, float, float]:
    """Runs Python; returns CPU seconds, wall seconds and the largest resident set in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=checkout,  # where `python -m` looks first
        env={**os.environ, "PYTHONPATH": str(checkout), "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{command}: status {status}\n{error.decode()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024


def commands(folder: pathlib.Path, tree: pathlib.Path, size: int) -> dict[str, list[object]]:
    """Returns what is timed, by its name in the table; `OUT` stands for a path to write to."""
    name = f"voc_seg_tfrecord/bench{size}"
    at = ["--data_dir", folder / "data"]
    source = ["--source", tree, "--config", _CONFIG % size]
    return {
        "verify": ["verify", name, *at],
        "verify --source": ["verify", name, *at, *source],
        "stats": ["stats", name, *at],
        "leaks": ["leaks", f"{name}@train", f"{name}@validation", *at],
        "preview": ["preview", name, *at, "--out", "OUT.png"],
        "export --layout voc": ["export", name, *at, "--layout", "voc", "--out", "OUT"],
        "evaluate": [
            "evaluate",
            f"{name}@validation",
            *at,
            "--predictions",
            folder / f"predictions{size}",
        ],
    }


def prepare(folder: pathlib.Path, size: int) -> pathlib.Path:
    """Makes the tree of a size, builds it and predicts its validation split; returns the tree."""
    root = drawn_tree(folder, size)
    tree, data = root.parent, folder / "data"
    if not (data / f"voc_seg_tfrecord/bench{size}/1.0.0/dataset_info.json").exists():
        run(_HERE, "-c", _BUILD, _CONFIG % size, tree, data)
    predictions = folder / f"predictions{size}"
    if not predictions.exists():
        predictions.mkdir()
        for image_id in (root / "ImageSets/Segmentation/val.txt").read_text().split():
            mask = np.asarray(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
            Image.fromarray(np.where(mask == 255, 0, mask)).save(predictions / f"{image_id}.png")
    return tree


def once(checkout: pathlib.Path, words: list[object], out: pathlib.Path) -> tuple[float, ...]:
    """Runs a command of the package and removes what it wrote; returns what `run` does."""
    words = [str(word).replace("OUT", str(out)) for word in words]
    found = run(checkout, "-m", "voc_seg_tfrecord", *words)
    shutil.rmtree(out, ignore_errors=True)
    out.with_suffix(".png").unlink(missing_ok=True)
    return found


def rows(
    folder: pathlib.Path,
    *,
    pairs: int,
    repeats: int,
    names: Sequence[str] = ("verify", "verify --source", "stats", "leaks"),
    before: pathlib.Path | None = None,
) -> list[Row]:
    """Times commands, in turns.

    Args:
      folder: where trees, datasets and predictions are put, and found again.
      pairs: how many images.
      repeats: runs of each.
      names: commands.
      before: a checkout to compare with.
    """
    folder = folder.resolve()
    made = commands(folder, prepare(folder, pairs), pairs)
    loop = ["-c", _LOOP, f"voc_seg_tfrecord/bench{pairs}", folder / "data"]
    ways = {_PLAIN: lambda: run(_HERE, *loop)}
    for name in names:
        if before:
            ways[f"`{name}`, before"] = partial(once, before, made[name], folder / "out")
        ways[f"`{name}`"] = partial(once, _HERE, made[name], folder / "out")
    runs: dict[str, list[tuple[float, ...]]] = {way: [] for way in ways}
    for _ in range(repeats):
        for way, call in ways.items():
            runs[way].append(call())
    return [_row(way, found, runs, pairs) for way, found in runs.items()]


def _row(
    way: str, found: list[tuple[float, ...]], runs: dict[str, list[tuple[float, ...]]], pairs: int
) -> Row:
    cpu, wall, peak = map(statistics.median, zip(*found, strict=True))
    figures = {"s": f"{wall:.1f}", "CPU s": f"{cpu:.2f}", "peak MiB": f"{peak:.0f}"}
    earlier = f"{way}, before"
    against = "" if way == _PLAIN else earlier if earlier in runs else _PLAIN
    rates = tuple(pairs / seconds for _, seconds, _ in found)
    return Row("look at all examples", way, rates, against, way != _PLAIN, figures)


def main() -> None:
    """Parses the command line and prints a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, nargs="+", default=[2913, 12031], help="of the trees")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (%(default)s)")
    names = list(commands(pathlib.Path(), pathlib.Path(), 0))
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="commands (all)")
    parser.add_argument("--before", type=pathlib.Path, help="a checkout to compare with")
    args = parser.parse_args()
    print(machine.description(), "\n")
    before = args.before and args.before.resolve()
    for pairs in args.pairs:
        found = rows(args.folder, pairs=pairs, repeats=args.repeats, names=args.only, before=before)
        print(f"{pairs:,} images:\n\n{table(found)}\n")


if __name__ == "__main__":
    main()
