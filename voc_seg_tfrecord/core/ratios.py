"""How large splits are: ratios of all images, and the folds of k-fold cross-validation.

Each fold is a split of the dataset, `fold_0` to `fold_4` of five. In round 0 a network is trained
on all folds but `fold_0`, and validated on that.
"""

from collections.abc import Iterable, Mapping
import numbers
import re
from typing import TypeVar

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.words import named_by_split

T = TypeVar("T")

TRAIN = "train"
"""The split that is divided into folds. The others, such as `test`, stay."""

MIN_FOLDS = 2
MAX_FOLDS = 100

_FOLD_NAME = re.compile(r"fold_(?P<number>0|[1-9][0-9]*)")

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


def fold_names(count: int) -> tuple[str, ...]:
    """Returns the names of the splits that are folds, in their order."""
    return tuple(f"fold_{number}" for number in range(count))


def fold_ratios(count: int) -> dict[str, float]:
    """Returns the share that each fold has of the images that are divided."""
    return dict.fromkeys(fold_names(count), 1 / count)


def divide_train(ratios: Mapping[str, float], count: int) -> dict[str, float]:
    """Returns ratios of splits in which folds of equal size stand in the place of train.

    Ratios without train are returned as they are.
    """
    divided = {}
    for split, ratio in ratios.items():
        if split == TRAIN:
            divided.update(dict.fromkeys(fold_names(count), ratio / count))
        else:
            divided[split] = ratio
    return divided


def find_folds(splits: Iterable[str]) -> list[str]:
    """Returns the splits that are folds, `fold_2` before `fold_10`."""
    matches = [match for match in map(_FOLD_NAME.fullmatch, splits) if match]
    matches.sort(key=lambda match: int(match["number"]))
    return [match[0] for match in matches]
