import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded
from support.painting import assert_same
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.pipeline.window import Padding, Window, decode_crop, image_names, image_size

PIXELS = np.arange(4 * 6, dtype=np.uint8).reshape(4, 6, 1)
EXAMPLE = {"image": np.repeat(PIXELS, 3, axis=2), "segmentation_mask": PIXELS, "labels": [1]}


def applied(**parts):
    window = Window(**parts)
    moved = window.apply({n: tf.constant(value) for n, value in EXAMPLE.items()})
    assert set(moved) == {"image", "segmentation_mask"}
    return [moved[n].numpy()[..., 0] for n in ("image", "segmentation_mask")]


def test_an_empty_window_changes_no_pixel():
    for pixels in applied():
        assert (pixels == PIXELS[..., 0]).all()


def test_image_and_mask_are_cropped_and_flipped_alike():
    for pixels in applied(crop=tf.constant([1, 2, 2, 3]), flip=tf.constant(True)):
        assert (pixels == PIXELS[1:3, 2:5, 0][:, ::-1]).all()


def test_padding_is_0_around_the_image_and_255_around_the_mask():
    padding = Padding(before=tf.constant([1, 2]), result_size=(6, 9))
    image, mask = applied(padding=padding)
    for pixels, fill in ((image, 0), (mask, 255)):
        expected = np.full((6, 9), fill)
        expected[1:5, 2:8] = PIXELS[..., 0]
        assert (pixels == expected).all()


@pytest.mark.parametrize("size", [(2, 3), (8, 12), (3, 7), (1, 1)])
def test_masks_get_the_pixels_that_tensorflows_nearest_gives(size):
    _, mask = applied(size=tf.constant(size))
    expected = tf.image.resize(PIXELS, size, "nearest").numpy()[..., 0]
    assert (mask == expected).all()


FUNCTIONS = {
    "center_crop_or_pad": lambda example: pipeline.center_crop_or_pad(example, 45),
    "random_crop_or_pad": lambda e: pipeline.random_crop_or_pad(e, (31, 80), seed=(3, 4)),
    "resize": lambda example: pipeline.resize(example, (31, 80)),
    "random_flip": lambda example: pipeline.random_flip(example, seed=(1, 0)),
    "random_scale": lambda example: pipeline.random_scale(example, seed=(5, 6)),
    "random_scaled_crop": lambda e: pipeline.random_scaled_crop(e, 45, seed=(5, 6)),
}
PICTURES = ("image", "segmentation_mask", "instance_mask")


def decoded_and_encoded(builder):
    """Yields each of train's examples as `tfds.load` gives it, and with encoded images."""
    skip = {name: tfds.decode.SkipDecoding() for name in PICTURES}
    return zip(
        builder.as_dataset(split="train"),
        builder.as_dataset(split="train", decoders=skip),
        strict=True,
    )


def noise(*shape):
    return np.random.default_rng(5).integers(0, 256, shape, np.uint8)


def test_decoding_later_gives_the_pixels_that_tfds_gives(sample):
    for decoded, later in decoded_and_encoded(sample):
        assert later["image"].dtype == tf.string
        for name in PICTURES:
            assert np.array_equal(pipeline.decode(later)[name], decoded[name])


def test_images_that_are_decoded_stay_as_they_are(sample):
    for decoded, _ in decoded_and_encoded(sample):
        assert_same(
            {k: v for k, v in pipeline.decode(decoded).items() if k != "objects"},
            {k: v for k, v in decoded.items() if k != "objects"},
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_gives_the_same_of_encoded_images_as_of_decoded_ones(sample, name):
    for decoded, later in decoded_and_encoded(sample):
        assert_same(FUNCTIONS[name](later), FUNCTIONS[name](decoded))


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_a_window_of_a_jpeg_is_the_whole_ones_to_the_bit(subsampling):
    data = encoded(noise(60, 90, 3), "JPEG", quality=70, subsampling=subsampling)
    whole = tf.io.decode_image(data, channels=3).numpy()
    for window in ([0, 0, 60, 90], [5, 17, 31, 40], [59, 89, 1, 1], [0, 33, 60, 1], [7, 1, 2, 88]):
        top, left, height, width = window
        crop = decode_crop(tf.constant(data), "image", tf.constant(window))
        assert np.array_equal(crop, whole[top : top + height, left : left + width])


@pytest.mark.slow_but_first
@pytest.mark.parametrize("mode", ["RGB", "L", "P", "RGBA"])
def test_a_png_image_is_told_from_a_jpeg_inside_the_graph(mode):
    pixels = noise(60, 90, 3)
    examples = [
        {"image": data, "image/height": 60, "image/width": 90}
        for data in (encoded(Image.fromarray(pixels).convert(mode)), encoded(pixels, "JPEG"))
    ]
    both = tf.data.Dataset.from_tensor_slices(
        {name: [example[name] for example in examples] for name in examples[0]}
    )
    for example, later in zip(both, both.map(FUNCTIONS["center_crop_or_pad"]), strict=True):
        whole = tf.io.decode_image(example["image"], channels=3, expand_animations=False)
        assert np.array_equal(later["image"], tf.image.resize_with_crop_or_pad(whole, 45, 45))


def test_encoded_images_without_their_size_are_refused():
    with pytest.raises(ConfigError, match="expected: image/height and image/width"):
        pipeline.center_crop_or_pad({"image": tf.constant(encoded(noise(8, 8, 3), "JPEG"))}, 4)


def test_an_example_without_images_is_refused():
    with pytest.raises(ConfigError, match="expected: one of image, segmentation_mask"):
        pipeline.decode({"labels": tf.constant([1])})


# Arrays of NumPy, because .ci/mutants.py forks after it imports this: TensorFlow must not run then.
IMAGE = np.zeros([3, 5, 3], np.uint8)
MASK = np.zeros([3, 5, 1], np.uint8)


def test_names_are_those_of_the_image_and_masks_that_are_there():
    mask = tf.constant(MASK)
    assert image_names({"labels": [1], "segmentation_mask": mask}) == ["segmentation_mask"]
    both = {"image": tf.constant(IMAGE), "instance_mask": mask}
    assert set(image_names(both)) == both.keys()


@pytest.mark.parametrize("images", [IMAGE[np.newaxis], [b"a", b"b"]])
def test_a_batch_is_refused_with_its_rank_and_what_to_do(images):
    batch = tf.constant(images)
    words = f"(?s)image: a tensor of rank {batch.shape.rank}.*before batching"
    with pytest.raises(ConfigError, match=words):
        pipeline.center_crop_or_pad({"image": batch}, 3)


@pytest.mark.parametrize(("image", "size"), [(IMAGE, [3, 5]), (b"", [30, 50])])
def test_decoded_images_have_their_own_size_and_encoded_ones_that_of_the_record(image, size):
    found = image_size({"image": tf.constant(image), "image/height": 30, "image/width": 50})
    assert found.numpy().tolist() == size
