"""The ids that a caller wants of a dataset: a named list, or the ids themselves."""

from collections.abc import Collection
from typing import TypeAlias

from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.named_lists import list_ids

IdList: TypeAlias = str | Collection[str]
"""The name of a list, such as `semi_1_16`, or image ids."""


def ids_in(wanted: IdList) -> frozenset[str]:
    """Returns the ids of a list.

    Args:
      wanted: the name of a list that `named_lists` knows, or image ids.

    Raises:
      ConfigError: if no list has this name, or there is no id.
    """
    ids = frozenset(list_ids(wanted) if isinstance(wanted, str) else wanted)
    if not ids:
        raise ConfigError("the list", found="no id", expected="at least one image id")
    return ids


def check_present(
    ids: Collection[str],
    present_ids: Collection[str],
    where: object,
    *,
    partial: bool,
    remedy: str = "",
) -> frozenset[str]:
    """Checks that a dataset has all ids of a list.

    Args:
      ids: the list.
      present_ids: the ids that the dataset has.
      where: the dataset, for the error.
      partial: whether it may have only some of them, or none.
      remedy: for the error; by default what Python code can do.

    Returns:
      The ids of the list that the dataset has.

    Raises:
      ConfigError: if some are missing and `partial` is False.
    """
    present = frozenset(ids).intersection(present_ids)
    missing = sorted(set(ids) - present)
    if not missing or partial:
        return present
    if not remedy:
        remedy = (
            "read the split that the list was made for, or give partial=True to use "
            f"the {len(present)} that are there"
        )
    raise ConfigError(
        where,
        found=f"it lacks {len(missing)} of the {len(ids)} ids of the list: {several(missing)}",
        expected="a split that holds the complete list",
        remedy=remedy,
    )
