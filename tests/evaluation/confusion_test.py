import numpy as np
import pytest
from scipy import ndimage
from support.scoring import moved, shapes

from voc_seg_tfrecord import VOC_CLASSES, VOID, evaluation
from voc_seg_tfrecord.core.errors import ConfigError, MaskError
from voc_seg_tfrecord.evaluation import confusion
from voc_seg_tfrecord.formats import value_counts

NAMES = ("background", "cat", "dog", "cow")


def score(masks, predictions, names=NAMES, **kwargs):
    counted = evaluation.Confusion(names, **kwargs)
    for mask, prediction in zip(masks, predictions, strict=True):
        counted.update(mask, prediction)
    return counted.result()


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


def test_one_class_is_enough():
    assert score([np.zeros((1, 4), np.uint8)], [np.zeros((1, 4), int)], NAMES[:1]).miou == 1


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
    with pytest.raises(MaskError, match="a mask with the value 7 on 2 pixels"):
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
    "other", [evaluation.Confusion(NAMES[:2]), evaluation.Confusion(NAMES, boundary=0.5)]
)
def test_what_counts_otherwise_cannot_be_merged(other):
    with pytest.raises(ConfigError, match="merge"):
        evaluation.Confusion(NAMES).merge(other)


@pytest.mark.parametrize(
    ("names", "boundary", "message"),
    [
        ((), None, "class_names"),
        (("a", "b", "a"), None, "class_names: the name 'a' twice"),
        (("a", "a\u200b"), None, "class_names: the names 'a' and 'a.u200b', which look the same"),
        *((NAMES, n, "share of the image's diagonal") for n in (0, -1, 1.5)),
    ],
)
def test_a_wrong_call_is_named(names, boundary, message):
    with pytest.raises(ConfigError, match=message):
        evaluation.Confusion(names, boundary=boundary)


def pixels_of(masks, predictions):
    """Yields class of the mask and of the prediction of each pixel that is not void."""
    for mask, prediction in zip(masks, predictions, strict=True):
        for truth, found in zip(mask.ravel().tolist(), prediction.ravel().tolist(), strict=True):
            if truth != VOID:
                yield truth, found


def overlap(pairs, truths, founds):
    """Returns IoU and Dice of pixels whose classes are in two sets, counted one by one."""
    both = sum(t in truths and f in founds for t, f in pairs)
    ours, theirs = sum(t in truths for t, _ in pairs), sum(f in founds for _, f in pairs)
    return both / (ours + theirs - both), 2 * both / (ours + theirs)


def test_dice_fb_iou_and_means_without_background_are_those_of_a_count_pixel_by_pixel():
    masks = [shapes(s) for s in range(4)]
    predictions = [moved(mask) for mask in masks]
    result = score(masks, predictions)
    pairs = list(pixels_of(masks, predictions))
    scores = [overlap(pairs, {c}, {c}) for c in range(3)]
    assert result.dice[:3] == pytest.approx([dice for _, dice in scores])
    assert np.isnan(result.dice[3])
    assert result.mean_dice == pytest.approx(np.mean([dice for _, dice in scores]))
    assert result.foreground_miou == pytest.approx(np.mean([iou for iou, _ in scores[1:]]))
    sides = [overlap(pairs, side, side)[0] for side in ({0}, {1, 2, 3})]
    assert result.fb_iou == pytest.approx(np.mean(sides))


def test_without_a_background_class_there_is_no_fb_iou():
    result = score(
        [np.zeros((2, 2), np.uint8)], [np.zeros((2, 2), np.uint8)], names=("sky", "road")
    )
    assert np.isnan(result.fb_iou)
    assert result.foreground_miou == result.miou


def test_folds_of_pascal_5i_are_means_of_five_classes_each():
    rng = np.random.default_rng(5)
    mask, prediction = rng.integers(0, 19, (2, 40, 40)).astype(np.uint8)
    result = score([mask], [prediction], names=VOC_CLASSES)
    pairs = list(pixels_of([mask], [prediction]))
    ious = [overlap(pairs, {c}, {c})[0] for c in range(19)]
    expected = [np.mean(ious[1:6]), np.mean(ious[6:11]), np.mean(ious[11:16]), np.mean(ious[16:19])]
    assert result.fold_mious == pytest.approx(expected)
    assert score([mask], [prediction], names=tuple("abcdefghijklmnopqrs")).fold_mious == ()


def inner(region, width):
    """What an erosion takes from a region, as Boundary IoU's authors erode: beyond is nothing."""
    return region & ~ndimage.binary_erosion(region, np.ones((3, 3)), width, border_value=0)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.9])
@pytest.mark.parametrize("size", [(24, 33), (5, 41), (1, 9)])
def test_boundary_iou_is_that_of_an_erosion_of_each_class(size, share):
    rng = np.random.default_rng(size[0])
    masks = [np.kron(rng.choice([0, 1, 2, VOID], (3, 4)), np.ones((14, 14)))[: size[0], : size[1]]]
    masks.append(masks[0][::-1, ::-1])
    masks = [mask.astype(np.uint8) for mask in masks]
    predictions = [moved(mask, 3) for mask in masks]
    result = score(masks, predictions, boundary=share)
    width = max(1, round(share * np.sqrt(size[0] ** 2 + size[1] ** 2)))
    for label in range(3):
        both = either = 0
        for mask, prediction in zip(masks, predictions, strict=True):
            ours, theirs = (inner(side == label, width) for side in (mask, prediction))
            both += (ours & theirs & (mask != VOID)).sum()
            either += ((ours | theirs) & (mask != VOID)).sum()
        assert result.boundary_iou[label] == pytest.approx(
            both / either if either else np.nan, nan_ok=True
        )
    assert np.isnan(result.boundary_iou[3])
    assert result.boundary_miou == pytest.approx(np.nanmean(result.boundary_iou))


@pytest.mark.parametrize("rows", [1, 7, 16])
def test_bands_are_the_same_however_many_rows_are_counted_at_once(monkeypatch, rows):
    masks = [np.random.default_rng(n).integers(0, 4, (40, 31), np.uint8) for n in range(2)]
    masks[1][5:30, 4:20] = VOID
    predictions = [np.kron(m[::4, ::4] % 4, np.ones((4, 4), np.uint8))[:40, :31] for m in masks]
    expected = score(masks, predictions, boundary=0.05).bands
    monkeypatch.setattr(confusion, "_BAND_ROWS", rows)
    assert (score(masks, predictions, boundary=0.05).bands == expected).all()
    assert expected[2].all()


def test_pairs_of_values_that_are_counted_in_bands_are_all_counted(monkeypatch):
    first, second = np.random.default_rng(1).integers(0, 256, (2, 31, 17), dtype=np.uint8)
    expected = np.zeros((256, 256), np.int64)
    np.add.at(expected, (first, second), 1)
    for pixels in (1, 100, 1 << 20):
        monkeypatch.setattr(value_counts, "_PIXELS_AT_ONCE", pixels)
        assert (value_counts.count_pairs(first, second).reshape(256, 256) == expected).all()


def test_masked_pixels_of_a_mask_are_void_and_those_of_a_prediction_are_refused():
    values = np.array([[0, 1, 2, 1]], np.uint8)
    masked = np.ma.masked_equal(values, 2)
    counted = evaluation.Confusion(["a", "b", "c"])
    counted.update(masked, values)
    assert counted.matrix.sum() == 3
    with pytest.raises(MaskError, match="a prediction with 1 masked pixels"):
        counted.update(values, masked)


def test_a_batch_with_an_image_that_is_refused_counts_nowhere():
    counted = evaluation.Confusion(NAMES, boundary=0.1)
    masks = np.stack([shapes(seed) for seed in range(3)])
    predictions = np.stack([moved(mask) for mask in masks])
    predictions[2, 0, 0] = len(NAMES)
    with pytest.raises(MaskError, match="a prediction with the value 4"):
        counted.update(masks, predictions)
    assert counted.images == 0
    assert not counted.matrix.any()
    assert not counted.bands.any()


@pytest.mark.parametrize("dtype", [np.float32, bool])
def test_masked_values_that_are_no_integers_are_refused_as_others_are(dtype):
    values = np.ma.array([[0, 1.9]], mask=[[False, True]], dtype=dtype)
    prediction = np.zeros((1, 2), int)
    with pytest.raises(MaskError, match=r"(?s)a mask .*expected: integers"):
        evaluation.Confusion(NAMES).update(values, prediction)
    with pytest.raises(MaskError, match=r"(?s)a prediction .*expected: integers"):
        evaluation.Confusion(NAMES).update(prediction, values)
