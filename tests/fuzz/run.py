"""Makes inputs from a seed and counts what the package does with them.

    python tests/fuzz/run.py masks --inputs 20000 --seed any_word
    python tests/fuzz/run.py --inputs 1000 --seconds 600

Prints one line per kind, and for each outcome in capitals the input that had it, as it is found;
every minute it says on standard error how far it is. The same kind, seed and number give the same
input again: `--only 17` runs the 17th alone, `--first 500` begins there. Inputs run in children of
this process, so that one which dies (CRASH) or takes longer than 5 s (HANG) is told and the next is
tried.
"""

import argparse
import collections
from collections.abc import Iterator
import os
import pathlib
import signal
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[2])]

SECONDS = 5
SECONDS_OF_SLOW_KINDS = 60
SLOW_KINDS = ("descriptions", "records", "trees")  # read by all readers, or by two commands
SECONDS_BETWEEN_LINES = 60


def main() -> int:
    """Runs the kinds that were asked for; returns 1 if an outcome was in capitals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help="all by default")
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each kind (1000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first input (0)")
    parser.add_argument("--seed", default="0", help="any word (0)")
    parser.add_argument("--only", type=int, help="number of the one input to run")
    parser.add_argument("--seconds", type=float, help="time for each kind; no limit by default")
    args = parser.parse_args()
    from fuzz import kinds
    import scipy.io  # noqa: F401
    import tensorflow  # noqa: F401 - here, as importing it takes longer than an input may

    numbers = range(args.first, args.first + args.inputs) if args.only is None else [args.only]
    bad = 0
    for kind in args.kinds or kinds.KINDS:
        bad += _show(kind, len(numbers), outcomes(kind, args.seed, numbers, args.seconds))
    return 1 if bad else 0


def outcomes(
    kind: str, seed: str, numbers, seconds: float | None = None
) -> Iterator[tuple[int, str]]:
    """Yields each number and its outcome, until the time is up."""
    end = None if seconds is None else time.monotonic() + seconds
    left = list(numbers)
    with tempfile.TemporaryDirectory() as folder:
        while left and (end is None or time.monotonic() < end):
            reader, writer = os.pipe()
            sys.stdout.flush()  # or the child prints what waits there once more
            child = os.fork()
            if not child:
                os.close(reader)
                _work(kind, seed, left, writer, pathlib.Path(folder), end)
            os.close(writer)
            with os.fdopen(reader) as lines:
                for line in lines:
                    number, _, outcome = line.rstrip("\n").partition(" ")
                    left.remove(int(number))
                    yield int(number), outcome
            _, status = os.waitpid(child, 0)
            if status and left:
                code = os.waitstatus_to_exitcode(status)
                yield left.pop(0), "HANG" if code == -signal.SIGALRM else f"CRASH {code}"


def _work(
    kind: str,
    seed: str,
    numbers: list[int],
    writer: int,
    folder: pathlib.Path,
    end: float | None,
) -> None:
    from fuzz import datasets, kinds

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    if kind in datasets.KINDS:
        datasets.prepare(folder)
    seconds = SECONDS_OF_SLOW_KINDS if kind in SLOW_KINDS else SECONDS
    for number in numbers:
        if end is not None and time.monotonic() > end:
            break
        signal.alarm(seconds)  # it ends the process, whatever library it is in
        outcome = kinds.judged(kind, f"{seed} {number}")
        signal.alarm(0)
        os.write(writer, f"{number} {outcome}\n".encode("ascii", "backslashreplace"))
    os._exit(0)


def _show(kind: str, count: int, found: Iterator[tuple[int, str]]) -> int:
    counts: collections.Counter[str] = collections.Counter()
    bad, said = 0, time.monotonic()
    for number, outcome in found:
        counts[outcome.partition(" ")[0]] += 1
        if outcome[0].isupper():
            bad += 1
            print(f"  {kind} --only {number}: {outcome[:500]}", flush=True)
        if time.monotonic() - said > SECONDS_BETWEEN_LINES:
            said = time.monotonic()
            print(
                f"{kind} {counts.total()} of {count}: {dict(counts)}", file=sys.stderr, flush=True
            )
    words = (f"{outcome} {number}" for outcome, number in sorted(counts.items()))
    print(f"{kind:12}", *words, flush=True)
    return bad


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main())
