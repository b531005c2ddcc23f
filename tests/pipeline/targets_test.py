import numpy as np
import pytest
import tensorflow as tf

from voc_seg_tfrecord import pipeline

MASK = np.array([[0, 20, 255], [255, 3, 0]], np.uint8)[..., None]


@pytest.mark.parametrize("mask", [MASK, np.stack([MASK, MASK])])
def test_void_has_no_weight_and_all_else_the_same(mask):
    example = pipeline.sample_weights({"segmentation_mask": tf.constant(mask)})
    assert example["sample_weight"].dtype == tf.float32
    assert np.array_equal(example["sample_weight"], (mask[..., 0] != 255).astype(np.float32))
    assert np.array_equal(example["segmentation_mask"], mask)


@pytest.mark.parametrize("mask", [MASK, np.stack([MASK, MASK])])
def test_one_hot_has_a_channel_a_class_and_none_for_void(mask):
    hot = pipeline.one_hot({"segmentation_mask": tf.constant(mask)}, 21)["segmentation_mask"]
    assert hot.shape == (*mask.shape[:-1], 21)
    assert np.array_equal(hot, mask == np.arange(21))


def test_void_adds_nothing_to_losses_on_either_form():
    import keras

    logits = tf.random.stateless_normal([2, 3, 21], seed=(1, 2))
    example = pipeline.sample_weights({"segmentation_mask": tf.constant(MASK)})
    valid = MASK[..., 0] != 255
    classes = MASK[..., 0][valid].astype(np.int32)
    by_hand = tf.nn.sparse_softmax_cross_entropy_with_logits(classes, logits[valid])
    sparse = keras.losses.SparseCategoricalCrossentropy(
        from_logits=True, ignore_class=255, reduction="sum"
    )
    hot = keras.losses.CategoricalCrossentropy(from_logits=True, reduction="sum")
    total = float(tf.reduce_sum(by_hand))
    mask, weight = example["segmentation_mask"], example["sample_weight"]
    assert float(sparse(mask, logits, weight)) == pytest.approx(total, rel=1e-5)
    hot_mask = pipeline.one_hot(example, 21)["segmentation_mask"]
    assert float(hot(hot_mask, logits)) == pytest.approx(total, rel=1e-5)
