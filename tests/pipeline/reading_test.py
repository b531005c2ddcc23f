import collections

import numpy as np
import pytest
from support.painting import assert_same
from support.runs import assert_goes_on, digest, digests_elsewhere

import voc_seg_tfrecord
from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.pipeline.selection import select
from voc_seg_tfrecord.pipeline.streams import balanced, epoch_stream, read
from voc_seg_tfrecord.pipeline.window import decode
from voc_seg_tfrecord.reading.epoch_order import class_factors


@pytest.mark.parametrize(
    ("said", "expected"),
    [({"first_epoch": 5}, [5, 5, 5, 6, 6, 6]), ({"per_batch": 2}, [0, 0, 1, 1])],
)
def test_every_record_has_the_number_of_its_epoch_up_to_the_last_full_batch(sample, said, expected):
    stream = epoch_stream(select(sample, "train"), epochs=2, **said)
    assert [int(epoch) for epoch, _ in stream.draws] == expected
    assert len(stream.draws) == len(expected)


@pytest.mark.slow
def test_examples_read_decoded_are_those_that_are_decoded_afterwards(sample):
    afterwards = read(sample, "train", seed=3).map(decode)
    at_once = read(sample, "train", seed=3, decoded=True)
    assert at_once.element_spec == afterwards.element_spec
    pairs = list(zip(at_once.as_numpy_iterator(), afterwards.as_numpy_iterator(), strict=True))
    assert len(pairs) == 3
    for left, right in pairs:
        assert left.keys() == right.keys()
        assert all(np.array_equal(left[name], right[name]) for name in left)


TRAINING = {"size": 24, "batch_size": 50, "seed": 0, "epochs": 4, "scales": (1, 1)}
BALANCED = {"balance": "classes", "class_crop": 0.5, "cat_max_ratio": 0.75}

CLASSES = ("background", "common", "rare")
COUNT, HEIGHT, WIDTH = 200, 40, 56
RARE = (17, 130)  # the images that have the rare class


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """200 images: `common` fills a third of each, `rare` has 4 x 4 pixels of two of them."""
    images = np.random.default_rng(0).integers(0, 256, (COUNT, HEIGHT, WIDTH, 3), np.uint8)
    masks = np.zeros((COUNT, HEIGHT, WIDTH), np.uint8)
    masks[:, :, :19] = 1
    masks[RARE, 30:34, 48:52] = 2
    data_dir = tmp_path_factory.mktemp("rare")
    return voc_seg_tfrecord.from_arrays(
        images, masks, name="rare", class_names=CLASSES, data_dir=data_dir
    )


def crops(builder, **arguments):
    """Returns each crop of a run, by the name of its image and how often it came before."""
    found, times = {}, collections.Counter()
    for batch in pipeline.training_batches(builder, **{**TRAINING, **arguments}):
        arrays = {key: value.numpy() for key, value in batch.items()}
        for n, name in enumerate(arrays["image/filename"]):
            found[name, times[name]] = {key: values[n] for key, values in arrays.items()}
            times[name] += 1
    return found


def seen(found, value):
    return sum((crop["segmentation_mask"] == value).any() for crop in found.values())


@pytest.mark.slow
def test_a_class_on_1_percent_of_the_images_is_seen_far_more_often(rare):
    counts = {
        "plain": seen(crops(rare), 2),
        "balance": seen(crops(rare, balance="classes"), 2),
        "all": seen(crops(rare, **BALANCED), 2),
    }
    # Of 800 crops 8 are of the two images, with balance 73: each has 10 of 218 shares. A crop
    # in any place shows the class in 14 of 100 cases.
    assert counts == {"plain": 4, "balance": 12, "all": 35}


@pytest.mark.slow
def test_epochs_keep_their_length_and_common_classes_stay_common(rare):
    found = crops(rare, balance="classes", epochs=2)
    assert len(found) == 2 * COUNT
    assert seen(found, 1) > seen(found, 2)
    assert pipeline.training_batches(rare, size=8, batch_size=7, epochs=2, balance="classes"
                                     ).cardinality() == 2 * (COUNT // 7)  # fmt: skip


@pytest.mark.slow
def test_the_copies_of_an_image_in_an_epoch_are_cropped_in_different_places(rare):
    found = crops(rare, balance="classes", epochs=1, scales=(0.5, 2), step=0)
    most, times = collections.Counter(name for name, _ in found).most_common(1)[0]
    assert times >= 9
    masks = {found[most, number]["image"].tobytes() for number in range(times)}
    assert len(masks) == times


@pytest.mark.slow
def test_the_first_copy_of_an_image_is_the_one_of_the_plain_recipe(rare):
    plain, balanced_ = (crops(rare, epochs=1, shuffle=s, **a)
                        for s, a in ((0, {}), (0, {"balance": "classes"})))  # fmt: skip
    both = plain.keys() & balanced_.keys()
    assert len(both) > COUNT // 2
    for key in both:
        assert_same(plain[key], balanced_[key])


@pytest.mark.slow
def test_crops_on_classes_do_not_depend_on_order_or_batch(rare):
    arguments = {"epochs": 1, "class_crop": 0.7, "cat_max_ratio": 0.6}
    one, other = crops(rare, **arguments), crops(rare, shuffle=0, batch_size=8, **arguments)
    assert list(one) != list(other)
    for key in one:
        assert_same(one[key], other[key])


@pytest.mark.slow
def test_the_same_seed_gives_the_same_batches_in_another_process_with_one_thread(small, rare):
    plain = {"size": 24, "batch_size": 4, "seed": 3, "epochs": 2}
    runs = [(small, plain), (rare, {**TRAINING, **BALANCED, "epochs": 1})]
    here = [digest(pipeline.training_batches(builder, **said)) for builder, said in runs]
    assert digests_elsewhere(runs) == here


@pytest.mark.slow
def test_a_balanced_run_that_starts_anew_goes_on_as_if_it_had_not_stopped(rare):
    arguments = {**TRAINING, **BALANCED}
    whole = list(pipeline.training_batches(rare, **{**arguments, "epochs": 2}))
    rest = list(pipeline.training_batches(rare, **{**arguments, "epochs": 1, "first_epoch": 1}))
    for one, other in zip(whole[4:], rest, strict=True):
        assert_same(one, other)


@pytest.mark.slow
def test_a_balanced_run_goes_on_from_a_saved_iterator(rare, tmp_path):
    dataset = pipeline.training_batches(rare, **{**TRAINING, **BALANCED, "epochs": 1})
    assert_goes_on(dataset, tmp_path)


def test_every_image_is_drawn_as_often_as_expected_rounded_down_or_up(rare):
    drawn = balanced(rare, select(rare, "train"), "classes", 1)
    expected = np.diff(drawn.cumulative_copies, prepend=0)[drawn.rank_by_filename]
    totals = np.zeros(COUNT)
    for epoch in range(400):
        copies = drawn.copies(np.random.default_rng([3, epoch]))
        assert copies.sum() == COUNT
        assert (np.abs(copies - expected) < 1).all()
        totals += copies
    assert np.allclose(totals / 400, expected, atol=0.1)


def test_the_factors_are_those_of_repeat_factor_sampling():
    present = np.zeros((100, 4), bool)
    present[:, 0] = present[:25, 1] = present[:1, 2] = True
    assert class_factors(present, 1).tolist() == [1, 2, 10, 1]
    assert class_factors(present, 0.04).tolist() == [1, 1, 2, 1]


@pytest.mark.slow
def test_parts_of_a_split_and_ids_are_balanced_by_their_own_images(rare):
    names = [e["image/filename"].decode() for e in pipeline.read(rare, "train").as_numpy_iterator()]
    ids = [name.removesuffix(".png") for name in names[:40]]
    for split, count in (("train[:10%]", 20), (ids, 40)):
        found = list(pipeline.read(rare, split, balance="classes"))
        assert len(found) == count


@pytest.mark.slow
def test_an_own_recipe_reads_balanced_examples_each_copy_with_its_seed(rare):
    found = list(pipeline.read(rare, "train", balance="classes", features=["labels"]))
    assert len({tuple(example["seed"].numpy()) for example in found}) == COUNT
    assert sum(2 in example["labels"].numpy() for example in found) >= 18
    assert CLASSES[2] == "rare"


def test_a_dataset_without_labels_cannot_be_balanced(tmp_path):
    import voc_seg_tfrecord

    builder = voc_seg_tfrecord.from_arrays(
        [np.zeros((4, 4, 3), np.uint8)], labels=[0], name="l", class_names=["a"], data_dir=tmp_path
    )
    with pytest.raises(ConfigError, match="expected: labels among them"):
        pipeline.read(builder, "train", features=["image"], balance="classes")
