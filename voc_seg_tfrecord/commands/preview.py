"""Draws examples of a built dataset: image, mask, overlay and legend."""

import argparse

from etils import epath

from voc_seg_tfrecord.audit.dataset import background, open_built, palette
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.errors import ConfigError, VocSegError
from voc_seg_tfrecord.features import MASK
from voc_seg_tfrecord.report.pick import read
from voc_seg_tfrecord.report.sheet import check_ending, save, sheet

SUMMARY = "draw images, masks, overlays and a legend"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    arguments.add_dataset(parser, "dataset")
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="image file to write, such as a.png"
    )
    parser.add_argument("--split", help="split or slice, such as train[20:26] (the first split)")
    parser.add_argument("--num", type=int, default=6, help="number of examples (6)")


def run(args: argparse.Namespace) -> int:
    """Draws and saves the sheet."""
    out = epath.Path(args.out).expanduser()
    check_ending(out)
    builder = open_built(args.dataset, args.data_dir)
    if MASK not in builder.info.features:
        raise ConfigError(args.dataset, found="no masks", expected="a segmentation dataset")
    split = args.split or next(iter(builder.info.splits))
    try:
        examples = read(builder, split, max(0, args.num))
    except VocSegError:
        raise
    except ValueError as error:
        raise ConfigError("--split", found=str(error), expected="a split of the dataset") from None
    if not examples:
        raise ConfigError("--num", found=str(args.num), expected="1 or more")
    names = builder.info.features[MASK].names
    save(sheet(examples, names, background(builder), palette(builder)), out)
    print(f"{len(examples)} examples of {split} in {args.out}")
    return 0
