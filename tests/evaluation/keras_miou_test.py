import keras
import numpy as np
import pytest
from support.scoring import moved, shapes

from voc_seg_tfrecord import VOID, evaluation, pipeline
from voc_seg_tfrecord.base.errors import ConfigError

CLASSES = 21


def confusion(pairs):
    counted = evaluation.Confusion([str(n) for n in range(CLASSES)])
    for mask, prediction in pairs:
        counted.update(mask, prediction)
    return counted.result()


@pytest.mark.parametrize("scores", [False, True])
def test_the_metric_equals_the_count_to_the_last_digit(scores):
    metric = evaluation.keras_metric(CLASSES)
    masks = np.stack([shapes(s) for s in range(5)])
    masks[0, :2] = 20
    predictions = np.stack([moved(mask) for mask in masks])
    given = np.eye(CLASSES, dtype=np.float32)[predictions] if scores else predictions
    metric.update_state(masks[:3, ..., None], given[:3])
    metric.update_state(masks[3:], given[3:])
    assert float(metric.result()) == confusion([(masks, predictions)]).miou


def test_it_is_the_same_inside_a_compiled_model_on_padded_batches(sample):
    batches = pipeline.evaluation_batches(sample, "train", batch_size=2)
    inputs = keras.Input((None, None, 3), dtype="uint8")
    guess = keras.ops.one_hot(keras.ops.cast(inputs[..., 0], "int32") // 16, CLASSES)
    model = keras.Model(inputs, guess)
    model.compile(
        loss=lambda _, scores: keras.ops.mean(scores), metrics=[evaluation.keras_metric(CLASSES)]
    )
    pairs = [(b["image"].numpy(), b["segmentation_mask"].numpy()) for b in batches]
    assert any((m[-1] == VOID).all() for _, masks in pairs for m in masks), "nothing is padded"
    found = model.evaluate(
        batches.map(lambda b: (b["image"], b["segmentation_mask"])), return_dict=True, verbose=0
    )
    expected = confusion((mask, image[..., :1] // 16) for image, mask in pairs)
    assert found["miou"] == expected.miou


def test_a_prediction_that_is_no_class_makes_it_nan():
    metric = evaluation.keras_metric(3)
    metric.update_state(np.array([[[0, 1]]]), np.array([[[0, 7]]]))
    assert np.isnan(float(metric.result()))
    metric.reset_state()
    metric.update_state(np.array([[[0, 1]]]), np.array([[[0, 1]]]))
    assert float(metric.result()) == 1


def test_a_probability_is_no_class_index():
    metric = evaluation.keras_metric(2)
    metric.update_state(np.array([[[0, 1]]]), np.array([[[0.2, 0.9]]], np.float32))
    assert np.isnan(float(metric.result()))
    metric.reset_state()
    metric.update_state(np.array([[[0, 1]]]), np.array([[[0, 1]]], np.float32))
    assert float(metric.result()) == 1


@pytest.mark.parametrize(
    ("masks", "predictions"),
    [
        ((2, 4, 6), (2, 6, 4)),
        ((2, 4, 6, 1), (2, 6, 4, 3)),
        ((2, 4, 6), (2, 4, 6, 4)),
        ((2, 4, 6), (1, 4, 6)),
        ((4, 6, 1), (4, 6, 3)),
        ((2, 4, 6, 3), (2, 4, 6, 3)),
    ],
)
def test_shapes_that_differ_are_refused(masks, predictions):
    with pytest.raises(ConfigError, match="miou: masks"):
        evaluation.keras_metric(3).update_state(np.zeros(masks, int), np.zeros(predictions))


def test_weights_are_refused_and_not_ignored():
    pixels = np.zeros((1, 2, 2), int)
    with pytest.raises(ConfigError, match="weighted_metrics"):
        evaluation.keras_metric(3).update_state(pixels, pixels, np.ones((1, 2, 2)))


def test_it_can_be_saved_and_made_again():
    metric = evaluation.keras_metric(5, name="voc")
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
    assert (again.num_classes, again.name) == (5, "voc")
