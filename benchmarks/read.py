"""Measures reading: this package, its limit and its peers, side by side in one run.

    python benchmarks/read.py [FOLDER] [--pairs 2913] [--repeats 5] [--only limit peers ...]
        [--tree VOC_TREE] [--peers-python PYTHON ...]

A tree of drawn images is made in FOLDER and kept there. With --tree the pairs of a tree of your
own are read, each as often as it takes to have as many. Every way of reading is run once a round,
in turns, so that a change of the machine's mood hits all alike; what is printed are medians. Each
peer runs in a process of its own, by the first interpreter that has its packages: this one, or one
of --peers-python. A line says what is missing for those that nothing can run.
"""

import argparse
from collections.abc import Sequence
import contextlib
import os
import pathlib
import statistics
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import forms
import machine
from measuring import Way, take_turns
import read_peers
import read_tutorials
import read_ways
from rows import Row, markdown, table
import tensorflow_datasets as tfds
from trees import SPLIT, drawn_tree, repeated_tree

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 300, "repeats": 3}
PARTS = ("limit", "batches", "crops", "rare", "peers")
QUICK_PARTS = ("limit", "batches", "crops", "peers")
CROP = 384


def rows(
    folder: pathlib.Path,
    *,
    pairs: int,
    repeats: int,
    parts: Sequence[str] = QUICK_PARTS,
    interpreters: Sequence[str] = (),
    tree: pathlib.Path | None = None,
) -> list[Row]:
    """Measures.

    Args:
      folder: where trees and datasets are put, and found again.
      pairs: how many images with masks.
      repeats: rounds.
      parts: some of `PARTS`.
      interpreters: others that may have the peers' packages.
      tree: one's own; its pairs are repeated until there are as many.
    """
    with contextlib.ExitStack() as stack:
        if tree is None:
            root, home = drawn_tree(folder, pairs), folder / f"read_{pairs}"
        else:
            home = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
            root, different = repeated_tree(tree, home / "tree", pairs)
            print(f"{different} different pairs of {tree}, repeated", file=sys.stderr)
        source, builder = forms.write(root, home)
        ways, absent = _ways(stack, source, builder, parts, (sys.executable, *interpreters))
        return [*take_turns(ways, repeats), *absent]


def _ways(
    stack: contextlib.ExitStack,
    source: forms.Source,
    builder: tfds.core.DatasetBuilder,
    parts: Sequence[str],
    interpreters: Sequence[str],
) -> tuple[list[Way], list[Row]]:
    ways, absent = [], []
    if "limit" in parts:
        ways += read_ways.single_examples(builder)
    if "batches" in parts:
        raw_file = source.folder / "raw.tfrecord"
        if not raw_file.exists():
            decoded = builder.as_dataset(split=SPLIT, read_config=read_ways.NO_CACHE)
            read_tutorials.write_raw(decoded, raw_file)
        ways += read_ways.fixed_batches(builder, read_tutorials.raw_dataset(raw_file, CROP), CROP)
    if "crops" in parts:
        ways += read_ways.deeplab_batches(builder)
    if "rare" in parts:
        ways += read_ways.rare_classes(builder)
    if "peers" in parts:
        others, absent = read_peers.others(stack, source, builder, interpreters)
        ways += [read_peers.ours(builder), *others]
    return ways, absent


def first_batches(folder: pathlib.Path, repeats: int) -> str:
    """Returns the table of seconds from the call to the first batch."""
    builder = tfds.builder_from_directory(forms.Source(folder, folder).tfrecord)
    ways = read_ways.first_batches(builder)
    take_turns(ways, repeats)
    lines = [["time to the first batch", "seconds"]]
    lines += [[way.name, f"{statistics.median(way.seconds):.2f}"] for way in ways]
    return markdown(lines, numbers=[1])


def disk(folder: pathlib.Path, root: pathlib.Path) -> str:
    """Returns the table of bytes of all forms."""
    sizes = {"JPEG and PNG files": _bytes(root / "JPEGImages", root / "SegmentationClass")}
    for name in ("tfrecord", "array_record", "parquet", "tars", "raw.tfrecord"):
        if (folder / name).exists():
            sizes[name] = _bytes(folder / name)
    files = next(iter(sizes.values()))
    lines = [["bytes on disk", "MB", "of the files"]]
    lines += [[name, f"{size / 1e6:.1f}", f"{size / files:.3f}"] for name, size in sizes.items()]
    return markdown(lines, numbers=(1, 2))


def _bytes(*places: pathlib.Path) -> int:
    files = [
        file for place in places for file in ([place] if place.is_file() else place.rglob("*"))
    ]
    return sum(file.stat().st_size for file in files if file.is_file())


def main(argv: Sequence[str] | None = None) -> None:
    """Runs everything and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, nargs="?", help="where to work (temporary)")
    parser.add_argument("--pairs", type=int, default=2913, help="images with masks (%(default)s)")
    parser.add_argument("--repeats", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="parts (all)")
    parser.add_argument("--tree", type=pathlib.Path, help="a tree of your own, in VOC's layout")
    parser.add_argument(
        "--peers-python", nargs="+", default=[], help="interpreters with the peers' packages"
    )
    args = parser.parse_args(argv)
    with contextlib.ExitStack() as stack:
        folder = args.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        print(machine.description(), "\n")
        found = rows(
            folder,
            pairs=args.pairs,
            repeats=args.repeats,
            parts=args.only,
            interpreters=args.peers_python,
            tree=args.tree,
        )
        print(table(found))
        if args.tree is None:
            home = folder / f"read_{args.pairs}"
            print("\n" + first_batches(home, args.repeats))
            print("\n" + disk(home, drawn_tree(folder, args.pairs)))


if __name__ == "__main__":
    main()
