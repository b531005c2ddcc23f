import dataclasses
import random

from fuzz.mutations import damaged
import numpy as np
import pytest
from support.encoding import encoded
import tensorflow as tf

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.sources.records import features, layouts
from voc_seg_tfrecord.sources.records.features import RecordLayout

RAW = layouts.KNOWN["raw with label_raw"]
PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize("name", layouts.KNOWN)
def test_every_known_layout_is_detected_by_its_own_features(name):
    record = {key: [1] for key in layouts.KNOWN[name].keys.values()}
    assert layouts.detect(record) == (name, layouts.KNOWN[name])


def test_a_file_name_is_found_beside_a_layout_that_has_none():
    keys = ("image_raw", "label_raw", "height", "width", "name", "other")
    _, layout = layouts.detect({key: [b"x"] for key in keys})
    assert layout == dataclasses.replace(RAW, filename="name")


def test_other_features_are_no_known_layout():
    assert layouts.detect({"image_raw": [b"x"], "height": [3]}) is None


def test_a_label_of_bytes_is_a_mask():
    assert layouts.detect({"image": [b"x"], "label": [b"x"]})[1] == RecordLayout("image", "label")
    assert layouts.detect({"image": [b"x"], "label": [7]})[1].label == "label"


def test_with_a_size_for_all_images_no_feature_needs_to_hold_one():
    record = {"image_raw": [b"x"], "label_raw": [b"x"]}
    assert layouts.detect(record) is None
    assert layouts.detect(record, (32, 32, 3))[1] == RecordLayout(
        "image_raw", "label_raw", size=(32, 32, 3)
    )


def test_height_and_width_beside_an_image_are_its_size():
    record = {"image": [b"x"], "label": [1], "height": [2], "width": [3], "depth": [3]}
    layout = layouts.detect(record)[1]
    assert (layout.height, layout.width, layout.label) == ("height", "width", "label")


@pytest.mark.parametrize("other", ["annotation", "seg", "image/object/bbox/xmin"])
def test_an_image_beside_an_unknown_feature_is_not_taken_for_an_image_alone(other):
    alone = {"data": [b"x"], "shape": [2, 2, 3], "name": [b"a.jpg"]}
    assert layouts.detect(alone)[0] == "shape without a label"
    assert layouts.detect(alone | {other: [b"x"]}) is None


def raw(data, height=2, width=4, **more):
    return {"image_raw": [data], "height": [height], "width": [width], **more}


@pytest.mark.parametrize("pixels", [PIXELS, PIXELS[..., 0]], ids=["colors", "gray"])
def test_raw_pixels_and_tensors_have_the_records_height_and_width(pixels):
    for data in (pixels.tobytes(), tf.io.serialize_tensor(pixels).numpy()):
        found = features.read_image(raw(data), RAW, "")
        assert np.array_equal(found, pixels)


def test_an_encoded_file_stays_as_it_is():
    data = encoded(PIXELS)
    assert features.read_image(raw(data), RAW, "") == data


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (raw(b"abc"), "3 bytes in feature 'image_raw'"),
        (raw(b"abc", height=0), r"a size of \(0, 4\) in height, width"),
        (raw(PIXELS.tobytes(), height=-2, width=-4), r"a size of \(-2, -4\)"),
        (raw(b"abc", height=1 << 40, width=1 << 40), "3 bytes in feature 'image_raw'"),
        (raw(7), "feature 'image_raw': 7"),
        (raw(PIXELS.tobytes(), height=b"2"), "feature 'height': b'2'"),
        ({"height": [2], "width": [4]}, "no feature 'image_raw'"),
        ({"image_raw": [b"a", b"b"]}, "2 values in feature 'image_raw'"),
    ],
)
def test_what_cannot_be_an_image_is_refused_with_what_was_found(record, words):
    with pytest.raises(RecordError, match=words) as caught:
        features.read_image(record, RAW, "a.tfrecord, record 0")
    assert str(caught.value).startswith("a.tfrecord, record 0: ")


IMAGE = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


@pytest.mark.parametrize(
    ("hints", "stored"),
    [
        ({}, IMAGE),
        ({"image/colorspace": [b"RGB"], "data_format": [b"NHWC"]}, IMAGE),
        ({"image/colorspace": [b"BGR"]}, IMAGE[..., ::-1]),
        ({"colorspace": [b"bgr"]}, IMAGE[..., ::-1]),
        ({"data_format": [b"NCHW"]}, np.moveaxis(IMAGE, -1, 0)),
        ({"data_format": [b"channels_first"]}, np.moveaxis(IMAGE, -1, 0)),
        (
            {"data_format": [b"CHW"], "colorspace": [b"BGR"]},
            np.moveaxis(IMAGE[..., ::-1], -1, 0),
        ),
    ],
)
def test_raw_pixels_are_read_in_the_order_that_the_record_states(hints, stored):
    for data in (stored.tobytes(), tf.io.serialize_tensor(stored).numpy()):
        record = {"image_raw": [data], "height": [2], "width": [4]} | hints
        found = features.read_image(record, RAW, "a record")
        assert np.array_equal(found, IMAGE)


@pytest.mark.parametrize("hint", [{"colorspace": [b"YCbCr"]}, {"data_format": [b"WHC"]}])
def test_an_unknown_order_of_pixels_is_refused(hint):
    for data in (IMAGE.tobytes(), tf.io.serialize_tensor(IMAGE).numpy()):
        record = {"image_raw": [data], "height": [2], "width": [4]} | hint
        with pytest.raises(RecordError, match="pixels whose feature"):
            features.read_image(record, RAW, "a record")


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize(("height", "width"), [(5, 1), (1, 5), (1, 1), (3, 3)])
def test_a_narrow_tensor_is_read_in_the_order_that_the_record_states(height, width, channels):
    image = np.arange(height * width * channels, dtype=np.uint8).reshape(height, width, channels)
    expected = image[..., 0] if channels == 1 else image
    for name, stored in (("chw", np.moveaxis(image, -1, 0)), ("hwc", image)):
        data = tf.io.serialize_tensor(np.ascontiguousarray(stored)).numpy()
        record = raw(data, 50, 50, data_format=[name.encode()])
        found = features.read_image(record, RAW, "")
        assert np.array_equal(found, expected)


@pytest.mark.parametrize("shape", [(2, 4), (2, 4, 1)])
def test_a_gray_tensor_has_no_order_of_colors(shape):
    gray = IMAGE[..., 0].reshape(shape)
    record = raw(tf.io.serialize_tensor(gray).numpy(), colorspace=[b"grayscale"])
    assert np.array_equal(features.read_image(record, RAW, ""), IMAGE[..., 0])


@pytest.mark.parametrize(
    ("more", "others"),
    [
        ({"mask_raw": [bytes(8)]}, ["mask_raw"]),
        (
            {"image/segmentation": [encoded(np.zeros((2, 4), np.uint8), "PNG")]},
            ["image/segmentation"],
        ),
        ({"Mask": [bytes(8)]}, ["Mask"]),
        ({"mask1": [bytes(8)]}, ["mask1"]),
        ({"NAME_mask1": [bytes(8)], "Mask2/x": [bytes(8)]}, ["Mask2/x", "NAME_mask1"]),
        ({"labelmap": [bytes(8)], "segMap": [bytes(8)]}, ["labelmap", "segMap"]),
        ({"target": [bytes(8)], "groundTruth": [bytes(8)]}, ["groundTruth", "target"]),
        ({"label": [b"cat"]}, []),
        ({"label": [3]}, []),
        ({"thumbnail": [bytes(8)]}, []),
    ],
)
def test_a_second_feature_that_may_be_the_mask_is_found(more, others):
    record = {"image_raw": [bytes(24)], "label_raw": [bytes(8)], "height": [2], "width": [4]} | more
    assert layouts.list_possible_masks(record, RAW) == others


def test_text_is_decoded_and_empty_without_a_feature():
    assert features.read_text({"name": ["ä.jpg".encode()]}, "name", "") == "ä.jpg"
    assert features.read_text({}, RecordLayout("image").filename, "") == ""
    with pytest.raises(RecordError, match="feature 'name' that is not UTF-8"):
        features.read_text({"name": [b"\xff"]}, "name", "")


@pytest.mark.parametrize(
    "shape", [[3], [], [b"a", b"b"], [2, 4, 3, 1], [0, 0, 3], [-1, -1, 3], [2.0, 4.0]]
)
def test_a_shape_that_is_none_is_refused(shape):
    layout = layouts.KNOWN["shape with a label"]
    with pytest.raises(RecordError, match=r"a size of .* in shape"):
        features.read_image({"data": [PIXELS.tobytes()], "shape": shape}, layout, "")


@pytest.mark.parametrize("channels", [2, 5])
def test_a_tensor_of_other_channels_is_refused(channels):
    data = tf.io.serialize_tensor(np.zeros((2, 4, channels), np.uint8)).numpy()
    with pytest.raises(RecordError, match=f"a tensor of 2 x 4 x {channels}"):
        features.read_image(raw(data), RAW, "")


def test_a_mask_of_three_channels_is_refused():
    record = {"label_raw": [PIXELS.tobytes()], "height": [2], "width": [4]}
    with pytest.raises(RecordError, match=r"(?s)24 bytes in feature 'label_raw'.*2 x 4 x 1 bytes"):
        features.read_mask(record, RAW, "")


def test_pixels_that_no_feature_gives_a_size_have_that_of_the_layout():
    for size in ((2, 4, 3), (2, 4)):
        layout = RecordLayout("image", size=size)
        found = features.read_image({"image": [PIXELS.tobytes()]}, layout, "")
        assert (found == PIXELS).all()
    with pytest.raises(RecordError, match=r"(?s)24 bytes .*such as --shape 32x32x3"):
        features.read_image({"image": [PIXELS.tobytes()]}, RecordLayout("image"), "")


VALUES = np.random.default_rng(5).integers(0, 256, (5, 7, 3), np.uint8)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("shape", [(5, 21), (5, 7, 3), (105, 1, 1)])
def test_pixels_are_those_that_tensorflow_serialized(kind, shape):
    array = VALUES.reshape(shape)
    found = features.read_tensor(tf.io.serialize_tensor(array.astype(kind)).numpy())
    assert found.dtype == kind
    assert np.array_equal(found, array)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((2, 2), np.float16),
        np.zeros(4, np.uint8),
        np.zeros((1, 2, 2, 1), np.uint8),
        np.zeros((0, 2), np.uint8),
    ],
    ids=["half floats", "one axis", "four axes", "empty"],
)
def test_other_tensors_are_no_pixels(array):
    assert features.read_tensor(tf.io.serialize_tensor(array).numpy()) is None


TENSORS = RecordLayout("image", "mask")


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.full((2, 2), 256, np.int32), r"the value 256 at \(0, 0\) of a tensor of int32"),
        (np.array([[0, 2], [-1, 0]], np.int64), r"the value -1 at \(1, 0\) of a tensor of int64"),
        (np.array([[0, 2.5]], np.float32), r"the value 2.5 at \(0, 1\) of a tensor of float32"),
        (np.array([[9, np.nan]], np.float32), "the value nan"),
    ],
)
def test_values_that_uint8_cannot_hold_are_named(array, words):
    record = {"image": [tf.io.serialize_tensor(array).numpy()]}
    with pytest.raises(RecordError, match=f"feature 'image': {words}"):
        features.read_image(record, TENSORS, "a.tfrecord, record 0")
    with pytest.raises(RecordError, match=f"feature 'mask': {words}"):
        features.read_mask({"mask": record["image"]}, TENSORS, "a.tfrecord, record 0")


def test_floats_are_read_if_they_say_what_white_is():
    image = VALUES.astype(np.float32)
    record = {"image": [tf.io.serialize_tensor(image).numpy()]}
    assert np.array_equal(features.read_image(record, TENSORS, "x"), VALUES)
    record = {"image": [tf.io.serialize_tensor(image / 255).numpy()]}
    with pytest.raises(RecordError, match="float32 whose highest value is 1"):
        features.read_image(record, TENSORS, "x")
    mask = np.eye(5, dtype=np.float32)
    record = {"mask": [tf.io.serialize_tensor(mask).numpy()]}
    assert np.array_equal(features.read_mask(record, TENSORS, "x"), mask)


def test_a_tensor_that_claims_more_than_it_holds_is_no_image():
    # dtype uint8, a shape of 2^40 x 2^40, and no values
    claim = b"\x08\x04\x12\x12" + b"\x12\x07\x08\x80\x80\x80\x80\x80\x20" * 2
    with pytest.raises(RecordError, match=f"{len(claim)} bytes in feature 'image_raw'"):
        features.read_image(raw(claim), RAW, "")


def test_what_is_read_of_damaged_bytes_tensorflow_reads_alike():
    rng = random.Random(0)
    whole = tf.io.serialize_tensor(VALUES[:2, :3].astype(np.int32)).numpy()
    read = 0
    for _ in range(2000):
        data = damaged(rng, whole)
        if (found := features.read_tensor(data)) is None:
            continue
        read += 1
        kind = {1: tf.float32, 4: tf.uint8, 3: tf.int32, 9: tf.int64}[_proto(data).dtype]
        assert np.array_equal(found, tf.io.parse_tensor(data, kind).numpy())
    assert read > 20


def _proto(data):
    from tensorflow.core.framework import tensor_pb2

    return tensor_pb2.TensorProto.FromString(data)
