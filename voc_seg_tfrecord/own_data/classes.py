"""The order of a tree's classes, background first, and what its masks hold."""

from collections.abc import Mapping, Sequence
import dataclasses
from typing import Any

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOID, Color, background_index
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import IGNORED, ClassFile, is_void, is_void_name
from voc_seg_tfrecord.masks.question import entries
from voc_seg_tfrecord.masks.rule import MaskRule, make_rule
from voc_seg_tfrecord.masks.survey import Seen
from voc_seg_tfrecord.own_data.class_file import find_class_file
from voc_seg_tfrecord.own_data.plan import make_plan
from voc_seg_tfrecord.trees.tree import VocTree


def background_to_front(
    tree: VocTree, config: VocSegConfig, *, own_names: bool = True
) -> VocSegConfig:
    """Makes background class 0, so that no pixel changes the name of its class.

    Args:
      tree: the tree.
      config: the config, its names in the order in which masks are read.
      own_names: whether the user gave the names. Names of the tree's class file find their
        masks by name, in any order.

    Returns:
      The config with the names in the new order, and the class of each value where the new
      order alone would give values to other classes.

    Raises:
      ConfigError: if no class is known to be background, or colours give classes by their
        place in a list of names.
      VocSegError: if what the masks mean cannot be decided.
    """
    names = list(config.named_classes)
    background = background_index(names, config.background)
    if background is None:
        raise ConfigError(
            "--background_first",
            found=f"no class that is known to be background among {', '.join(names[:8])}",
            expected="a class called background or bg, in any spelling",
            remedy="name the class with --background NAME",
        )
    if background == 0:
        return config
    order = iter([names.pop(background), *names])
    # Names that mean void keep their places, because void may have their numbers too.
    moved = dataclasses.replace(
        config,
        class_names=[n if n in config.void_names else next(order) for n in config.class_names],
    )
    if own_names:
        return _with_meaning(tree, config, moved)
    if config.values is not None:
        raise ConfigError(
            "--background_first",
            found="--values, and names from the class file, whose order would change",
            expected="names in the order that --values counts",
            remedy="give the names with --class_names too",
        )
    return moved


def with_void_named(config: VocSegConfig, class_file: ClassFile | None) -> VocSegConfig:
    """Adds to void the user's names of the classes whose values or colours are void."""
    if config.values is not None or tuple(config.void) == VocSegConfig.void:
        return config
    listed, names = entries(config.class_names, class_file), config.class_names
    words = [e.name for e in listed if is_void(e, config.void)]
    # Other names than the file's take their places, if they are as many.
    if len(listed) == len(names) and not {e.name for e in listed} & set(names):
        words = [n for e, n in zip(listed, names, strict=True) if is_void(e, config.void)]
    new = [w for w in words if w in names and not is_void_name(w, config.void)]
    return dataclasses.replace(config, void=[*config.void, *new])


def names_from_file(class_file: ClassFile, config: VocSegConfig) -> tuple[str, ...]:
    """Returns the class names of a file, in the order that `values` counts if it is said.

    Raises:
      ConfigError: if `values` may count the file's names with those that mean void, or without.
    """
    if config.values is None:
        names, first = class_file.class_names(config.void), class_file.entries[0]
        # Where it counts as a line, the names say so, and the file is read alike with them.
        counts = first.name == IGNORED and first.by_place and not first.value
        return names if first.name in names or not counts else (IGNORED, *names)
    void = [v for v in config.void if not isinstance(v, int)]  # values have their own meaning
    names = class_file.class_names(void)
    if names != tuple(entry.name for entry in class_file.entries)[: len(names)]:
        raise ConfigError(
            "option values",
            found=f"class indices, and a name that means void before others in {class_file.source}",
            expected="names of which the order is clear",
            remedy=f"give the names with --class_names, such as {','.join(names)}",
        )
    return names


def _with_meaning(tree: VocTree, config: VocSegConfig, moved: VocSegConfig) -> VocSegConfig:
    """Returns the moved config with `values` where it would otherwise rename classes."""
    plan = make_plan(tree, config)
    rule = make_rule(
        moved.class_names,
        find_class_file(tree, moved)[0],
        plan.decision,
        values=moved.values,
        void=moved.void,
    )
    if _meaning(rule, moved.class_names) == _meaning(plan.rule, config.class_names):
        return moved
    if plan.decision.by == "color":
        raise ConfigError(
            "--background_first",
            found="masks that are read by colour, and class names that are not their names",
            expected="names whose order can be changed without changing what a colour means",
            remedy="leave --background_first out; background keeps its place, and labels are "
            "right in any order",
        )
    new = {name: index for index, name in enumerate(moved.class_names)}
    values = {
        value: VOID if index == VOID else new[config.class_names[index]]
        for value, index in plan.rule.values.items()
        if value >= 0  # -1 is void in any case
    }
    return dataclasses.replace(moved, values=values)


def _meaning(rule: MaskRule, names: Sequence[str]) -> dict[int | Color, str | None]:
    """Returns the class name of each value and colour; None is void."""
    index_of: dict[Any, int] = {**rule.values, **(rule.colors or {})}
    return {key: None if index == VOID else names[index] for key, index in index_of.items()}


_SHOWN = 12
_MANY = 64  # values of grey masks; classes rarely are so many, and smoothed edges are


def seen_values(tree: VocTree) -> tuple[str, dict[Color, Seen], str]:
    """Returns what the masks of a tree's images hold: nothing if none can be read.

    Returns:
      The values, most images first, such as `0 in 5 masks, 814 pixels`; for palettes with the
      value's colour. The colours of RGB masks. And what to do if greys are smoothed, else nothing.
    """
    of_images = [image_id for image_id in tree.masks if image_id in tree.images]
    found = tree.survey(of_images or tree.masks, all_colors=True)
    used = {f"value {value}": seen for value, seen in found.greys.items()}
    for (value, color), seen in found.pairs.items():
        shown = f" (colour {','.join(map(str, color))})" if color else ""
        used[f"value {value}{shown}"] = seen
    order = sorted(used, key=lambda key: (-used[key].masks, -used[key].pixels, key))
    lines = [f"{key} in {used[key].masks} masks, {used[key].pixels} pixels" for key in order]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n    ".join([*lines[:_SHOWN], *more]), found.colors, _smoothed(found.greys)


def _smoothed(greys: Mapping[int, Seen]) -> str:
    """Returns what to do with greys between 0 and 255 at the edges of masks; empty if none are."""
    ends = sum(greys[value].pixels for value in (0, VOID) if value in greys)
    if len(greys) < _MANY or ends < 0.8 * sum(seen.pixels for seen in greys.values()):
        return ""
    return (
        f"Export the masks again: they hold {len(greys)} values, and four of five pixels are 0 or "
        "255, so the masks were smoothed, or saved with loss. If each value is a class, give the "
        "names with --class_names"
    )
