"""Builds drawn trees on Apache Flink and compares all files with those of a plain build.

    benchmarks/flink.sh FOLDER [--pairs 2913 23304] [--task_managers 1 2] [--no-kill]

Prints wall and CPU seconds as a Markdown table, and CPU milliseconds for each further pair of the
larger tree: what is left if the start of workers is not counted. CPU seconds are those of all
processes: the driver, Flink's and Beam's servers, and the workers. At last it kills one of two
task managers during the largest build.
"""

import argparse
import hashlib
import pathlib
import resource
import shutil
import signal
import sys
import threading
import time

import apache_beam
from flink_cluster import Cluster, cluster, missing
from make_tree import make_tree
import tensorflow_datasets as tfds

import voc_seg_tfrecord

FILES = 2913
"""Different pairs; larger trees have links to them."""


def build(
    root: pathlib.Path, out: pathlib.Path, flags: tuple[str, ...], num_shards: int | None
) -> tfds.core.DatasetBuilder:
    """Builds the tree below `out`, on Beam if there are flags for it."""
    config = voc_seg_tfrecord.VocSegConfig(name="bench")
    builder = voc_seg_tfrecord.Builder(data_dir=out, config=config)
    options = apache_beam.options.pipeline_options.PipelineOptions(flags=list(flags))
    builder.download_and_prepare(
        download_config=tfds.download.DownloadConfig(
            manual_dir=root, num_shards=num_shards, beam_options=options if flags else None
        )
    )
    return builder


def digests(builder: tfds.core.DatasetBuilder) -> dict[str, str]:
    """Returns the sha256 of each file of a built dataset."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in pathlib.Path(builder.data_path).iterdir()
    }


def kill_one(flink: Cluster, out: pathlib.Path) -> None:
    """Kills a task manager without warning, once a quarter of the shards are written."""
    while True:
        done = len(list(out.rglob("*.result.json.gz")))
        if done and 4 * done >= len(list(out.rglob("*.json.gz"))) - done:
            break
        time.sleep(0.1)
    flink.task_managers[0].kill()
    print("Killed a task manager.", file=sys.stderr)


def _own_cpu() -> float:
    """Returns the CPU seconds of this process and of worker processes that have ended."""
    usages = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Lines:
    """Lines of the table, and the CPU seconds by size of the tree."""

    def __init__(self, args: argparse.Namespace, work: pathlib.Path):
        self.args, self.work = args, work
        self.roots = {
            pairs: make_tree(args.folder / f"tree_{pairs}", FILES, pairs // FILES)
            for pairs in args.pairs
        }
        self.expected: dict[int, dict[str, str]] = {}

    def measure(self, name: str, flink: Cluster | None = None) -> None:
        """Builds each tree and prints a line for each, and one for what a further pair costs."""
        used = {}
        for pairs, root in self.roots.items():
            out = self.work / f"{name.replace(' ', '_')}_{pairs}"
            flags = flink.beam_flags if flink else ()
            cpu = _own_cpu() + (flink.cpu_seconds() if flink else 0)
            start = time.perf_counter()
            try:
                builder = build(root, out, flags, self.args.num_shards)
            except Exception as error:
                left = list(out.glob("voc_seg_tfrecord/*/[0-9]*"))
                print(f"| {name} | {pairs} | failed: {str(error)[:200]!r} | left: {left} | |")
                continue
            seconds = time.perf_counter() - start
            used[pairs] = _own_cpu() + (flink.cpu_seconds() if flink else 0) - cpu
            same = self._same(pairs, builder)
            shards = "+".join(str(s.num_shards) for s in builder.info.splits.values())
            print(f"| {name} | {pairs} | {shards} | {seconds:.0f} | {used[pairs]:.1f} | {same} |")
            sys.stdout.flush()
            shutil.rmtree(out)
        if len(used) > 1:
            (few, less), *_, (many, more) = sorted(used.items())
            each = (more - less) / (many - few)
            print(f"| {name} | each further pair | | | {each:.5f} | |", flush=True)

    def _same(self, pairs: int, builder: tfds.core.DatasetBuilder) -> str:
        found = digests(builder)
        if pairs not in self.expected:
            self.expected[pairs] = found
            return ""
        return "the same" if found == self.expected[pairs] else "DIFFERENT"


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--pairs",
        type=int,
        nargs="*",
        default=[FILES, 8 * FILES],
        help=f"images with masks in the trees, multiples of {FILES} (%(default)s)",
    )
    parser.add_argument("--task_managers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--num_shards", type=int, help="of each split; default: TFDS's own rule")
    parser.add_argument("--no-kill", action="store_true")
    args = parser.parse_args()
    if lacks := missing(args.folder):
        sys.exit(f"{lacks}; run benchmarks/flink.sh")
    # So that the cluster is taken down.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    work = args.folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    lines = Lines(args, work)
    print("| | pairs | shards | wall s | CPU s | files |")
    print("|---|---:|---:|---:|---:|---|", flush=True)
    lines.measure("without Beam")
    for count in args.task_managers:
        folder = work / f"cluster{count}"
        with cluster(args.folder, folder, task_managers=count, parallelism=count) as flink:
            lines.measure(f"Flink, task managers: {count}", flink)
    if not args.no_kill:
        lines.roots = dict([max(lines.roots.items())])
        # What is left has slots for all tasks. Flink goes on when there are as many.
        with cluster(args.folder, work / "cluster_kill", slots=2) as flink:
            threading.Thread(target=kill_one, args=(flink, work), daemon=True).start()
            lines.measure("Flink, one of two killed", flink)
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
