"""Scores predictions against a split of a built dataset, as VOC's devkit counts.

One matrix counts all pixels that are not void. It gives the IoU per class, and the mean over the
classes that occur.
"""

import argparse
from collections.abc import Sequence
import dataclasses
import math
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import output_files
from voc_seg_tfrecord.core.errors import ConfigError, counted
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.evaluation.result import Result

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
        "--confusion",
        metavar="FILE",
        help="draw the confusion matrix into this .png, .pdf or .svg file",
    )
    parser.add_argument(
        "--per_image",
        metavar="FILE",
        help="write the scores of each image, or tile, into this CSV file, the lowest mIoU first",
    )
    parser.add_argument(
        "--worst",
        type=int,
        metavar="N",
        help="show the N images with the lowest mIoU, and the largest confusion in each",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page with the worst images, by class and by confusion, into this file",
    )
    arguments.add(parser, "decisions", "rgb", "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord import evaluation
    from voc_seg_tfrecord.evaluation import result as results

    confusion = _check_output(args.confusion, "--confusion", results.DRAWINGS)
    per_image = _check_output(args.per_image, "--per_image")
    html = _check_output(args.html, "--html")
    if args.worst is not None and args.worst < 1:
        raise ConfigError("--worst", found=str(args.worst), expected="1 or more")
    decisions = arguments.read_decisions(args)
    if decisions and not html:
        raise ConfigError(
            "--decisions",
            found="no --html",
            expected="--html, because decisions only change what the page shows",
            remedy="add --html FILE, or leave --decisions out",
        )
    rgb = arguments.parse_rgb(args.rgb)
    if rgb and not html:
        raise ConfigError(
            "--rgb",
            found="no --html",
            expected="--html: only the page shows images",
            remedy="add --html FILE, or leave --rgb out",
        )
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
        per_image=bool(per_image or html or args.worst),
        progress=True,
    )
    if confusion:
        results.save_confusion(result, confusion)
    if per_image:
        output_files.write_file(per_image, _per_image_csv(result), "--per_image")
    if html:
        from voc_seg_tfrecord.report import score_page

        page = score_page.render(
            builder, result, args.predictions, args.probabilities, decisions, display
        )
        output_files.write_file(html, page, "--html")
    if args.json:
        asked_for = {"boundary": args.boundary, "worst": _worst_as_dicts(result, args.worst)}
        screen.write_json(result.as_dict() | asked_for)
    else:
        _print(result, args)
    return 0


def _check_output(path: str | None, option: str, endings: Sequence[str] = ()) -> epath.Path | None:
    """Returns the path of a file to write, checked; None if the option is not given."""
    return output_files.check_file(path, option, endings) if path else None


def _per_image_csv(result: "Result") -> str:
    """Returns one row per image as CSV, the lowest mIoU first."""
    columns = ["id", "split", "mIoU"]
    columns += [f"IoU {name}" for name in result.class_names]
    columns += ["pixel accuracy", "pixels"]
    has_quality = any(image.label_quality is not None for image in result.per_image)
    if has_quality:
        columns.append("label quality")
    rows = []
    for image in result.rank_images():
        scores = image.result(result.class_names)
        row = [image.id, str(image.split), scores.miou, *scores.iou.tolist()]
        row += [scores.pixel_accuracy, scores.pixels]
        if has_quality:
            row.append(image.label_quality)
        rows.append(row)
    return screen.csv_text(columns, rows)


@dataclasses.dataclass(frozen=True)
class _WorstImage:
    """One row of `--worst`.

    Attributes:
      id: of the image or tile.
      split: that it was read from.
      miou: over the classes of this image, 0 to 1.
      wrong_pixels: how many pixels have another class than in the mask.
      truth: the class in the mask of the most frequent error.
      predicted: the class that was predicted in its place.
      confused_pixels: how many pixels have this error.
    """

    id: str
    split: str
    miou: float
    wrong_pixels: int
    truth: str
    predicted: str
    confused_pixels: int


def _find_worst(result: "Result", count: int) -> list[_WorstImage]:
    rows = []
    for image in result.worst_images(count):
        wrong = {pair: pixels for pair, pixels in image.pixels.items() if pair[0] != pair[1]}
        truth, predicted = max(wrong, key=lambda pair: (wrong[pair], pair))
        row = _WorstImage(
            id=image.id,
            split=str(image.split),
            miou=image.result(result.class_names).miou,
            wrong_pixels=image.wrong_pixels,
            truth=result.class_names[truth],
            predicted=result.class_names[predicted],
            confused_pixels=wrong[truth, predicted],
        )
        rows.append(row)
    return rows


def _worst_as_dicts(result: "Result", count: int | None) -> list[dict[str, Any]] | None:
    """Returns what `--json` has of the worst images; None without `--worst`."""
    if count is None:
        return None
    return [dataclasses.asdict(image) for image in _find_worst(result, count)]


def _print(result: "Result", args: argparse.Namespace) -> None:
    print(f"{result.dataset}: {counted(result.images, 'image')}")
    print(f"fingerprint of what was scored: {result.fingerprint}")
    print(f"digest of the predictions:      {result.predictions}\n")
    _print_classes(result)
    print(f"\nmIoU            {_percent(result.miou)}  over {int(result.present.sum())} classes")
    if result.background is not None:
        print(f"  no background {_percent(result.foreground_miou)}")
        print(f"FB-IoU          {_percent(result.fb_iou)}")
    print(f"mean Dice (F1)  {_percent(result.mean_dice)}")
    if args.boundary:
        print(f"Boundary IoU    {_percent(result.boundary_miou)}")
    if result.fold_mious:
        folds = ", ".join(_percent(miou) for miou in result.fold_mious)
        print(f"PASCAL-5i folds {folds}")
    print(f"mean accuracy   {_percent(result.mean_accuracy)}")
    print(f"pixel accuracy  {_percent(result.pixel_accuracy)}")
    if result.absent:
        print(f"absent from masks and predictions, not in the mean: {', '.join(result.absent)}")
    if result.only_predicted:
        print(f"predicted but in no mask, IoU 0: {', '.join(result.only_predicted)}")
    if args.worst:
        _print_worst(result, args.worst)
    outputs = {
        "confusion matrix drawn": args.confusion,
        "scores of images": args.per_image,
        "page": args.html,
    }
    for name, path in outputs.items():
        if path:
            print(f"{name} in {path}")


def _print_classes(result: "Result") -> None:
    columns = {"IoU": result.iou, "Dice": result.dice, "accuracy": result.accuracy}
    if result.boundary_iou is not None:
        columns["boundary"] = result.boundary_iou
    pixels = result.matrix.sum(axis=1)
    rows = []
    for index, name in enumerate(result.class_names):
        scores = [_percent(values[index]) for values in columns.values()]
        rows.append((index, name, *scores, int(pixels[index])))
    screen.show_table(("index", "class", *columns, "pixels"), rows)


def _print_worst(result: "Result", count: int) -> None:
    """Prints the images with the lowest mIoU, and says if fewer have wrong pixels."""
    worst = _find_worst(result, count)
    if not worst:
        print("\nno image has a wrong pixel")
        return
    print()
    rows = []
    for image in worst:
        confusion = f"{image.truth} as {image.predicted}: {image.confused_pixels}"
        rows.append((image.id, image.split, _percent(image.miou), image.wrong_pixels, confusion))
    columns = ("worst images", "split", "mIoU", "wrong pixels", "most of them")
    screen.show_table(columns, rows)
    if len(worst) < count:
        print(f"no other image has a wrong pixel: --worst {count} shows {len(worst)}")


def _percent(value: float) -> str:
    return "-" if math.isnan(value) else f"{100 * value:.2f}"
