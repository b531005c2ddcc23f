"""VIA's regions: their classes, their shapes, and what is refused."""

import json

import numpy as np
import pytest

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import via
from voc_seg_tfrecord.tools.drawing import draw

pytest.importorskip("pycocotools")

SIZE = (40, 50)
TRIANGLE = {"name": "polygon", "all_points_x": [5, 30, 20], "all_points_y": [5, 8, 34]}
RECTANGLE = {"name": "rect", "x": 4, "y": 6, "width": 10, "height": 20}


def region(shape=TRIANGLE, **attributes):
    return {"shape_attributes": shape, "region_attributes": attributes}


def read(*regions, wrap=list):
    entry = {"filename": "north\\a.jpg", "size": 9, "file_attributes": {}, "regions": wrap(regions)}
    return via.read(File(json.dumps({"a.jpg9": entry}).encode(), "walls/via.json"))


def labels_of(sheet):
    (image,) = sheet.annotations
    if image.error:
        raise image.error
    return [shape.label for shape in image.shapes]


def as_object(regions):
    return {str(number): region for number, region in enumerate(regions)}


# The attributes of two regions, and their classes; a text is that of an error.
CLASSES = {
    "a text": ([{"what": "car"}, {"what": " tree "}], ["car", " tree "]),
    "no attribute": ([{}, {}], ["region", "region"]),
    "an empty text": ([{"name": ""}, {"name": ""}], ["region", "region"]),
    "a tick": ([{"kind": {"car": True, "tree": False}}, {"kind": {"tree": True}}], ["car", "tree"]),
    "one called label": ([{"Label": "car", "color": "red"}, {"Label": "tree"}], ["car", "tree"]),
    "two attributes": ([{"name": "x", "type": "car"}, {}], "the attributes name, type of regions"),
    "two called so": ([{"class": "x", "label": "car"}, {}], "the attributes class, label"),
    "two ticks": ([{"kind": {"car": True, "tree": True}}, {}], "several values of an attribute"),
    "one without": ([{"kind": "car"}, {}], "region 2: no value of the attribute kind"),
}


@pytest.mark.parametrize("wrap", [list, as_object])
@pytest.mark.parametrize("case", CLASSES)
def test_the_class_of_a_region_is_its_attribute(case, wrap):
    attributes, expected = CLASSES[case]
    regions = [region(**of_region) for of_region in attributes]
    if isinstance(expected, str):
        with pytest.raises(MaskError, match=expected):
            labels_of(read(*regions, wrap=wrap))
    else:
        sheet = read(*regions, wrap=wrap)
        assert labels_of(sheet) == expected
        assert ("all are one, called region" in str(sheet.notes)) == ("region" in expected)


# Shapes, and the pixels that they surely have and lack, as x and y.
SHAPES = {
    "polygon": (TRIANGLE, [(18, 14)], [(5, 30), (40, 9)]),
    "rect": (RECTANGLE, [(5, 7), (12, 24)], [(3, 7), (16, 10)]),
    "circle": ({"name": "circle", "cx": 20, "cy": 20, "r": 8}, [(26, 20)], [(26, 26)]),
    "ellipse": ({"name": "ellipse", "cx": 20, "cy": 20, "rx": 12, "ry": 4}, [(30, 20)], [(20, 28)]),
    "turned": (
        {"name": "ellipse", "cx": 20, "cy": 20, "rx": 12, "ry": 4, "theta": 1.5708},
        [(20, 30)],
        [(28, 20)],
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_region_is_drawn_where_it_lies(name):
    shape, inside, outside = SHAPES[name]
    (image,) = read(region(shape, kind="car")).annotations
    mask = draw(image, {"car": 1}, SIZE).mask
    assert all(mask[y, x] for x, y in inside)
    assert not any(mask[y, x] for x, y in outside)


def test_points_and_lines_have_no_area_and_are_counted():
    line = {"name": "polyline", "all_points_x": [1, 2], "all_points_y": [1, 2]}
    point = {"name": "point", "cx": 4, "cy": 4}
    (image,) = read(*(region(shape, kind="car") for shape in (line, point, TRIANGLE))).annotations
    assert image.left_out == {"polyline": 1, "point": 1}
    assert np.count_nonzero(draw(image, {"car": 1}, SIZE).mask) > 100


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ({"name": "polygon", "all_points_x": [1, 2, 3], "all_points_y": [1, 2]}, "argument 2"),
        ({"name": "polygon", "all_points_x": [1, 2], "all_points_y": [1, 2]}, "4 coordinates"),
        ({"name": "polygon", "all_points_x": ["a"] * 3, "all_points_y": [1] * 3}, "coordinate"),
        ({"name": "heart"}, "the kind 'heart'"),
        ({"name": "rect", "x": 4}, "no 'y'"),
        ({}, "no 'name'"),
    ],
)
def test_what_is_wrong_with_a_region_is_the_error_of_its_image(shape, found):
    (image,) = read(region(shape, kind="car")).annotations
    assert str(image.error).startswith("walls/via.json, image north/a.jpg, region 1")
    assert found in str(image.error)


@pytest.mark.parametrize("text", ["[3]", "[]", "{", '{"a": 3}', '{"a": {"regions": 3}}'])
def test_json_of_another_kind_is_an_error(text):
    with pytest.raises(MaskError, match=r"walls/via\.json: "):
        via.read(File(text.encode(), "walls/via.json"))


def test_a_project_holds_the_same():
    entry = {"filename": "a.jpg", "regions": [region(kind="car")], "file_attributes": {}}
    project = {"_via_settings": {}, "_via_img_metadata": {"a.jpg9": entry}, "_via_attributes": {}}
    sheet = via.read(File(json.dumps(project).encode(), "via.json"))
    assert labels_of(sheet) == ["car"]
