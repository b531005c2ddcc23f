import hashlib
import itertools

import numpy as np
import pytest
from support.painting import assert_together, dataset, padded_sides, padding, painted
import tensorflow as tf

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.pipeline import seeds

SIZES = [(1, 1), (1, 40), (40, 1), (31, 64), (112, 174), (174, 500), (500, 375)]
SEEDS = [(n, 7) for n in range(6)]


def to_size(function):
    return lambda example, seed: function(example, 64, seed=seed)


MOVES = {
    "center_crop_or_pad": lambda example, _: pipeline.center_crop_or_pad(example, 64),
    "center_crop_or_pad, not square": lambda e, _: pipeline.center_crop_or_pad(e, (50, 81)),
    "random_crop_or_pad": to_size(pipeline.random_crop_or_pad),
    "random_flip": lambda example, seed: pipeline.random_flip(example, seed=seed),
    "random_scaled_crop, scale 1": lambda example, seed: pipeline.random_scaled_crop(
        example, 64, seed=seed, scales=(1, 1)
    ),
}
RESIZES = {
    "resize": lambda example, _: pipeline.resize(example, (57, 90)),
    "random_scale": lambda example, seed: pipeline.random_scale(example, seed=seed),
    "random_scaled_crop": to_size(pipeline.random_scaled_crop),
    "random_scaled_crop, any scale": lambda example, seed: pipeline.random_scaled_crop(
        example, (64, 41), seed=seed, step=0
    ),
}


def moved(function, sizes, seeds=SEEDS):
    """Yields the painted example of each size, moved with each seed, all by one graph."""
    examples = dataset(sizes).flat_map(
        lambda example: tf.data.Dataset.from_tensors(example).repeat(len(seeds))
    )
    all_seeds = tf.data.Dataset.from_tensor_slices(tf.constant(seeds, tf.int64)).repeat()
    return tf.data.Dataset.zip((examples, all_seeds)).map(function).as_numpy_iterator()


@pytest.mark.slow_but_first
@pytest.mark.parametrize("move", MOVES)
def test_image_and_masks_stay_together_to_the_pixel(move):
    examples = list(moved(MOVES[move], SIZES))
    assert len(examples) == len(SIZES) * len(SEEDS)
    for example in examples:
        assert_together(example)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("resize", RESIZES)
def test_image_and_masks_stay_together_when_they_are_resized(resize):
    sizes = [size for size in SIZES if max(size) <= 250]
    examples = list(moved(RESIZES[resize], sizes))
    assert len(examples) == len(sizes) * len(SEEDS)
    for example in examples:
        assert_together(example, tolerance=1)


@pytest.mark.slow_but_first
@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (lambda e: pipeline.center_crop_or_pad(e, 64), (64, 64)),
        (lambda e: pipeline.resize(e, (9, 21)), (9, 21)),
        (lambda e: pipeline.random_crop_or_pad(e, (9, 700), seed=(1, 2)), (9, 700)),
        (lambda e: pipeline.random_scaled_crop(e, 64, seed=(1, 2)), (64, 64)),
    ],
)
def test_images_have_the_size_requested_and_it_is_static(function, wanted):
    examples = dataset(SIZES).map(function)
    masks = ("segmentation_mask", "instance_mask")
    shapes = {"image": (*wanted, 3)} | dict.fromkeys(masks, (*wanted, 1))
    assert {name: examples.element_spec[name].shape for name in shapes} == shapes
    found = list(examples)
    assert len(found) == len(SIZES)
    for example in found:
        assert {name: example[name].shape for name in shapes} == shapes


@pytest.mark.parametrize("size", SIZES)
def test_the_middle_stays_in_the_middle(size):
    example = pipeline.center_crop_or_pad(tensors(painted(*size)), 64)
    expected = tf.image.resize_with_crop_or_pad(painted(*size)["image"], 64, 64)
    assert np.array_equal(example["image"], expected)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [(57, 90), (1, 1), (300, 7)])
def test_resized_pixels_are_those_of_tensorflow(size, target):
    source = painted(*size)
    example = pipeline.resize(tensors(source), target)
    bilinear = tf.round(tf.image.resize(source["image"], target))
    nearest = tf.image.resize(source["segmentation_mask"], target, "nearest")
    assert np.array_equal(example["image"], bilinear)
    assert np.array_equal(example["segmentation_mask"], nearest)


@pytest.mark.slow
def test_nothing_of_a_smaller_image_is_lost_by_padding():
    for example in moved(MOVES["random_crop_or_pad"], [(20, 30)]):
        assert (~padding(example)).sum() == 20 * 30
        rows = example["segmentation_mask"][..., 0][~padding(example)]
        assert np.array_equal(rows.reshape(20, 30), painted(20, 30)["segmentation_mask"][..., 0])


@pytest.mark.slow
def test_random_places_reach_every_border():
    examples = moved(
        lambda example, seed: pipeline.random_crop_or_pad(example, 4, seed=seed),
        [(5, 3)],
        [(n, 0) for n in range(60)],
    )
    places = {(int(e["segmentation_mask"].min()), padded_sides(e)) for e in examples}
    assert places == {(row, side) for row in (0, 1) for side in ("left", "right")}


@pytest.mark.slow
def test_every_scale_of_the_steps_occurs_and_no_other():
    seeds = [(n, 0) for n in range(100)]
    examples = moved(RESIZES["random_scale"], [(40, 80)], seeds)
    sizes = {example["image"].shape[:2] for example in examples}
    assert sizes == {(10 * n, 20 * n) for n in range(2, 9)}


def test_a_scaled_crop_shows_the_image_at_its_scale():
    for seed in SEEDS:
        example = pipeline.random_scaled_crop(
            tensors(painted(200, 240)), 64, seed=seed, scales=(2, 2), flip=False
        )
        rows = example["segmentation_mask"][:, 0, 0].numpy().astype(int)
        assert rows[-1] - rows[0] == 31  # 64 rows show 32
        assert not padding(example).any()


@pytest.mark.slow
def test_half_of_all_flips_flip():
    seeds = [(n, 0) for n in range(200)]
    examples = moved(MOVES["random_flip"], [(1, 2)], seeds)
    flipped = sum(int(example["image"][0, 0, 1] == 1) for example in examples)
    assert 70 < flipped < 130


@pytest.mark.slow
def test_flips_do_not_go_with_places():
    seeds = [(n, 0) for n in range(60)]
    flips = moved(MOVES["random_flip"], [(2, 2)], seeds)
    crops = moved(lambda e, seed: pipeline.random_crop_or_pad(e, 1, seed=seed), [(2, 2)], seeds)
    both = {
        (int(flipped["image"][0, 0, 1]), int(placed["image"][0, 0, 0]))
        for flipped, placed in zip(flips, crops, strict=True)
    }
    assert len(both) == 4


def test_the_size_in_the_record_is_kept_and_what_is_no_longer_true_left_out():
    source = tensors(painted(40, 50))
    for move in [*MOVES.values(), *RESIZES.values()]:
        example = move(source, (1, 2))
        assert (example["image/height"], example["image/width"]) == (40, 50)
        assert example["image/filename"] == b"painted.jpg"
        assert "labels" not in example
    assert "labels" in source


def test_images_that_were_made_floats_are_not_rounded():
    example = tensors(painted(9, 9))
    example["image"] = tf.cast(example["image"], tf.float32) / 255
    resized = pipeline.resize(example, 5)["image"]
    assert resized.dtype == tf.float32
    assert 0 < float(tf.reduce_max(resized)) < 9 / 255


@pytest.mark.parametrize("scales", [(0, 1), (2, 1)])
def test_impossible_scales_are_refused(scales):
    with pytest.raises(ConfigError, match="scales, step"):
        pipeline.random_scale(tensors(painted(4, 4)), seed=(1, 2), scales=scales)


def tensors(example):
    return {name: tf.constant(value) for name, value in example.items()}


def seed_of(name, **arguments):
    return tuple(seeds.example_seed({"image/filename": name}, **arguments).numpy().tolist())


def test_a_seed_depends_on_name_seed_and_epoch_and_on_nothing_else():
    made = {seed_of(n, seed=s, epoch=e) for n in "ab" for s in (0, 1) for e in (0, 1)}
    assert len(made) == 8
    assert seed_of("a", seed=1, epoch=1) in made


@pytest.mark.parametrize("kind", [np.int32, np.uint8, np.int64])
def test_a_seed_of_numpy_is_a_seed(kind):
    assert seed_of("a", seed=kind(3), epoch=2) == seed_of("a", seed=3, epoch=2)


def test_a_seed_gives_the_same_numbers_in_each_version_of_this_package():
    numbers = []
    example = {"image/filename": tf.constant("2007_000032.jpg")}
    for seed, epoch, copy in itertools.product((0, 7), (0, 1), (0, 1)):
        own = seeds.example_seed(example, seed=seed, epoch=epoch, copy=copy)
        purposes = ("scale", "flip", "place", "places", "class")
        drawn = [seeds.uniform(own, purpose, 4) for purpose in purposes]
        places = seeds.random_offsets(own, tf.constant([100, 200]), 3)
        fractions = [round(float(number) * 2**23) for four in drawn for number in four]
        numbers.append((own.numpy().tolist(), fractions, [p.numpy().tolist() for p in places]))
    digest = hashlib.sha256(repr(numbers).encode()).hexdigest()
    assert digest == "32a3b92bf9732d7554a061a0220bad908f1d86980cb19ca84611dcb44ea58521"


def test_the_last_epochs_of_a_seed_do_not_meet_the_next_seed():
    assert seed_of("a", seed=0, epoch=2**32 - 1) != seed_of("a", seed=1)


def test_an_example_without_a_file_name_is_refused():
    with pytest.raises(ConfigError, match="image/filename among them"):
        seeds.example_seed({"image": 1}, seed=0)


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ConfigError, match=f"seed: {seed}"):
        seed_of("a", seed=seed)


def test_numbers_of_one_purpose_say_nothing_about_those_of_another():
    given = [tf.constant([n, 0], tf.int64) for n in range(300)]
    drawn = [[float(seeds.uniform(s, p, 1)[0]) for s in given] for p in ("flip", "place")]
    assert np.min(drawn) >= 0
    assert np.max(drawn) < 1
    assert abs(np.corrcoef(drawn)[0, 1]) < 0.2


@pytest.mark.parametrize(("fraction", "drawn"), [(0.0, 0), (0.24, 0), (0.26, 1), (0.9999999, 3)])
def test_a_fraction_becomes_one_of_the_numbers_up_to_the_largest(fraction, drawn):
    assert int(seeds.up_to(tf.constant(fraction), tf.constant(3))) == drawn


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
