"""Which lists belong together: those of one division of the images, such as a fold.

Three steps find them. For `train.txt`, `test1.txt` and `test2.txt` in one folder:

1. `_take_splits_of_names_in_voc_folder`: nothing, because they do not lie in VOC's folder.
2. `_name_further_tests`: both lists of test make splits of their own names, `test1` and `test2`.
3. `_divide_series`: all three are of one series, because now their names say a split and nothing
   else, and each makes another split. So they are one division: train, test1 and test2.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.split_names import (
    SplitName,
    as_split_name,
    parse_split_name,
    says_split_ambiguously,
)
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, Series, SplitList


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of each division; see the module. Lists that make no split are in none."""
    making_splits = [split_list for split_list in lists if split_list.split]
    with_splits_of_names = _take_splits_of_names_in_voc_folder(making_splits)
    with_own_names = _name_further_tests(with_splits_of_names)
    divisions = []
    for lists_of_series in _lists_by_series(with_own_names).values():
        divisions += _divide_series(lists_of_series)
    position_by_name = {split_list.name: n for n, split_list in enumerate(making_splits)}
    return [sorted(division, key=lambda one: position_by_name[one.name]) for division in divisions]


def _take_splits_of_names_in_voc_folder(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which those in VOC's folder make the splits that their names say.

    There, a text makes a split of its whole name at first: `train_list` of `train_list.txt`.

    The names of all texts there count:

        names of texts           splits
        train_list, val          train, validation
        train_a, val_a           train, validation: all names say the same more
        train_a, train_b, val    train_a, train_b, validation
        train_a, val_b           train_a, val_b
    """
    names = [_split_name_in_voc_folder(split_list) for split_list in lists]
    names_there = [name for name in names if name is not None]
    with_splits_of_names = []
    for split_list, name in zip(lists, names, strict=True):
        if name is not None and _makes_split_that_it_says(name, names_there):
            with_splits_of_names.append(dataclasses.replace(split_list, split=name.split))
        else:
            with_splits_of_names.append(split_list)
    return with_splits_of_names


def _split_name_in_voc_folder(split_list: SplitList) -> SplitName | None:
    """Returns what the name of a text in VOC's folder says about splits; None if it says none."""
    if split_list.rank != ListRank.SEGMENTATION or split_list.key:
        return None
    name = parse_split_name(split_list.split)
    return name if name.split else None


def _makes_split_that_it_says(name: SplitName, names_there: Sequence[SplitName]) -> bool:
    """Says whether a name in VOC's folder makes the split that it says, whatever more it says.

    Args:
      name: the name.
      names_there: all names in VOC's folder that say a split.
    """
    if not name.rest:
        return True
    all_say_the_same_more = all(other.rest == name.rest for other in names_there)
    no_other_says_its_split = sum(other.split == name.split for other in names_there) == 1
    return all_say_the_same_more and no_other_says_its_split


def _name_further_tests(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which several of test or of validation make splits of their own names.

    The lists beside one another count:

        lists beside one another                      splits
        train, test1, test2                           train, test1, test2
        val, eval                                     validation, eval
        train_fold0, val_fold0                        train, validation: two of one fold
        test, test_easy with part of test's images    test, and test in another division
    """
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_scope[split_list.scope].append(split_list)
    with_own_names = []
    for split_list in lists:
        others_in_scope = [
            other for other in lists_by_scope[split_list.scope] if other.name != split_list.name
        ]
        if _is_further_test(split_list, others_in_scope):
            with_own_names.append(_with_own_name(split_list))
        else:
            with_own_names.append(split_list)
    return with_own_names


def _is_further_test(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope.

    Examples: test2 beside test1, eval beside val. Each `return False` names a list that is none.
    """
    name = parse_split_name(split_list.innermost_name)
    makes_split_of_its_name = split_list.split == name.split
    if not makes_split_of_its_name or name.split == "train":
        return False  # train
    is_plain = not name.rest and not says_split_ambiguously(split_list.innermost_name)
    if is_plain:
        return False  # val beside eval
    if _is_of_fold(name, others):
        return False  # val_fold0 beside train_fold0
    if split_list.shares_images_with(others):
        return False  # test_easy with part of the images of test
    return any(other.split == name.split for other in others)


def _is_of_fold(name: SplitName, others: Sequence[SplitList]) -> bool:
    """Says whether a list of another split has the same words beside its split.

    Example: `val_fold0` beside `train_fold0`.
    """
    if not name.rest:
        return False
    for other in others:
        has_same_words = parse_split_name(other.innermost_name).rest == name.rest
        if has_same_words and other.split != name.split:
            return True
    return False


def _with_own_name(split_list: SplitList) -> SplitList:
    """Returns a list that makes a split of its whole name: `test1` of `test1.txt`.

    So its name says nothing beside the split.
    """
    split = as_split_name(split_list.innermost_name)
    series = dataclasses.replace(split_list.series, words_of_name="")
    return dataclasses.replace(split_list, split=split, series=series)


def _lists_by_series(lists: Sequence[SplitList]) -> Mapping[Series, list[SplitList]]:
    """Returns the lists of each series: those with known names first, then those of short paths."""
    lists_by_series: dict[Series, list[SplitList]] = collections.defaultdict(list)
    for split_list in sorted(lists, key=lambda one: (one.has_unknown_name, len(one.file))):
        lists_by_series[split_list.series].append(split_list)
    return lists_by_series


def _divide_series(lists: Sequence[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of a series as one division, or as several.

    A list with an unknown name is dropped if it shares images with the others. If two lists make
    the same split, such as `train.txt` and `train_list.txt`, the second one begins another
    division.

    Args:
      lists: the lists, those with known names first.
    """
    taken_lists = list[SplitList]()
    for split_list in lists:
        if split_list.has_unknown_name and split_list.shares_images_with(taken_lists):
            continue
        taken_lists.append(split_list)
    divisions: list[list[SplitList]] = []
    for split_list in taken_lists:
        _add_to_division(split_list, divisions)
    return divisions


def _add_to_division(split_list: SplitList, divisions: list[list[SplitList]]) -> None:
    """Adds a list to the first division that has no list of its split, or to a new one."""
    for division in divisions:
        if all(other.split != split_list.split for other in division):
            division.append(split_list)
            return
    divisions.append([split_list])
