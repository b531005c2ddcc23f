"""Writes a page about a built dataset: one HTML file that opens without a network.

The page shows splits, classes, sizes, objects, where classes lie, examples of each split, and
images that splits share. For some splits only, give DATASET@SPLIT or DATASET@SPLIT+SPLIT.
"""

import argparse

from etils import epath

from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.reading.dataset import open_splits

SUMMARY = "write a page that shows a dataset: charts, examples, findings"
EXAMPLE = "voc-seg-tfrecord report cracks --out report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    arguments.add(parser, "ids")
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="the page to write, such as report.html"
    )
    arguments.add(parser, "no_fit", "rgb")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord import report

    arguments.output_file(args, "out", [".html", ".htm"])
    rgb = arguments.parse_rgb(args.rgb)
    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    report.write(builder, args.out, splits=splits, fits=not args.no_fit, rgb=rgb, progress=True)
    size = epath.Path(args.out).expanduser().stat().length
    print(f"{builder.info.full_name}: {args.out}, {size / 1e6:.1f} MB")
    return 0
