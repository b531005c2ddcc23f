import dataclasses

import numpy as np
import pytest
from support import handwritten
import tensorflow as tf

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.interop import layouts
from voc_seg_tfrecord.interop.layouts import RecordLayout

RAW = layouts.KNOWN["raw with label_raw"]
PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize("name", layouts.KNOWN)
def test_every_known_layout_is_detected_by_its_own_features(name):
    keys = [key for key in dataclasses.astuple(layouts.KNOWN[name]) if key]
    assert layouts.detect(keys) == (name, layouts.KNOWN[name])


def test_a_file_name_is_found_beside_a_layout_that_has_none():
    _, layout = layouts.detect(["image_raw", "label_raw", "height", "width", "name", "other"])
    assert layout == dataclasses.replace(RAW, filename="name")


def test_other_features_are_no_known_layout():
    assert layouts.detect(["image_raw", "height"]) is None


def raw(data, height=2, width=4, **more):
    return {"image_raw": [data], "height": [height], "width": [width], **more}


def test_raw_pixels_have_the_records_height_and_width():
    found = layouts.pixels_or_file(raw(PIXELS.tobytes()), RAW, "image_raw", "")
    assert (found == PIXELS).all()


def test_one_byte_per_pixel_is_a_grey_image():
    found = layouts.pixels_or_file(raw(PIXELS[..., 0].tobytes()), RAW, "image_raw", "")
    assert (found == PIXELS[..., 0]).all()


def test_an_encoded_file_stays_as_it_is():
    data = handwritten.encode(PIXELS, "PNG")
    assert layouts.pixels_or_file(raw(data), RAW, "image_raw", "") == data


@pytest.mark.parametrize("kind", [tf.uint8, tf.int32, tf.int64])
def test_a_serialised_tensor_becomes_uint8(kind):
    data = tf.io.serialize_tensor(tf.cast(PIXELS, kind)).numpy()
    found = layouts.pixels_or_file(raw(data), RAW, "image_raw", "")
    assert found.dtype == np.uint8
    assert (found == PIXELS).all()


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (raw(b"abc"), "3 bytes in feature 'image_raw'"),
        (raw(b"abc", height=0), "3 bytes in feature 'image_raw'"),
        (raw(7), "feature 'image_raw': 7"),
        (raw(PIXELS.tobytes(), height=b"2"), "feature 'height': b'2'"),
        ({"height": [2], "width": [4]}, "no feature 'image_raw'"),
        ({"image_raw": [b"a", b"b"]}, "2 values in feature 'image_raw'"),
    ],
)
def test_what_cannot_be_an_image_is_refused_with_what_was_found(record, words):
    with pytest.raises(RecordError, match=words) as caught:
        layouts.pixels_or_file(record, RAW, "image_raw", "a.tfrecord, record 0")
    assert str(caught.value).startswith("a.tfrecord, record 0: ")


def test_text_is_decoded_and_empty_without_a_feature():
    assert layouts.text({"name": ["ä.jpg".encode()]}, "name", "") == "ä.jpg"
    assert layouts.text({}, RecordLayout("image").filename, "") == ""
    with pytest.raises(RecordError, match="feature 'name' that is not UTF-8"):
        layouts.text({"name": [b"\xff"]}, "name", "")
