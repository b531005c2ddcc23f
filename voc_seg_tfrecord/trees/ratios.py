"""Assigns ids to splits by ratio, where no list does."""

from collections.abc import Iterable, Mapping
import hashlib
from typing import TypeVar

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.trees.tree import LIST_NAMES

T = TypeVar("T")

_SCALE = 1 << 64


def split_of(name: str) -> str:
    """Returns the split that a list, a folder or a ratio of this name makes.

    `val` and `valid` become `validation`, and known names are taken in any case.
    """
    known = name.lower() if name.lower() in LIST_NAMES else name
    return {"val": "validation", "valid": "validation"}.get(known, known)


def check_ratios(ratios: Mapping[str, float], where: object) -> None:
    """Checks that the ratios of the splits sum to 1.

    Raises:
      ConfigError: if one is not above 0, or their sum is not 1.
    """
    total = sum(ratios.values())
    if any(not ratio > 0 for ratio in ratios.values()) or abs(total - 1) > 1e-6:
        raise ConfigError(
            where,
            found=", ".join(f"{name}={ratio:g}" for name, ratio in ratios.items())
            + f", together {total:g}",
            expected="ratios above 0 that sum to 1, such as train=0.8,validation=0.2",
            remedy="change the ratios",
        )


def by_split_name(ratios: Mapping[str, T], where: object) -> dict[str, T]:
    """Returns ratios by the names of the splits that they make: `val` is `validation`.

    Raises:
      ConfigError: if two of them would be one split.
    """
    splits: dict[str, T] = {}
    for name, ratio in ratios.items():
        split = split_of(name)
        if split in splits:
            raise ConfigError(
                where,
                found=f"two ratios for the split {split!r}: {', '.join(ratios)}",
                expected="one ratio for each split",
                remedy="leave one out",
            )
        splits[split] = ratio
    return splits


def assign(
    ids: Iterable[str],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids to splits.

    An id's place depends on the id, the seed and the ratios alone: not on the machine, not
    on the other ids. Adding images later moves none of the old ones.

    Args:
      ids: the pool.
      ratios: each split's share; they sum to 1.
      seed: another seed gives another assignment.
      groups: the group of each id; then the group's name is what is hashed, so that the ids
        of a group stay together.

    Returns:
      The ids of each split, sorted; with few ids a split may get none.
    """
    splits: dict[str, list[str]] = {name: [] for name in ratios}
    names = list(ratios)
    for image_id in sorted(ids):
        key = groups[image_id] if groups else image_id
        digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        position = int.from_bytes(digest[:8]) / _SCALE
        bound = 0.0
        for name in names:
            bound += ratios[name]
            if position < bound:
                break
        splits[name].append(image_id)
    return splits
