"""Counts pixels, images and objects of each class in a built dataset.

Also shows void, class weights and image sizes, and compares official splits with the published
tables. DATASET@SPLIT counts one split, DATASET@SPLIT+SPLIT two splits and their sum. Exits with 1
if a figure differs from the published one.
"""

import argparse
from collections.abc import Mapping
import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.statistics import PublishedComparison, Stats

SUMMARY = "count pixels, images and objects; class weights; compare with published tables"
EXAMPLE = "voc-seg-tfrecord stats 2012@train+validation"


_KEY_BY_TITLE = {
    "pixels": "pixels",
    "share": "share",
    "images": "images",
    "objects": "objects",
    "median_frequency": "median_frequency_weight",
    "inverse_log": "inverse_log_weight",
}
"""By the title of its column, the key of each figure of a class in `Stats.as_dict`."""

_FORMATS = {"share": "{:.3%}", "median_frequency": "{:.4f}", "inverse_log": "{:.3f}"}
"""How the printed table shows figures; the CSV file has all digits."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    arguments.add(parser, "ids")
    parser.add_argument(
        "--csv", metavar="FILE", help="also write one row per split and class into this CSV file"
    )
    arguments.add(parser, "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord import stats
    from voc_seg_tfrecord.audit import statistics

    table = arguments.output_file(args, "csv")
    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    counts = stats.compute(builder, splits, progress=True)
    if len(counts) > 1:
        counts["+".join(counts)] = stats.total(counts)
    comparisons = {split: statistics.compare(counts[split]) for split in counts}
    if table is not None:
        staging.write_output_file(table, _as_csv(counts), "--csv")
    if args.json:
        screen.write_json(_as_json(builder, counts, comparisons))
    else:
        _print(builder, counts, comparisons)
        if table is not None:
            print(f"table in {table}")
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


_COLUMNS = ("index", "class", *_KEY_BY_TITLE)


def _class_rows(stats_of_split: "Stats") -> list[tuple[object, ...]]:
    """Returns the values of `_COLUMNS` for each class and for void."""
    rows: list[tuple[object, ...]] = []
    for name, figures in stats_of_split.as_dict()["classes"].items():
        values = [figures[key] for key in _KEY_BY_TITLE.values()]
        rows.append((figures["index"], name, *values))
    void = [VOID, "void", stats_of_split.void, stats_of_split.void_share]
    not_counted = [None] * (len(_COLUMNS) - len(void))
    return [*rows, (*void, *not_counted)]


def _as_csv(counts: "Mapping[str, Stats]") -> str:
    """Returns one row per split and class as CSV."""
    rows = []
    for split, stats_of_split in counts.items():
        rows += [(split, *row) for row in _class_rows(stats_of_split)]
    return screen.csv_text(("split", *_COLUMNS), rows)


def _print(
    builder: Any,
    counts: "Mapping[str, Stats]",
    comparisons: "Mapping[str, PublishedComparison | None]",
) -> None:
    print(builder.info.full_name)
    for split, stats_of_split in counts.items():
        print(f"\n{split}: {counted(len(stats_of_split.ids), 'image')}")
        absent = [*np.flatnonzero(stats_of_split.pixels == 0)]
        rows = [row for row in _class_rows(stats_of_split) if row[0] not in absent]
        columns = [*_COLUMNS]
        if stats_of_split.objects is None:
            place = columns.index("objects")
            columns.pop(place)
            rows = [(*row[:place], *row[place + 1 :]) for row in rows]
        screen.show_table(columns, rows, _FORMATS)
        if absent:
            names = [stats_of_split.class_names[index] for index in absent]
            print(f"  without a pixel: {', '.join(names)}")
        _print_sizes(stats_of_split)
        _print_bands(stats_of_split)
        comparison = comparisons[split]
        if comparison is not None:
            _print_comparison(comparison)
    print(f"\n{screen.SHARE_NOTE}")
    print("median_frequency, inverse_log: class weights for a loss")
    if any(stats_of_split.objects is None for stats_of_split in counts.values()):
        print("objects: counted only if the dataset was built with --instance_masks")


def _print_sizes(stats_of_split: "Stats") -> None:
    """Prints the sizes of the images of a split; only one if all have it."""
    sizes = []
    for height, width, count in stats_of_split.most_common_sizes():
        sizes.append(f"{width} x {height} ({count})")
    if len(sizes) == 1:
        print(f"  size of all images, width x height: {sizes[0]}")
        return
    for side, (low, _, median, _, high) in stats_of_split.size_percentiles().items():
        if low == high:
            print(f"  {side} {low}")
        else:
            print(f"  {side}s from {low} to {high}, median {median}")
    print(f"  most common sizes, width x height: {', '.join(sizes)}")


def _print_comparison(comparison: "PublishedComparison") -> None:
    differences = comparison.differences + comparison.doubtful
    agreeing = comparison.compared - len(differences)
    print(f"  published {comparison.name}: {agreeing} of {comparison.compared} figures agree")
    for difference in differences:
        print(f"    {difference}")


def _print_bands(stats_of_split: "Stats") -> None:
    """Prints the mean and the standard deviation of each band; nothing for RGB images."""
    bands = stats_of_split.as_dict().get("bands")
    if bands is None:
        return
    means_and_deviations = zip(bands["mean"], bands["std"], strict=True)
    for number, (mean, deviation) in enumerate(means_and_deviations):
        print(f"  band {number}: mean {mean:.6g}, standard deviation {deviation:.6g}")
