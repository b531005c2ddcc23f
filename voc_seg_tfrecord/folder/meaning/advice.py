"""What a user can do where masks do not tell what they mean."""

from etils import epath

from voc_seg_tfrecord.base.errors import command
from voc_seg_tfrecord.base.names import VOC_CLASSES
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.trees.layout import Layout

CITYSCAPES_CLASSES = {
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
"""The 19 classes of Cityscapes' benchmark, by their ids in `*_labelIds.png`, and in the order of
those in `*_labelTrainIds.png`. Source: labels.py of cityscapesScripts."""


def advise_table(given: epath.Path, layout: Layout, config: VocSegConfig, *, named: bool) -> str:
    """Returns how to write the table of classes, and how to build with it.

    Args:
      given: the folder that the user gave.
      layout: how its files are named.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    if not named and (advice := _advise_cityscapes(layout)):
        return advice
    options = {"class_names": _option_of_names(config) if named else None, **(config.layout or {})}
    write = command("voc-seg-tfrecord", "check", given, **options, write_classes="classes.csv")
    return (
        f"write the table of classes ({write}), fill in its column class, and build with "
        "--classes classes.csv"
    )


def _option_of_names(config: VocSegConfig) -> str | None:
    """Returns the user's class names as an option; None if one has a comma, its separator."""
    if tuple(config.class_names) == VOC_CLASSES:
        return "voc"
    if any("," in name for name in config.class_names):
        return None
    return ",".join(config.class_names) or None


def _advise_cityscapes(layout: Layout) -> str:
    """Returns the option that reads masks named as Cityscapes' are; empty for others."""
    patterns = {part.mask_name for part in layout.folders()}
    if all(pattern.endswith("_labelIds.png") for pattern in patterns):
        rows = ",".join(f"{value}={name}" for value, name in CITYSCAPES_CLASSES.items())
        options = command(classes=f"{rows},*=void")
    elif all(pattern.endswith("_labelTrainIds.png") for pattern in patterns):
        options = command(class_names=",".join(CITYSCAPES_CLASSES.values()))
    else:
        return ""
    return f"take the 19 classes of Cityscapes' benchmark, if these are its ids: {options}"
