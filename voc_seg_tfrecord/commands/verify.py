"""Verify a built dataset: every record against its source tree, or against the pinned facts of
official releases. Prints the dataset's fingerprint, which is the same for any number of shards,
file format or engine.
"""

import argparse
import dataclasses
import json

from voc_seg_tfrecord import built
from voc_seg_tfrecord.errors import ConfigError

SUMMARY = "check built records against their source or the pinned facts; print the fingerprint"

_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the command's arguments."""
    built.add_arguments(parser, "dataset")
    parser.add_argument(
        "--source", metavar="ROOT", help="the folder it was built from (its --manual_dir, unpacked)"
    )
    parser.add_argument(
        "--list",
        dest="lists",
        action="append",
        default=[],
        metavar="SPLIT=LIST",
        help="the list that a split was built from, where it is not VOC's (train=trainaug)",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def run(args: argparse.Namespace) -> int:
    """Runs the command."""
    from voc_seg_tfrecord import verify

    lists = dict(_pair(entry) for entry in args.lists)
    builder = built.open_built(args.dataset, args.data_dir)
    report = verify.verify(builder, args.source, lists=lists, progress=True)
    if args.json:
        print(json.dumps(_as_json(builder, report), indent=2))
    else:
        _print(builder, report, args.source)
    return 1 if report.faults else 0


def _pair(entry: str) -> list[str]:
    if entry.count("=") != 1:
        raise ConfigError(f"--list {entry}", found="no SPLIT=LIST", expected="train=trainaug")
    return entry.split("=")


def _print(builder, report, source: str | None) -> None:
    print(builder.info.full_name)
    for name, split in report.splits.items():
        print(f"  {name}: {split.fingerprint.examples} examples")
        for field in ("ids", "images", "masks", "instances"):
            if value := getattr(split.fingerprint, field):
                known = f"  = {split.known[field]}" if field in split.known else ""
                print(f"    {field:9} {value}{known}")
    print(f"fingerprint   {report.fingerprint}")
    faults = report.faults
    for fault in faults[:_SHOWN]:
        print(f"  {fault}")
    if len(faults) > _SHOWN:
        print(f"  ... and {len(faults) - _SHOWN} more")
    against = f"against {source}" if source else "in itself and against the pinned facts"
    print(f"verified {against}: {len(faults) or 'no'} fault{'' if len(faults) == 1 else 's'}")


def _as_json(builder, report) -> dict:
    return {
        "dataset": builder.info.full_name,
        "fingerprint": report.fingerprint,
        "splits": {
            name: {**dataclasses.asdict(split.fingerprint), "known": dict(split.known)}
            for name, split in report.splits.items()
        },
        "faults": [dataclasses.asdict(fault) for fault in report.faults],
    }
