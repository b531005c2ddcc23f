"""What holds for each tool of the registry."""

import pathlib

import pytest
from support import drawing
from support.folders import pairs_of, plan_of
from support.paths import REPOSITORY

from voc_seg_tfrecord.tools.registry import TOOLS

MODULES = pathlib.Path(REPOSITORY) / "voc_seg_tfrecord" / "tools"
NO_TOOLS = {
    "__init__",
    "drawing",
    "shape_pixels",
    "coco_polygons",
    "registry",
    "shape_classes",
    "shapes",
    "tool",
    "yolo_names",
}
IDS = {"train": ("a", "b", "c"), "val": ("d", "e")}
PATTERNS = [
    pytest.param(patterns, id=f"{tool.name}: {patterns.masks}")
    for tool in TOOLS
    for patterns in tool.patterns
]


def test_each_module_holds_one_tool_which_is_in_the_registry():
    modules = {path.stem for path in MODULES.glob("*.py")} - NO_TOOLS
    assert len(modules) == len(TOOLS) == len({tool.name for tool in TOOLS})


@pytest.mark.parametrize("patterns", PATTERNS)
def test_a_folder_as_the_tool_writes_it_is_read_as_pairs(tmp_path, patterns):
    pairs = {}
    for split, ids in IDS.items():
        for image_id in ids:
            image, mask = (
                pattern.format(id=image_id, split=split)
                for pattern in (patterns.images, patterns.masks)
            )
            drawing.put_image(tmp_path, image)
            drawing.put_mask(tmp_path, mask, drawing.truth(image_id))
            pairs[tmp_path / image] = tmp_path / mask
    plan = plan_of(tmp_path)
    found = pairs_of(plan)
    assert {image: mask for of_split in found.values() for image, mask in of_split.items()} == pairs
    has_splits = "{split}" in patterns.images
    assert {*found} == ({"train", "validation"} if has_splits else {"train"})
    assert not plan.unused
