"""`read`, `training_batches` and `evaluation_batches` on a built dataset."""

import inspect

import numpy as np
import pytest
from support.painting import assert_same, assert_together, dataset, painted
from support.runs import assert_goes_on
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError

COUNT = 14


def batches(builder, **arguments):
    return list(pipeline.training_batches(builder, **{**TRAINING, **arguments}))


def filenames(dataset):
    return [example["image/filename"] for example in dataset.as_numpy_iterator()]


TRAINING = {"size": 24, "batch_size": 4, "seed": 3, "epochs": 2}


@pytest.fixture(scope="module")
def two_epochs(small):
    """Six batches."""
    return batches(small)


@pytest.fixture(scope="module")
def decoded(small):
    """The examples as TFDS gives them, in the order of the records."""
    return list(small.as_dataset(split="train").as_numpy_iterator())


@pytest.fixture(scope="module")
def names(decoded):
    """The file names in the order of the records."""
    return [example["image/filename"] for example in decoded]


@pytest.mark.slow
def test_another_seed_gives_other_batches(small, two_epochs):
    others = batches(small, seed=TRAINING["seed"] + 1, epochs=1)
    assert not any(
        np.array_equal(one["image"], other["image"])
        for one, other in zip(two_epochs[:3], others, strict=True)
    )


@pytest.mark.slow
def test_a_run_that_starts_anew_at_an_epoch_goes_on_as_if_it_had_not_stopped(small, two_epochs):
    rest = batches(small, epochs=1, first_epoch=1)
    for one, other in zip(two_epochs[3:], rest, strict=True):
        assert_same(one, other)


@pytest.mark.slow
def test_a_run_goes_on_from_a_saved_iterator(small, tmp_path):
    assert_goes_on(pipeline.training_batches(small, **TRAINING), tmp_path)


def by_name_and_epoch(batches, examples_per_epoch):
    """Returns each example of batches, by its file name and the number of its epoch."""
    examples = [example for batch in batches for example in singles(batch)]
    return {
        (example["image/filename"], number // examples_per_epoch): example
        for number, example in enumerate(examples)
    }


@pytest.mark.slow
def test_an_example_is_moved_the_same_way_whatever_comes_before_it(small, two_epochs):
    shuffled = by_name_and_epoch(two_epochs, 12)  # two of 14 do not fill a batch
    in_order = by_name_and_epoch(batches(small, batch_size=1, shuffle=0), COUNT)
    assert len(shuffled) == 24
    assert shuffled.keys() < in_order.keys()
    assert list(shuffled) != [key for key in in_order if key in shuffled]
    for key, example in shuffled.items():
        assert_same(example, in_order[key])


@pytest.mark.slow
def test_batches_are_full_and_keep_to_their_epoch(two_epochs):
    assert [b["image"].shape for b in two_epochs] == [(4, 24, 24, 3)] * 6
    for epoch in (two_epochs[:3], two_epochs[3:]):
        names = [name for b in epoch for name in b["image/filename"].numpy()]
        assert len(set(names)) == 12


@pytest.mark.slow
def test_training_never_ends_unless_told(small):
    endless = pipeline.training_batches(small, size=24, batch_size=4)
    assert endless.cardinality() == tf.data.INFINITE_CARDINALITY
    assert len(list(endless.take(9))) == 9
    assert pipeline.training_batches(small, **TRAINING).cardinality() == 6


@pytest.mark.slow
def test_of_a_split_smaller_than_a_batch_batches_reach_over_epochs(small):
    (batch,) = pipeline.training_batches(small, size=24, batch_size=20, epochs=2)
    assert batch["image"].shape == (20, 24, 24, 3)
    names, times = np.unique(batch["image/filename"], return_counts=True)
    assert len(names) == COUNT
    assert max(times) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda b: pipeline.training_batches(b, "train[:0]", size=4, batch_size=1),
        lambda b: pipeline.evaluation_batches(b, "train[:0]", batch_size=1),
        lambda b: pipeline.read(b, "train[:0]"),
    ],
)
def test_an_empty_split_is_an_error_and_not_an_endless_loop(small, call):
    with pytest.raises(ConfigError, match=r"split 'train\[:0\]': no examples"):
        call(small)


@pytest.mark.slow
def test_parts_and_sums_of_splits_are_those_of_tfds(sample):
    only = tfds.decode.PartialDecoding({"image/filename": True})
    for split in ("train+validation+test", "train[1:]+validation[:50%]"):
        expected = filenames(sample.as_dataset(split=split, decoders=only))
        read = pipeline.read(sample, split, features=["image/filename"])
        assert filenames(read) == expected


def test_a_feature_that_is_not_there_is_named(small):
    with pytest.raises(
        ConfigError, match=r"no feature instance_mask.*\n  expected: some of image,"
    ):
        pipeline.read(small, "train", features=["image", "instance_mask"])


def test_reading_leaves_images_encoded_and_the_order_as_it_is(small, names):
    dataset = pipeline.read(small, "train")
    assert dataset.element_spec["image"].dtype == tf.string
    assert dataset.cardinality() == COUNT
    assert filenames(dataset) == names


@pytest.mark.slow_but_first
@pytest.mark.parametrize("size", [None, 24, (7, 50)])
def test_evaluation_sees_every_example_once_in_the_records_order(small, names, size):
    found = list(pipeline.evaluation_batches(small, "train", batch_size=4, size=size))
    assert [len(b["image"]) for b in found] == [4, 4, 4, 2]
    assert [name for b in found for name in b["image/filename"].numpy()] == names
    assert [i + b".jpg" for b in found for i in b["id"].numpy()] == names


@pytest.mark.parametrize("arguments", [{"multiple": 0}, {"multiple": 16, "size": (32, 24)}])
def test_a_multiple_that_the_batches_would_not_have_is_refused(small, arguments):
    with pytest.raises(ConfigError, match="multiple: "):
        pipeline.evaluation_batches(small, "train", batch_size=1, **arguments)


@pytest.mark.parametrize("size", [0, (0, 24), -1, 2.5])
def test_a_size_that_is_none_is_refused(small, size):
    with pytest.raises(ConfigError, match="size: "):
        pipeline.evaluation_batches(small, "train", batch_size=1, size=size)


@pytest.mark.slow
def test_evaluation_of_a_size_needs_no_sizes_among_the_features(small):
    features = ["image", "segmentation_mask"]
    found = pipeline.evaluation_batches(small, "train", batch_size=14, size=24, features=features)
    (batch,) = found
    assert set(batch) == {"image", "segmentation_mask", "image/filename", "id"}
    (usual,) = pipeline.evaluation_batches(small, "train", batch_size=14, size=24)
    assert np.array_equal(batch["segmentation_mask"], usual["segmentation_mask"])


def test_labels_of_a_crop_are_refused_and_those_of_complete_images_are_not(small):
    features = ["image", "labels", "image/height", "image/width"]
    arguments = {"batch_size": 4, "features": features}
    with pytest.raises(ConfigError, match="features: labels, which describe the complete image"):
        pipeline.evaluation_batches(small, "train", size=24, **arguments)
    assert "labels" in next(iter(pipeline.evaluation_batches(small, "train", **arguments)))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("multiple", [32, 1])  # sides that a network can halve, and any
def test_evaluation_in_native_size_keeps_all_pixels_and_pads_with_void(small, decoded, multiple):
    rest = iter(decoded)
    for batch in pipeline.evaluation_batches(small, "train", batch_size=4, multiple=multiple):
        sizes = np.stack([batch["image/height"], batch["image/width"]], axis=1)
        wanted = -(-sizes.max(axis=0) // multiple) * multiple
        assert batch["image"].shape[1:3] == wanted.tolist()
        for n, (height, width) in enumerate(sizes):
            example = next(rest)
            mask, image = batch["segmentation_mask"][n].numpy(), batch["image"][n].numpy()
            assert np.array_equal(mask[:height, :width], example["segmentation_mask"])
            assert np.array_equal(image[:height, :width], example["image"])
            assert (mask[height:] == 255).all()
            assert (mask[:, width:] == 255).all()
            assert not image[height:].any()
            assert not image[:, width:].any()


def test_padding_never_becomes_background(small, decoded):
    background = {e["image/filename"]: (e["segmentation_mask"] == 0).sum() for e in decoded}
    # Both larger than every image, so that nothing is cropped and every pixel is counted.
    for batch in pipeline.evaluation_batches(small, "train", batch_size=5, size=(41, 60)):
        for name, mask in zip(
            batch["image/filename"].numpy(), batch["segmentation_mask"].numpy(), strict=True
        ):
            assert (mask == 0).sum() == background[name]


def test_keras_layers_after_it_keep_image_and_mask_aligned():
    import keras

    example = {k: tf.constant(v) for k, v in painted(40, 60).items()}
    batch = {
        name: tf.stack([pipeline.center_crop_or_pad(example, 48)[name]] * 6)
        for name in ("image", "segmentation_mask", "instance_mask")
    }
    layer = keras.layers.RandomFlip("horizontal_and_vertical", seed=1)
    names = ("segmentation_mask", "instance_mask")
    stacked = tf.concat([batch["image"], *(batch[name] for name in names)], axis=-1)
    flipped = tf.cast(layer(stacked, training=True), tf.uint8)
    assert not np.array_equal(flipped, stacked)
    for image in flipped:
        assert_together(
            {
                "image": image[..., :3],
                "segmentation_mask": image[..., 3:4],
                "instance_mask": image[..., 4:],
            }
        )


def test_keras_layers_that_know_masks_can_be_given_them():
    import keras

    example = {k: tf.constant(v) for k, v in painted(40, 60).items()}
    padded = pipeline.center_crop_or_pad(example, 64)
    layer = keras.layers.RandomCrop(32, 32, seed=1)
    given = {
        "images": padded["image"][None],
        "segmentation_masks": padded["segmentation_mask"][None],
    }
    for _ in range(4):
        cropped = layer(given, training=True)
        image, mask = (np.asarray(cropped[k])[0] for k in ("images", "segmentation_masks"))
        inside = image[..., 2] == 1
        assert (mask[..., 0][inside] == image[..., 0][inside]).all()
        assert (mask[..., 0][~inside] == 255).all()


SIZES = [(1, 1), (1, 30), (70, 10), (33, 90), (64, 64)]


def singles(batch):
    for n in range(len(batch["image"])):
        yield {name: batch[name][n].numpy() for name in batch}


@pytest.mark.parametrize("multiple", [1, 32])
def test_images_of_any_size_batch_with_void_around_them_and_their_true_sizes(multiple):
    (batch,) = pipeline.padded_batch(dataset(SIZES), 8, multiple=multiple)
    assert batch["image"].shape == ((5, 70, 90, 3) if multiple == 1 else (5, 96, 96, 3))
    for example, size in zip(singles(batch), SIZES, strict=True):
        assert_together(example)
        height, width = example["image/height"], example["image/width"]
        assert (height, width) == size
        for name in ("image", "segmentation_mask", "instance_mask"):
            assert np.array_equal(example[name][:height, :width], painted(*size)[name])


def test_masks_without_an_axis_of_channels_are_refused_with_what_to_do():
    def without_channels(example):
        return {**example, "segmentation_mask": example["segmentation_mask"][..., 0]}

    with pytest.raises(ConfigError, match=r"(?s)rank 2.*\[\.\.\., tf\.newaxis\]"):
        pipeline.padded_batch(dataset([(2, 2), (1, 1)]).map(without_channels), 2)


def test_labels_are_filled_up_with_what_is_no_class():
    examples = dataset(SIZES[:2]).enumerate()
    cut = examples.map(lambda n, e: {**e, "labels": e["labels"][: n + 1]})
    (batch,) = pipeline.padded_batch(cut, 2)
    assert batch["labels"].numpy().tolist() == [[1, -1], [1, 2]]


@pytest.mark.parametrize(
    ("sizes", "batch_size", "drop", "expected"),
    [
        (SIZES, 2, False, [2, 2, 1]),
        (SIZES, 2, True, [2, 2]),
        (SIZES, 100, False, [5]),
        ([], 2, False, []),
    ],
)
def test_the_last_batch_is_smaller_or_left_out(sizes, batch_size, drop, expected):
    batches = pipeline.padded_batch(dataset(sizes), batch_size, drop_remainder=drop)
    assert [len(b["image"]) for b in batches] == expected


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"image": "bytes"}, r"(?s)image not decoded.*pipeline\.decode"),
        ({"objects": {"label": [1]}}, "(?s)objects.*drop"),
    ],
)
def test_what_cannot_be_batched_is_named(changed, words):
    examples = dataset(SIZES).map(lambda example: {**example, **changed})
    with pytest.raises(ConfigError, match=words):
        pipeline.padded_batch(examples, 2)


def test_the_seed_is_0_where_nobody_says_one():
    functions = [pipeline.training_batches, pipeline.labeled_unlabeled_batches]
    assert {inspect.signature(f).parameters["seed"].default for f in functions} == {0}
