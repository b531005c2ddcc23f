"""Image ids: the id of an image's file, and the files that list ids."""

import codecs
from collections.abc import Container, Iterable, Iterator, Mapping
import dataclasses
import hashlib
import posixpath
import re

from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.file_names import path_fault
from voc_seg_tfrecord.core.names import unprintable

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in an image folder an image."""

IMAGE_ENDING = f"(?i)[.]({'|'.join(suffix[1:] for suffix in IMAGE_SUFFIXES)})$"
"""The same as a regular expression, for TensorFlow: what a file name has more than its id."""

_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_UTF32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)

_MAX_PATHS_CHARACTERS = 8192
"""A longer line is not tried as paths."""

_MAX_LISTED_REPEATS = 3
"""How many repeated ids an error lists, and how many lines of each."""

_TRAILING_LABEL = re.compile(r"(?<!\s)\s+-?\d+$")  # the lookbehind makes it linear
_PATH_OR_ENDING = re.compile(r"/|\.[A-Za-z]{3,4}\s*$")
_PLAIN_NAME = re.compile(r"[^\s/\\#]+")  # a line that can only be an id, or one with an ending


def id_list_sha256(ids: Iterable[str]) -> str:
    """Returns the sha256 of the sorted ids, one per line, LF after each."""
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    return hashlib.sha256(lines.encode()).hexdigest()


def image_id(filename: str) -> str:
    """Returns the id of an image: its name without an image's ending, folders kept."""
    return _without_suffix(filename)


def last_part(image_id: str) -> str:
    """Returns an id without its folders: `0001` for `train/0001`."""
    return image_id.rpartition("/")[2]


def parent_folder(image_id: str) -> str:
    """Returns the folder of an id, empty if it has none: `train/a` for `train/a/0001`."""
    return image_id.rpartition("/")[0]


def parse_ids(
    data: bytes,
    where: object,
    image_ids: Container[str],
    *,
    plain: bool = True,
    repeats: bool = False,
    outside: bool = False,
) -> list[str]:
    """Reads the ids of a list file.

    A line, stripped, is an id if there is an image of that name. Only if there is none, it is
    tried as one path or two (`/JPEGImages/ID.jpg /SegmentationClass/ID.png`), as an id with an
    image's ending, and as an id with a label behind it (`ID -1`). A line that is none of
    these is returned as it is: whoever looks the image up says that it is missing.

    Args:
      data: the file's bytes: UTF-8, UTF-16 or Latin-1, any line ending.
      where: the file, for errors.
      image_ids: the ids that have an image; or a mapping to them from all names that lists may
        have for images.
      plain: whether names of images are ids. Then a line that can only be an id is one, and
        is not looked up.
      repeats: whether an id may be there more than once.
      outside: whether a line that is no image may be a path that leaves the tree.

    Raises:
      ListError: if the list is empty, is not text, names an id twice, or an id would leave
        the tree.
    """
    ids: list[str] = []
    faulty_lines: list[tuple[_Line, str]] = []
    for line in _lines_with_ids(data, where, image_ids, plain=plain):
        ids.append(line.image_id)
        fault = id_fault(line.image_id, may_leave_tree=outside)
        if fault:
            faulty_lines.append((line, fault))
    if faulty_lines:
        line, fault = faulty_lines[0]
        if len(faulty_lines) > 1:
            fault += f". It is the first of {len(faulty_lines)} such lines"
        raise id_error(f"{where}, line {line.number}", line.text, fault)
    if not ids:
        raise ListError(
            where,
            found=f"no id in {len(data)} bytes",
            expected="one image id per line",
            remedy="add ids to the list, or leave its split out",
        )
    if not repeats and len(set(ids)) < len(ids):
        raise _repeat_error(where, _lines_with_ids(data, where, image_ids, plain=plain))
    return ids


def only_lines(
    data: bytes, where: object, image_ids: Container[str], wanted: Container[str]
) -> bytes:
    """Returns the lines of a list that stand for some ids, as UTF-8; see `parse_ids`."""
    lines = _lines_with_ids(data, where, image_ids, plain=False)
    return "".join(f"{line.text}\n" for line in lines if line.image_id in wanted).encode()


@dataclasses.dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list that has an id.

    Attributes:
      number: its number, from 1.
      text: what it says, stripped.
      image_id: the id.
    """

    number: int
    text: str
    image_id: str


def _lines_with_ids(
    data: bytes, where: object, image_ids: Container[str], *, plain: bool
) -> Iterator[_Line]:
    """Yields the lines that are neither blank nor comments; `plain` is that of `parse_ids`."""
    for number, line in enumerate(decode(data, where).splitlines(), start=1):
        text = line.strip()
        is_comment = text.startswith("#") and text not in image_ids
        if text and not is_comment:
            yield _Line(number, text, _resolve(text, image_ids, plain=plain))


def _resolve(text: str, image_ids: Container[str], *, plain: bool) -> str:
    """Returns the id that a line means; if no image fits, the line."""
    # Such a line means the same whether its image is there or not. Names that are not ASCII
    # may have another Unicode form.
    is_plain_id = text.isascii() and _PLAIN_NAME.fullmatch(text) and _without_suffix(text) == text
    if is_plain_id and plain:
        return text
    if is_plain_id:
        return _id_of(text, image_ids) or text
    image_id = _find_image(text, image_ids)
    return text if image_id is None else image_id


def _find_image(text: str, image_ids: Container[str]) -> str | None:
    """Returns the id of the image that a line means; None if no image fits."""
    image_id = _id_of(text, image_ids)
    if image_id is not None or len(text) > _MAX_PATHS_CHARACTERS:
        return image_id
    text = text.replace("\\", "/")
    candidates = _candidate_names(text) if isinstance(image_ids, Mapping) else _candidate_ids(text)
    for candidate in candidates:
        image_id = _id_of(candidate, image_ids)
        if image_id is not None:
            return image_id
    return None


def _id_of(name: str, image_ids: Container[str]) -> str | None:
    """Returns the id of an image by its name, as a mapping has it, or the name if it is an id."""
    if isinstance(image_ids, Mapping):
        return image_ids.get(name)
    return name if name in image_ids else None


def _candidate_names(text: str) -> Iterator[str]:
    """Yields the names of an image that a line may have, the likeliest first."""
    yield text
    columns = text.split()
    for delimiter in "\t,":
        if delimiter in text:
            columns = text.split(delimiter)
            break
    are_files = all(_PATH_OR_ENDING.search(column) for column in columns)
    if len(columns) > 1 and are_files:
        yield columns[0].strip()
    yield _TRAILING_LABEL.sub("", text)


def _candidate_ids(text: str) -> Iterator[str]:
    """Yields the ids that a line may have, the likeliest first: also the ends of paths."""
    yield text
    yield from _path_ids(text)
    columns = text.split()
    if len(columns) == 2:  # the paths of an image and of its mask
        yield from _path_ids(columns[0])
    yield _without_suffix(text)
    yield _TRAILING_LABEL.sub("", text)


def _path_ids(path: str) -> Iterator[str]:
    """Yields what may be the id in `/data/JPEGImages/ID.jpg`, the longest name first."""
    folder, slash, name = path.lstrip("/").partition("/")
    if slash:
        yield _without_suffix(f"{folder}/{name}")
    while slash and folder:
        yield _without_suffix(name)
        folder, slash, name = name.partition("/")


def _without_suffix(name: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return stem if suffix.lower() in (*IMAGE_SUFFIXES, ".npy") else name


def _repeat_error(where: object, lines: Iterable[_Line]) -> ListError:
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
    return _unmarked_utf16(data) or "utf-8"


def _unmarked_utf16(data: bytes) -> str:
    """Returns which UTF-16 bytes without a byte order mark are, by their zeros; empty if neither.

    In UTF-16, every other byte of most letters is zero.
    """
    if len(data) <= 8:
        return ""  # too little to tell
    zeros_at_even = data[::2].count(0)
    zeros_at_odd = data[1::2].count(0)
    zero_count = zeros_at_even + zeros_at_odd
    if 4 * zero_count <= len(data):
        return ""
    if zeros_at_even == 0:
        return "utf-16-le"
    if zeros_at_odd == 0:
        return "utf-16-be"
    return ""


def _text_error(where: object, found: str) -> ListError:
    return ListError(where, found=found, expected="UTF-8 text", remedy="save the list as UTF-8")


def id_fault(image_id: str, *, may_leave_tree: bool = False) -> str:
    """Returns what is wrong with an id; empty if nothing is."""
    if not may_leave_tree:
        fault = path_fault(image_id.replace("\\", "/"), "tree")
        if fault:
            return fault
    if "\t" in image_id:  # a line of columns that was not understood
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
