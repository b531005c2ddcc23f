"""Shapes that are no segmentation, or one twice: boxes alone, two labelings, equal attributes."""

import json

import pytest
from support import drawing, folders

from voc_seg_tfrecord.core.errors import VocSegError

BOXES_ALONE = "boxes alone, which are no segmentation"
X = [2, 9, 12, 3]
Y = [2, 3, 9, 8]
POLYGON_OF_VIA = {"name": "polygon", "all_points_x": X, "all_points_y": Y}
RECT_OF_VIA = {"name": "rect", "x": 2, "y": 2, "width": 8, "height": 5}


def labelme(root, *kinds):
    outline = [*zip(X, Y, strict=True)]
    points = {"rectangle": [[2, 2], [9, 8]], "point": [[5, 5]], "polygon": outline}
    for name in "ab":
        drawing.put_image(root, f"{name}.jpg")
        shapes = [{"label": "gate", "points": points[k], "shape_type": k} for k in kinds]
        height, width = drawing.SIZE
        size = {"imageHeight": height, "imageWidth": width}
        content = {"shapes": shapes, "imagePath": f"{name}.jpg", "imageData": None, **size}
        drawing.put(root, f"{name}.json", json.dumps(content))


def via(root, *shapes, file="via_region_data.json", attributes=None, names=("a", "b")):
    entries = {}
    for name in names:
        drawing.put_image(root, f"{name}.jpg")
        regions = [
            {"shape_attributes": shape, "region_attributes": attributes or {"type": "gate"}}
            for shape in shapes
        ]
        entries[name] = {"filename": f"{name}.jpg", "regions": regions, "file_attributes": {}}
    drawing.put(root, file, json.dumps(entries))


def cvat(root, *tags):
    elements = {
        "box": '<box label="gate" xtl="2" ytl="2" xbr="9" ybr="8"/>',
        "polygon": '<polygon label="gate" points="2,2;9,3;12,9"/>',
    }
    height, width = drawing.SIZE
    images = ""
    for number, name in enumerate("ab"):
        drawing.put_image(root, f"images/{name}.jpg")
        shapes = "".join(elements[tag] for tag in tags)
        size = f'width="{width}" height="{height}"'
        images += f'<image id="{number}" name="{name}.jpg" {size}>{shapes}</image>'
    labels = "<labels><label><name>gate</name></label></labels>"
    meta = f"<meta><task>{labels}</task></meta>"
    drawing.put(root, "annotations.xml", f"<annotations>{meta}{images}</annotations>")


def yolo(root, line):
    for name in "ab":
        drawing.put_image(root, f"images/{name}.jpg")
        drawing.put(root, f"labels/{name}.txt", line)
    drawing.put(root, "classes.txt", "gate\n")


def coco(root, fields, folder="images"):
    height, width = drawing.SIZE
    images = []
    shapes = []
    for number, name in enumerate("ab", 1):
        drawing.put_image(root, f"{folder}/{name}.png")
        images.append({"id": number, "file_name": f"{name}.png", "width": width, "height": height})
        shapes.append({"id": number, "image_id": number, "category_id": 1, **fields})
    categories = [{"id": 1, "name": "gate"}]
    data = {"images": images, "annotations": shapes, "categories": categories}
    drawing.put(root, "annotations/instances.json", json.dumps(data))


def voc_xml(root):
    for name in "ab":
        drawing.put_image(root, f"{name}.jpg")
        box = "<bndbox><xmin>2</xmin><ymin>2</ymin><xmax>9</xmax><ymax>8</ymax></bndbox>"
        text = f"<annotation><object><name>gate</name>{box}</object></annotation>"
        drawing.put(root, f"{name}.xml", text)


OUTLINE_OF_COCO = {"segmentation": [[2, 2, 9, 3, 12, 9]], "bbox": [2, 2, 10, 7]}

BOXES = {
    "labelme": lambda root: labelme(root, "rectangle", "point"),
    "VIA": lambda root: via(root, RECT_OF_VIA),
    "CVAT": lambda root: cvat(root, "box"),
    "YOLO": lambda root: yolo(root, "0 0.5 0.5 0.2 0.2\n"),
    "COCO": lambda root: coco(root, {"bbox": [2, 2, 8, 5]}),
    "Pascal VOC": voc_xml,
}
BOXES_BESIDE_OUTLINES = {
    "labelme": lambda root: labelme(root, "rectangle", "polygon"),
    "VIA": lambda root: via(root, RECT_OF_VIA, POLYGON_OF_VIA),
    "CVAT": lambda root: cvat(root, "box", "polygon"),
}


@pytest.mark.parametrize("tool", BOXES)
def test_boxes_alone_are_no_segmentation_in_any_tool(tmp_path, tool):
    BOXES[tool](tmp_path)
    folders.refused(tmp_path, BOXES_ALONE, VocSegError, class_names=())


@pytest.mark.parametrize("tool", BOXES_BESIDE_OUTLINES)
def test_boxes_beside_outlines_are_drawn_as_the_tool_draws_them(tmp_path, tool):
    pytest.importorskip("pycocotools")
    BOXES_BESIDE_OUTLINES[tool](tmp_path)
    assert len(folders.examples_of(tmp_path)) == 2


def test_masks_beside_boxes_are_read_with_a_note(tmp_path):
    labelme(tmp_path / "images", "rectangle")
    for name in "ab":
        drawing.put_mask(tmp_path, f"masks/{name}.png", drawing.truth(name))
    plan = folders.plan_of(tmp_path)
    assert plan.splits["train"] == ["a", "b"]
    assert any(BOXES_ALONE in note for note in plan.notes)


def test_attributes_of_via_that_agree_everywhere_are_one(tmp_path):
    via(tmp_path, POLYGON_OF_VIA, attributes={"name": "tree", "type": "tree"})
    assert folders.plan_of(tmp_path, class_names=()).config.class_names == ("background", "tree")


def test_attributes_of_via_that_differ_somewhere_are_refused(tmp_path):
    via(tmp_path, POLYGON_OF_VIA, attributes={"name": "tree", "type": "oak"})
    folders.refused(tmp_path, "the attributes name, type of regions", VocSegError, class_names=())


def test_two_labelings_of_the_same_images_are_asked_and_each_line_builds(tmp_path):
    pytest.importorskip("pycocotools")
    moved = {**POLYGON_OF_VIA, "all_points_x": [1, 4, 5, 2]}
    for split, names in (("train", ["1", "2", "3"]), ("val", ["4"])):
        root = tmp_path / split
        via(root, POLYGON_OF_VIA, attributes={"name": "damage"}, names=names)
        file = f"{split}_multiclass.json"
        via(root, moved, attributes={"name": "door"}, file=file, names=names)
    text = folders.refused(tmp_path, "2 ways to read the shapes", class_names=())
    lines = folders.proposed(text)
    assert len(lines) == 2
    for (words, option), name in zip(lines, ("door", "damage"), strict=True):
        assert words == f"shapes of {name}"
        plan = folders.plan_of(tmp_path, **folders.said_by(option), class_names=())
        assert plan.config.class_names == ("background", name)
        assert {split: len(ids) for split, ids in plan.splits.items()} == {
            "train": 3,
            "validation": 1,
        }


def test_two_files_that_share_one_image_stay_an_error_about_it(tmp_path):
    moved = {**POLYGON_OF_VIA, "all_points_x": [1, 4, 5, 2]}
    via(tmp_path, POLYGON_OF_VIA, file="first.json", names="abcde")
    via(tmp_path, moved, file="second.json", names="efghi")
    with pytest.raises(VocSegError, match=r"other shapes of e\.jpg than first\.json"):
        folders.examples_of(tmp_path, class_names=())


@pytest.mark.parametrize("has_other_size", [True, False])
def test_photos_and_pictures_of_another_size_are_no_masks_beside_polygons(tmp_path, has_other_size):
    pytest.importorskip("pycocotools")
    coco(tmp_path, OUTLINE_OF_COCO)
    for name in "ab":
        sketch = drawing.picture(f"{name}{name}")
        if has_other_size:
            sketch = sketch.resize((17, 12))
        drawing.put(tmp_path, f"label_draw/{name}.png", sketch)
    said = {} if has_other_size else {"images": "images"}
    plan = folders.plan_of(tmp_path, class_names=(), **said)
    assert plan.tree.labels.tool == "COCO"
    assert "label_draw holds no masks: photos, or pictures of another size." in plan.notes
