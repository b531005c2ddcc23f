"""Texts that name images: lists, tables, JSON and YAML, and their splits.

Nothing in them says which words are names of images, so each word is looked up. A part of a text
is a list if some of its words are images: a column of a table, a key of JSON.
"""

from collections.abc import Iterator, Sequence
import csv
import dataclasses
import io
import itertools
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, decode, parse_ids
from voc_seg_tfrecord.formats.listed_images import IMAGE_COLUMNS, ListedImages, Vocabulary
from voc_seg_tfrecord.formats.split_documents import (
    DocumentError,
    ImagesBelow,
    load_json,
    load_json_lines,
    load_yaml,
    read_document,
)
from voc_seg_tfrecord.formats.split_tables import read_table
from voc_seg_tfrecord.formats.table_divisions import is_title_of_splits

LIST_ENDINGS = (".txt", ".lst")
TABLE_ENDINGS = (".csv", ".tsv")
_JSON_LINES = ".jsonl"
YAML_ENDINGS = (".yaml", ".yml")
DOCUMENT_ENDINGS = (".json", _JSON_LINES, *YAML_ENDINGS)

READ_ENDINGS = (*LIST_ENDINGS, *TABLE_ENDINGS, *DOCUMENT_ENDINGS)
"""Endings, in lower case, of texts that are read. One without an ending may be a list too."""

OTHER_ENDINGS = (".list", ".ids", ".ini", ".cfg", ".toml", ".ndjson")
"""Endings of texts that are not read. If one names images and splits, the build stops."""

MAX_TEXT_BYTES = 64 << 20
"""Bytes of a text that is read as a whole."""

_MAX_LINES_ABOVE_A_TABLE = 20
_FLAGS = ("0", "1")
"""What stands behind the id in VOC's lists of a class; it may be the name of an image, too."""

MAX_LINES_TO_FIND_COLUMNS = 5
COLUMN_SEPARATORS = ("\t", ",", ";", "|")
"""What may separate the columns of a table, the likeliest first."""

_SEPARATOR_OF_WORDS = re.compile(r"[,;:\t|{}\[\]()\"'=\n\r]")
_COMMENT_OR_SEPARATOR_LINE = re.compile("#|(?i:sep=.\\s)")


@dataclasses.dataclass(frozen=True)
class ListReader:
    """Reads texts as lists.

    Attributes:
      vocabulary: what words mean.
    """

    vocabulary: Vocabulary

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
            value = _load(text, ending, file)
            return read_document(value, self.vocabulary, images_below)
        return self._read_table(text, ending) or self._read_lines(file, text)

    def names_image(self, text: str, *, or_number: bool = True) -> bool:
        """Says whether a text has the name of an image, be it a number or not."""
        return any(
            word in self.vocabulary.image_names
            for word in words_of(text)
            if or_number or not word.isdecimal()
        )

    def names_splits(self, text: str) -> bool:
        """Says whether a text has the title of a column of splits, or the name of a split."""
        return any(is_title_of_splits(word) for word in words_of(text))

    def _read_table(self, text: str, ending: str) -> list[ListedImages]:
        rows = _rows_between_separators(text, may_have_quotes=ending in TABLE_ENDINGS)
        if self._are_ids_side_by_side(rows):
            return [self.vocabulary.listed("", [*itertools.chain(*rows)])]
        return read_table(rows, (), self.vocabulary)

    def _are_ids_side_by_side(self, rows: Sequence[Sequence[str]]) -> bool:
        """Says whether each cell is the bare name of another image: the line `a06,a07`."""
        cells = [*itertools.chain(*rows)]
        are_bare = all("." not in cell and "/" not in cell and cell not in _FLAGS for cell in cells)
        names = self.vocabulary.image_names
        if not are_bare or not all(cell in names for cell in cells):
            return False
        ids = {names[cell] for cell in cells}
        has_several_ids = len(ids) > 1
        return has_several_ids and len(ids) == len(cells)

    def _read_lines(self, file: File, text: str) -> list[ListedImages]:
        """Returns the list that lines are, or the table of columns with blanks between them."""
        names = self.vocabulary.image_names
        has_columns = len(text.partition("\n")[0].split()) > 1
        if has_columns:
            rows = [line.split() for line in text.splitlines()]
            if self._are_ids_side_by_side(rows):
                return [self.vocabulary.listed("", [*itertools.chain(*rows)])]
        ids = parse_ids(
            file.data, file.where, NamesOfImages(names), may_repeat=True, may_leave_tree=True
        )
        image_count = self.vocabulary.count_images(ids)
        if not image_count:
            lists = self._read_columns_between_blanks(text)
            if lists:
                return lists
        has_title = len(ids) > 1 and ids[0] not in names and _is_title_of_images(ids[0])
        if has_title:
            ids = ids[1:]
        return [ListedImages("", ids, image_count)]

    def _read_columns_between_blanks(self, text: str) -> list[ListedImages]:
        """Returns the lists of lines with as many words each; none if there are no columns."""
        rows = [line.split() for line in text.splitlines() if line.strip()]
        width = len(rows[0])
        if width < 2 or any(len(row) != width for row in rows):
            return []
        return read_table(rows, (), self.vocabulary)


def words_of(text: str) -> Iterator[str]:
    """Yields what stands in a text between separators, then what stands between blanks."""
    for part in _SEPARATOR_OF_WORDS.split(text):
        part = part.strip()
        if not part:
            continue
        yield part
        words = part.split()
        if len(words) > 1:
            yield from words


def _load(text: str, ending: str, file: File) -> Any:
    """Returns what a text of JSON or YAML holds.

    Raises:
      ListError: if it is none.
    """
    try:
        if ending in YAML_ENDINGS:
            return load_yaml(text)
        if ending == _JSON_LINES or _begins_with_object_on_a_line(text):
            return load_json_lines(text)
        return load_json(text) if text.strip() else None
    except DocumentError as error:
        raise ListError(
            file.where,
            found=str(error),
            expected="JSON, JSON Lines or YAML, as its ending says",
            remedy="correct the file, or remove it",
        ) from None


def _begins_with_object_on_a_line(text: str) -> bool:
    """Says whether a text of several lines has a whole object on the first, as JSON Lines do."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and lines[0].startswith("{") and lines[0].endswith("}")


def _is_title_of_images(line: str) -> bool:
    """Says whether a line is the head of a list, such as `ImageId` or `image label`."""
    if re.search(r"[\d./]", line):
        return False
    words = {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", line)}
    words_of_titles = {*"_".join(IMAGE_COLUMNS).split("_")}
    return bool(words) and words <= words_of_titles


def _rows_between_separators(text: str, *, may_have_quotes: bool) -> Sequence[Sequence[str]]:
    """Returns the rows of a text with columns; none if lines have no columns, or only blanks.

    The separator is one of which each of the first lines has the same number. Comments and Excel's
    `sep=,` may stand above the table.
    """
    top = [*itertools.islice(io.StringIO(text, newline=""), _MAX_LINES_ABOVE_A_TABLE)]
    filled = [line for line in top if line.strip() and not _COMMENT_OR_SEPARATOR_LINE.match(line)]
    first_lines = filled[:MAX_LINES_TO_FIND_COLUMNS]
    if not first_lines:
        return []
    has_quotes = may_have_quotes and any('"' in line for line in first_lines)
    above = top[: top.index(first_lines[0])]
    for separator in COLUMN_SEPARATORS:
        counts = {line.count(separator) for line in first_lines}
        has_one_width = len(counts) == 1 or has_quotes  # quotes may have separators between them
        if 0 in counts or not has_one_width:
            continue
        titles = [
            line for line in above if line.startswith("#") and line.count(separator) in counts
        ]
        all_lines = io.StringIO(text, newline="")
        table_lines = itertools.islice(all_lines, len(above), None)
        return _read_csv(itertools.chain(titles, table_lines), separator)
    return []


def _read_csv(lines: Iterator[str], separator: str) -> list[list[str]]:
    rows = []
    try:
        for row in csv.reader(lines, delimiter=separator):
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
    except csv.Error:
        return []
    return rows
