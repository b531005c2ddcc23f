"""Assigns ids to splits by ratio, where no list does."""

import bisect
from collections.abc import Iterable, Mapping
import hashlib
import itertools
import numbers
from typing import TypeVar

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.core.split_names import named_by_split

T = TypeVar("T")

_MAX_ROUNDING_ERROR = 1e-6


def check_ratios(ratios: Mapping[str, float], where: object) -> None:
    """Checks that the ratios of the splits sum to 1.

    Raises:
      ConfigError: if one is not above 0, or their sum is not 1.
    """
    for name, ratio in ratios.items():
        if isinstance(ratio, bool) or not isinstance(ratio, numbers.Real):
            raise ConfigError(
                where,
                found=f"{name}={ratio!r}",
                expected="a ratio for each split, such as {'train': 0.8, 'validation': 0.2}",
                remedy="give the share of the images that the split gets",
            )
    total = sum(ratios.values())
    are_above_zero = all(ratio > 0 for ratio in ratios.values())
    if not are_above_zero or abs(total - 1) > _MAX_ROUNDING_ERROR:
        shown = ", ".join(f"{name}={ratio:g}" for name, ratio in ratios.items())
        raise ConfigError(
            where,
            found=f"{shown}, together {total:g}",
            expected="ratios above 0 that sum to 1, such as train=0.8,validation=0.2",
            remedy="change the ratios",
        )


def by_split_name(ratios: Mapping[str, T], where: object) -> dict[str, T]:
    """Returns ratios by the names of the splits that they make: `val` is `validation`.

    Raises:
      ConfigError: if two of them would be one split.
    """
    ratio_by_split = {}
    for split, names in named_by_split(ratios).items():
        if len(names) > 1:
            raise ConfigError(
                where,
                found=f"two ratios for the split {split!r}: {', '.join(ratios)}",
                expected="one ratio for each split",
                remedy="leave one out",
            )
        ratio_by_split[split] = ratios[names[0]]
    return ratio_by_split


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
