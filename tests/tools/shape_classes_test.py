"""Folders of shapes whose classes have one name, or whose labels a list of classes lacks."""

import functools
import json

import pytest
from support import drawing, folders

from voc_seg_tfrecord.commands import cli

pytest.importorskip("pycocotools")

refused = functools.partial(folders.refused, class_names=None)

# Two names that are one; what an error shows of them.
SAME_NAMES = {
    "twice": ("road", "road", "the name 'road' twice"),
    "a blank at the end": ("road", "road ", "'road' and 'road '"),
    "two blanks": ("car road", "car  road", "'car road' and 'car  road'"),
    "a blank that does not break": ("car road", "car\u00a0road", r"'car\xa0road'"),
    "no width": ("road", "ro\u200bad", r"'road' and 'ro\u200bad'"),
    "a joiner": ("road", "road\u2060", r"'road\u2060'"),
    "a byte order mark": ("road", "\ufeffroad", r"'\ufeffroad'"),
    "a soft hyphen": ("road", "ro\u00adad", r"'ro\xadad'"),
    "a variant": ("road\ufe0f", "road", r"'road\ufe0f'"),
    "composed": ("caf\u00e9", "cafe\u0301", r"'cafe\u0301'"),
    "wide letters": ("road", "\uff52\uff4f\uff41\uff44", r"'\uff52\uff4f\uff41\uff44'"),
}
SQUARE = [[1, 1], [20, 1], [20, 20], [1, 20]]
FRACTIONS = "0.1 0.1 0.5 0.1 0.5 0.5"


def put_images(root, *names):
    for name in names:
        drawing.put_image(root, name)
    return root


def write_coco(root, first, second):
    put_images(root, "a.jpg", "b.jpg")
    outline = {"segmentation": [[1, 1, 20, 1, 20, 20]], "iscrowd": 0}
    content = {
        "images": [
            {"id": n, "file_name": f"{name}.jpg", "width": 64, "height": 48}
            for n, name in enumerate("ab")
        ],
        "categories": [{"id": 3, "name": first}, {"id": 5, "name": second}],
        "annotations": [
            {"id": 1, "image_id": 0, "category_id": 3, **outline},
            {"id": 2, "image_id": 1, "category_id": 5, **outline},
        ],
    }
    drawing.put(root, "all.json", content)


def write_yolo(root, first, second):
    put_images(root, "images/a.jpg", "images/b.jpg")
    drawing.put(root, "data.yaml", json.dumps({"names": [first, second]}))
    drawing.put(root, "labels/a.txt", f"0 {FRACTIONS}\n1 {FRACTIONS}\n")
    drawing.put(root, "labels/b.txt", f"1 {FRACTIONS}\n")


def write_cvat(root, first, second):
    put_images(root, "a.jpg", "b.jpg")
    labels = "".join(f"<label><name>{name}</name></label>" for name in (first, second))
    points = "1,1;20,1;20,20"
    images = "".join(
        f'<image id="{n}" name="{name}.jpg" width="64" height="48">'
        f'<polygon label="{label}" points="{points}"/></image>'
        for n, (name, label) in enumerate((("a", first), ("b", second)))
    )
    head = f"<meta><task><labels>{labels}</labels></task></meta>"
    drawing.put(root, "annotations.xml", f"<annotations>{head}{images}</annotations>")


def write_labelme(root, *labels):
    for name, label in zip("abcdef", labels, strict=False):
        put_images(root, f"{name}.jpg")
        shape = {"label": label, "points": SQUARE, "shape_type": "polygon"}
        drawing.put(root, f"{name}.json", {"shapes": [shape], "imagePath": f"{name}.jpg"})


def write_via(root, *labels):
    entries = {}
    for name, label in zip("abcdef", labels, strict=False):
        put_images(root, f"{name}.jpg")
        x, y = zip(*SQUARE, strict=True)
        outline = {"name": "polygon", "all_points_x": x, "all_points_y": y}
        region = {"shape_attributes": outline, "region_attributes": {"class": label}}
        entries[name] = {"filename": f"{name}.jpg", "regions": [region], "file_attributes": {}}
    drawing.put(root, "via_region_data.json", entries)


def write_supervisely(root, first, second):
    for name, label in (("a", first), ("b", second)):
        put_images(root, f"ds/img/{name}.jpg")
        geometry = {"exterior": SQUARE, "interior": []}
        item = {"classTitle": label, "geometryType": "polygon", "points": geometry}
        content = {"size": {"height": 48, "width": 64}, "objects": [item], "tags": []}
        drawing.put(root, f"ds/ann/{name}.jpg.json", content)
    drawing.put(root, "meta.json", {"classes": [{"title": first}, {"title": second}]})


def write_masks(root, first, second):
    drawing.write(root, "ab images/{}.jpg masks/{}.png")
    drawing.put(root, "classes.json", json.dumps(["background", first, second]))


WRITERS = {
    "COCO": write_coco,
    "YOLO": write_yolo,
    "CVAT": write_cvat,
    "labelme": write_labelme,
    "VIA": write_via,
    "Supervisely": write_supervisely,
    "classes.json": write_masks,
}
# Labels alone are one class if they are the same text.
WITHOUT_LIST = ("labelme", "VIA")


@pytest.mark.parametrize("form", SAME_NAMES)
def test_two_classes_of_one_name_are_an_error_with_both(tmp_path, form):
    first, second, words = SAME_NAMES[form]
    write_coco(tmp_path, first, second)
    found = refused(tmp_path, "the names? ")
    assert words in found
    assert "category 3" in found
    assert "category 5" in found


@pytest.mark.parametrize("tool", WRITERS)
@pytest.mark.parametrize("form", ["twice", "no width"])
def test_each_tool_refuses_two_classes_of_one_name(tmp_path, tool, form):
    first, second, words = SAME_NAMES[form]
    if first == second and tool in WITHOUT_LIST:
        return  # one label
    WRITERS[tool](tmp_path, first, second)
    assert words in refused(tmp_path, "the names? ")


@pytest.mark.parametrize("tool", WRITERS)
def test_classes_that_differ_in_case_alone_are_two_and_a_note_merges_them(tmp_path, tool):
    WRITERS[tool](tmp_path, "Road", "road")
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "Road", "road")
    (note,) = [note for note in plan.notes if "only in spelling" in note]
    assert note.endswith("If they are one class, give --classes road=Road.")
    merged = folders.plan_of(tmp_path, class_names=None, classes={"road": "Road"})
    assert merged.config.built_class_names == ("background", "Road")
    assert "only in spelling" not in str(merged.notes)


@pytest.mark.parametrize("form", SAME_NAMES)
def test_names_that_the_user_gives_are_checked_by_the_same_rule(tmp_path, form):
    first, second, words = SAME_NAMES[form]
    drawing.write(tmp_path, "ab images/{}.jpg masks/{}.png")
    names = ["background", first, second]
    with pytest.raises(ValueError, match=r"option class_names: the names? ") as caught:
        folders.plan_of(tmp_path, class_names=names)
    assert form == "a blank at the end" or words in str(caught.value)


def test_a_class_of_one_name_in_the_files_of_two_splits_is_one(tmp_path):
    for split in ("train", "val"):
        write_coco(tmp_path / split, "road", "car")
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "road", "car")
    write_coco(tmp_path / "val", "road ", "car")
    found = refused(tmp_path, "'road' and 'road '")
    assert "train/all.json, category 3" in found
    assert "val/all.json, category 3" in found


def test_a_category_of_roboflow_that_groups_a_class_of_its_name_is_no_class(tmp_path):
    write_coco(tmp_path, "tree", "road")
    content = json.loads((tmp_path / "all.json").read_text())
    content["categories"] = [
        {"id": 0, "name": "road", "supercategory": "none"},
        {"id": 3, "name": "tree", "supercategory": "road"},
        {"id": 5, "name": "road", "supercategory": "road"},
    ]
    drawing.put(tmp_path, "all.json", content)
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "tree", "road")
    content["annotations"][0]["category_id"] = 0  # then it is a class of its own
    drawing.put(tmp_path, "all.json", content)
    refused(tmp_path, "the name 'road' twice")


def test_labels_of_a_project_of_cvat_may_stand_in_each_of_its_tasks(tmp_path):
    write_cvat(tmp_path, "road", "car")
    text = (tmp_path / "annotations.xml").read_text()
    labels = text[text.index("<labels>") : text.index("</labels>") + len("</labels>")]
    parts = "".join(f"<label><name>{n}</name><parent>body</parent></label>" for n in (1, 2, 1, 2))
    skeleton = labels.replace("</labels>", f"{parts}</labels>")
    project = f"<project>{skeleton}<tasks><task>{labels}</task></tasks></project>"
    drawing.put(tmp_path, "annotations.xml", text.replace(f"<task>{labels}</task>", project))
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "road", "car")


# The list of classes, labels of shapes, and the classes or what an error says.
LISTS = {
    "all": ("tree\nroad\n", ("road", "tree"), ("background", "tree", "road")),
    "one typo": ("tree\nroad\n", ("road", "tree", "raod"), "1 (raod): the label 'raod'"),
    "one typo alone": ("tree\nroad\n", ("Road",), "did you mean 'road'?"),
    "a new class": ("tree\nroad\n", ("road", "tree", "house"), "'house', which labels.txt lacks"),
    "two": ("tree\n", ("tree", "car", "bus"), "labels.txt lacks these too: 'car' in "),
    "another set's": ("wheat\nmaize\n", ("road", "tree"), ("background", "road", "tree")),
    "void": ("tree\nroad\n", ("road", "ignore"), ("background", "tree", "road")),
    "another set's, and void": (
        "wheat\nmaize\n",
        ("road", "tree", "ignore"),
        ("background", "road", "tree"),
    ),
    "void alone": ("tree\nroad\n", ("ignore",), ("background", "tree", "road")),
    "blanks": ("tree\nroad\n", ("road", "road "), ("background", "tree", "road")),
}


@pytest.mark.parametrize("write", [write_labelme, write_via])
@pytest.mark.parametrize("kind", LISTS)
def test_a_label_that_the_list_of_classes_lacks_is_an_error(tmp_path, kind, write):
    text, labels, outcome = LISTS[kind]
    write(tmp_path, *labels)
    drawing.put(tmp_path, "labels.txt", text)
    if isinstance(outcome, str):
        assert outcome in refused(tmp_path, "expected: one of tree")
    else:
        assert folders.plan_of(tmp_path, class_names=None).config.class_names == outcome


def test_a_label_that_looks_like_a_class_is_read_as_it_with_a_note(tmp_path):
    write_labelme(tmp_path, "road", "ro\u200bad")
    drawing.put(tmp_path, "labels.txt", "road\n")
    plan = folders.plan_of(tmp_path, class_names=None)
    assert plan.config.class_names == ("background", "road")
    assert any(r"The label 'ro\u200bad' in b.json, shape 1" in note for note in plan.notes)


def test_a_label_that_its_list_lacks_stops_a_build_only_if_polygons_are_read(tmp_path):
    write_labelme(tmp_path / "images", "road", "raod")
    drawing.put(tmp_path, "images/labels.txt", "road\n")
    for name in "ab":
        drawing.put_mask(tmp_path, f"masks/{name}.png", drawing.truth(name))
    plan = folders.plan_of(tmp_path)
    assert "b.json" in str(plan.notes)
    assert cli.main(["check", str(tmp_path), "--class_names", "a,b,c"]) == 0


def test_a_class_of_supervisely_that_meta_json_lacks_is_an_error(tmp_path):
    write_supervisely(tmp_path, "road", "tree")
    drawing.put(tmp_path, "meta.json", {"classes": [{"title": "road"}]})
    assert "'tree', which meta.json lacks" in refused(tmp_path, r"ds/ann/b\.jpg\.json, object 1")


@pytest.mark.parametrize("write", [write_labelme, write_via])
def test_two_lists_of_classes_in_different_orders_are_an_error(tmp_path, write):
    write(tmp_path, "cat", "dog")
    drawing.put(tmp_path, "a/labels.txt", "cat\ndog\n")
    drawing.put(tmp_path, "b/labels.txt", "dog\ncat\n")
    words = r"'cat' has the number 1 by a/labels\.txt, and 2 by b/labels\.txt"
    refused(tmp_path, words)
    drawing.put(tmp_path, "b/labels.txt", "cat\ndog\nbird\n")
    names = folders.plan_of(tmp_path, class_names=None).config.class_names
    assert names == ("background", "cat", "dog")


def test_a_list_of_classes_beside_the_shapes_comes_before_one_of_another_folder(tmp_path):
    write_labelme(tmp_path / "b", "cat", "dog")
    drawing.put(tmp_path, "a/labels.txt", "cat\ndog\n")
    drawing.put(tmp_path, "b/labels.txt", "dog\ncat\n")
    names = folders.plan_of(tmp_path, class_names=None).config.class_names
    assert names == ("background", "dog", "cat")
    drawing.put(tmp_path, "labels.txt", "cat\ndog\n")
    refused(tmp_path, "'cat' has the number 1 by labels.txt, and 2 by b/labels.txt")
