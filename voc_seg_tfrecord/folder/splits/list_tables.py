"""Tables that name images: rows of CSV, of JSON, or of lines with blanks, and their splits.

The column of images is the one in which most values are images. `table_divisions` decides how the
other columns divide the rows.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import re

from voc_seg_tfrecord.folder.splits.table_divisions import (
    MAX_SAMPLED_ROWS,
    find_divisions,
    find_unclear_column,
    list_columns,
)
from voc_seg_tfrecord.formats.texts import Row, as_title, with_width, words_of

IMAGE_COLUMNS = (
    "image",
    "image_path",
    "img",
    "img_path",
    "image_file",
    "file_name",
    "filename",
    "file",
    "path",
    "image_id",
    "id",
    "name",
    "key",
    "case",
    "mask",
    "label",
)
"""Names, in lower case, of columns and keys that name images, the usual ones first."""

_PATH_OR_ENDING_IN_CELL = re.compile(r"[/\\]|\.[A-Za-z]{3,4}$")
_MIN_COLUMNS_OF_NAMES = 3


@dataclasses.dataclass(frozen=True)
class ListedImages:
    """The images that one part of a text names.

    Attributes:
      key: the part: a value of the column of splits, or keys with `/` between; empty for the whole
        text. Of several columns of splits the column's name stands before the value.
      ids: the id of each name in its order; a name of no image stays as it is.
      image_count: how many of the names are images.
      says_split: whether a column or a key says that `key` is a split, whatever it is called.
      unclear: what may divide the images and is not understood, in words; empty if nothing does.
    """

    key: str
    ids: Sequence[str]
    image_count: int
    says_split: bool = False
    unclear: str = ""


@dataclasses.dataclass(frozen=True)
class Vocabulary:
    """What the words of a text mean.

    Attributes:
      image_names: the id of an image by any name that a text may have for it.
    """

    image_names: Mapping[str, str]

    def listed(
        self, key: str, names: Iterable[str], *, says_split: bool = False, unclear: str = ""
    ) -> ListedImages:
        """Returns what a part of a text names: ids, and what is the name of no image."""
        ids = [self.image_names.get(name, name) for name in names]
        return ListedImages(key, ids, self.count_images(ids), says_split, unclear)

    def names_image(self, text: str, *, or_number: bool = True) -> bool:
        """Says whether a text has the name of an image, be it a number or not."""
        for word in words_of(text):
            if word in self.image_names and (or_number or not word.isdecimal()):
                return True
        return False

    def count_images(self, ids: Iterable[str]) -> int:
        """Returns how many of some ids are those of images."""
        return sum(1 for image_id in ids if image_id in self.image_names)


def read_table(rows: Sequence[Row], head: Row, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the images of each split of a table; none if it is no table of images.

    Args:
      rows: the rows. Without a head the first one may be it: its cell in the column of images is no
        image then. To find that column, the first row is taken for the titles.
      head: the titles of the columns; empty if they are not known.
      vocabulary: what words mean.
    """
    width = max(map(len, rows[:MAX_SAMPLED_ROWS]), default=0)
    if width == 0:
        return []
    all_rows = with_width(rows, width)
    body = all_rows
    titles = [as_title(cell) for cell in head]
    if not head:
        body = all_rows[1:]
        titles = [as_title(cell) for cell in all_rows[0]]
    sample = _spread_sample(body or all_rows)
    image_counts = _count_images_by_column(sample, vocabulary)
    if not any(image_counts):
        return _splits_of_other_images(titles, body, vocabulary)
    if not head and _are_lines_of_names(all_rows, image_counts):
        return _read_lines_of_names(all_rows, vocabulary)
    image_column = _choose_image_column(titles, sample, image_counts)
    has_titles = head or _is_title_of_images(all_rows[0][image_column], vocabulary)
    if not has_titles:
        titles = [""] * width
        body = all_rows
    body = [row for row in body if row[image_column]]
    if not has_titles and _most_name_several_images(body, vocabulary):
        unclear = "several images on a line, without titles of the columns"
        return [vocabulary.listed("", [row[image_column] for row in body], unclear=unclear)]
    return _divide(titles, body, image_column, vocabulary)


def _spread_sample(rows: Sequence[Row]) -> Sequence[Row]:
    """Returns rows from all over a table, about as many as are sampled."""
    step = len(rows) // MAX_SAMPLED_ROWS
    return rows[:: max(1, step)]


def _count_images_by_column(sample: Sequence[Row], vocabulary: Vocabulary) -> list[int]:
    """Returns how many different images each column of padded rows names."""
    names = vocabulary.image_names
    counts = []
    for column in range(len(sample[0])):
        images = {names[row[column]] for row in sample if row[column] in names}
        counts.append(len(images))
    return counts


def _splits_of_other_images(
    titles: Row, body: Sequence[Row], vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the splits of a table of images that are not in the set, if it has several splits."""
    usual_columns = [column for column, title in enumerate(titles) if title in IMAGE_COLUMNS]
    lists = _divide(titles, body, usual_columns[0] if usual_columns else 0, vocabulary)
    all_say_splits = all(listed.says_split for listed in lists)
    return lists if all_say_splits and len(lists) > 1 else []


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


def _read_lines_of_names(rows: Sequence[Row], vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the list that all cells are; none if it is code or JSON, with a bracket before it."""
    names = [cell for row in rows for cell in row if cell]
    return [] if names[0].startswith(("[", "(", "{")) else [vocabulary.listed("", names)]


def _choose_image_column(titles: Row, sample: Sequence[Row], image_counts: Sequence[int]) -> int:
    """Returns the column that names the images.

    Among columns that name about as many images, one with a usual title wins. One without a title
    comes last: pandas writes such a column of numbers. So does one of numbers alone, which may be
    those of rows.

    Args:
      titles: the titles of the columns.
      sample: some rows.
      image_counts: how many images each column names in these.
    """
    most = max(image_counts)
    unlikeliness = []
    for column, count in enumerate(image_counts):
        filled = [row[column] for row in sample if row[column]]
        are_numbers = all(cell.isdecimal() for cell in filled)
        names_few = 2 * count < most
        names_not_most = 5 * count < 4 * most
        rank = _rank_of_title(titles[column])
        unlikeliness.append((names_few or are_numbers, names_not_most, rank, -count, column))
    *_, likeliest_column = min(unlikeliness)
    return likeliest_column


def _rank_of_title(title: str) -> int:
    """Returns how usual the title of a column of images is; the most usual one is 0."""
    if title in IMAGE_COLUMNS:
        return IMAGE_COLUMNS.index(title)
    return len(IMAGE_COLUMNS) if title else len(IMAGE_COLUMNS) + 1


def _is_title_of_images(cell: str, vocabulary: Vocabulary) -> bool:
    """Says whether the first cell of the column of images is its title."""
    if as_title(cell) in IMAGE_COLUMNS:
        return True
    return cell not in vocabulary.image_names and not _PATH_OR_ENDING_IN_CELL.search(cell)


def _most_name_several_images(rows: Sequence[Row], vocabulary: Vocabulary) -> bool:
    """Says whether most rows name more than one image, as in `train,a,b,c`.

    `a.jpg,a.png` names one image. A cell of digits alone may be the number of the row, so it counts
    only beside two other images.
    """
    names = vocabulary.image_names
    sampled = rows[:MAX_SAMPLED_ROWS]
    count = 0
    for row in sampled:
        images = set[str]()
        images_by_words = set[str]()
        for cell in row:
            if cell in names:
                images.add(names[cell])
                if not cell.isdecimal():
                    images_by_words.add(names[cell])
        if len(images_by_words) > 1 or len(images) > 2:
            count += 1
    return 2 * count > len(sampled)


def _divide(
    titles: Row, body: Sequence[Row], image_column: int, vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the images of each split, in the order of the rows; or all images as one list."""
    columns = list_columns(titles, body, image_column)
    divisions = find_divisions(columns, body)
    if not divisions:
        names = [row[image_column] for row in body]
        return [vocabulary.listed("", names, unclear=find_unclear_column(columns))]
    names_by_key: dict[str, list[str]] = collections.defaultdict(list)
    for row in body:
        for division_name, splits_of in divisions.items():
            for split in splits_of(row):
                key = f"{division_name}/{split}" if len(divisions) > 1 else split
                names_by_key[key].append(row[image_column])
    return [vocabulary.listed(key, names, says_split=True) for key, names in names_by_key.items()]
