"""Counts pixels, images and objects of each class in a built dataset.

Also shows void, class weights and image sizes, and compares official splits with the published
tables. DATASET@SPLIT counts one split, DATASET@SPLIT+SPLIT two splits and their sum. Exits with 1
if a figure differs from the published one.
"""

import argparse
from collections.abc import Iterator, Mapping
import dataclasses
from typing import TYPE_CHECKING, Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.statistics import PublishedComparison, Stats

SUMMARY = "count pixels, images and objects; class weights; compare with published tables"
EXAMPLE = "voc-seg-tfrecord stats 2012@train+validation"

_COLUMNS = ("pixels", "share", "images", "objects", "median_frequency", "inverse_log")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    arguments.add(parser, "ids")
    form = parser.add_mutually_exclusive_group()
    arguments.add(form, "json")
    form.add_argument("--csv", action="store_true", help="print one row per split and class as CSV")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord import stats
    from voc_seg_tfrecord.audit import statistics

    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    counts = stats.compute(builder, splits, progress=True)
    if len(counts) > 1:
        counts["+".join(counts)] = stats.total(counts)
    compared = {split: statistics.compare(of_split) for split, of_split in counts.items()}
    if args.json:
        screen.write_json(_as_json(builder, counts, compared))
    elif args.csv:
        _print_csv(counts)
    else:
        _print(builder, counts, compared)
    return 1 if any(c and c.differences for c in compared.values()) else 0


def _as_json(
    builder: Any,
    counts: "Mapping[str, Stats]",
    compared: "Mapping[str, PublishedComparison | None]",
) -> dict[str, Any]:
    splits = {split: of_split.as_dict() for split, of_split in counts.items()}
    for split, comparison in compared.items():
        splits[split]["published"] = comparison and dataclasses.asdict(comparison)
    return {"dataset": builder.info.full_name, "splits": splits}


def _print_csv(counts: "Mapping[str, Stats]") -> None:
    rows = []
    for split, of_split in counts.items():
        rows += [(split, *row) for row in _rows(of_split)]
        void = (of_split.void, of_split.void_share, *[""] * (len(_COLUMNS) - 2))
        rows.append((split, VOID, "void", *void))
    print(screen.csv_text(("split", "index", "class", *_COLUMNS), rows), end="")


def _print(
    builder: Any,
    counts: "Mapping[str, Stats]",
    compared: "Mapping[str, PublishedComparison | None]",
) -> None:
    print(builder.info.full_name)
    for split, of_split in counts.items():
        print(f"\n{split}: {len(of_split.ids)} images")
        _print_classes(of_split)
        for side, (low, *_, high) in of_split.size_percentiles().items():
            print(f"  {side}s from {low} to {high}, median {of_split.size_percentiles()[side][2]}")
        sizes = (f"{w} x {h} ({count})" for h, w, count in of_split.most_common_sizes())
        print(f"  most common sizes, width x height: {', '.join(sizes)}")
        columns = of_split.as_dict().get("bands", {}).values()
        for number, (mean, deviation) in enumerate(zip(*columns, strict=True)):
            print(f"  band {number}: mean {mean:.6g}, standard deviation {deviation:.6g}")
        if comparison := compared[split]:
            different = comparison.differences + comparison.doubtful
            agree = comparison.compared - len(different)
            print(f"  published {comparison.name}: {agree} of {comparison.compared} figures agree")
            for difference in different:
                print(f"    {difference}")


def _print_classes(of_split: "Stats") -> None:
    header = ("pixels", "share", "images", "objects", "median", "inv-log")
    rows = []
    for *start, share, images, objects, median, inverse in _rows(of_split):
        shown = "-" if objects is None else objects  # an empty cell would be no column for awk
        rows.append((*start, f"{share:.3%}", images, shown, f"{median:.4f}", f"{inverse:.3f}"))
    void = (VOID, "void", of_split.void, f"{of_split.void_share:.3%}", *["-"] * 4)
    screen.show_table(("index", "class", *header), [*rows, void])
    print("  void's share is that of all pixels, the others' of those that are not void")


def _rows(of_split: "Stats") -> Iterator[tuple[Any, ...]]:
    """Yields index, name and the columns of each class; None for objects that are not counted."""
    for name, figures in of_split.as_dict()["classes"].items():
        index, *others = figures.values()
        yield index, name, *others
