"""The folds of k-fold cross-validation: the parts that the images to train on are divided into.

Each fold is a split of the dataset, `fold_0` to `fold_4` of five. In round 0 a network is trained
on all folds but `fold_0`, and validated on that.
"""

from collections.abc import Iterable, Mapping
import re

TRAIN = "train"
"""The split that is divided into folds. The others, such as `test`, stay."""

MIN_FOLDS = 2
MAX_FOLDS = 100

_FOLD_NAME = re.compile(r"fold_(?P<number>0|[1-9][0-9]*)")


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
