"""freeze.py CORPUS [--folder DIR] --out FILE.jsonl.gz: writes the outcome of each folder.

The file has a line of JSON for each folder, sorted by key, and the same bytes for the same
outcomes. The package is the one that Python finds: set PYTHONPATH to freeze another commit's.
"""

import argparse
from collections.abc import Iterable
import gzip
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from outcomes.corpora import CORPORA, Case, list_cases
from outcomes.outcome import outcome_of


def freeze(case: Case) -> dict[str, Any]:
    """Returns the outcome of one folder, with its key."""
    with tempfile.TemporaryDirectory() as scratch:
        opened = case.open(pathlib.Path(scratch))
        return {"key": case.key, **outcome_of(opened.root, opened.options, opened.truth)}


def write_outcomes(outcomes: Iterable[dict[str, Any]], out: pathlib.Path) -> None:
    """Writes outcomes as JSON lines, compressed without a time or a name."""
    lines = [json.dumps(row, sort_keys=True, separators=(",", ":")) for row in outcomes]
    text = "".join(f"{line}\n" for line in lines)
    out.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read_outcomes(path: pathlib.Path) -> dict[str, dict[str, Any]]:
    """Returns the outcomes in a file by their keys."""
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    return {row["key"]: row for row in rows}


def _silence() -> None:
    """Drops what the package writes to standard error, such as bars of progress."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("--folder", type=pathlib.Path, help="the folders of the corpus")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="FILE.jsonl.gz")
    parser.add_argument("--every", type=int, default=1, help="take each Nth folder, for a sample")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args(words)
    cases = list_cases(args.corpus, args.folder and args.folder.absolute())[:: args.every]
    start = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with context.Pool(args.workers, _silence) as pool:
        outcomes = pool.map(freeze, cases, chunksize=8)
    write_outcomes(outcomes, args.out)
    print(f"{args.out}: {len(outcomes)} outcomes in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
