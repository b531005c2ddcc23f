import subprocess
import sys

import numpy as np
import pytest
from support.painting import assert_same, assert_together, painted

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.errors import ConfigError

SIZES = [(1, 1), (1, 40), (40, 1), (31, 64), (174, 500), (500, 375)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [1, 64, 401])
def test_the_middle_is_the_one_that_the_pipeline_takes(size, target):
    import tensorflow as tf

    from voc_seg_tfrecord import pipeline

    example = painted(*size)
    tensors = {name: tf.constant(value) for name, value in example.items()}
    assert_same(
        arrays.center_crop_or_pad(example, target), pipeline.center_crop_or_pad(tensors, target)
    )


@pytest.mark.parametrize("size", SIZES)
def test_image_and_masks_stay_together(size):
    rng = np.random.default_rng(1)
    for _ in range(6):
        example = arrays.random_crop_or_pad(painted(*size), 64, rng)
        assert example["image"].shape == (64, 64, 3)
        assert example["instance_mask"].shape == (64, 64, 1)
        assert_together(example)
        assert_together(arrays.random_flip(example, rng))


def test_half_of_all_flips_flip():
    rng = np.random.default_rng(1)
    flipped = [arrays.random_flip(painted(1, 2), rng)["image"][0, 0, 1] for _ in range(200)]
    assert 70 < sum(flipped) < 130


def test_random_places_reach_every_border():
    rng = np.random.default_rng(1)
    corners = [
        arrays.random_crop_or_pad(painted(5, 4), 4, rng)["image"][0, 0, 0] for _ in range(60)
    ]
    assert set(corners) == {0, 1}


def test_the_example_that_is_given_is_not_changed():
    example = painted(9, 9)
    arrays.random_flip(arrays.center_crop_or_pad(example, 12), np.random.default_rng(1))
    assert_same(example, painted(9, 9))


def test_an_example_without_images_is_refused():
    with pytest.raises(ConfigError, match="expected: one of image"):
        arrays.center_crop_or_pad({"labels": np.array([1])}, 4)


def test_tensorflow_is_not_needed():
    code = "import sys; from voc_seg_tfrecord import arrays; print('tensorflow' in sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert result.stdout.strip() == "False"
