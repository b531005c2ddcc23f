"""Runs every benchmark and prints one table of how this package compares.

    python benchmarks/all.py [--quick] [--folder FOLDER] [--peers-python PYTHON ...]
        [--only build read ...] [--page docs/background/speed.md]

With --quick each benchmark runs at a small size, all in about five minutes on two cores. The
table has this package on the left, and how many times as fast it is as what stands beside it.
With --page it is also written into that page, between the marks that page.py names. Flink is not
among the benchmarks, because it needs a cluster; see flink.sh.
"""

import argparse
from collections.abc import Sequence
import contextlib
import importlib
import os
import pathlib
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import machine
import page
from rows import Row, comparisons, markdown, missing

RATIO = 2
"""The column of the ratio."""
BENCHMARKS = ("build", "read", "evaluate", "verify", "tiles")


def collect(
    folder: pathlib.Path,
    names: Sequence[str],
    sizes: dict[str, dict[str, int]],
    interpreters: Sequence[str],
) -> list[Row]:
    """Runs benchmarks one after the other and returns what they find.

    Args:
      folder: where each puts its data.
      names: of benchmarks.
      sizes: by benchmark, `pairs` and `repeats`.
      interpreters: that may have the packages of `read`'s peers.
    """
    found = []
    for name in names:
        more = {"interpreters": interpreters} if name == "read" else {}
        start = time.perf_counter()
        found += importlib.import_module(name).rows(folder, **sizes[name], **more)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return found


def report(rows: Sequence[Row], sizes: dict[str, dict[str, int]], state: str) -> str:
    """Returns the generated part of the page."""
    lines = [["task", "this package", "times as fast", "as"]]
    for one in comparisons(rows):
        lines.append([one.task, one.way, f"{one.ratio:.2f}", one.other])
    used = [f"{name} {size['pairs']:,} and {size['repeats']}" for name, size in sizes.items()]
    parts = [
        state,
        f"Images and rounds: {', '.join(used)}.",
        markdown(lines, numbers=[RATIO]),
    ]
    absent = missing(rows)
    if absent:
        parts.append("Not in the table:\n\n" + "\n".join(f"- {line}" for line in absent))
    return "\n\n".join(parts)


def main(argv: Sequence[str] | None = None) -> None:
    """Parses the command line, measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, about five minutes")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work (a temporary folder)")
    parser.add_argument(
        "--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS, help="which to run (all)"
    )
    parser.add_argument("--pairs", type=int, help="images of every benchmark (its own number)")
    parser.add_argument("--repeats", type=int, help="rounds of every benchmark (its own number)")
    parser.add_argument(
        "--peers-python", nargs="+", default=[], help="interpreters with the peers' packages"
    )
    parser.add_argument("--page", type=pathlib.Path, help="page to write the table into")
    args = parser.parse_args(argv)
    sizes = {}
    for name in args.only:
        module = importlib.import_module(name)
        own = module.QUICK if args.quick else module.FULL
        sizes[name] = {key: getattr(args, key) or value for key, value in own.items()}
    with contextlib.ExitStack() as stack:
        folder = args.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        state = machine.description()
        text = report(collect(folder, args.only, sizes, args.peers_python), sizes, state)
    print(text)
    if args.page:
        page.replace_between_marks(args.page, text)


if __name__ == "__main__":
    main()
