import numpy as np
import pytest
from scipy import ndimage
from support.scoring import devkit, moved, shapes

from voc_seg_tfrecord import VOID, evaluation
from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.evaluation.confusion import boundary_band

NAMES = ("background", "cat", "dog", "cow")


def score(masks, predictions, names=NAMES, **kwargs):
    counted = evaluation.Confusion(names, **kwargs)
    for mask, prediction in zip(masks, predictions, strict=True):
        counted.update(mask, prediction)
    return counted.result()


@pytest.mark.parametrize(
    "masks",
    [
        [shapes(s) for s in range(4)],
        [np.zeros((5, 7), np.uint8)],
        [np.full((5, 7), VOID, np.uint8), shapes(1)],
        [np.full((9, 4), 2, np.uint8)],
        [np.random.default_rng(0).choice([0, 1, 3, VOID], (40, 31)).astype(np.uint8)],
    ],
)
def test_the_score_is_that_of_the_devkits_rule(masks):
    predictions = [moved(mask) for mask in masks]
    result = score(masks, predictions)
    matrix, iou = devkit(masks, predictions, len(NAMES))
    assert (result.matrix == matrix).all()
    np.testing.assert_array_equal(result.iou, iou)
    present = ~np.isnan(iou)
    assert (result.present == present).all()
    if present.any():
        assert result.miou == pytest.approx(iou[present].mean(), abs=1e-15)
        assert result.pixel_accuracy == matrix.trace() / matrix.sum()


def test_absent_classes_are_named_and_do_not_count():
    mask = np.array([[0, 0, 1, 1]], np.uint8)
    result = score([mask], [np.array([[0, 1, 1, 1]])])
    assert result.absent == ("dog", "cow")
    assert result.miou == (1 / 2 + 2 / 3) / 2


def test_a_class_that_is_only_predicted_counts_as_zero():
    result = score([np.zeros((1, 4), np.uint8)], [np.array([[0, 0, 2, 2]])])
    assert result.only_predicted == ("dog",)
    assert result.miou == 0.25
    assert result.mean_accuracy == 0.5


def test_with_nothing_but_void_nothing_is_defined():
    result = score([np.full((3, 3), VOID)], [np.zeros((3, 3), int)])
    assert np.isnan([result.miou, result.mean_accuracy, result.pixel_accuracy]).all()
    assert result.as_dict()["miou"] is None
    assert result.absent == NAMES


@pytest.mark.parametrize("value", [4, 254, VOID, -1, 300])
def test_a_prediction_that_is_no_class_is_refused_even_where_the_mask_is_void(value):
    mask = np.array([[0, VOID]], np.uint8)
    with pytest.raises(MaskError, match=r"x\.png: a prediction with .*" + str(value)):
        evaluation.Confusion(NAMES).update(mask, np.array([[0, value]]), where="x.png")


def test_a_mask_value_that_is_no_class_is_refused():
    with pytest.raises(MaskError, match="a mask with the values 7 on 2 pixels"):
        score([np.array([[0, 7, 7]])], [np.zeros((1, 3), int)])


@pytest.mark.parametrize(
    ("mask", "prediction"),
    [
        (np.zeros((4, 5), int), np.zeros((5, 4), int)),
        (np.zeros((4, 5), int), np.zeros((4, 5), np.float32)),
        (np.zeros((4, 5), int), np.zeros((4, 5, 3), int)),
        (np.zeros(4, int), np.zeros(4, int)),
    ],
)
def test_shapes_and_kinds_that_do_not_fit_are_refused(mask, prediction):
    counted = evaluation.Confusion(NAMES)
    with pytest.raises(MaskError, match=r"\["):
        counted.update(mask, prediction)
    assert not counted.matrix.any()


def test_batches_and_single_images_give_the_same_matrix():
    masks = np.stack([shapes(s) for s in range(3)])
    predictions = np.stack([moved(mask) for mask in masks])
    batch = evaluation.Confusion(NAMES)
    batch.update(masks[..., None], predictions)
    assert (batch.result().matrix == score(masks, predictions).matrix).all()
    assert batch.images == 3


def test_workers_results_add_up():
    masks = [shapes(s) for s in range(4)]
    predictions = [moved(mask) for mask in masks]
    halves = [evaluation.Confusion(NAMES) for _ in range(2)]
    for number, (mask, prediction) in enumerate(zip(masks, predictions, strict=True)):
        halves[number % 2].update(mask, prediction)
    merged = halves[0].merge(halves[1]).result()
    assert (merged.matrix == score(masks, predictions).matrix).all()
    assert merged.images == 4


@pytest.mark.parametrize(
    "other", [evaluation.Confusion(NAMES[:2]), evaluation.Confusion(NAMES, trimap=3)]
)
def test_what_counts_otherwise_cannot_be_merged(other):
    with pytest.raises(ConfigError, match="merge"):
        evaluation.Confusion(NAMES).merge(other)


def test_a_trimap_counts_only_pixels_near_void():
    mask = np.zeros((9, 9), np.uint8)
    mask[4, 4] = VOID
    result = score([mask], [np.ones((9, 9), int)], trimap=2)
    assert result.matrix.sum() == result.matrix[0, 1] == 5 * 5 - 1


@pytest.mark.parametrize("kwargs", [{"class_names": ()}, {"class_names": NAMES, "trimap": 0}])
def test_a_wrong_call_is_named(kwargs):
    with pytest.raises(ConfigError, match=r"class_names|trimap"):
        evaluation.Confusion(**kwargs)


@pytest.mark.parametrize("width", [1, 2, 5, 40])
@pytest.mark.parametrize("size", [(1, 1), (7, 30), (31, 17)])
def test_the_band_is_void_dilated_by_a_square(width, size):
    mask = np.random.default_rng(width).choice([0, VOID], size, p=[0.97, 0.03]).astype(np.uint8)
    square = np.ones((2 * width + 1,) * 2)
    assert (boundary_band(mask, width) == ndimage.binary_dilation(mask == VOID, square)).all()
