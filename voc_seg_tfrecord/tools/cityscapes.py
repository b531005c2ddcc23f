"""Cityscapes: masks of ids, of which 19 are the classes of its benchmark."""

from collections.abc import Collection

from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.tools.tool import Tool

BENCHMARK_CLASSES = {
    7: "road",
    8: "sidewalk",
    11: "building",
    12: "wall",
    13: "fence",
    17: "pole",
    19: "traffic light",
    20: "traffic sign",
    21: "vegetation",
    22: "terrain",
    23: "sky",
    24: "person",
    25: "rider",
    26: "car",
    27: "truck",
    28: "bus",
    31: "train",
    32: "motorcycle",
    33: "bicycle",
}
"""The 19 classes of the benchmark, by their ids in `*_labelIds.png`, and in the order of those in
`*_labelTrainIds.png`. Source: labels.py of cityscapesScripts."""


def advise_classes(mask_names: Collection[str]) -> str:
    """Returns the option that reads masks that are called as Cityscapes'; empty for others."""
    if not mask_names:
        return ""
    if all(name.endswith("_labelIds.png") for name in mask_names):
        rows = ",".join(f"{value}={name}" for value, name in BENCHMARK_CLASSES.items())
        options = command(classes=f"{rows},*=void")
    elif all(name.endswith("_labelTrainIds.png") for name in mask_names):
        options = command(class_names="cityscapes")
    else:
        return ""
    return f"take the 19 classes of Cityscapes' benchmark, if these are its ids: {options}"


CITYSCAPES = Tool(
    name="Cityscapes",
    advise_classes=advise_classes,
    class_names=tuple(BENCHMARK_CLASSES.values()),
)
