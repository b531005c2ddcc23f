"""What moves, moves together: coordinates in the pixels of everything that belongs to them."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from voc_seg_tfrecord import arrays, data_source, from_arrays, pipeline
from voc_seg_tfrecord.core.errors import ConfigError

HEIGHT, WIDTH = 44, 52


def coordinates(height=HEIGHT, width=WIDTH):
    """Returns rows and columns of pixels, uint8 `[H, W]` each, none of them 0 or 255."""
    return np.meshgrid(np.arange(height) + 1, np.arange(width) + 101, indexing="ij")


def example():
    """Everything of a pixel holds its row or its column; 0 is padding, and 255 in masks."""
    rows, columns = (part.astype(np.uint8) for part in coordinates())
    return {
        "image": np.stack([rows, columns, rows], axis=-1),
        "segmentation_mask": rows[..., None],
        "instance_mask": columns[..., None],
        "sample_weight": rows.astype(np.float32),
        "image/filename": b"a.jpg",
    }


def one_hot_example():
    classes = coordinates()[0] % 4
    weights = (classes + 1).astype(np.float32)
    image = np.repeat(classes[..., None] * 10 + 5, 3, axis=-1).astype(np.uint8)
    one_hot = np.eye(4, dtype=np.float32)[classes]
    return {"image": image, "segmentation_mask": one_hot, "sample_weight": weights}


def assert_together(moved):
    """Rows of image, mask and weight agree to the pixel, and so do columns; or all are padding."""
    rows, columns = moved["image"][..., 0], moved["image"][..., 1]
    mask, objects = moved["segmentation_mask"][..., 0], moved["instance_mask"][..., 0]
    padding = mask == 255
    assert np.array_equal(padding, objects == 255)
    assert (rows[padding] == 0).all()
    assert np.array_equal(moved["sample_weight"] == 0, padding)
    assert np.array_equal(moved["sample_weight"][~padding], mask[~padding])
    # A mean of neighbors, and one of them: at most one apart.
    assert abs(rows.astype(int) - mask)[~padding].max(initial=0) <= 1
    assert abs(columns.astype(int) - objects)[~padding].max(initial=0) <= 1


def assert_one_hot_together(moved):
    classes, weights = moved["segmentation_mask"], moved["sample_weight"]
    assert np.array_equal(classes.sum(axis=-1) == 0, weights == 0)
    assert np.array_equal((classes.argmax(axis=-1) + 1)[weights > 0], weights[weights > 0])


BY_PIPELINE = {
    "random_scaled_crop": lambda e, s: pipeline.random_scaled_crop(e, (40, 60), seed=s),
    "random_crop_or_pad": lambda e, s: pipeline.random_crop_or_pad(e, (40, 60), seed=s),
    "center_crop_or_pad": lambda e, _: pipeline.center_crop_or_pad(e, (60, 40)),
    "resize": lambda e, _: pipeline.resize(e, (31, 77)),
    "random_scale": lambda e, s: pipeline.random_scale(e, seed=s),
    "random_flip": lambda e, s: pipeline.random_flip(e, seed=s),
}
BY_ARRAYS = {
    "random_scaled_crop": lambda e, r: arrays.random_scaled_crop(e, (40, 60), r),
    "random_crop_or_pad": lambda e, r: arrays.random_crop_or_pad(e, (40, 60), r),
    "center_crop_or_pad": lambda e, _: arrays.center_crop_or_pad(e, (60, 40)),
    "random_flip": lambda e, r: arrays.random_flip(e, r),
}


@pytest.mark.parametrize("function", BY_PIPELINE.values(), ids=BY_PIPELINE)
@pytest.mark.slow
def test_functions_of_pipeline_move_weights_objects_and_one_hot_masks(function):
    for made, check in ((example(), assert_together), (one_hot_example(), assert_one_hot_together)):
        given = {name: tf.constant(value) for name, value in made.items()}

        @tf.function
        def moved(number, given=given):
            return function(given, tf.stack([number, tf.constant(3, tf.int64)]))

        for number in range(12):
            found = moved(tf.constant(number, tf.int64))
            assert found.keys() == made.keys()
            check({name: value.numpy() for name, value in found.items()})


@pytest.mark.parametrize("function", BY_ARRAYS.values(), ids=BY_ARRAYS)
def test_functions_of_arrays_move_weights_objects_and_one_hot_masks(function):
    rng = np.random.default_rng(0)
    for made, check in ((example(), assert_together), (one_hot_example(), assert_one_hot_together)):
        for _ in range(12):
            moved = function(made, rng)
            assert moved.keys() == made.keys()
            check(moved)


def test_random_layers_of_keras_move_weights_objects_and_one_hot_masks():
    import keras

    filled = {"fill_mode": "constant", "interpolation": "nearest"}
    translation = keras.layers.RandomTranslation(0.2, 0.2, seed=2, **filled)
    layers = [keras.layers.RandomFlip(seed=1), translation]
    for made, check in ((example(), assert_together), (one_hot_example(), assert_one_hot_together)):
        given = {name: tf.constant(value) for name, value in made.items()}
        for _ in range(5):
            moved = pipeline.augment(given, layers)
            assert {n: v.shape for n, v in moved.items()} == {n: v.shape for n, v in given.items()}
            check({name: value.numpy() for name, value in moved.items()})


def test_a_feature_that_may_belong_to_pixels_is_refused_by_name():
    depth = {**example(), "depth": np.zeros((HEIGHT, WIDTH), np.float32)}
    with pytest.raises(ConfigError, match=r"(?s)depth: .*sample_weight.*add it after"):
        arrays.random_flip(depth, np.random.default_rng(0))
    given = {name: tf.constant(value) for name, value in depth.items()}
    for function in (*BY_PIPELINE.values(), lambda e, _: pipeline.augment(e, [])):
        with pytest.raises(ConfigError, match="depth"):
            function(given, [0, 1])
    with pytest.raises(ConfigError, match="depth"):
        pipeline.padded_batch(tf.data.Dataset.from_tensors(given), 2)


def test_padding_of_a_batch_has_no_class_and_no_weight():
    small = {name: value[:20, :30] for name, value in one_hot_example().items()}
    both = [one_hot_example(), small]
    spec = {n: tf.TensorSpec((None, None, *v.shape[2:]), v.dtype) for n, v in small.items()}
    examples = tf.data.Dataset.from_generator(lambda: iter(both), output_signature=spec)
    for multiple in (1, 32):
        (batch,) = pipeline.padded_batch(examples, 2, multiple=multiple).as_numpy_iterator()
        assert not batch["segmentation_mask"][1, 20:].any()
        assert not batch["sample_weight"][1, 20:].any()
        assert batch["image"].shape[1] % multiple == 0
        assert batch["segmentation_mask"].shape[:3] == batch["sample_weight"].shape


@pytest.fixture(scope="module")
def placed(tmp_path_factory):
    """Images whose pixels hold their rows and columns, with the same rows in the masks."""
    sizes = [(40, 52), (31, 44), (60, 33), (44, 44)]
    images, masks = [], []
    for height, width in sizes:
        rows, columns = coordinates(height, width)
        images.append(np.stack([rows, columns, rows], axis=-1).astype(np.uint8))
        masks.append((rows % 3).astype(np.uint8))
    return from_arrays(
        images,
        masks,
        name="placed",
        class_names=["background", "a", "b"],
        data_dir=tmp_path_factory.mktemp("placed"),
    )


def assert_rows(image, mask):
    """The mask holds the row of its pixel modulo 3, or void where the image is padding."""
    padding = mask[..., 0] == 255
    assert (image[padding] == 0).all()
    assert np.array_equal(mask[..., 0][~padding], image[..., 0][~padding] % 3)


UNSCALED = {"size": 36, "scales": (1, 1)}


@pytest.mark.slow
def test_every_way_of_making_batches_keeps_pixels_of_image_and_mask_together(placed):
    ids = data_source(str(placed.data_path), "train").ids
    train = functools.partial(pipeline.training_batches, placed, epochs=9, **UNSCALED)
    batches = {
        "crops": train(batch_size=4),
        "class crops": train(batch_size=4, class_crop=1, cat_max_ratio=0.6),
        "a list": train(ids[:2], batch_size=2),
        "balanced": train(batch_size=4, balance="classes"),
        "whole images": pipeline.evaluation_batches(placed, "train", batch_size=3),
        "middles": pipeline.evaluation_batches(placed, "train", batch_size=3, size=40),
        "labeled": pipeline.labeled_unlabeled_batches(
            placed, labeled=ids[:2], batch_size=2, epochs=9, **UNSCALED
        ).map(lambda labeled, _: labeled),
    }
    for name, dataset in batches.items():
        seen = 0
        for batch in dataset.as_numpy_iterator():
            for image, mask in zip(batch["image"], batch["segmentation_mask"], strict=True):
                assert_rows(image, mask)
                seen += 1
        assert seen >= 4, name
    rng = np.random.default_rng(0)
    for example in data_source(str(placed.data_path), "train"):
        assert_rows(example["image"], example["segmentation_mask"])
        crop = arrays.random_scaled_crop(example, 36, rng, scales=(1, 1))
        assert_rows(crop["image"], crop["segmentation_mask"])
