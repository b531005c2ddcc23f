"""How the columns of a table divide its rows into splits.

They divide them by words for splits (`train`, `val`), by folds, or by flags such as `is_valid` with
0 and 1. Columns that divide the rows differently are kept apart, so that the user can be asked.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import functools
import re

from voc_seg_tfrecord.core.split_names import (
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
    no_name = WORDS_FOR_NO_SPLIT | WORDS_FOR_UNLABELED
    distinct = {value for value in values if value.lower() not in no_name}
    splits = {only_split_in(value) for value in distinct} - {""}
    if len(splits) != 1:
        return len(splits) > 1
    return all(parse_split_name(value).split for value in distinct)


@dataclasses.dataclass(frozen=True)
class TableColumns:
    """The columns of a table that may divide its rows. A column is a number, from 0.

    Attributes:
      titles: the titles of all columns, in lower case.
      body: the rows.
      values: by column, its different values. Only columns with few of them are here, and not that
        of the images.
    """

    titles: Row
    body: Sequence[Row]
    values: Mapping[int, set[str]]

    @classmethod
    def of_few_values(cls, titles: Row, body: Sequence[Row], image_column: int) -> "TableColumns":
        """Returns the columns of a table that have few values, without that of the images."""
        values_by_column = {}
        for column in range(len(body[0]) if body else 0):
            sampled = {row[column] for row in body[:MAX_SAMPLED_ROWS]}
            if column == image_column or len(sampled) > MAX_SPLITS:
                continue
            values = {row[column] for row in body}
            if 0 < len(values - {""}) < MAX_SPLITS:
                values_by_column[column] = values
        return cls(titles, body, values_by_column)

    @functools.cached_property
    def split_word_columns(self) -> list[int]:
        """The columns whose values are words for splits."""
        return [column for column, values in self.values.items() if are_splits(values)]

    @property
    def other_columns(self) -> list[int]:
        """The columns whose values are not words for splits."""
        return [column for column in self.values if column not in self.split_word_columns]

    @property
    def columns_titled_split(self) -> list[int]:
        """The other columns that have a title such as `split`."""
        return [column for column in self.other_columns if self.titles[column] in _SPLIT_COLUMNS]

    def is_of_folds(self, column: int) -> bool:
        """Says whether the title of a column says that it has folds."""
        return _FOLD_COLUMN.fullmatch(self.titles[column]) is not None

    def lower_values(self, column: int) -> set[str]:
        """Returns the different values of a column in lower case."""
        return {value.lower() for value in self.values[column]}

    def says_yes_or_no(self, column: int) -> bool:
        """Says whether all values are yes and no, in any form."""
        return self.lower_values(column) <= _YES | _NO

    def name(self, column: int) -> str:
        """Returns the title of a column, which becomes a part of keys: without `/` in it.

        A column without a title is its number, from 1: `3`. Columns of the same title have their
        numbers behind it, so that none takes the place of another: `split 2` and `split 3`.
        """
        titles = [title.replace("/", "|") for title in self.titles]
        title = titles[column]
        if not title:
            return f"{column + 1}"
        return title if titles.count(title) == 1 else f"{title} {column + 1}"


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


def find_divisions(columns: TableColumns) -> dict[str, RowDivision]:
    """Returns how columns divide the rows, by a name of each division; none if none does.

    The first of these that finds a division counts.
    """
    divisions = (
        _divisions_by_words(columns) or _divisions_by_titles(columns) or _division_into_one(columns)
    )
    return {columns.name(column): division for column, division in divisions.items()}


def _divisions_by_words(columns: TableColumns) -> dict[int, RowDivision]:
    """Columns of words for splits, and flags that say something else.

    Examples: a column with `train` and `val`; the columns `train` and `val` with 0 and 1.
    """
    divisions: dict[int, RowDivision] = {}
    for column in columns.split_word_columns:
        if len(columns.values[column]) > 1:
            divisions[column] = functools.partial(_split_by_value, column=column)
    flags = _find_flags(columns)
    if not flags:
        return divisions
    rest: list[str] = []  # the split of rows without a flag
    if "train" not in flags.values():
        rest = ["train"]
    elif len(flags) == 1:
        rest = ["validation"]
    if not divisions or not all(_agree(flags, column, columns.body) for column in divisions):
        divisions[min(flags)] = functools.partial(
            _splits_by_flags, split_by_column=flags, rest=rest
        )
    return divisions


def _agree(flags: Mapping[int, str], column: int, body: Sequence[Row]) -> bool:
    """Says whether flags say the same as a column of words."""
    for row in body:
        split = only_split_in(row[column])
        for flag, split_of_flag in flags.items():
            is_set = row[flag].lower() in _YES
            if (split == split_of_flag) != is_set:
                return False
    return True


def _divisions_by_titles(columns: TableColumns) -> dict[int, RowDivision]:
    """Columns that are called `split`, whatever their values are, and columns of folds.

    Examples: the column `subset` with `a` and `b`; the column `fold` with 0 to 4.
    """
    divisions: dict[int, RowDivision] = {}
    dividing = [column for column in columns.other_columns if len(columns.values[column]) > 1]
    for column in dividing:
        if column in columns.columns_titled_split:
            divisions[column] = functools.partial(_split_by_value, column=column)
    for column in dividing:
        if columns.is_of_folds(column):
            folds = sorted(columns.lower_values(column) - {""})
            divisions[column] = functools.partial(_splits_by_fold, column=column, folds=folds)
    return divisions


def _division_into_one(columns: TableColumns) -> dict[int, RowDivision]:
    """A column that says one split of all rows.

    Example: the column `split` with `test` alone.
    """
    candidates = [*columns.columns_titled_split, *columns.split_word_columns]
    return {column: functools.partial(_split_by_value, column=column) for column in candidates[:1]}


def _find_flags(columns: TableColumns) -> dict[int, str]:
    """Returns the split of each column that says by yes and no which rows are in it.

    There are none if columns of yes and no that are called as splits say something else:

    - classes that an image has: a row is in several of them;
    - which labels are right: `is_valid` with yes for most rows;
    - classes beside others: `train` beside `person`. But a title such as `is_train` is that of a
      split, and so are several columns of which each row is in exactly one.
    """
    yes_no_columns = []
    split_by_column = {}
    for column in columns.other_columns:
        if not columns.says_yes_or_no(column) or columns.is_of_folds(column):
            continue
        yes_no_columns.append(column)
        split = only_split_in(_BEFORE_FLAG.sub("", columns.titles[column]))
        is_used = not _YES.isdisjoint(columns.lower_values(column))
        if split and is_used:
            split_by_column[column] = split
    if not split_by_column:
        return {}
    titles = [columns.titles[column] for column in split_by_column]
    flags_per_row = []
    for row in columns.body:
        flags_per_row.append(sum(1 for column in split_by_column if row[column].lower() in _YES))
    have_several = max(flags_per_row) > 1
    are_called_valid = all("valid" in title.split("_") for title in titles)
    tell_right_labels = are_called_valid and 2 * sum(flags_per_row) > len(flags_per_row)
    stand_beside_others = len(split_by_column) < len(yes_no_columns)
    has_title_of_flag = any(not only_split_in(title) for title in titles)
    divide_all_rows = len(titles) > 1 and {*flags_per_row} == {1}
    may_be_classes = stand_beside_others and not (has_title_of_flag or divide_all_rows)
    return {} if have_several or tell_right_labels or may_be_classes else split_by_column


def find_unclear_column(columns: TableColumns) -> str:
    """Returns a column that may say splits under unknown names, in words; empty if none may."""
    for column, values in columns.values.items():
        title = columns.titles[column]
        title_or_number = title or f"{column + 1}"
        if columns.says_yes_or_no(column) and _is_numbered_split(title):
            return f"a column {title_or_number}, which may be a split"
        is_of_classes = title.rstrip("s") in _CLASS_COLUMNS
        filled = sorted(values - {""})
        if not is_of_classes and _may_be_unknown_splits(filled):
            return f"a column {title_or_number} with {', '.join(filled)}, which may be splits"
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
    for value in values:
        is_split = is_plain_name(value) and value.lower() != "valid"
        if is_split or len(list_splits_in(value)) > 1:
            return len(values) <= _MAX_UNKNOWN_SPLITS
    return False
