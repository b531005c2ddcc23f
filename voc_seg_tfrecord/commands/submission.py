"""Packs predictions of VOC2012's test images for the evaluation server.

Checks ids, sizes and values, and writes results/VOC2012/Segmentation/comp6_test_cls/ID.png with
VOC's palette.
"""

import argparse

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.reading.dataset import open_splits
from voc_seg_tfrecord.reading.metadata import check_rgb

SUMMARY = "pack predictions for VOC's evaluation server"
EXAMPLE = "voc-seg-tfrecord submission 2012_test@test --predictions predicted --out results.tgz"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_predictions(
        parser,
        "the built test images, such as voc_seg_tfrecord/2012_test@test; without them the sizes "
        "of the predictions are not checked",
        nargs="?",
    )
    parser.add_argument(
        "--out", required=True, metavar="FILE", help="archive to write: .tgz or .tar.gz"
    )
    parser.add_argument(
        "--comp",
        type=int,
        choices=(5, 6),
        default=6,
        help="competition: 5 if trained on VOC's own train and val alone, else 6; default: 6",
    )
    arguments.add(parser, "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord.evaluation import predictions

    out = staging.check_output_file(args.out, "--out", (".tgz", ".tar.gz"))
    if args.data_dir and not args.dataset:
        raise ConfigError(
            "--data_dir",
            found="given without DATASET@SPLIT",
            expected="DATASET@SPLIT too, to check the sizes of the predictions",
            remedy="name the dataset, such as 2012_test@test, or leave --data_dir out",
        )
    sizes = None
    if args.dataset:
        builder, splits = open_splits(args.dataset, args.data_dir)
        check_rgb(builder, "a submission", "use the dataset of a release")
        if len(splits) != 1:
            raise ConfigError(
                args.dataset,
                found=f"{len(splits)} splits",
                expected="DATASET@SPLIT, such as voc_seg_tfrecord/2012_test@test",
            )
        sizes = predictions.read_sizes(builder, *splits)
    count = predictions.write_submission(args.predictions, out, sizes=sizes, comp=args.comp)
    if args.json:
        document = {"file": args.out, "predictions": count, "comp": args.comp}
        document["sizes_checked"] = bool(sizes)
        screen.write_json(document)
        return 0
    checked = "ids, sizes and values" if sizes else "ids and values"
    print(f"{args.out}: {count} predictions for comp{args.comp}; checked: {checked}")
    if not sizes:
        print("not checked: sizes; give voc_seg_tfrecord/2012_test@test to check them")
    return 0
