"""Compares the masks that several annotators drew of one image, in the exports of a folder.

The agreement of two masks is the intersection over union (IoU) of each class: the pixels that both
give the class, divided by those that either does. Pixels that are void in either count nowhere. The
mean is over the classes of the two masks without background.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import itertools

import numpy as np

from voc_seg_tfrecord.core.errors import VocSegError, counted, several
from voc_seg_tfrecord.core.example import ExampleSpec
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import MASK, VOID
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.formats import png_values
from voc_seg_tfrecord.formats.value_counts import count_pairs
from voc_seg_tfrecord.quality.finding import (
    AGREEMENT,
    IGNORED,
    OTHER_DRAWING,
    SAME_IMAGE,
    SAME_IMAGE_OTHER_MASK,
    SAME_PICTURE,
    SAME_PICTURE_OTHER_MASK,
    Correction,
    Finding,
)
from voc_seg_tfrecord.writing.examples import make_example

_KINDS_ABOUT_COPIES = frozenset(
    (SAME_IMAGE, SAME_IMAGE_OTHER_MASK, SAME_PICTURE, SAME_PICTURE_OTHER_MASK)
)
"""What is found about two copies of an image that nobody is known to have drawn twice."""

_MAX_SHOWN_CLASSES = 8
_LOWEST_SCORE = 0.05
_HIGHEST_SCORE = 0.95


@dataclasses.dataclass(frozen=True)
class _TwoDrawings:
    """An image that two annotators drew.

    Attributes:
      annotators: the names of their folders.
      ids: the id of the image in each folder; the same one if both drew on one file.
      pairs: the files from which each mask is read.
    """

    annotators: tuple[str, str]
    ids: tuple[str, str]
    pairs: tuple[Pair, Pair]


@dataclasses.dataclass(frozen=True, eq=False)
class _ComparedMasks:
    """The two masks of an image.

    Attributes:
      image: the image.
      size: height and width of the masks.
      pixels: how many pixels have each class in the first mask and each in the second one, without
        void, int64 `[255, 255]`.
    """

    image: _TwoDrawings
    size: tuple[int, int]
    pixels: np.ndarray


@dataclasses.dataclass(frozen=True)
class _ClassesOfMasks:
    """The classes of masks.

    Attributes:
      names: the names, in mask order.
      background: the index of the background; None if there is none.
    """

    names: Sequence[str]
    background: int | None


def find_disagreements(
    plan: FolderPlan, spec: ExampleSpec, background: int | None
) -> list[Finding]:
    """Returns how far the annotators of a folder agree, and the images on which they do not.

    There is a finding for each two annotators, and one for each image of theirs whose masks differ,
    the worst first. Masks that cannot be read are left out, because they are findings of their own.

    Args:
      plan: the plan of the folder.
      spec: the examples that a build would make.
      background: the index of the background class; None if there is none.
    """
    classes = _ClassesOfMasks(spec.class_names, background)
    compared: list[_ComparedMasks] = []
    jobs = list(_list_images(plan))
    for _, masks in ordered_map(lambda image: _compare(spec, image), jobs):
        if masks is not None:
            compared.append(masks)
    differing = [_describe_image(plan, masks, classes) for masks in compared]
    in_order = sorted(filter(None, differing), key=lambda finding: -finding.score)
    return [*_summarize(compared, classes), *in_order]


def drop_copies_of_annotators(plan: FolderPlan, findings: Iterable[Finding]) -> list[Finding]:
    """Returns findings without those about copies that are the images of several annotators."""
    shared_ids: list[set[str]] = []
    for image in plan.division.evidence.shared_images:
        shared_ids.append({plan.tree.paths.record_id(image_id) for image_id in image.ids})
    kept: list[Finding] = []
    for finding in findings:
        is_about_copies = finding.kind in _KINDS_ABOUT_COPIES
        if not is_about_copies or not any(ids.issuperset(finding.ids) for ids in shared_ids):
            kept.append(finding)
    return kept


def _list_images(plan: FolderPlan) -> Iterator[_TwoDrawings]:
    """Yields each image of each two annotators, in two files or on one."""
    for image in plan.division.evidence.shared_images:
        pairs: dict[str, Pair] = {}
        for name, image_id in image.id_by_export.items():
            with contextlib.suppress(VocSegError):
                pairs[name] = plan.items.find(image_id)
        yield from _list_two_drawings(pairs)
    for _, pairs_of_image in plan.tree.labels.list_rival_pairs():
        yield from _list_two_drawings(pairs_of_image)


def _list_two_drawings(pairs: Mapping[str, Pair]) -> Iterator[_TwoDrawings]:
    """Yields each two of the pairs of an image, by the names of their annotators."""
    for first, second in itertools.combinations(pairs, 2):
        two_pairs = pairs[first], pairs[second]
        yield _TwoDrawings((first, second), (two_pairs[0].id, two_pairs[1].id), two_pairs)


def _compare(spec: ExampleSpec, image: _TwoDrawings) -> _ComparedMasks | None:
    """Compares the two masks of an image; None if one cannot be read, or their sizes differ."""
    try:
        first, second = (_read_mask(spec, pair) for pair in image.pairs)
    except VocSegError:
        return None
    if first.shape != second.shape:
        return None
    pixels = count_pairs(first, second).reshape(256, 256)[:VOID, :VOID]
    height, width = first.shape
    return _ComparedMasks(image, (height, width), pixels)


def _read_mask(spec: ExampleSpec, pair: Pair) -> np.ndarray:
    """Returns the class indices of a mask, uint8 `[H, W]`, as a build would store them.

    Raises:
      VocSegError: if image or mask cannot be read.
    """
    mask = make_example(pair.read(), spec)[MASK]
    return png_values.decode_values(File(mask, pair.id))


def _iou_by_class(pixels: np.ndarray) -> dict[int, float]:
    """Returns the IoU of each class that either of two masks has.

    Args:
      pixels: how many pixels have each two classes, int64 `[255, 255]`.
    """
    intersections = np.diag(pixels)
    unions = pixels.sum(0) + pixels.sum(1) - intersections
    return {int(n): float(intersections[n] / unions[n]) for n in np.flatnonzero(unions)}


@dataclasses.dataclass(frozen=True)
class _Agreement:
    """How far masks agree.

    Attributes:
      mean: the mean IoU; 1 if both are void everywhere.
      by_class: the IoU of each class but background, unless that is the only one.
    """

    mean: float
    by_class: Mapping[int, float]

    @classmethod
    def measure(cls, pixels: np.ndarray, classes: _ClassesOfMasks) -> "_Agreement":
        """Measures it; see `_iou_by_class`."""
        by_class = _iou_by_class(pixels)
        foreground = {n: iou for n, iou in by_class.items() if n != classes.background}
        counted_classes = foreground or by_class
        values = [*counted_classes.values()]
        return cls(float(np.mean(values)) if values else 1.0, counted_classes)

    def describe(self, classes: _ClassesOfMasks) -> str:
        """Returns it in words: `IoU 0.71 (crack 0.60, hole 0.82)`, the lowest class first."""
        in_order = sorted(self.by_class.items(), key=lambda item: item[1])
        words = [f"{classes.names[number]} {iou:.2f}" for number, iou in in_order]
        return f"IoU {self.mean:.2f} ({several(words, _MAX_SHOWN_CLASSES)})"


def _summarize(compared: Iterable[_ComparedMasks], classes: _ClassesOfMasks) -> list[Finding]:
    """Returns for each two annotators how far all of their masks agree, the worst first."""
    masks_by_annotators: dict[tuple[str, str], list[_ComparedMasks]] = {}
    for masks in compared:
        masks_by_annotators.setdefault(masks.image.annotators, []).append(masks)
    agreements: list[tuple[float, Finding]] = []
    for annotators, masks_of_both in masks_by_annotators.items():
        pixels = sum((masks.pixels for masks in masks_of_both), np.zeros((VOID, VOID), np.int64))
        agreement = _Agreement.measure(pixels, classes)
        images = counted(len(masks_of_both), "image")
        names = " and ".join(annotators)
        message = f"{names} both drew {images}: {agreement.describe(classes)}"
        agreements.append((agreement.mean, Finding(AGREEMENT, names, message, IGNORED)))
    agreements.sort(key=lambda item: item[0])
    return [finding for _, finding in agreements]


def _describe_image(
    plan: FolderPlan, masks: _ComparedMasks, classes: _ClassesOfMasks
) -> Finding | None:
    """Returns the finding about an image whose two masks differ; None if they are the same."""
    agreement = _Agreement.measure(masks.pixels, classes)
    if agreement.mean == 1:
        return None
    first_id, second_id = (plan.tree.paths.record_id(one) for one in masks.image.ids)
    drawn_by = f"drawn by {' and by '.join(masks.image.annotators)}"
    are_two_files = first_id != second_id
    images = f"{first_id} and {second_id}" if are_two_files else f"{first_id}, {drawn_by}"
    height, width = masks.size
    text = agreement.describe(classes)
    return Finding(
        OTHER_DRAWING,
        where=second_id,
        message=f"{images}: {text}",
        effect=IGNORED,
        ids=(first_id, second_id) if are_two_files else (first_id,),
        split=_split_of(plan, masks.image.ids[1]),
        box=(0, 0, width, height),
        score=min(_HIGHEST_SCORE, max(_LOWEST_SCORE, 1 - agreement.mean)),
        remedy="decide which mask is right, and correct the other one",
        detail=f"{drawn_by}: {text}",
        fix=Correction("another mask", image=first_id) if are_two_files else None,
    )


def _split_of(plan: FolderPlan, image_id: str) -> str:
    """Returns the split of an image; empty if it is in none, or the splits are not decided."""
    for split, ids in plan.splits.items():
        if image_id in ids:
            return split
    return ""
