"""Texts that name images: lists, tables, JSON and YAML, and their splits.

Nothing in them says which words are names of images, so each word is looked up. A part of a text
is a list if some of its words are images: a column of a table, a key of JSON.

| JSON or YAML | read by |
| --- | --- |
| `images/train` below the key `train`, as YOLO writes them | `lists_at` |
| `["a", "b"]` below keys, also in folds | `lists_at` |
| `{"a.jpg": "train"}`, `{"a.jpg": {"split": "train"}}` | `_splits_of_keys_to_values` |
| `[{"image": "a.jpg", "split": "train"}]`, `[["a.jpg", "train"]]` | `_lists_of_image_rows` |
| an object or a list with one of these inside | `_lists_inside`, which calls `lists_at` |

Example: `{"train": ["a"]}` maps no key to a split, so `_lists_inside` looks below its keys, and
`lists_at` is called with `["a"]` and the keys `("train",)`.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import itertools
import posixpath
import re
from typing import Any

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, decode, parse_ids
from voc_seg_tfrecord.core.words import only_split_in
from voc_seg_tfrecord.folder.splits.list_tables import (
    IMAGE_COLUMNS,
    ListedImages,
    Vocabulary,
    read_table,
)
from voc_seg_tfrecord.folder.splits.table_divisions import (
    MAX_SAMPLED_ROWS,
    MAX_SPLITS,
    is_title_of_splits,
)
from voc_seg_tfrecord.formats.texts import (
    DOCUMENT_ENDINGS,
    DocumentError,
    Row,
    load_document,
    rows_between_separators,
    words_of,
)

ImagesBelow = Callable[[str], Sequence[str]]
"""Returns the ids of the images below a folder that a text names; none if there is no such one."""

_MAX_KEYS_ABOVE_A_LIST = 5
_KEY_COLUMN = ""
"""The title of the column that has the keys of an object."""
_VALUE_COLUMN = "value"
"""That of the column that has its values, if these are texts."""

_MAX_KEYS_OF_ROWS = 64
_KEYS_OF_COORDINATES = ("all_points_x", "all_points_y", "points", "segmentation", "bbox", "xy")
"""Keys of labeling tools whose numbers are no ids of images."""

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
        return _read_document(value, vocabulary, images_below)
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
        is_bare_name = "." not in cell and "/" not in cell and cell not in _FLAGS
        if not is_bare_name or cell not in names:
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
    if len(ids) > 1 and not begins_with_name and _is_head_of_list(ids[0]):
        ids = ids[1:]
    return [ListedImages("", ids, image_count)]


def _is_head_of_list(line: str) -> bool:
    """Says whether a line is the head of a list, such as `ImageId` or `image label`."""
    if re.search(r"[\d./]", line):
        return False
    words = {word.lower().rstrip("s") for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", line)}
    words_of_titles = {*"_".join(IMAGE_COLUMNS).split("_")}
    return bool(words) and words <= words_of_titles


def _read_document(
    value: Any, vocabulary: Vocabulary, images_below: ImagesBelow
) -> list[ListedImages]:
    """Returns the parts that name images, in their order.

    If none does, and several say splits, these are returned: they are splits of other images. So is
    a list of numbers, which may be names without their zeros.
    """
    lists = _DocumentReader(vocabulary, images_below).lists_at(value, ())
    of_images = [listed for listed in lists if listed.image_count]
    if of_images:
        return of_images
    of_other_images = [listed for listed in lists if listed.says_split and listed.ids]
    if len(of_other_images) > 1:
        return of_other_images
    of_numbers = []
    for listed in lists:
        if listed.ids and all(name.removesuffix(".0").isdecimal() for name in listed.ids):
            of_numbers.append(listed)
    return of_numbers


@dataclasses.dataclass(frozen=True)
class _DocumentReader:
    """Reads what JSON or YAML holds; see the module.

    Attributes:
      vocabulary: what words mean.
      images_below: returns the images below a folder.
    """

    vocabulary: Vocabulary
    images_below: ImagesBelow

    def lists_at(self, value: Any, keys: tuple[str, ...]) -> list[ListedImages]:
        """Returns the lists that a value holds; `keys` lead to it.

        Lists of other images count if the whole document names no image of the set.
        """
        key = "/".join(keys)
        says_split = bool(keys) and bool(only_split_in(keys[-1]))
        if isinstance(value, str) and says_split:
            return [self.vocabulary.listed(key, self.images_below(value))]
        if not isinstance(value, dict | list):
            return []
        if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
            names = self._names_in(value, may_be_folders=bool(keys))
            return [self.vocabulary.listed(key, names, says_split=says_split)]
        if len(keys) > _MAX_KEYS_ABOVE_A_LIST:
            return []
        if isinstance(value, dict):
            of_rows = self._splits_of_keys_to_values(value)
        else:
            of_rows = self._lists_of_image_rows(value)
        lists = []
        for listed in of_rows:
            path = "/".join((*keys, listed.key)) if listed.key else key
            is_split = listed.says_split or says_split
            lists.append(dataclasses.replace(listed, key=path, says_split=is_split))
        if any(listed.image_count for listed in lists):
            return lists
        return [*lists, *self._lists_inside(value, keys)]

    def _lists_inside(
        self, value: dict[str, Any] | list[Any], keys: tuple[str, ...]
    ) -> list[ListedImages]:
        """Returns the lists that each entry holds; an item of a list may be a fold.

        If there are lists below the keys of an object, a key such as "0" is a fold, and not the
        image of that name. Otherwise the keys may be a list.
        """
        lists: list[ListedImages] = []
        if isinstance(value, list):
            if len(value) < MAX_SPLITS:
                for number, item in enumerate(value):
                    lists += self.lists_at(item, (*keys, str(number)))
            return lists
        for key, item in value.items():
            if key not in _KEYS_OF_COORDINATES:
                lists += self.lists_at(item, (*keys, key.replace("/", "|")))
        if any(listed.image_count for listed in lists):
            return lists
        names = [key for key in value if key in self.vocabulary.image_names]
        return [*lists, self.vocabulary.listed("/".join(keys), names)]

    def _lists_of_image_rows(self, items: Sequence[Any]) -> list[ListedImages]:
        """Returns the lists of entries, each of which is an image.

        A text among objects is the name of an image.
        """
        head = self._keys_of_objects(items)
        if head:
            image_key = next((key for key in IMAGE_COLUMNS if key in head), "")
            objects = [item if isinstance(item, dict) else {image_key: item} for item in items]
            lists = self._lists_of_objects(objects, head)
        else:
            rows = []
            for item in items:
                values = item if isinstance(item, list) else [item]
                rows.append([self._text_of(value) for value in values])
            lists = read_table(rows, (), self.vocabulary)
        has_usual_title = any(key.lower() in IMAGE_COLUMNS for key in head)
        if has_usual_title or any(listed.image_count for listed in lists):
            return lists
        return []

    def _keys_of_objects(self, items: Sequence[Any]) -> list[str]:
        """Returns the keys of the objects among the first items, each once, in their order."""
        keys: dict[str, None] = {}
        for item in items[:MAX_SAMPLED_ROWS]:
            if isinstance(item, dict):
                keys |= dict.fromkeys(item)
        return [*keys][:_MAX_KEYS_OF_ROWS]

    def _lists_of_objects(
        self, objects: Sequence[Mapping[str, Any]], head: Sequence[str]
    ) -> list[ListedImages]:
        """Returns the lists of objects as the rows of a table, whose columns are some keys."""
        rows = [[self._text_of(entry.get(key), key) for key in head] for entry in objects]
        return read_table(rows, [key.lower() for key in head], self.vocabulary)

    def _splits_of_keys_to_values(self, value: Mapping[str, Any]) -> list[ListedImages]:
        """Returns the splits of `{"a.jpg": "train"}`, or of `{"a.jpg": {"split": "train"}}`.

        There are none if a value is a list, or only some are objects.
        """
        are_objects = {isinstance(item, dict) for item in value.values()}
        if len(are_objects) > 1 or any(isinstance(item, list) for item in value.values()):
            return []
        objects = []
        for key, item in value.items():
            inner = item if isinstance(item, dict) else {_VALUE_COLUMN: item}
            objects.append({_KEY_COLUMN: key, **inner})
        lists = self._lists_of_objects(objects, self._keys_of_objects(objects))
        return [listed for listed in lists if listed.says_split and listed.image_count]

    def _text_of(self, value: Any, key: str = "") -> str:
        """Returns the text of a value; of several files of one image that of the first.

        It is empty for what is neither text nor number, and for files of several images or of a
        split.
        """
        if isinstance(value, list) and value and not only_split_in(key):
            names = self.vocabulary.image_names
            ids = {names[str(item)] for item in value[:MAX_SPLITS] if str(item) in names}
            value = value[0] if len(ids) <= 1 else ""
        return str(value) if isinstance(value, str | int | float) else ""

    def _names_in(self, values: Sequence[Any], *, may_be_folders: bool) -> list[str]:
        """Returns the names of images in a list; of a folder those of its images."""
        names: list[str] = []
        for value in values:
            text = self._text_of(value)
            if may_be_folders and text and text not in self.vocabulary.image_names:
                names += self.images_below(text) or [text]
            elif text:
                names.append(text)
        return names
