"""Divides images by ratio and into folds, and asks before if some belong together.

Ids say so, as those of frames do, or the looks of a few images. Scores on the other splits would
say nothing if such images were divided, so the user has to decide.
"""

import bisect
import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import dataclasses
import hashlib
import itertools
import json

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_fields import NO_GROUPS
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.splits.candidates import (
    ALL_IMAGES,
)
from voc_seg_tfrecord.folder.splits.grouping import Grouping, link_groups
from voc_seg_tfrecord.folder.splits.groups_by_ids import GroupKind, GroupProposal, propose_by_ids
from voc_seg_tfrecord.folder.splits.groups_by_looks import LooksComparer, propose_by_looks
from voc_seg_tfrecord.folder.splits.stratified import stratify

POOL = ALL_IMAGES
"""The name of the one split before images are divided by their classes. Errors show it too."""

_MAX_SHARE_OFF = 0.1
"""The share of all images by which a split of groups may miss its ratio without a note."""


@dataclasses.dataclass(frozen=True)
class ShareOfImages:
    """One split that ratios or folds make.

    Attributes:
      split: the name of the split.
      words: what it is a share of, as a user reads it: `0.8 of 20, stratified`.
      ids: the ids in the split.
      left_out: the ids that it would have if they had a mask.
    """

    split: str
    words: str
    ids: Sequence[str]
    left_out: Sequence[str] = ()


@dataclasses.dataclass(frozen=True)
class DividedImages:
    """Images that ratios or folds divide.

    Attributes:
      shares: the splits.
      notes: what a user should know.
    """

    shares: Sequence[ShareOfImages]
    notes: Sequence[str] = ()


LinkedIds = Sequence[Sequence[str]]
"""Ids of one image each, as several annotators drew it, which stay in one split."""


def assign(
    ids: Iterable[str],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids to splits.

    The split of an id depends on the id, the seed and the ratios alone: not on the machine, not
    on the other ids, not on the Unicode form of its accents. Adding images later moves none of the
    old ones. With groups, the name of an id's group is what is hashed, so that a group stays
    together.

    Returns:
      The ids of each split, sorted; with few ids a split may get none.
    """
    ids_by_split: dict[str, list[str]] = {split: [] for split in ratios}
    splits = [*ratios]
    upper_bounds = [*itertools.accumulate(ratios.values())]
    inner_bounds = upper_bounds[:-1]  # rounding may leave the last one below 1
    for image_id in sorted(ids):
        key = groups[image_id] if groups else image_id
        digest = hashlib.sha256(f"{seed}:{as_nfc(key)}".encode()).digest()
        share = int.from_bytes(digest[:8]) / (1 << 64)
        number = bisect.bisect_right(inner_bounds, share)
        ids_by_split[splits[number]].append(image_id)
    return ids_by_split


def check_groups(
    ids: Collection[str],
    path_of: Callable[[str], epath.Path],
    config: VocSegConfig,
    where: epath.PathLike,
    ratios: Mapping[str, float],
) -> None:
    """Checks that ratios tear no groups apart, unless the user gave `group_by`.

    If groups by ids tear those by looks apart, the groups by looks are asked about. Example: ids
    say films, and images of two films look alike.

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
    proposal = by_ids or by_looks
    if by_ids and by_looks:
        pairs = {(by_looks.groups[one], group) for one, group in by_ids.groups.items()}
        keep_whole = len(pairs) == len({*by_looks.groups.values()})
        proposal = by_ids if keep_whole else by_looks
    if proposal is None:
        return
    groups = counted(len(proposal.members), "group")
    first_group = proposal.members[0]
    neighbors_look_alike = ", and images next to each other look alike" if by_looks else ""
    raise LayoutError(
        where,
        found=f"{sum(map(len, proposal.members))} of {len(ids)} ids are "
        f"{proposal.kind.value.format(groups=groups)}, such as {first_group[0]} to "
        f"{first_group[-1]} ({counted(len(first_group), 'image')}){neighbors_look_alike}. "
        f"{'Ratios' if config.folds is None else 'Folds'} may put these into several splits",
        expected="images that are almost the same in one split; otherwise the scores on the other "
        "splits are too high",
        remedy=_advice(proposal, config, ratios),
        kind="images that belong together",
    )


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
    notes = ""
    by_hash = assign([*proposal.groups], ratios, config.seed, proposal.groups)
    if config.split_by == "hash" and not all(by_hash.values()):
        fields["split_by"] = "stratified"
        notes = " (by hash a split would be empty)"
    share_of_largest = max(sizes.values()) / len(proposal.groups)
    if share_of_largest > max(ratios.values()):
        notes += f"; the largest group has {share_of_largest:.0%} of the images"
    unit = "blocks of them" if proposal.kind is GroupKind.IN_A_ROW else "each group"
    return f"keep {unit} in one split with {_option_and_field(fields)}{notes}; {divide_anyway}"


def _option_and_field(fields: dict[str, str]) -> str:
    """Returns options, and the same in a config."""
    return f"{command(**fields)} (in a config: {json.dumps(fields, ensure_ascii=False)[1:-1]})"


def divide_by_ratio(
    ids: Collection[str], config: VocSegConfig, linked_ids: LinkedIds = ()
) -> DividedImages:
    """Divides ids by a hash; those that are to be stratified are one pool, until masks are read."""
    if config.split_by == "stratified":
        return DividedImages([ShareOfImages(POOL, POOL, [*ids])])
    return divide_by_hash(ids, config, config.ratios, linked_ids)


def divide_by_hash(
    ids: Collection[str],
    config: VocSegConfig,
    ratios: Mapping[str, float],
    linked_ids: LinkedIds,
    left_out: Collection[str] = (),
) -> DividedImages:
    """Divides ids by a hash of each, or of its group; see `divide_stratified`.

    If splits of groups miss the ratios by far, and can come nearer to them, a note says so.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    groups = _group_ids(ids, config, linked_ids)
    if ids:
        _check_enough_units(ids, groups, ratios)
    ids_by_split = assign(ids, ratios, config.seed, groups)
    notes = []
    share_off = _largest_share_off(ids_by_split, ratios)
    if groups and share_off > _MAX_SHARE_OFF and all(ids_by_split.values()):
        nearest = stratify(dict.fromkeys(ids, ()), ratios, config.seed, groups)
        if _largest_share_off(nearest, ratios) < share_off:
            reached = ", ".join(f"{split} {len(ids_by_split[split])}" for split in ratios)
            possible = ", ".join(f"{split} {len(nearest[split])}" for split in ratios)
            notes.append(
                f"With {counted(len({*groups.values()}), 'group')}, splits by hash miss the "
                f"ratios: {reached} of {len(ids)} images. {command(split_by='stratified')} gives "
                f"about {possible}."
            )
    groups_of_left_out = _group_ids(left_out, config, linked_ids)
    left_out_by_split = assign(left_out, ratios, config.seed, groups_of_left_out)
    words = f"{_count(ids, groups)}, approximate: by a hash of the ids"
    return _name_shares(ratios, words, ids_by_split, left_out_by_split, notes)


def divide_stratified(
    ids: Sequence[str],
    config: VocSegConfig,
    ratios: Mapping[str, float],
    linked_ids: LinkedIds,
    left_out: Collection[str],
    read_classes: Callable[[str], Collection[int]],
) -> DividedImages:
    """Divides a pool of ids with masks by the classes in these.

    Args:
      ids: the ids.
      config: the user's options.
      ratios: the share of each split, or fold.
      linked_ids: ids that are in one group.
      left_out: ids that are left out. A hash says which split would have had them.
      read_classes: returns the classes in the mask of an id.

    Raises:
      ConfigError: if there are fewer images, or groups, than splits.
    """
    groups = _group_ids([*ids, *left_out], config, linked_ids)
    group_by_id = {image_id: groups[image_id] for image_id in ids} if groups else None
    _check_enough_units(ids, group_by_id, ratios)
    classes: dict[str, Collection[int]] = dict.fromkeys(ids, ())
    if len(ratios) > 1:
        classes.update(ordered_map(read_classes, ids))
    words = f"{_count(ids, group_by_id)}, stratified"
    if group_by_id:
        words += " as far as whole groups allow"
    ids_by_split = stratify(classes, ratios, config.seed, groups)
    left_out_by_split = assign(left_out, ratios, config.seed, groups)
    return _name_shares(ratios, words, ids_by_split, left_out_by_split)


def _check_enough_units(
    ids: Collection[str], group_by_id: Mapping[str, str] | None, ratios: Mapping[str, float]
) -> None:
    """Checks that there are at least as many images, or groups, as splits.

    Raises:
      ConfigError: if there are fewer.
    """
    if group_by_id:
        unit_count = len({*group_by_id.values()})
        units = counted(unit_count, "group")
    else:
        unit_count = len(ids)
        units = counted(unit_count, "image")
    if unit_count < len(ratios):
        raise ConfigError(
            "option splits or folds",
            found=f"{len(ratios)} splits for {units}",
            expected="at least one for each split",
            remedy="change the ratios, the number of folds, or group_by",
        )


def _name_shares(
    ratios: Mapping[str, float],
    words: str,
    ids_by_split: Mapping[str, Sequence[str]],
    left_out_by_split: Mapping[str, Sequence[str]],
    notes: Sequence[str] = (),
) -> DividedImages:
    """Returns splits that are shares of images; `words` is what they are shares of."""
    shares = []
    for split, ratio in ratios.items():
        words_of_split = POOL if ratio >= 1 else f"{ratio:g} of {words}"
        ids = ids_by_split[split]
        shares.append(ShareOfImages(split, words_of_split, ids, left_out_by_split[split]))
    return DividedImages(shares, notes)


def _group_ids(
    ids: Iterable[str], config: VocSegConfig, linked_ids: LinkedIds
) -> Mapping[str, str] | None:
    """Returns the group of each id; None if each is on its own.

    Args:
      ids: the ids.
      config: the rule of groups, if there is one.
      linked_ids: ids that are in one group, whatever the rule says; others among them do not count.
    """
    groups = None
    if config.has_group_rule:
        groups = Grouping.parse(config.group_by).groups(ids)
    if not linked_ids:
        return groups
    own_groups = groups or {image_id: image_id for image_id in ids}
    linked_groups = link_groups(own_groups, linked_ids)
    return groups if linked_groups == own_groups else linked_groups


def _count(ids: Collection[str], groups: Mapping[str, str] | None) -> str:
    """Returns how many ids there are, and in how many groups if they are in any."""
    if not groups:
        return str(len(ids))
    return f"{len(ids)} in {counted(len({*groups.values()}), 'group')}"


def _largest_share_off(
    ids_by_split: Mapping[str, Sequence[str]], ratios: Mapping[str, float]
) -> float:
    """Returns by which share of all images a split misses its ratio; 0 without images."""
    id_count = sum(map(len, ids_by_split.values())) or 1
    return max(abs(len(ids_by_split[split]) / id_count - ratio) for split, ratio in ratios.items())
