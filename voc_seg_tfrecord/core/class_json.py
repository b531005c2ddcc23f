"""Reads the classes in JSON that people write.

| classes | example |
|---|---|
| a list of names | `["background", "crack"]` |
| a list of objects | `[{"id": 1, "name": "crack", "color": "#800000"}]` |
| values by names | `{"background": 0, "crack": 1}` |
| names by values | `{"0": "background", "1": "crack"}` |
| colors by names | `{"crack": [128, 0, 0]}` |
| names by colors | `{"#800000": "crack"}` |
| objects by names or values | `{"crack": {"id": 1}}`, `{"1": {"name": "crack"}}` |

Each of them may stand behind a key such as `classes`; lists may have other keys beside it.
"""

from collections.abc import Mapping
from typing import Any

from voc_seg_tfrecord.core.class_cells import column_name, is_whole_number, read_cells
from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_parsers import load_json, number_by_place, read_color, read_value
from voc_seg_tfrecord.core.class_rows import is_text_of_color

_KEYS_OF_CLASSES = ("classes", "labels", "names", "categories", "class_names", "label_map")


def parse_json(text: str) -> list[ClassEntry]:
    """Reads a list of names or of objects, or an object from name to value or color, or back.

    Raises:
      ValueError: if the text has another form; see `UNREADABLE` for other errors.
    """
    classes = _find_classes(load_json(text))
    if isinstance(classes, list):
        return number_by_place([_read_item(item) for item in classes])
    if isinstance(classes, dict):
        return number_by_place([read_member(key, item) for key, item in classes.items()])
    raise ValueError("neither a list nor an object")


def _find_classes(content: Any) -> Any:
    """Returns the list or the object of classes, perhaps behind keys such as `classes`."""
    while isinstance(content, dict) and len(content) == 1:
        ((key, inner),) = content.items()
        if key not in _KEYS_OF_CLASSES or not isinstance(inner, list | dict):
            break
        content = inner
    lists = _list_behind_keys(content) if isinstance(content, dict) else []
    return lists[0] if len(lists) == 1 else content


def _list_behind_keys(content: Mapping[str, Any]) -> list[Any]:
    """Returns the lists of objects behind keys such as `classes`, whatever other keys say."""
    lists: list[Any] = []
    for key in _KEYS_OF_CLASSES:
        inner = content.get(key)
        if isinstance(inner, list) and inner and all(isinstance(item, dict) for item in inner):
            lists.append(inner)
    return lists


def _read_item(item: object) -> ClassEntry:
    """Reads a name or an object of a list."""
    if isinstance(item, dict):
        return _read_object(item)
    if isinstance(item, str):
        return ClassEntry(0, item.strip(), by_place=True)
    raise ValueError(f"the entry {item!r:.80} has no name")


def read_member(key: str, item: object) -> ClassEntry:
    """Reads `name: value`, `value: name`, `name: color`, or an object behind a name or a value.

    Raises:
      ValueError: if it is none of these.
    """
    is_number = _is_text_of_number(key)
    if isinstance(item, dict):
        column_of_key = "id" if is_number else "name"
        return _read_object_behind(key, column_of_key, item)
    if is_number and isinstance(item, str):
        return ClassEntry(read_value(key), item.strip())
    if is_text_of_color(key) and isinstance(item, str):
        return ClassEntry(0, item.strip(), read_color(key), by_place=True)
    if is_number:
        raise ValueError(f"the entry {key} {item!r:.80} has no name")
    if isinstance(item, bool):
        raise ValueError(f"the entry {key!r:.80} is {item}, which is neither a value nor a color")
    if isinstance(item, int) or _is_text_of_number(item):
        return ClassEntry(read_value(item), key.strip())
    return ClassEntry(0, key.strip(), read_color(item), by_place=True)


def _read_object(item: Mapping[str, Any]) -> ClassEntry:
    columns = [column_name(key) for key in item]
    return read_cells(columns, list(item.values()))


def _read_object_behind(key: str, column: str, item: Mapping[str, Any]) -> ClassEntry:
    """Reads an object behind a key that is its name or its value, and may stand in it, too."""
    columns = [column, *(column_name(inner) for inner in item)]
    return read_cells(columns, [key, *item.values()])


def _is_text_of_number(item: object) -> bool:
    """Says whether a text is a whole number, as keys are in JSON and values may be."""
    return isinstance(item, str) and is_whole_number(item)
