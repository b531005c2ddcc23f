import dataclasses

import numpy as np
import pytest

from voc_seg_tfrecord.interop import layouts
from voc_seg_tfrecord.interop.layouts import RecordLayout

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
