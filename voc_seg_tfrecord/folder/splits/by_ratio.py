"""Divides images by ratio, and asks before if some belong together.

Ids say so, as those of frames do, or the looks of a few images. Scores on the other splits would
say nothing if such images were divided, so the user has to decide.
"""

import collections
from collections.abc import Callable, Collection, Sequence
import functools
import json

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    VocSegError,
    command,
    counted,
)
from voc_seg_tfrecord.core.example import ExampleSpec
from voc_seg_tfrecord.core.grouping import NO_GROUPS
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.ratios import assign
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.splits.alike import LooksAlike
from voc_seg_tfrecord.folder.splits.group_proposals import GroupProposal, propose_groups
from voc_seg_tfrecord.folder.splits.groups_by_looks import propose_by_looks
from voc_seg_tfrecord.folder.splits.stratified import stratify
from voc_seg_tfrecord.folder.tree.pairs import Labels
from voc_seg_tfrecord.formats.index_masks import read_mask


def check_groups(
    ids: Collection[str],
    path_of: Callable[[str], epath.Path],
    config: VocSegConfig,
    where: epath.PathLike,
) -> None:
    """Checks that ratios tear no groups apart, unless the user gave `group_by`.

    Raises:
      LayoutError: if ids or images say that some belong together, with the options that answer it.
    """
    ratios = config.ratios
    if config.group_by or len(ratios) < 2:
        return
    by_ids = propose_groups(ids)
    by_looks = propose_by_looks([*ids], len(ratios), LooksAlike(path_of))
    proposal = by_ids or by_looks
    if by_ids is not None and by_looks is not None and not _keeps_whole(by_ids, by_looks):
        proposal = by_looks
    if proposal is None:
        return
    first_group = proposal.members[0]
    count = sum(map(len, proposal.members))
    if proposal.in_a_row:
        how = "numbered in a row"
    elif proposal is by_ids:
        how = f"numbered in {counted(len(proposal.members), 'group')}"
    else:
        how = f"named in {counted(len(proposal.members), 'group')}"
    looks = "" if by_looks is None else ", and neighbors look alike"
    raise LayoutError(
        where,
        found=f"{count} of {len(ids)} ids are {how}, such as {first_group[0]} to {first_group[-1]} "
        f"({counted(len(first_group), 'image')}){looks}. Ratios would divide them",
        expected="images that are almost the same in one split; otherwise the scores on the other "
        "splits say nothing",
        remedy=_advice(proposal, config),
        kind="images that belong together",
    )


def _keeps_whole(proposal: GroupProposal, finer: GroupProposal) -> bool:
    """Says whether each group of a finer proposal lies in one group of another one."""
    pairs = {(finer.groups[image_id], group) for image_id, group in proposal.groups.items()}
    return len(pairs) == len({*finer.groups.values()})


def _advice(proposal: GroupProposal, config: VocSegConfig) -> str:
    """Returns the options that keep each group together, if they can, and the one that does not."""
    alone = f"if they do not belong together, {_option_and_field({'group_by': NO_GROUPS})}"
    ratios = config.ratios
    sizes = collections.Counter(proposal.groups.values())
    if len(sizes) < len(ratios):
        return (
            f"write lists or folders of splits, as there are only {len(sizes)} groups for "
            f"{len(ratios)} splits; {alone}"
        )
    fields = {"group_by": proposal.rule}
    notes = ""
    by_hash = assign(proposal.groups, ratios, config.seed, proposal.groups)
    if config.split_by == "hash" and not all(by_hash.values()):
        fields["split_by"] = "stratified"
        notes += " (by hash a split would be empty)"
    share_of_largest = max(sizes.values()) / len(proposal.groups)
    if share_of_largest > max(ratios.values()):
        notes += f"; the largest group has {share_of_largest:.0%} of the images"
    what = "blocks of them" if proposal.in_a_row else "each group"
    return f"keep {what} in one split with {_option_and_field(fields)}{notes}; {alone}"


def _option_and_field(fields: dict[str, str]) -> str:
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
    sources = {}
    for split, ratio in config.ratios.items():
        is_all = ratio >= 1
        sources[split] = POOL if is_all else f"{ratio:g} of {len(ids)}{in_groups}, by hash"
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
    ratios = config.ratios
    groups = config.grouping.groups([*ids, *out]) if config.grouping else None
    units = len({groups[image_id] for image_id in ids}) if groups else len(ids)
    if units < len(ratios):
        unit = "group" if groups else "image"
        raise ConfigError(
            "option splits",
            found=f"{len(ratios)} splits for {counted(units, unit)}",
            expected="at least one for each split",
            remedy="change the ratios, or group_by if it is given",
        )
    classes: dict[str, Sequence[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        read = functools.partial(_read_classes, labels, config.example_spec(rule))
        classes = dict(ordered_map(read, ids))
    splits: dict[str, Sequence[str]] = dict(stratify(classes, ratios, config.seed, groups))
    in_groups = f" in {units} groups" if groups else ""
    sources = {
        split: f"{ratio:g} of {len(ids)}{in_groups}, stratified" for split, ratio in ratios.items()
    }
    left_out = assign(out, ratios, config.seed, groups)
    not_empty = {split: ids_of_split for split, ids_of_split in left_out.items() if ids_of_split}
    return splits, sources, not_empty


def _read_classes(labels: Labels, spec: ExampleSpec, image_id: str) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in labels.names:
        return () if spec.fill is None else (spec.fill,)
    try:
        file = labels.file(image_id)
        return read_mask(file, spec.rule, surveyed=labels.surveyed_mask(image_id)).present()
    except VocSegError:
        return ()
