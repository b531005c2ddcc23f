"""Draws examples of a built dataset: image, mask, overlay and legend.

DATASET@SPLIT draws examples of this split, or of a slice such as DATASET@train[20:26]. Without a
split, these are examples of train, or of the first split if there is no train.
"""

import argparse
from typing import Any

from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.chosen_ids import read_ids_option
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.find import split_name
from voc_seg_tfrecord.report.preview import preview

SUMMARY = "draw images, masks, overlays and a legend"
EXAMPLE = "voc-seg-tfrecord preview cracks --out sheet.png"

_ENDINGS = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_dataset(parser)
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="image to write, such as a.png or a.jpg"
    )
    parser.add_argument(
        "--num",
        type=int,
        help="number of examples; default: 9, or with --by_class 1 of each class",
    )
    parser.add_argument(
        "--by_class",
        action="store_true",
        help="show examples of each class under its name: among the first that have the class, "
        "those in which it covers the largest share",
    )
    arguments.add(parser, "ids")
    parser.add_argument(
        "--seed", type=int, help="seed for choosing examples at random; default: the first examples"
    )
    arguments.add(parser, "rgb")


def run(args: argparse.Namespace) -> int:
    out = staging.check_output_file(args.out, "--out", tuple(_ENDINGS))
    ids = read_ids_option(args.ids) if args.ids else None
    name, splits = split_name(args.dataset)
    sheet: Any = preview(
        open_built(name, args.data_dir),
        args.num,
        split="+".join(splits) or None,
        ids=ids,
        by_class=args.by_class,
        seed=args.seed,
        rgb=arguments.parse_rgb(args.rgb),
    )
    try:
        data = sheet.encoded(_ENDINGS[out.suffix.lower()])
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--out {out}",
            found=f"a sheet that is too large for this format: {error}",
            expected="at most 65500 pixels in height and width, for JPEG",
            remedy="save it as .png, or draw fewer examples",
        ) from None
    staging.write_output_file(out, data, "--out")
    print(f"{sheet.content} in {args.out}")
    if sheet.note:
        print(sheet.note)
    return 0
