"""Makes inputs from a seed and counts what the package does with them.

    python tests/fuzz/run.py masks --inputs 20000 --seed any_word
    python tests/fuzz/run.py --inputs 1000

Prints one line per kind, and for each outcome in capitals the first inputs that had it. The same
kind, seed and number give the same input again: `--only 17` runs the 17th alone. Inputs run in
children of this process, so that one which dies (CRASH) or takes longer than 5 s (HANG) is told
and the next is tried.
"""

import argparse
import collections
import os
import pathlib
import signal
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[2])]

SECONDS = 5
SECONDS_OF_ALL_READERS = 60


def main() -> int:
    """Runs the kinds that were asked for; returns 1 if an outcome was in capitals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help="all by default")
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each kind (1000)")
    parser.add_argument("--seed", default="0", help="any word (0)")
    parser.add_argument("--only", type=int, help="number of the one input to run")
    args = parser.parse_args()
    from fuzz import kinds
    import scipy.io  # noqa: F401
    import tensorflow  # noqa: F401 - here, as importing it takes longer than an input may

    bad = 0
    for kind in args.kinds or kinds.KINDS:
        numbers = range(args.inputs) if args.only is None else [args.only]
        bad += _show(kind, outcomes(kind, args.seed, numbers))
    return 1 if bad else 0


def outcomes(kind: str, seed: str, numbers) -> dict[int, str]:
    """Returns the outcome of each number."""
    with tempfile.TemporaryDirectory() as folder:
        return _outcomes(kind, seed, list(numbers), pathlib.Path(folder))


def _outcomes(kind: str, seed: str, left: list[int], folder: pathlib.Path) -> dict[int, str]:
    found: dict[int, str] = {}
    while left:
        reader, writer = os.pipe()
        sys.stdout.flush()  # or the child prints what waits there once more
        child = os.fork()
        if not child:
            _work(kind, seed, left, writer, folder)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                number, _, outcome = line.rstrip("\n").partition(" ")
                found[int(number)] = outcome
        _, status = os.waitpid(child, 0)
        left = [number for number in left if number not in found]
        if left:
            code = os.waitstatus_to_exitcode(status)
            found[left[0]] = "HANG" if code == -signal.SIGALRM else f"CRASH {code}"
            left = left[1:]
    return found


def _work(kind: str, seed: str, numbers: list[int], writer: int, folder: pathlib.Path) -> None:
    from fuzz import kinds, strangers, wholes

    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    if kind == "datasets":
        wholes.prepare(folder)
    if kind in strangers.KINDS:
        strangers.prepare(folder)
    seconds = SECONDS_OF_ALL_READERS if kind in strangers.KINDS else SECONDS
    for number in numbers:
        signal.alarm(seconds)  # it ends the process, whatever library it is in
        outcome = kinds.judged(kind, f"{seed} {number}")
        signal.alarm(0)
        os.write(writer, f"{number} {outcome}\n".encode("ascii", "backslashreplace"))
    os._exit(0)


def _show(kind: str, found: dict[int, str]) -> int:
    counts = collections.Counter(outcome.partition(" ")[0] for outcome in found.values())
    print(f"{kind:12}", *(f"{outcome} {count}" for outcome, count in sorted(counts.items())))
    bad = [(number, outcome) for number, outcome in found.items() if outcome[0].isupper()]
    for number, outcome in bad[:10]:
        print(f"  --only {number}: {outcome[:500]}")
    return len(bad)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main())
