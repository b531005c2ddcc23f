"""Measures what a build costs before its first record: finding and checking all pairs.

    python benchmarks/driver.py FOLDER [--pairs 1000000]

Makes a tree of so many pairs, hard links to the files of 32, with real lists, and prints a
Markdown table. Each line is measured in a process of its own. `base` is the memory of that process
after its imports, without TensorFlow, and `growth` what it needed more than that at its peak.
"""

import argparse
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
    "own tree, `masks_by` said": {"name": "own", "masks_by": "index"},
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


def measure(root: pathlib.Path, way: str, engine: str) -> dict[str, float]:
    """Goes as far as the first record, or to where Beam's pipeline starts; returns figures."""
    from voc_seg_tfrecord import VocSegConfig
    from voc_seg_tfrecord.examples import make
    from voc_seg_tfrecord.sources.open import open_source

    if engine == "Beam":
        from voc_seg_tfrecord.examples import beam

    config = VocSegConfig(**WAYS[way], trust_images=True)
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # so that the peak is counted anew
    base, cpu, start = _memory("VmRSS"), _cpu(), time.perf_counter()
    fetcher = types.SimpleNamespace(manual_dir=epath.Path(root), verified=[])
    source = open_source(config, fetcher, workers_find=engine == "Beam")
    shared = 0
    if engine == "Beam":
        with tempfile.TemporaryDirectory() as folder, beam.exchange(folder) as exchange:
            for split, items in source.splits.items():
                beam.MakeExamples(split, items, source.spec, exchange)
            shared = sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*.jsonl"))
    else:
        split, items = next(iter(source.splits.items()))
        next(make.examples_in_threads(split, items, source.spec))
    seconds, cpu = time.perf_counter() - start, _cpu() - cpu
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
