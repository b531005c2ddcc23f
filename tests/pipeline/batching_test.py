import numpy as np
import pytest
from support.painting import assert_together, painted
import tensorflow as tf

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.errors import ConfigError

SIZES = [(1, 1), (1, 30), (70, 10), (33, 90), (64, 64)]


def dataset(sizes):
    def generate():
        yield from (painted(*size) for size in sizes)

    spec = {k: tf.TensorSpec(np.shape(v), np.asarray(v).dtype) for k, v in painted(1, 1).items()}
    spec |= {
        name: tf.TensorSpec([None, None, channels], tf.uint8)
        for name, channels in (("image", 3), ("segmentation_mask", 1), ("instance_mask", 1))
    }
    spec |= {
        "image/filename": tf.TensorSpec([], tf.string),
        "labels": tf.TensorSpec([None], tf.int64),
    }
    return tf.data.Dataset.from_generator(generate, output_signature=spec)


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


def test_labels_are_filled_up_with_what_is_no_class():
    examples = dataset(SIZES[:2]).enumerate()
    cut = examples.map(lambda n, e: {**e, "labels": e["labels"][: n + 1]})
    (batch,) = pipeline.padded_batch(cut, 2)
    assert batch["labels"].numpy().tolist() == [[1, -1], [1, 2]]


@pytest.mark.parametrize(("drop", "expected"), [(False, [2, 2, 1]), (True, [2, 2])])
def test_the_last_batch_is_smaller_or_left_out(drop, expected):
    batches = pipeline.padded_batch(dataset(SIZES), 2, drop_remainder=drop)
    assert [len(b["image"]) for b in batches] == expected


def test_a_batch_larger_than_the_dataset_holds_all_of_it():
    (batch,) = pipeline.padded_batch(dataset(SIZES), 100)
    assert len(batch["image"]) == 5


def test_nothing_makes_no_batch():
    assert not list(pipeline.padded_batch(dataset([]), 2))
    assert not list(pipeline.group_by_size(dataset([]), 2))


def test_sizes_are_grouped_without_decoding_and_nothing_is_lost():
    sizes = [(375, 500), (500, 375)] * 6 + [(333, 500)] * 3
    encoded = tf.data.Dataset.from_tensor_slices(
        {
            "image": [b"not an image at all"] * len(sizes),
            "image/height": np.int32([height for height, _ in sizes]),
            "image/width": np.int32([width for _, width in sizes]),
        }
    )
    grouped = pipeline.group_by_size(encoded, 3)
    assert grouped.cardinality() == len(sizes)
    found = [(int(e["image/height"]), int(e["image/width"])) for e in grouped]
    assert sorted(found) == sorted(sizes)
    assert all(len(set(found[n : n + 3])) == 1 for n in range(0, len(sizes), 3))


def test_groups_need_less_padding():
    sizes = [(30, 90), (90, 30)] * 8

    def pixels(examples):
        return sum(int(tf.size(b["image"])) for b in pipeline.padded_batch(examples, 4))

    grouped = pipeline.group_by_size(dataset(sizes), 4)
    assert pixels(dataset(sizes)) == 3 * pixels(grouped)


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
