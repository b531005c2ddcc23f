"""Divides images by ratio, and asks before whether some belong together.

The images say so, see `alike`, and then scores on the other splits would say nothing, so the user
has to decide. If only ids say so, it is a note; see `ratios.propose`.
"""

import collections
from collections.abc import Callable, Collection, Sequence
import functools
import json

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import (
    ConfigError,
    LayoutError,
    VocSegError,
    command,
    counted,
)
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.make import ExampleSpec
from voc_seg_tfrecord.folder.splits.alike import look_alike, propose_by_looks
from voc_seg_tfrecord.masks.read import read_mask
from voc_seg_tfrecord.masks.rule import MaskRule
from voc_seg_tfrecord.splitting.ratios import (
    NO_GROUPS,
    Proposal,
    assign,
    propose,
)
from voc_seg_tfrecord.splitting.stratified import stratify
from voc_seg_tfrecord.trees.pair import Labels


def check_groups(
    ids: Collection[str],
    path_of: Callable[[str], epath.Path],
    config: VocSegConfig,
    where: epath.PathLike,
) -> list[str]:
    """Looks for groups in ids that ratios are about to share out, unless the user said `group_by`.

    Returns:
      A note for the user, if only the ids say that images belong together.

    Raises:
      LayoutError: if the images say so too, with the options that answer it.
    """
    ratios = config.ratios
    if config.group_by or len(ratios) < 2:
        return []
    looks: dict[str, np.ndarray | None] = {}
    alike = propose_by_looks(ids, len(ratios), lambda pairs: look_alike(pairs, path_of, looks))
    named = propose(ids)
    found = alike or named
    if alike and named:
        both = {(alike.groups[i], group) for i, group in named.groups.items()}
        found = named if len(both) == len({*alike.groups.values()}) else alike
    if found is None:
        return []
    members = found.members
    first, *_, last = members[0]
    numbered = (
        f"{sum(map(len, members))} of {len(ids)} ids are "
        f"{'numbered' if found.in_a_row or found is named else 'named'} "
        f"{'in a row' if found.in_a_row else f'in {len(members)} groups'}, such as {first} to "
        f"{last} ({counted(len(members[0]), 'image')})"
    )
    advice = _advice(found, config)
    if not alike:
        return [f"{numbered}. If the images of a group belong together, {advice}."]
    raise LayoutError(
        where,
        found=f"{numbered}; neighbours {'' if found.in_a_row else 'in a group '}look alike, and "
        "ratios would share them out to several splits",
        expected="images that look almost the same in one split; otherwise the scores on the "
        "other splits say nothing",
        remedy=advice,
        kind="images that belong together",
    )


def _advice(found: Proposal, config: VocSegConfig) -> str:
    """Returns the options that keep each group together, if they can, and the one that does not."""
    sizes, ratios = collections.Counter(found.groups.values()), config.ratios
    if len(sizes) < len(ratios):
        together = (
            "say by lists or folders which split has which images, as there are only "
            f"{len(sizes)} groups for {len(ratios)} splits"
        )
    else:
        fields, why = {"group_by": found.rule}, ""
        by_hash = assign(found.groups, ratios, config.seed, found.groups)
        if config.split_by == "hash" and not all(by_hash.values()):
            fields["split_by"], why = "stratified", ", as by hash a split would be empty"
        largest = max(sizes.values()) / len(found.groups)
        if largest > max(ratios.values()):
            why += f", though the largest group has {largest:.0%} of the images"
        blocks = "blocks of " if found.in_a_row else ""
        together = f"keep {blocks}them in one split with {_said(fields)}{why}"
    return f"{together}; if not, say {_said({'group_by': NO_GROUPS})}"


def _said(fields: dict[str, str]) -> str:
    """Returns options, and the same in a config."""
    return f"{command(**fields)} (in a config: {json.dumps(fields, ensure_ascii=False)[1:-1]})"


POOL = "all images"
"""The name of the one split that there is before it is divided."""


def by_ratio(
    ids: Collection[str], config: VocSegConfig
) -> tuple[dict[str, Sequence[str]], dict[str, str]]:
    """Returns the ids of each split, and where each comes from; of `stratified` the pool."""
    if config.split_by == "stratified":
        return {POOL: list(ids)}, {POOL: POOL}
    groups = config.grouping.groups(ids) if config.grouping else None
    splits = dict[str, Sequence[str]](assign(ids, config.ratios, config.seed, groups))
    in_groups = f" in {len(set(groups.values()))} groups" if groups else ""
    share = f"of {len(ids)}{in_groups}, by hash"
    sources = {n: f"{r:g} {share}" if r < 1 else POOL for n, r in config.ratios.items()}
    return splits, sources


def divide_stratified(
    labels: Labels, config: VocSegConfig, rule: MaskRule, ids: Sequence[str], out: Sequence[str]
) -> tuple[dict[str, Sequence[str]], dict[str, str], dict[str, list[str]]]:
    """Divides a pool of ids with masks by the classes in these.

    A hash says which split would have had the ids that are left out.

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
    classes: dict[str, Sequence[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        read = functools.partial(_classes, labels, config.example_spec(rule))
        classes = dict(ordered_map(read, ids))
    splits: dict[str, Sequence[str]] = dict(stratify(classes, ratios, config.seed, groups))
    in_groups = f" in {units} groups" if groups else ""
    sources = {n: f"{r:g} of {len(ids)}{in_groups}, stratified" for n, r in ratios.items()}
    left_out = assign(out, ratios, config.seed, groups)
    return splits, sources, {split: found for split, found in left_out.items() if found}


def _classes(labels: Labels, spec: ExampleSpec, image_id: str) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in labels.names:
        return () if spec.fill is None else (spec.fill,)
    try:
        file = labels.file(image_id)
        return read_mask(file, spec.rule, counted=labels.counted(image_id)).present()
    except VocSegError:
        return ()
