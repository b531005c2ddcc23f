import random

from fuzz.mutations import damaged
import numpy as np
import pytest
import tensorflow as tf

from voc_seg_tfrecord.interop import tensors

VALUES = np.random.default_rng(5).integers(0, 256, (5, 7, 3), np.uint8)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64])
@pytest.mark.parametrize("shape", [(5, 21), (5, 7, 3), (105, 1, 1)])
def test_pixels_are_those_that_tensorflow_serialised(kind, shape):
    array = VALUES.reshape(shape)
    found = tensors.pixels(tf.io.serialize_tensor(array.astype(kind)).numpy())
    assert found.dtype == np.uint8
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), np.float32),
        np.full((2, 2), 256, np.int32),
        np.full((2, 2), -1, np.int64),
        np.zeros(4, np.uint8),
        np.zeros((1, 2, 2, 1), np.uint8),
        np.zeros((0, 2), np.uint8),
    ],
    ids=["floats", "above 255", "below 0", "one axis", "four axes", "empty"],
)
def test_other_tensors_are_no_pixels(array):
    assert tensors.pixels(tf.io.serialize_tensor(array).numpy()) is None


def test_what_is_read_of_damaged_bytes_tensorflow_reads_alike():
    rng = random.Random(0)
    whole = tf.io.serialize_tensor(VALUES[:2, :3].astype(np.int32)).numpy()
    read = 0
    for _ in range(2000):
        data = damaged(rng, whole)
        if (found := tensors.pixels(data)) is None:
            continue
        read += 1
        kind = {4: tf.uint8, 3: tf.int32, 9: tf.int64}[_proto(data).dtype]
        assert np.array_equal(found, tf.io.parse_tensor(data, kind).numpy())
    assert read > 20


def _proto(data):
    from tensorflow.core.framework import tensor_pb2

    return tensor_pb2.TensorProto.FromString(data)
