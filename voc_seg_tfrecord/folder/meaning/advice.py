"""What a user can do where masks do not tell what they mean."""

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.tools.registry import TOOLS


def advise_table(given: epath.Path, layout: Layout, config: VocSegConfig, *, named: bool) -> str:
    """Returns how to write the table of classes, and how to build with it.

    Args:
      given: the folder that the user gave.
      layout: how its files are named.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    advice = "" if named else _advise_classes_of_tool(layout)
    if advice:
        return advice
    options = {
        "class_names": _option_of_names(config) if named else None,
        **(config.layout or {}),
        "threshold": config.threshold,
        "ignore_masks": config.ignore_masks or None,
    }
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


def _advise_classes_of_tool(layout: Layout) -> str:
    """Returns the option that reads masks named as a tool's whose classes are known; else empty."""
    mask_names = {part.mask_name for part in layout.folders()}
    for tool in TOOLS:
        advice = tool.advise_classes(mask_names) if tool.advise_classes else ""
        if advice:
            return advice
    return ""
