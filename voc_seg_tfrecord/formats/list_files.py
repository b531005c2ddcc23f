"""Texts that name images: lists, tables, JSON and YAML, and their splits.

Nothing in them says which words are names of images, so each word is looked up. A part of a text
is a list if some of its words are images: a column of a table, a key of JSON.
"""

from collections.abc import Sequence
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, decode, parse_ids
from voc_seg_tfrecord.formats.list_documents import ImagesBelow, read_document
from voc_seg_tfrecord.formats.list_tables import (
    IMAGE_COLUMNS,
    ListedImages,
    Vocabulary,
    read_table,
)
from voc_seg_tfrecord.formats.table_divisions import is_title_of_splits
from voc_seg_tfrecord.formats.texts import (
    DOCUMENT_ENDINGS,
    DocumentError,
    Row,
    load_document,
    rows_between_separators,
    words_of,
)

_FLAGS = ("0", "1")
"""What stands behind the id in VOC's lists of a class; it may be the name of an image, too."""


def read_lists(file: File, vocabulary: Vocabulary, images_below: ImagesBelow) -> list[ListedImages]:
    """Returns the parts of a text that name images, in their order.

    If none does, and the text says several splits, these have the names of other images.

    Args:
      file: the text.
      vocabulary: what its words mean.
      images_below: returns the images below a folder.

    Raises:
      ListError: if it is no text, no JSON or YAML where its ending says so, or a line has
        control characters.
    """
    ending = posixpath.splitext(file.where)[1].lower()
    text = decode(file.data, file.where)
    if ending in DOCUMENT_ENDINGS:
        try:
            value = load_document(text, ending)
        except DocumentError as error:
            raise ListError(
                file.where,
                found=str(error),
                expected="JSON, JSON Lines or YAML, as its ending says",
                remedy="correct the file, or remove it",
            ) from None
        return read_document(value, vocabulary, images_below)
    rows = rows_between_separators(text, ending)
    if _are_ids_side_by_side(rows, vocabulary):
        return [vocabulary.listed("", itertools.chain(*rows))]
    return read_table(rows, (), vocabulary) or _read_lines(file, text, vocabulary)


def names_splits(text: str) -> bool:
    """Says whether a text has the title of a column of splits, or the name of a split."""
    return any(map(is_title_of_splits, words_of(text)))


def _are_ids_side_by_side(rows: Sequence[Row], vocabulary: Vocabulary) -> bool:
    """Says whether each cell is the bare name of another image: the line `a06,a07`."""
    cells = [*itertools.chain(*rows)]
    names = vocabulary.image_names
    for cell in cells:
        if "." in cell or "/" in cell or cell in _FLAGS or cell not in names:
            return False
    ids = {names[cell] for cell in cells}
    return 1 < len(ids) == len(cells)


def _read_lines(file: File, text: str, vocabulary: Vocabulary) -> list[ListedImages]:
    """Returns the list that lines are, or the table of columns with blanks between them."""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    has_columns = len(text.partition("\n")[0].split()) > 1
    if has_columns and _are_ids_side_by_side(rows, vocabulary):
        return [vocabulary.listed("", itertools.chain(*rows))]
    images = NamesOfImages(vocabulary.image_names)
    ids = parse_ids(file.data, file.where, images, may_repeat=True, may_leave_tree=True)
    image_count = vocabulary.count_images(ids)
    are_columns = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
    if not image_count and are_columns:
        lists = read_table(rows, (), vocabulary)
        if lists:
            return lists
    begins_with_name = ids[0] in vocabulary.image_names
    if len(ids) > 1 and not begins_with_name and _is_title_of_images(ids[0]):
        ids = ids[1:]
    return [ListedImages("", ids, image_count)]


def _is_title_of_images(line: str) -> bool:
    """Says whether a line is the head of a list, such as `ImageId` or `image label`."""
    if re.search(r"[\d./]", line):
        return False
    words = {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", line)}
    words_of_titles = {*"_".join(IMAGE_COLUMNS).split("_")}
    return bool(words) and words <= words_of_titles
