import numpy as np
import tensorflow as tf

from voc_seg_tfrecord.pipeline import reading
from voc_seg_tfrecord.pipeline.decoding import decode
from voc_seg_tfrecord.pipeline.selection import select


def epochs(stream):
    return [int(epoch) for epoch, _ in stream]


def test_every_record_comes_with_the_number_of_its_epoch(sample):
    stream = reading.epoch_stream(select(sample, "train"), epochs=2, first_epoch=5)
    assert epochs(stream) == [5, 5, 5, 6, 6, 6]
    assert len(stream) == 6


def test_take_limits_each_epoch(sample):
    stream = reading.epoch_stream(select(sample, "train"), epochs=2, take=2)
    assert epochs(stream) == [0, 0, 1, 1]
    assert len(stream) == 4


def test_without_a_number_of_epochs_it_never_ends(sample):
    stream = reading.epoch_stream(select(sample, "train"), epochs=None)
    assert stream.cardinality() == tf.data.INFINITE_CARDINALITY
    assert epochs(stream.take(7)) == [0, 0, 0, 1, 1, 1, 2]


def test_a_shuffled_epoch_holds_every_record_once(sample):
    in_order = [
        r for _, (_, r) in reading.epoch_stream(select(sample, "train")).as_numpy_iterator()
    ]
    stream = reading.epoch_stream(select(sample, "train"), shuffle=8, seed=1, epochs=9)
    shuffled = [record for _, (_, record) in stream.as_numpy_iterator()]
    orders = [shuffled[start : start + 3] for start in range(0, 27, 3)]
    assert all(sorted(order) == sorted(in_order) for order in orders)
    assert any(order != in_order for order in orders)


def test_reading_gives_each_example_its_seed(sample):
    seeds = [tuple(e["seed"].numpy()) for e in reading.read(sample, "train", seed=3)]
    assert len(set(seeds)) == 3


def test_examples_read_decoded_are_those_that_are_decoded_afterwards(sample):
    afterwards = reading.read(sample, "train", seed=3).map(decode)
    at_once = reading.read(sample, "train", seed=3, decoded=True)
    assert at_once.element_spec == afterwards.element_spec
    pairs = list(zip(at_once.as_numpy_iterator(), afterwards.as_numpy_iterator(), strict=True))
    assert len(pairs) == 3
    for left, right in pairs:
        assert left.keys() == right.keys()
        assert all(np.array_equal(left[name], right[name]) for name in left)
