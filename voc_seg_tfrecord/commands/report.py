"""Writes a page about a built dataset: one HTML file that opens without a network.

It shows splits, classes, sizes, objects, where classes lie, examples of each split, and what
splits share. DATASET@SPLIT or DATASET@SPLIT+SPLIT shows these splits only.
"""

import argparse

from etils import epath

from voc_seg_tfrecord.audit.dataset import open_built
from voc_seg_tfrecord.audit.lookup import split_name
from voc_seg_tfrecord.commands import arguments

SUMMARY = "write a page that shows a dataset: charts, examples, findings"
EXAMPLE = "voc-seg-tfrecord report cracks --out report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    arguments.add_dataset(parser, "dataset")
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="the page to write, such as report.html"
    )
    parser.add_argument(
        "--num",
        type=int,
        help="number of examples in each split's gallery; default: 24, and at most 240 in all",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed for the choice of examples (0)")


def run(args: argparse.Namespace) -> int:
    """Writes the page."""
    from voc_seg_tfrecord import report

    name, splits = split_name(args.dataset)
    builder = open_built(name, args.data_dir)
    report.write(builder, args.out, splits=splits, num=args.num, seed=args.seed, progress=True)
    size = epath.Path(args.out).expanduser().stat().length
    print(f"{builder.info.full_name}: {args.out}, {size / 1e6:.1f} MB")
    return 0
