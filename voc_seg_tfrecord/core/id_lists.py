"""Image ids: the lists of them, and which of them can be file names."""

import codecs
from collections.abc import Container, Iterable, Iterator, Mapping
import csv
import dataclasses
import hashlib
import io
import json
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.core.errors import ListError, RecordError, counted
from voc_seg_tfrecord.core.names import unprintable

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in an image folder an image."""

IMAGE_ENDING = f"(?i)[.]({'|'.join(suffix[1:] for suffix in IMAGE_SUFFIXES)})$"
"""The same as a regular expression, for TensorFlow: what a file name has more than its id."""

_MIN_BYTES_TO_TELL_UTF16 = 8
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_MAX_CHARACTERS_OF_PATHS = 8192  # of a line that may be two paths
_MAX_SHOWN_REPEATS = 3  # ids, and lines of each
_MAX_SHOWN_CHARACTERS = 200
_TRAILING_LABEL = re.compile(r"(?<!\s)\s+-?\d+$")  # the lookbehind makes it linear
_PATH_OR_ENDING = re.compile(r"/|\.[A-Za-z]{3,4}\s*$")
_ONE_WORD = re.compile(r"[^\s/\\#]+")  # a line that can only be an id, or one with an ending
_CELL_FORMULA_GUARD = re.compile("^'(?=[-=+@])")


def id_list_sha256(ids: Iterable[str]) -> str:
    """Returns the sha256 of the sorted ids, one per line, LF after each."""
    return hashlib.sha256("".join(f"{i}\n" for i in sorted(ids)).encode()).hexdigest()


def image_id(filename: str) -> str:
    """Returns the id of an image: its name without an image's ending, folders kept."""
    return _without_suffix(filename)


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
    wrong_lines: list[_Line] = []
    for line in _lines_of(data, where, image_ids, plain=plain):
        ids.append(line.image_id)
        if _fault_of_id(line.image_id, may_be_outside=outside):
            wrong_lines.append(line)
    if wrong_lines:
        first = wrong_lines[0]
        fault = _fault_of_id(first.image_id, may_be_outside=outside)
        if len(wrong_lines) > 1:
            fault += f". It is the first of {len(wrong_lines)} such lines"
        raise no_id(f"{where}, line {first.number}", first.text, fault)
    if not ids:
        raise ListError(
            where,
            found=f"no id in {len(data)} bytes",
            expected="one image id per line",
            remedy="add ids to the list, or leave its split out",
        )
    if not repeats and len(set(ids)) < len(ids):
        raise _repeated(where, _lines_of(data, where, image_ids, plain=plain))
    return ids


@dataclasses.dataclass(frozen=True)
class _Line:
    """One line of a list.

    Attributes:
      number: of the line, from 1.
      text: the line, stripped.
      image_id: the id that it stands for.
    """

    number: int
    text: str
    image_id: str


def _lines_of(
    data: bytes, where: object, image_ids: Container[str], *, plain: bool
) -> Iterator[_Line]:
    """Yields the lines of a list but for empty ones and comments."""
    for number, line in enumerate(decode(data, where).splitlines(), start=1):
        text = line.strip()
        is_comment = text.startswith("#") and text not in image_ids
        if text and not is_comment:
            yield _Line(number, text, _resolve(text, image_ids, plain=plain))


def _repeated(where: object, lines: Iterable[_Line]) -> ListError:
    """Returns the error of a list that has an id twice."""
    numbers_by_id: dict[str, list[int]] = {}
    for line in lines:
        numbers_by_id.setdefault(line.image_id, []).append(line.number)
    repeated = [image_id for image_id, numbers in numbers_by_id.items() if len(numbers) > 1]
    shown = []
    for image_id in repeated[:_MAX_SHOWN_REPEATS]:
        numbers = numbers_by_id[image_id][:_MAX_SHOWN_REPEATS]
        shown.append(f"{image_id!r} in lines {', '.join(map(str, numbers))}")
    if len(repeated) > _MAX_SHOWN_REPEATS:
        shown.append(f"and {len(repeated) - _MAX_SHOWN_REPEATS} more ids")
    return ListError(
        where,
        found=f"{counted(len(repeated), 'id')} more than once: {'; '.join(shown)}",
        expected="each id once",
        remedy="remove the repeated lines",
    )


def decode(data: bytes, where: object) -> str:
    """Returns the text of a list.

    Raises:
      ListError: if it is no text.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        raise _no_text(where, "UTF-32 text")
    encoding = _encoding_of(data)
    if b"\0" in data and not encoding.startswith("utf-16"):
        raise _no_text(where, "a zero byte")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding == "utf-8":
            return data.decode("latin-1")
        raise _no_text(where, f"not {encoding} text: {error.reason}") from None


def _no_text(where: object, found: str) -> ListError:
    return ListError(where, found=found, expected="UTF-8 text", remedy="save the list as UTF-8")


def _encoding_of(data: bytes) -> str:
    """Returns the encoding that the first bytes say, or the zeros of UTF-16; or else UTF-8."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            return encoding
    zeros_at_even = data[::2].count(0)
    zeros_at_odd = data[1::2].count(0)
    zeros = zeros_at_even + zeros_at_odd
    if len(data) <= _MIN_BYTES_TO_TELL_UTF16 or 4 * zeros <= len(data):
        return "utf-8"
    if not zeros_at_even:
        return "utf-16-le"
    return "utf-8" if zeros_at_odd else "utf-16-be"


def _resolve(line: str, image_ids: Container[str], *, plain: bool) -> str:
    """Returns the id that a line stands for; the line itself if there is no such image."""
    # One word of ASCII means the same whether its image is there or not. Other names may have
    # another Unicode form.
    is_one_word = line.isascii() and _ONE_WORD.fullmatch(line) is not None
    if is_one_word and _without_suffix(line) == line:
        return line if plain else _id_of(line, image_ids) or line
    image_id = _find(line, image_ids)
    return line if image_id is None else image_id


def _find(line: str, image_ids: Container[str]) -> str | None:
    """Returns the id of the first reading of a line that is an image; None if none is."""
    image_id = _id_of(line, image_ids)
    if image_id is not None or len(line) > _MAX_CHARACTERS_OF_PATHS:
        return image_id
    path = line.replace("\\", "/")
    readings = _readings_of_names(path) if isinstance(image_ids, Mapping) else _readings(path)
    for reading in readings:
        image_id = _id_of(reading, image_ids)
        if image_id is not None:
            return image_id
    return None


def _id_of(name: str, image_ids: Container[str]) -> str | None:
    if isinstance(image_ids, Mapping):
        return image_ids.get(name)
    return name if name in image_ids else None


def _readings_of_names(line: str) -> Iterator[str]:
    """Yields what a line may mean, where each name and path of an image is known.

    Of two columns, such as `a.jpg a.png`, the first one is the image.
    """
    yield line
    if "\t" in line:
        columns = line.split("\t")
    elif "," in line:
        columns = line.split(",")
    else:
        columns = line.split()
    if len(columns) > 1 and all(_PATH_OR_ENDING.search(column) for column in columns):
        yield columns[0].strip()
    yield _TRAILING_LABEL.sub("", line)


def _readings(line: str) -> Iterator[str]:
    """Yields what a line may mean, where only ids are known: also the ends of a path."""
    yield line
    yield from _ids_in_path(line)
    columns = line.split()
    if len(columns) == 2:
        yield from _ids_in_path(columns[0])
    yield _without_suffix(line)
    yield _TRAILING_LABEL.sub("", line)


def _ids_in_path(path: str) -> Iterator[str]:
    """Yields what may be the id in `/data/JPEGImages/ID.jpg`, the longest name first."""
    folder, slash, name = path.lstrip("/").partition("/")
    if slash:
        yield _without_suffix(f"{folder}/{name}")
    while slash and folder:
        yield _without_suffix(name)
        folder, slash, name = name.partition("/")


def chosen_ids(data: bytes, where: object, image_ids: Container[str] = ()) -> list[str]:
    """Reads which images somebody has chosen.

    The file may be a list of ids, a CSV file with a column `id`, as `check` and `evaluate` write
    it, or the decisions that a page saved, of which those are chosen that are called wrong.

    Args:
      data: the file's bytes.
      where: the file, for errors.
      image_ids: the ids that have an image; see `parse_ids`.

    Returns:
      Each id once, in the order of the file.

    Raises:
      ListError: if the file is none of these, or chooses nothing.
    """
    if data.lstrip().startswith(b"{"):
        ids = list[str]()
        for row in read_decisions(data, where):
            if row["decision"] == "wrong":
                ids += row["ids"]
        return _distinct_ids(ids, where, "called wrong")
    text = decode(data, where)
    head = next(csv.reader(text.splitlines()[:1]), [])
    if "id" in head and len(head) > 1:
        return _distinct_ids(_ids_in_column(text, head.index("id")), where, "in it")
    return parse_ids(data, where, image_ids, repeats=True)


def _ids_in_column(text: str, column: int) -> list[str]:
    """Returns the cells of a column of a CSV file, without its head.

    A spreadsheet would run what begins with =, so `check` and `evaluate` write `'` before it.
    """
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if len(row) > column]
    return [_CELL_FORMULA_GUARD.sub("", row[column]) for row in rows[1:]]


def _distinct_ids(ids: Iterable[str], where: object, how: str) -> list[str]:
    """Returns each id once.

    Raises:
      ListError: if there is none, or one can be no id.
    """
    distinct = [image_id for image_id in dict.fromkeys(ids) if image_id]
    if not distinct:
        raise ListError(
            where, found=f"no id {how}", expected="at least one", remedy="choose an image first"
        )
    for image_id in distinct:
        fault = _fault_of_id(image_id)
        if fault:
            raise no_id(where, image_id, fault)
    return distinct


def no_id(where: object, line: str, fault: str) -> ListError:
    """Returns the error of a list with a line that can be no id."""
    return ListError(
        where,
        found=f"{line[:_MAX_SHOWN_CHARACTERS]!r}, which {fault}",
        expected="an image id, a name below the image folder",
        remedy="remove the line from the list",
    )


DECISIONS = ("right", "wrong", "not sure")
"""What a person may say of a suspect on a page."""


def read_decisions(data: bytes, where: object) -> list[dict[str, Any]]:
    """Reads the file that a page saves; see `report/templates/page.js`.

    Returns:
      Of each suspect: `kind`, `ids`, `sha256` of its files, and `decision`, one of `DECISIONS`.

    Raises:
      ListError: if the file is another one.
    """
    try:
        decisions: list[dict[str, Any]] = json.loads(data)["decisions"]
        for row in decisions:
            texts = [row["kind"], row["sha256"], *row["ids"]]
            if row["decision"] not in DECISIONS or not all(isinstance(t, str) for t in texts):
                raise ValueError(f"the decision {row}")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ListError(
            where,
            found=f"no decisions: {' '.join(str(error).split())[:_MAX_SHOWN_CHARACTERS]}",
            expected="the file that a page of check or evaluate saved",
            remedy="save it on the page again",
        ) from None
    return decisions


def called_right(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, tuple[str, ...], str], str]:
    """Returns the sha256 of what a person called right, by kind, ids and place.

    Of two decisions about the same the later one counts. The place, behind a blank in `sha256`, is
    empty where an image has one suspect of a kind.
    """
    sha256_of_right: dict[tuple[str, tuple[str, ...], str], str] = {}
    for row in rows:
        sha256, _, place = row["sha256"].partition(" ")
        name = (row["kind"], (*row["ids"],), place)
        sha256_of_right.pop(name, None)
        if row["decision"] == "right":
            sha256_of_right[name] = sha256
    return sha256_of_right


def only_lines(
    data: bytes, where: object, image_ids: Container[str], wanted: Container[str]
) -> bytes:
    """Returns the lines of a list that stand for some ids, as UTF-8; see `parse_ids`."""
    lines = _lines_of(data, where, image_ids, plain=False)
    texts = [line.text for line in lines if line.image_id in wanted]
    return "".join(f"{text}\n" for text in texts).encode()


def _without_suffix(name: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return stem if suffix.lower() in (*IMAGE_SUFFIXES, ".npy") else name


def _fault_of_id(image_id: str, *, may_be_outside: bool = False) -> str:
    """Says what is wrong with an id; empty if nothing is."""
    fault = _fault_of_place(image_id.replace("\\", "/"), "tree")
    if fault and not may_be_outside:
        return fault
    if "\t" in image_id:  # a line of columns that was not understood
        return "has a tab, and no image has the name before it"
    return "has a control character" if unprintable(image_id) else ""


def _fault_of_place(name: str, root: str) -> str:
    """Says why a name lies in no place below a folder, which `root` calls; empty if it does."""
    parts = name.split("/")
    begins_with_drive = parts[0][1:] == ":"
    if name.startswith("/") or ".." in parts or begins_with_drive:
        return f"leaves the {root}"
    if name[1:2] == ":":
        return "begins as the letter of a drive does on Windows"
    if "" in parts or "." in parts:
        return "names no file"
    return ""


MAX_NAME_BYTES = 240
"""Bytes of one part of a path, in UTF-8: file systems take 255, and an ending may be added."""

_MAX_PATH_BYTES = 1000
_MAX_SHOWN_NAME = 80  # characters


def name_fault(name: str) -> str:
    """Says why a name, with `/` in it or not, can be no file's below a folder; empty if it can."""
    fault = _fault_of_place(name, "folder")
    if fault:
        return fault
    if "\\" in name:
        return "has a backslash"
    if unprintable(name):
        return "has a control character"
    longest_part = max(len(part.encode()) for part in name.split("/"))
    path_bytes = len(name.encode())
    if longest_part > MAX_NAME_BYTES or path_bytes > _MAX_PATH_BYTES:
        return f"has {path_bytes} bytes"
    return ""


def check_name(
    name: str, where: object, remedy: str = "build the dataset again with other names"
) -> None:
    """Checks that a name can be that of a file below a folder.

    Raises:
      RecordError: if it cannot.
    """
    fault = name_fault(name)
    if fault:
        raise RecordError(
            where,
            found=f"the name {show_name(name)}, which {fault}",
            expected="the name of a file below a folder, such as a.jpg or folder/a.jpg",
            remedy=remedy,
        )


def show_name(name: str) -> str:
    """Returns a name for an error: in quotes, nothing in it hidden, no longer than a line."""
    quoted = ascii(name)
    if len(quoted) <= _MAX_SHOWN_NAME:
        return quoted
    return f"{quoted[:60]}...{quoted[-15:]}"
