"""Times the commands that read built data on synthetic trees, each in a process of its own.

    python benchmarks/verify.py FOLDER [--sizes 2913 12031] [--repeats 5] [--only stats ...]
        [--before CHECKOUT]

The trees are made in FOLDER by make_tree.py and kept there, and so are the datasets and the
predictions. Prints a Markdown table of medians: CPU seconds of all threads, wall seconds, both with
the start of Python, and the largest resident set. With `--before`, each command also runs with the
package of another checkout, in turns.
"""

import argparse
import itertools
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time

from make_tree import make_tree
import numpy as np
from PIL import Image

_HERE = pathlib.Path(__file__).resolve().parents[1]
_CONFIG = '{"name": "bench%d", "instance_mask": true, "masks_by": "index"}'

_BUILD = """
import sys, json, tensorflow_datasets as tfds, voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
config = VocSegConfig(**json.loads(sys.argv[1]))
builder = voc_seg_tfrecord.Builder(data_dir=sys.argv[3], config=config)
builder.download_and_prepare(
    download_config=tfds.download.DownloadConfig(manual_dir=sys.argv[2])
)
"""


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
    root = make_tree(folder / f"tree{size}", size)
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


def compare(
    folder: pathlib.Path, size: int, names: list[str], checkouts: list[pathlib.Path], repeats: int
) -> None:
    """Times commands on one size, in turns, and prints one row for each."""
    made = commands(folder, prepare(folder, size), size)
    for name in names:
        runs: dict[pathlib.Path, list[tuple[float, float, float]]] = {c: [] for c in checkouts}
        for turn, checkout in itertools.product(range(repeats), checkouts):
            out = folder / f"out{turn}"
            words = [str(word).replace("OUT", str(out)) for word in made[name]]
            runs[checkout].append(run(checkout, "-m", "voc_seg_tfrecord", *words))
            shutil.rmtree(out, ignore_errors=True)
            out.with_suffix(".png").unlink(missing_ok=True)
        medians = [
            [statistics.median(column) for column in zip(*runs[c], strict=True)] for c in checkouts
        ]
        cells = [f"{value:.{2 - which}f}" for which in range(3) for value in _nth(medians, which)]
        print(f"| {size} | `{name}` | {' | '.join(cells)} |", flush=True)


def _nth(rows: list[list[float]], which: int) -> list[float]:
    return [row[which] for row in rows]


def main() -> None:
    """Makes the trees, builds them, times the commands in turn, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2913, 12031])
    parser.add_argument("--repeats", type=int, default=5)
    names = list(commands(pathlib.Path(), pathlib.Path(), 0))
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--before", type=pathlib.Path, help="a checkout to compare with")
    args = parser.parse_args()
    folder = args.folder.resolve()
    checkouts = [args.before.resolve(), _HERE] if args.before else [_HERE]
    columns = [
        f"{what} {which}".strip()
        for what in ("CPU s", "wall s", "MiB")
        for which in ("before", "")[-len(checkouts) :]
    ]
    print(f"| images | command | {' | '.join(columns)} |")
    print("|---|---|" + "---:|" * len(columns))
    for size in args.sizes:
        compare(folder, size, args.only, checkouts, args.repeats)


if __name__ == "__main__":
    main()
