"""Draws examples of a built dataset: image, mask, overlay and legend.

DATASET@SPLIT draws examples of this split, as --split does.
"""

import argparse
from typing import Any

from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core import output_files
from voc_seg_tfrecord.core.errors import ConfigError
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
        "--split",
        help="split or slice, such as train[20:26]; default: train, or the first split if there "
        "is no train",
    )
    parser.add_argument(
        "--num",
        type=int,
        help="number of examples (9), or of examples of each class with --by_class (1)",
    )
    arguments.add_flag(
        parser,
        "by_class",
        "show examples of each class under its name: among the first that have the class, those "
        "in which it covers the largest share",
    )
    parser.add_argument(
        "--ids",
        help="show the images with these ids, separated by commas, in this order; without "
        "--split, all splits are searched",
    )
    parser.add_argument(
        "--seed", type=int, help="seed for choosing examples at random; default: the first examples"
    )
    arguments.add(parser, "rgb")


def run(args: argparse.Namespace) -> int:
    out = output_files.check_file(args.out, "--out", tuple(_ENDINGS))
    ids = None if args.ids is None else _split_ids(args.ids)
    name, splits = split_name(args.dataset)
    if splits and args.split:
        raise ConfigError(
            f"--split {args.split}",
            found=f"a split here, and another one in {args.dataset}",
            expected="the split once",
            remedy=f"leave --split out, or name the dataset alone: {name}",
        )
    split = "+".join(splits) or args.split
    sheet: Any = preview(
        open_built(name, args.data_dir),
        args.num,
        split=split,
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
    output_files.write_file(out, data, "--out")
    print(f"{sheet.content} in {args.out}")
    if sheet.note:
        print(sheet.note)
    return 0


def _split_ids(text: str) -> list[str]:
    words = [word.strip() for word in text.split(",")]
    return [word for word in words if word]
