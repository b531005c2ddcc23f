"""compare.py BEFORE AFTER [--list KIND] [--sample]: what a later commit reads otherwise.

BEFORE and AFTER are files of `freeze.py`. Exit status 1 if a folder that was read is read
otherwise, or one is read and wrong, crashes or takes too long that did not before.
"""

import argparse
from collections import Counter
from collections.abc import Mapping
import itertools
import json
import pathlib
import re
import sys
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from outcomes.freeze import read_outcomes

Outcome = Mapping[str, Any]

SAME = "same"
KINDS = (
    SAME,
    "same but words",
    "same but unused files",
    "read otherwise: splits",
    "read otherwise: pairs",
    "read otherwise: pixels",
    "read otherwise: class names",
    "read otherwise: default class names",
    "read otherwise: metadata",
    "read, and now WRONG",
    "asked -> read",
    "refused -> read",
    "read -> asked",
    "read -> refused",
    "asked with other lines",
    "asked -> refused",
    "refused -> asked",
    "crash or slow",
    "only before",
    "only after",
)
FAILURES = (
    "read otherwise: splits",
    "read otherwise: pairs",
    "read otherwise: pixels",
    "read otherwise: class names",
    "read otherwise: metadata",
    "read, and now WRONG",
    "crash or slow",
)
"""The kinds with which the command exits with 1."""

RANKS = (
    "right",
    "first",
    "first again",
    "second",
    "second again",
    "later",
    "later again",
    "without",
    "refused",
    "WRONG",
    "crash",
    "slow",
)

_DEFAULT_NAME = re.compile(r"background|foreground|class_\d+")


def compare(before: Outcome, after: Outcome) -> str:
    """Returns how an outcome differs from the one before, as one of `KINDS`."""
    kinds = before["kind"], after["kind"]
    if dict(before, truth="") == dict(after, truth=""):
        return SAME
    if after.get("truth") == "WRONG" and before.get("truth") != "WRONG":
        return "read, and now WRONG"
    if kinds[1] in ("crash", "slow") and kinds[0] != kinds[1]:
        return "crash or slow"
    if kinds == ("read", "read"):
        return _compare_readings(before, after)
    if kinds == ("asked", "asked") and _answers(before) != _answers(after):
        return "asked with other lines"
    if kinds[0] == kinds[1]:
        return "same but words"
    return f"{kinds[0]} -> {kinds[1]}"


def _compare_readings(before: Outcome, after: Outcome) -> str:
    """Returns the first of the things that count in which two readings differ."""
    if _pairs_by_split(before) != _pairs_by_split(after):
        if _all_pairs(before) == _all_pairs(after):
            return "read otherwise: splits"
        return "read otherwise: pairs"
    if before["splits"] != after["splits"]:
        return "read otherwise: pixels"
    if before["class_names"] != after["class_names"]:
        if all(_DEFAULT_NAME.fullmatch(name) for name in after["class_names"]):
            return "read otherwise: default class names"
        return "read otherwise: class names"
    if before["facts"] != after["facts"]:
        return "read otherwise: metadata"
    return "same but unused files"


def _pairs_by_split(outcome: Outcome) -> dict[str, list[Any]]:
    """Returns image and labels of each item, sorted."""
    return {
        split: sorted([image, labels] for _, image, labels, _ in rows)
        for split, rows in outcome["splits"].items()
    }


def _all_pairs(outcome: Outcome) -> list[Any]:
    """Returns image and labels of each item of all splits, sorted."""
    return sorted(itertools.chain.from_iterable(_pairs_by_split(outcome).values()))


def _answers(outcome: Outcome) -> list[Any]:
    """Returns the options of a question's lines, and what each gives."""
    return [[options, result] for _, options, result in outcome["lines"]]


def compare_all(before: Mapping[str, Outcome], after: Mapping[str, Outcome]) -> dict[str, str]:
    """Returns the kind of difference by key."""
    kind_by_key = {}
    for key in sorted({*before, *after}):
        if key not in after:
            kind_by_key[key] = "only before"
        elif key not in before:
            kind_by_key[key] = "only after"
        else:
            kind_by_key[key] = compare(before[key], after[key])
    return kind_by_key


def _print_counts(title: str, names: tuple[str, ...], *counts: Counter[str]) -> None:
    """Prints a row for each name that occurs, with a column for each count."""
    print(title)
    for name in names:
        if any(count[name] for count in counts):
            print("".join(f"{count[name]:7}" for count in counts) + f"  {name}")


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true", help="AFTER has some of the folders")
    parser.add_argument("--list", metavar="KIND", help="print the folders of a kind, or of all")
    args = parser.parse_args(words)
    before, after = read_outcomes(args.before), read_outcomes(args.after)
    if args.sample:
        before = {key: outcome for key, outcome in before.items() if key in after}
    kind_by_key = compare_all(before, after)
    sides = (before, after)
    by_kind = [Counter(row["kind"] for row in side.values()) for side in sides]
    _print_counts("before  after", ("read", "asked", "refused", "crash", "slow"), *by_kind)
    counts = Counter(kind_by_key.values())
    _print_counts("differences", KINDS, counts)
    by_truth = [Counter(row["truth"] for row in side.values() if "truth" in row) for side in sides]
    if any(by_truth):
        _print_counts("before  after, where the truth is known", RANKS, *by_truth)
    for key, kind in kind_by_key.items():
        if args.list == kind or (args.list == "all" and kind != SAME):
            print(f"\n{kind}: {key}")
            for side in sides:
                print(f"  {json.dumps(side.get(key), sort_keys=True)}")
    return 1 if any(counts[kind] for kind in FAILURES) else 0


if __name__ == "__main__":
    sys.exit(main())
