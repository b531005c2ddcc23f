"""Runs every benchmark and prints one table of how this package compares.

    python benchmarks/all.py [--quick] [--folder FOLDER] [--only build read ...]
        [--page docs/background/speed.md]

With --quick each benchmark runs at a small size, all in about five minutes on two cores. The
table has this package on the left, and how many times as fast it is as what stands beside it.
With --page it is also written into that page, between two marks. Flink is not among the
benchmarks, because it needs a cluster; see flink.sh.
"""

import argparse
from collections.abc import Sequence
import contextlib
import importlib
import pathlib
import tempfile

import measuring

BENCHMARKS = ("build", "read", "commands", "tiles", "polygons", "bands")


def main(argv: Sequence[str] | None = None) -> None:
    """Parses the command line, measures, prints, writes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, about five minutes")
    parser.add_argument("--folder", type=pathlib.Path, help="where to work (a temporary folder)")
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=BENCHMARKS)
    parser.add_argument("--pairs", type=int, help="images of every benchmark (its own number)")
    parser.add_argument("--repeats", type=int, help="rounds of every benchmark (its own number)")
    parser.add_argument("--page", type=pathlib.Path, help="page to write the table into")
    args = parser.parse_args(argv)
    ways, sizes, state = [], [], measuring.machine()
    with contextlib.ExitStack() as stack:
        folder = args.folder or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        for name in args.only:
            module = importlib.import_module(name)
            usual = module.QUICK if args.quick else module.FULL
            size = {key: getattr(args, key) or value for key, value in usual.items()}
            sizes.append(f"{name} {size['pairs']:,} and {size['repeats']}")
            ways += module.measure(folder, **size)
    parts = [state, f"Images and rounds: {', '.join(sizes)}.", measuring.comparisons(ways)]
    if missing := measuring.missing(ways):
        parts += ["Not in the table:", missing]
    text = "\n\n".join(parts)
    print(text)
    if args.page:
        measuring.replace_between_marks(args.page, text)


if __name__ == "__main__":
    main()
