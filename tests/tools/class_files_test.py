import contextlib
import csv
import io
import json

from etils import epath
import pytest

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.tools import class_file
from voc_seg_tfrecord.tools.class_texts import UNREADABLE
from voc_seg_tfrecord.tools.registry import CLASS_FILES


def _meta(names, colors="[]"):
    label_map = json.dumps({str(value): name for value, name in enumerate(names)})
    return f'{{"label_map": {label_map}, "segmentation_colors": {colors}}}'


def read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (found,) = class_file.read_class_files(epath.Path(tmp_path), CLASS_FILES).files
    return found


def test_names_of_colors_txt_may_have_blanks(tmp_path):
    found = read(tmp_path, "colors.txt", "neutral 224 224 192\nkiwi fruit 255 0 0\n")
    assert found.class_names == ("kiwi fruit",)
    assert [e.value for e in found.entries] == [0, 1]


def test_a_link_to_a_class_file_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "labelmap.txt").symlink_to("gone")
    with pytest.raises(LayoutError) as error:
        class_file.read_class_files(epath.Path(tmp_path), CLASS_FILES)
    assert error.value.found.startswith("this file cannot be read")
    assert "not readable as a class file" not in str(error.value)
    assert "correct the file" not in error.value.remedy


def test_blanks_around_a_name_and_lines_without_content_do_not_count(tmp_path):
    found = read(tmp_path, "dataset_meta.json", _meta([" a\n", "b\xa0"]))
    assert found.class_names == ("a", "b")
    (tmp_path / "dataset_meta.json").unlink()
    found = read(tmp_path, "_classes.csv", "\nPixel Value, Class\n\n0, a\n")
    assert found.class_names == ("a",)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("labelmap.txt", "apple:250,50::\n", "not readable"),
        ("labelmap.txt", "apple:250,50,300::\n", "not 0 to 255"),
        ("labelmap.txt", "a:::\na:::\n", "'a' twice"),
        ("labelmap.txt", "cat:9,9,9::\ndog:9,9,9::\n", "the color 9,9,9 for 'cat' and for 'dog'"),
        (
            "labelmap.txt",
            "sky:0,0,0::\nvoid:0,0,0::\n",
            "0,0,0 for 'sky' and for 'void'",
        ),
        ("class_names.txt", "", "no names"),
        ("dataset_meta.json", "{", "not readable"),
        ("dataset_meta.json", "[]", "not readable"),
        ("_classes.csv", "a,b\n", "Pixel Value"),
        ("colors.txt", "apple\n", "not readable"),
        ("_classes.csv", "Pixel Value, Class\n0\n", "has 1 of 2 cells"),
        ("_classes.csv", "Pixel Value, Class\n0, " + "a" * 200_000, "field larger"),
        ("labelmap.txt", "".join(f"c{n}:::\n" for n in range(300)), "300 names"),
        ("dataset_meta.json", '{"label_map":' * 30_000, "not readable"),
        ("dataset_meta.json", _meta(["a"], "[[1e400, 0, 0]]"), "infinity"),
        ("dataset_meta.json", _meta([None]), "name of a class is None"),
        ("dataset_meta.json", '{"labels": {"0": "a"}}', "not a list"),
        ("dataset_meta.json", '{"labels": ["a"], "label_map": {"0": "b"}}', "labels does not"),
        ("dataset_meta.json", '{"version": 1}', "no names"),
        ("dataset_meta.json", '{"label_map": {"-5": "a"}}', "value -5"),
        ("dataset_meta.json", '{"label_map": {"300": "a"}}', "value 300"),
        ("dataset_meta.json", _meta(["a", "\xa0"]), "without a name, at value 1"),
        ("dataset_meta.json", _meta(["a\rb"]), "control character"),
        ("dataset_meta.json", _meta(["a\u2028b"]), "control character"),
        ("dataset_meta.json", r'{"label_map": {"0": "\ud800"}}', "control character"),
        ("class_names.txt", "a\x07\n", "control character"),
        ("class_names.txt", "a\u2028b\nc\n", "control character"),
        ("class_dict.csv", "name,r,g,b\na\x85b,1,2,3\n", "control character"),
        ("labelmap.csv", "id,name,id\n0,sky,1\n", "id is '0' and '1' for one class"),
        ("class_dict.csv", "name,r,g,b\nsky,0,0\n", "3 of 4 cells"),
        ("class_dict.csv", "sky,0,0,0\nroad\ncar,1,2,3\n", "no color in 'road'"),
        ("class_dict.csv", "id,index,name\n0,1,sky\n", "several values"),
        ("labelmap.csv", "Label,count\nsky,7\nroad,9\n", "'Label,count' names no value and no"),
        ("labelmap.csv", "0.5,sky\n1.5,road\n", "value '0.5' of a class is not a whole number"),
        ("labelmap.csv", "id,name\nx,sky\n", "the value 'x' of a class is not a whole number"),
        ("labelmap.csv", 'id,name\n0,sky\n1,"road\n2,car\n', "open at the end of '1,\"road'"),
        ("labelmap.csv", 'id,name\n0,sky\n1,"road\n2,car"\n', "open at the end of '1,\"road'"),
        ("label_colors.txt", "1 128 0 0 sky\n2 0 128 0 road\n", "which are the color"),
        ("label_colors.txt", "0 0 0 1 2 3\n", "a color and a name"),
        ("label_colors.txt", "sky 0.5 0.5 1\nroad 0 0 1\n", "not readable"),
        ("labelmap.csv", "0,sky\n1,road\ncar\n", "no value in 'car'"),
        ("labelmap.csv", "1,crack\n2,hole\n3,hole\n", "the name 'hole' twice"),
        (
            "label_colors.txt",
            "0: sky 9 9 9\n1: road 1 2 3\n2: road 4 5 6\n",
            "the name 'road' twice",
        ),
        ("labelmap.csv", "0,sky\n0,road\n", "the value 0 for 'sky' and for 'road'"),
        ("_classes.csv", "Pixel Value, Class\n1, a\n1, b\n", "the value 1 for 'a' and for 'b'"),
    ],
)
def test_what_no_tool_writes_or_what_may_mean_two_things_is_refused(tmp_path, name, text, words):
    with pytest.raises(LayoutError, match=words):
        read(tmp_path, name, text)


@pytest.mark.parametrize("name", ["&amp;", "a;b", "a,", ";", ",", "a;;", '"a"', "7", "a:1,2,3"])
def test_a_name_survives_the_class_file_of_an_export(tmp_path, name):
    text = io.StringIO()
    csv.writer(text).writerows([("id", "name"), (0, "background"), (1, name)])
    assert read(tmp_path, "labelmap.csv", text.getvalue()).class_names == ("background", name)


@pytest.mark.parametrize("name", ["Void", "VOID", "ignore", "Ignored", "__IGNORE__"])
def test_a_class_that_means_void_does_so_in_any_spelling(tmp_path, name):
    found = read(tmp_path, "labelmap.txt", f"background:0,0,0::\n{name}:9,9,9::\ncat:1,2,3::\n")
    assert found.class_names == ("background", "cat")


@pytest.mark.parametrize("label", ["1", 1, "ground"])
def test_datumaro_says_which_class_is_background(tmp_path, label):
    meta = {"label_map": {"0": "cat", "1": "ground"}, "background_label": label}
    found = read(tmp_path, "dataset_meta.json", json.dumps(meta))
    assert found.background == "ground"


LABELS = ["sky", "long road", "head"]
"""The last one has no color in what datumaro writes about masks in colors."""


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"labels": LABELS, "parts": {"0": []}}, dict(enumerate(LABELS))),
        (
            {
                "labels": LABELS,
                "label_map": {"0": "sky", "1": "long road"},
                "segmentation_colors": [[0, 0, 0], [128, 64, 128]],
            },
            {0: "sky", 1: "long road"},
        ),
        ({"labels": LABELS, "label_map": {}, "segmentation_colors": []}, dict(enumerate(LABELS))),
    ],
)
def test_the_classes_that_datumaro_writes_are_those_that_its_masks_hold(tmp_path, meta, expected):
    found = read(tmp_path, "dataset_meta.json", json.dumps(meta))
    assert {entry.value: entry.name for entry in found.entries} == expected
    assert found.has_colors == bool(meta.get("segmentation_colors"))


def test_a_color_that_datumaro_leaves_open_is_none(tmp_path):
    found = read(tmp_path, "dataset_meta.json", _meta(["sky", "road"], "[[0, 0, 0], null]"))
    assert [entry.color for entry in found.entries] == [(0, 0, 0), None]


def test_a_file_of_256_classes_is_refused_because_255_is_void(tmp_path):
    names = [f"class {n}" for n in range(256)]
    with pytest.raises(LayoutError, match="255 is void"):
        read(tmp_path, "class_names.txt", "\n".join(names))
    found = read(tmp_path, "class_names.txt", "\n".join([*names[:255], "Void"]))
    assert len(found.class_names) == 255


def meaning(found):
    return {entry.value: (entry.name, entry.color) for entry in found.entries}


BY_COLOR = {0: ("sky", (0, 0, 0)), 1: ("long road", (128, 64, 128))}
BY_NUMBER = {0: ("sky", None), 2: ("long road", None)}
BY_PLACE = {0: ("sky", None), 1: ("long road", None)}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("labelmap.txt", "# c\nsky:0,0,0::\nlong road:128,64,128::\n", BY_COLOR),
        ("labelmap.txt", "a:::\nb/c:::\n", {0: ("a", (0, 0, 0)), 1: ("b/c", (128, 0, 0))}),
        ("class_names.txt", "sky\nlong road", BY_PLACE),
        ("_classes.csv", "Pixel Value, Class\n0, sky\n2, long road\n", BY_NUMBER),
        ("dataset_meta.json", _meta(["sky", "long road"], "[[0, 0, 0], [128, 64, 128]]"), BY_COLOR),
        ("class_dict.csv", "name,r,g,b\nsky,0,0,0\nlong road,128,64,128\n", BY_COLOR),
        (
            "class_dict.csv",
            "\ufeffName; R; G; B\r\nsky;0;0;0\r\n\r\nlong road;128;64;128\r\n",
            BY_COLOR,
        ),
        ("class_dict.csv", "sky,0,0,0\nlong road,128,64,128,\n", BY_COLOR),
        ("class_dict.csv", "r,g,b,class\n0,0,0,sky\n128,64,128,long road\n", BY_COLOR),
        ("class_dict.csv", "id,name,color\n0,sky,#000000\n1,long road,#804080\n", BY_COLOR),
        ("class_dict.csv", 'name,color\nsky,"0, 0, 0"\nlong road,"(128, 64, 128)"\n', BY_COLOR),
        ("labelmap.csv", 'Label,color_rgb\nsky,"0,0,0"\nlong road,"128,64,128"\n', BY_COLOR),
        ("label_colors.txt", "0 0 0\tsky\n128 64 128\tlong road\n", BY_COLOR),
        ("label_colors.txt", "# by hand\nsky 0 0 0\n\nlong road 128 64 128\n", BY_COLOR),
        ("label_colors.txt", "0 sky 0 0 0\n1 long road 128 64 128\n", BY_COLOR),
        ("label_colors.txt", "sky: #000000\nlong road: #804080\n", BY_COLOR),
        ("label_colors.txt", "#000000 sky\n#804080 long road\n", BY_COLOR),
        ("label_colors.txt", "color,name\n#000000,sky\n#804080,long road\n", BY_COLOR),
        ("label_colors.txt", "# by hand\n#\nsky #000000\nlong road #804080", BY_COLOR),
        ("labels.txt", "#numbers\n0 sky\n2 long road\n", BY_NUMBER),
        (
            "labelmap.txt",
            "# c\n#c\n#a:0,0,0::\nb:1,2,3::",
            {0: ("#a", (0, 0, 0)), 1: ("b", (1, 2, 3))},
        ),
        ("labelmap.csv", "classname,classid\nsky,0\nlong road,2\n", BY_NUMBER),
        ("labelmap.csv", "id\tname\n0\tsky\n2\tlong road\n", BY_NUMBER),
        ("labelmap.csv", "class,name\n0,sky\n2,long road\n", BY_NUMBER),
        ("labels.txt", "0 sky\n2 long road\n", BY_NUMBER),
        ("labels.txt", "0: sky\n2: long road\n", BY_NUMBER),
        ("labels.txt", "0.sky\n2.long road\n", BY_NUMBER),
        ("labels.txt", "0.0 sky\n2.0 long road\n", BY_NUMBER),
        ("labels.txt", "0.0,sky\n2.0,long road\n", BY_NUMBER),
        ("labels.txt", "sky,0.0\nlong road,2.0\n", BY_NUMBER),
        ("labelmap.csv", "id,name\n0.0,sky\n2.0,long road\n", BY_NUMBER),
        ("labelmap.csv", "class,name\n2.0,long road\n0.0,sky\n", BY_NUMBER),
        ("labels.txt", "sky: 0\nlong road: 2\n", BY_NUMBER),
        ("labels.txt", "sky\nlong road", BY_PLACE),
        ("labels.txt", "long road 2\nsky 0", BY_NUMBER),
        ("classes.txt", "sky, long road\n", BY_PLACE),
        ("classes.txt", "sky; long road\n", BY_PLACE),
        (
            "classes.txt",
            "sky, lane1, lane 2\n",
            {0: ("sky", None), 1: ("lane1", None), 2: ("lane 2", None)},
        ),
        ("classes.txt", "0: sky, 2: long road\n", BY_NUMBER),
        ("classes.txt", "sky 0 0 0, long road 128 64 128\n", BY_COLOR),
        ("classes.txt", "3, crack\n", {3: ("crack", None)}),
        ("classes.txt", "crack,#ff0000\n", {0: ("crack", (255, 0, 0))}),
        (
            "labels.txt",
            "crack 1 128 0 0\nhole 2 0 0 1\n",
            {1: ("crack", (128, 0, 0)), 2: ("hole", (0, 0, 1))},
        ),
        ("classes.txt", "sky;\nlong road\n", BY_PLACE),
        ("classes.txt", "sky,\nlong road,\n", BY_PLACE),
        ("classes.txt", "name\nsky\nlong road\n", BY_PLACE),
        ("classes.txt", "class 1\nclass 2\n", {0: ("class 1", None), 1: ("class 2", None)}),
        ("classes.txt", "2 wheels\ncar\n", {0: ("2 wheels", None), 1: ("car", None)}),
        ("classes.json", '["sky", "long road"]', BY_PLACE),
        ("classes.json", '{"sky": 0, "long road": 2}', BY_NUMBER),
        ("classes.json", '{"sky": "0", "long road": "2"}', BY_NUMBER),
        (
            "classes.json",
            '[{"name": "sky", "color_rgb": [0, 0, 0]},'
            ' {"name": "long road", "Color Code": "#804080", "color": [128, 64, 128]}]',
            BY_COLOR,
        ),
        ("classes.json", '{"0": "sky", "2": "long road"}', BY_NUMBER),
        ("classes.json", '{"sky": [0, 0, 0], "long road": [128, 64, 128]}', BY_COLOR),
        ("classes.json", '{"sky": {"id": 0}, "long road": {"id": 2}}', BY_NUMBER),
        ("classes.json", '{"0": {"name": "sky"}, "2": {"name": "long road"}}', BY_NUMBER),
        ("classes.json", '[{"id": 0, "name": "sky"}, {"id": 2, "name": "long road"}]', BY_NUMBER),
        (
            "classes.json",
            '{"classes": [{"title": "x", "name": "sky", "color": "#000000"},'
            ' {"name": "long road", "color": [128, 64, 128]}]}',
            BY_COLOR,
        ),
    ],
)
def test_files_by_hand_are_read_in_the_forms_that_occur(tmp_path, name, text, expected):
    assert meaning(read(tmp_path, name, text)) == expected


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("labels.txt", "a.jpg 3\nb.jpg 5\n", "the image 'a.jpg' in line 1"),
        ("labels.txt", "a 3\nb 5\n", "ids of images, such as 'a'"),
        ("labels.txt", "cat 3\ndog 3\n", "the value 3 for 'cat' and for 'dog'"),
        ("classes.txt", "0 0.1 0.2\n0 0.1 0.3\n", "the value 0"),
        ("classes.txt", "x" * (1 << 20) + "\ny", "too large"),
        ("classes.json", '{"a": 0, "a": 1}', "the key 'a' twice"),
        ("classes.json", '[{"name": "a", "id": 0}, {"name": "b"}]', "some classes have a value"),
        ("classes.json", '{"a": [0.5, 0.5, 1]}', "not in whole numbers"),
        ("classes.json", '{"version": 1.5}', "not readable"),
        ("classes.json", '{"a": true}', "neither a value nor a color"),
        ("classes.json", '{"1": 2}', "has no name"),
        (
            "classes.json",
            '[{"name": "a", "color": "#800000", "color_rgb": [0, 0, 1]}]',
            "for one class",
        ),
        ("classes.json", '{"1": {"id": 7, "name": "a"}}', "id is '1' and 7 for one class"),
        ("classes.json", '{"a": {"name": "b"}, "c": {}}', "name is 'a' and 'b' for one class"),
        ("classes.txt", "1, crack, hole\n", "may be one class or several"),
        ("classes.txt", "crack\nhole,\nlane\n", "a mark at the end of 'hole,'"),
        ("classes.txt", "name\n\na\n\nb\n", "an empty line after 'a'"),
        ("classes.txt", "a\n#b\nc\n", "'#b', which may be a comment or a name"),
        ("classes.txt", "name,r,g,b\n#b,1,2,3\nc,4,5,6\n", "'#b,1,2,3', which may be a comment"),
        ("classes.txt", "a\nb;\nc\n", "a mark at the end of 'b;'"),
        ("classes.txt", "0 a\n1 b,\n2 c\n", "a mark at the end of '1 b,'"),
        ("classes.txt", "['a', 'b']", "brackets around the names"),
        ("classes.txt", '[\n"a",\n"b"\n]\n', "brackets around the names"),
    ],
)
def test_a_file_of_a_common_name_that_holds_something_else_is_no_class_file(
    tmp_path, name, text, words
):
    (tmp_path / name).write_text(text)
    result = class_file.read_class_files(epath.Path(tmp_path), CLASS_FILES, {"a", "b"})
    (error,) = result.misnamed
    assert not result.files
    assert words in str(error)


UNITS = (" ", ",", ", ", ";", ":", "=", "1", "1 ", "1,", " 1.5", "a ", "a, ", "#", "-", "-1 ")
UNITS += ('"', "(")


@pytest.mark.usefixtures("two_seconds")
@pytest.mark.parametrize("parse", dict.fromkeys(kind.parse for kind in CLASS_FILES))
def test_a_long_line_takes_no_more_time_than_its_length(parse):
    for unit in UNITS:
        run = unit * (10_000 // len(unit))
        for line in (f"a{run}b", f"a{run}1 1 1x", f"1 a{run}2 3 4", f"1{run}b"):
            with contextlib.suppress(*UNREADABLE):
                parse(f"{line}\n{line}1\n")
