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
    comparisons = {split: statistics.compare(counts[split]) for split in counts}
    if args.json:
        screen.write_json(_as_json(builder, counts, comparisons))
    elif args.csv:
        _print_csv(counts)
    else:
        _print(builder, counts, comparisons)
    has_differences = any(c is not None and c.differences for c in comparisons.values())
    return 1 if has_differences else 0


def _as_json(
    builder: Any,
    counts: "Mapping[str, Stats]",
    comparisons: "Mapping[str, PublishedComparison | None]",
) -> dict[str, Any]:
    splits = {split: stats_of_split.as_dict() for split, stats_of_split in counts.items()}
    for split, comparison in comparisons.items():
        splits[split]["published"] = comparison and dataclasses.asdict(comparison)
    return {"dataset": builder.info.full_name, "splits": splits}


def _print_csv(counts: "Mapping[str, Stats]") -> None:
    rows = []
    for split, stats_of_split in counts.items():
        rows += [(split, *row) for row in _rows(stats_of_split)]
        void = [stats_of_split.void, stats_of_split.void_share]
        empty_cells = [""] * (len(_COLUMNS) - len(void))
        rows.append((split, VOID, "void", *void, *empty_cells))
    print(screen.csv_text(("split", "index", "class", *_COLUMNS), rows), end="")


def _print(
    builder: Any,
    counts: "Mapping[str, Stats]",
    comparisons: "Mapping[str, PublishedComparison | None]",
) -> None:
    print(builder.info.full_name)
    for split, stats_of_split in counts.items():
        print(f"\n{split}: {len(stats_of_split.ids)} images")
        _print_classes(stats_of_split)
        for side, (low, _, median, _, high) in stats_of_split.size_percentiles().items():
            print(f"  {side}s from {low} to {high}, median {median}")
        sizes = []
        for height, width, count in stats_of_split.most_common_sizes():
            sizes.append(f"{width} x {height} ({count})")
        print(f"  most common sizes, width x height: {', '.join(sizes)}")
        columns = stats_of_split.as_dict().get("bands", {}).values()
        for number, (mean, deviation) in enumerate(zip(*columns, strict=True)):
            print(f"  band {number}: mean {mean:.6g}, standard deviation {deviation:.6g}")
        comparison = comparisons[split]
        if comparison is not None:
            _print_comparison(comparison)


def _print_comparison(comparison: "PublishedComparison") -> None:
    differences = comparison.differences + comparison.doubtful
    agreeing = comparison.compared - len(differences)
    print(f"  published {comparison.name}: {agreeing} of {comparison.compared} figures agree")
    for difference in differences:
        print(f"    {difference}")


def _print_classes(stats_of_split: "Stats") -> None:
    header = ("pixels", "share", "images", "objects", "median", "inv-log")
    rows = []
    for *start, share, images, objects, median, inverse in _rows(stats_of_split):
        shown = "-" if objects is None else objects  # an empty cell would be no column for awk
        rows.append((*start, f"{share:.3%}", images, shown, f"{median:.4f}", f"{inverse:.3f}"))
    void = (VOID, "void", stats_of_split.void, f"{stats_of_split.void_share:.3%}", *["-"] * 4)
    screen.show_table(("index", "class", *header), [*rows, void])
    print("  void's share is that of all pixels, the others' of those that are not void")


def _rows(stats_of_split: "Stats") -> Iterator[tuple[Any, ...]]:
    """Yields index, name and the columns of each class; None for objects that are not counted."""
    for name, figures in stats_of_split.as_dict()["classes"].items():
        index, *others = figures.values()
        yield index, name, *others
