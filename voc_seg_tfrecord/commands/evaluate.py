"""Scores predictions against a split of a built dataset, as VOC's devkit counts: one matrix
over all pixels that are not void, IoU per class, and the mean over the classes that occur.
"""

import argparse

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.built.dataset import check_splits, open_built
from voc_seg_tfrecord.built.find import split_name
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.commands.screen import write_json

SUMMARY = "score predictions: IoU per class, mIoU, accuracies"
EXAMPLE = "voc-seg-tfrecord evaluate 2012@validation --predictions predicted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    arguments.add_predictions(parser, "a built dataset and a split, or SPLIT+SPLIT")
    parser.add_argument(
        "--trimap",
        type=int,
        metavar="PIXELS",
        help="count only pixels at most this far from a void pixel; default: count all",
    )
    parser.add_argument(
        "--confusion",
        metavar="FILE",
        help="draw the confusion matrix into this .png, .pdf or .svg file",
    )
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Scores, prints, and draws the matrix if asked."""
    from voc_seg_tfrecord import evaluation
    from voc_seg_tfrecord.evaluation import chart

    name, splits = split_name(args.dataset)
    if not splits:
        raise ConfigError(
            args.dataset,
            found="no split",
            expected="DATASET@SPLIT, such as voc_seg_tfrecord/2012@validation",
            remedy="name the split that was predicted",
        )
    if args.confusion:
        drawing = staging.check_file(args.confusion, "--confusion", chart.ENDINGS)
    builder = open_built(name, args.data_dir)
    result = evaluation.evaluate(
        builder,
        check_splits(builder, splits),
        args.predictions,
        trimap=args.trimap,
        progress=True,
    )
    if args.confusion:
        chart.save_confusion(result, drawing)
    if args.json:
        write_json(result.as_dict() | {"trimap": args.trimap})
    else:
        _print(result, args)
    return 0


def _print(result, args: argparse.Namespace) -> None:
    band = f", pixels within {args.trimap} of void" if args.trimap else ""
    print(f"{result.dataset}: {result.images} images{band}")
    print(f"fingerprint of what was scored: {result.fingerprint}\n")
    _print_classes(result)
    print(f"\nmIoU            {_percent(result.miou)}  over {int(result.present.sum())} classes")
    print(f"mean accuracy   {_percent(result.mean_accuracy)}")
    print(f"pixel accuracy  {_percent(result.pixel_accuracy)}")
    if result.absent:
        print(f"absent from masks and predictions, not in the mean: {', '.join(result.absent)}")
    if result.only_predicted:
        print(f"predicted but in no mask, IoU 0: {', '.join(result.only_predicted)}")
    if args.confusion:
        print(f"confusion matrix drawn in {args.confusion}")


def _print_classes(result) -> None:
    header = ("IoU", "accuracy", "pixels")
    columns = (result.class_names, result.iou, result.accuracy, result.matrix.sum(1))
    rows = [
        (index, name, _percent(iou), _percent(accuracy), int(pixels))
        for index, (name, iou, accuracy, pixels) in enumerate(zip(*columns, strict=True))
    ]
    screen.show_table(("index", "class", *header), rows)


def _percent(value: float) -> str:
    return "-" if value != value else f"{100 * value:.2f}"  # NaN is not equal to itself
