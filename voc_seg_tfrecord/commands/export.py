"""Writes a built dataset as plain TFRecords, Parquet files, or a tree that other tools read.

Each export includes a card (README.md).
"""

import argparse

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.exports.export import BASE_LAYOUTS, LAYOUTS, PALETTE_SUFFIX, export
from voc_seg_tfrecord.reading.dataset import open_built, parts_with

SUMMARY = "write a built dataset for other tools: TFRecords, Parquet, VOC, YOLO, COCO"
EXAMPLE = "voc-seg-tfrecord export cracks --layout voc --out tree"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    parser.add_argument(
        "--layout",
        required=True,
        choices=BASE_LAYOUTS,
        help="; ".join(f"{name}: {layout.help}" for name, layout in BASE_LAYOUTS.items()),
    )
    parser.add_argument(
        "--out", required=True, metavar="FOLDER", help="folder to write; must be new or empty"
    )
    parser.add_argument(
        "--num_shards",
        type=int,
        help="number of files per split, for raw, deeplab and parquet; default: 1; for parquet, "
        "one for each 500 MB or so",
    )
    parser.add_argument(
        "--palette",
        action="store_true",
        help="with --layout parquet: masks as palette PNGs, which viewers show in colors",
    )
    arguments.add(parser, "ids", "json")


def run(args: argparse.Namespace) -> int:
    arguments.check_num_shards(args)
    layout = args.layout + PALETTE_SUFFIX if args.palette else args.layout
    if layout not in LAYOUTS:
        raise ConfigError(
            f"--layout {args.layout} --palette",
            found="a layout other than parquet",
            expected="--palette with --layout parquet alone; --layout voc always has palette PNGs",
            remedy="leave out --palette",
        )
    builder = open_built(args.dataset, args.data_dir)
    parts = parts_with(builder, args.ids) if args.ids else None
    notes = export(
        builder,
        args.out,
        layout=layout,
        num_shards=args.num_shards,
        with_card=True,
        splits=parts,
    )
    if parts is None:
        counts = {name: split.num_examples for name, split in builder.info.splits.items()}
    else:
        counts = dict(parts)
    if args.json:
        screen.write_json(
            {"folder": args.out, "layout": args.layout, "splits": counts, "notes": notes}
        )
        return 0
    for split, count in counts.items():
        print(f"{split}: {counted(count, 'example')}")
    for note in notes:
        print(f"note: {note}")
    print(f"written to {args.out}")
    return 0
