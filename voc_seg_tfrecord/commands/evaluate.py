"""Scores predictions against a split of a built dataset, as VOC's devkit counts.

One matrix counts all pixels that are not void. It gives the IoU per class, and the mean over the
classes that occur.
"""

import argparse
from collections.abc import Sequence
import math
from typing import TYPE_CHECKING

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.evaluation.result import ImageScore, Result

SUMMARY = "score predictions: IoU per class, mIoU, accuracies"
EXAMPLE = "voc-seg-tfrecord evaluate 2012@validation --predictions predicted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_predictions(parser, "a built dataset and a split, or SPLIT+SPLIT, or a list")
    arguments.add(parser, "ids")
    parser.add_argument(
        "--probabilities",
        type=str.upper,
        choices=("CHW", "HWC"),
        help="the .npy files hold a probability per class and pixel, in this order of axes; the "
        "most probable class is scored, and --html shows the labels that may be wrong",
    )
    parser.add_argument(
        "--boundary",
        type=float,
        metavar="SHARE",
        help="show Boundary IoU too; the width of its bands is this share of the image's "
        "diagonal, such as 0.02",
    )
    parser.add_argument(
        "--per_image",
        metavar="FILE",
        help="write the scores of each image, or tile, and its largest confusion into this CSV "
        "file, the lowest mIoU first",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with the worst images, by class and by confusion, into this file",
    )
    arguments.add(parser, "decisions", "rgb", "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord import evaluation

    per_image = arguments.output_file(args, "per_image")
    html = arguments.output_file(args, "html")
    arguments.check_page(args, "decisions", "rgb")
    decisions = arguments.read_decisions(args)
    rgb = arguments.parse_rgb(args.rgb)
    builder, splits = open_splits(args.dataset, args.data_dir, args.ids)
    if not splits:
        raise ConfigError(
            args.dataset,
            found="no split",
            expected="DATASET@SPLIT, such as voc_seg_tfrecord/2012@validation",
            remedy="name the split that was predicted",
        )
    display = None
    if html:
        from voc_seg_tfrecord.report.band_display import find_display

        display = find_display(builder, rgb)
    result = evaluation.evaluate(
        builder,
        splits,
        args.predictions,
        probabilities=args.probabilities,
        boundary=args.boundary,
        per_image=bool(per_image or html),
        progress=True,
    )
    if per_image:
        staging.write_output_file(per_image, _per_image_csv(result), "--per_image")
    if html:
        from voc_seg_tfrecord.report import score_page

        page = score_page.render(
            builder, result, args.predictions, args.probabilities, decisions, display
        )
        staging.write_output_file(html, page, "--html")
    if args.json:
        screen.write_json(result.as_dict() | {"boundary": args.boundary})
    else:
        _print(result, args)
    return 0


def _per_image_csv(result: "Result") -> str:
    """Returns one row per image as CSV, the lowest mIoU first."""
    columns = ["id", "split", "mIoU"]
    columns += [f"IoU {name}" for name in result.class_names]
    columns += ["pixel accuracy", "pixels", "wrong pixels", "largest confusion"]
    has_quality = any(image.label_quality is not None for image in result.per_image)
    if has_quality:
        columns.append("label quality")
    rows = []
    for image in result.rank_images():
        scores = image.result(result.class_names)
        row = [image.id, str(image.split), scores.miou, *scores.iou.tolist()]
        row += [scores.pixel_accuracy, scores.pixels]
        row += [image.wrong_pixels, _describe_largest_confusion(image, result.class_names)]
        if has_quality:
            row.append(image.label_quality)
        rows.append(row)
    return screen.csv_text(columns, rows)


def _describe_largest_confusion(image: "ImageScore", class_names: Sequence[str]) -> str:
    """Returns the most frequent error of an image: `person as background: 51`; empty if none."""
    errors = []
    for (truth, predicted), pixels in image.pixels.items():
        if truth != predicted:
            errors.append((pixels, truth, predicted))
    if not errors:
        return ""
    pixels, truth, predicted = max(errors)
    return f"{class_names[truth]} as {class_names[predicted]}: {pixels}"


def _print(result: "Result", args: argparse.Namespace) -> None:
    print(f"{result.dataset}: {counted(result.images, 'image')}\n\nscores in %:")
    _print_classes(result)
    classes = counted(int(result.present.sum()), "class")
    print(f"\nmIoU                     {_percent(result.miou)}  over {classes}")
    if result.background is not None:
        print(f"mIoU without background  {_percent(result.foreground_miou)}")
        print(f"FB-IoU                   {_percent(result.fb_iou)}  foreground and background")
    print(f"mean Dice (F1)           {_percent(result.mean_dice)}")
    if args.boundary:
        print(
            f"Boundary IoU             {_percent(result.boundary_miou)}  "
            f"bands of {args.boundary:g} of the diagonal"
        )
    print(f"mean recall (mAcc)       {_percent(result.mean_accuracy)}")
    print(f"pixel accuracy           {_percent(result.pixel_accuracy)}")
    if result.absent:
        print(f"not in the mean, absent from masks and predictions: {', '.join(result.absent)}")
    if result.only_predicted:
        print(f"predicted but in no mask, IoU 0: {', '.join(result.only_predicted)}")
    for name, path in {"scores of images, 0 to 1,": args.per_image, "page": args.html}.items():
        if path:
            print(f"{name} in {path}")
    print(f"fingerprint of the scored data: {result.fingerprint}")
    print(f"fingerprint of the predictions: {result.predictions}")


def _print_classes(result: "Result") -> None:
    scores = {"IoU": result.iou, "Dice": result.dice, "recall": result.accuracy}
    if result.boundary_iou is not None:
        scores["boundary"] = result.boundary_iou
    rows = []
    for index, name in enumerate(result.class_names):
        percent = [100 * values[index] for values in scores.values()]
        rows.append((index, name, *percent, int(result.matrix[index].sum())))
    screen.show_table(("index", "class", *scores, "pixels"), rows, dict.fromkeys(scores, "{:.2f}"))


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
