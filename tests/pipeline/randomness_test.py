import numpy as np
import pytest
import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.pipeline import randomness


def seed_of(name, **arguments):
    return tuple(randomness.example_seed({"image/filename": name}, **arguments).numpy().tolist())


def test_a_seed_depends_on_name_seed_and_epoch_and_on_nothing_else():
    seeds = {seed_of(n, seed=s, epoch=e) for n in "ab" for s in (0, 1) for e in (0, 1)}
    assert len(seeds) == 8
    assert seed_of("a", seed=1, epoch=1) in seeds


def test_the_last_epochs_of_a_seed_do_not_meet_the_next_seed():
    assert seed_of("a", seed=0, epoch=2**32 - 1) != seed_of("a", seed=1)


def test_an_example_without_a_file_name_is_refused():
    with pytest.raises(ConfigError, match="image/filename among them"):
        randomness.example_seed({"image": 1}, seed=0)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ConfigError, match=f"seed: {seed}"):
        seed_of("a", seed=seed)


def test_numbers_of_one_purpose_say_nothing_about_those_of_another():
    seeds = [tf.constant([n, 0], tf.int64) for n in range(300)]
    drawn = [[float(randomness.uniform(s, p, 1)[0]) for s in seeds] for p in ("flip", "place")]
    assert np.min(drawn) >= 0
    assert np.max(drawn) < 1
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.2


@pytest.mark.parametrize(("fraction", "drawn"), [(0.0, 0), (0.24, 0), (0.26, 1), (0.9999999, 3)])
def test_a_fraction_becomes_one_of_the_numbers_up_to_the_largest(fraction, drawn):
    assert int(randomness.up_to(tf.constant(fraction), tf.constant(3))) == drawn
