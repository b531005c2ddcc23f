"""Builds drawn trees on Apache Flink and compares all files with those of a plain build.

    benchmarks/flink.sh FOLDER [--pairs 23304] [--repeats 1]

CPU seconds are those of all processes: the driver, Flink's and Beam's servers, and the workers.
Trees of more than 2,913 pairs have links to the files of so many.
"""

from functools import partial
import hashlib
import pathlib
import shutil
import signal
import sys
import time

import apache_beam
from flink_cluster import Cluster, cluster, missing
from make_tree import build, make_tree
import measuring
from measuring import Figures, Way

DIFFERENT = 2913


def files(root: pathlib.Path, out: pathlib.Path, flink: Cluster | None = None) -> dict[str, str]:
    """Builds a tree in a new folder, on Flink if given; returns the sha256 of each file."""
    options = None
    if flink:
        flags = list(flink.beam_flags)
        options = apache_beam.options.pipeline_options.PipelineOptions(flags=flags)
    builder = build(root, out, beam_options=options)
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(builder.data_path).iterdir()
    }


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Builds a tree of so many pairs without Beam, and on each cluster."""
    if lacks := missing(folder):
        sys.exit(f"{lacks}; run benchmarks/flink.sh")
    root, work = make_tree(folder, pairs, DIFFERENT), folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    expected = files(root, work / "plain")

    def run(flink: Cluster | None = None) -> Figures:
        out, built = work / "out", {}
        shutil.rmtree(out, ignore_errors=True)
        before = flink.cpu_seconds() if flink else 0
        figures = measuring.timed(lambda: built.update(files(root, out, flink)))
        figures["CPU s"] += (flink.cpu_seconds() if flink else 0) - before
        if built != expected:
            raise RuntimeError(f"the files in {out} are not those of a build without Beam")
        return figures

    def run_on(task_managers: int) -> Figures:
        place = work / f"cluster{time.monotonic_ns()}"
        with cluster(folder, place, task_managers=task_managers) as flink:
            return run(flink)

    ways = [Way("build", "without Beam", run, pairs)]
    for count in (1, 2):
        name = f"Flink, task managers: {count}"
        ways.append(Way("build", name, partial(run_on, count), pairs, ["without Beam"]))
    measuring.take_turns(ways, repeats, warm_up=False)
    return ways


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the cluster is taken down
    measuring.main(__doc__, measure, pairs=23304, repeats=1)
