"""How the columns of a table divide its rows into splits.

They divide them by words for splits (`train`, `val`), by folds, or by flags such as `is_valid` with
0 and 1. Columns that divide the rows differently are kept apart, so that the user can be asked.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import re
from typing import Protocol

from voc_seg_tfrecord.core.split_names import (
    WORDS_FOR_NO_SPLIT,
    is_plain_name,
    list_splits_in,
    only_split_in,
    split_but_for_number,
)
from voc_seg_tfrecord.formats.listed_images import Vocabulary

Row = Sequence[str]
"""The cells of a row."""

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


def is_title_of_splits(word: str) -> bool:
    """Says whether a word may be the title of a column of splits."""
    word = word.lower()
    if word in _SPLIT_COLUMNS or _FOLD_COLUMN.fullmatch(word):
        return True
    return bool(only_split_in(_BEFORE_FLAG.sub("", word)))


@dataclasses.dataclass(frozen=True)
class TableColumns:
    """The columns of a table that may divide its rows. A column is a number, from 0.

    Attributes:
      titles: the titles of all columns, in lower case.
      body: the rows.
      values: by column, its different values. Only columns with few of them are here.
      split_word_columns: those whose values are words for splits.
    """

    titles: Row
    body: Sequence[Row]
    values: Mapping[int, set[str]]
    split_word_columns: Sequence[int]

    @classmethod
    def of_few_values(
        cls, titles: Row, body: Sequence[Row], image_column: int, vocabulary: Vocabulary
    ) -> "TableColumns":
        """Returns the columns of a table that have few values, without that of the images."""
        width = len(body[0]) if body else 0
        values_by_column = {}
        for column in range(width):
            if column == image_column:
                continue
            sampled = {row[column] for row in body[:MAX_SAMPLED_ROWS]}
            if len(sampled) > MAX_SPLITS:
                continue
            values = {row[column] for row in body}
            if 0 < len(values - {""}) < MAX_SPLITS:
                values_by_column[column] = values
        split_word_columns = []
        for column, values in values_by_column.items():
            if vocabulary.are_splits(values):
                split_word_columns.append(column)
        return cls(titles, body, values_by_column, split_word_columns)

    @property
    def other_columns(self) -> list[int]:
        """The columns whose values are not words for splits."""
        return [column for column in self.values if column not in self.split_word_columns]

    @property
    def columns_titled_split(self) -> list[int]:
        """The other columns that have a title such as `split`."""
        return [column for column in self.other_columns if self.titles[column] in _SPLIT_COLUMNS]

    def has_several_values(self, column: int) -> bool:
        """Says whether a column does not say the same of all rows."""
        return len(self.values[column]) > 1

    def says_yes_or_no(self, column: int) -> bool:
        """Says whether all values are yes and no, in any form."""
        return _lower(self.values[column]) <= _YES | _NO


class RowDivision(Protocol):
    """One way in which columns divide the rows."""

    def splits_of(self, row: Row) -> Sequence[str]:
        """Returns the splits that a row is in."""


@dataclasses.dataclass(frozen=True)
class _ByValue:
    """The value of a column is the split: `a.jpg,train`."""

    column: int

    def splits_of(self, row: Row) -> Sequence[str]:
        value = row[self.column]
        return [] if value.lower() in WORDS_FOR_NO_SPLIT else [value]


@dataclasses.dataclass(frozen=True)
class _ByFold:
    """The value of a column is the fold in which the row is validation: `a.jpg,3`."""

    column: int
    folds: Sequence[str]

    def splits_of(self, row: Row) -> Sequence[str]:
        own_fold = row[self.column].lower()
        splits = []
        for fold in self.folds:
            split = "val" if fold == own_fold else "train"
            splits.append(f"{fold}/{split}")
        return splits


@dataclasses.dataclass(frozen=True)
class _ByFlags:
    """Columns that are called as splits say yes or no: `a.jpg,0,1` below `id,train,val`.

    Attributes:
      split_by_column: the split of each column.
      rest: the split of a row that is in none of these, if there is one.
    """

    split_by_column: Mapping[int, str]
    rest: Sequence[str]

    def splits_of(self, row: Row) -> Sequence[str]:
        splits = []
        for column, split in self.split_by_column.items():
            if row[column].lower() in _YES:
                splits.append(split)
        return splits or self.rest


def find_divisions(columns: TableColumns) -> dict[str, RowDivision]:
    """Returns how columns divide the rows, by a name of each division; none if none does."""
    division_by_column = _find_divisions_by_column(columns)
    return {_name_column(column, columns): item for column, item in division_by_column.items()}


def _find_divisions_by_column(columns: TableColumns) -> dict[int, RowDivision]:
    """Returns what the first function finds that finds a division."""
    for find in (_divisions_by_words, _divisions_by_titles, _division_into_one):
        division_by_column = find(columns)
        if division_by_column:
            return division_by_column
    return {}


def _name_column(column: int, columns: TableColumns) -> str:
    """Returns the title of a column, which becomes a part of keys: without `/` in it.

    A column without a title is its number, from 1: `3`. Columns of the same title have their
    numbers behind it, so that none takes the place of another: `split 2` and `split 3`.
    """
    titles = [title.replace("/", "|") for title in columns.titles]
    title = titles[column]
    if not title:
        return f"{column + 1}"
    return title if titles.count(title) == 1 else f"{title} {column + 1}"


def _divisions_by_words(columns: TableColumns) -> dict[int, RowDivision]:
    """Columns of words for splits, and flags that say something else.

    Examples: a column with `train` and `val`; the columns `train` and `val` with 0 and 1.
    """
    dividing = [c for c in columns.split_word_columns if columns.has_several_values(c)]
    divisions: dict[int, RowDivision] = {column: _ByValue(column) for column in dividing}
    flags = _find_flags(columns)
    if flags is None:
        return divisions
    say_the_same = all(_agree(flags, column, columns.body) for column in dividing)
    if not dividing or not say_the_same:
        divisions[min(flags.split_by_column)] = flags
    return divisions


def _divisions_by_titles(columns: TableColumns) -> dict[int, RowDivision]:
    """Columns that are called `split`, whatever their values are, and columns of folds.

    Examples: the column `subset` with `a` and `b`; the column `fold` with 0 to 4.
    """
    divisions: dict[int, RowDivision] = {}
    for column in columns.columns_titled_split:
        if columns.has_several_values(column):
            divisions[column] = _ByValue(column)
    for column in columns.other_columns:
        is_of_folds = _FOLD_COLUMN.fullmatch(columns.titles[column]) is not None
        if is_of_folds and columns.has_several_values(column):
            folds = sorted(_lower(columns.values[column]) - {""})
            divisions[column] = _ByFold(column, folds)
    return divisions


def _division_into_one(columns: TableColumns) -> dict[int, RowDivision]:
    """A column that says one split of all rows.

    Example: the column `split` with `test` alone.
    """
    candidates = [*columns.columns_titled_split, *columns.split_word_columns]
    if not candidates:
        return {}
    return {candidates[0]: _ByValue(candidates[0])}


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


def _may_be_unknown_splits(values: Sequence[str]) -> bool:
    """Says whether a column has few values of which one is called as a split.

    Examples: `train` and `query`; `test1` alone.
    """
    if len(values) == 1:
        return _is_numbered_split(values[0])
    if _are_cohorts(values):
        return True
    return len(values) <= _MAX_UNKNOWN_SPLITS and any(map(_is_called_as_split, values))


def _are_cohorts(values: Sequence[str]) -> bool:
    """Says whether all values are words for cohorts of a study: `development` and `tuning`."""
    distinct = {value.lower() for value in values}
    return distinct <= _COHORTS and not distinct <= _COHORTS_BY_PLACE


def _is_numbered_split(word: str) -> bool:
    return split_but_for_number(word) in ("validation", "test") and not _may_be_label(word)


def _is_called_as_split(value: str) -> bool:
    says_several_splits = len(list_splits_in(value)) > 1
    return says_several_splits or (is_plain_name(value) and not _may_be_label(value))


def _may_be_label(word: str) -> bool:
    """Says whether a word for a split is often one for a label that is right."""
    return word.lower() == "valid"


def _lower(values: Iterable[str]) -> set[str]:
    return {value.lower() for value in values}


@dataclasses.dataclass(frozen=True)
class _PossibleFlags:
    """Columns of yes and no whose titles are splits, before it is decided whether they are flags.

    Attributes:
      split_by_column: the split of each of them.
      titles: their titles.
      flags_per_row: how many of them say yes, for each row.
      stand_beside_others: whether the table has other columns of yes and no.
    """

    split_by_column: Mapping[int, str]
    titles: Sequence[str]
    flags_per_row: Sequence[int]
    stand_beside_others: bool


def _find_flags(columns: TableColumns) -> _ByFlags | None:
    """Returns the columns that say by yes and no which rows are in their split.

    They may also be classes, such as train beside person, or say which labels are valid: then they
    are no flags of splits.
    """
    possible = _find_possible_flags(columns)
    if not possible.split_by_column:
        return None
    if any(is_other(possible) for is_other in _REASONS_AGAINST_FLAGS):
        return None
    return _ByFlags(possible.split_by_column, _split_of_rest([*possible.split_by_column.values()]))


def _find_possible_flags(columns: TableColumns) -> _PossibleFlags:
    """Returns the columns of yes and no that are called as splits and that some row is in."""
    yes_no_columns = []
    split_by_column = {}
    for column in columns.other_columns:
        title = columns.titles[column]
        if not columns.says_yes_or_no(column) or _FOLD_COLUMN.fullmatch(title):
            continue
        yes_no_columns.append(column)
        split = only_split_in(_BEFORE_FLAG.sub("", title))
        is_used = not _YES.isdisjoint(_lower(columns.values[column]))
        if split and is_used:
            split_by_column[column] = split
    flags_per_row = []
    for row in columns.body:
        flags_per_row.append(sum(1 for column in split_by_column if row[column].lower() in _YES))
    return _PossibleFlags(
        split_by_column=split_by_column,
        titles=[columns.titles[column] for column in split_by_column],
        flags_per_row=flags_per_row,
        stand_beside_others=len(split_by_column) < len(yes_no_columns),
    )


def _put_a_row_into_several_splits(flags: _PossibleFlags) -> bool:
    """Says whether a row has several flags, as an image has several classes."""
    return max(flags.flags_per_row) > 1


def _tell_right_labels(flags: _PossibleFlags) -> bool:
    """Says whether flags say which labels are right: `is_valid` with yes for most rows."""
    are_called_valid = all("valid" in title.split("_") for title in flags.titles)
    return are_called_valid and 2 * sum(flags.flags_per_row) > len(flags.flags_per_row)


def _may_be_classes(flags: _PossibleFlags) -> bool:
    """Says whether flags beside others may be classes: `train` beside `person`.

    A title such as `is_train` is that of a split. So are several flags that put each row into
    exactly one split.
    """
    if not flags.stand_beside_others:
        return False
    has_title_of_flag = any(not only_split_in(title) for title in flags.titles)
    divide_all_rows = len(flags.titles) > 1 and {*flags.flags_per_row} == {1}
    return not (has_title_of_flag or divide_all_rows)


_REASONS_AGAINST_FLAGS = (_put_a_row_into_several_splits, _tell_right_labels, _may_be_classes)
"""If one holds, columns of yes and no that are called as splits are something else."""


def _split_of_rest(splits: Sequence[str]) -> list[str]:
    """Returns the split of rows without a flag: train if there is no flag for it."""
    if "train" not in splits:
        return ["train"]
    return ["validation"] if len(splits) == 1 else []


def _agree(flags: _ByFlags, column: int, body: Sequence[Row]) -> bool:
    """Says whether flags say the same as a column of words."""
    for row in body:
        split = only_split_in(row[column])
        for flag, split_of_flag in flags.split_by_column.items():
            is_set = row[flag].lower() in _YES
            if (split == split_of_flag) != is_set:
                return False
    return True
