"""Image ids: the id of an image's file, and the files that list ids."""

import codecs
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
import dataclasses
import hashlib
import posixpath
import re
from typing import Protocol

from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.file import path_fault
from voc_seg_tfrecord.core.names import unprintable

IMAGE_ENDINGS = (".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in an image folder an image."""

_ENDINGS_IN_LISTS = (*IMAGE_ENDINGS, ".npy")

IMAGE_ENDING_PATTERN = f"(?i)[.]({'|'.join(ending[1:] for ending in IMAGE_ENDINGS)})$"
"""The same as a regular expression, for TensorFlow: what a file name has more than its id."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

_MAX_PATHS_CHARACTERS = 8192
"""A longer line can only be a name as it is."""

_MAX_ID_CHARACTERS = 4096
"""The length of a path on Linux."""

_MAX_LISTED_REPEATS = 3
"""How many repeated ids an error lists, and how many lines of each."""

_TRAILING_LABEL = re.compile(r"(?<!\s)\s+-?\d+$")  # the lookbehind makes it linear
_PATH_OR_ENDING_IN_COLUMN = re.compile(r"/|\.[A-Za-z]{3,4}\s*$")
_PLAIN_NAME = re.compile(r"[^\s/\\#]+")  # a line that can only be an id, or one with an ending


def id_list_sha256(ids: Iterable[str]) -> str:
    """Returns the sha256 of the sorted ids, one per line, LF after each."""
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    return hashlib.sha256(lines.encode()).hexdigest()


def id_of_file(filename: str) -> str:
    """Returns the id of an image: its name with its folders, without the ending of an image."""
    stem, ending = posixpath.splitext(filename)
    return stem if ending.lower() in _ENDINGS_IN_LISTS else filename


def last_part(image_id: str) -> str:
    """Returns an id without its folders: `0001` for `train/0001`."""
    return image_id.rpartition("/")[2]


class ImageFinder(Protocol):
    """Finds the image that a line of a list stands for."""

    def is_name(self, line: str) -> bool:
        """Says whether a line is the name of an image, and no comment if it begins with `#`."""
        ...

    def find_id(self, line: str) -> str | None:
        """Returns the id of the image; None if no image is known."""
        ...


@dataclasses.dataclass(frozen=True)
class IdsOfImages:
    """Finds images by their ids.

    A line is an id if there is such an image. If not, it may be a path or two
    (`/JPEGImages/ID.jpg /SegmentationClass/ID.png`), an id with an image's ending, or an id with a
    label behind it (`ID -1`). To look for an image may list a folder.

    Attributes:
      ids: the ids that have an image.
    """

    ids: Container[str] = ()

    def is_name(self, line: str) -> bool:
        """Says whether a line is an id, or one with something behind it: `#1`, `#1.jpg`.

        The end of a path does not count: `# see imgs/1.jpg` is a comment, and no name of 1.
        """
        image_id = self._look_up(line)
        return image_id is not None and line.replace("\\", "/").startswith(image_id)

    def find_id(self, line: str) -> str | None:
        """Returns the id of the image that a line stands for; None if no image is known.

        For a line that can be nothing but an id, no image is looked for.
        """
        return None if _is_plain_id(line) else self._look_up(line)

    def _look_up(self, line: str) -> str | None:
        """Returns the id of the image that a line stands for; None if there is no such image."""
        for image_id in _candidate_ids(line):
            if image_id in self.ids:
                return image_id
        return None


@dataclasses.dataclass(frozen=True)
class NamesOfImages:
    """Finds images by any name that lists may have for them.

    A line is a name, the first of several columns, or a name with a label behind it (`NAME -1`).

    Attributes:
      id_by_name: the id of each name, also of paths.
    """

    id_by_name: Mapping[str, str]

    def is_name(self, line: str) -> bool:
        """Says whether a line is a name of an image."""
        return line in self.id_by_name

    def find_id(self, line: str) -> str | None:
        """Returns the id of the image that a line stands for; None if no image is known."""
        for name in _candidate_names(line):
            if name in self.id_by_name:
                return self.id_by_name[name]
        return None


NO_IMAGES = IdsOfImages()
"""For lists of ids alone, without paths, endings or labels."""


def parse_ids(
    data: bytes,
    where: object,
    images: ImageFinder = NO_IMAGES,
    *,
    may_repeat: bool = False,
    may_leave_tree: bool = False,
) -> list[str]:
    """Reads the ids of a list file: one image in each line.

    Args:
      data: the file's bytes: UTF-8, UTF-16 or Latin-1, any line ending.
      where: the file, for errors.
      images: finds the image that a line stands for.
      may_repeat: whether an id may be there more than once.
      may_leave_tree: whether a line that is no image may be a path that leaves the tree.

    Raises:
      ListError: if the list is empty, is not text, names an id twice, or an id would leave
        the tree.
    """
    ids = []
    faulty_lines = []
    for line in _lines_with_ids(data, where, images):
        ids.append(line.image_id)
        if id_fault(line.image_id, may_leave_tree=may_leave_tree):
            faulty_lines.append(line)
    if faulty_lines:
        raise _fault_error(where, faulty_lines, may_leave_tree=may_leave_tree)
    if not ids:
        raise ListError(
            where,
            found=f"no id in {len(data)} bytes",
            expected="one image id per line",
            remedy="add ids to the list, or leave its split out",
        )
    if not may_repeat and len(set(ids)) < len(ids):
        raise _repeat_error(where, _lines_with_ids(data, where, images))
    return ids


def keep_lines(data: bytes, where: object, images: ImageFinder, ids: Container[str]) -> bytes:
    """Returns the lines of a list that stand for some ids, as UTF-8; see `parse_ids`."""
    lines = _lines_with_ids(data, where, images)
    return "".join(f"{line.text}\n" for line in lines if line.image_id in ids).encode()


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list that has an id.

    Attributes:
      number: its number, from 1.
      text: the line without blanks around it.
      image_id: the id of the image that it stands for. If there is no such image, it is the text,
        and whoever reads the image reports that it is missing.
    """

    number: int
    text: str
    image_id: str


def _lines_with_ids(data: bytes, where: object, images: ImageFinder) -> Iterator[_Line]:
    """Yields the lines that are neither blank nor comments."""
    for number, line in enumerate(decode(data, where).splitlines(), start=1):
        text = line.strip()
        is_comment = text.startswith("#") and not images.is_name(text)
        if text and not is_comment:
            yield _Line(number, text, images.find_id(text) or text)


def _is_plain_id(text: str) -> bool:
    """Says whether a line can be nothing but an id: no path, no ending, no label, no comment.

    Names that are not ASCII may have another Unicode form, so they are looked up.
    """
    has_ending = id_of_file(text) != text
    return text.isascii() and _PLAIN_NAME.fullmatch(text) is not None and not has_ending


def _candidate_names(line: str) -> Iterator[str]:
    """Yields the names of an image that a line may have, the likeliest first.

    A mapping of names knows endings and paths, so these are not cut here as for ids.
    """
    yield line
    if _is_plain_id(line) or len(line) > _MAX_PATHS_CHARACTERS:
        return
    text = line.replace("\\", "/")
    yield text
    columns = _split_columns(text)
    are_files = all(_PATH_OR_ENDING_IN_COLUMN.search(column) for column in columns)
    if len(columns) > 1 and are_files:
        yield columns[0].strip()
    yield _TRAILING_LABEL.sub("", text)


def _split_columns(text: str) -> list[str]:
    """Returns the columns of a line: between tabs, else between commas, else between blanks."""
    for delimiter in ("\t", ","):
        if delimiter in text:
            return text.split(delimiter)
    return text.split()


def _candidate_ids(line: str) -> Iterator[str]:
    """Yields the ids that a line may have, the likeliest first.

    Ids have no endings and no folders above that of the images, so these are cut off.
    """
    yield line
    if len(line) > _MAX_PATHS_CHARACTERS:
        return
    text = line.replace("\\", "/")
    yield text
    yield from _ids_at_end_of_path(text)
    columns = text.split()
    if len(columns) == 2:  # the paths of an image and of its mask
        yield from _ids_at_end_of_path(columns[0])
    yield id_of_file(text)
    yield _TRAILING_LABEL.sub("", text)


def _ids_at_end_of_path(path: str) -> Iterator[str]:
    """Yields what may be the id in a path, the longest first.

    Example: `/data/JPEGImages/ID.jpg` gives `data/JPEGImages/ID`, `JPEGImages/ID` and `ID`. A name
    without folders is no path, and gives nothing. No id has two slashes between its folders, so
    nothing behind two slashes is an id.
    """
    end_of_path = path.lstrip("/")
    if "/" not in end_of_path:
        return
    yield id_of_file(end_of_path)
    while "/" in end_of_path and not end_of_path.startswith("/"):
        _, _, end_of_path = end_of_path.partition("/")
        yield id_of_file(end_of_path)


def _fault_error(where: object, lines: Sequence[_Line], *, may_leave_tree: bool) -> ListError:
    """Returns the error about lines that have no possible id; it shows the first one."""
    first = lines[0]
    fault = id_fault(first.image_id, may_leave_tree=may_leave_tree)
    if len(lines) > 1:
        fault += f". It is the first of {len(lines)} such lines"
    return id_error(f"{where}, line {first.number}", first.text, fault)


def _repeat_error(where: object, lines: Iterable[_Line]) -> ListError:
    """Returns the error that ids are there more than once, with the numbers of their lines."""
    numbers_by_id: dict[str, list[int]] = {}
    for line in lines:
        numbers_by_id.setdefault(line.image_id, []).append(line.number)
    repeats = []
    for image_id, numbers in numbers_by_id.items():
        if len(numbers) > 1:
            listed = ", ".join(str(number) for number in numbers[:_MAX_LISTED_REPEATS])
            repeats.append(f"{image_id!r} in lines {listed}")
    found = f"{counted(len(repeats), 'id')} more than once: "
    found += "; ".join(repeats[:_MAX_LISTED_REPEATS])
    unlisted = len(repeats) - _MAX_LISTED_REPEATS
    if unlisted > 0:
        found += f"; and {unlisted} more ids"
    return ListError(
        where, found=found, expected="each id once", remedy="remove the repeated lines"
    )


def decode(data: bytes, where: object) -> str:
    """Returns the text of a list: UTF-8, UTF-16 or, if it is neither, Latin-1.

    Raises:
      ListError: if it is not text.
    """
    if data.startswith(_UTF32_MARKS):
        raise _text_error(where, "UTF-32 text")
    encoding = _encoding_of(data)
    if b"\0" in data and not encoding.startswith("utf-16"):
        raise _text_error(where, "a zero byte")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8":
            return data.decode("latin-1")
        raise _text_error(where, f"not {encoding} text: {error.reason}") from None


def _encoding_of(data: bytes) -> str:
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return encoding
    return _encoding_by_zeros(data)


def encoding_of_parts(beginning: bytes) -> str:
    """Returns the encoding of the parts of a text, which have no byte order mark.

    Args:
      beginning: the first bytes of the text.
    """
    if beginning.startswith(codecs.BOM_UTF16_LE):
        return "utf-16-le"
    if beginning.startswith(codecs.BOM_UTF16_BE):
        return "utf-16-be"
    return _encoding_of(beginning)


def _encoding_by_zeros(data: bytes) -> str:
    """Returns the encoding of bytes without a byte order mark: UTF-8, or one of UTF-16.

    In UTF-16, every other byte of most letters is zero.
    """
    if len(data) <= 8:
        return "utf-8"  # too little to tell
    zeros_at_even = data[::2].count(0)
    zeros_at_odd = data[1::2].count(0)
    zero_count = zeros_at_even + zeros_at_odd
    if 4 * zero_count <= len(data):
        return "utf-8"
    if zeros_at_even == 0:
        return "utf-16-le"
    if zeros_at_odd == 0:
        return "utf-16-be"
    return "utf-8"


def _text_error(where: object, found: str) -> ListError:
    return ListError(where, found=found, expected="UTF-8 text", remedy="save the list as UTF-8")


def id_fault(image_id: str, *, may_leave_tree: bool = False) -> str:
    """Returns what is wrong with an id; empty if nothing is."""
    if len(image_id) > _MAX_ID_CHARACTERS:
        return f"has {len(image_id):,} characters, and paths have at most {_MAX_ID_CHARACTERS:,}"
    if not may_leave_tree:
        fault = path_fault(image_id.replace("\\", "/"), "tree")
        if fault:
            return fault
    if "\t" in image_id:  # a line of columns, in which no image was found
        return "has a tab, and no image has the name before it"
    if unprintable(image_id):
        return "has a control character"
    return ""


def id_error(where: object, text: str, fault: str) -> ListError:
    """Returns the error about a list with a text that cannot be an id."""
    return ListError(
        where,
        found=f"{text[:200]!r}, which {fault}",
        expected="an image id, a name below the image folder",
        remedy="remove the line from the list",
    )
