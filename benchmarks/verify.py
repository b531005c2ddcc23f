"""Times `verify`, `stats` and `leaks` on synthetic trees, each command in a process of its own.

    python benchmarks/verify.py FOLDER [--sizes 2913 12031] [--repeats 3]

The trees are made in FOLDER by make_tree.py and kept there. Prints a Markdown table: median
seconds, start of Python and TensorFlow included, the ratio to the plain loop over
`tfds.load` that counts the same pixels, and the largest resident set.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import time

from make_tree import make_tree

_CLI = (sys.executable, "-m", "voc_seg_tfrecord")
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

_PLAIN_LOOP = """
import sys, numpy as np, tensorflow_datasets as tfds
for dataset in tfds.load(sys.argv[1], data_dir=sys.argv[2]).values():
    pixels = np.zeros(256, np.int64)
    for example in dataset.as_numpy_iterator():
        pixels += np.bincount(example["segmentation_mask"].ravel(), minlength=256)
"""


def run(*command: str) -> tuple[float, float]:
    """Runs a command; returns its seconds and its largest resident set in MiB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status:
        raise RuntimeError(f"{command}: status {status}\n{error.decode()[-2000:]}")
    return seconds, usage.ru_maxrss / 1024


def commands(tree: pathlib.Path, data: pathlib.Path, size: int) -> dict[str, tuple[str, ...]]:
    """Returns what is timed, by its name in the table."""
    name = f"voc_seg_tfrecord/bench{size}"
    at = (name, "--data_dir", str(data))
    config = ("--config", _CONFIG % size)
    return {
        "plain loop over `tfds.load`, pixels only": (
            sys.executable,
            "-c",
            _PLAIN_LOOP,
            name,
            str(data),
        ),
        "`stats`": (*_CLI, "stats", *at),
        "`verify`": (*_CLI, "verify", *at),
        "`verify --source`": (*_CLI, "verify", *at, "--source", str(tree), *config),
        "`leaks`, train and validation": (
            *_CLI,
            "leaks",
            f"{name}@train",
            f"{name}@validation",
            *at[1:],
        ),
    }


def main() -> None:
    """Makes the trees, builds them, times the commands in turn, prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[2913, 12031])
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    print("| images | command | s | examples/s | times the plain loop | peak MiB |")
    print("|---|---|---|---|---|---|")
    data = args.folder / "data"
    for size in args.sizes:
        tree = make_tree(args.folder / f"tree{size}", size).parent
        if not (data / f"voc_seg_tfrecord/bench{size}/1.0.0/dataset_info.json").exists():
            row = run(sys.executable, "-c", _BUILD, _CONFIG % size, str(tree), str(data))
            print(f"| {size} | build, once | {row[0]:.1f} | {size / row[0]:.0f} | | {row[1]:.0f} |")
        timed = {title: [] for title in commands(tree, data, size)}
        for _ in range(args.repeats):
            for title, command in commands(tree, data, size).items():
                timed[title].append(run(*command))
        plain = None
        for title, runs in timed.items():
            seconds = statistics.median(s for s, _ in runs)
            peak = max(m for _, m in runs)
            plain = plain or seconds
            pace, ratio = f"{size / seconds:.0f}", f"{seconds / plain:.2f}"
            print(f"| {size} | {title} | {seconds:.1f} | {pace} | {ratio} | {peak:.0f} |")


if __name__ == "__main__":
    main()
