"""Compares the ways to make TFRecords of a VOC tree, side by side, as a Markdown table.

    python benchmarks/build.py FOLDER [--pairs 2913] [--copies 1 16] [--repeats 5]
        [--only ours floor ...]

Each build is a process of its own, the contenders take turns, and the figures are medians.
Trees and outputs are put into FOLDER. A tree that is there already is used again. Seconds and
CPU seconds are those of the build alone, workers included, without the start of Python and
TensorFlow. The column "added MiB" is the peak of the process's memory minus what it had before the
build, and "worker MiB" the peak of the largest worker's memory as a whole. This package is compared
with the floor, which is what TFDS itself takes, and the others with it.
"""

import argparse
from collections.abc import Sequence
import contextlib
import importlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

import machine
from rows import Row, table
from trees import drawn_tree

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 500, "repeats": 2}
CONTENDERS = {
    "floor": "TFDS writing from memory, the floor",
    "ours": "`build`",
    "ours_2": "`build --workers 2`",
    "trusted": "`build --trust_images`",
    "trusted_2": "`build --trust_images --workers 2`",
    "tutorial": "tutorials' script",
    "plain_tfds": "plain TFDS builder",
    "deeplab": "DeepLab's way",
    "copy": "copying the files",
}
OURS, FLOOR = ("ours", "ours_2", "trusted", "trusted_2"), "floor"
BIG_LIMIT = {"tutorial"}
"""Not run on trees with copies unless named, because decoded pixels take 9 times the room."""


def measure(name: str, root: pathlib.Path, out: pathlib.Path) -> dict[str, float]:
    """Runs one contender in this process.

    Args:
      name: a module of `baselines`.
      root: the tree.
      out: an empty folder.

    Returns:
      `wall` and `cpu` in seconds, `memory`, `worker` and `bytes` in bytes.
    """
    importlib.import_module("tensorflow")  # TFDS would import it in the middle of a build
    module = importlib.import_module(f"baselines.{name.removesuffix('_2')}")
    options = {"workers": 2 if name.endswith("_2") else 1} if name in OURS else {}
    source = module.prepare(root) if hasattr(module, "prepare") else root
    before = _status("VmRSS")
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # sets the peak back to now
    ended, peaks = threading.Event(), [0]
    watcher = threading.Thread(target=_watch_workers, args=(ended, peaks))
    watcher.start()
    wall, cpu = time.perf_counter(), sum(os.times()[:4])
    module.build(source, out, **options)
    wall, cpu = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
    ended.set()
    watcher.join()
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    memory = _status("VmHWM") - before
    return {"wall": wall, "cpu": cpu, "memory": memory, "worker": max(peaks), "bytes": written}


def _watch_workers(ended: threading.Event, peaks: list[int]) -> None:
    """Notes the peak memory of the processes that this one starts, ten times a second.

    `getrusage` would count what this process had when it started them.
    """
    while not ended.wait(0.1):
        for children in pathlib.Path("/proc/self/task").glob("*/children"):
            with contextlib.suppress(OSError, KeyError):  # it has just ended
                peaks += [_status("VmHWM", child) for child in children.read_text().split()]


def _status(field: str, process: str = "self") -> int:
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def _run(name: str, root: pathlib.Path, folder: pathlib.Path) -> dict[str, float]:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    os.sync()  # so that nobody writes back what another has written
    result = subprocess.run(
        [sys.executable, __file__, "--measure", name, root, out],
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
    )
    shutil.rmtree(out, ignore_errors=True)
    if result.returncode:
        raise RuntimeError(f"{name} failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])


def rows(
    folder: pathlib.Path,
    *,
    pairs: int,
    repeats: int,
    copies: int = 1,
    names: Sequence[str] = tuple(CONTENDERS),
) -> list[Row]:
    """Builds in every way, in turns.

    Args:
      folder: where trees and outputs are put.
      pairs: different pairs of image and mask.
      repeats: runs of each.
      copies: ids per pair.
      names: some of `CONTENDERS`.
    """
    root, total = drawn_tree(folder, pairs, copies), pairs * copies
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for turn in range(repeats):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            runs[name].append(_run(name, root, folder))
            print(f"{name}: {runs[name][-1]}", file=sys.stderr)
    found = []
    for name, results in runs.items():
        median = {key: statistics.median(run[key] for run in results) for key in results[0]}
        figures = {
            "s": f"{median['wall']:.2f}",
            "CPU s": f"{median['cpu']:.2f}",
            "added MiB": f"{median['memory'] / 2**20:.0f}",
            "worker MiB": f"{median['worker'] / 2**20:.0f}" if median["worker"] else "",
            "written MB": f"{median['bytes'] / 1e6:.0f}",
        }
        against = FLOOR if name in OURS else "" if name == FLOOR else OURS[0]
        found.append(
            Row(
                "build" if copies == 1 else f"build, each pair {copies} times",
                CONTENDERS[name],
                tuple(total / run["wall"] for run in results),
                CONTENDERS[against] if against in runs else "",
                name in OURS,
                figures,
            )
        )
    return found


def main() -> None:
    """Parses the command line and prints a table for each size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--pairs", type=int, default=2913, help="images with masks in the tree (%(default)s)"
    )
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 16], help="ids per image")
    parser.add_argument("--repeats", type=int, default=5, help="runs of each (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=CONTENDERS, help="which to run (all)")
    args = parser.parse_args()
    print(machine.description())
    for copies in args.copies:
        names = args.only or [n for n in CONTENDERS if copies == 1 or n not in BIG_LIMIT]
        found = rows(
            args.folder, pairs=args.pairs, repeats=args.repeats, copies=copies, names=names
        )
        print("\n" + table(found))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], *map(pathlib.Path, sys.argv[3:5]))))
    else:
        main()
