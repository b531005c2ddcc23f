"""Lists that name groups of images in place of images: patients, films, scenes.

Example: the line `P01` of a list stands for the images `P01-S1` and `P01-S2`, if the user gives
`--group_by prefix:-`.
"""

import collections
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import cast

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.folder.splits.grouping import Grouping

_SEPARATORS = "-_."
"""Signs that may stand behind the name of a group in the names of images."""

IdsByGroup = Mapping[str, Sequence[str]]
"""The ids of the images of each group, by its name."""


def find_listed_groups(ids: Iterable[str], config: VocSegConfig) -> IdsByGroup:
    """Returns the groups that lists may name; none if the user gave no rule, or ratios.

    Raises:
      ConfigError: if the rule finds no group for an id.
    """
    if not config.has_group_rule or config.ratios:
        return {}
    return _group_ids(Grouping.parse(config.group_by), ids)


def _group_ids(grouping: Grouping, ids: Iterable[str]) -> dict[str, list[str]]:
    ids_by_group: dict[str, list[str]] = collections.defaultdict(list)
    for image_id, group in grouping.groups(ids).items():
        ids_by_group[group].append(image_id)
    return dict(ids_by_group)


class NamedGroup(str):
    """The name of a group in a list, where other names are replaced by the ids of their images."""

    __slots__ = ()


def with_names_of_groups(
    image_names: Mapping[str, str], ids_by_group: IdsByGroup
) -> Mapping[str, str]:
    """Returns the id of an image, or the `NamedGroup`, by each name in a list; images count first.

    Args:
      image_names: the ids of images by their names.
      ids_by_group: the groups.
    """
    if not ids_by_group:
        return image_names
    names_of_groups: MutableMapping[str, str] = {name: NamedGroup(name) for name in ids_by_group}
    return collections.ChainMap(cast(MutableMapping[str, str], image_names), names_of_groups)


def replace_groups(ids: Iterable[str], ids_by_group: IdsByGroup) -> list[str]:
    """Returns the ids in a list, with those of a group's images in place of each `NamedGroup`."""
    ids_of_images: list[str] = []
    for image_id in ids:
        if isinstance(image_id, NamedGroup):
            ids_of_images += ids_by_group[image_id]
        else:
            ids_of_images.append(image_id)
    return ids_of_images


def check_groups_are_named(config: VocSegConfig, *, list_names_group: bool) -> None:
    """Checks that the option `group_by` has an effect.

    Raises:
      ConfigError: if it has none: there are neither ratios nor folds, and no list names a group.
    """
    if not config.group_by or config.ratios or config.folds is not None or list_names_group:
        return
    raise ConfigError(
        "option group_by",
        found=repr(config.group_by),
        expected="ratios (option splits), folds, or lists that name groups in place of images",
        remedy="change group_by",
    )


def propose_rule(names: Sequence[str], ids: Sequence[str]) -> str:
    """Returns the rule by which names are those of groups; empty if no usual rule makes them so.

    The rule takes the part of an id before a sign, as `prefix:_` does, or the first few such parts,
    as many as each name has.

    Args:
      names: the names in a list, none of which is that of an image.
      ids: the ids of all images.
    """
    for sign in _SEPARATORS:
        counts = {name.count(sign) for name in names}
        if len(counts) != 1:
            continue
        parts = [f"[^{sign}]+"] * (counts.pop() + 1)
        rule = f"prefix:{sign}"
        if len(parts) > 1:
            rule = f"regex:^({f'[{sign}]'.join(parts)})[{sign}]"
        try:
            groups = _group_ids(Grouping.parse(rule), ids)
        except ConfigError:  # an id has no group by this rule
            continue
        if all(name in groups for name in names):
            return rule
    return ""
