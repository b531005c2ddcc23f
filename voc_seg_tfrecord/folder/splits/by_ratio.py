"""Divides images by ratio and into folds, and asks before if some belong together.

Ids say so, as those of frames do, or the looks of a few images. Scores on the other splits would
say nothing if such images were divided, so the user has to decide.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import json

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    VocSegError,
    counted,
)
from voc_seg_tfrecord.core.example import ExampleSpec
from voc_seg_tfrecord.core.grouping import NO_GROUPS, link_groups
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.ratios import assign
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.splits.groups_by_ids import GroupKind, GroupProposal, propose_by_ids
from voc_seg_tfrecord.folder.splits.groups_by_looks import LooksComparer, propose_by_looks
from voc_seg_tfrecord.folder.splits.stratified import stratify
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.formats.index_masks import read_mask

_ALL_IMAGES = "all images"
"""The source of a split that has all images, in words."""

POOL = _ALL_IMAGES
"""The key of the one split before images are divided by their classes. Errors show it too."""

_MAX_SHARE_OFF = 0.1
"""The share of all images by which a split of groups may miss its ratio without a note."""

LinkedIds = Sequence[Sequence[str]]
"""Ids of one image each, as several annotators drew it, which stay in one split."""


def check_groups(
    ids: Collection[str],
    path_of: Callable[[str], epath.Path],
    config: VocSegConfig,
    where: epath.PathLike,
    ratios: Mapping[str, float],
) -> None:
    """Checks that ratios tear no groups apart, unless the user gave `group_by`.

    Args:
      ids: the ids that are divided.
      path_of: returns the image file of an id.
      config: the user's options.
      where: the folder, for the error.
      ratios: the share of each split, or fold.

    Raises:
      LayoutError: if ids or images say that some belong together, with the options that answer it.
    """
    if config.group_by or len(ratios) < 2:
        return
    by_ids = propose_by_ids(ids)
    by_looks = propose_by_looks([*ids], len(ratios), LooksComparer(path_of).are_alike)
    proposal = _choose_proposal(by_ids, by_looks)
    if proposal is None:
        return
    neighbors_look_alike = ", and neighbors look alike" if by_looks is not None else ""
    raise LayoutError(
        where,
        found=f"{_describe_groups(proposal, len(ids))}{neighbors_look_alike}. "
        f"{'Ratios' if config.folds is None else 'Folds'} would divide them",
        expected="images that are almost the same in one split; otherwise the scores on the other "
        "splits are too high",
        remedy=_advice(proposal, config, ratios),
        kind="images that belong together",
    )


def _choose_proposal(
    by_ids: GroupProposal | None, by_looks: GroupProposal | None
) -> GroupProposal | None:
    """Returns the groups by ids, unless these tear groups by looks apart.

    Example: ids say films, and images of two films look alike; the groups by looks are taken.
    """
    if by_ids is None or by_looks is None:
        return by_ids or by_looks
    return by_ids if _keeps_whole(by_ids, by_looks) else by_looks


def _keeps_whole(proposal: GroupProposal, finer: GroupProposal) -> bool:
    """Says whether each group of a finer proposal lies in one group of another one."""
    group_by_finer: dict[str, str] = {}
    for image_id, group in proposal.groups.items():
        finer_group = finer.groups[image_id]
        if group_by_finer.setdefault(finer_group, group) != group:
            return False
    return True


def _describe_groups(proposal: GroupProposal, id_count: int) -> str:
    """Returns how many ids are in groups, and the first group, in words."""
    count = sum(len(members) for members in proposal.members)
    groups = counted(len(proposal.members), "group")
    first_group = proposal.members[0]
    example = (
        f"such as {first_group[0]} to {first_group[-1]} ({counted(len(first_group), 'image')})"
    )
    if proposal.kind is GroupKind.IN_A_ROW:
        return f"{count} of {id_count} ids are numbered in a row, {example}"
    if proposal.kind is GroupKind.NUMBERED:
        return f"{count} of {id_count} ids are numbered in {groups}, {example}"
    return f"{count} of {id_count} ids are named in {groups}, {example}"


def _advice(proposal: GroupProposal, config: VocSegConfig, ratios: Mapping[str, float]) -> str:
    """Returns the options that keep each group together, if they can, and the one that does not."""
    divide_anyway = f"if they do not belong together, {_option_and_field({'group_by': NO_GROUPS})}"
    sizes = collections.Counter(proposal.groups.values())
    if len(sizes) < len(ratios):
        return (
            f"write lists or folders of splits, as with only {counted(len(sizes), 'group')} for "
            f"{len(ratios)} splits one would be empty; {divide_anyway}"
        )
    fields = {"group_by": proposal.rule}
    note_on_hash = ""
    if config.split_by == "hash" and _leaves_a_split_empty(proposal, ratios, config.seed):
        fields["split_by"] = "stratified"
        note_on_hash = " (by hash a split would be empty)"
    note_on_largest = ""
    share_of_largest = max(sizes.values()) / len(proposal.groups)
    if share_of_largest > max(ratios.values()):
        note_on_largest = f"; the largest group has {share_of_largest:.0%} of the images"
    unit = "blocks of them" if proposal.kind is GroupKind.IN_A_ROW else "each group"
    return (
        f"keep {unit} in one split with {_option_and_field(fields)}{note_on_hash}"
        f"{note_on_largest}; {divide_anyway}"
    )


def _leaves_a_split_empty(proposal: GroupProposal, ratios: Mapping[str, float], seed: int) -> bool:
    """Says whether a split would have no image if a hash divided the groups."""
    ids_by_split = assign([*proposal.groups], ratios, seed, proposal.groups)
    return not all(ids_by_split.values())


def _option_and_field(fields: dict[str, str]) -> str:
    """Returns options, and the same in a config."""
    return f"{command(**fields)} (in a config: {json.dumps(fields, ensure_ascii=False)[1:-1]})"


@dataclasses.dataclass(frozen=True)
class DividedIds:
    """The ids that each split has.

    Attributes:
      ids: by split, its ids.
      sources: by split, where it comes from, in words.
      left_out: by split, the ids that it would have if they had a mask.
      notes: what a user should know.
    """

    ids: dict[str, Sequence[str]]
    sources: dict[str, str]
    left_out: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    notes: Sequence[str] = ()


def divide_by_ratio(
    ids: Collection[str], config: VocSegConfig, linked_ids: LinkedIds = ()
) -> DividedIds:
    """Divides ids by a hash; those that are to be stratified are one pool, until masks are read."""
    if config.split_by == "stratified":
        return DividedIds({POOL: [*ids]}, {POOL: _ALL_IMAGES})
    return divide_by_hash(ids, config, config.ratios, linked_ids)


def divide_by_hash(
    ids: Collection[str],
    config: VocSegConfig,
    ratios: Mapping[str, float],
    linked_ids: LinkedIds,
) -> DividedIds:
    """Divides ids by a hash of each, or of its group."""
    groups = _group_ids(ids, config, linked_ids)
    ids_by_split = assign(ids, ratios, config.seed, groups)
    sources = {}
    for split, ratio in ratios.items():
        if ratio >= 1:
            sources[split] = _ALL_IMAGES
        else:
            sources[split] = f"{ratio:g} of {len(ids)}{_in_groups(groups)}, by hash"
    notes = _note_on_few_groups(ids_by_split, ratios, config.seed, groups) if groups else []
    return DividedIds({**ids_by_split}, sources, notes=notes)


def _note_on_few_groups(
    ids_by_split: Mapping[str, Sequence[str]],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str],
) -> list[str]:
    """Returns a note if groups, by hash, miss the ratios by far, and can come nearer to them."""
    ids = [image_id for ids_of_split in ids_by_split.values() for image_id in ids_of_split]
    share_off = _largest_share_off(ids_by_split, ratios, len(ids))
    if share_off <= _MAX_SHARE_OFF or not all(ids_by_split.values()):
        return []
    nearest = stratify(dict.fromkeys(ids, ()), ratios, seed, groups)
    if _largest_share_off(nearest, ratios, len(ids)) >= share_off:
        return []
    reached = ", ".join(f"{split} {len(ids_by_split[split])}" for split in ratios)
    possible = ", ".join(f"{split} {len(nearest[split])}" for split in ratios)
    group_count = counted(len({groups[image_id] for image_id in ids}), "group")
    return [
        f"With {group_count}, splits by hash miss the ratios: {reached} of {len(ids)} images. "
        f"{command(split_by='stratified')} gives about {possible}."
    ]


def _largest_share_off(
    ids_by_split: Mapping[str, Sequence[str]], ratios: Mapping[str, float], id_count: int
) -> float:
    """Returns by which share of all images a split misses its ratio; 0 without images."""
    if not id_count:
        return 0
    return max(abs(len(ids_by_split[split]) / id_count - ratio) for split, ratio in ratios.items())


def _group_ids(
    ids: Iterable[str], config: VocSegConfig, linked_ids: LinkedIds
) -> Mapping[str, str] | None:
    """Returns the group of each id; None if each is on its own.

    Args:
      ids: the ids.
      config: the rule of groups, if there is one.
      linked_ids: ids that are in one group, whatever the rule says; others among them do not count.
    """
    groups = config.grouping.groups(ids) if config.grouping else None
    if not linked_ids:
        return groups
    own_groups = groups or {image_id: image_id for image_id in ids}
    linked_groups = link_groups(own_groups, linked_ids)
    return groups if linked_groups == own_groups else linked_groups


def _in_groups(groups: Mapping[str, str] | None) -> str:
    return f" in {len({*groups.values()})} groups" if groups else ""


def divide_stratified(
    labels: Labels,
    config: VocSegConfig,
    rule: MaskRule,
    ratios: Mapping[str, float],
    ids: Sequence[str],
    left_out: Sequence[str],
    linked_ids: LinkedIds,
) -> DividedIds:
    """Divides a pool of ids with masks by the classes in these.

    Args:
      labels: the masks.
      config: the user's options.
      rule: what the masks mean.
      ratios: the share of each split, or fold.
      ids: the ids.
      left_out: ids that are left out. A hash says which split would have had them.
      linked_ids: ids that are in one group.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    groups = _group_ids([*ids, *left_out], config, linked_ids)
    group_by_id = {image_id: groups[image_id] for image_id in ids} if groups else None
    _check_enough_units(ids, group_by_id, ratios)
    classes: dict[str, Sequence[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        read = functools.partial(_read_classes, labels, config.example_spec(rule))
        classes = dict(ordered_map(read, ids))
    ids_by_split = stratify(classes, ratios, config.seed, groups)
    in_groups = _in_groups(group_by_id)
    sources = {
        split: f"{ratio:g} of {len(ids)}{in_groups}, stratified" for split, ratio in ratios.items()
    }
    left_out_by_split = assign(left_out, ratios, config.seed, groups)
    return DividedIds(
        {**ids_by_split},
        sources,
        {split: ids_of_split for split, ids_of_split in left_out_by_split.items() if ids_of_split},
    )


def _check_enough_units(
    ids: Sequence[str], group_by_id: Mapping[str, str] | None, ratios: Mapping[str, float]
) -> None:
    if group_by_id is None:
        units = counted(len(ids), "image")
        count = len(ids)
    else:
        count = len({*group_by_id.values()})
        units = counted(count, "group")
    if count < len(ratios):
        raise ConfigError(
            "option splits or folds",
            found=f"{len(ratios)} splits for {units}",
            expected="at least one for each split",
            remedy="change the ratios, the number of folds, or group_by",
        )


def _read_classes(labels: Labels, spec: ExampleSpec, image_id: str) -> Sequence[int]:
    """Returns the classes in a mask; none if it is wrong, which stops the build later."""
    if image_id not in labels.names:
        return () if spec.fill is None else (spec.fill,)
    try:
        file = labels.file(image_id)
        return read_mask(file, spec.rule, surveyed=labels.surveyed_mask(image_id)).present()
    except VocSegError:
        return ()
