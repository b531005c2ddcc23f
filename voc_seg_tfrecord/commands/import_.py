"""Builds a dataset from TFRecords that were written by hand, as tutorials do.

Known layouts are recognised by their features. Describe others with --keys. With --dry_run
the command only shows a file's features, types, sizes, counts and first records.
"""

import argparse
import re

from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import arguments, record_report
from voc_seg_tfrecord.commands.one_bar import one_bar
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.errors import ConfigError

SUMMARY = "build a dataset from hand-written TFRecords"
EXAMPLE = "voc-seg-tfrecord import /data/old/*.tfrecord --name old --class_names voc"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="TFRecord file, folder or pattern")
    parser.add_argument("--name", help="the dataset will be voc_seg_tfrecord/NAME")
    parser.add_argument(
        "--class_names",
        help="class names in the order of their indices, separated by commas; or voc for "
        "VOC's 21; none for images that have neither mask nor label",
    )
    parser.add_argument(
        "--splits",
        help="ratios such as train=0.6,test=0.4; by default the split in the files' names",
    )
    arguments.add_seed(parser)
    parser.add_argument(
        "--keys",
        help="which feature holds what, such as image=img,mask=seg,height=h,width=w; also "
        "channels, shape, filename and label; by default detected",
    )
    parser.add_argument(
        "--shape",
        metavar="HxWxC",
        help="height, width and channels of all images, such as 32x32x3, if no feature holds "
        "them; by default read from each record",
    )
    parser.add_argument(
        "--repair", action="store_true", help="map grey values of VOC's palette back to classes"
    )
    parser.add_argument("--dry_run", action="store_true", help="show the records and build nothing")
    parser.add_argument("--data_dir", help="where to write, as in TFDS (~/tensorflow_datasets)")
    parser.add_argument("--overwrite", action="store_true", help="replace a built dataset")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Shows the records, or imports them."""
    keys = arguments.pairs("--keys", args.keys, arguments.word) if args.keys else None
    size = _size(args.shape) if args.shape else ()
    if args.dry_run:
        document = record_report.show(args.files, keys, size, silent=args.json)
        if args.json:
            write_json(document)
        return 0 if document["complete"] else 1
    if not args.name:
        raise ConfigError("--name", found="no value", expected="--name with a value")
    ratios = None
    if args.splits:
        ratios = arguments.pairs("--splits", args.splits, arguments.ratio)
    with one_bar():
        builder = import_records(
            args.files,
            name=args.name,
            class_names=[name.strip() for name in (args.class_names or "").split(",") if name],
            splits=ratios,
            keys=keys,
            shape=size,
            repair=args.repair,
            seed=args.seed,
            data_dir=args.data_dir,
            overwrite=args.overwrite,
        )
    counts = {name: split.num_examples for name, split in builder.info.splits.items()}
    if args.json:
        name = f"voc_seg_tfrecord/{args.name}"
        write_json({"dataset": name, "folder": str(builder.data_dir), "splits": counts})
    else:
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        print(f"built {builder.data_dir}: {shown}")
    return 0


def _size(text: str) -> tuple[int, ...]:
    if not re.fullmatch(r"[1-9]\d{0,5}(x[1-9]\d{0,5}){1,2}", text):
        raise ConfigError(
            "--shape",
            found=repr(text),
            expected="HEIGHTxWIDTH or HEIGHTxWIDTHxCHANNELS, such as 32x32x3",
            remedy="change --shape",
        )
    return tuple(map(int, text.split("x")))
