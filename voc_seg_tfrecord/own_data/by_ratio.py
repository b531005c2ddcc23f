"""Divides the images of a set by ratio: by the hash of their ids, or by the classes in masks."""

from collections.abc import Sequence
import functools

from voc_seg_tfrecord.base.errors import ConfigError, VocSegError
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.masks.read import read_mask
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.own_data.groups import check_groups
from voc_seg_tfrecord.own_data.question import Problems
from voc_seg_tfrecord.splitting.ratios import assign
from voc_seg_tfrecord.splitting.stratified import stratify
from voc_seg_tfrecord.trees.labels import Labels
from voc_seg_tfrecord.trees.tree import VocTree

POOL = "all images"
"""The name of the one split that there is before it is divided."""


def by_ratio(
    tree: VocTree, config: VocSegConfig, problems: Problems
) -> tuple[dict[str, Sequence[str]], dict[str, str], list[str]]:
    """Returns the ids of each split, where each comes from, and notes; of `stratified` the pool."""
    images, folder = tree.images, tree.root / tree.layout.images
    notes = problems.of(check_groups, images, lambda i: folder / images[i], config, tree.root) or []
    if config.split_by == "stratified":
        return {POOL: list(images)}, {POOL: POOL}, notes
    groups = config.grouping.groups(images) if config.grouping else None
    ids = dict[str, Sequence[str]](assign(images, config.ratios, config.seed, groups))
    in_groups = f" in {len(set(groups.values()))} groups" if groups else ""
    share = f"of {len(images)}{in_groups}, by hash"
    sources = {n: f"{r:g} {share}" if r < 1 else "all images" for n, r in config.ratios.items()}
    return ids, sources, notes


def divide_stratified(
    labels: Labels, config: VocSegConfig, rule: MaskRule, ids: Sequence[str], out: Sequence[str]
) -> tuple[dict[str, Sequence[str]], dict[str, str], dict[str, list[str]]]:
    """Divides a pool by the classes in the masks.

    Args:
      labels: their masks.
      config: has a ratio for each split.
      rule: how its masks are read.
      ids: the ids that have masks.
      out: the ids that are left out. A hash says which split would have had them.

    Returns:
      By split: its ids; where it comes from, in words; and the ids that are left out of it.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    ratios, grouping = config.ratios, config.grouping
    groups = grouping.groups([*ids, *out]) if grouping else None
    units = len({groups[i] for i in ids}) if groups else len(ids)
    if units < len(ratios):
        raise ConfigError(
            "option splits",
            found=f"{len(ratios)} splits for {units} {'groups' if groups else 'images'}",
            expected="at least one for each split",
            remedy="change the ratios, or group_by if it is given",
        )
    spec = config.example_spec(rule)
    fill = () if spec.fill is None else (spec.fill,)
    read = functools.partial(_classes, labels, spec.rule, fill)
    classes: dict[str, Sequence[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        classes = dict(ordered_map(read, ids))
    splits: dict[str, Sequence[str]] = dict(stratify(classes, ratios, config.seed, groups))
    in_groups = f" in {units} groups" if groups else ""
    sources = {n: f"{r:g} of {len(ids)}{in_groups}, stratified" for n, r in ratios.items()}
    left_out = assign(out, ratios, config.seed, groups)
    return splits, sources, {split: found for split, found in left_out.items() if found}


def _classes(
    labels: Labels, rule: MaskRule, without: tuple[int, ...], image_id: str
) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in labels.names:
        return without
    try:
        file = labels.file(image_id)
        return read_mask(file, rule, counted=labels.counted(image_id)).present()
    except VocSegError:
        return ()
