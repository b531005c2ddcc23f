"""Texts that name images: lists, tables, JSON and YAML, and the splits that they say.

Nothing in them says which words are names of images, so each word is looked up. A place of a text
is a list if some of its words are images: a column of a table, a key of JSON.
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

ENDINGS = (
    *(".txt", ".lst", ".list", ".ids", ".csv", ".tsv"),
    *(".json", ".jsonl", ".yaml", ".yml", ".toml"),
)
"""Endings, in lower case, of texts that may be lists. One without an ending may be one too."""

LARGEST = 64 << 20
"""Bytes of a text that is read as a whole."""

_LARGEST_YAML = 1 << 20  # which takes a second to read
_SAMPLED = 500  # rows by which a column is chosen
_DEEPEST = 5  # keys above a list
_NAMED = (
    *("image", "image_path", "img", "img_path", "image_file", "file_name", "filename", "file"),
    *("path", "image_id", "id", "name", "key", "case", "mask", "label"),
)
"""How rows call the names of images, the usual ones first."""

_SAYS = ("split", "subset", "set", "partition")
"""Columns and keys of which every value is the name of a split."""

_FOLDS = ("fold", "folds", "kfold", "cv_fold")
_FLAGS = {
    **dict.fromkeys(("is_valid", "is_val", "is_validation", "valid", "val"), "validation"),
    **dict.fromkeys(("is_test", "test"), "test"),
    **dict.fromkeys(("is_train", "train"), "train"),
}
_YES, _NO = {"true", "1", "yes", "1.0"}, {"false", "0", "no", "0.0", ""}


@dataclasses.dataclass(frozen=True)
class Listed:
    """What one place of a text names.

    Attributes:
      key: the place: a value of the column of splits, or keys with `/` between; empty for all.
      ids: the id of each name in its order; a name of no image stays as it is.
      found: how many of the names are images.
      said: whether a column or a key says that `key` is a split, whatever it is called.
    """

    key: str
    ids: Sequence[str]
    found: int
    said: bool = False


Folder = Callable[[str], Sequence[str]]
"""Returns the ids of the images below a folder that a text names; none if there is no such one."""


def read_lists(
    file: File, names: Mapping[str, str], is_split: Callable[[str], bool], folder: Folder
) -> list[Listed]:
    """Returns the places of a text that name images, in their order.

    Of a text that says several splits of other images one place is left, which names nothing.

    Args:
      file: the text.
      names: the id of an image by any name that a text may have for it.
      is_split: says whether a word is the usual name of a split.
      folder: returns the images of a folder.

    Raises:
      ListError: if a text of lines is no text, or has a name that leaves the tree.
    """
    ending, tree = posixpath.splitext(file.where)[1].lower(), _Tree(names, is_split, folder)
    if ending in (".json", ".jsonl", ".yaml", ".yml", ".toml"):
        places = [*tree.places(_load(file.data, ending))]
        says_several = sum(1 for of in places if of.said and of.ids) > 1
        return _found(places) or ([_OF_OTHERS] if says_several else [])
    text = decode(file.data, file.where)
    as_printed = text.lstrip().startswith(("[", "{"))  # by Python, which is YAML too
    if as_printed and (listed := _found(tree.places(_load(file.data, ".yaml")))):
        return listed
    rows = _rows(text, ending)
    if listed := _sections(text, names, is_split):
        return listed
    if rows and (listed := _of_table(rows, names, is_split)):
        return listed
    ids = parse_ids(file.data, file.where, names, plain=False, repeats=True)
    if not _count(ids, names):
        rows = [words for line in text.splitlines() if (words := line.split())]
        has_columns = len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows)
        if has_columns and (listed := _of_table(rows, names, is_split)):
            return listed
    if ids[0] not in names and len(ids) > 1 and ids[0].lower() in (*_NAMED, "images", "ids"):
        ids = ids[1:]
    return [Listed("", ids, _count(ids, names))]


_OF_OTHERS = Listed("", (), 0, said=True)


def _found(places: Iterable[Listed]) -> list[Listed]:
    return [listed for listed in places if listed.found]


def _load(data: bytes, ending: str) -> Any:
    """Returns what a text of JSON or YAML holds; nothing if it is none."""
    try:
        if ending == ".jsonl":
            return [json.loads(line) for line in data.splitlines() if line.strip()]
        if ending == ".json":
            return json.loads(data.decode("utf-8-sig"))
        if ending == ".toml":
            return tomllib.loads(data.decode())
        if len(data) > _LARGEST_YAML:
            return None
        # Text alone: 007 stays as it is, and nothing is ever made of a tag.
        return yaml.load(data, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (ValueError, RecursionError, yaml.YAMLError):
        return None


def _sections(text: str, names: Mapping[str, str], is_split: Callable[[str], bool]) -> list[Listed]:
    """Returns the lists of a text in which `[train]` or `val:` stands above each."""
    groups, key = dict[str, list[str]](), ""
    if len({*_HEAD.findall(text)}) < 2:
        return []
    for line in filter(None, map(str.strip, text.splitlines())):
        head = line.strip("[]:#=- ")
        if _HEAD.fullmatch(line) and is_split(head) and line not in names:
            key = head
        else:
            groups.setdefault(key, []).append(names.get(line, line))
    found = [Listed(key, ids, _count(ids, names), True) for key, ids in groups.items()]
    return found if len(found) > 1 and "" not in groups and all(of.found for of in found) else []


_HEAD = re.compile(r"(?mi)^[^\w\n]*(?:tr|va|te|de|ts)[^\W\d]*[^\w\n]*$")


# Tables.


def _rows(text: str, ending: str) -> list[list[str]]:
    """Returns the rows of a text with columns; none if lines have no columns, or only blanks."""
    head = [line for line in itertools.islice(io.StringIO(text), 20) if line.strip()][:5]
    for delimiter in ("\t", ",", ";", "|"):
        counts = {line.count(delimiter) for line in head}
        quoted = ending in (".csv", ".tsv") and any('"' in line for line in head)
        if head and 0 not in counts and (len(counts) == 1 or quoted):
            try:
                rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
                return [row for row in ([cell.strip() for cell in row] for row in rows) if any(row)]
            except csv.Error:
                return []
    return []


def _of_table(
    rows: list[list[str]], names: Mapping[str, str], is_split: Callable[[str], bool]
) -> list[Listed]:
    """Returns the lists of a table; none if no column names more images than whole lines do."""
    width = max(map(len, rows[:_SAMPLED]))
    sample = [row + [""] * width for row in rows[1 :: max(1, len(rows) // _SAMPLED)] or rows]
    found = [len({names.get(row[n], "") for row in sample} - {""}) for n in range(width)]
    if sum(map(bool, found)) > 2 and len(rows) < width:  # no columns: all names in a line
        ids = [names.get(cell, cell) for row in rows for cell in row if cell]
        return [Listed("", ids, _count(ids, names))]
    head = [cell.lower() for cell in rows[0]] + [""] * width
    if not any(found):
        splits_of = _splits_of_rows(head, rows[1:], width, is_split)
        splits = {split for row in sample for split in splits_of(row)}
        return [_OF_OTHERS] if len(splits) > 1 else []
    order = {name: place for place, name in enumerate(_NAMED)}
    column = max(range(width), key=lambda n: (found[n], -order.get(head[n], len(order)), -n))
    has_head = head[column] in order or rows[0][column] not in names
    body = [row + [""] * width for row in rows[has_head:] if any(row[column : column + 1])]
    splits_of = _splits_of_rows(head if has_head else [""] * width, body, column, is_split)
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for row in body:
        for key in splits_of(row):
            groups[key].append(names.get(row[column], row[column]))
    said = [*groups] != [""]
    groups.pop("" if said else "-", None)
    return [Listed(key, ids, _count(ids, names), said) for key, ids in groups.items()]


def _count(ids: Iterable[str], names: Mapping[str, str]) -> int:
    return sum(1 for image_id in ids if image_id in names)


def _splits_of_rows(
    head: Sequence[str], body: Sequence[Sequence[str]], column: int, is_split: Callable[[str], bool]
) -> Callable[[Sequence[str]], Iterable[str]]:
    """Returns what gives the splits of a row: one, or `0/train` and the like of each fold."""
    others = [n for n in range(len(head)) if n != column]
    values = {n: {row[n] for row in body if n < len(row)} - {""} for n in others}
    few = [n for n in others if 0 < len(values[n]) < _MOST]
    for n in few:
        if head[n] in _SAYS or all(map(is_split, values[n])):
            return lambda row: [row[n]]
    said = {n: {value.lower() for value in values[n]} for n in few}
    flags = {n: _FLAGS[head[n]] for n in few if head[n] in _FLAGS and said[n] <= _YES | _NO}
    if flags:
        rest = "validation" if "train" in flags.values() else "train"
        return lambda row: [next((s for n, s in flags.items() if row[n].lower() in _YES), rest)]
    for n in few:
        if head[n] in _FOLDS and len(values[n]) > 1:
            folds = sorted(values[n])
            return lambda row: [f"{f}/{'val' if row[n] == f else 'train'}" for f in folds]
    return lambda _: [""]


_MOST = 32  # splits or folds that a column may have


# JSON and YAML.


class _Tree:
    """Finds the lists in what a text of JSON or YAML holds."""

    def __init__(self, names: Mapping[str, str], is_split: Callable[[str], bool], folder: Folder):
        self._names, self._is_split, self._folder = names, is_split, folder

    def places(self, value: Any, *keys: str) -> Iterator[Listed]:
        """Yields the lists at and below a place; `keys` lead to it."""
        if len(keys) > _DEEPEST:
            return
        if isinstance(value, str):
            ids = self._folder(value) if keys and self._is_split(keys[-1]) else ()
            yield Listed("/".join(keys), ids, len(ids))
        elif isinstance(value, list):
            yield from self._of_list(value, keys)
        elif isinstance(value, dict):
            by_split = self._of_mapping(value)
            if by_split:
                yield from self._grouped(by_split, keys)
                return
            found = False
            for key, inner in value.items():
                for listed in self.places(inner, *keys, str(key).replace("/", "|")):
                    found = found or bool(listed.found)
                    yield listed
            if not found:  # otherwise "0" may be a fold, and not the image of that name
                ids = [self._names[str(key)] for key in value if str(key) in self._names]
                yield Listed("/".join(keys), ids, len(ids))

    def _of_list(self, items: list[Any], keys: Sequence[str]) -> Iterator[Listed]:
        rows = [item for item in items if isinstance(item, dict)]
        if rows and not any(self._name(row) for row in rows[:_SAMPLED]):
            for n, row in enumerate(rows if len(rows) < _MOST else ()):
                yield from self.places(row, *keys, str(n))
            return
        says = next((n for n in _SAYS if any(isinstance(r.get(n), str) for r in rows)), "")
        if says:
            pairs = ((self._name(row), str(row.get(says) or "")) for row in rows)
            yield from self._grouped([pair for pair in pairs if pair[1]], keys)
            return
        texts = [self._name(item) for item in items]
        ids = [i for text in texts if text for i in self._ids(text, keys)]
        found = _count(ids, self._names)
        yield Listed("/".join(keys), ids, found, bool(keys) and self._is_split(keys[-1]))

    def _ids(self, text: str, keys: Sequence[str]) -> Sequence[str]:
        image_id = self._names.get(text)
        of_folder = self._folder(text) if image_id is None and keys else ()
        return of_folder or [text if image_id is None else image_id]

    def _of_mapping(self, value: Mapping[Any, Any]) -> list[tuple[str, str]]:
        """Returns name and split of `{"a.jpg": "train"}` or `{"a": {"split": "train"}}`."""
        pairs = []
        for key, said in value.items():
            if isinstance(said, dict):
                said = next((said[n] for n in _SAYS if n in said), None)
            if not isinstance(said, str):
                return []
            pairs.append((str(key), said))
        words = {said for _, said in pairs}
        if not words or len(words) > _MOST or not all(map(self._is_split, words)):
            return []
        sample = pairs[:: max(1, len(pairs) // _SAMPLED)]
        return pairs if any(name in self._names for name, _ in sample) else []

    def _grouped(self, pairs: Iterable[tuple[str, str]], keys: Sequence[str]) -> Iterator[Listed]:
        groups: dict[str, list[str]] = collections.defaultdict(list)
        for name, said in pairs:
            if name:
                groups[said].append(self._names.get(name, name))
        for said, ids in groups.items():
            yield Listed("/".join((*keys, said)), ids, _count(ids, self._names), True)

    def _name(self, item: Any) -> str:
        """Returns the name of an image that an entry has; empty if it has none."""
        if isinstance(item, list):  # of several files of one image
            return self._name(item[0]) if item else ""
        if isinstance(item, str | int):
            return str(item)
        if not isinstance(item, dict):
            return ""
        texts = [str(v) for n in _NAMED if isinstance(v := self._first(item.get(n)), str | int)]
        return next((text for text in texts if text in self._names), texts[0] if texts else "")

    @staticmethod
    def _first(value: Any) -> Any:
        return value[0] if isinstance(value, list) and value else value


def names_any(part: bytes, names: Mapping[str, str]) -> bool:
    """Says whether a part of a text has the name of an image between what separates words."""
    words = re.split(r"[,;\t|{}\[\]\"'\n\r]", part.decode("utf-8", "replace"))
    return any(word.strip() in names for word in words[1:-1] if word.strip())
