"""Writes a page about a built dataset: one HTML file that opens without a network.

The page shows splits, classes, sizes, objects, where classes lie, examples of each split, and
images that splits share. For some splits only, give DATASET@SPLIT or DATASET@SPLIT+SPLIT. With
--card, writes the card of the complete dataset (README.md).
"""

import argparse

from etils import epath

from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_splits
from voc_seg_tfrecord.reading.find import split_name

SUMMARY = "write a page that shows a dataset: charts, examples, findings"
EXAMPLE = "voc-seg-tfrecord report cracks --out report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    arguments.add(parser, "ids")
    parser.add_argument("--out", metavar="FILE", help="the page to write, such as report.html")
    parser.add_argument(
        "--card",
        metavar="FOLDER",
        help="write the card: README.md in this folder, or a file whose name ends with .md",
    )
    arguments.add(parser, "no_fit", "rgb")


_SHOWN_BY_OPTION = {"no_fit": "labels that may be wrong", "rgb": "images"}
"""What the page alone shows, by the option that changes how."""


def _check_no_option_of_page(args: argparse.Namespace) -> None:
    """Refuses options that would do nothing without a page."""
    for option, shown in _SHOWN_BY_OPTION.items():
        if getattr(args, option):
            raise ConfigError(
                f"--{option}",
                found="no --out",
                expected=f"--out: only the page shows {shown}",
                remedy=f"add --out report.html, or leave --{option} out",
            )


def run(args: argparse.Namespace) -> int:
    if not (args.out or args.card):
        raise ConfigError(
            "report",
            found="neither --out nor --card",
            expected="what to write",
            remedy="add --out report.html for the page, or --card FOLDER for the dataset's card",
        )
    if not args.out:
        _check_no_option_of_page(args)
    rgb = arguments.parse_rgb(args.rgb)
    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    if args.card and splits:
        found = f"{args.dataset}, which names splits"
        if args.ids:
            found = f"{args.dataset} with --ids"
        raise ConfigError(
            f"--card {args.card}",
            found=found,
            expected="a complete dataset, because the card describes all splits",
            remedy=f"name the dataset alone: {split_name(args.dataset)[0]}",
        )
    if args.card:
        from voc_seg_tfrecord.exports.export import write_card

        path = write_card(builder, args.card, progress=True)
        print(f"{builder.info.full_name}: {path}")
    if args.out:
        from voc_seg_tfrecord import report

        report.write(builder, args.out, splits=splits, fits=not args.no_fit, rgb=rgb, progress=True)
        size = epath.Path(args.out).expanduser().stat().length
        print(f"{builder.info.full_name}: {args.out}, {size / 1e6:.1f} MB")
    return 0
