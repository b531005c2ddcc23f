"""Compares the ways to make TFRecords of a VOC tree, side by side.

    python benchmarks/build.py FOLDER [--pairs 2913] [--repeats 5]

Each build is a process of its own. Seconds and CPU seconds are those of the build alone, workers
included, without the start of Python and TensorFlow. `added MiB` is the peak of the process's
memory minus what it had before the build, and `worker MiB` the peak of the largest worker as a
whole. Trees of more than 2,913 pairs have links to the files of so many. Of trees of more than
100,000 pairs only what comes before the first record is measured: finding and checking all pairs.
"""

import contextlib
from functools import partial
import json
import os
import pathlib
import shutil
import sys
import threading
from unittest import mock

import baselines
from make_tree import build, make_tree
import measuring
from measuring import Figures, Way
import psutil

from voc_seg_tfrecord.writing import engines

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 500, "repeats": 2}
DIFFERENT, LARGE = 2913, 100_000
FLOOR, OURS = "TFDS writing from memory, the floor", "`build`"
BUILDS = {
    OURS: partial(build, workers=1),
    "`build --workers 2`": partial(build, workers=2),
    "`build --trust_images`": partial(build, workers=1, trust_images=True),
    "`build --trust_images --workers 2`": partial(build, workers=2, trust_images=True),
}
FIRST = "`build`, up to its first record"
OTHERS = {"tutorials' script": baselines.tutorial, "plain TFDS builder": baselines.plain_tfds}
"""Not run on trees with links: decoded pixels take nine times the room."""


class Reached(BaseException):
    """All is ready for the first record."""


def build_up_to_first_record(root: pathlib.Path, out: pathlib.Path) -> None:
    """Goes to where records are made, as a release: own data have 2,000,000 files at most."""
    config = {"release": "2012", "strict": False, "instance_mask": False, "objects": False}

    def run(engine, runner, tasks, note):
        del engine, runner, note
        next(iter(tasks))
        raise Reached
        yield

    with mock.patch.object(engines.LocalEngine, "run", run), contextlib.suppress(Reached):
        build(root, out, workers=1, trust_images=True, **config)


def build_once(name: str, root: pathlib.Path, out: pathlib.Path) -> Figures:
    """Builds in this process, below an empty folder."""
    import tensorflow  # noqa: F401 - TFDS would import it in the middle of a build

    if name == FLOOR:
        work = baselines.floor(root, out)
    else:
        ways = {FIRST: build_up_to_first_record, **BUILDS, **OTHERS}
        work = partial(ways[name], root, out)
    ended, peaks = threading.Event(), [0]
    threading.Thread(target=_watch_workers, args=(ended, peaks), daemon=True).start()
    figures = measuring.timed_with_memory(work)
    ended.set()
    written = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    return {**figures, "worker MiB": max(peaks) / 2**20, "written MB": written / 1e6}


def _watch_workers(ended: threading.Event, peaks: list[int]) -> None:
    """Notes the memory of the processes that this one starts, ten times a second."""
    while not ended.wait(0.1):
        for worker in psutil.Process().children():
            with contextlib.suppress(psutil.NoSuchProcess):
                peaks.append(worker.memory_info().rss)


def _in_a_process(name: str, root: pathlib.Path, folder: pathlib.Path) -> Figures:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    os.sync()  # so that no build writes back what another has written
    figures = measuring.run_python(__file__, "--one", name, root, out)
    shutil.rmtree(out)
    return figures


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Builds a tree of so many pairs in every way, in turns."""
    root = make_tree(folder, pairs, DIFFERENT)
    others = OTHERS if pairs <= DIFFERENT else {}
    names = [FIRST] if pairs > LARGE else [FIRST, FLOOR, *BUILDS, *others]
    ways = []
    for name in names:
        against = (FLOOR, *others) if name == OURS else [FLOOR] if name in BUILDS else []
        ways.append(Way("build", name, partial(_in_a_process, name, root, folder), pairs, against))
    measuring.take_turns(ways, repeats, warm_up=False)
    return ways


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(build_once(sys.argv[2], *map(pathlib.Path, sys.argv[3:]))))
    else:
        measuring.main(__doc__, measure, **FULL)
