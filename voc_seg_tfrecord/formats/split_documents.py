"""JSON and YAML that name images, and their splits.

Read are lists below keys (`{"train": ["a", "b"]}`), also in folds; rows (`[{"image": "a.jpg",
"split": "train"}]`); the split of each image (`{"a.jpg": "train"}`); and folders of splits, as YOLO
writes them (`train: images/train`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import itertools
import json
from typing import Any

import yaml

from voc_seg_tfrecord.core.python_errors import plain_reason
from voc_seg_tfrecord.core.split_names import only_split_in
from voc_seg_tfrecord.formats.listed_images import IMAGE_COLUMNS, ListedImages, Vocabulary
from voc_seg_tfrecord.formats.split_tables import read_table
from voc_seg_tfrecord.formats.table_divisions import MAX_SAMPLED_ROWS, MAX_SPLITS, Row
from voc_seg_tfrecord.formats.yaml_checks import LOADER, EndlessYamlError, check_yaml

ImagesBelow = Callable[[str], Sequence[str]]
"""Returns the ids of the images below a folder that a text names; none if there is no such one."""

_MAX_KEYS_ABOVE_A_LIST = 5
_KEY_COLUMN = ""
"""The title of the column that has the keys of an object of objects."""

_MAX_KEYS_OF_ROWS = 64


class DocumentError(ValueError):
    """A text is no JSON or YAML, or not in a form that is read; its words say why."""


def load_json(text: str) -> Any:
    """Returns what a JSON holds.

    Raises:
      DocumentError: if it is none, or an object has a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except DocumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"no JSON: {plain_reason(error)}") from None


def load_json_lines(text: str) -> Any:
    """Returns what the lines of a JSON Lines file hold.

    Raises:
      DocumentError: if a line is no JSON.
    """
    return [load_json(line) for line in text.splitlines() if line.strip()]


_KEYS_OF_COORDINATES = ("all_points_x", "all_points_y", "points", "segmentation", "bbox", "xy")
"""Keys of labeling tools whose numbers are no ids of images."""


def load_yaml(text: str) -> Any:
    """Returns what a YAML holds: lists, dicts and texts, as `007` stays as it is.

    Raises:
      DocumentError: if it is none, is long or deep, has a key twice, or refers to parts of itself.
    """
    try:
        check_yaml(text)
        node = yaml.compose(text, LOADER)
        return _plain_value(node) if node is not None else None
    except EndlessYamlError as error:
        raise DocumentError(str(error)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise DocumentError(f"no YAML: {plain_reason(error)}") from None


def _plain_value(node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return [_plain_value(item) for item in node.value]
    if isinstance(node, yaml.MappingNode):
        return _without_repeats(
            [(str(_plain_value(key)), _plain_value(value)) for key, value in node.value]
        )
    return node.value


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise DocumentError(f"the key {key!r} twice in one place")
        values[key] = value
    return values


def read_document(
    value: Any, vocabulary: Vocabulary, images_below: ImagesBelow
) -> list[ListedImages]:
    """Returns the parts that name images, in their order.

    If none does, and several say splits, these are returned: they are splits of other images. So is
    a list of numbers, which may be names without their zeros.
    """
    reader = _DocumentReader(vocabulary, images_below)
    lists = reader.lists_at(value, ())
    of_images = [listed for listed in lists if listed.image_count]
    if of_images:
        return of_images
    of_other_images = [listed for listed in lists if listed.says_split and listed.ids]
    if len(of_other_images) > 1:
        return of_other_images
    return [listed for listed in lists if listed.ids and all(map(_is_number, listed.ids))]


@dataclasses.dataclass(frozen=True)
class _RowsWithHead:
    """Entries as a table.

    Attributes:
      rows: the rows.
      head: the names of the columns in lower case; none if nothing names them.
    """

    rows: Sequence[Row]
    head: Row


@dataclasses.dataclass(frozen=True)
class _DocumentReader:
    """Reads what JSON or YAML holds.

    | form | read by |
    | --- | --- |
    | `images/train` below the key `train` | `lists_at` |
    | `["a", "b"]` | `lists_at` |
    | `{"a.jpg": "train"}`, `{"a.jpg": {"split": "train"}}` | `_splits_of_keys_to_values` |
    | `[{"image": "a.jpg", "split": "train"}]`, `[["a.jpg", "train"]]` | `_lists_of_image_rows` |
    | an object or a list with one of these inside | `_lists_inside`, which calls `lists_at` |

    Example: `{"train": ["a"]}` maps no key to a split, so `_lists_inside` looks below its keys, and
    `lists_at` is called with `["a"]` and the keys `("train",)`.

    Attributes:
      vocabulary: what words mean.
      images_below: returns the images below a folder.
    """

    vocabulary: Vocabulary
    images_below: ImagesBelow

    def lists_at(self, value: Any, keys: tuple[str, ...]) -> list[ListedImages]:
        """Returns the lists that a value holds; `keys` lead to it."""
        says_split = bool(keys) and bool(only_split_in(keys[-1]))
        if isinstance(value, str) and says_split:
            return [self.vocabulary.listed("/".join(keys), self.images_below(value))]
        if _is_list_of_texts(value):
            ids = self._ids_of_texts(value, may_be_folders=bool(keys))
            return [self.vocabulary.listed("/".join(keys), ids, says_split=says_split)]
        if isinstance(value, dict | list) and len(keys) <= _MAX_KEYS_ABOVE_A_LIST:
            return self._lists_of_entries(value, keys, says_split=says_split)
        return []

    def _lists_of_entries(
        self, value: dict[str, Any] | list[Any], keys: tuple[str, ...], *, says_split: bool
    ) -> list[ListedImages]:
        """Returns the lists that entries make as the rows of a table.

        If no row names an image, it returns the lists inside the entries, too.
        """
        if isinstance(value, dict):
            lists = self._splits_of_keys_to_values(value)
        else:
            lists = self._lists_of_image_rows(value)
        lists = [_below_keys(listed, keys, says_split=says_split) for listed in lists]
        if any(listed.image_count for listed in lists):
            return lists
        # Lists of other images count if the whole document names no image of the set.
        return [*lists, *self._lists_inside(value, keys)]

    def _lists_inside(
        self, value: dict[str, Any] | list[Any], keys: tuple[str, ...]
    ) -> list[ListedImages]:
        """Returns the lists that each entry holds; an item of a list may be a fold."""
        if isinstance(value, dict):
            return self._lists_below_keys(value, keys)
        lists: list[ListedImages] = []
        if len(value) < MAX_SPLITS:
            for number, item in enumerate(value):
                lists += self.lists_at(item, (*keys, str(number)))
        return lists

    def _lists_below_keys(self, value: dict[str, Any], keys: tuple[str, ...]) -> list[ListedImages]:
        """Returns the lists below the keys of an object, or the list that the keys are.

        If there are lists below, a key such as "0" is a fold, and not the image of that name.
        """
        lists: list[ListedImages] = []
        for key, item in value.items():
            if key in _KEYS_OF_COORDINATES:
                continue
            lists += self.lists_at(item, (*keys, key.replace("/", "|")))
        if any(listed.image_count for listed in lists):
            return lists
        names = self.vocabulary.image_names
        ids = [names[key] for key in value if key in names]
        return [*lists, self.vocabulary.listed("/".join(keys), ids)]

    def _lists_of_image_rows(self, items: Sequence[Any]) -> list[ListedImages]:
        """Returns the lists of entries, each of which is an image."""
        table = self._as_table(items)
        lists = read_table(table.rows, table.head, self.vocabulary)
        has_usual_title = not {*IMAGE_COLUMNS}.isdisjoint(table.head)
        if has_usual_title or any(listed.image_count for listed in lists):
            return lists
        return []

    def _splits_of_keys_to_values(self, value: Mapping[str, Any]) -> list[ListedImages]:
        """Returns the splits of `{"a.jpg": "train"}`, or of `{"a.jpg": {"split": "train"}}`.

        There are none if a value is a list, or only some are objects.
        """
        if any(isinstance(item, list) for item in value.values()):
            return []
        object_count = sum(1 for item in value.values() if isinstance(item, dict))
        is_mixed = 0 < object_count < len(value)
        if is_mixed:
            return []
        if object_count:
            table = self._as_table([{_KEY_COLUMN: key, **item} for key, item in value.items()])
        else:
            rows = [(key, self._text_of(item)) for key, item in value.items()]
            table = _RowsWithHead(rows, head=(_KEY_COLUMN, ""))
        lists = read_table(table.rows, table.head, self.vocabulary)
        return [listed for listed in lists if listed.says_split and listed.image_count]

    def _as_table(self, items: Sequence[Any]) -> _RowsWithHead:
        """Returns entries as a table, with their keys as the head; lists have none.

        A text among objects is the name of an image.
        """
        keys = _keys_of_objects(items[:MAX_SAMPLED_ROWS])[:_MAX_KEYS_OF_ROWS]
        if not keys:
            return _RowsWithHead([self._row_of_list(item) for item in items], head=())
        image_key = next((key for key in IMAGE_COLUMNS if key in keys), "")
        rows = []
        for item in items:
            entry = item if isinstance(item, dict) else {image_key: item}
            rows.append([self._text_of(entry.get(key), key) for key in keys])
        return _RowsWithHead(rows, head=[key.lower() for key in keys])

    def _row_of_list(self, item: Any) -> list[str]:
        values = item if isinstance(item, list) else [item]
        return [self._text_of(value) for value in values]

    def _text_of(self, value: Any, key: str = "") -> str:
        """Returns the text of a value; of several files of one image that of the first.

        It is empty for what is neither text nor number.
        """
        if isinstance(value, list):
            value = self._first_of_one_image(value, key)
        return str(value) if isinstance(value, str | int | float) else ""

    def _first_of_one_image(self, values: list[Any], key: str) -> Any:
        """Returns the first of several files of one image; nothing if they are of several."""
        if not values or only_split_in(key):  # the images of a split are not those of one row
            return ""
        names = self.vocabulary.image_names
        ids = {names[str(item)] for item in values[:MAX_SPLITS] if str(item) in names}
        return values[0] if len(ids) <= 1 else ""

    def _ids_of_texts(self, values: Sequence[Any], *, may_be_folders: bool) -> list[str]:
        """Returns the ids that texts name; of a folder those of its images."""
        ids: list[str] = []
        for value in values:
            text = self._text_of(value)
            if not text:
                continue
            ids_below: Sequence[str] = ()
            if may_be_folders and text not in self.vocabulary.image_names:
                ids_below = self.images_below(text)
            ids += ids_below or [self.vocabulary.id_of(text)]
        return ids


def _keys_of_objects(items: Iterable[Any]) -> list[str]:
    """Returns the keys of all objects among some items, each once, in their order."""
    objects = [item for item in items if isinstance(item, dict)]
    return [*dict.fromkeys(itertools.chain.from_iterable(objects))]


def _below_keys(listed: ListedImages, keys: tuple[str, ...], *, says_split: bool) -> ListedImages:
    """Returns what a table below keys lists, with these in front of its own key.

    Args:
      listed: the images of one split of the table.
      keys: the keys that lead to the table.
      says_split: whether the last of them is a split.
    """
    path = (*keys, listed.key) if listed.key else keys
    return dataclasses.replace(
        listed, key="/".join(path), says_split=listed.says_split or says_split
    )


def _is_number(name: str) -> bool:
    """Says whether a name is a whole number, also as 7.0."""
    return name.removesuffix(".0").isdecimal()


def _is_list_of_texts(value: Any) -> bool:
    """Says whether a value is a list of texts or numbers alone."""
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)
