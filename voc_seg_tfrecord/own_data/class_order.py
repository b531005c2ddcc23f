"""Moves the background class to the front, and what masks mean with it."""

from collections.abc import Sequence
import dataclasses

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.labels import VOID, background_index
from voc_seg_tfrecord.masks.rule import MaskRule, make_rule
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
    names = list(config.class_names)
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
    moved = dataclasses.replace(config, class_names=[names.pop(background), *names])
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


def _meaning(rule: MaskRule, names: Sequence[str]) -> dict:
    """Returns the class name of each value and colour; None is void."""
    known = {**rule.values, **(rule.colors or {})}
    return {key: None if index == VOID else names[index] for key, index in known.items()}
