"""What calls repeat: orders, epochs, ranks and draws, over many epochs and with fixed seeds."""

from collections import Counter
import itertools
import shutil

import numpy as np
import pytest
from support.building import build, examples
from support.drawing import write_small_tree
import tensorflow as tf

from voc_seg_tfrecord import VocSegConfig, arrays, from_arrays, pipeline
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.reading.dataset import open_built

COUNT = 48
MASK_AND_NAME = ["segmentation_mask", "image/filename"]
PLAIN = {"size": 8, "seed": 0, "scales": (1, 1), "flip": False, "features": MASK_AND_NAME}


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """48 examples in 3 shards, `000` to `047`."""
    tree = write_small_tree(tmp_path_factory.mktemp("tree"), COUNT)
    config = VocSegConfig(name="many")
    return build(tmp_path_factory.mktemp("data"), config, tree, num_shards=3)


def batches(builder, **said):
    return pipeline.training_batches(builder, "train", **{"batch_size": 4, **PLAIN, **said})


def ids(dataset):
    names = []
    for batch in dataset.as_numpy_iterator():
        names += np.atleast_1d(batch["image/filename"]).tolist()
    return [int(name[:3]) for name in names]


def chi_square(counts, expected):
    counts = np.asarray(counts, float)
    return ((counts - expected) ** 2 / expected).sum() / (counts.size - 1)


@pytest.mark.slow
def test_every_epoch_is_a_permutation_in_which_each_example_may_be_anywhere(many):
    epochs, features = 60, ["image/filename"]
    read = pipeline.read(many, "train", features=features, shuffle=True, epochs=epochs)
    orders = np.array(ids(read)).reshape(epochs, COUNT)
    assert (np.sort(orders) == np.arange(COUNT)).all()
    assert len({tuple(order) for order in orders.tolist()}) == epochs
    # Where each example comes, in six parts of an epoch.
    parts = np.argsort(orders, axis=1) * 6 // COUNT
    counts = [np.bincount(parts[:, example], minlength=6) for example in range(COUNT)]
    assert chi_square(counts, epochs / 6) < 1.3
    places = np.argsort(orders, axis=1)
    ranks = [np.corrcoef(places[epoch], places[epoch + 1])[0, 1] for epoch in range(epochs - 1)]
    assert abs(np.mean(ranks)) < 0.05


@pytest.mark.slow
def test_what_does_not_fill_a_batch_is_left_out_in_every_epoch_another(many):
    epochs, batch_size = 40, 32  # a third of all is left out
    dataset = batches(many, batch_size=batch_size, epochs=epochs)
    seen = np.bincount(ids(dataset), minlength=COUNT)
    assert seen.sum() == epochs * batch_size
    assert chi_square(seen, epochs * batch_size / COUNT) < 1.5


@pytest.mark.slow
@pytest.mark.parametrize("count", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_ranks_draw_each_example_once_per_epoch_and_have_as_many_batches(many, count):
    epochs, batch_size = 6, 3
    said = {"batch_size": batch_size, "epochs": epochs}
    found = [ids(batches(many, shard=(rank, count), **said)) for rank in range(count)]
    per_epoch = COUNT // (batch_size * count) * batch_size
    assert {len(names) for names in found} == {epochs * per_epoch}
    for epoch in range(epochs):
        drawn = [i for names in found for i in names[epoch * per_epoch : (epoch + 1) * per_epoch]]
        assert len(set(drawn)) == len(drawn) == per_epoch * count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("batch_size", "ranks", "epochs", "expected"),
    [(2, 2, 3, 2), pytest.param(2, 2, 2, 1, marks=pytest.mark.slow), (1, 4, 4, 3)],
)
def test_ranks_have_as_many_batches_of_a_split_that_is_smaller_than_their_batches(
    many, batch_size, ranks, epochs, expected
):
    said = {"batch_size": batch_size, "epochs": epochs}
    found = []
    for rank in range(ranks):
        dataset = pipeline.training_batches(many, "train[:3]", shard=(rank, ranks), **PLAIN, **said)
        batches = list(dataset)
        assert len(batches) == dataset.cardinality() == expected
        found += [name for batch in batches for name in batch["image/filename"].numpy().tolist()]
    assert max(Counter(found).values()) <= epochs
    assert len(found) == expected * batch_size * ranks


@pytest.mark.slow
@pytest.mark.parametrize("rank", [pytest.param(0, marks=pytest.mark.slow), 3])
def test_a_run_without_end_has_batches_for_more_ranks_than_examples(many, rank):
    dataset = pipeline.training_batches(many, "train[:3]", batch_size=1, shard=(rank, 4), **PLAIN)
    assert len(list(dataset.take(2))) == 2


@pytest.mark.slow
def test_what_ends_goes_on_with_the_next_epoch_when_it_is_iterated_again(many):
    again = batches(many, batch_size=16, epochs=1)
    passes = [ids(again) for _ in range(3)]
    assert [*itertools.chain(*passes)] == ids(batches(many, batch_size=16, epochs=3))
    seeds = pipeline.read(many, "train")
    first, second = ([tuple(e["seed"].numpy()) for e in seeds] for _ in range(2))
    assert [name for name, _ in first] == [name for name, _ in second]
    assert {epoch for _, epoch in first} == {0}
    assert {epoch for _, epoch in second} == {1}


@pytest.mark.slow
def test_an_epoch_of_keras_is_an_epoch(many):
    import keras

    seen = []

    def numbers(batch):
        number = tf.strings.to_number(tf.strings.substr(batch["image/filename"], 0, 3))
        return number[:, tf.newaxis], number[:, tf.newaxis]

    class Seen(keras.Model):
        def call(self, x):
            return x * self.factor

        def build(self, _):
            self.factor = self.add_weight(shape=(), initializer="ones")

        def train_step(self, data):
            seen.extend(data[0].numpy()[:, 0].astype(int).tolist())
            return {"loss": 0.0}

    model = Seen()
    model.compile("sgd", "mse", run_eagerly=True)
    rows = batches(many, batch_size=16, epochs=1).map(numbers)
    model.fit(rows, epochs=3, verbose=0, shuffle=False)
    epochs = np.array(seen).reshape(3, COUNT)
    assert (np.sort(epochs) == np.arange(COUNT)).all()
    assert len({tuple(epoch) for epoch in epochs.tolist()}) == 3


@pytest.mark.slow
def test_a_buffer_is_what_a_number_asks_for_and_a_small_one_is_noted(many):
    with pytest.warns(UserWarning, match=r"shuffle=4 of 48 examples.*shuffle=True"):
        found = ids(pipeline.read(many, "train", shuffle=4, seed=1))
    in_order = ids(pipeline.read(many, "train"))
    assert sorted(found) == sorted(in_order)
    assert found != in_order
    # No example comes earlier than a buffer of four lets it.
    assert all(found.index(name) >= place - 3 for place, name in enumerate(in_order))
    assert ids(pipeline.read(many, "train", shuffle=False, epochs=2)) == in_order * 2


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """40 images, of which 4 have a class of one pixel."""
    masks = np.zeros((40, 41, 57), np.uint8)
    masks[:, :, :20] = 1
    rng = np.random.default_rng(3)
    for number in range(0, 40, 10):
        masks[number, rng.integers(41), rng.integers(20, 57)] = 2
    images = rng.integers(0, 256, (40, 41, 57, 3), np.uint8)
    names = [f"{number:03}.png" for number in range(40)]
    return from_arrays(
        images,
        masks,
        filenames=names,
        name="rare",
        class_names=["background", "wall", "speck"],
        data_dir=tmp_path_factory.mktemp("rare"),
    )


@pytest.fixture(scope="module")
def speck(rare):
    """An example whose class 2 has one pixel."""
    one = examples(rare, "train")["010.png"]
    pictures = {name: tf.constant(one[name]) for name in ("image", "segmentation_mask")}
    return {**pictures, "labels": tf.constant([2], tf.int64)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scale", "size", "cat_max_ratio"),
    [
        (0.25, 8, 1),
        pytest.param(0.5, 64, 1, marks=pytest.mark.slow),
        pytest.param(0.75, 24, 0.9, marks=pytest.mark.slow),
        (2, 16, 0.9),
    ],
)
def test_a_crop_that_is_promised_to_show_a_class_shows_it(speck, scale, size, cat_max_ratio):
    def shows_the_speck(number):
        crop = pipeline.random_scaled_crop(
            speck,
            size,
            seed=tf.stack([number, tf.constant(7, tf.int64)]),
            scales=(scale, scale),
            class_crop=1,
            cat_max_ratio=cat_max_ratio,
        )
        return tf.reduce_any(crop["segmentation_mask"] == 2)

    assert of_each_number(shows_the_speck, 40, tf.bool).all()


def of_each_number(function, count, dtype):
    """Returns what a function gives of 0 to `count` - 1, by one graph for all of them."""
    numbers = tf.range(count, dtype=tf.int64)
    return tf.function(tf.map_fn)(function, numbers, fn_output_signature=dtype).numpy()


@pytest.mark.slow
def test_the_stated_probabilities_hold():
    mask = np.zeros((60, 60, 1), np.uint8)
    mask[2, 3] = 1  # in one of 49 x 49 places of a crop
    example = {"segmentation_mask": tf.constant(mask), "labels": tf.constant([1], tf.int64)}

    def shows_the_class(number):
        seed = tf.stack([number, tf.constant(5, tf.int64)])
        crop = pipeline.random_scaled_crop(
            example, 12, seed=seed, scales=(1, 1), class_crop=0.3, flip=True
        )
        return tf.reduce_any(crop["segmentation_mask"] == 1)

    count = 1500
    seen = of_each_number(shows_the_class, count, tf.bool).sum()
    by_chance = 3 * 4 / 49**2
    expected = count * (0.3 + 0.7 * by_chance)
    assert chi_square([seen, count - seen], np.array([expected, count - expected])) < 4


@pytest.mark.slow
def test_no_batch_has_an_image_twice_where_there_are_enough(rare):
    numbers = ids(batches(rare, batch_size=8, epochs=12, balance="classes"))
    in_batches = np.array(numbers).reshape(12 * 5, 8)
    assert all(len(set(batch)) == 8 for batch in in_batches.tolist())
    copies = Counter(numbers)
    assert copies[10] > 2 * copies[11]  # and yet they are drawn more often


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scales", "found"),
    [
        ((0.8, 1.0), None),
        ((1, 1.2), None),
        ((0.75, 1.1), None),
        ((0.5, 2), {0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}),
        ((1, 1), {1}),
        ((0.75, 0.75), {0.75}),
    ],
)
def test_a_range_of_scales_is_a_range(scales, found):
    size = 1000
    example = {"segmentation_mask": np.zeros((size, 1, 1), np.uint8)}
    rng = np.random.default_rng(0)
    given = {"segmentation_mask": tf.constant(example["segmentation_mask"])}
    count = 300

    def height(number):
        seed = tf.stack([number, tf.constant(1, tf.int64)])
        scaled = pipeline.random_scale(given, seed=seed, scales=scales)
        return tf.shape(scaled["segmentation_mask"])[0]

    def height_of_arrays():
        crop = arrays.random_scaled_crop(example, (2 * size, 1), rng, scales=scales)
        return (crop["segmentation_mask"] == 0).any(axis=(1, 2)).sum()

    of_pipeline = of_each_number(height, count, tf.int32) / size
    of_arrays = np.array([height_of_arrays() for _ in range(count)]) / size
    for heights in (of_pipeline, of_arrays):
        if found is not None:
            assert {round(float(h), 2) for h in heights} == found
            continue
        assert min(heights) >= scales[0] - 0.002
        assert max(heights) <= scales[1] + 0.002
        fifths = np.histogram(heights, bins=5, range=scales)[0]
        assert chi_square(fifths, count / 5) < 3


@pytest.mark.parametrize("module", [pipeline, arrays])
def test_a_step_that_does_not_lead_to_the_largest_scale_is_refused(module):
    mask = np.zeros((4, 4, 1), np.uint8)
    example = {"segmentation_mask": tf.constant(mask) if module is pipeline else mask}
    chance = {"seed": [0, 1]} if module is pipeline else {"rng": np.random.default_rng(0)}
    with pytest.raises(ConfigError, match=r"(?s)scales, step: \(0.8, 1.0\), 0.25.*step=0"):
        module.random_scaled_crop(example, 4, scales=(0.8, 1.0), step=0.25, **chance)
    module.random_scaled_crop(example, 4, scales=(0.8, 1.0), step=0.1, **chance)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"balance_threshold": 0.5}, "balance_threshold: 0.5 without balance"),
        ({"first_epoch": -1}, "epochs, first_epoch: None, -1"),
        ({"first_epoch": 1.5}, "epochs, first_epoch"),
        ({"epochs": 0}, "batch_size: 4, but all epochs have 0 examples"),
        ({"epochs": 1, "batch_size": 49}, "batch_size: 49, but all epochs have 48 examples"),
        ({"batch_size": 0}, "batch_size: 0"),
        ({"batch_size": 2.0}, "batch_size: 2.0"),
        ({"size": 32.0}, "size: 32.0"),
        ({"size": (32, 0)}, r"size: \(32, 0\)"),
        ({"seed": None}, "seed: None"),
        ({"shuffle": -1}, "shuffle: -1"),
        ({"shuffle": None}, "shuffle: None"),
        ({"shard": (2, 2)}, "shard: rank 2 of 2"),
        ({"balance": "images"}, "balance: 'images'"),
        ({"balance": "classes", "balance_threshold": 0}, "balance_threshold: 0"),
        ({"class_crop": 1.5}, "class_crop: 1.5"),
        ({"cat_max_ratio": 0}, "cat_max_ratio: 0"),
        ({"class_crop": 0.5, "features": ["image"]}, "without segmentation_mask"),
        ({"features": ["image", "labels"]}, "features: labels, which describe the complete image"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(many, arguments, message):
    with pytest.raises(ConfigError, match=message):
        batches(many, **arguments)


@pytest.mark.slow
def test_only_the_features_that_are_asked_for_are_in_a_batch(many):
    chosen = batches(many, features=["image", "segmentation_mask"])
    assert set(next(iter(chosen))) == {"image", "segmentation_mask"}


@pytest.fixture
def copy(many, tmp_path):
    """A copy of the dataset, and one of its shards."""
    builder = open_built(shutil.copytree(many.data_path, tmp_path / "1.0.0"))
    return builder, sorted(builder.info.splits["train"].filepaths)[1]


def test_a_file_cut_at_a_records_end_is_noticed_before_the_first_batch(copy):
    builder, path = copy
    data = path.read_bytes()
    path.write_bytes(data[: int.from_bytes(data[:8], "little") + 16])
    with pytest.raises(RecordError, match=r"00001-of-00003: 1 record\n.*a complete shard of"):
        batches(builder)


@pytest.mark.slow
def test_a_damaged_record_is_named_by_file_place_and_id(copy):
    builder, path = copy
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(
        tf.errors.OpError, match=r"00001-of-00003: damaged at byte \d+: .* itself \d"
    ):
        list(batches(builder, epochs=1))
