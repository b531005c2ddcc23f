import pytest
import tensorflow as tf

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.pipeline import contents

IMAGE = tf.zeros([3, 5, 3], tf.uint8)
MASK = tf.zeros([3, 5, 1], tf.uint8)


def test_names_are_those_of_the_image_and_masks_that_are_there():
    assert contents.names({"labels": [1], "segmentation_mask": MASK}) == ["segmentation_mask"]
    assert set(contents.names({"image": IMAGE, "instance_mask": MASK})) == {
        "image",
        "instance_mask",
    }


@pytest.mark.parametrize("image", [IMAGE[tf.newaxis], tf.constant([b"a", b"b"])])
def test_a_batch_is_refused_with_its_rank(image):
    with pytest.raises(ConfigError, match=f"image: a tensor of rank {image.shape.rank}"):
        contents.names({"image": image})


def test_the_size_of_decoded_images_is_their_own_whatever_the_record_says():
    size = contents.size({"image": IMAGE, "image/height": 30, "image/width": 50})
    assert size.numpy().tolist() == [3, 5]


def test_the_size_of_encoded_images_is_that_of_the_record():
    size = contents.size({"image": tf.constant(b""), "image/height": 30, "image/width": 50})
    assert size.numpy().tolist() == [30, 50]
