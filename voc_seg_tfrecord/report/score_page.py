"""The page of a score: where predictions are wrong, worst first, and which labels may be wrong."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import hashlib
import math
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.decisions import called_right
from voc_seg_tfrecord.core.errors import VocSegError, counted
from voc_seg_tfrecord.core.names import IMAGE, MASK, VOID
from voc_seg_tfrecord.core.package_versions import all_versions
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.evaluation import folder
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.quality.finding import MISLABELED_REGION
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.report import thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.label_errors import find_strangers
from voc_seg_tfrecord.report.overlay import class_colors
from voc_seg_tfrecord.report.thumbnails import Card, Shown, image_url, mask_url, small_mask

_WORST, _LABELS = 12, 24  # images
_CLASSES, _OF_A_CLASS = 20, 2  # classes, and images of each
_CONFUSIONS, _OF_A_CONFUSION = 8, 3

DIFFERENCE = ("right", "right, background", "void", "missed", "too much", "another class")
"""What a pixel of the picture of differences is, and below its colour: told apart by people who see
few colours, on a light and a dark page."""

KIND = "label that the predictions contradict"
"""What decisions of this page are about."""

_COLORS = [(107, 114, 128), (31, 36, 43), (62, 68, 76), (230, 159, 0), (86, 180, 233)]
_COLORS += [(221, 110, 170)]


@dataclasses.dataclass(frozen=True)
class Confused:
    """One class that was taken for another.

    Attributes:
      truth, predicted: class of the mask, and of the prediction.
      share: of the pixels of the class in the masks.
      gain: by how much mIoU would rise if these pixels were right.
      images: where most of the pixels are.
    """

    truth: int
    predicted: int
    pixels: int
    share: float
    gain: float
    images: Sequence[ImageScore]


def render(
    builder: tfds.core.DatasetBuilder,
    result: Result,
    predictions: PathLike,
    probabilities: str | None = None,
    decisions: Iterable[Mapping[str, Any]] = (),
) -> str:
    """Returns the page as HTML: one file that needs no network.

    The result is of `evaluation.evaluate` with `per_image`, and the same predictions. A label that
    decisions of earlier pages call right (see `decisions.parse_decisions`) is not among those that
    may be wrong, as long as image and mask are the same.

    Raises:
      RecordError: if a shard cannot be read.
      MaskError: if a prediction cannot be read any more.
    """
    names = tuple(clean(name) for name in result.class_names)
    colors = class_colors(result.background, dataset.palette(builder))
    reader = Predictions(predictions, len(names), probabilities)
    right = called_right(decisions)
    rated = [image for image in result.per_image if image.label_quality is not None]
    labels = sorted(rated, key=lambda i: (i.label_quality, i.id))[: _LABELS + len(right)]
    worst = _worst(result)
    found, no_strangers = find_strangers(builder)
    scored = {
        (split, image.id): image
        for image in result.per_image
        for split in getattr(image.split, "splits", (image.split,))
    }
    places = [(scored.get((finding.split, finding.ids[0])), finding) for finding in found]
    strangers = [(i, finding) for i, finding in places if i is not None][: _LABELS + len(right)]
    classes = list(_class_rows(result))
    confusions = confusions_of(result)
    wanted = {*worst, *labels, *(image for image, _ in strangers)}
    wanted |= {image for row in classes for image in row["images"]}
    wanted |= {image for confused in confusions for image in confused.images}
    every_name = [*names, *[f"class {n}" for n in range(len(names), VOID)], "void"]
    cards = _cards(builder, result, wanted, reader, every_name, colors)
    labels = [
        i for i in labels if right.get((KIND, (i.id,), "")) != cards[i.split, i.number].sha256
    ]
    of_strangers = [(cards[image.split, image.number], finding) for image, finding in strangers]
    unsure = [
        dataclasses.replace(
            card,
            kind=MISLABELED_REGION,
            sha256=f"{card.sha256} {finding.place}",
            detail=finding.detail,
        )
        for card, finding in of_strangers
        if right.get((MISLABELED_REGION, card.ids, finding.place)) != card.sha256
    ]
    return thumbnails.render(
        "scores",
        np.concatenate([colors, np.array(_COLORS, np.uint8)]),
        [*range(len(names)), *range(256, 256 + len(_COLORS))],
        title=result.dataset,
        result=result,
        names=every_name,
        difference=list(enumerate(DIFFERENCE, 256)),
        classes=sorted(classes, key=lambda row: (row["iou"], row["label"])),
        worst=worst,
        suspicious=labels[:_LABELS],
        strangers=unsure[:_LABELS],
        no_strangers=no_strangers,
        confusions=confusions,
        cards=cards,
        work=f"evaluate {result.dataset} {result.fingerprint[:12]}",
        versions=all_versions(),
    )


def _worst(result: Result) -> list[ImageScore]:
    scored = [(i.result(result.class_names).miou, i.id, i) for i in result.per_image]
    wrong = [score for score in scored if score[0] < 1]  # no NaN: nothing is known there
    return [image for _, _, image in sorted(wrong, key=lambda score: score[:2])[:_WORST]]


def _class_rows(result: Result) -> Iterator[dict[str, Any]]:
    """Yields a row for each class that occurs; the 20 classes with the lowest IoU have images."""
    matrix, iou, dice, accuracy = result.matrix, result.iou, result.dice, result.accuracy
    present = np.flatnonzero(result.present).tolist()
    shown = sorted((c for c in present if c != result.background), key=lambda c: iou[c])
    for label in present:
        lost = matrix[label].copy()
        lost[label] = 0
        yield {
            "label": label,
            "iou": float(iou[label]),
            "dice": float(dice[label]),
            "accuracy": None if math.isnan(accuracy[label]) else float(accuracy[label]),
            "pixels": int(matrix[label].sum()),
            "missed": int(lost.sum()),
            "extra": int(matrix[:, label].sum() - matrix[label, label]),
            "taken_for": int(lost.argmax()) if lost.any() else None,
            "images": _costliest(result.per_image, label) if label in shown[:_CLASSES] else [],
        }


def _costliest(scores: Iterable[ImageScore], label: int) -> list[ImageScore]:
    """Returns the images with most pixels that are wrong by having or not having a class."""
    costs = []
    for image in scores:
        cells = image.pixels.items()
        wrong = sum(pixels for (i, j), pixels in cells if (i == label) != (j == label))
        if wrong:
            costs.append((-wrong, image.id, image))
    return [image for _, _, image in sorted(costs, key=lambda f: f[:2])[:_OF_A_CLASS]]


def confusions_of(result: Result) -> list[Confused]:
    """Returns the confusions of two classes that cost most mIoU, the costliest first."""
    matrix, present = result.matrix, result.present
    both, union = matrix.diagonal(), matrix.sum(0) + matrix.sum(1) - matrix.diagonal()
    truth, predicted = np.nonzero(matrix * ~np.eye(len(matrix), dtype=bool))
    pixels = matrix[truth, predicted]
    # If the pixels were right, the class of the mask would win them without a larger union, and
    # the other class would lose them from its union; it may even be gone then.
    left = union[predicted] - pixels
    iou = np.divide(both, union, out=np.zeros(len(both)), where=present)
    then = np.divide(both[predicted], left, out=np.zeros(len(left)), where=left > 0)
    count = np.count_nonzero(present)
    total = iou.sum() + pixels / union[truth] + then - iou[predicted]
    gain = total / (count - (left == 0)) - iou.sum() / max(1, count)
    confusions = []
    for n in np.argsort(-gain, kind="stable")[:_CONFUSIONS]:
        cell = (int(truth[n]), int(predicted[n]))
        having = [image for image in result.per_image if cell in image.pixels]
        having.sort(key=lambda image: (-image.pixels[cell], image.id))
        share = float(pixels[n] / matrix[cell[0]].sum())
        images = having[:_OF_A_CONFUSION]
        confusions.append(Confused(*cell, int(pixels[n]), share, float(gain[n]), images))
    return confusions


def _cards(
    builder: tfds.core.DatasetBuilder,
    result: Result,
    wanted: Iterable[ImageScore],
    predictions: Predictions,
    names: Sequence[str],
    colors: np.ndarray,
) -> dict[tuple[str, int], Card]:
    """Reads the images that are shown once more, and draws them."""
    scores = {(image.split, image.number): image for image in wanted}

    def draw(item: tuple[tuple[str, int], records.Record]) -> Card:
        place, record = item
        shown, beside = _drawn(builder, record, predictions, result.background, colors)
        alone = scores[place].result(result.class_names)
        union = alone.matrix.sum(0) + alone.matrix.sum(1)
        order = [c for c in np.argsort(-union, kind="stable").tolist() if union[c]]
        shares = tuple((label, float(alone.iou[label])) for label in order)
        notes = [f"mIoU {100 * alone.miou:.2f}"] if order else []
        if (quality := scores[place].label_quality) is not None:
            notes.append(f"label quality {quality:.3f}")
        return Card(
            KIND,
            (record.id,),
            hashlib.sha256(record.bytes(IMAGE) + record.bytes(MASK)).hexdigest()[:32],
            place[0],
            _confused(scores[place], names),
            dataclasses.replace(shown, shares=shares),
            notes,
            beside=beside,
        )

    if not scores:
        return {}
    return {place: card for (place, _), card in ordered_map(draw, records.read_at(builder, scores))}


def _confused(score: ImageScore, names: Sequence[str]) -> str:
    """Returns in words which classes were taken for which, the two that have most pixels."""
    cells = [(-pixels, *cell) for cell, pixels in score.pixels.items() if cell[0] != cell[1]]
    return "; ".join(
        f"{names[truth]} taken for {names[predicted]}: {counted(-pixels, 'pixel')}"
        for pixels, truth, predicted in sorted(cells)[:2]
    )


def _drawn(
    builder: tfds.core.DatasetBuilder,
    record: records.Record,
    predictions: Predictions,
    background: int | None,
    colors: np.ndarray,
) -> tuple[Shown, list[tuple[str, str]]]:
    """Returns image and mask, as far as they were compared; and prediction and difference."""
    whole = record.pixels(MASK)
    pair = folder.pair_with_prediction(record, whole, predictions, dataset.tiling_of(builder))
    mask, classes = pair.mask, pair.prediction.classes.astype(np.uint8)
    photo = ""
    with contextlib.suppress(VocSegError):
        photo = image_url(np.ascontiguousarray(record.image()[pair.window]))
    wrong = difference(mask, classes, background), np.array(_COLORS, np.uint8)
    drawn = [(mask, colors), (classes, colors), wrong]
    urls = [mask_url(small_mask(values), palette) for values, palette in drawn]
    shown = Shown(record.id, record.id, len(mask), mask.shape[1], (), photo, urls[0])
    return shown, [("prediction", urls[1]), ("difference", urls[2])]


def difference(mask: np.ndarray, classes: np.ndarray, background: int | None) -> np.ndarray:
    """Returns what each pixel of a prediction is, as an index of `DIFFERENCE`.

    Args:
      mask: class indices, uint8 `[H, W]`; 255 is void.
      classes: what was predicted, uint8 `[H, W]`.
      background: index of the background class, None if there is none.

    Returns:
      uint8 `[H, W]`.
    """
    right = mask == classes
    kinds = {
        "void": mask == VOID,
        "right, background": right & (mask == background),
        "right": right,
        "missed": classes == background,
        "too much": mask == background,
        "another class": ~right,
    }
    return np.select([*kinds.values()], [*map(DIFFERENCE.index, kinds)]).astype(np.uint8)
