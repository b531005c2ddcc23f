"""Verifies every record of a built dataset, and compares it with its source or the pinned facts.

Says what was checked and what was not. Prints the dataset's fingerprint, which does not depend on
the number of shards or the engine. Exits with 1 if there are faults.
"""

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.names import TILE_IMAGE_ID
from voc_seg_tfrecord.core.storage import SUMS
from voc_seg_tfrecord.reading.dataset import class_map, has_only_images, open_built

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.verify import VerificationReport

SUMMARY = "check built records against their source or the pinned facts; print the fingerprint"
EXAMPLE = "voc-seg-tfrecord verify cracks --source /data/cracks"

_SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    parser.add_argument(
        "--source",
        metavar="ROOT",
        help="folder that it was built from (its --manual_dir, unpacked)",
    )
    arguments.add(parser, "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord.audit import verify

    builder = open_built(args.dataset, args.data_dir)
    source = None
    if args.source:
        source = verify.find_originals(builder, args.source, progress=True)
    report = verify.verify(builder, source, progress=True)
    if args.json:
        screen.write_json(_as_json(builder, report, args.source))
    else:
        _print(builder, report, args.source)
    return 1 if report.faults else 0


def _print(builder: Any, report: "VerificationReport", source: str | None) -> None:
    print(builder.info.full_name)
    for name, split in report.splits.items():
        print(f"  {name}: {split.fingerprint.examples} examples")
        for field in ("ids", "images", "masks", "instances"):
            if value := getattr(split.fingerprint, field):
                known = split.published_as.get(field)
                print(f"    {field:9} {value}" + (f"  = {known}" if known else ""))
        if split.ids_sha256 != split.fingerprint.ids:  # ids are of tiles
            print(f"    image ids {split.ids_sha256}")
    print(f"fingerprint   {report.fingerprint}")
    faults = report.faults
    for fault in faults[:_SHOWN]:
        print(f"  {fault}")
    if len(faults) > _SHOWN:
        print(f"  ... and {len(faults) - _SHOWN} more")
    if became := class_map(builder):
        olds = {new: [o for o, to in became.items() if to == new] for new in became.values()}
        mapped = (f"{new} from {', '.join(names)}" for new, names in olds.items())
        print(f"classes mapped at build: {'; '.join(mapped)}")
    for archive in report.archives:
        print(f"archive verified at build: {archive['filename']}, sha256 {archive['sha256']}")
    for line in _checked(builder, report, source):
        print(line)
    count = f"{len(faults)} fault{'' if len(faults) == 1 else 's'}" if faults else "no faults"
    print(f"{count} in what was checked")


def _checked(builder: Any, report: "VerificationReport", source: str | None) -> list[str]:
    """Says in sentences what was checked and what was not."""
    facts = [f"{name}: {split.facts}" for name, split in report.splits.items() if split.facts]
    tiles = ", places of tiles" if TILE_IMAGE_ID in builder.info.features else ""
    inner = f"sizes, labels, values of masks{tiles}"
    if has_only_images(builder):
        inner = "sizes of images"
    if report.has_sums:
        inner = f"sha256 of every file, {inner}"
    only = "" if source or facts else " only"
    lines = [f"checked in itself{only}: {inner}"]
    if not report.has_sums:
        lines.append(f"sha256 of the files not checked: the dataset has no {SUMS}")
    if source:
        files = f"compared with the files in {source}: every feature of every record"
        return [*lines, files, *facts]
    advice = "not compared with the source; give --source ROOT to compare with its files"
    return [*lines, *facts, advice]


def _as_json(builder: Any, report: "VerificationReport", source: str | None) -> dict[str, Any]:
    return {
        "dataset": builder.info.full_name,
        "fingerprint": report.fingerprint,
        "splits": {
            name: {
                **dataclasses.asdict(split.fingerprint),
                "ids_sha256": split.ids_sha256,
                "known": dict(split.published_as),
                "facts": split.facts,
            }
            for name, split in report.splits.items()
        },
        "class_map": class_map(builder),
        "archives": [dict(archive) for archive in report.archives],
        "checked": _checked(builder, report, source),
        "faults": [dataclasses.asdict(fault) for fault in report.faults],
    }
