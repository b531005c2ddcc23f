"""VIA's regions: their classes, their shapes, and what is refused."""

import csv
import io
import json

import numpy as np
import pytest
from support import drawing, folders

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
    "a null": ([{"kind": "car"}, {"kind": None}], "region 2: no value of the attribute kind"),
    "a number": ([{"kind": 1.5}], "the value 1.5 of an attribute"),
    "two ticks beside the class": (
        [{"class": "car", "quality": {"blur": True, "dark": True}}, {"class": "tree"}],
        ["car", "tree"],
    ),
    "numbers and nothing beside it": ([{"class": "car", "depth": 1.5, "note": None}], ["car"]),
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


# The same regions in the forms of VIA's files.

REGIONS_BY_IMAGE = {
    "a.jpg": [region(TRIANGLE, kind="car"), region(RECTANGLE, kind="tree")],
    "b.jpg": [region({"name": "circle", "cx": 20, "cy": 20, "r": 8}, kind="tree")],
    "c.jpg": [],
}


def as_csv(head="filename,"):
    text = io.StringIO()
    text.write(
        f"{head}file_size,file_attributes,region_count,region_id,region_shape_attributes,"
        "region_attributes\n"
    )
    rows = csv.writer(text)
    for name, regions in REGIONS_BY_IMAGE.items():
        for number, of_region in enumerate(regions):
            shape, attributes = of_region["shape_attributes"], of_region["region_attributes"]
            counts = (9, "{}", len(regions), number)
            rows.writerow([name, *counts, json.dumps(shape), json.dumps(attributes)])
        if not regions:
            rows.writerow([name, 9, "{}", 0, 0, "{}", "{}"])
    return text.getvalue()


def as_annotations():
    entries = {}
    for name, regions in REGIONS_BY_IMAGE.items():
        entries[f"{name}9"] = {"filename": name, "file_attributes": {}, "regions": regions}
    return json.dumps(entries)


NUMBERS = {"rect": (2, "x y width height"), "circle": (3, "cx cy r")}


def as_via_3(**changed):
    attribute = {"aname": "kind", "anchor_id": "FILE1_Z0_XY1", "type": 4}
    attribute["options"] = {"0": "car", "7": "tree"}
    data = {
        "project": {"pid": "__VIA_PROJECT_ID__", "data_format_version": "3.1.1"},
        "config": {},
        "attribute": {"1": attribute},
        "file": {},
        "view": {},
        "metadata": {"_file": {"vid": "1", "flg": 0, "z": [], "xy": [], "av": {"2": "day"}}},
    }
    for number, (name, regions) in enumerate(REGIONS_BY_IMAGE.items(), 1):
        data["file"][str(number)] = {"fid": str(number), "fname": name, "type": 2, "loc": 1}
        data["view"][str(number)] = {"fid_list": [str(number)]}
        for place, of_region in enumerate(regions):
            shape = of_region["shape_attributes"]
            if shape["name"] == "polygon":
                pairs = zip(shape["all_points_x"], shape["all_points_y"], strict=True)
                xy = [7, *(number for pair in pairs for number in pair)]
            else:
                kind, names = NUMBERS[shape["name"]]
                xy = [kind, *(shape[name] for name in names.split())]
            value = {"car": "0", "tree": "7"}[of_region["region_attributes"]["kind"]]
            record = {"vid": str(number), "flg": 0, "z": [], "xy": xy, "av": {"1": value}}
            data["metadata"][f"{number}_{place}"] = record
    return json.dumps(data | changed)


FORMS = {
    "via_region_data.json": as_annotations(),
    "via_region_data.csv": as_csv(),
    "via_1.csv": as_csv("#filename,"),
    "via_3.json": as_via_3(),
}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_of_vias_files_has_the_same_shapes(name):
    expected = via.read(File(FORMS["via_region_data.json"].encode(), "via_region_data.json"))
    found = via.read(File(FORMS[name].encode(), name))
    assert [image.image for image in found.annotations] == ["a.jpg", "b.jpg", "c.jpg"]
    for image, other in zip(found.annotations, expected.annotations, strict=True):
        assert image.shapes == other.shapes


@pytest.mark.parametrize("names", [[name] for name in FORMS] + [[*FORMS]])
def test_a_folder_of_each_form_is_read_and_several_forms_agree(tmp_path, names):
    for image in REGIONS_BY_IMAGE:
        drawing.put_image(tmp_path, image)
    for name in names:
        drawing.put(tmp_path, name, FORMS[name])
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "car", "tree")
    assert plan.splits == {"train": ["a", "b", "c"]}
    assert not plan.unused


def test_an_extreme_rectangle_is_the_box_around_its_points():
    record = {"vid": "1", "flg": 0, "z": [], "av": {"1": "0"}}
    points = [8, 9, 30, 4, 20, 2, 12, 34, 11]
    data = json.loads(as_via_3())
    data["metadata"] = {"1": {**record, "xy": points}}
    sheet = via.read(File(json.dumps(data).encode(), "via.json"))
    (shape,) = sheet.annotations[0].shapes
    assert (min(shape.points[::2]), max(shape.points[::2])) == (2, 34)
    assert (min(shape.points[1::2]), max(shape.points[1::2])) == (11, 30)


def of_via_3(text):
    return lambda: File(text.encode(), "via.json")


def of_csv(old, new):
    return lambda: File(as_csv().replace(old, new).encode(), "via.csv")


# What is wrong with a file of another form.
WRONG_FILES = {
    "two files": (
        of_via_3(as_via_3(view={"1": {"fid_list": ["1", "2"]}}, metadata={})),
        "of 2 files",
    ),
    "a video": (
        of_via_3(as_via_3(file={n: {"fname": "v.mp4", "type": 4} for n in "123"})),
        "no image",
    ),
    "no attribute": (of_via_3(as_via_3(attribute={})), "no '1'"),
    "no JSON": (of_csv('"{""name""', '"{name'), "CSV as VIA 1 and 2 write it"),
    "a cell more": (of_csv(",{},2,", ",{},2,,"), "other columns"),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_a_file_of_another_form_is_an_error(case):
    make_file, found = WRONG_FILES[case]
    with pytest.raises(MaskError, match=found):
        via.read(make_file())


@pytest.mark.parametrize("form", ["json", "csv"])
def test_two_entries_of_one_file_name_are_an_error_whatever_their_order(tmp_path, form):
    for name in "ab":
        drawing.put_image(tmp_path, f"{name}.jpg")
    rows = [("a.jpg", 1, {}), ("a.jpg", 2, TRIANGLE), ("b.jpg", 3, TRIANGLE)]
    for ordered in (rows, rows[::-1]):
        if form == "json":
            entries = {}
            for name, size, shape in ordered:
                regions = [region(shape, kind="car")] if shape else []
                entry = {"filename": name, "size": size, "regions": regions}
                entries[f"{name}{size}"] = {**entry, "file_attributes": {}}
            text = json.dumps(entries)
        else:
            out = io.StringIO()
            writer = csv.writer(out)
            writer.writerow(
                ["filename", "file_size", "region_shape_attributes", "region_attributes"]
            )
            for name, size, shape in ordered:
                attributes = {"kind": "car"} if shape else {}
                writer.writerow([name, size, json.dumps(shape), json.dumps(attributes)])
            text = out.getvalue()
        drawing.put(tmp_path, f"via_region_data.{form}", text)
        with pytest.raises(MaskError, match=r"image a\.jpg: 2 images of one file name"):
            folders.examples_of(tmp_path)
