"""Tables that name images: rows of CSV, of JSON, or of lines with blanks, and their splits.

The column of images is the one in which most values are images. `table_divisions` decides how the
other columns divide the rows.
"""

import collections
from collections.abc import Sequence
import dataclasses
import re

from voc_seg_tfrecord.formats.listed_images import (
    IMAGE_COLUMNS,
    ListedImages,
    Vocabulary,
)
from voc_seg_tfrecord.formats.table_divisions import (
    MAX_SAMPLED_ROWS,
    Row,
    TableColumns,
    find_divisions,
    find_unclear_column,
)

_PATH_OR_ENDING_IN_CELL = re.compile(r"[/\\]|\.[A-Za-z]{3,4}$")
_MIN_COLUMNS_OF_NAMES = 3


@dataclasses.dataclass(frozen=True)
class _TitledRows:
    """Rows with titles.

    Attributes:
      titles: the title of each column, in lower case; empty texts if nothing names the columns.
      rows: the rows below the titles, each with at least as many cells as there are titles.
    """

    titles: Row
    rows: Sequence[Row]

    def without_rows_that_lack(self, column: int) -> "_TitledRows":
        """Returns the table without the rows whose cell in a column is empty."""
        return _TitledRows(self.titles, [row for row in self.rows if row[column]])


def read_table(rows: Sequence[Row], head: Row, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the images of each split of a table; none if it is no table of images.

    Args:
      rows: the rows. Without a head the first one may be it.
      head: the titles of the columns; empty if they are not known.
      vocabulary: what words mean.
    """
    padded = _pad(rows)
    if not padded:
        return []
    if head:
        return _read_with_titles(_TitledRows(_as_titles(head), padded), vocabulary)
    return _read_without_titles(padded, vocabulary)


def _pad(rows: Sequence[Row]) -> list[Row]:
    """Returns rows with empty cells added, so that all have the same width; none without cells."""
    width = max((len(row) for row in rows[:MAX_SAMPLED_ROWS]), default=0)
    if width == 0:
        return []
    padded: list[Row] = []
    for row in rows:
        missing_cells = [""] * (width - len(row))
        padded.append([*row, *missing_cells])
    return padded


def _as_titles(row: Row) -> Row:
    return [_as_title(cell) for cell in row]


def _as_title(cell: str) -> str:
    """Returns a title as it is compared: `image` for `# Image`."""
    return cell.lower().lstrip("# ")


def _read_with_titles(table: _TitledRows, vocabulary: Vocabulary) -> list[ListedImages]:
    """Reads a table whose titles are known."""
    sample = _sample(table.rows)
    image_counts = _count_images_by_column(sample, vocabulary)
    if not any(image_counts):
        return _splits_of_other_images(table, vocabulary)
    image_column = _choose_image_column(table.titles, sample, image_counts)
    return _divide(table.without_rows_that_lack(image_column), image_column, vocabulary)


def _read_without_titles(rows: Sequence[Row], vocabulary: Vocabulary) -> list[ListedImages]:
    """Reads rows of which the first may be the titles.

    It is if its cell in the column of images is no image. To find that column, the first row is
    taken for the titles.
    """
    with_titles = _TitledRows(_as_titles(rows[0]), rows[1:])
    sample = _sample(with_titles.rows or rows)
    image_counts = _count_images_by_column(sample, vocabulary)
    if not any(image_counts):
        return _splits_of_other_images(with_titles, vocabulary)
    if _are_lines_of_names(rows, image_counts):
        return _read_lines_of_names(rows, vocabulary)
    image_column = _choose_image_column(with_titles.titles, sample, image_counts)
    if _is_title_of_images(rows[0][image_column], vocabulary):
        return _divide(with_titles.without_rows_that_lack(image_column), image_column, vocabulary)
    return _read_untitled(rows, image_column, vocabulary)


def _read_untitled(
    rows: Sequence[Row], image_column: int, vocabulary: Vocabulary
) -> list[ListedImages]:
    """Reads rows of which none has titles."""
    no_titles = [""] * len(rows[0])
    untitled = _TitledRows(no_titles, rows).without_rows_that_lack(image_column)
    if _most_name_several_images(untitled.rows, vocabulary):
        unclear = "several images on a line, without titles of the columns"
        return [_undivided(untitled, image_column, unclear, vocabulary)]
    return _divide(untitled, image_column, vocabulary)


def _are_lines_of_names(rows: Sequence[Row], image_counts: Sequence[int]) -> bool:
    """Says whether a few lines list images side by side, and are no table.

    Example: the one line `a.jpg, b.jpg, c.jpg`. There are fewer lines than columns, and several
    columns have images.

    Args:
      rows: the rows.
      image_counts: how many images each column names in a sample of them.
    """
    columns_with_images = sum(1 for count in image_counts if count)
    return columns_with_images >= _MIN_COLUMNS_OF_NAMES and len(rows) < len(rows[0])


def _sample(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns some rows from all parts of a table, in their order."""
    step = max(1, len(rows) // MAX_SAMPLED_ROWS)
    return rows[::step]


def _count_images_by_column(sample: Sequence[Row], vocabulary: Vocabulary) -> list[int]:
    """Returns how many different images each column of padded rows names."""
    names = vocabulary.image_names
    counts = []
    for column in range(len(sample[0])):
        images = {names[row[column]] for row in sample if row[column] in names}
        counts.append(len(images))
    return counts


def _most_name_several_images(rows: Sequence[Row], vocabulary: Vocabulary) -> bool:
    """Says whether most rows name more than one image, as in `train,a,b,c`.

    `a.jpg,a.png` names one image. A cell of digits alone may be the number of the row, so it counts
    only beside two other images.
    """
    sampled = rows[:MAX_SAMPLED_ROWS]
    count = sum(1 for row in sampled if _names_several_images(row, vocabulary))
    return 2 * count > len(sampled)


def _names_several_images(row: Row, vocabulary: Vocabulary) -> bool:
    images = set()
    images_by_words = set()
    for cell in row:
        image_id = vocabulary.image_names.get(cell)
        if image_id is None:
            continue
        images.add(image_id)
        if not cell.isdecimal():
            images_by_words.add(image_id)
    return len(images_by_words) > 1 or len(images) > 2


def _read_lines_of_names(rows: Sequence[Row], vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the list that all cells are; none if it is code or JSON, with a bracket before it."""
    names = [cell for row in rows for cell in row if cell]
    if names[0].startswith(("[", "(", "{")):
        return []
    return [vocabulary.listed("", [vocabulary.id_of(name) for name in names])]


@dataclasses.dataclass(frozen=True, order=True)
class _ImageColumnRank:
    """How unlikely a column names the images. Fields are compared in their order; less is likelier.

    Attributes:
      names_few: whether it names less than half as many images as the column that names the most,
        or holds numbers alone, which may be those of rows.
      names_not_most: whether it names less than four fifths as many.
      position_of_title: the position of its title among usual ones.
      images_less_than_most: how many images less it names than the column that names the most.
      column: the number of the column.
    """

    names_few: bool
    names_not_most: bool
    position_of_title: int
    images_less_than_most: int
    column: int


def _choose_image_column(titles: Row, sample: Sequence[Row], image_counts: Sequence[int]) -> int:
    """Returns the column that names the images.

    Among columns that name about as many images, one with a usual title wins. One without a title
    comes last: pandas writes such a column of numbers.

    Args:
      titles: the titles of the columns.
      sample: some rows.
      image_counts: how many images each column names in these.
    """
    most = max(image_counts)

    def rank(column: int) -> _ImageColumnRank:
        count = image_counts[column]
        are_numbers = all(row[column].isdecimal() for row in sample if row[column])
        return _ImageColumnRank(
            names_few=2 * count < most or are_numbers,
            names_not_most=5 * count < 4 * most,
            position_of_title=_position_of_title(titles[column]),
            images_less_than_most=most - count,
            column=column,
        )

    return min(range(len(image_counts)), key=rank)


def _position_of_title(title: str) -> int:
    """Returns the position of a title among those of columns of images; an empty one is last."""
    if title in IMAGE_COLUMNS:
        return IMAGE_COLUMNS.index(title)
    return len(IMAGE_COLUMNS) if title else len(IMAGE_COLUMNS) + 1


def _is_title_of_images(cell: str, vocabulary: Vocabulary) -> bool:
    """Says whether the first cell of the column of images is its title."""
    if _as_title(cell) in IMAGE_COLUMNS:
        return True
    return cell not in vocabulary.image_names and not _PATH_OR_ENDING_IN_CELL.search(cell)


def _splits_of_other_images(table: _TitledRows, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the splits of a table of images that are not in the set, if it has several splits."""
    image_column = 0
    for column, title in enumerate(table.titles):
        if title in IMAGE_COLUMNS:
            image_column = column
            break
    lists = _divide(table, image_column, vocabulary)
    all_say_splits = all(listed.says_split for listed in lists)
    return lists if all_say_splits and len(lists) > 1 else []


def _divide(table: _TitledRows, image_column: int, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the images of each split, in the order of the rows."""
    columns = TableColumns.of_few_values(table.titles, table.rows, image_column, vocabulary)
    divisions = find_divisions(columns)
    if not divisions:
        return [_undivided(table, image_column, find_unclear_column(columns), vocabulary)]
    ids_by_key: dict[str, list[str]] = collections.defaultdict(list)
    for row in table.rows:
        image_id = vocabulary.id_of(row[image_column])
        for division_name, division in divisions.items():
            for split in division.splits_of(row):
                key = f"{division_name}/{split}" if len(divisions) > 1 else split
                ids_by_key[key].append(image_id)
    return [vocabulary.listed(key, ids, says_split=True) for key, ids in ids_by_key.items()]


def _undivided(
    table: _TitledRows, image_column: int, unclear: str, vocabulary: Vocabulary
) -> ListedImages:
    """Returns all images of a table as one list, with what may divide them, in words."""
    ids = [vocabulary.id_of(row[image_column]) for row in table.rows]
    return dataclasses.replace(vocabulary.listed("", ids), unclear=unclear)
