"""Stratified splits of a user's own tree: by the classes that each mask holds."""

from collections.abc import Sequence
import functools

from voc_seg_tfrecord.base.errors import ConfigError, MaskError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks.read import read_mask
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.splitting.ratios import assign
from voc_seg_tfrecord.splitting.stratified import stratify
from voc_seg_tfrecord.trees.tree import VocTree

POOL = "all images"
"""The name of the one split that there is before it is divided."""


def divide_stratified(
    tree: VocTree, config: VocSegConfig, rule: MaskRule, ids: Sequence[str], out: Sequence[str]
) -> tuple[dict[str, list[str]], dict[str, str], dict[str, list[str]]]:
    """Divides the pool of a tree by the classes in the masks.

    Args:
      tree: the tree.
      config: has a ratio for each split.
      rule: how its masks are read.
      ids: the ids that have masks.
      out: the ids that are left out. A hash says which split would have had them.

    Returns:
      By split: its ids; where it comes from, in words; and the ids that are left out of it.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    ratios, grouping = config.splits, config.grouping
    groups = grouping.groups([*ids, *out]) if grouping else None
    units = len({groups[i] for i in ids}) if groups else len(ids)
    if units < len(ratios):
        raise ConfigError(
            "option splits",
            found=f"{len(ratios)} splits for {units} {'groups' if groups else 'images'}",
            expected="at least one for each split",
            remedy="change the ratios, or group_by if it is given",
        )
    read = functools.partial(_classes, tree, config.example_spec(rule).rule, _fill(config))
    classes = dict(ordered_map(read, ids)) if len(ratios) > 1 else dict.fromkeys(ids, ())
    splits = stratify(classes, ratios, config.seed, groups)
    in_groups = f" in {units} groups" if groups else ""
    sources = {n: f"{r:g} of {len(ids)}{in_groups}, stratified" for n, r in ratios.items()}
    left_out = assign(out, ratios, config.seed, groups)
    return splits, sources, {split: found for split, found in left_out.items() if found}


def _fill(config: VocSegConfig) -> tuple[int, ...]:
    """Returns the classes of an image without a mask."""
    fill = config.example_spec(MaskRule({})).fill
    return () if fill is None else (fill,)


def _classes(
    tree: VocTree, rule: MaskRule, without: tuple[int, ...], image_id: str
) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in tree.masks:
        return without
    path = tree.root / tree.layout.masks / tree.masks[image_id]
    try:
        return read_mask(File.read(path, MaskError), rule).present()
    except VocSegError:
        return ()
