"""A user's own tree: everything that has to be decided about it before it is read."""

import dataclasses

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig, check_split_name
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.masks import survey
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.masks.survey import Decision
from voc_seg_tfrecord.own_data import discovery
from voc_seg_tfrecord.trees.tree import Layout, VocTree

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


def plan(tree: VocTree, config: VocSegConfig) -> Plan:
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
    splits, sources, notes = _splits(tree, config)
    splits, left_out = _without_masks(tree, config, splits)
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
        named = survey.colors_of(decision, class_file, config.void)
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
    found = survey.survey(paths, all_colors=colored)
    return survey.decide(found, class_file, config.masks_by, where)


def _splits(
    tree: VocTree, config: VocSegConfig
) -> tuple[dict[str, list[str]], dict[str, str], list[str]]:
    """Returns ids by split, where each comes from, and notes."""
    wanted, notes = config.splits, []
    if wanted is None:
        wanted, notes = _default_splits(tree)
    ratios = {name: value for name, value in wanted.items() if not isinstance(value, str)}
    if ratios:
        if len(ratios) < len(wanted):
            raise ConfigError(
                f"config {config.name!r}, splits",
                found=repr(dict(wanted)),
                expected="lists for all splits, or ratios for all",
                remedy="change the splits",
            )
        ratios.check_ratios(ratios, f"config {config.name!r}, splits")
        splits = ratios.assign(tree.images, ratios, config.seed)
        sources = {
            n: f"{r:g} of {len(tree.images)}, by hash" if r < 1 else "all images"
            for n, r in ratios.items()
        }
    else:
        splits = {name: _read_split(tree, source) for name, source in wanted.items()}
        sources = {n: s if s.endswith("/") else f"{s}.txt" for n, s in wanted.items()}
    _check_splits(splits, config, tree)
    return splits, sources, notes


def _default_splits(tree: VocTree) -> tuple[dict[str, str | float], list[str]]:
    folders = discovery.split_folders(tree)
    if folders:
        return {discovery.split_name(name): f"{name}/" for name in folders}, []
    names = tree.list_names()
    empty = [n for n in names if not tree.list_path(n).read_bytes().strip() and n != "train"]
    lists = discovery.standard_lists([name for name in names if name not in empty])
    notes = [f"{name}.txt is empty: no such split" for name in empty if len(names) > len(empty)]
    unused = sorted(set(names) - set(lists.values()) - set(empty))
    notes += [f"{name}.txt holds train as well: no split of its own" for name in unused]
    for split, name in lists.items():
        check_split_name(split, tree.list_path(name))
    if not lists and empty:
        tree.read_ids(empty[0])  # raises
    # With no list at all everything is train, as labelme's users expect.
    return lists or {"train": 1.0}, notes if lists else ["no lists: everything is train"]


def _read_split(tree: VocTree, source: str) -> list[str]:
    if source.endswith("/"):
        return [image_id for image_id in tree.images if image_id.startswith(source)]
    return tree.read_ids(source)


def _check_splits(splits: dict[str, list[str]], config: VocSegConfig, tree: VocTree) -> None:
    for name, ids in splits.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {tree.root}",
                found="no image",
                expected="one at least",
                remedy="change the ratios or the seed, or add images",
            )
    owner: dict[str, str] = {}
    shared: dict[tuple[str, str], list[str]] = {}
    for name, ids in splits.items():
        for image_id in ids:
            if owner.setdefault(image_id, name) != name:
                shared.setdefault((owner[image_id], name), []).append(image_id)
    if shared and not config.overlap:
        (first, second), ids = max(shared.items(), key=lambda item: len(item[1]))
        more = f" and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else ""
        raise ListError(
            f"splits {first!r} and {second!r} of {tree.root}",
            found=f"{len(ids)} ids in both: {', '.join(ids[:_SHOWN_IDS])}{more}",
            expected="each id in one split",
            remedy='choose lists with "splits" (--splits train=train,validation=val), or allow '
            'it with "overlap": true (--allow_overlap)',
        )


def _without_masks(
    tree: VocTree, config: VocSegConfig, splits: dict[str, list[str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Leaves out listed images that have no mask, if the config says so."""
    if config.missing_mask != "skip":
        return splits, {}
    # An image that is missing too stays in, for the error that names it.
    kept = {
        name: [i for i in ids if i in tree.masks or i not in tree.images]
        for name, ids in splits.items()
    }
    left_out = {
        name: [i for i in ids if i in tree.images and i not in tree.masks]
        for name, ids in splits.items()
    }
    for name, ids in kept.items():
        if not ids:
            raise ListError(
                f"split {name!r} of {tree.root}",
                found=f"no mask for any of its {len(left_out[name])} images",
                expected="a mask for one at least",
                remedy="leave the split out, or take its images as background "
                "(--missing_mask background)",
            )
    return kept, {name: ids for name, ids in left_out.items() if ids}
