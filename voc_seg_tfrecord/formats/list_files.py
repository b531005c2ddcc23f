"""Texts that name images: lists, tables, JSON and YAML, and the splits that they say.

Nothing in them says which words are names of images, so each word is looked up. A place of a text
is a list if some of its words are images: a column of a table, a key of JSON. Rows are a table,
whether CSV, JSON or lines with blanks have them.
"""

import collections
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import csv
import dataclasses
import io
import itertools
import json
import posixpath
import re
import tomllib
from typing import Any

import yaml

from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import decode, parse_ids

_TREES = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".toml")
ENDINGS = (".txt", ".lst", ".list", ".ids", ".ini", ".csv", ".tsv", *_TREES)
"""Endings, in lower case, of texts that may be lists. One without an ending may be one too."""

LARGEST = 64 << 20
"""Bytes of a text that is read as a whole."""

_LARGEST_YAML = 1 << 20  # which takes a second to read
_SAMPLED = 500  # rows by which a column is chosen
_DEEPEST = 5  # keys above a list
_MOST = 32  # splits or folds that a column may have
_MOST_KEYS = 64  # of rows of JSON
_NAMED = (
    *("image", "image_path", "img", "img_path", "image_file", "file_name", "filename", "file"),
    *("path", "image_id", "id", "name", "key", "case", "mask", "label"),
)
"""How rows call the names of images, the usual ones first."""

_SAYS = ("split", "subset", "set", "partition")
"""Columns of which every value is the name of a split."""

_LIKE_SPLITS = {"eval", "evaluation", "holdout", "unlabeled", "unlabelled"}  # beside a known one
_NO_SPLIT = {"", "-", "none", "nan", "na", "ignore", "ignored", "unused", "exclude", "excluded"}
_FOLDS = re.compile("(k|cv)?_?folds?(_?(id|idx|index|no|num|number))?")
_IS = re.compile("^(is|in)[_ ]")  # before the name of a split
_YES, _NO = {"true", "1", "yes", "1.0", "y"}, {"false", "0", "no", "0.0", "n", ""}
_BETWEEN = re.compile(r"[,;:\t|{}\[\]()\"'=\n\r]")
_FILE = re.compile(r"[/\\]|\.[A-Za-z]{3,4}$")  # a path, or an ending
_ABOVE = re.compile("#|(?i:sep=.\\s)")  # a table
_HEAD = re.compile(r"(?mi)^[^\w\n]*(?:tr|va|te|de|ts)[^\W\d]*[^\w\n]*$")


@dataclasses.dataclass(frozen=True)
class Listed:
    """What one place of a text names.

    Attributes:
      key: the place: a value of the column of splits, or keys with `/` between; empty for all. Of
        several columns of splits the column's name stands before the value.
      ids: the id of each name in its order; a name of no image stays as it is.
      found: how many of the names are images.
      said: whether a column or a key says that `key` is a split, whatever it is called.
    """

    key: str
    ids: Sequence[str]
    found: int
    said: bool = False


_OF_OTHERS = Listed("", (), 0, said=True)

Folder = Callable[[str], Sequence[str]]
"""Returns the ids of the images below a folder that a text names; none if there is no such one."""

_Row = Sequence[str]
_Body = Sequence[_Row]
_Way = Callable[[_Row], Sequence[str]]  # returns the splits of a row


@dataclasses.dataclass(frozen=True)
class ListReader:
    """Reads texts as lists.

    Attributes:
      names: the id of an image by any name that a text may have for it.
      split_of: returns the split that a word means; empty if it means none, or says more.
    """

    names: Mapping[str, str]
    split_of: Callable[[str], str]

    def read(self, file: File, folder: Folder) -> list[Listed]:
        """Returns the places of a text that name images, in their order.

        Of a text that says several splits of other images one place is left, which names nothing.

        Args:
          file: the text.
          folder: returns the images of a folder.

        Raises:
          ListError: if it is no text, or a line has control characters.
        """
        ending, text = posixpath.splitext(file.where)[1].lower(), decode(file.data, file.where)
        as_printed = ending not in _TREES and text.lstrip()[:1] in ("[", "{")  # by Python: YAML
        places = [*self._places(_load(text, ".yaml" if as_printed else ending), folder)]
        others = _OF_OTHERS in places or sum(1 for of in places if of.said and of.ids) > 1
        listed = [of for of in places if of.found] or [_OF_OTHERS] * others
        if listed or ending in _TREES:
            return listed
        return self._sections(text) or self._table(_rows(text, ending)) or self._lines(file, text)

    def names_any(self, text: str, *, numbers: bool = True) -> bool:
        """Says whether a text has the name of an image, be it a number or not."""
        words = (word for word in words_of(text) if numbers or not word.isdecimal())
        return any(word in self.names for word in words)

    def is_of_splits(self, word: str) -> bool:
        """Says whether a word may be the head of a column of splits, or a split."""
        word = word.lower()
        return bool(word in _SAYS or _FOLDS.fullmatch(word) or self.split_of(_IS.sub("", word)))

    def _listed(self, groups: Mapping[str, Sequence[str]], *, said: bool) -> list[Listed]:
        return [Listed(key, ids, self._count(ids), said) for key, ids in groups.items()]

    def _count(self, ids: Iterable[str]) -> int:
        return sum(1 for image_id in ids if image_id in self.names)

    def _lines(self, file: File, text: str) -> list[Listed]:
        """Returns the list that lines are, or the table if only what is between blanks is found."""
        ids = parse_ids(file.data, file.where, self.names, plain=False, repeats=True, outside=True)
        found = self._count(ids)
        if not found:
            rows = [words for line in text.splitlines() if (words := line.split())]
            has_columns = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
            if has_columns and (listed := self._table(rows)):
                return listed
        has_head = len(ids) > 1 and ids[0] not in self.names and _says_images(ids[0])
        return [Listed("", ids[has_head:], found)]

    def _sections(self, text: str) -> list[Listed]:
        """Returns the lists of a text in which `[train]` or `val:` stands above each.

        A word between the same signs, such as `[unused]`, is a head too.
        """
        lines = {line.strip() for line in _HEAD.findall(text)}
        known = {line for line in lines - self.names.keys() if self.split_of(_word(line))}
        if len(known) < 2:
            return []
        signs = {tuple(line.split(_word(line))) for line in known} - {("", "")}
        rows, key = list[_Row](), ""
        for line in filter(None, map(str.strip, text.splitlines())):
            word = _word(line)
            if line in known or (word and tuple(line.split(word)) in signs):
                key = word
            elif line in self.names or not line.startswith("#"):
                rows.append((key, line))
        listed = self._table(rows, ("", "image")) if all(key for key, _ in rows) else []
        return listed if all(of.said and of.found for of in listed) else []

    # Tables.

    def _table(self, rows: Sequence[_Row], head: _Row = ()) -> list[Listed]:
        """Returns the lists of a table; none if it names no image. Its first row may be a head."""
        if not rows:
            return []
        width = max(map(len, rows[:_SAMPLED]))
        empty = [""] * width
        sample = [[*r, *empty] for r in rows[not head :: max(1, len(rows) // _SAMPLED)] or rows]
        found = [len({self.names.get(row[n], "") for row in sample} - {""}) for n in range(width)]
        called = [*(cell.lower().lstrip("# ") for cell in head or rows[0]), *empty]
        if not any(found):
            named = next((n for n in range(width) if called[n] in _NAMED), -1)
            ways = self._ways(called, [[*r, *empty] for r in rows[not head :]], width, named)
            keys = {key for way in ways.values() for row in sample for key in way(row)}
            return [_OF_OTHERS] if len(keys) > 1 else []
        if not head and sum(map(bool, found)) > 2 and len(rows) < width:  # all names in a line
            ids = [self.names.get(cell, cell) for row in rows for cell in row if cell]
            return self._listed({"": ids}, said=False)
        column = _column(called, sample, found)
        first = "".join(rows[0][column : column + 1])
        is_image = first in self.names or _FILE.search(first)
        has_head = not head and (called[column] in _NAMED or not is_image)
        body = [[*r, *empty] for r in rows[has_head:] if any(r[column : column + 1])]
        ways = self._ways(called if head or has_head else empty, body, width, column)
        groups: dict[str, list[str]] = collections.defaultdict(list)
        for row in body:
            image_id = self.names.get(row[column], row[column])
            for name, way in ways.items():
                for key in way(row):
                    groups[f"{name}/{key}" if len(ways) > 1 else key].append(image_id)
            if not ways:
                groups[""].append(image_id)
        return self._listed(groups, said=bool(ways))

    def _ways(self, called: _Row, body: _Body, width: int, named: int) -> dict[str, _Way]:
        """Returns the ways in which columns divide the rows, by what the columns are called.

        Words for splits win over folds, and over other words in a column that is called so. A
        column that says the same of all rows loses.
        """
        values = dict[int, set[str]]()
        for n in (n for n in range(width) if n != named):
            if len({row[n] for row in body[:_SAMPLED]}) <= _MOST:
                of_column = {row[n].lower() for row in body}
                values |= {n: of_column} if 0 < len(of_column - {""}) < _MOST else {}
        words = [n for n in values if self._are_splits(values[n])]
        others = {n: values[n] for n in values if n not in words}
        ways = {n: _by_value(n) for n in words if len(values[n]) > 1}
        flags = self._flags(called, body, others)
        if flags and not (ways and all(self._agree(flags, n, body) for n in ways)):
            ways[min(flags)] = _by_flags(flags)
        says = [n for n in others if called[n] in _SAYS]
        if not ways:
            folds = [n for n in others if _FOLDS.fullmatch(called[n]) and len(values[n]) > 1]
            ways = {n: _by_value(n) for n in says if len(values[n]) > 1}
            ways |= {n: _by_fold(n, values[n]) for n in folds}
        ways = ways or {n: _by_value(n) for n in (says + words)[:1]}
        return {called[n].replace("/", "|") or f"{n + 1}": way for n, way in ways.items()}

    def _are_splits(self, values: Iterable[str]) -> bool:
        known = {value for value in values if self.split_of(value)}
        others = {*values} - known - _NO_SPLIT
        return len({*map(self.split_of, known)}) > 1 or (bool(known) and others <= _LIKE_SPLITS)

    def _flags(self, called: _Row, body: _Body, values: Mapping[int, set[str]]) -> dict[int, str]:
        """Returns the split of each column that says which rows are in it.

        What is called `train` or `valid` alone may also be a class, or say that a label is right.
        """
        of_yes = [n for n in values if values[n] <= _YES | _NO and not _FOLDS.fullmatch(called[n])]
        flags = {n: self.split_of(_IS.sub("", called[n])) for n in of_yes if values[n] & _YES}
        flags = {n: split for n, split in flags.items() if split}
        yes = [sum(row[n].lower() in _YES for n in flags) for row in body] if flags else []
        is_class = len(flags) < len(of_yes) and all(self.split_of(called[n]) for n in flags)
        is_class = is_class and not (len(flags) > 1 and {*yes} == {1})
        is_check = all("valid" in called[n].split("_") for n in flags) and 2 * sum(yes) > len(yes)
        return {} if is_check or is_class or max(yes, default=0) > 1 else flags

    def _agree(self, flags: Mapping[int, str], n: int, body: _Body) -> bool:
        pairs = ((row, flag) for row in body for flag in flags)
        return all((self.split_of(r[n]) == flags[f]) == (r[f].lower() in _YES) for r, f in pairs)

    # JSON and YAML.

    def _places(self, value: Any, folder: Folder, *keys: str) -> Iterator[Listed]:
        """Yields the lists at and below a place; `keys` lead to it."""
        place, said = "/".join(keys), bool(keys) and bool(self.split_of(keys[-1]))
        if isinstance(value, str):
            ids = folder(value) if said else ()
            yield Listed(place, ids, len(ids))
        elif isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
            texts = filter(None, map(self._cell, value))
            ids = [i for text in texts for i in self._ids(text, folder if keys else None)]
            yield Listed(place, ids, self._count(ids), said)
        elif isinstance(value, dict | list) and len(keys) <= _DEEPEST:
            listed = self._of_mapping(value) if isinstance(value, dict) else self._of_list(value)
            for of in listed:
                key = "/".join(filter(None, (place, of.key)))
                is_of = of == _OF_OTHERS
                yield of if is_of else dataclasses.replace(of, key=key, said=of.said or said)
            if not any(of.found for of in listed):
                yield from self._inner(value, folder, keys)

    def _of_list(self, items: Sequence[Any]) -> list[Listed]:
        rows, head = self._as_rows(items)
        listed = self._table(rows, head)
        return listed if {*_NAMED} & {*head} or any(of.found for of in listed) else []

    def _of_mapping(self, value: Mapping[Any, Any]) -> list[Listed]:
        """Returns the splits of a table: of keys with what is said of each, or of columns."""
        tables = list[tuple[_Body, _Row]]()
        inner = [of for of in value.values() if isinstance(of, dict | list)]
        if not inner:
            tables = [([(str(key), self._cell(said)) for key, said in value.items()], ("", ""))]
        elif len(inner) == len(value) and all(isinstance(of, dict) for of in inner):
            tables = [self._as_rows([{"": key, **of} for key, of in value.items()])]
        columns = [str(key) for key, of in value.items() if isinstance(of, dict | list)]
        if len({*map(len, inner)}) == 1 and not any(map(self.split_of, columns)):
            cells = [of.values() if isinstance(of, dict) else of for of in inner]
            tables.append(([[*map(self._cell, row)] for row in zip(*cells, strict=True)], columns))
        found = ([of for of in self._table(*of) if of.said and of.found] for of in tables)
        return next(filter(None, found), [])

    def _inner(self, value: Any, folder: Folder, keys: Sequence[str]) -> Iterator[Listed]:
        found, is_list = False, isinstance(value, list)
        items = dict(enumerate(value if len(value) < _MOST else ())) if is_list else value
        for key, item in items.items():
            for of in self._places(item, folder, *keys, str(key).replace("/", "|")):
                found = found or bool(of.found)
                yield of
        if not found and not is_list:  # otherwise "0" may be a fold, and not the image of that name
            ids = [self.names[str(key)] for key in value if str(key) in self.names]
            yield Listed("/".join(keys), ids, len(ids))

    def _ids(self, text: str, folder: Folder | None) -> Sequence[str]:
        image_id = self.names.get(text)
        of_folder = folder(text) if image_id is None and folder else ()
        return of_folder or [text if image_id is None else image_id]

    def _cell(self, value: Any, key: str = "") -> str:
        """Returns the text of a value; of several files of one image that of the first."""
        if isinstance(value, list) and value:  # `train` has images of a split, and not of one image
            of_images = {self.names.get(str(item), "") for item in value[:_MOST]} - {""}
            value = "" if len(of_images) > 1 or self.split_of(key) else value[0]
        return str(value) if isinstance(value, str | int | float) else ""

    def _as_rows(self, items: Sequence[Any]) -> tuple[_Body, _Row]:
        """Returns entries of JSON as rows, and their head; lists have none."""
        rows = [item for item in items[:_SAMPLED] if isinstance(item, dict)]
        keys = [*dict.fromkeys(key for row in rows for key in row)][:_MOST_KEYS]
        if not keys:
            lists = (item if isinstance(item, list) else [item] for item in items)
            return [[*map(self._cell, of)] for of in lists], ()
        named = next((key for key in _NAMED if key in keys), "")
        entries = (item if isinstance(item, dict) else {named: item} for item in items)
        cells = ([self._cell(entry.get(key), str(key)) for key in keys] for entry in entries)
        return [*cells], [str(key).lower() for key in keys]


def words_of(text: str) -> Iterator[str]:
    """Yields what stands in a text between what separates words, then between blanks."""
    for part in filter(None, map(str.strip, _BETWEEN.split(text))):
        yield part
        if len(of_part := part.split()) > 1:
            yield from of_part


def _load(text: str, ending: str) -> Any:
    """Returns what a text of JSON, TOML or YAML holds; nothing if it is none, or a long YAML."""
    try:
        if ending in (".yaml", ".yml"):
            # Text alone: 007 stays as it is, and nothing is ever made of a tag.
            loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
            return yaml.load(text, loader) if len(text) <= _LARGEST_YAML else None
        if ending == ".toml":
            return tomllib.loads(text)
        lines = [line for line in text.splitlines() if line.strip()] if ending in _TREES else []
        is_row = len(lines) > 1 and lines[0][0] == "{" and lines[0].rstrip()[-1] == "}"
        if is_row or ending in (".jsonl", ".ndjson"):
            return [json.loads(line) for line in lines]
        return json.loads(text) if lines else None
    except (ValueError, RecursionError, yaml.YAMLError):
        return None


def _word(line: str) -> str:
    """Returns the only word of a line that has one between other signs; empty if it has more."""
    words = re.findall(r"\w+", line)
    return words[0] if len(words) == 1 else ""


def _says_images(line: str) -> bool:
    """Says whether a line is the head of a list, such as `ImageId` or `image label`."""
    words = {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", line)}
    return (
        bool(words) and words <= {*"_".join(_NAMED).split("_")} and not re.search(r"[\d./]", line)
    )


def _rows(text: str, ending: str) -> list[list[str]]:
    """Returns the rows of a text with columns; none if lines have no columns, or only blanks."""
    top = [*itertools.islice(io.StringIO(text, newline=""), 20)]
    head = [line for line in top if line.strip() and not _ABOVE.match(line)][:5]
    for delimiter in ("\t", ",", ";", "|"):
        counts = {line.count(delimiter) for line in head}
        quoted = ending in (".csv", ".tsv") and any('"' in line for line in head)
        if head and 0 not in counts and (len(counts) == 1 or quoted):
            lines: Iterator[str] = io.StringIO(text, newline="")
            for line in top[: top.index(head[0])]:
                if line[0] != "#" or line.count(delimiter) not in counts:
                    next(lines)
            try:
                rows = csv.reader(lines, delimiter=delimiter)
                return [row for row in ([cell.strip() for cell in row] for row in rows) if any(row)]
            except csv.Error:
                return []
    return []


def _column(called: _Row, sample: _Body, found: Sequence[int]) -> int:
    """Returns the column that names the images: numbers, which may be those of rows, come last."""

    def rank(n: int) -> tuple[bool, bool, int, int, int]:
        is_number = all(row[n].isdecimal() for row in sample if row[n])
        # A usual name wins over others; a column without a name is of numbers that pandas wrote.
        usual = _NAMED.index(called[n]) if called[n] in _NAMED else len(_NAMED) + (not called[n])
        names = 2 * found[n] >= max(found) and not is_number
        return names, 5 * found[n] >= 4 * max(found), -usual, found[n], -n

    return max(range(len(found)), key=rank)


def _by_value(n: int) -> _Way:
    return lambda row: [] if row[n].lower() in _NO_SPLIT else [row[n]]


def _by_flags(flags: Mapping[int, str]) -> _Way:
    rest = ["train"]  # is what no column says
    if "train" in flags.values():
        rest = ["validation"] if len(flags) == 1 else []
    return lambda row: [s for n, s in flags.items() if row[n].lower() in _YES] or rest


def _by_fold(n: int, values: set[str]) -> _Way:
    folds = sorted(values - {""})
    return lambda row: [f"{f}/{'val' if row[n].lower() == f else 'train'}" for f in folds]
