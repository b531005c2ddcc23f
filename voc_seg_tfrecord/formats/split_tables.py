"""Tables that name images: rows of CSV, of JSON, or of lines with blanks, and the splits they say.

The column of images is the one in which most values are images. Columns divide the rows by words
for splits (`train`, `val`), by folds, or as flags, such as `is_valid` with 0 and 1. Several that
divide the rows differently are kept apart, so that the user can be asked.
"""

import collections
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
from voc_seg_tfrecord.formats.listed_images import (
    IMAGE_COLUMNS,
    ListedImages,
    Vocabulary,
)

Row = Sequence[str]

MAX_SAMPLED_ROWS = 500
"""Rows by which the column of images is chosen."""

MAX_SPLITS = 32
"""Different values that a column of splits or folds has at most."""

_CLASS_COLUMNS = ("clas", "label", "category", "categorie", "object", "specie", "type", "kind")
_MAX_UNKNOWN_SPLITS = 6
_SPLIT_COLUMNS = ("split", "subset", "set", "partition")
_FOLD_COLUMN = re.compile("(k|cv)?_?folds?(_?(id|idx|index|no|num|number))?")
_BEFORE_FLAG = re.compile("^(is|in)[_ ]")
_YES = frozenset({"true", "1", "yes", "1.0", "y"})
_NO = frozenset({"false", "0", "no", "0.0", "n", ""})
_PATH_OR_ENDING = re.compile(r"[/\\]|\.[A-Za-z]{3,4}$")
_MIN_NAMES_IN_A_LINE = 3


def read_table(rows: Sequence[Row], head: Row, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the images of each split of a table; none if it is no table of images.

    Args:
      rows: the rows. Without a head the first one may be it.
      head: the names of the columns, if they are known.
      vocabulary: what words mean.
    """
    if not rows:
        return []
    width = max(len(row) for row in rows[:MAX_SAMPLED_ROWS])
    padded = [[*row, *[""] * (width - len(row))] for row in rows]
    titles = [title.lower().lstrip("# ") for title in head or padded[0]]
    without_head = padded if head else padded[1:]
    step = max(1, len(rows) // MAX_SAMPLED_ROWS)
    sample = without_head[::step] or padded
    found = [_count_images(sample, column, vocabulary) for column in range(width)]
    if not any(found):
        return _splits_of_other_images(titles, without_head, vocabulary)
    columns_of_images = sum(1 for count in found if count)
    if not head and columns_of_images >= _MIN_NAMES_IN_A_LINE and len(rows) < width:
        return _names_in_a_line(padded, vocabulary)
    image_column = _choose_image_column(titles, sample, found)
    has_head = bool(head) or _is_title(padded[0][image_column], vocabulary)
    body = without_head if has_head else padded
    if not has_head:
        titles = [""] * width
    body = [row for row in body if row[image_column]]
    if not has_head and _most_name_several_images(body, vocabulary):
        ids = [vocabulary.id_of(row[image_column]) for row in body]
        unclear = "several images on a line, without titles of the columns"
        return [dataclasses.replace(vocabulary.listed("", ids), unclear=unclear)]
    return _divide(titles, body, image_column, vocabulary)


def is_title_of_splits(word: str) -> bool:
    """Says whether a word may be the title of a column of splits."""
    word = word.lower()
    if word in _SPLIT_COLUMNS or _FOLD_COLUMN.fullmatch(word):
        return True
    return bool(only_split_in(_BEFORE_FLAG.sub("", word)))


def _count_images(sample: Sequence[Row], column: int, vocabulary: Vocabulary) -> int:
    names = vocabulary.image_names
    return len({names[row[column]] for row in sample if row[column] in names})


def _most_name_several_images(body: Sequence[Row], vocabulary: Vocabulary) -> bool:
    """Says whether most rows name more than one image, as in `train,a,b,c`.

    An image and its mask are one. A number may be that of the row.
    """
    names = vocabulary.image_names
    sampled = body[:MAX_SAMPLED_ROWS]
    count = 0
    for row in sampled:
        images = {names[cell] for cell in row if cell in names}
        images_by_words = {names[cell] for cell in row if cell in names and not cell.isdecimal()}
        if len(images_by_words) > 1 or len(images) > 2:
            count += 1
    return 2 * count > len(sampled)


def _names_in_a_line(rows: Sequence[Row], vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the list that all cells are; none if it is Python's or another program's."""
    names = [cell for row in rows for cell in row if cell]
    if names[0].startswith(("[", "(", "{")):
        return []
    return [vocabulary.listed("", [vocabulary.id_of(name) for name in names])]


def _choose_image_column(titles: Row, sample: Sequence[Row], found: Sequence[int]) -> int:
    """Returns the column that names the images.

    Numbers, which may be those of rows, come last. Among columns that name about as many images,
    one with a usual title wins; one without a title is of numbers that pandas wrote.
    """

    def rank(column: int) -> tuple[bool, bool, int, int, int]:
        are_numbers = all(row[column].isdecimal() for row in sample if row[column])
        names_many = 2 * found[column] >= max(found) and not are_numbers
        names_most = 5 * found[column] >= 4 * max(found)
        if titles[column] in IMAGE_COLUMNS:
            unusual = IMAGE_COLUMNS.index(titles[column])
        else:
            unusual = len(IMAGE_COLUMNS) + (not titles[column])
        return names_many, names_most, -unusual, found[column], -column

    return max(range(len(found)), key=rank)


def _is_title(cell: str, vocabulary: Vocabulary) -> bool:
    """Says whether the first cell of the column of images is its title."""
    if cell.lower().lstrip("# ") in IMAGE_COLUMNS:
        return True
    return cell not in vocabulary.image_names and not _PATH_OR_ENDING.search(cell)


def _splits_of_other_images(
    titles: Row, body: Sequence[Row], vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the splits of a table that says several, of images that are not there."""
    usual = [column for column, title in enumerate(titles) if title in IMAGE_COLUMNS]
    image_column = usual[0] if usual else 0
    lists = _divide(titles, body, image_column, vocabulary)
    if len(lists) < 2 or not all(listed.says_split for listed in lists):
        return []
    return lists


def _divide(
    titles: Row, body: Sequence[Row], image_column: int, vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the images of each split, in the order of the rows."""
    ways = _find_ways(titles, body, image_column, vocabulary)
    if not ways:
        ids = [vocabulary.id_of(row[image_column]) for row in body]
        unclear = _find_unclear_column(titles, _values_of_columns(body, image_column))
        return [dataclasses.replace(vocabulary.listed("", ids), unclear=unclear)]
    ids_by_key: dict[str, list[str]] = collections.defaultdict(list)
    for row in body:
        image_id = vocabulary.id_of(row[image_column])
        for title, way in ways.items():
            for split in way.splits_of(row):
                key = f"{title}/{split}" if len(ways) > 1 else split
                ids_by_key[key].append(image_id)
    return [vocabulary.listed(key, ids, says_split=True) for key, ids in ids_by_key.items()]


# How columns divide the rows.


class _Way(Protocol):
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
        own = row[self.column].lower()
        return [f"{fold}/{'val' if fold == own else 'train'}" for fold in self.folds]


@dataclasses.dataclass(frozen=True)
class _ByFlags:
    """Columns that are called as splits say yes or no: `a.jpg,0,1` below `id,train,val`."""

    split_by_column: Mapping[int, str]
    rest: Sequence[str]

    def splits_of(self, row: Row) -> Sequence[str]:
        splits = [
            split for column, split in self.split_by_column.items() if row[column].lower() in _YES
        ]
        return splits or self.rest


def _find_ways(
    titles: Row, body: Sequence[Row], image_column: int, vocabulary: Vocabulary
) -> dict[str, _Way]:
    """Returns the ways in which columns divide the rows, by the titles of the columns.

    Columns of words for splits come first, then flags that say something else; folds and columns
    that are called `split` only count without them. A column that says the same of all rows counts
    only if no other one divides.
    """
    values_by_column = _values_of_columns(body, image_column)
    of_words = [c for c, values in values_by_column.items() if vocabulary.are_splits(values)]
    of_others = {c: values for c, values in values_by_column.items() if c not in of_words}
    called_split = [c for c in of_others if titles[c] in _SPLIT_COLUMNS]
    dividing = [c for c in of_words if len(values_by_column[c]) > 1]
    ways: dict[int, _Way] = {c: _ByValue(c) for c in dividing}
    flags = _find_flags(titles, body, of_others)
    if flags is not None:
        is_repeated = dividing and all(_agree(flags, c, body) for c in dividing)
        if not is_repeated:
            ways[min(flags.split_by_column)] = flags
    if not ways:
        ways |= {c: _ByValue(c) for c in called_split if len(of_others[c]) > 1}
        for column, values in of_others.items():
            if _FOLD_COLUMN.fullmatch(titles[column]) and len(values) > 1:
                ways[column] = _ByFold(column, sorted(_lower(values) - {""}))
    if not ways:
        ways = {c: _ByValue(c) for c in [*called_split, *of_words][:1]}
    return {titles[c].replace("/", "|") or f"{c + 1}": way for c, way in ways.items()}


def _find_unclear_column(titles: Row, values_by_column: Mapping[int, set[str]]) -> str:
    """Returns a column that may say splits under unknown names, in words; empty if none may.

    It has few values, and one is called as a split: `train` and `query`. In a column of classes
    this may be a class. Or its title or only value is a split with a number: `test1`.
    """
    for column, values in values_by_column.items():
        filled = sorted(values - {""})
        title = titles[column] or f"{column + 1}"
        if _lower(values) <= _YES | _NO and _is_numbered_split(titles[column]):
            return f"a column {title}, which may be a split"
        is_of_classes = titles[column].rstrip("s") in _CLASS_COLUMNS
        if is_of_classes or len(filled) > _MAX_UNKNOWN_SPLITS:
            continue
        if len(filled) == 1:
            may_be_splits = _is_numbered_split(filled[0])
        else:
            may_be_splits = any(_is_called_as_split(value) for value in filled)
        if may_be_splits:
            return f"a column {title} with {', '.join(filled)}, which may be splits"
    return ""


def _is_numbered_split(word: str) -> bool:
    return split_but_for_number(word) in ("validation", "test") and word.lower() != "valid"


def _is_called_as_split(value: str) -> bool:
    is_mixed = len(list_splits_in(value)) > 1
    return is_mixed or (is_plain_name(value) and value.lower() != "valid")  # as is a label


def _values_of_columns(body: Sequence[Row], image_column: int) -> dict[int, set[str]]:
    """Returns the values of each column that has few enough for splits."""
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
    return values_by_column


def _lower(values: Iterable[str]) -> set[str]:
    return {value.lower() for value in values}


def _find_flags(
    titles: Row,
    body: Sequence[Row],
    values_by_column: Mapping[int, set[str]],
) -> _ByFlags | None:
    """Returns the columns that say by yes and no which rows are in their split.

    One that is called `train` or `valid` alone may also be a class, or say that a label is right.
    """
    yes_or_no = [
        column
        for column, values in values_by_column.items()
        if _lower(values) <= _YES | _NO and not _FOLD_COLUMN.fullmatch(titles[column])
    ]
    split_by_column = {}
    for column in yes_or_no:
        split = only_split_in(_BEFORE_FLAG.sub("", titles[column]))
        if split and _lower(values_by_column[column]) & _YES:
            split_by_column[column] = split
    if not split_by_column:
        return None
    counts = [sum(row[column].lower() in _YES for column in split_by_column) for row in body]
    if max(counts) > 1:
        return None
    says_which_are_right = all("valid" in titles[c].split("_") for c in split_by_column)
    if says_which_are_right and 2 * sum(counts) > len(counts):
        return None
    stands_beside_others = len(split_by_column) < len(yes_or_no)
    has_plain_titles = all(only_split_in(titles[c]) for c in split_by_column)
    divides_all_rows = len(split_by_column) > 1 and {*counts} == {1}
    if stands_beside_others and has_plain_titles and not divides_all_rows:
        return None  # they are classes, such as person and train
    splits = {*split_by_column.values()}
    if "train" not in splits:
        rest = ["train"]
    elif len(split_by_column) == 1:
        rest = ["validation"]
    else:
        rest = []
    return _ByFlags(split_by_column, rest)


def _agree(flags: _ByFlags, column: int, body: Sequence[Row]) -> bool:
    """Says whether flags say the same as a column of words."""
    for row in body:
        split = only_split_in(row[column])
        for flag, split_of_flag in flags.split_by_column.items():
            if (split == split_of_flag) != (row[flag].lower() in _YES):
                return False
    return True
