"""Texts that name images: lists, tables, JSON and YAML, and their splits.

Nothing in them says which words are names of images, so each word is looked up. A part of a text
is a list if some of its words are images: a column of a table, a key of JSON.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
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


@dataclasses.dataclass(frozen=True)
class ListReader:
    """Reads texts as lists.

    Attributes:
      image_names: the id of an image by any name that a text may have for it.
    """

    image_names: Mapping[str, str]

    @functools.cached_property
    def vocabulary(self) -> Vocabulary:
        """What words mean."""
        return Vocabulary(self.image_names)

    def read(self, file: File, images_below: ImagesBelow) -> list[ListedImages]:
        """Returns the parts of a text that name images, in their order.

        If none does, and the text says several splits, these have the names of other images.

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
            return read_document(value, self.vocabulary, images_below)
        rows = rows_between_separators(text, ending)
        return self._read_rows(rows) or self._read_lines(file, text)

    def names_image(self, text: str, *, or_number: bool = True) -> bool:
        """Says whether a text has the name of an image, be it a number or not."""
        for word in words_of(text):
            if word in self.image_names and (or_number or not word.isdecimal()):
                return True
        return False

    def names_splits(self, text: str) -> bool:
        """Says whether a text has the title of a column of splits, or the name of a split."""
        return any(is_title_of_splits(word) for word in words_of(text))

    def _read_rows(self, rows: Sequence[Row]) -> list[ListedImages]:
        if self._are_ids_side_by_side(rows):
            return [self.vocabulary.listed("", itertools.chain(*rows))]
        return read_table(rows, (), self.vocabulary)

    def _are_ids_side_by_side(self, rows: Sequence[Row]) -> bool:
        """Says whether each cell is the bare name of another image: the line `a06,a07`."""
        cells = [*itertools.chain(*rows)]
        for cell in cells:
            if "." in cell or "/" in cell or cell in _FLAGS or cell not in self.image_names:
                return False
        ids = {self.image_names[cell] for cell in cells}
        return 1 < len(ids) == len(cells)

    def _read_lines(self, file: File, text: str) -> list[ListedImages]:
        """Returns the list that lines are, or the table of columns with blanks between them."""
        rows = [line.split() for line in text.splitlines() if line.strip()]
        if len(text.partition("\n")[0].split()) > 1 and self._are_ids_side_by_side(rows):
            return self._read_rows(rows)
        images = NamesOfImages(self.image_names)
        ids = parse_ids(file.data, file.where, images, may_repeat=True, may_leave_tree=True)
        image_count = self.vocabulary.count_images(ids)
        are_columns = len({len(row) for row in rows}) == 1 and len(rows[0]) > 1
        if not image_count and are_columns:
            lists = read_table(rows, (), self.vocabulary)
            if lists:
                return lists
        has_title = len(ids) > 1 and ids[0] not in self.image_names and _is_title_of_images(ids[0])
        return [ListedImages("", ids[1:] if has_title else ids, image_count)]


def _is_title_of_images(line: str) -> bool:
    """Says whether a line is the head of a list, such as `ImageId` or `image label`."""
    if re.search(r"[\d./]", line):
        return False
    words = {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", line)}
    words_of_titles = {*"_".join(IMAGE_COLUMNS).split("_")}
    return bool(words) and words <= words_of_titles
