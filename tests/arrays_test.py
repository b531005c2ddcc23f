import numpy as np
import pytest
from support.painting import assert_same, assert_together, painted

from voc_seg_tfrecord import arrays
from voc_seg_tfrecord.core.errors import ConfigError

SIZES = [(1, 1), (1, 40), (40, 1), (31, 64), (174, 500), (500, 375)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [1, 64, 401, (40, 300), (300, 40)])
def test_the_middle_is_the_one_that_the_pipeline_takes(size, target):
    import tensorflow as tf

    from voc_seg_tfrecord import pipeline

    example = painted(*size)
    tensors = {name: tf.constant(value) for name, value in example.items()}
    assert_same(
        arrays.center_crop_or_pad(example, target), pipeline.center_crop_or_pad(tensors, target)
    )


@pytest.mark.parametrize("size", SIZES)
def test_image_and_masks_stay_together(size):
    rng = np.random.default_rng(1)
    for _ in range(6):
        example = arrays.random_crop_or_pad(painted(*size), 64, rng)
        assert example["image"].shape == (64, 64, 3)
        assert example["instance_mask"].shape == (64, 64, 1)
        assert_together(example)
        assert_together(arrays.random_flip(example, rng))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", [64, (33, 90)])
@pytest.mark.parametrize("step", [0.25, 0])
def test_a_scaled_crop_has_its_size_and_keeps_image_and_masks_together(size, target, step):
    rng = np.random.default_rng(2)
    for _ in range(6):
        example = arrays.random_scaled_crop(painted(*size), target, rng, step=step)
        height, width = (target, target) if isinstance(target, int) else target
        assert example["image"].shape == (height, width, 3)
        for name in ("segmentation_mask", "instance_mask"):
            assert example[name].shape == (height, width, 1)
            assert example[name].dtype == np.uint8
        inside = example["image"][..., 2] == 1
        assert inside.any()
        assert (example["segmentation_mask"][..., 0][~inside] == 255).all()


def test_a_scaled_crop_without_scaling_is_a_random_crop():
    rng = np.random.default_rng(2)
    for size in SIZES:
        arguments = {"scales": (1, 1), "flip": False}
        example = arrays.random_scaled_crop(painted(*size), 64, rng, **arguments)
        assert_together(example)


class Fixed(np.random.Generator):
    """Draws the largest scale, and the first place: a generator whose draws are known."""

    def integers(self, low, high, endpoint):
        assert (low, endpoint) == (0, True)
        return np.asarray(high) if np.ndim(high) == 0 else np.zeros_like(high)

    def random(self):
        return 1.0


@pytest.mark.parametrize("target", [(31, 64), (50, 50), (200, 30)])
@pytest.mark.parametrize("scale", [0.5, 0.75, 1.75])
def test_scaling_gives_the_pixels_that_tensorflow_gives(target, scale):
    import tensorflow as tf

    rng = np.random.default_rng(3)
    image = rng.integers(0, 256, (40, 52, 3), np.uint8)
    mask = rng.integers(0, 21, (40, 52, 1), np.uint8)
    given = {"image": image, "segmentation_mask": mask}
    fixed = Fixed(np.random.PCG64())
    found = arrays.random_scaled_crop(given, target, fixed, scales=(scale, scale))
    # The same window, resized by TensorFlow: everything, or as much as the crop shows.
    scaled = [round(side * scale) for side in (40, 52)]
    kept = [
        round(t / scale) if s > t else side
        for t, s, side in zip(target, scaled, (40, 52), strict=True)
    ]
    new = [min(t, s) for t, s in zip(target, scaled, strict=True)]
    cut = image[: kept[0], : kept[1]], mask[: kept[0], : kept[1]]
    bilinear = np.round(tf.image.resize(cut[0], new, "bilinear").numpy())
    nearest = tf.image.resize(cut[1], new, "nearest").numpy()
    assert np.abs(found["image"][: new[0], : new[1]] - bilinear).max() <= 1
    assert np.mean(found["image"][: new[0], : new[1]] != bilinear) < 0.01
    assert np.array_equal(found["segmentation_mask"][: new[0], : new[1]], nearest)
    assert (found["segmentation_mask"][new[0] :] == 255).all()
    assert (found["segmentation_mask"][:, new[1] :] == 255).all()


@pytest.mark.parametrize(
    "arguments", [{"size": 0}, {"size": (4, 0)}, {"size": 4, "scales": (0, 1)}]
)
def test_sizes_and_scales_out_of_range_are_refused(arguments):
    with pytest.raises(ConfigError, match="expected: "):
        arrays.random_scaled_crop(painted(5, 5), rng=np.random.default_rng(0), **arguments)


def test_half_of_all_flips_flip():
    rng = np.random.default_rng(1)
    flipped = [arrays.random_flip(painted(1, 2), rng)["image"][0, 0, 1] for _ in range(200)]
    assert 70 < sum(flipped) < 130


def test_random_places_reach_every_border():
    rng = np.random.default_rng(1)
    corners = [
        arrays.random_crop_or_pad(painted(5, 4), 4, rng)["image"][0, 0, 0] for _ in range(60)
    ]
    assert set(corners) == {0, 1}


def test_the_example_that_is_given_is_not_changed():
    example = painted(9, 9)
    arrays.random_flip(arrays.center_crop_or_pad(example, 12), np.random.default_rng(1))
    assert_same(example, painted(9, 9))


def test_an_example_without_images_is_refused():
    with pytest.raises(ConfigError, match="expected: one of image"):
        arrays.center_crop_or_pad({"labels": np.array([1])}, 4)


def test_masks_without_an_axis_of_channels_are_padded_with_void():
    example = {"image": np.ones((2, 2, 3), np.uint8), "segmentation_mask": np.ones((2, 2), "u1")}
    padded = arrays.center_crop_or_pad(example, 4)["segmentation_mask"]
    assert padded.tolist() == [
        [255, 255, 255, 255],
        [255, 1, 1, 255],
        [255, 1, 1, 255],
        [255, 255, 255, 255],
    ]


def test_one_hot_masks_are_padded_with_0():
    example = {"image": np.ones((2, 2, 3), np.uint8), "segmentation_mask": np.ones((2, 2, 5), "u1")}
    padded = arrays.center_crop_or_pad(example, 4)["segmentation_mask"]
    assert (padded[0] == 0).all()
    assert padded.sum() == 20


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("options", [{}, {"scales": (1, 1)}, {"flip": False}])
def test_a_crop_written_into_a_batch_has_the_pixels_of_a_new_one(size, options):
    batch = {}
    for name in ("image", "segmentation_mask", "instance_mask"):
        value = painted(*size)[name]
        batch[name] = np.full((6, 64, 48, value.shape[2]), 7, value.dtype)
    for place in range(6):
        out = {name: values[place] for name, values in batch.items()}
        rngs = [np.random.default_rng(place) for _ in range(2)]
        new, written = (
            arrays.random_scaled_crop(painted(*size), (64, 48), rng, **options, **target)
            for rng, target in zip(rngs, ({}, {"out": out}), strict=True)
        )
        for name, target in out.items():
            assert written[name] is target
            np.testing.assert_array_equal(target, new[name])


@pytest.mark.parametrize(
    ("out", "message"),
    [
        ({}, "no array for image"),
        ({"image": np.zeros((64, 64, 3), np.float32)}, "float32 .* uint8"),
        ({"image": np.zeros((64, 63, 3), np.uint8)}, "64, 63, 3"),
    ],
)
def test_an_array_that_a_crop_does_not_fit_is_refused(out, message):
    with pytest.raises(ConfigError, match=f"(?s){message}"):
        arrays.random_scaled_crop(painted(9, 9), 64, np.random.default_rng(0), out=out)


def test_a_seed_in_place_of_a_generator_is_told_what_to_give():
    example = {"image": np.zeros((4, 4, 3), np.uint8)}
    for move in (
        arrays.random_flip,
        lambda example, rng: arrays.random_crop_or_pad(example, 2, rng),
        lambda example, rng: arrays.random_scaled_crop(example, 2, rng),
    ):
        with pytest.raises(ConfigError, match=r"rng: 0\n.*numpy\.random\.default_rng"):
            move(example, 0)
