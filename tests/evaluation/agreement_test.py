"""The same matrix and the same IoU as scikit-learn, torchmetrics and a plain transcription."""

import numpy as np
from PIL import Image
import pytest
from support.scoring import devkit, moved, shapes

from voc_seg_tfrecord import VOC_CLASSES, VOID, evaluation

CLASSES = len(VOC_CLASSES)


def real(folder):
    """Returns every third real val mask, and each of them moved by 8 pixels."""
    root = folder / "voc2012" / "VOCdevkit" / "VOC2012"
    ids = (root / "ImageSets" / "Segmentation" / "val.txt").read_text().split()
    assert len(ids) == 54
    masks = [np.array(Image.open(root / "SegmentationClass" / f"{i}.png")) for i in ids[::3]]
    return masks, [moved(mask, 8) for mask in masks]


MADE = {
    "absent classes": ([shapes(0), shapes(3)], [moved(shapes(0)), moved(shapes(3))]),
    "a class that is only predicted": ([shapes(1)], [np.full((24, 33), 7, np.uint8)]),
    "all void": ([np.full((9, 9), VOID, np.uint8)], [np.zeros((9, 9), np.uint8)]),
    "one of two all void": ([np.full((24, 33), VOID, np.uint8), shapes(2)], [moved(shapes(2))] * 2),
    "noise": [np.random.default_rng(n).integers(0, CLASSES, (2, 40, 31), np.uint8) for n in (0, 1)],
    "all one class": ([np.full((9, 9), 5, np.uint8)], [np.full((9, 9), 5, np.uint8)]),
    "all wrong": ([np.full((9, 9), 5, np.uint8)], [np.full((9, 9), 6, np.uint8)]),
}


@pytest.fixture(params=["the real masks", *MADE])
def case(request):
    if request.param in MADE:
        return MADE[request.param]
    return real(request.getfixturevalue("real_data"))


def transcription(masks, predictions):
    return devkit(masks, predictions, CLASSES)


def scikit_learn(masks, predictions):
    metrics = pytest.importorskip("sklearn.metrics")
    truth, found = (np.concatenate([a.ravel() for a in arrays]) for arrays in (masks, predictions))
    known = truth != VOID
    if not known.any():
        pytest.skip("scikit-learn refuses to count nothing")
    matrix = metrics.confusion_matrix(truth[known], found[known], labels=range(CLASSES))
    present = np.flatnonzero(matrix.sum(0) + matrix.sum(1))
    iou = np.full(CLASSES, np.nan)
    iou[present] = metrics.jaccard_score(truth[known], found[known], labels=present, average=None)
    return matrix, iou


def torchmetrics(masks, predictions):
    torch = pytest.importorskip("torch")
    of_classes = pytest.importorskip("torchmetrics.classification")
    settings = {"num_classes": CLASSES, "ignore_index": VOID}
    matrix = of_classes.MulticlassConfusionMatrix(**settings)
    jaccard = of_classes.MulticlassJaccardIndex(average="none", **settings)
    for mask, prediction in zip(masks, predictions, strict=True):
        tensors = (torch.from_numpy(a.astype(np.int64)) for a in (prediction, mask))
        prediction, mask = tensors
        matrix.update(prediction, mask)
        jaccard.update(prediction, mask)
    counts = matrix.compute().numpy()
    # It gives 0 for a class that is absent.
    present = counts.sum(0) + counts.sum(1) > 0
    return counts, np.where(present, jaccard.compute().numpy(), np.nan)


def test_dice_is_the_f1_of_precision_and_recall(case):
    masks, predictions = case
    counted = evaluation.Confusion(VOC_CLASSES)
    for mask, prediction in zip(masks, predictions, strict=True):
        counted.update(mask, prediction)
    result = counted.result()
    truth, found = (np.concatenate([a.ravel() for a in arrays]) for arrays in case)
    truth, found = truth[truth != VOID], found[truth != VOID]
    for label in np.flatnonzero(result.present):
        right = np.count_nonzero((truth == label) & (found == label))
        precision = right / max(1, np.count_nonzero(found == label))
        recall = right / max(1, np.count_nonzero(truth == label))
        f1 = 2 * precision * recall / (precision + recall) if right else 0
        assert result.dice[label] == pytest.approx(f1, abs=1e-15)


@pytest.mark.parametrize(
    ("judge", "precision"), [(transcription, 1e-15), (scikit_learn, 1e-15), (torchmetrics, 1e-6)]
)
def test_others_count_the_same(case, judge, precision):
    masks, predictions = case
    counted = evaluation.Confusion(VOC_CLASSES)
    for mask, prediction in zip(masks, predictions, strict=True):
        counted.update(mask, prediction)
    result = counted.result()
    matrix, iou = judge(masks, predictions)
    assert np.array_equal(result.matrix, matrix)
    assert result.iou == pytest.approx(iou, abs=precision, nan_ok=True)
    if result.present.any():
        assert result.miou == pytest.approx(np.nanmean(iou), abs=precision)
        assert result.pixel_accuracy == matrix.trace() / matrix.sum()
