"""Which lists belong together: those of one division of the images, such as a fold.

Three steps find them. For `train.txt`, `test1.txt` and `test2.txt` in one folder:

1. `_simplify_names_in_voc_folder`: nothing, because they do not lie in VOC's folder for lists.
2. `_name_further_tests`: both lists of test make splits of their own names, `test1` and `test2`.
3. `_collect_divisions`: now their names say a split and nothing else, so all three are one
   division: train, test1 and test2.
"""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import itertools

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
    simplified = _simplify_names_in_voc_folder(making_splits)
    return _collect_divisions(_name_further_tests(simplified))


def _simplify_names_in_voc_folder(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which those in VOC's folder make the splits that their names say.

    Names that say more than a split stay, unless all of them say the same more.

        names of texts           splits
        train_list, val          train, validation
        train_a, val_a           train, validation
        train_a, train_b, val    train_a, train_b, validation
        train_a, val_b           train_a, val_b
    """
    names = [_split_name_in_voc_folder(split_list) for split_list in lists]
    counts = collections.Counter(name for name in names if name is not None)
    all_say_the_same_more = len({name.rest for name in counts}) == 1
    simplified = []
    for split_list, name in zip(lists, names, strict=True):
        if name is None:
            simplified.append(split_list)
            continue
        is_only_list_of_its_split = all_say_the_same_more and counts[name] == 1
        if not name.rest or is_only_list_of_its_split:
            simplified.append(dataclasses.replace(split_list, split=name.split))
        else:
            simplified.append(split_list)
    return simplified


def _split_name_in_voc_folder(split_list: SplitList) -> SplitName | None:
    """Returns what the name of a text in VOC's folder says about splits; None if it says none."""
    if split_list.rank != ListRank.SEGMENTATION or split_list.key:
        return None
    name = parse_split_name(split_list.split)
    return name if name.split else None


def _name_further_tests(lists: Sequence[SplitList]) -> list[SplitList]:
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
            split = as_split_name(split_list.innermost_name)
            series = dataclasses.replace(split_list.series, words_of_name="")
            renamed.append(dataclasses.replace(split_list, split=split, series=series))
        else:
            renamed.append(split_list)
    return renamed


def _needs_own_name(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope."""
    name = parse_split_name(split_list.innermost_name)
    if name.split != split_list.split or name.split == "train":
        return False
    is_plain = not name.rest and not says_split_ambiguously(split_list.innermost_name)
    if is_plain or _is_of_fold(name, others):
        return False
    has_another_of_its_split = any(other.split == name.split for other in others)
    return has_another_of_its_split and not split_list.shares_images_with(others)


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


def _collect_divisions(lists: Sequence[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of each series as one division, or as several.

    If two of them are for the same split, such as `train.txt` and `train_list.txt`, the second one
    begins another division. A list that is a split only by its folder is dropped if it shares
    images with the others.
    """
    numbered_lists = [_NumberedList(number, split_list) for number, split_list in enumerate(lists)]
    divisions_by_series: dict[Series, list[list[_NumberedList]]] = {}
    for numbered in sorted(numbered_lists, key=_plainness):
        split_list = numbered.split_list
        divisions = divisions_by_series.setdefault(split_list.series, [])
        others = [other.split_list for other in itertools.chain(*divisions)]
        if split_list.is_named or not split_list.shares_images_with(others):
            _add_to_division(numbered, divisions)
    all_divisions = itertools.chain(*divisions_by_series.values())
    return [_in_order(division) for division in all_divisions]


@dataclasses.dataclass(frozen=True)
class _NumberedList:
    """A list, and its number in the order of all lists."""

    number: int
    split_list: SplitList


def _plainness(numbered: _NumberedList) -> tuple[bool, int]:
    """Sort key: lists that a name makes a split come first, and then those with short paths."""
    return not numbered.split_list.is_named, len(numbered.split_list.file)


def _add_to_division(numbered: _NumberedList, divisions: list[list[_NumberedList]]) -> None:
    """Adds a list to the first division that has no list of its split, or to a new one."""
    for division in divisions:
        if all(other.split_list.split != numbered.split_list.split for other in division):
            division.append(numbered)
            return
    divisions.append([numbered])


def _in_order(division: Sequence[_NumberedList]) -> list[SplitList]:
    """Returns the lists of a division in the order that they have among all lists."""
    in_order = sorted(division, key=lambda numbered: numbered.number)
    return [numbered.split_list for numbered in in_order]
