"""What the two ways to find groups share: groups that a rule makes, and those proposed to the user.

`groups_by_ids` finds groups by what ids say, `groups_by_looks` by what images show. Both try rules
of `--group_by`, and judge the groups that each rule makes. So what is proposed is what was judged.
"""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import enum
import re

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.grouping import Grouping, first_rule
from voc_seg_tfrecord.folder.splits.roboflow_names import (
    HASH_OF_ROBOFLOW,
    has_roboflow_hash,
    without_roboflow_hash,
)

PLAIN_RULES = ("folder", "prefix:_")
"""Rules that are easy to read."""

_NUMBERS = re.compile(r"(\d+)")


@dataclasses.dataclass(frozen=True)
class RuleGroups:
    """The groups that a rule makes.

    Attributes:
      rule: the rule, as `--group_by` takes it.
      group_by_id: the name of the group of each id.
    """

    rule: str
    group_by_id: Mapping[str, str]

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len({*self.group_by_id.values()})

    @property
    def grouped_id_count(self) -> int:
        """How many ids are in a group with another id."""
        sizes = collections.Counter(self.group_by_id.values())
        return sum(size for size in sizes.values() if size > 1)

    def list_groups_of_several(self) -> list[list[str]]:
        """Returns the ids of each group that has several, in the order of their numbers."""
        ids = sorted(self.group_by_id, key=_in_order_of_numbers)
        return [group for group in ids_by_group(ids, self.group_by_id).values() if len(group) > 1]

    def divide_copies(self) -> bool:
        """Says whether copies that Roboflow made of one photo are in different groups."""
        group_by_photo: dict[str, str] = {}
        for image_id, group in self.group_by_id.items():
            if not has_roboflow_hash(image_id):
                continue
            photo = without_roboflow_hash(image_id)
            if group_by_photo.setdefault(photo, group) != group:
                return True
        return False


def group_by_rule(rule: str, ids: Iterable[str]) -> RuleGroups | None:
    """Returns the groups that a rule makes; None if it finds no group for an id."""
    try:
        return RuleGroups(rule, Grouping.parse(rule).groups(ids))
    except ConfigError:
        return None


def group_by_pattern(pattern: str, ids: Collection[str]) -> RuleGroups | None:
    """Returns the groups that a regular expression makes; an id that it does not fit is alone.

    Returns:
      The groups; None if there is one group only, or copies of one photo are in several.
    """
    groups = group_by_rule(f"regex:{pattern}", ids)
    if groups is None:
        have_hashes = any(has_roboflow_hash(image_id) for image_id in ids)
        alone = f"^(.+?)(?:{HASH_OF_ROBOFLOW})?$" if have_hashes else "^(.+)$"
        groups = group_by_rule(f"regex:{pattern}|{alone}", ids)
    if groups is None or groups.group_count < 2 or groups.divide_copies():
        return None
    return groups


def ids_by_group(ids: Iterable[str], group_by_id: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns the ids of each group, in the order of `ids`."""
    ids_of_groups: dict[str, list[str]] = collections.defaultdict(list)
    for image_id in ids:
        ids_of_groups[group_by_id[image_id]].append(image_id)
    return ids_of_groups


def _in_order_of_numbers(image_id: str) -> tuple[list[str | int], str]:
    """Sort key by which `frame_2` comes before `frame_10`."""
    # Every second part has digits, so that numbers are compared with numbers.
    parts: list[str | int] = [*_NUMBERS.split(image_id)]
    parts[1::2] = [int(digits) for digits in parts[1::2]]
    return parts, image_id


class GroupKind(enum.Enum):
    """How the ids of a group are named."""

    NUMBERED = "they are numbered: frames of a film, patients"
    NAMED = "they have parts of their names in common"
    IN_A_ROW = "they are a block of successive numbers"


@dataclasses.dataclass(frozen=True)
class GroupProposal:
    """A rule that keeps together what belongs together.

    Attributes:
      rule: what `--group_by` is to be.
      groups: the group that the rule gives each id.
      members: the ids of each group that belong together, in their order.
      kind: how the ids of a group are named.
    """

    rule: str
    groups: Mapping[str, str]
    members: Sequence[Sequence[str]]
    kind: GroupKind


def propose(
    groups: RuleGroups,
    members: Sequence[Sequence[str]],
    kind: GroupKind,
    plain_rules: Iterable[str] = PLAIN_RULES,
) -> GroupProposal:
    """Returns a proposal of groups, by the first plain rule that makes the same ones.

    Args:
      groups: the groups.
      members: the ids of each group that belong together.
      kind: how the ids of a group are named.
      plain_rules: rules that are easier to read than that of `groups`.
    """
    plain_rule = first_rule(plain_rules, groups.group_by_id)
    if plain_rule is None:
        return GroupProposal(groups.rule, groups.group_by_id, members, kind)
    # Splits are chosen by a hash of the group's name, so take the names that the plain rule gives.
    group_by_id = Grouping.parse(plain_rule).groups(groups.group_by_id)
    return GroupProposal(plain_rule, group_by_id, members, kind)
