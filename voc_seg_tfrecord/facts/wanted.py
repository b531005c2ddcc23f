"""The ids that a caller wants of a dataset, and that none of them gets lost."""

from collections.abc import Collection
from typing import TypeAlias

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.facts import named_lists

Wanted: TypeAlias = str | Collection[str]
"""The name of a list, such as `semi_1_16`, or image ids."""

SHOWN = 3


def wanted_ids(wanted: Wanted) -> frozenset[str]:
    """Returns the ids of a list.

    Args:
      wanted: the name of a list that `named_lists.named` knows, or image ids.

    Raises:
      ConfigError: if no list has this name, or there is no id.
    """
    ids = frozenset(named_lists.ids(wanted) if isinstance(wanted, str) else wanted)
    if not ids:
        raise ConfigError("the list", found="no id", expected="at least one image id")
    return ids


def check_held(
    ids: Collection[str], found: Collection[str], where: object, *, partial: bool
) -> frozenset[str]:
    """Checks that a dataset has all ids of a list.

    Args:
      ids: the list.
      found: the ids that the dataset has.
      where: the dataset, for the error.
      partial: whether it may have only some of them, or none.

    Returns:
      The ids of the list that the dataset has.

    Raises:
      ConfigError: if some are not there and `partial` is False.
    """
    held = frozenset(ids).intersection(found)
    lacking = sorted(set(ids) - held)
    if lacking and not partial:
        more = ", ..." if len(lacking) > SHOWN else ""
        raise ConfigError(
            where,
            found=f"{len(lacking)} of the {len(ids)} ids of the list are not in it: "
            f"{', '.join(lacking[:SHOWN])}{more}",
            expected="a split that holds the complete list",
            remedy="read the split that the list was made for, or give partial=True to use "
            f"the {len(held)} that are there",
        )
    return held
