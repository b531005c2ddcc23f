"""What a user can do where masks do not tell what they mean."""

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.tools.registry import CLASS_NAMES_BY_WORD, TOOLS


def advise_table(given: epath.Path, layout: Layout, config: VocSegConfig, *, named: bool) -> str:
    """Returns how to write the table of classes, and how to build with it.

    Args:
      given: the folder that the user gave.
      layout: how its files are named.
      config: says the names, and the folders that the user named.
      named: whether the user gave the names, and no file has them.
    """
    names_given = _option_of_names(config) if named else None
    advice = _advise_classes_of_tool(layout)
    if advice and (not named or _is_other_advice(advice, names_given)):
        return advice
    options = {
        "class_names": names_given,
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
    for word, names in CLASS_NAMES_BY_WORD.items():
        if tuple(config.class_names) == names:
            return word
    if any("," in name for name in config.class_names):
        return None
    return ",".join(config.class_names) or None


def _is_other_advice(advice: str, names_given: str | None) -> bool:
    """Says whether a tool's advice answers the tool's own name in place of class names.

    Example: masks called `*_labelIds.png`, and `--class_names cityscapes`, which are other ids.
    """
    return names_given in CLASS_NAMES_BY_WORD and f"--class_names {names_given}" not in advice


def _advise_classes_of_tool(layout: Layout) -> str:
    """Returns the option that reads masks named as a tool's whose classes are known; else empty."""
    mask_names = {part.mask_name for part in layout.folders()}
    for tool in TOOLS:
        advice = tool.advise_classes(mask_names) if tool.advise_classes else ""
        if advice:
            return advice
    return ""
