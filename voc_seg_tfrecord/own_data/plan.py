"""A user's own tree: everything that has to be decided about it before it is read."""

import dataclasses

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks.decide import Decision, colors_of, decide
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.survey import survey
from voc_seg_tfrecord.own_data import discovery
from voc_seg_tfrecord.own_data.splitting import split_ids, without_masks
from voc_seg_tfrecord.trees.layout import Layout
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN_IDS = 3


@dataclasses.dataclass(frozen=True)
class Plan:
    """All that is decided about a tree.

    Attributes:
      tree: the tree.
      class_file: the tool's file of class names, where there is one.
      decision: whether values or colours decide, and why.
      rule: how each mask is read.
      splits: the ids of each split.
      sources: where each split comes from, in words.
      left_out: the listed ids that each split leaves out for want of a mask.
      notes: what else a user should know.
    """

    tree: VocTree
    class_file: ClassFile | None
    decision: Decision
    rule: MaskRule
    splits: dict[str, list[str]]
    sources: dict[str, str]
    left_out: dict[str, list[str]]
    notes: tuple[str, ...]


def open_tree(folder: epath.PathLike, config: VocSegConfig) -> VocTree:
    """Finds the tree at or below a folder, with the config's folder names if it has any."""
    folder = epath.Path(folder)
    if config.layout is None:
        return discovery.find_tree(folder)
    roots = discovery.find_roots(folder)
    return VocTree(roots[0] if len(roots) == 1 else folder, Layout(**config.layout))


def find_class_file(tree: VocTree) -> ClassFile | None:
    """Reads the tree's file of class names, where there is one."""
    return class_files.find(tree.root, *discovery.split_folders(tree))


def make_plan(tree: VocTree, config: VocSegConfig) -> Plan:
    """Decides how a tree is read.

    Args:
      tree: the tree.
      config: what the user said; what it leaves open is found out.

    Returns:
      The plan.

    Raises:
      VocSegError: if splits, class names or masks leave something open or contradict.
    """
    class_file = find_class_file(tree)
    splits, sources, notes = split_ids(tree, config)
    splits, left_out = without_masks(tree, config, splits)
    decision = _decide(tree, config, class_file)
    notes += [decision.warning] if decision.warning else []
    rule = make_rule(config, class_file, decision)
    return Plan(tree, class_file, decision, rule, splits, sources, left_out, tuple(notes))


def make_rule(config: VocSegConfig, class_file: ClassFile | None, decision: Decision) -> MaskRule:
    """Turns a decision into the rule by which each mask is read.

    Raises:
      ConfigError: if the config's class names are not those of the class file.
    """
    index_of = _index_of(config, class_file)
    colors = None
    if decision.by == "color":
        named = colors_of(decision, class_file, config.void)
        colors = {
            color: index_of.get(name, VOID) if isinstance(name, str) else name
            for color, name in named.items()
            if isinstance(name, str) or name == VOID or name < len(config.class_names)
        }
    if config.values is not None:
        values = dict(config.values)
    elif class_file:
        values = {
            e.value: VOID if class_files.is_void(e, config.void) else index_of[e.name]
            for e in class_file.entries
        }
    else:
        values = {value: value for value in range(len(config.class_names))}
    voids = [value for value in (-1, *config.void) if isinstance(value, int)]
    return MaskRule(dict.fromkeys(voids, VOID) | values, colors, decision.grey_is_color)


def _index_of(config: VocSegConfig, class_file: ClassFile | None) -> dict[str, int]:
    """Returns the class index of each name of the class file: by name, else by its place."""
    names = class_file.class_names(config.void) if class_file else config.class_names
    if set(names) == set(config.class_names):
        return {name: index for index, name in enumerate(config.class_names)}
    if len(names) == len(config.class_names) or config.values is not None:
        return {name: index for index, name in enumerate(names)}
    raise ConfigError(
        f"config {config.name!r}, class_names",
        found=f"{len(config.class_names)} names: {', '.join(config.class_names)}",
        expected=f"the {len(names)} of {class_file.source}: {', '.join(names)}",
        remedy="give those names, in the order that you want",
    )


def _decide(tree: VocTree, config: VocSegConfig, class_file: ClassFile | None) -> Decision:
    if config.values is not None:
        return Decision("index", "values as you said")
    if config.masks_by == "index":
        return Decision("index", "as you said")
    where = tree.root / tree.layout.masks
    paths = [where / name for name in tree.masks.values()]
    colored = class_file is not None and class_file.colored
    found = survey(paths, all_colors=colored)
    return decide(found, class_file, config.masks_by, where)
