"""What holds for each tool of the registry."""

import pathlib

import pytest
from support import drawing, streets
from support.folders import pairs_of, plan_of
from support.paths import REPOSITORY

from voc_seg_tfrecord.tools.layouts import LAYOUTS
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS, TOOLS

MODULES = pathlib.Path(REPOSITORY) / "voc_seg_tfrecord" / "tools"
NO_TOOLS = {
    "__init__",
    "drawing",
    "shape_pixels",
    "registry",
    "shape_classes",
    "shapes",
    "tool",
    "layouts",
    "class_file",
    "class_texts",
}
IDS = {"train": ("a", "b", "c"), "val": ("d", "e")}

# How a tool or people call images and masks: `{id}` is the id, `{split}` the split.
PATTERNS = {
    "CVAT": [
        ("JPEGImages/{id}.jpg", "SegmentationClass/{id}.png"),
        ("JPEGImages/east/{id}.jpg", "SegmentationClass/east/{id}.png"),
    ],
    "datumaro": [
        ("JPEGImages/{id}.jpg", "SegmentationClass/{id}.png"),
    ],
    "labelme2voc": [
        ("JPEGImages/{id}.jpg", "SegmentationClass/{id}.png"),
        ("JPEGImages/{id}.jpg", "SegmentationClassPNG/{id}.png"),
    ],
    "labelme_json_to_dataset": [
        ("{id}_json/img.png", "{id}_json/label.png"),
    ],
    "Supervisely": [
        ("VOCdevkit/VOC/JPEGImages/{id}.jpg", "VOCdevkit/VOC/SegmentationClass/{id}.png"),
    ],
    "Roboflow": [
        ("{split}/{id}.jpg", "{split}/{id}_mask.png"),
    ],
    "MMSegmentation": [
        ("imgs/{id}_img.jpg", "gts/{id}_gt.png"),
        ("img_dir/{split}/{id}.jpg", "ann_dir/{split}/{id}.png"),
    ],
    "trainaug": [
        ("JPEGImages/{id}.jpg", "SegmentationClassAug/{id}.png"),
        ("JPEGImages/{id}.jpg", "SegmentationClassRaw/{id}.png"),
    ],
    "nnU-Net": [
        ("imagesTr/{id}_0000.png", "labelsTr/{id}.png"),
        ("imagesTr/{id}.png", "labelsTr/{id}.png"),
    ],
    "ADE20K": [
        ("images/training/{id}.jpg", "annotations/training/{id}.png"),
    ],
    "CamVid": [
        ("{split}/{id}.png", "{split}annot/{id}.png"),
        ("{split}/{id}.png", "{split}_labels/{id}_L.png"),
    ],
    "plain folders": [
        ("images/{id}.jpg", "masks/{id}.png"),
        ("img/{id}.jpg", "gt/{id}.png"),
        ("{id}.jpg", "labels/{id}.png"),
        ("{split}/images/{id}.jpg", "{split}/masks/{id}.png"),
        ("images/{split}/{id}.jpg", "masks/{split}/{id}.png"),
    ],
    "a flat folder": [
        ("{id}.jpg", "{id}.png"),
        ("{id}.jpg", "{id}_mask.png"),
        ("{id}_sat.jpg", "{id}_mask.png"),
    ],
    "a folder for each image": [
        ("{id}/image.jpg", "{id}/mask.png"),
        ("{id}/rgb.png", "{id}/label.png"),
    ],
}
CASES = [
    pytest.param(images, masks, id=f"{name}: {masks}")
    for name, patterns in PATTERNS.items()
    for images, masks in patterns
]


def test_each_module_holds_one_tool_which_is_in_the_registry():
    modules = {path.stem for path in MODULES.glob("*.py")} - NO_TOOLS
    assert len(modules) + len(LAYOUTS) == len(TOOLS) == len({tool.name for tool in TOOLS})


def test_each_tool_whose_shapes_are_drawn_has_a_street():
    assert {tool.name.lower() for tool in SHAPE_TOOLS} <= {*streets.TOOLS}


@pytest.mark.parametrize(("images", "masks"), CASES)
def test_a_folder_as_the_tool_writes_it_is_read_as_pairs(tmp_path, images, masks):
    pairs = {}
    for split, ids in IDS.items():
        for image_id in ids:
            image, mask = (pattern.format(id=image_id, split=split) for pattern in (images, masks))
            drawing.put_image(tmp_path, image)
            drawing.put_mask(tmp_path, mask, drawing.truth(image_id))
            pairs[tmp_path / image] = tmp_path / mask
    plan = plan_of(tmp_path)
    found = pairs_of(plan)
    assert {image: mask for of_split in found.values() for image, mask in of_split.items()} == pairs
    has_splits = "{split}" in images
    assert {*found} == ({"train", "validation"} if has_splits else {"train"})
    assert not plan.unused
