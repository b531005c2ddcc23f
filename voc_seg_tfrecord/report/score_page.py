"""Writes the page of a score: where predictions are wrong, and which labels may be wrong."""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import hashlib
import heapq
import math

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import VocSegError, counted
from voc_seg_tfrecord.core.names import IMAGE, MASK, VOID
from voc_seg_tfrecord.core.requirements import all_versions
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.evaluation import folder
from voc_seg_tfrecord.evaluation.folder import ScoredPair
from voc_seg_tfrecord.evaluation.predictions import Predictions
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.quality.finding import Finding
from voc_seg_tfrecord.quality.kinds import MISLABELED_REGION
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.decisions import PageDecision, Suspect, collect_called_right
from voc_seg_tfrecord.reading.records import Record
from voc_seg_tfrecord.report.band_display import BandDisplay, decode_shown
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.label_errors import find_mislabeled_regions
from voc_seg_tfrecord.report.overlay import class_colors
from voc_seg_tfrecord.report.sections import Card, NamedPicture
from voc_seg_tfrecord.report.templating import fill_template, name_all_values
from voc_seg_tfrecord.report.thumbnails import (
    ExampleThumbnails,
    image_url,
    mask_url,
    reduce_mask,
)

PIXEL_KINDS = ("right", "right, background", "void", "missed", "too much", "another class")
"""What a pixel of the picture of differences is."""

CONTRADICTED_LABEL = "label that the predictions contradict"
"""The kind of label that decisions of this page are about."""

_COLORS_OF_PIXEL_KINDS = (
    (107, 114, 128),
    (31, 36, 43),
    (62, 68, 76),
    (230, 159, 0),
    (86, 180, 233),
    (221, 110, 170),
)
"""For each of `PIXEL_KINDS` a color: told apart by people who see few colors, on a light and a dark
page."""

_MAX_WORST_IMAGES = 12
_MAX_SUSPICIOUS_LABELS = 24
_MAX_CLASSES_WITH_IMAGES = 20
_IMAGES_OF_CLASS = 2
_MAX_CONFUSIONS = 8
_IMAGES_OF_CONFUSION = 3
_CONFUSIONS_OF_IMAGE = 2

CardPlace = tuple[str, int]
"""The split and the number of the record that a card shows."""


@dataclasses.dataclass(frozen=True)
class CostlyConfusion:
    """One class that was taken for another.

    Attributes:
      truth: the class of the mask.
      predicted: the class of the prediction.
      pixels: how many there are.
      share: their share of the pixels of the class in the masks.
      gain: by how much mIoU would rise if these pixels were right.
      images: where most of the pixels are.
    """

    truth: int
    predicted: int
    pixels: int
    share: float
    gain: float
    images: Sequence[ImageScore]


@dataclasses.dataclass(frozen=True)
class ClassRow:
    """The score of a class that occurs.

    Attributes:
      label: the class.
      iou: intersection over union, 0 to 1.
      dice: the Dice coefficient, 0 to 1.
      accuracy: the share of its pixels in the masks that was predicted; None without such pixels.
      pixels: how many it has in the masks.
      missed: how many of these were predicted as another class.
      extra: how many pixels of other classes were predicted as this one.
      taken_for: the class that was predicted most often in its place; None if none was.
      images: those with most wrong pixels of the class; only of the classes with the lowest IoU.
    """

    label: int
    iou: float
    dice: float
    accuracy: float | None
    pixels: int
    missed: int
    extra: int
    taken_for: int | None
    images: Sequence[ImageScore]


@dataclasses.dataclass(frozen=True)
class _ScoredRegion:
    """A region that looks like another class, in an image that was scored."""

    score: ImageScore
    finding: Finding


def render(
    builder: tfds.core.DatasetBuilder,
    result: Result,
    predictions: PathLike,
    probabilities: str | None = None,
    decisions: Iterable[PageDecision] = (),
    display: BandDisplay | None = None,
) -> str:
    """Returns the page as HTML: one file that needs no network.

    Args:
      builder: of the built dataset.
      result: of `evaluation.evaluate` with `per_image`, for the same predictions.
      predictions: the folder of predictions.
      probabilities: how the predictions hold probabilities; None if they are classes.
      decisions: of earlier pages; see `decisions.parse_decisions`. A label that they call right is
        not among those that may be wrong, as long as image and mask are the same.
      display: how images of more than 8-bit RGB are shown.

    Raises:
      RecordError: if a shard cannot be read.
      MaskError: if a prediction cannot be read any more.
    """
    names = tuple(clean(name) for name in result.class_names)
    colors = class_colors(result.background, metadata.palette(builder))
    every_name = name_all_values(names, "class")
    right = collect_called_right(decisions)
    # Some may have been called right, which is known once their cards are made.
    max_candidates = _MAX_SUSPICIOUS_LABELS + len(right)
    suspicious = _least_likely_labels(result)[:max_candidates]
    regions = find_mislabeled_regions(builder)
    scored_regions = _match_scores(result, regions.findings)[:max_candidates]
    worst = result.worst_images(_MAX_WORST_IMAGES)
    class_rows = list(_class_rows(result))
    confusions = find_costly_confusions(result)

    shown_images = {*worst, *suspicious, *(region.score for region in scored_regions)}
    for row in class_rows:
        shown_images.update(row.images)
    for confusion in confusions:
        shown_images.update(confusion.images)
    reader = Predictions(predictions, len(names), probabilities)
    cards = _make_cards(builder, result, shown_images, reader, every_name, colors, display)
    suspicious = [
        score
        for score in suspicious
        if not _is_called_right(right, _suspect_of_score(score), cards[_place_of(score)])
    ]
    region_cards = []
    for region in scored_regions:
        card = cards[_place_of(region.score)]
        if not _is_called_right(right, _suspect_of_region(region.finding), card):
            region_cards.append(_card_of_region(card, region.finding))
    first_extra_color = len(colors)
    extra_colors = range(first_extra_color, first_extra_color + len(PIXEL_KINDS))
    return fill_template(
        "scores",
        np.concatenate([colors, np.array(_COLORS_OF_PIXEL_KINDS, np.uint8)]),
        [*range(len(names)), *extra_colors],
        title=result.dataset,
        result=result,
        names=every_name,
        pixel_kinds=list(zip(extra_colors, PIXEL_KINDS, strict=True)),
        classes=sorted(class_rows, key=lambda row: (row.iou, row.label)),
        worst=worst,
        suspicious=suspicious[:_MAX_SUSPICIOUS_LABELS],
        region_cards=region_cards[:_MAX_SUSPICIOUS_LABELS],
        region_note=regions.note.message if regions.note else "",
        regions_are_compared=regions.are_compared,
        confusions=confusions,
        cards=cards,
        work=f"evaluate {result.dataset} {result.fingerprint[:12]}",
        versions=all_versions(),
    )


def _suspect_of_score(score: ImageScore) -> Suspect:
    """Returns the label of an image, about which a person decides."""
    return Suspect(CONTRADICTED_LABEL, (score.id,))


def _suspect_of_region(finding: Finding) -> Suspect:
    """Returns a region, about which a person decides."""
    return Suspect(MISLABELED_REGION.name, finding.ids, finding.position)


def _is_called_right(right: Mapping[Suspect, str], suspect: Suspect, card: Card) -> bool:
    """Returns whether a person called a suspect right, and its image and mask are the same still.

    Args:
      right: see `decisions.collect_called_right`.
      suspect: the suspect.
      card: of its image.
    """
    return right.get(suspect) == card.sha256


def _least_likely_labels(result: Result) -> list[ImageScore]:
    """Returns the images by the quality of their labels, the lowest first."""
    rated = [score for score in result.per_image if score.label_quality is not None]
    return sorted(rated, key=lambda score: (score.label_quality or 0, score.id))


def _match_scores(result: Result, findings: Iterable[Finding]) -> list[_ScoredRegion]:
    """Returns the findings about images that were scored."""
    scores = {}
    for score in result.per_image:
        # The name of a slice knows the splits that it is of.
        for split in getattr(score.split, "splits", (score.split,)):
            scores[split, score.id] = score
    return [
        _ScoredRegion(scores[finding.split, finding.ids[0]], finding)
        for finding in findings
        if (finding.split, finding.ids[0]) in scores
    ]


def _class_rows(result: Result) -> Iterator[ClassRow]:
    """Yields a row for each class that occurs."""
    present = np.flatnonzero(result.present).tolist()
    iou = result.iou
    foreground = [label for label in present if label != result.background]
    foreground.sort(key=lambda label: iou[label])
    with_images = foreground[:_MAX_CLASSES_WITH_IMAGES]
    costliest_images = _costliest_images(result.per_image)
    for label in present:
        missed_as = result.matrix[label].copy()
        missed_as[label] = 0
        accuracy = float(result.accuracy[label])
        predicted = int(result.matrix[:, label].sum())
        yield ClassRow(
            label=label,
            iou=float(iou[label]),
            dice=float(result.dice[label]),
            accuracy=None if math.isnan(accuracy) else accuracy,
            pixels=int(result.matrix[label].sum()),
            missed=int(missed_as.sum()),
            extra=predicted - int(result.matrix[label, label]),
            taken_for=int(missed_as.argmax()) if missed_as.any() else None,
            images=costliest_images.get(label, []) if label in with_images else [],
        )


def _costliest_images(scores: Iterable[ImageScore]) -> dict[int, list[ImageScore]]:
    """Returns the images with most wrong pixels of each class that has any, the first two.

    A pixel is wrong by having or not having the class.
    """
    ranks_of_class: dict[int, list[tuple[int, str, ImageScore]]] = collections.defaultdict(list)
    for score in scores:
        wrong_of_class: collections.Counter[int] = collections.Counter()
        for (truth, predicted), pixels in score.pixels.items():
            if truth != predicted:
                wrong_of_class[truth] += pixels
                wrong_of_class[predicted] += pixels
        for label, wrong in wrong_of_class.items():
            ranks_of_class[label].append((-wrong, score.id, score))
    costliest = {}
    for label, ranks in ranks_of_class.items():
        first = heapq.nsmallest(_IMAGES_OF_CLASS, ranks, key=lambda rank: rank[:2])
        costliest[label] = [score for _, _, score in first]
    return costliest


def find_costly_confusions(result: Result) -> list[CostlyConfusion]:
    """Returns the confusions of two classes that cost most mIoU, the costliest first.

    If the wrong pixels of a confusion were right, the class of the mask would win them without a
    larger union. The predicted class would lose them from its union, and may even be gone then.
    """
    matrix = result.matrix
    intersection = matrix.diagonal()
    union = matrix.sum(0) + matrix.sum(1) - intersection
    iou = np.divide(intersection, union, out=np.zeros(len(union)), where=result.present)
    classes = np.count_nonzero(result.present)

    is_wrong = ~np.eye(len(matrix), dtype=bool)
    truth, predicted = np.nonzero(matrix * is_wrong)
    pixels = matrix[truth, predicted]
    union_if_right = union[predicted] - pixels
    iou_of_predicted_if_right = np.divide(
        intersection[predicted],
        union_if_right,
        out=np.zeros(len(pixels)),
        where=union_if_right > 0,
    )
    gain_of_truth = pixels / union[truth]
    sum_if_right = iou.sum() + gain_of_truth + iou_of_predicted_if_right - iou[predicted]
    classes_if_right = classes - (union_if_right == 0)
    gain = sum_if_right / classes_if_right - iou.sum() / max(1, classes)

    confusions = []
    for index in np.argsort(-gain, kind="stable")[:_MAX_CONFUSIONS]:
        cell = (int(truth[index]), int(predicted[index]))
        confusions.append(
            CostlyConfusion(
                truth=cell[0],
                predicted=cell[1],
                pixels=int(pixels[index]),
                share=float(pixels[index] / matrix[cell[0]].sum()),
                gain=float(gain[index]),
                images=_images_of_confusion(result.per_image, cell),
            )
        )
    return confusions


def _images_of_confusion(scores: Iterable[ImageScore], cell: tuple[int, int]) -> list[ImageScore]:
    """Returns the images with most pixels of a true and a predicted class."""
    with_cell = [score for score in scores if cell in score.pixels]
    with_cell.sort(key=lambda score: (-score.pixels[cell], score.id))
    return with_cell[:_IMAGES_OF_CONFUSION]


def _place_of(score: ImageScore) -> CardPlace:
    return score.split, score.number


def _make_cards(
    builder: tfds.core.DatasetBuilder,
    result: Result,
    shown_images: Collection[ImageScore],
    predictions: Predictions,
    names: Sequence[str],
    colors: np.ndarray,
    display: BandDisplay | None,
) -> dict[CardPlace, Card]:
    """Reads the images that are shown once more, and makes a card of each."""
    if not shown_images:
        return {}
    scores = {_place_of(score): score for score in shown_images}
    tiling = metadata.tiling_of(builder)

    def make_card(item: tuple[CardPlace, Record]) -> Card:
        place, record = item
        score = scores[place]
        alone = score.result(result.class_names)
        pixels = alone.matrix.sum(0) + alone.matrix.sum(1)
        most_pixels_first = np.argsort(-pixels, kind="stable").tolist()
        present = [label for label in most_pixels_first if pixels[label]]
        notes = []
        if present:
            notes.append(f"mIoU {100 * alone.miou:.2f}")
        if score.label_quality is not None:
            notes.append(f"label quality {score.label_quality:.3f}")
        image = None
        with contextlib.suppress(VocSegError):
            image = decode_shown(record, display)
        pair = folder.pair_with_prediction(record, record.pixels(MASK), predictions, tiling)
        height, width = pair.mask.shape
        files = record.bytes(IMAGE) + record.bytes(MASK)
        detail = _describe_confusions(score, names)
        return Card(
            kind=CONTRADICTED_LABEL,
            ids=(record.id,),
            sha256=hashlib.sha256(files).hexdigest()[:32],
            splits=place[0],
            detail=detail,
            example=ExampleThumbnails(
                record.id,
                record.id,
                height,
                width,
                shares={label: float(alone.iou[label]) for label in present},
            ),
            notes=notes,
            side_by_side=_draw_pair(record.id, image, pair, result.background, colors, detail),
        )

    cards = ordered_map(make_card, records.read_at(builder, scores))
    return {place: card for (place, _), card in cards}


def _card_of_region(card: Card, finding: Finding) -> Card:
    """Returns the card of an image as that of one of its regions."""
    return dataclasses.replace(
        card,
        kind=MISLABELED_REGION.name,
        sha256=f"{card.sha256} {finding.position}",
        detail=finding.detail,
    )


def _describe_confusions(score: ImageScore, names: Sequence[str]) -> str:
    """Returns in words which classes were taken for which, the two that have most pixels."""
    wrong = [
        (-pixels, truth, predicted)
        for (truth, predicted), pixels in score.pixels.items()
        if truth != predicted
    ]
    wrong.sort()
    return "; ".join(
        f"{names[truth]} taken for {names[predicted]}: {counted(-negated_pixels, 'pixel')}"
        for negated_pixels, truth, predicted in wrong[:_CONFUSIONS_OF_IMAGE]
    )


def _draw_pair(
    image_id: str,
    image: np.ndarray | None,
    pair: ScoredPair,
    background: int | None,
    colors: np.ndarray,
    detail: str,
) -> list[NamedPicture]:
    """Draws the part of an image that was compared with its prediction.

    Args:
      image_id: its id.
      image: uint8 `[H, W, 3]`; None if it cannot be decoded.
      pair: its mask and the prediction.
      background: the class that is background.
      colors: of the classes.
      detail: what is wrong, in words; empty if nothing is.
    """
    predicted = pair.prediction.classes.astype(np.uint8)
    kinds = classify_pixels(pair.mask, predicted, background)
    colors_of_kinds = np.array(_COLORS_OF_PIXEL_KINDS, np.uint8)
    url = ""
    if image is not None:
        url = image_url(np.ascontiguousarray(image[pair.window]))
    pictures = [NamedPicture("image", url, f"Image of {image_id}")]
    for name, values, palette, alternative in (
        ("mask", pair.mask, colors, f"Mask of {image_id}"),
        ("prediction", predicted, colors, f"Prediction of {image_id}"),
        ("difference", kinds, colors_of_kinds, f"Difference of {image_id}: {detail or 'none'}"),
    ):
        url = mask_url(reduce_mask(values), palette)
        pictures.append(NamedPicture(name, url, alternative, is_mask=True))
    return pictures


def classify_pixels(mask: np.ndarray, classes: np.ndarray, background: int | None) -> np.ndarray:
    """Returns what each pixel of a prediction is, as an index of `PIXEL_KINDS`.

    Args:
      mask: class indices, uint8 `[H, W]`; 255 is void.
      classes: what was predicted, uint8 `[H, W]`.
      background: index of the background class, None if there is none.

    Returns:
      uint8 `[H, W]`.
    """
    is_right = mask == classes
    # The first that is true of a pixel is its kind.
    conditions = {
        "void": mask == VOID,
        "right, background": is_right & (mask == background),
        "right": is_right,
        "missed": classes == background,
        "too much": mask == background,
        "another class": ~is_right,
    }
    numbers = [PIXEL_KINDS.index(kind) for kind in conditions]
    return np.select(list(conditions.values()), numbers).astype(np.uint8)
