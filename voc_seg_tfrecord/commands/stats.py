"""Counts pixels, images and objects of each class in a built dataset.

Also shows void, class weights and image sizes, and compares official splits with the published
tables. DATASET@SPLIT counts one split, DATASET@SPLIT+SPLIT two splits and their sum. Exits with 1
if a figure differs from the published one.
"""

import argparse
from collections.abc import Mapping
import dataclasses
from typing import TYPE_CHECKING, Any

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import output_files
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.statistics import PublishedComparison, Stats

SUMMARY = "count pixels, images and objects; class weights; compare with published tables"
EXAMPLE = "voc-seg-tfrecord stats 2012@train+validation"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _ClassFigure:
    """A figure of each class.

    Attributes:
      key: its name in `Stats.as_dict`.
      csv_title: its title in CSV.
      title: its title in the printed table.
      format: its format in the printed table.
    """

    key: str
    csv_title: str
    title: str
    format: str = "{}"

    def show(self, value: object) -> str:
        """Returns a value as printed; `-` for one that is not counted."""
        return "-" if value is None else self.format.format(value)


_COLUMNS = (
    _ClassFigure(key="pixels", csv_title="pixels", title="pixels"),
    _ClassFigure(key="share", csv_title="share", title="share", format="{:.3%}"),
    _ClassFigure(key="images", csv_title="images", title="images"),
    _ClassFigure(key="objects", csv_title="objects", title="objects"),
    _ClassFigure(
        key="median_frequency_weight",
        csv_title="median_frequency",
        title="median",
        format="{:.4f}",
    ),
    _ClassFigure(
        key="inverse_log_weight", csv_title="inverse_log", title="inv-log", format="{:.3f}"
    ),
)


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

    table = output_files.check_file(args.csv, "--csv") if args.csv else None
    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    counts = stats.compute(builder, splits, progress=True)
    if len(counts) > 1:
        counts["+".join(counts)] = stats.total(counts)
    comparisons = {split: statistics.compare(counts[split]) for split in counts}
    if table is not None:
        output_files.write_file(table, _as_csv(counts), "--csv")
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


def _as_csv(counts: "Mapping[str, Stats]") -> str:
    """Returns one row per split and class as CSV."""
    titles = [column.csv_title for column in _COLUMNS]
    rows = []
    for split, stats_of_split in counts.items():
        for name, figures in stats_of_split.as_dict()["classes"].items():
            values = [figures[column.key] for column in _COLUMNS]
            rows.append((split, figures["index"], name, *values))
        void = [stats_of_split.void, stats_of_split.void_share]
        empty_cells = [""] * (len(_COLUMNS) - len(void))
        rows.append((split, VOID, "void", *void, *empty_cells))
    return screen.csv_text(("split", "index", "class", *titles), rows)


def _print(
    builder: Any,
    counts: "Mapping[str, Stats]",
    comparisons: "Mapping[str, PublishedComparison | None]",
) -> None:
    print(builder.info.full_name)
    for split, stats_of_split in counts.items():
        print(f"\n{split}: {counted(len(stats_of_split.ids), 'image')}")
        _print_classes(stats_of_split)
        for side, (low, _, median, _, high) in stats_of_split.size_percentiles().items():
            print(f"  {side}s from {low} to {high}, median {median}")
        sizes = []
        for height, width, count in stats_of_split.most_common_sizes():
            sizes.append(f"{width} x {height} ({count})")
        print(f"  most common sizes, width x height: {', '.join(sizes)}")
        _print_bands(stats_of_split)
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
    titles = [column.title for column in _COLUMNS]
    rows = []
    for name, figures in stats_of_split.as_dict()["classes"].items():
        cells = [column.show(figures[column.key]) for column in _COLUMNS]
        rows.append((figures["index"], name, *cells))
    void = [str(stats_of_split.void), f"{stats_of_split.void_share:.3%}"]
    empty_cells = ["-"] * (len(_COLUMNS) - len(void))  # awk would not count blanks as a column
    rows.append((VOID, "void", *void, *empty_cells))
    screen.show_table(("index", "class", *titles), rows)
    print("  void's share is that of all pixels, the others' of those that are not void")


def _print_bands(stats_of_split: "Stats") -> None:
    """Prints the mean and the standard deviation of each band; nothing for RGB images."""
    bands = stats_of_split.as_dict().get("bands")
    if bands is None:
        return
    means_and_deviations = zip(bands["mean"], bands["std"], strict=True)
    for number, (mean, deviation) in enumerate(means_and_deviations):
        print(f"  band {number}: mean {mean:.6g}, standard deviation {deviation:.6g}")
