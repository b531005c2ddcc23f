"""The Keras metric, in this process on its backend, and in a process of each backend's own."""

import importlib.util
import os

import keras
import numpy as np
import pytest
from support.python import run_python

from voc_seg_tfrecord import VOID, evaluation
from voc_seg_tfrecord.core.errors import ConfigError

CLASSES = 5
DIGITS = {"rel": 1e-6}  # of float32
BACKEND = keras.backend.backend()
ALONE = "KERAS_BACKEND" in os.environ  # as in a process of a backend's own

if ALONE and BACKEND == "tensorflow":
    import tensorflow as tf

    # Only before TensorFlow computes anything.
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


def made(count, seed=0):
    """Returns images whose first channel is what the model predicts, and masks with void."""
    random = np.random.default_rng(seed)
    masks = random.choice([0, 1, 2, 3, VOID], (count, 12, 15, 1)).astype(np.uint8)
    predictions = np.where(random.random(masks.shape) < 0.7, masks % 3, 1)
    return np.repeat(predictions, 3, axis=-1).astype(np.uint8), masks


def expected(images, masks):
    counted = evaluation.Confusion([str(n) for n in range(CLASSES)])
    counted.update(masks, images[..., :1])
    return pytest.approx(counted.result().miou, **DIGITS)


def compiled():
    """Returns a model that predicts the first channel, and whose training changes nothing."""
    inputs = keras.Input((None, None, 3))
    scores = keras.ops.one_hot(keras.ops.cast(inputs[..., 0], "int32"), CLASSES)
    zeros = keras.layers.Conv2D(CLASSES, 1, kernel_initializer="zeros")(inputs)
    model = keras.Model(inputs, scores + zeros)
    metrics = [evaluation.keras_metric(CLASSES)]
    model.compile(keras.optimizers.SGD(0.0), "mean_squared_error", metrics=metrics)
    return model


@pytest.mark.slow
def test_fit_and_evaluate_return_the_number_of_confusion_in_every_epoch():
    images, masks = made(6)
    others = made(3, seed=1)
    model = compiled()
    found = model.fit(
        images, masks, batch_size=3, epochs=2, validation_data=others, verbose=0
    ).history
    assert found["miou"] == [expected(images, masks)] * 2
    assert found["val_miou"] == [expected(*others)] * 2
    for _ in range(2):
        evaluated = model.evaluate(*others, batch_size=3, verbose=0, return_dict=True)
        assert evaluated["miou"] == expected(*others)


def test_each_batch_is_added_and_reset_state_forgets_them():
    images, masks = made(6)
    metric = evaluation.keras_metric(CLASSES)
    for _ in range(2):
        metric.update_state(masks[:4], images[:4, ..., :1])
        metric.update_state(masks[4:], images[4:, ..., 0])
        assert float(metric.result()) == expected(images, masks)
        metric.reset_state()
        assert np.isnan(float(metric.result()))


@pytest.mark.slow
def test_a_count_in_one_batch_may_exceed_what_float32_holds():
    masks = np.zeros((1, 4097, 4097), np.uint8)
    masks[0, 0, :3] = 1
    metric = evaluation.keras_metric(2)
    metric.update_state(masks, np.zeros_like(masks))
    matrix = np.array([[masks.size - 3, 0], [3, 0]])
    assert float(metric.result()) == pytest.approx(
        evaluation.Result(("a", "b"), matrix).miou, **DIGITS
    )


def test_counts_beyond_two_to_the_31_do_not_wrap():
    images, masks = made(6)
    metric = evaluation.keras_metric(CLASSES)
    counted = evaluation.Confusion([str(n) for n in range(CLASSES)])
    for _ in range(40):  # doubled 40 times: up to 10 ** 14 pixels
        metric.update_state(masks, images[..., 0])
        counted.update(masks, images[..., 0])
        counted.merge(counted)
        metric.total_cm.assign(2 * metric.total_cm)
    assert counted.matrix.max() > 2**31 * 1000
    assert float(metric.result()) == pytest.approx(counted.result().miou, **DIGITS)


@pytest.mark.parametrize(
    ("classes", "wrong"), [(3, np.array([[[0, 7]]])), (2, np.array([[[0.2, 0.9]]], np.float32))]
)
def test_a_prediction_that_is_no_class_or_a_probability_makes_it_nan(classes, wrong):
    metric = evaluation.keras_metric(classes)
    masks = np.array([[[0, 1]]])
    metric.update_state(masks, wrong)
    assert np.isnan(float(metric.result()))
    metric.reset_state()
    metric.update_state(masks, masks.astype(wrong.dtype))
    assert float(metric.result()) == pytest.approx(1, **DIGITS)


@pytest.mark.parametrize("channel", [0, 1, 2, slice(None)])
def test_scores_that_are_nan_make_it_nan(channel):
    metric = evaluation.keras_metric(3)
    masks = np.zeros((1, 4, 4), np.uint8)
    scores = np.zeros((1, 4, 4, 3), np.float32)
    scores[..., 0] = 1
    metric.update_state(masks, scores)
    assert float(metric.result()) == pytest.approx(1, **DIGITS)
    scores[0, 2, 3, channel] = np.nan
    metric.update_state(masks, scores)
    assert np.isnan(float(metric.result()))


@pytest.mark.parametrize(
    ("scores_of_a_pixel", "is_class"),
    [
        ((-np.inf, 2.0, -np.inf), True),  # classes that cannot be there
        ((-np.inf, -np.inf, -np.inf), False),
        ((np.inf, np.inf, np.inf), False),
        ((np.inf, 0.0, 0.0), False),
        ((np.nan, np.inf, 0.0), False),
    ],
)
def test_a_pixel_without_a_finite_highest_score_makes_it_nan(scores_of_a_pixel, is_class):
    masks = np.ones((1, 4, 4, 1), np.uint8)
    scores = np.zeros((1, 4, 4, 3), np.float32)
    scores[..., 1] = 1
    scores[0, 2, 3] = scores_of_a_pixel
    metric = evaluation.keras_metric(3)
    metric.update_state(masks, scores)
    assert np.isnan(float(metric.result())) == (not is_class)
    if is_class:
        assert float(metric.result()) == pytest.approx(1, **DIGITS)


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


LOADING = """
import sys
import keras
from voc_seg_tfrecord.evaluation import keras_metric
print(keras.models.load_model(sys.argv[1]).compiled)
"""


@pytest.mark.slow
@pytest.mark.skipif(ALONE, reason="it needs no backend of its own")
def test_a_saved_network_is_loaded_after_the_metric_was_imported(tmp_path):
    path = tmp_path / "network.keras"
    compiled().save(path)
    assert run_python("-c", LOADING, path, KERAS_BACKEND="numpy").split() == ["True"]


@pytest.mark.skipif(BACKEND != "jax", reason="the others are traced above")
def test_the_metric_can_be_traced_by_jax():
    import jax

    images, masks = made(6)
    metric = evaluation.keras_metric(CLASSES)
    state = [v.value for v in metric.variables]
    state = jax.jit(metric.stateless_update_state)(state, masks, images[..., 0])
    traced = jax.jit(metric.stateless_result)(state)
    assert float(traced) == expected(images, masks)


@pytest.mark.skipif(not ALONE or BACKEND != "tensorflow", reason="it needs TensorFlow alone")
def test_mirrored_strategy_gives_the_same_number():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    images, masks = made(8)
    with strategy.scope():
        model = compiled()
    for _ in range(2):
        found = model.evaluate(images, masks, batch_size=4, verbose=0, return_dict=True)
        assert found["miou"] == expected(images, masks)
    found = model.fit(images, masks, batch_size=4, epochs=2, verbose=0).history["miou"]
    assert found == [expected(images, masks)] * 2


@pytest.mark.slow
@pytest.mark.skipif(ALONE, reason="this is the process")
@pytest.mark.parametrize("backend", ["tensorflow", "jax", "torch"])
def test_the_metric_counts_exactly_on_every_backend(backend):
    if importlib.util.find_spec(backend) is None:
        pytest.skip(f"{backend} is not installed")
    words = ("pytest", "-q", "-p", "no:cacheprovider", __file__)
    run_python("-m", *words, KERAS_BACKEND=backend)
