"""Which lists belong together: those of one division of the images, such as a fold."""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import itertools

from voc_seg_tfrecord.core.split_names import (
    SplitName,
    needs_train,
    own_split_name,
    parse_split_name,
)
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, Series, SplitList


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists that belong together: those of one series.

    Of two for the same split, such as `train.txt` and `train_list.txt`, each begins a division of
    its own. A list that only its folder makes a split is none if it shares images with the others.
    """
    making_splits = [split_list for split_list in lists if split_list.split]
    renamed = _use_own_names(_use_plain_names(making_splits))
    divisions_by_series: dict[Series, list[list[SplitList]]] = {}
    for split_list in sorted(renamed, key=_plainness_of_name):
        divisions = divisions_by_series.setdefault(split_list.series, [])
        others = itertools.chain(*divisions)
        if split_list.is_named or not split_list.shares_images_with(others):
            _add_to_division(split_list, divisions)
    position_by_name: dict[str, int] = {}
    for position, split_list in enumerate(renamed):
        position_by_name.setdefault(split_list.name, position)
    return [
        sorted(division, key=lambda one: position_by_name[one.name])
        for division in itertools.chain(*divisions_by_series.values())
    ]


def _plainness_of_name(split_list: SplitList) -> tuple[bool, int]:
    """Returns the key by which lists whose names say little else come before the others."""
    return not split_list.is_named, len(split_list.file)


def _add_to_division(split_list: SplitList, divisions: list[list[SplitList]]) -> None:
    """Adds a list to the first division that has no list of its split, or to a new one."""
    for division in divisions:
        if all(other.split != split_list.split for other in division):
            division.append(split_list)
            return
    divisions.append([split_list])


def _use_plain_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which those in VOC's folder make the splits that their names say.

    Names that say more than a split stay, unless all of them say the same more.

        names of texts           splits
        train_list, val          train, validation
        train_a, val_a           train, validation
        train_a, train_b, val    train_a, train_b, validation
        train_a, val_b           train_a, val_b
    """
    name_by_file: dict[str, SplitName] = {}
    for split_list in lists:
        if split_list.rank == ListRank.SEGMENTATION and not split_list.key:
            name_by_file[split_list.file] = parse_split_name(split_list.split)
    counts = collections.Counter(name_by_file.values())
    rests = {name.rest for name in counts if name.split}
    renamed = []
    for split_list in lists:
        name = name_by_file.get(split_list.file)
        if name is not None and name.split:
            all_say_the_same_more = len(rests) == 1 and counts[name] == 1
            if not name.rest or all_say_the_same_more:
                split_list = dataclasses.replace(split_list, split=name.split)
        renamed.append(split_list)
    return renamed


def _use_own_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which several of test or of validation make splits of their own names.

    names of lists beside one another        splits
    train, test1, test2                      train, test1, test2
    val, eval                                validation, eval
    train_fold0, val_fold0,                  train and validation of two divisions
      train_fold1, val_fold1
    train, test, test_easy with a part       test_easy keeps the split test, and begins a
      of the images of test                  division of its own
    """
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_scope[split_list.scope].append(split_list)
    renamed = []
    for split_list in lists:
        others = [
            other for other in lists_by_scope[split_list.scope] if other.name != split_list.name
        ]
        if _needs_own_name(split_list, others):
            split = own_split_name(split_list.innermost_name)
            series = dataclasses.replace(split_list.series, words_of_name="")
            split_list = dataclasses.replace(split_list, split=split, series=series)
        renamed.append(split_list)
    return renamed


def _needs_own_name(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope."""
    name = parse_split_name(split_list.innermost_name)
    if name.split != split_list.split or name.split == "train":
        return False
    is_plain = not name.rest and not needs_train(split_list.innermost_name)
    if is_plain:
        return False
    for other in others:
        is_of_same_fold = name.rest and name.rest == parse_split_name(other.innermost_name).rest
        if other.split != name.split and is_of_same_fold:
            return False
    has_another_of_its_split = any(other.split == name.split for other in others)
    return has_another_of_its_split and not split_list.shares_images_with(others)
