"""Verifies every record of a built dataset, and compares it with its source or official facts.

Reports what was checked and what was not. Prints the dataset's fingerprint, which does not depend
on the number of shards or the engine. Exits with 1 if there are faults.
"""

import argparse
from collections.abc import Mapping
import dataclasses
from typing import TYPE_CHECKING, Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import TILE_IMAGE_ID
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.dataset_files import SUMS
from voc_seg_tfrecord.reading.metadata import class_map, has_only_images

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.verify import SplitReport, VerificationReport

SUMMARY = "check built records against their source or official facts; print the fingerprint"
EXAMPLE = "voc-seg-tfrecord verify cracks --source /data/cracks"

_MAX_LISTED_FAULTS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    parser.add_argument(
        "--source",
        metavar="ROOT",
        help="folder that the dataset was built from (its --manual_dir, unpacked)",
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
    faults = report.faults
    count = counted(len(faults), "fault") if faults else "no faults"
    print(f"{builder.info.full_name}: {count}")
    lines = [str(fault) for fault in faults]
    screen.show_first(lines, _MAX_LISTED_FAULTS, rest="--json lists all")
    for line in _checked(builder, report, source):
        print(line)
    _print_class_map(class_map(builder))
    print("sha256 of its contents, to compare builds:")
    for name, split in report.splits.items():
        _print_split(name, split)
    print(f"  fingerprint   {report.fingerprint or 'none, because reading stopped'}")
    for archive in report.archives:
        print(f"archive verified at build: {archive['filename']}, sha256 {archive['sha256']}")


def _print_split(name: str, split: "SplitReport") -> None:
    """Prints how many examples of a split were read, and the sha256 of what they hold."""
    examples = counted(split.fingerprint.examples, "example")
    has_hashes = bool(split.fingerprint.ids)
    print(f"  {name}: {examples}" if has_hashes else f"  {name}: {examples} could be read")
    has_tiles = split.ids_sha256 != split.fingerprint.ids
    for field in ("ids", "images", "masks", "instances"):
        digest = getattr(split.fingerprint, field)
        published = split.published_as.get(field)
        title = "tile ids" if has_tiles and field == "ids" else field
        if digest and published:
            print(f"    {title:9} {digest}  = {published}")
        elif digest:
            print(f"    {title:9} {digest}")
    if has_tiles:
        print(f"    image ids {split.ids_sha256}")


def _print_class_map(new_by_old: Mapping[str, str]) -> None:
    """Prints from which classes of the source each class of the dataset was made."""
    if not new_by_old:
        return
    olds_by_new: dict[str, list[str]] = {}
    for old, new in new_by_old.items():
        olds_by_new.setdefault(new, []).append(old)
    mapped = [f"{new} from {', '.join(olds)}" for new, olds in olds_by_new.items()]
    print(f"classes mapped at build: {'; '.join(mapped)}")


def _checked(builder: Any, report: "VerificationReport", source: str | None) -> list[str]:
    """Returns sentences on what was checked and what was not."""
    facts = [f"{name}: {split.facts}" for name, split in report.splits.items() if split.facts]
    examples = sum(split.fingerprint.examples for split in report.splits.values())
    total = counted(examples, "example")
    read = total
    if not report.fingerprint:  # reading stopped
        total = counted(builder.info.splits.total_num_examples, "example")
        read = f"{examples} of {total}"
    checks = "sizes, labels and mask values"
    if has_only_images(builder):
        checks = "image sizes"
    elif TILE_IMAGE_ID in builder.info.features:
        checks = "sizes, labels, mask values and tile positions"
    files = "sha256 of every file in the folder; " if report.has_sums else ""
    lines = [f"checked: {files}{checks} of {read}"]
    if not report.has_sums:
        lines.append(f"sha256 of the files not checked: the dataset has no {SUMS}")
    if source:
        lines.append(f"compared with the files in {source}: {report.compared} of {total}")
        return lines + facts
    advice = "not compared with the source; give --source ROOT to compare with its files"
    return [*lines, *facts, advice]


def _as_json(builder: Any, report: "VerificationReport", source: str | None) -> dict[str, Any]:
    splits = {}
    for name, split in report.splits.items():
        splits[name] = {
            **dataclasses.asdict(split.fingerprint),
            "ids_sha256": split.ids_sha256,
            "known": dict(split.published_as),
            "facts": split.facts,
        }
    return {
        "dataset": builder.info.full_name,
        "fingerprint": report.fingerprint or None,
        "splits": splits,
        "class_map": class_map(builder),
        "archives": [dict(archive) for archive in report.archives],
        "checked": _checked(builder, report, source),
        "faults": [dataclasses.asdict(fault) for fault in report.faults],
    }
