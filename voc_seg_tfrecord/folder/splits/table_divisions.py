"""How the columns of a table divide its rows into splits.

They divide them by words for splits (`train`, `val`), by folds, or by flags such as `is_valid` with
0 and 1. Columns that divide the rows differently are kept apart, so that the user can be asked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import functools
import re

from voc_seg_tfrecord.core.words import (
    WORDS_FOR_NO_SPLIT,
    WORDS_FOR_UNLABELED,
    is_plain_name,
    list_splits_in,
    only_split_in,
    parse_split_name,
    split_but_for_number,
)
from voc_seg_tfrecord.formats.texts import Row

MAX_SAMPLED_ROWS = 500
"""Rows by which columns are judged before all rows are read."""

MAX_SPLITS = 32
"""Different values that a column of splits or folds has at most."""

_CLASS_COLUMNS = ("clas", "label", "category", "categorie", "object", "specie", "type", "kind")
_MAX_UNKNOWN_SPLITS = 6
_COHORTS_BY_PLACE = frozenset({"internal", "external"})
_COHORTS = _COHORTS_BY_PLACE | {
    *("development", "tuning", "tune", "derivation", "discovery", "calibration", "holdout"),
    *("hold-out", "held-out", "training", "train", "validation", "testing", "test"),
}
"""Words, in lower case, for the cohorts of a study, which its authors divide by."""
_SPLIT_COLUMNS = ("split", "subset", "set", "partition")
_FOLD_COLUMN = re.compile("(k|cv)?_?folds?(_?(id|idx|index|no|num|number))?")
_BEFORE_FLAG = re.compile("^(is|in)[_ ]")
_YES = frozenset({"true", "1", "yes", "1.0", "y"})
_NO = frozenset({"false", "0", "no", "0.0", "n", ""})

RowDivision = Callable[[Row], Sequence[str]]
"""Returns the splits that a row is in, by one way in which columns divide the rows."""


def is_title_of_splits(word: str) -> bool:
    """Says whether a word may be the title of a column of splits."""
    word = word.lower()
    if word in _SPLIT_COLUMNS or _FOLD_COLUMN.fullmatch(word):
        return True
    return bool(only_split_in(_BEFORE_FLAG.sub("", word)))


def are_splits(values: Iterable[str]) -> bool:
    """Says whether values are those of a column of splits.

    They are if they include two different splits: `train`, `val` and `bus`. They also are if they
    include one split, and all others extend a split's name: `train` and `test_easy`. But `train`
    and `bus` may be classes.
    """
    names = set[str]()
    splits = set[str]()
    for value in values:
        if value.lower() in WORDS_FOR_NO_SPLIT | WORDS_FOR_UNLABELED:
            continue
        names.add(value)
        split = only_split_in(value)
        if split:
            splits.add(split)
    if len(splits) == 1:
        return all(parse_split_name(name).split for name in names)
    return len(splits) > 1


@dataclasses.dataclass(frozen=True)
class TableColumn:
    """A column of a table that has few different values, so that it may divide the rows.

    Attributes:
      number: its number, from 0.
      title: its title in lower case; empty if it has none.
      name: what it is called in keys: without `/`. A column without a title is its number, from 1:
        `3`. Columns of one title have their numbers behind it, so that none takes the place of
        another: `split 2` and `split 3`.
      values: its different values, as the rows write them.
    """

    number: int
    title: str
    name: str
    values: frozenset[str]

    @functools.cached_property
    def lower_values(self) -> set[str]:
        """Its different values in lower case."""
        return {value.lower() for value in self.values}

    @functools.cached_property
    def has_split_words(self) -> bool:
        """Whether its values are words for splits."""
        return are_splits(self.values)

    @property
    def is_titled_split(self) -> bool:
        """Whether it has a title such as `split`, and its values are no words for splits."""
        return self.title in _SPLIT_COLUMNS and not self.has_split_words

    @property
    def is_of_folds(self) -> bool:
        """Whether its title says that it has folds, and its values are no words for splits."""
        return _FOLD_COLUMN.fullmatch(self.title) is not None and not self.has_split_words

    @property
    def says_yes_or_no(self) -> bool:
        """Whether all values are yes and no, in any form."""
        return self.lower_values <= _YES | _NO


def list_columns(titles: Row, body: Sequence[Row], image_column: int) -> list[TableColumn]:
    """Returns the columns of a table that have few values, without that of the images."""
    columns: list[TableColumn] = []
    if not body:
        return columns
    names = [title.replace("/", "|") for title in titles]
    for number, title in enumerate(titles):
        sampled_values = {row[number] for row in body[:MAX_SAMPLED_ROWS]}
        if number == image_column or len(sampled_values) > MAX_SPLITS:
            continue
        values = frozenset(row[number] for row in body)
        filled = values - {""}
        if not filled or len(filled) >= MAX_SPLITS:
            continue
        name = names[number]
        if not name or names.count(name) > 1:
            name = f"{name} {number + 1}".strip()
        columns.append(TableColumn(number, title, name, values))
    return columns


def _split_by_value(row: Row, *, column: int) -> Sequence[str]:
    """The value of a column is the split: `a.jpg,train`."""
    value = row[column]
    return [] if value.lower() in WORDS_FOR_NO_SPLIT else [value]


def _splits_by_fold(row: Row, *, column: int, folds: Sequence[str]) -> Sequence[str]:
    """The value of a column is the fold in which the row is validation: `a.jpg,3`."""
    own_fold = row[column].lower()
    return [f"{fold}/{'val' if fold == own_fold else 'train'}" for fold in folds]


def _splits_by_flags(
    row: Row, *, split_by_column: Mapping[int, str], rest: Sequence[str]
) -> Sequence[str]:
    """Columns that are called as splits say yes or no: `a.jpg,0,1` below `id,train,val`."""
    flags = split_by_column.items()
    return [split for column, split in flags if row[column].lower() in _YES] or rest


def find_divisions(columns: Sequence[TableColumn], body: Sequence[Row]) -> dict[str, RowDivision]:
    """Returns how columns divide the rows, by a name of each division; none if none does.

    The first of these that finds a division counts:

    | columns | example |
    | --- | --- |
    | of words for splits, and flags that say something else | `train` and `val`; 0 and 1 |
    | called `split`, whatever their values are, and of folds | `a` and `b`; 0 to 4 |
    | one that says one split of all rows | the column `split` with `test` alone |
    """
    dividing = [column for column in columns if len(column.values) > 1]
    of_words = [column for column in dividing if column.has_split_words]
    divisions = _divide_by_value(of_words)
    flags = _find_flags(columns, body)
    if flags and not _repeat_words(flags, of_words, body):
        first_flag = min(flags)
        (name,) = [column.name for column in columns if column.number == first_flag]
        rest = _splits_without_flag(flags)
        divisions[name] = functools.partial(_splits_by_flags, split_by_column=flags, rest=rest)
    if divisions:
        return divisions
    divisions = _divide_by_value([column for column in dividing if column.is_titled_split])
    for column in dividing:
        if column.is_of_folds:
            folds = sorted(column.lower_values - {""})
            by_fold = functools.partial(_splits_by_fold, column=column.number, folds=folds)
            divisions[column.name] = by_fold
    titled_split = [column for column in columns if column.is_titled_split]
    with_split_words = [column for column in columns if column.has_split_words]
    return divisions or _divide_by_value([*titled_split, *with_split_words][:1])


def _divide_by_value(columns: Iterable[TableColumn]) -> dict[str, RowDivision]:
    """Returns the division by the values of each column."""
    return {one.name: functools.partial(_split_by_value, column=one.number) for one in columns}


def _splits_without_flag(flags: Mapping[int, str]) -> list[str]:
    """Returns the splits of rows that no flag puts into one: those that flags do not name."""
    if "train" not in flags.values():
        return ["train"]
    return ["validation"] if len(flags) == 1 else []


def _repeat_words(
    flags: Mapping[int, str], of_words: Sequence[TableColumn], body: Sequence[Row]
) -> bool:
    """Says whether flags say the same as each column of words; not if there is none."""
    if not of_words:
        return False
    return all(_agree(flags, column.number, body) for column in of_words)


def _agree(flags: Mapping[int, str], column: int, body: Sequence[Row]) -> bool:
    """Says whether flags say the same as a column of words."""
    for row in body:
        split = only_split_in(row[column])
        for flag, split_of_flag in flags.items():
            is_set = row[flag].lower() in _YES
            if (split == split_of_flag) != is_set:
                return False
    return True


def _find_flags(columns: Sequence[TableColumn], body: Sequence[Row]) -> dict[int, str]:
    """Returns the split of each column that says by yes and no which rows are in it.

    There are none if columns of yes and no that are called as splits say something else:

    - classes that an image has: a row is in several of them;
    - which labels are right: `is_valid` with yes for most rows;
    - classes beside others: `train` beside `person`. But a title such as `is_train` is that of a
      split, and so are several columns of which each row is in exactly one.
    """
    yes_no_count = 0
    titles = []
    split_by_column = {}
    for column in columns:
        if not column.says_yes_or_no or column.is_of_folds:
            continue
        yes_no_count += 1
        split = only_split_in(_BEFORE_FLAG.sub("", column.title))
        is_used = not _YES.isdisjoint(column.lower_values)
        if split and is_used:
            titles.append(column.title)
            split_by_column[column.number] = split
    if not split_by_column:
        return {}
    flags_per_row = []
    for row in body:
        flags = [column for column in split_by_column if row[column].lower() in _YES]
        flags_per_row.append(len(flags))
    if max(flags_per_row) > 1:
        return {}
    are_called_valid = all("valid" in title.split("_") for title in titles)
    are_set_in_most_rows = 2 * sum(flags_per_row) > len(flags_per_row)
    if are_called_valid and are_set_in_most_rows:
        return {}
    has_title_of_flag = not all(map(only_split_in, titles))
    divide_all_rows = len(titles) > 1 and min(flags_per_row) == 1
    are_beside_others = len(titles) < yes_no_count
    if are_beside_others and not has_title_of_flag and not divide_all_rows:
        return {}
    return split_by_column


def find_unclear_column(columns: Iterable[TableColumn]) -> str:
    """Returns a column that may say splits under unknown names, in words; empty if none may."""
    for column in columns:
        words = f"a column {column.title or column.name}"
        if column.says_yes_or_no and _is_numbered_split(column.title):
            return f"{words}, which may be a split"
        is_of_classes = column.title.rstrip("s") in _CLASS_COLUMNS
        filled = sorted(column.values - {""})
        if not is_of_classes and _may_be_unknown_splits(filled):
            return f"{words} with {', '.join(filled)}, which may be splits"
    return ""


def _is_numbered_split(word: str) -> bool:
    """Says whether a word is one for validation or test, with a number or without: `test1`."""
    return split_but_for_number(word) in ("validation", "test") and word.lower() != "valid"


def _may_be_unknown_splits(values: Sequence[str]) -> bool:
    """Says whether a column has few values of which one is called as a split.

    Examples: `train` and `query`; `test1` alone; words for cohorts of a study, such as
    `development` and `tuning`. `valid` may be a label that is right.
    """
    if len(values) == 1:
        return _is_numbered_split(values[0])
    distinct = {value.lower() for value in values}
    if distinct <= _COHORTS and not distinct <= _COHORTS_BY_PLACE:
        return True
    if len(values) > _MAX_UNKNOWN_SPLITS:
        return False
    for value in values:
        if len(list_splits_in(value)) > 1:
            return True
        if is_plain_name(value) and value.lower() != "valid":
            return True
    return False
