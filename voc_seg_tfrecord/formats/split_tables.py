"""Tables that name images: rows of CSV, of JSON, or of lines with blanks, and the splits they say.

The column of images is the one in which most values are images. `table_divisions` says how the
others divide the rows.
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
    rows_below_head = padded if head else padded[1:]
    step = max(1, len(rows) // MAX_SAMPLED_ROWS)
    sample = rows_below_head[::step] or padded
    image_counts = [_count_images(sample, column, vocabulary) for column in range(width)]
    if not any(image_counts):
        return _splits_of_other_images(titles, rows_below_head, vocabulary)
    columns_of_images = sum(1 for count in image_counts if count)
    if not head and columns_of_images >= _MIN_NAMES_IN_A_LINE and len(rows) < width:
        return _names_in_a_line(padded, vocabulary)
    image_column = _choose_image_column(titles, sample, image_counts)
    has_head = bool(head) or _is_title(padded[0][image_column], vocabulary)
    if not has_head:
        titles = [""] * width
    body = [row for row in (rows_below_head if has_head else padded) if row[image_column]]
    if not has_head and _most_name_several_images(body, vocabulary):
        ids = [vocabulary.id_of(row[image_column]) for row in body]
        unclear = "several images on a line, without titles of the columns"
        return [dataclasses.replace(vocabulary.listed("", ids), unclear=unclear)]
    return _divide(titles, body, image_column, vocabulary)


def _count_images(sample: Sequence[Row], column: int, vocabulary: Vocabulary) -> int:
    names = vocabulary.image_names
    return len({names[row[column]] for row in sample if row[column] in names})


def _most_name_several_images(body: Sequence[Row], vocabulary: Vocabulary) -> bool:
    """Says whether most rows name more than one image, as in `train,a,b,c`.

    An image and its mask are one. A number may be that of the row.
    """
    sampled = body[:MAX_SAMPLED_ROWS]
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


def _names_in_a_line(rows: Sequence[Row], vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the list that all cells are; none if it is Python's or another program's."""
    names = [cell for row in rows for cell in row if cell]
    if names[0].startswith(("[", "(", "{")):
        return []
    return [vocabulary.listed("", [vocabulary.id_of(name) for name in names])]


def _choose_image_column(titles: Row, sample: Sequence[Row], image_counts: Sequence[int]) -> int:
    """Returns the column that names the images.

    Numbers, which may be those of rows, come last. Among columns that name about as many images,
    one with a usual title wins; one without a title is of numbers that pandas wrote.

    Args:
      titles: the titles of the columns.
      sample: some rows.
      image_counts: how many images each column names in these.
    """
    most = max(image_counts)

    def rank(column: int) -> tuple[bool, bool, int, int, int]:
        are_numbers = all(row[column].isdecimal() for row in sample if row[column])
        names_many = 2 * image_counts[column] >= most and not are_numbers
        names_most = 5 * image_counts[column] >= 4 * most
        usualness = -_position_of_title(titles[column])
        return names_many, names_most, usualness, image_counts[column], -column

    return max(range(len(image_counts)), key=rank)


def _position_of_title(title: str) -> int:
    """Returns where a title stands among those of columns of images; an empty one stands last."""
    if title in IMAGE_COLUMNS:
        return IMAGE_COLUMNS.index(title)
    return len(IMAGE_COLUMNS) if title else len(IMAGE_COLUMNS) + 1


def _is_title(cell: str, vocabulary: Vocabulary) -> bool:
    """Says whether the first cell of the column of images is its title."""
    if cell.lower().lstrip("# ") in IMAGE_COLUMNS:
        return True
    return cell not in vocabulary.image_names and not _PATH_OR_ENDING.search(cell)


def _splits_of_other_images(
    titles: Row, body: Sequence[Row], vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the splits of a table that says several, of images that are not there."""
    image_column = 0
    for column, title in enumerate(titles):
        if title in IMAGE_COLUMNS:
            image_column = column
            break
    lists = _divide(titles, body, image_column, vocabulary)
    all_say_splits = all(listed.says_split for listed in lists)
    return lists if all_say_splits and len(lists) > 1 else []


def _divide(
    titles: Row, body: Sequence[Row], image_column: int, vocabulary: Vocabulary
) -> list[ListedImages]:
    """Returns the images of each split, in the order of the rows."""
    columns = TableColumns.of_few_values(titles, body, image_column, vocabulary)
    divisions = find_divisions(columns)
    if not divisions:
        ids = [vocabulary.id_of(row[image_column]) for row in body]
        unclear = find_unclear_column(columns)
        return [dataclasses.replace(vocabulary.listed("", ids), unclear=unclear)]
    ids_by_key: dict[str, list[str]] = collections.defaultdict(list)
    for row in body:
        image_id = vocabulary.id_of(row[image_column])
        for title, division in divisions.items():
            for split in division.splits_of(row):
                key = f"{title}/{split}" if len(divisions) > 1 else split
                ids_by_key[key].append(image_id)
    return [vocabulary.listed(key, ids, says_split=True) for key, ids in ids_by_key.items()]
