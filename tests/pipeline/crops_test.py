"""Where crops lie: on pixels of a class, and not where one class fills them."""

import functools

import numpy as np
import pytest
from support.painting import assert_together, painted
import tensorflow as tf

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError

SEEDS = [(n, 11) for n in range(60)]


def example(mask, labels):
    height, width = mask.shape
    return {
        "image": tf.zeros((height, width, 3), tf.uint8),
        "segmentation_mask": tf.constant(mask[..., None], tf.uint8),
        "labels": tf.constant(labels, tf.int64),
    }


EXAMPLE = {
    "image": tf.TensorSpec([None, None, 3], tf.uint8),
    "segmentation_mask": tf.TensorSpec([None, None, 1], tf.uint8),
    "labels": tf.TensorSpec([None], tf.int64),
}


@functools.cache  # as its graph takes longer than its crops: one for images of any size
def cutter(size, arguments):
    def cut(given, seed):
        return pipeline.random_scaled_crop(given, size, seed=seed, **dict(arguments))

    @tf.function(input_signature=[EXAMPLE, tf.TensorSpec([None, 2], tf.int64)])
    def cut_all(given, seeds):
        return tf.map_fn(lambda seed: cut(given, seed)["segmentation_mask"], seeds, tf.uint8)

    return cut_all


def crops(given, size=16, **arguments):
    arguments = {"scales": (1, 1), "flip": False, **arguments}
    cut_all = cutter(size, tuple(arguments.items()))
    return list(cut_all(given, tf.constant(SEEDS, tf.int64)).numpy())


def one_pixel(row, column, size=(90, 70)):
    mask = np.zeros(size, np.uint8)
    mask[row, column] = 3
    return mask


@pytest.mark.slow
@pytest.mark.parametrize("place", [(0, 0), (89, 69), (45, 3), (2, 69), (50, 40)])
@pytest.mark.parametrize("scale", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (1.5, 2))])
def test_a_crop_on_a_class_holds_its_pixel_wherever_it_lies(place, scale):
    found = crops(example(one_pixel(*place), [3]), class_crop=1, scales=(scale, scale))
    assert all((crop == 3).any() for crop in found)


def test_the_pixel_lies_anywhere_in_the_crop():
    found = crops(example(one_pixel(45, 35), [3]), class_crop=1)
    rows, columns, _ = np.array([np.argwhere(crop == 3)[0] for crop in found]).T
    for places in (rows, columns):
        assert min(places) <= 1
        assert max(places) >= 14
        assert len(set(places)) > 10


@pytest.mark.slow
def test_each_class_of_an_image_is_drawn_and_rare_ones_by_their_weight():
    mask = np.zeros((200, 200), np.uint8)
    mask[:50, :50], mask[150:, 150:] = 1, 2
    equal = crops(example(mask, [1, 2]), class_crop=1)
    shares = [np.mean([(crop == value).any() for crop in equal]) for value in (1, 2)]
    assert min(shares) > 0.3
    weighted = crops(example(mask, [1, 2]), class_crop=1, class_weights=(1, 1, 50))
    assert np.mean([(crop == 2).any() for crop in weighted]) > 0.9


@pytest.mark.slow
def test_a_class_of_weight_0_is_never_chosen():
    mask = np.zeros((200, 200), np.uint8)
    mask[:50, :50], mask[150:, 150:] = 1, 2
    weights = (1, 1, 0, 0)
    others = crops(example(mask, [1, 2]), class_crop=1, class_weights=weights)
    assert all((crop == 1).any() for crop in others)
    given = example(one_pixel(45, 35), [3])
    alone = crops(given, class_crop=1, class_weights=weights)
    for plain, weighted in zip(crops(given), alone, strict=True):
        assert np.array_equal(plain, weighted)


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_that_are_no_proportions_are_refused_with_their_class(weight):
    given = example(one_pixel(3, 3), [3])
    with pytest.raises(ConfigError, match=f"class_weights: {weight} for class 2"):
        pipeline.random_scaled_crop(
            given, 8, seed=(1, 2), class_crop=1, class_weights=(1, 1, weight, 1)
        )


@pytest.mark.slow
def test_every_pixel_of_a_class_is_drawn_equally_often():
    mask = np.zeros((1, 4), np.uint8)
    mask[0, [1, 3]] = 3
    found = crops(example(np.tile(mask, (3, 1)), [3]), (1, 1), class_crop=1)
    assert all((crop == 3).all() for crop in found)


def test_an_image_without_classes_or_smaller_than_the_crop_is_cropped_as_without_class_crop():
    background = example(np.zeros((40, 40), np.uint8), [])
    assert all((crop == 0).all() for crop in crops(background, class_crop=1))
    small = example(one_pixel(3, 3, (9, 9)), [3])
    for plain, placed in zip(crops(small), crops(small, class_crop=1), strict=True):
        assert np.array_equal(plain, placed)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("arguments", [{"class_crop": 1}, {"cat_max_ratio": 0.5}])
def test_image_and_masks_stay_together_wherever_the_crop_is_placed(arguments):
    given = {name: tf.constant(value) for name, value in painted(112, 174).items()}
    given["labels"] = tf.constant([5, 9], tf.int64)
    for seed in SEEDS[:8]:
        moved = pipeline.random_scaled_crop(given, 64, seed=seed, scales=(1, 1), **arguments)
        assert_together(moved)


def too_much(share, found):
    return sum(np.bincount(crop.ravel()).max() >= share * crop.size for crop in found)


@pytest.mark.slow
def test_no_class_has_more_of_a_crop_than_allowed_if_a_place_can_be_found():
    mask = np.zeros((64, 64), np.uint8)
    mask[:, 20:40] = 1
    assert too_much(0.75, crops(example(mask, [1]))) > 30
    limited = crops(example(mask, [1]), cat_max_ratio=0.75)
    assert too_much(0.75, limited) <= 3  # by chance, each of the places may have too much


@pytest.mark.slow
def test_void_is_not_counted_and_a_crop_of_void_alone_is_avoided():
    mask = np.full((64, 64), 255, np.uint8)
    mask[:, :20:2], mask[:, 1:20:2] = 1, 2
    found = crops(example(mask, [1, 2]), cat_max_ratio=0.75)
    assert sum((crop == 255).all() for crop in found) <= 3
    assert sum((crop == 255).all() for crop in crops(example(mask, [1, 2]))) > 20


@pytest.mark.slow
def test_an_image_of_one_class_ends_after_ten_places():
    found = crops(example(np.zeros((64, 64), np.uint8), []), cat_max_ratio=0.75)
    assert len(found) == len(SEEDS)


@pytest.mark.slow
def test_a_place_that_has_no_class_too_often_is_the_one_without_the_limit():
    mask = np.indices((64, 64)).sum(axis=0) % 2
    given = example(mask.astype(np.uint8), [1])
    for plain, limited in zip(crops(given), crops(given, cat_max_ratio=0.75), strict=True):
        assert np.array_equal(plain, limited)


@pytest.mark.slow
def test_the_share_in_a_large_crop_is_found_from_some_of_its_pixels():
    mask = np.zeros((700, 900), np.uint8)
    mask[:, 450:] = 1
    assert too_much(0.77, crops(example(mask, [1]), 301)[:20]) > 10
    assert too_much(0.77, crops(example(mask, [1]), 301, cat_max_ratio=0.75)[:20]) <= 2


def test_after_another_crop_the_labels_are_gone_and_it_is_said():
    given = pipeline.random_crop_or_pad(example(one_pixel(3, 3), [3]), 40, seed=(1, 2))
    with pytest.raises(ConfigError, match="without labels"):
        pipeline.random_scaled_crop(given, 8, seed=(1, 2), class_crop=0.5)
