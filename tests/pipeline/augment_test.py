import keras
import numpy as np
import pytest
from support import marked
import tensorflow as tf

from voc_seg_tfrecord import VOID, pipeline

FILLED = {"fill_mode": "constant", "seed": 0}


def moved(layers, count=8):
    """Returns examples that were augmented in a dataset, as users do."""
    image, mask = marked.image_and_mask()
    example = {"image": image, "segmentation_mask": mask, "instance_mask": mask, "labels": [6, 12]}
    examples = tf.data.Dataset.from_tensors(example).repeat(count)
    return list(examples.map(lambda e: pipeline.augment(e, layers)).as_numpy_iterator())


@pytest.mark.slow
@pytest.mark.parametrize(
    "interpolation", ["bilinear", pytest.param("nearest", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(
    "make",
    [
        lambda **o: [keras.layers.RandomRotation(0.2, **FILLED, **o)],
        lambda **o: [keras.layers.RandomZoom((0.1, 0.5), **FILLED, **o)],
        lambda **o: [keras.layers.RandomTranslation(0.3, 0.3, **FILLED, **o)],
        lambda **o: [keras.layers.RandomShear(0.3, 0.3, **FILLED, **o)],
        lambda **o: [keras.layers.RandomPerspective(1.0, 0.5, seed=0, **o)],
        lambda **o: [
            keras.layers.RandomFlip("horizontal_and_vertical", seed=0),
            keras.layers.RandomRotation(0.5, **FILLED, **o),
            keras.layers.RandomZoom(0.3, **FILLED, **o),
        ],
    ],
    ids=["rotation", "zoom", "translation", "shear", "perspective", "three layers"],
)
def test_image_and_masks_move_together_and_what_is_outside_is_void(make, interpolation):
    found = moved(make(interpolation=interpolation))
    assert sum(marked.outside(e["image"], e["segmentation_mask"]) for e in found) > 0
    assert len({e["segmentation_mask"].tobytes() for e in found}) > 2, "nothing moved"
    for example in found:
        assert example["image"].dtype == np.uint8
        assert (example["instance_mask"] == example["segmentation_mask"]).all()
        assert "labels" not in example


def test_a_flip_and_reflected_pixels_keep_their_classes():
    reflected = keras.layers.RandomTranslation(0.3, 0.3, seed=0)
    for example in moved([keras.layers.RandomFlip(seed=0), reflected]):
        assert marked.outside(example["image"], example["segmentation_mask"]) == 0


@pytest.fixture(scope="module")
def filled_with_black():
    """An example that was rotated by a tenth of a turn."""
    black = keras.layers.RandomRotation((0.1, 0.1), **FILLED)
    (example,) = moved([black], count=1)
    return example


@pytest.mark.slow_but_first
@pytest.mark.parametrize("fill_value", [6.0, 117.0])
def test_the_mask_is_void_outside_whatever_the_image_is_filled_with(fill_value, filled_with_black):
    gray = keras.layers.RandomRotation((0.1, 0.1), fill_value=fill_value, **FILLED)
    (example,) = moved([gray], count=1)
    assert (example["segmentation_mask"] == filled_with_black["segmentation_mask"]).all()
    assert (example["image"][0, 0] == fill_value).all()
    assert example["segmentation_mask"][0, 0, 0] == VOID


def test_colors_change_without_the_masks():
    (example,) = moved([keras.layers.RandomInvert((1.0, 1.0), value_range=(0, 255))], count=1)
    image, mask = marked.image_and_mask()
    assert (example["segmentation_mask"] == mask).all()
    assert (example["image"] == 255 - image).all()


def test_a_layer_that_invents_mask_values_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="values in segmentation_mask that"):
        moved([keras.layers.RandomCrop(60, 90)], count=1)
