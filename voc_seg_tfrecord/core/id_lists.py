"""Image ids: the lists of them, and which of them can be file names."""

import codecs
from collections.abc import Container, Iterable, Iterator, Mapping
import csv
import hashlib
import io
import itertools
import json
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.core.errors import ListError, RecordError
from voc_seg_tfrecord.core.names import unprintable

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".jpe", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in an image folder an image."""

IMAGE_ENDING = f"(?i)[.]({'|'.join(suffix[1:] for suffix in IMAGE_SUFFIXES)})$"
"""The same as a regular expression, for TensorFlow: what a file name has more than its id."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_LONGEST = 8192  # letters of a line that may be two paths
_SHOWN = 3  # repeated ids, and lines of each, that an error shows
_TRAILING_LABEL = re.compile(r"(?<!\s)\s+-?\d+$")  # the lookbehind makes it linear
_SAYS_FILE = re.compile(r"/|\.[A-Za-z]{3,4}\s*$")  # a path, or an ending
_PLAIN = re.compile(r"[^\s/\\#]+")  # a line that can only be an id, or one with an ending


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
    wrong: list[tuple[int, str, str]] = []
    for number, line, image_id in _resolved(data, where, image_ids, plain):
        ids.append(image_id)
        if fault := _wrong(image_id, outside=outside):
            wrong.append((number, line, fault))
    if wrong:
        number, line, fault = wrong[0]
        more = f". It is the first of {len(wrong)} such lines" if len(wrong) > 1 else ""
        raise no_id(f"{where}, line {number}", line, f"{fault}{more}")
    if not ids:
        raise ListError(
            where,
            found=f"no id in {len(data)} bytes",
            expected="one image id per line",
            remedy="add ids to the list, or leave its split out",
        )
    if not repeats and len(set(ids)) < len(ids):
        raise _repeated(where, _resolved(data, where, image_ids, plain))
    return ids


def _resolved(
    data: bytes, where: object, image_ids: Container[str], plain: bool
) -> Iterator[tuple[int, str, str]]:
    """Yields number, text and id of each line that has one."""
    for number, line in enumerate(decode(data, where).splitlines(), start=1):
        line = line.strip()
        if line and not (line.startswith("#") and line not in image_ids):
            yield number, line, _resolve(line, image_ids, plain)


def _repeated(where: object, resolved: Iterable[tuple[int, str, str]]) -> ListError:
    lines: dict[str, list[int]] = {}
    for number, _, found in resolved:
        lines.setdefault(found, []).append(number)
    twice = {image_id: numbers for image_id, numbers in lines.items() if len(numbers) > 1}
    shown = list(twice.items())[:_SHOWN]
    repeats = "; ".join(f"{i!r} in lines {', '.join(map(str, n[:_SHOWN]))}" for i, n in shown)
    ids = "1 id" if len(twice) == 1 else f"{len(twice)} ids"
    more = f"; and {len(twice) - _SHOWN} more ids" if len(twice) > _SHOWN else ""
    return ListError(
        where,
        found=f"{ids} more than once: {repeats}{more}",
        expected="each id once",
        remedy="remove the repeated lines",
    )


def decode(data: bytes, where: object) -> str:
    """Returns the text of a list.

    Raises:
      ListError: if it is no text.
    """
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    if encoding == "utf-8" and b"\0" in data:
        zeros = data[::2].count(0), data[1::2].count(0)
        if 0 in zeros and 4 * sum(zeros) > len(data) > 8:  # UTF-16 without its BOM
            encoding = "utf-16-le" if zeros[1] else "utf-16-be"
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        found = "UTF-32 text"
    elif b"\0" in data and not encoding.startswith("utf-16"):
        found = "a zero byte"
    else:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError as error:
            if encoding == "utf-8":
                return data.decode("latin-1")
            found = f"not {encoding} text: {error.reason}"
    raise ListError(where, found=found, expected="UTF-8 text", remedy="save the list as UTF-8")


def _resolve(line: str, image_ids: Container[str], plain: bool) -> str:
    # Such a line means the same whether its image is there or not. Names that are not ASCII
    # may have another Unicode form.
    if line.isascii() and _PLAIN.fullmatch(line) and _without_suffix(line) == line:
        return line if plain else _id_of(line, image_ids) or line
    image_id = _find(line, image_ids)
    return line if image_id is None else image_id


def _find(line: str, image_ids: Container[str]) -> str | None:
    if (image_id := _id_of(line, image_ids)) is not None or len(line) > _LONGEST:
        return image_id
    lines = _readings(line.replace("\\", "/"), whole=isinstance(image_ids, Mapping))
    readings = (_id_of(reading, image_ids) for reading in lines)
    return next((image_id for image_id in readings if image_id is not None), None)


def _id_of(name: str, image_ids: Container[str]) -> str | None:
    if isinstance(image_ids, Mapping):
        return image_ids.get(name)
    return name if name in image_ids else None


def _readings(line: str, *, whole: bool) -> Iterable[str]:
    """Yields what a line may mean, the likeliest first; of `whole` names the ends of no path."""
    yield line
    if whole:
        columns = next((line.split(d) for d in "\t," if d in line), line.split())
        if len(columns) > 1 and all(_SAYS_FILE.search(column) for column in columns):
            yield columns[0].strip()
        yield _TRAILING_LABEL.sub("", line)
        return
    columns = line.split()
    for path in (line, *columns[:1]) if len(columns) == 2 else (line,):
        yield from _path_ids(path)
    yield _without_suffix(line)
    yield _TRAILING_LABEL.sub("", line)


def _path_ids(path: str) -> Iterable[str]:
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
        rows = [row["ids"] for row in read_decisions(data, where) if row["decision"] == "wrong"]
        return _chosen(itertools.chain(*rows), where, "called wrong")
    text = decode(data, where)
    if "id" in (head := next(csv.reader(text.splitlines()[:1]), [])) and len(head) > 1:
        column = head.index("id")
        lines = [line for line in csv.reader(io.StringIO(text, newline="")) if len(line) > column]
        # A spreadsheet would run what begins with =, so `'` stands before it.
        return _chosen((re.sub("^'(?=[-=+@])", "", n[column]) for n in lines[1:]), where, "in it")
    return parse_ids(data, where, image_ids, repeats=True)


def _chosen(ids: Iterable[str], where: object, how: str) -> list[str]:
    chosen = [image_id for image_id in dict.fromkeys(ids) if image_id]
    if not chosen:
        raise ListError(
            where, found=f"no id {how}", expected="at least one", remedy="choose an image first"
        )
    if faults := [(image_id, fault) for image_id in chosen if (fault := _wrong(image_id))]:
        raise no_id(where, *faults[0])
    return chosen


def no_id(where: object, line: str, fault: str) -> ListError:
    """Returns the error of a list with a line that can be no id."""
    return ListError(
        where,
        found=f"{line[:200]!r}, which {fault}",
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
            found=f"no decisions: {' '.join(str(error).split())[:200]}",
            expected="the file that a page of check or evaluate saved",
            remedy="save it on the page again",
        ) from None
    return decisions


def called_right(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, tuple[str, ...], str], str]:
    """Returns the sha256 of what a person called right, by kind, ids and place.

    Of two decisions about the same the later one counts. The place, behind a blank in `sha256`, is
    empty where an image has one suspect of a kind.
    """
    latest = {(row["kind"], (*row["ids"],), row["sha256"].partition(" ")[2]): row for row in rows}
    right = {name: row["sha256"] for name, row in latest.items() if row["decision"] == "right"}
    return {name: sha256.partition(" ")[0] for name, sha256 in right.items()}


def only_lines(
    data: bytes, where: object, image_ids: Container[str], wanted: Container[str]
) -> bytes:
    """Returns the lines of a list that stand for some ids, as UTF-8; see `parse_ids`."""
    lines = [
        line for _, line, image_id in _resolved(data, where, image_ids, False) if image_id in wanted
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _without_suffix(name: str) -> str:
    stem, suffix = posixpath.splitext(name)
    return stem if suffix.lower() in (*IMAGE_SUFFIXES, ".npy") else name


def _wrong(image_id: str, *, outside: bool = False) -> str:
    """Says what is wrong with an id; empty if nothing is."""
    if fault := not outside and _place_fault(image_id.replace("\\", "/"), "tree"):
        return fault
    if "\t" in image_id:  # a line of columns that was not understood
        return "has a tab, and no image has the name before it"
    return "has a control character" if unprintable(image_id) else ""


def _place_fault(name: str, root: str) -> str:
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or parts[0][1:] == ":":
        return f"leaves the {root}"
    if name[1:2] == ":":
        return "begins as the letter of a drive does on Windows"
    return "names no file" if "" in parts or "." in parts else ""


MAX_NAME_BYTES = 240
"""Bytes of one part of a path, in UTF-8: file systems take 255, and an ending may be added."""

_MAX_PATH = 1000


def name_fault(name: str) -> str:
    """Says why a name, with `/` in it or not, can be no file's below a folder; empty if it can."""
    if fault := _place_fault(name, "folder"):
        return fault
    if "\\" in name:
        return "has a backslash"
    if unprintable(name):
        return "has a control character"
    longest = max(len(part.encode()) for part in name.split("/"))
    if longest > MAX_NAME_BYTES or len(name.encode()) > _MAX_PATH:
        return f"has {max(longest, len(name.encode()))} bytes"
    return ""


def check_name(
    name: str, where: object, remedy: str = "build the dataset again with other names"
) -> None:
    """Checks that a name can be that of a file below a folder.

    Raises:
      RecordError: if it cannot.
    """
    if fault := name_fault(name):
        raise RecordError(
            where,
            found=f"the name {show_name(name)}, which {fault}",
            expected="the name of a file below a folder, such as a.jpg or folder/a.jpg",
            remedy=remedy,
        )


def show_name(name: str) -> str:
    """Returns a name for an error: in quotes, nothing in it hidden, no longer than a line."""
    quoted = ascii(name)
    return quoted if len(quoted) <= 80 else f"{quoted[:60]}...{quoted[-15:]}"
