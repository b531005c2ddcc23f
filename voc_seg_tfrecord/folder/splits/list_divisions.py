"""Which lists belong together: those of one division of the images, such as a fold.

Three steps find them. For `train.txt`, `test1.txt` and `test2.txt` in one folder:

1. `_take_splits_of_names_in_voc_folder`: nothing, because they do not lie in VOC's folder.
2. `_is_further_test`: both lists of test make splits of their own names, `test1` and `test2`.
3. `_divide_series`: all three are of one series, because now their names say a split and nothing
   else, and each makes another split. So they are one division: train, test1 and test2.
"""

import collections
from collections.abc import Iterable, Sequence
import dataclasses

from voc_seg_tfrecord.core.split_names import (
    as_split_name,
    parse_split_name,
    says_split_ambiguously,
)
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, Series, SplitList


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of each division; see the module. Lists that make no split are in none.

    Several lists of test or of validation that lie beside one another make splits of their own
    names:

        lists beside one another                      splits
        train, test1, test2                           train, test1, test2
        val, eval                                     validation, eval
        train_fold0, val_fold0                        train, validation: two of one fold
        test, test_easy with part of test's images    test, and test in another division
    """
    making_splits = [split_list for split_list in lists if split_list.split]
    lists = _take_splits_of_names_in_voc_folder(making_splits)
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_scope[split_list.scope].append(split_list)
    lists_by_series: dict[Series, list[SplitList]] = collections.defaultdict(list)
    # Those with known names come first, then those of short paths.
    for split_list in sorted(lists, key=lambda one: (one.has_unknown_name, len(one.file))):
        others = [one for one in lists_by_scope[split_list.scope] if one.name != split_list.name]
        if _is_further_test(split_list, others):
            split = as_split_name(split_list.innermost_name)
            series = dataclasses.replace(split_list.series, words_of_name="")
            split_list = dataclasses.replace(split_list, split=split, series=series)
        lists_by_series[split_list.series].append(split_list)
    divisions = []
    for lists_of_series in lists_by_series.values():
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
    name_by_list = {}
    for split_list in lists:
        name = parse_split_name(split_list.split)
        is_text_in_voc_folder = split_list.rank == ListRank.SEGMENTATION and not split_list.key
        if is_text_in_voc_folder and name.split:
            name_by_list[split_list.name] = name
    names = [*name_by_list.values()]
    say_the_same_more = len({name.rest for name in names}) == 1
    splits = [name.split for name in names]
    with_splits_of_names = []
    for split_list in lists:
        name = name_by_list.get(split_list.name, parse_split_name(""))
        is_only_one = say_the_same_more and splits.count(name.split) == 1
        if name.split and (not name.rest or is_only_one):
            split_list = dataclasses.replace(split_list, split=name.split)
        with_splits_of_names.append(split_list)
    return with_splits_of_names


def _is_further_test(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope.

    Examples: test2 beside test1, eval beside val. Each `return False` names a list that is none.
    """
    name = parse_split_name(split_list.innermost_name)
    if split_list.split != name.split or name.split == "train":
        return False  # train
    if not name.rest and not says_split_ambiguously(split_list.innermost_name):
        return False  # val beside eval
    for other in others:
        has_same_words = parse_split_name(other.innermost_name).rest == name.rest
        if name.rest and has_same_words and other.split != name.split:
            return False  # val_fold0 beside train_fold0
    if split_list.shares_images_with(others):
        return False  # test_easy with part of the images of test
    return any(other.split == name.split for other in others)


def _divide_series(lists: Sequence[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of a series as one division, or as several.

    A list with an unknown name is dropped if it shares images with the others. If two lists make
    the same split, such as `train.txt` and `train_list.txt`, the second one begins another
    division.

    Args:
      lists: the lists, those with known names first.
    """
    divisions: list[list[SplitList]] = []
    taken_lists = list[SplitList]()
    for split_list in lists:
        if split_list.has_unknown_name and split_list.shares_images_with(taken_lists):
            continue
        taken_lists.append(split_list)
        for division in divisions:
            if all(other.split != split_list.split for other in division):
                division.append(split_list)
                break
        else:
            divisions.append([split_list])
    return divisions
