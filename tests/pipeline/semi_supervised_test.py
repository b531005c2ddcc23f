import pytest
from support.painting import assert_same
import tensorflow as tf

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError

LABELED = ("001", "004", "009")
ARGUMENTS = {"labeled": LABELED, "size": 24, "batch_size": 2, "ratio": 1.5, "seed": 5}


def pairs(builder, **arguments):
    return list(pipeline.labeled_unlabeled_batches(builder, **{**ARGUMENTS, **arguments}))


def ids(batches):
    return [name.decode()[:3] for b in batches for name in b["image/filename"].numpy()]


@pytest.fixture(scope="module")
def run(small):
    """A run of three epochs."""
    return pipeline.labeled_unlabeled_batches(small, epochs=3, **ARGUMENTS)


@pytest.fixture(scope="module")
def three_epochs(run):
    """The pairs of batches of the run, which is not read elsewhere."""
    return list(run)


@pytest.mark.slow
def test_labeled_and_unlabeled_examples_come_side_by_side_at_the_ratio(three_epochs):
    found = three_epochs[:3]  # of the first epoch
    assert [(len(a["image"]), len(b["image"])) for a, b in found] == [(2, 3)] * 3
    assert "segmentation_mask" in found[0][0]
    # Those of unlabeled images do not show what is in them.
    assert set(found[0][1]) == {"image", "image/filename", "image/height", "image/width"}
    labeled, unlabeled = zip(*found, strict=True)
    assert set(ids(labeled)) <= set(LABELED)
    assert len(set(ids(unlabeled))) == 9
    assert not set(ids(unlabeled)) & set(LABELED)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_pairs_and_another_one_others(small):
    first, again, other = (pairs(small, epochs=1, seed=seed) for seed in (5, 5, 6))
    assert_same_pairs(first, again)
    assert ids(b for _, b in first) != ids(b for _, b in other)


def assert_same_pairs(pairs, others):
    for pair, other in zip(pairs, others, strict=True):
        for one, two in zip(pair, other, strict=True):
            assert_same(one, two)


@pytest.mark.slow
def test_a_run_that_starts_anew_at_an_epoch_goes_on_with_both_parts(small, three_epochs):
    assert_same_pairs(three_epochs[3:], pairs(small, epochs=2, first_epoch=1))


@pytest.mark.slow
def test_a_run_that_starts_anew_goes_on_with_batches_larger_than_the_labeled_part(small):
    whole = pairs(small, epochs=3, batch_size=4)
    resumed = pairs(small, epochs=2, batch_size=4, first_epoch=1)
    assert_same_pairs(whole[len(whole) // 3 :], resumed)


@pytest.mark.slow
def test_a_dataset_that_is_iterated_again_goes_on_with_both_parts(small):
    arguments = {**ARGUMENTS, "batch_size": 1, "ratio": 4}
    again = pipeline.labeled_unlabeled_batches(small, epochs=1, **arguments)
    passes = [pair for _ in range(3) for pair in again]
    in_one_pass = list(pipeline.labeled_unlabeled_batches(small, epochs=3, **arguments))
    assert len(in_one_pass) == 6
    assert_same_pairs(passes, in_one_pass)
    # Two labeled images per pass: each of the three is seen twice in three passes.
    assert sorted(ids(labeled for labeled, _ in passes)) == sorted(LABELED * 2)


@pytest.mark.slow
def test_the_number_of_pairs_is_known_before_they_are_read(run, three_epochs):
    assert run.cardinality() == len(three_epochs) == 9


@pytest.mark.slow
def test_without_a_number_of_epochs_the_pairs_have_no_end(small):
    found = pipeline.labeled_unlabeled_batches(small, **ARGUMENTS)
    assert found.cardinality() == tf.data.INFINITE_CARDINALITY


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ratio": 0.3}, "ratio: 0.3 times 2 labeled examples"),
        ({"ratio": float("nan")}, "ratio: nan times 2 labeled examples"),
        ({"ratio": float("inf")}, "ratio: inf times 2 labeled examples"),
        ({"batch_size": 8}, "12 unlabeled examples per batch, but only 11 in all"),
        ({"labeled": ["001", "x"]}, "1 of 2 ids missing"),
        ({"labeled": [f"{n:03}" for n in range(14)]}, "unlabeled part: no examples"),
    ],
)
def test_parts_that_give_no_pairs_are_refused(small, arguments, message):
    with pytest.raises(ConfigError, match=message):
        pairs(small, epochs=1, **arguments)
