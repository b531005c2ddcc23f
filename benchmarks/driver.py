"""Measures what a build costs before its first record: finding and checking all pairs.

    python benchmarks/driver.py FOLDER [--pairs 1000000]

Makes a tree of so many pairs, hard links to the files of 32, with real lists, and prints a
Markdown table. Each line is measured in a process of its own. `base` is the memory of that process
after its imports, without TensorFlow, and `growth` what it needed more than that at its peak.
"""

import argparse
import contextlib
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import types

from etils import epath
from make_tree import make_tree

FILES = 32
"""Different pairs of the tree; each has so many links that no file system refuses them."""

WAYS = {
    "own tree, all masks looked at": {"name": "own"},
    "a release, not strict": {
        "name": "part",
        "release": "2012",
        "strict": False,
        "instance_mask": False,
        "objects": False,
    },
}


def _memory(name: str) -> float:
    """Returns a figure of this process's memory in MB: `VmRSS`, or the peak, `VmHWM`."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Engine:
    """Takes the first task in place of doing all, or writes the files that Beam's workers read."""

    workers = 1

    def __init__(self, engine: str, folder: pathlib.Path):
        self._beam = engine == "Beam"
        self._folder = folder

    def run(self, work, tasks, note):
        """Ends with `Reached` where the work would begin."""
        del work, note
        if not self._beam:
            next(iter(tasks))
        else:
            from voc_seg_tfrecord.examples import beam

            config = types.SimpleNamespace(beam_runner=None, beam_options=None)
            beam.Beam(epath.Path(self._folder), config).send(tasks)
        raise Reached
        yield


class Reached(Exception):  # noqa: N818 - it is no error
    """All is ready for the first record."""


def measure(root: pathlib.Path, way: str, engine: str) -> dict[str, float]:
    """Goes as far as the first record, or to where Beam's pipeline starts; returns figures."""
    import tensorflow_datasets as tfds
    from tensorflow_datasets.core import naming

    from voc_seg_tfrecord import VocSegConfig
    from voc_seg_tfrecord.configs.features import feature_table
    from voc_seg_tfrecord.examples import shards
    from voc_seg_tfrecord.sources.open import open_source

    if engine == "Beam":
        from voc_seg_tfrecord.examples import beam  # noqa: F401 - it is no part of what is measured

    config = VocSegConfig(**WAYS[way], trust_images=True)
    features = tfds.features.FeaturesDict(feature_table(config)[0])
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # so that the peak is counted anew
    base, cpu, start = _memory("VmRSS"), _cpu(), time.perf_counter()
    fetcher = types.SimpleNamespace(manual_dir=epath.Path(root), verified=[])
    source = open_source(config, fetcher)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        templates = {
            split: naming.ShardedFileTemplate(folder, None, "driver", split, "tfrecord")
            for split in source.splits
        }
        with contextlib.suppress(Reached):
            download_config = tfds.download.DownloadConfig()
            to = folder / "tasks"
            shards.write(source, templates, features, download_config, Engine(engine, to))
        seconds, cpu = time.perf_counter() - start, _cpu() - cpu
        shared = sum(path.stat().st_size for path in folder.rglob("*.json.gz"))
    peak = _memory("VmHWM")
    return {"base": base, "growth": peak - base, "seconds": seconds, "cpu": cpu, "shared": shared}


def main() -> None:
    """Parses the command line and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--pairs", type=int, default=1_000_000, help="images with masks (%(default)s)"
    )
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        print(json.dumps(measure(args.folder, *args.measure)))
        return
    root = make_tree(args.folder / f"tree_{args.pairs}", FILES, args.pairs // FILES)
    print(f"\n{args.pairs} pairs:\n")
    print("| | engine | base MB | growth MB | wall s | CPU s | MB for workers |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for way in WAYS:
        for engine in ("one process", "Beam"):
            command = [sys.executable, __file__, str(root.parent.parent), "--measure", way, engine]
            result = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            f = json.loads(result.stdout.splitlines()[-1])
            print(
                f"| {way} | {engine} | {f['base']:.0f} | {f['growth']:.0f} | {f['seconds']:.1f} "
                f"| {f['cpu']:.1f} | {f['shared'] / 1e6:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
