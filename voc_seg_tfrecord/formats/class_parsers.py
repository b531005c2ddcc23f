"""How each labelling tool writes its class file: from the text to values, names and colours."""

import collections
from collections.abc import Callable, Collection, Iterable
import csv
import dataclasses
import io
import json
import re
from typing import Any

from voc_seg_tfrecord.base.names import VOID, Color, voc_palette


@dataclasses.dataclass(frozen=True)
class Entry:
    """One class of a class file.

    Attributes:
      value: the mask value, 0 to 255; -1 is void.
      name: the name.
      color: the colour, if the file has one.
      by_place: whether the value is the entry's place, because the file holds no values.
    """

    value: int
    name: str
    color: Color | None = None
    by_place: bool = dataclasses.field(default=False, compare=False)


def _placed(entries: list[Entry]) -> list[Entry]:
    """Gives entries without values those of their places."""
    if all(not entry.by_place for entry in entries):
        return entries
    if any(not entry.by_place for entry in entries):
        raise ValueError("some classes have a value, and others have none")
    return [dataclasses.replace(entry, value=place) for place, entry in enumerate(entries)]


def _labelmap(text: str) -> list[Entry]:
    """CVAT, datumaro: `name:r,g,b:parts:actions`; an empty colour is VOC's of that line."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    entries = []
    for value, line in enumerate(lines):
        name, color, *_ = [*line.split(":"), ""]
        rgb = _rgb(color.split(",")) if color.strip() else _rgb(voc_palette()[min(value, VOID)])
        entries.append(Entry(value, name.strip(), rgb))
    return entries


def _dataset_meta(text: str) -> list[Entry]:
    """Datumaro: `{"label_map": {"0": "background"}, "segmentation_colors": [[0, 0, 0]]}`."""
    meta = json.loads(text, object_pairs_hook=_unique)
    colors = meta.get("segmentation_colors") or []
    labels = sorted((int(value), name) for value, name in meta["label_map"].items())
    return [
        Entry(value, _name(name), _rgb(colors[line]) if line < len(colors) else None)
        for line, (value, name) in enumerate(labels)
    ]


def _name(value: object) -> str:
    if not isinstance(value, str | int):
        raise ValueError(f"the name of a class is {value!r:.80}")
    return str(value).strip()


def _class_names(text: str) -> list[Entry]:
    """Labelme: one name per line."""
    return _placed([Entry(0, name, by_place=True) for name in lines_of_names(text)])


def lines_of_names(text: str) -> list[str]:
    """Returns the lines of a text of names that are numbered by their lines.

    Raises:
      ValueError: if a line between them is empty, which some programs count.
    """
    lines = [line.strip() for line in text.strip().splitlines()]
    if "" in lines:
        raise ValueError(f"an empty line behind {lines[lines.index('') - 1]!r:.80}")
    return [line for line in lines if line]


def _colors(text: str) -> list[Entry]:
    """Supervisely: `name R G B`."""
    entries = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, *rgb = line.rsplit(maxsplit=3)
        entries.append(Entry(0, name, _rgb(rgb), by_place=True))
    return _placed(entries)


def _classes_csv(text: str) -> list[Entry]:
    """Roboflow: a head line, then `value, name`."""
    if not re.match(r"\s*pixel value\s*,", text, re.I):
        raise ValueError("no head line 'Pixel Value, Class'")
    return _table(text)


TABLE = "classes.csv"
"""The file that may hold a table of classes; see `masks.table`."""

TABLE_KEYS = ("value", "color", "name")
"""The columns of a table of classes that hold keys; further columns are for people."""


def is_table(text: str) -> bool:
    """Says whether a CSV file has the columns of a table of classes."""
    columns = table_columns(next(csv.reader(io.StringIO(text)), []))
    return "class" in columns and not {*TABLE_KEYS}.isdisjoint(columns)


def table_columns(head: Collection[str]) -> list[str]:
    """Returns the columns that a head line names."""
    words = [cell.strip().casefold() for cell in head]
    return ["color" if word == "colour" else word for word in words]


def _table(text: str) -> list[Entry]:
    """Names by hand, with or without numbers and colours: the columns say what they are.

    Lines are `name`, `value name`, `name value`, `name r g b`, `r g b name` or `value name r g b`,
    between blanks, commas, semicolons or tabs. A head line names columns in any order.
    """
    lines = [line.strip().rstrip(",;") for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if not lines:
        return []
    for delimiter in ",;\t":
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
        columns = [_column(cell) for cell in rows[0]]
        if len(columns) > 1 and not {*columns}.isdisjoint(_NAME_COLUMNS):
            if _says_more(columns):
                return _placed([_of_columns(columns, row) for row in rows[1:]])
            if len(rows) > 1 and all(len(row) == len(columns) for row in rows):
                raise ValueError(f"the head line {lines[0][:80]!r} names no value and no colour")
    if len(lines) > 1 and lines[0].casefold() in ("name", "class", "classes", "class_name"):
        lines = lines[1:]
    if len(lines) == 1 and "," in lines[0] and not re.search(r"\d", lines[0]):
        lines = lines[0].split(",")
    if found := _by_color(lines) or _by_number(lines):
        return _placed(found)
    lines_of_names(text[text.index(lines[0]) :])  # checks that none is empty
    return _placed([Entry(0, line.strip(" \t\"'"), by_place=True) for line in lines])


_NAME_COLUMNS = ("name", "classname", "labelname", "label", "class", "category")
_VALUE_COLUMNS = ("id", "value", "pixelvalue", "index", "classid", "labelid")
_COLOR_COLUMNS = ("color", "colour", "rgb", "hex")
_OF_COLOR = re.compile("(?:class|label)?(?:colou?rs?|rgb|hex)+(?:values?|codes?)?")
_RED, _GREEN, _BLUE = ("r", "red"), ("g", "green"), ("b", "blue")


def _column(cell: str) -> str:
    """Returns what a head line calls a column: `color` for `color_rgb` and `RGB values` too."""
    word = re.sub(r"[^a-z0-9]", "", cell.casefold())
    return "color" if word not in _COLOR_COLUMNS and _OF_COLOR.fullmatch(word) else word


def _says_more(columns: Collection[str]) -> bool:
    """Says whether a head line names more than names."""
    more = {*_VALUE_COLUMNS, *_COLOR_COLUMNS, *_RED}
    return not more.isdisjoint(columns) or {*columns} <= {*_NAME_COLUMNS}


def _of_columns(columns: list[str], row: list[str]) -> Entry:
    """Reads a line below a head line, or an object of a list."""
    if len(row) != len(columns):
        raise ValueError(f"the line {','.join(row)[:80]!r} has {len(row)} of {len(columns)} cells")
    cells = dict(zip(columns, row, strict=True))

    def cell(words: Collection[str]) -> str | None:
        return next((cells[word] for word in words if word in cells), None)

    name, value = cell(_NAME_COLUMNS), cell(_VALUE_COLUMNS)
    color: object = cell(_COLOR_COLUMNS)
    if color is None and cell(_RED) is not None:
        color = [cell(_RED), cell(_GREEN), cell(_BLUE)]
    if value is None and name not in (number := cell(("class", "label")), None):
        value = number if re.fullmatch(r"-?\d+", str(number)) else None
    values = {_value(cells[word]) for word in _VALUE_COLUMNS if word in cells}
    if len(values) > 1:
        raise ValueError(f"the line {','.join(map(str, row))[:80]!r} has several values")
    rgb = None if color is None else _any_color(color)
    return Entry(0 if value is None else _value(value), _name(name), rgb, by_place=value is None)


def _value(value: Any) -> int:
    number = int(value)  # numbers in JSON may be text
    if number != float(value):
        raise ValueError(f"the value {value!r:.80} of a class is no whole number")
    return number


def _any_color(color: Any) -> Color:
    """Reads `[128, 0, 0]`, `128 0 0`, `(128, 0, 0)` or `#800000`."""
    if isinstance(color, str):
        if re.fullmatch(r"#[0-9a-f]{6}", color.strip(), re.I):
            return _rgb(bytes.fromhex(color.strip()[1:]))
        color = re.split(r"[\s,;]+", color.strip(" ()[]"))
    return _rgb(color)


# Patterns see what a file holds, so none may go back over a run of characters again and again. A
# lookbehind lets a run be tried from its start alone.
_SEPARATOR = r"[\s,;:]+"
_RUN = r"(?<![\s,;:])[\s,;:]+"
_COLOR = r"(\d+(?:\.\d+)?[\s,;]+\d+(?:\.\d+)?[\s,;]+\d+(?:\.\d+)?|#[0-9a-fA-F]{6})"


def _by_color(lines: list[str]) -> list[Entry]:
    """Reads lines that all have a colour, at their end or at their start; else none."""
    last = [re.fullmatch(rf"(.*\S)[:,;\s]\s*{_COLOR}[:;\s]*", line) for line in lines]
    first = [re.fullmatch(rf"{_COLOR}{_SEPARATOR}(\S.*)", line) for line in lines]
    ends, starts = list(filter(None, last)), list(filter(None, first))
    if len(ends) == len(starts) == len(lines):
        raise ValueError(f"the line {lines[0][:80]!r} may be a colour and a name, or both reversed")
    if len(ends) == len(lines):
        named = [(match[1], match[2]) for match in ends]
    elif len(starts) == len(lines):
        named = [(match[2], match[1]) for match in starts]
    elif len(ends) > 1 or len(starts) > 1:
        odd = next(n for n, match in enumerate(last if len(ends) > 1 else first) if not match)
        raise ValueError(f"no colour in {lines[odd][:80]!r}, as in other lines")
    else:
        return []
    names = [name.strip(" \t,;:\"'") for name, _ in named]
    numbered = _by_number(names) if len(ends) == len(lines) else []
    numbers = [re.search(rf"{_RUN}(\d+)$|^(\d+){_SEPARATOR}", name) for name in names]
    if not numbered and all(numbers) and _distinct(re.sub(r"[\d\s]", "", name) for name in names):
        raise ValueError(f"four numbers in {lines[0][:80]!r}; nothing says which is the colour")
    return [
        Entry(
            numbered[n].value if numbered else 0,
            numbered[n].name if numbered else name,
            _any_color(color),
            by_place=not numbered,
        )
        for n, (name, (_, color)) in enumerate(zip(names, named, strict=True))
    ]


def _by_number(lines: list[str]) -> list[Entry]:
    """Reads lines that all have a number and a name; none if the numbers belong to names."""
    before = [re.fullmatch(r"(-?\d+)(?:\s*[:,;=.)]\s*|\s+)(\S.*)", line) for line in lines]
    after = [re.fullmatch(r"(\S.*?)(?<!\s)(?:\s*[:,;=]\s*|\s+)(-?\d+)", line) for line in lines]
    entries = [(int(m[1]), m[2]) for m in before if m]
    if len(entries) < len(lines):
        entries = [(int(m[2]), m[1]) for m in after if m]
    if len(entries) < len(lines):
        places = [n for n, m in enumerate(before) if m and int(m[1]) in (n, n + 1)]
        if len(places) > 1:
            odd = next(n for n, match in enumerate(before) if not match)
            raise ValueError(f"no value in {lines[odd][:80]!r}, as in other lines")
        return []
    if not _distinct(name for _, name in entries):  # lane 1 and lane 2
        return []
    return [Entry(_value(value), name.strip(" \t\"'")) for value, name in entries]


def _distinct(words: Iterable[str]) -> bool:
    words = list(words)
    return len(set(words)) == len(words)


def _classes_json(text: str) -> list[Entry]:
    """A list of names or objects, or an object from name to value or colour, or back."""
    content = json.loads(text, object_pairs_hook=_unique)
    while isinstance(content, dict) and len(content) == 1 and _within(content) is not None:
        content = _within(content)
    if isinstance(content, list):
        return _placed([_of_json(None, item) for item in content])
    if not isinstance(content, dict):
        raise ValueError("neither a list nor an object")
    return _placed([_of_json(key, item) for key, item in content.items()])


DATASET = "dataset.json"
"""The class file of nnU-Net and MONAI, which lies beside the folders of images and masks."""

_OF_NNUNET = ("channel_names", "modality", "training", "numTraining", "file_ending")


def _dataset_json(text: str) -> list[Entry]:
    """nnU-Net, MONAI: `labels` from name to value or back, beside what the set holds."""
    content = json.loads(text, object_pairs_hook=_unique)
    labels = content.get("labels") if isinstance(content, dict) else None
    if not isinstance(labels, dict) or content.keys().isdisjoint(_OF_NNUNET):
        raise ValueError("it is not nnU-Net's or MONAI's")
    for name, value in labels.items():
        if isinstance(value, list):
            raise ValueError(
                f"the region {name[:80]!r} has the values {', '.join(map(str, value))[:80]}, and "
                "regions overlap, where a pixel has one class"
            )
    entries = [_of_json(name, value) for name, value in labels.items()]
    if any(entry.by_place for entry in entries):
        raise ValueError("a label has no value")
    return sorted(entries, key=lambda entry: entry.value)


def _within(content: dict[str, object]) -> object:
    """Returns the classes in an object whose key names them as classes; None without such a key."""
    (key, inner), *_ = content.items()
    keys = ("classes", "labels", "names", "categories", "class_names", "label_map")
    return inner if key in keys and isinstance(inner, list | dict) else None


def _of_json(key: str | None, item: object) -> Entry:
    number = key is not None and re.fullmatch(r"-?\d+", key)
    if isinstance(item, dict):
        cells = {re.sub(r"[^a-z0-9]", "", word.casefold()): cell for word, cell in item.items()}
        if number:
            cells = {"id": key} | cells
        elif key is not None:
            cells = {"name": key} | cells
        return _of_columns(list(cells), list(cells.values()))
    if isinstance(item, str) and (key is None or number):
        value = None if key is None else _value(key)
        return Entry(value or 0, item.strip(), by_place=value is None)
    if number or key is None or isinstance(item, bool):
        raise ValueError(f"the entry {key or ''} {item!r:.80} has no name")
    if isinstance(item, int):
        return Entry(_value(item), key.strip())
    return Entry(0, key.strip(), _any_color(item), by_place=True)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Returns an object of JSON; of a key that stands twice the first would be lost."""
    counts = collections.Counter(key for key, _ in pairs)
    for key, count in counts.items():
        if count > 1:
            raise ValueError(f"the key {key[:80]!r} {count} times in one object")
    return dict(pairs)


def _rgb(parts: Collection[Any]) -> Color:
    red, green, blue = (int(part) for part in parts)
    if [red, green, blue] != [float(part) for part in parts]:
        raise ValueError(f"colour {', '.join(map(str, parts))} is not in whole numbers")
    if not all(0 <= part <= 255 for part in (red, green, blue)):
        raise ValueError(f"colour {red}, {green}, {blue} is not 0 to 255")
    return red, green, blue


_TABLE = "lines such as crack, or 1,crack, or crack,128,0,0"

PARSERS: dict[str, tuple[Callable[[str], list[Entry]], str]] = {
    "labelmap.txt": (_labelmap, "lines such as name:128,0,0::"),
    "dataset_meta.json": (
        _dataset_meta,
        "label_map and segmentation_colors, as datumaro writes them",
    ),
    "class_names.txt": (_class_names, "one name per line"),
    "colors.txt": (_colors, "lines such as name 128 0 0"),
    "_classes.csv": (_classes_csv, "the line 'Pixel Value, Class', then lines such as 1, crack"),
    "class_dict.csv": (_table, "lines such as crack,128,0,0 below the line name,r,g,b"),
    "label_colors.txt": (_table, "lines such as 128 0 0 crack"),
    "labelmap.csv": (_table, _TABLE),
    "classes.txt": (_table, _TABLE),
    "classes.json": (
        _classes_json,
        'a list of names, or an object such as {"background": 0, "crack": 1}',
    ),
    "labels.txt": (_table, _TABLE),
    DATASET: (
        _dataset_json,
        'labels such as {"background": 0, "tumor": 1} or {"0": "background", "1": "tumor"}, and '
        "training or channel_names",
    ),
    TABLE: (_table, _TABLE),
}
"""The function that reads each class file, and what the file should hold, for errors. Files are
looked for in this order."""

UNREADABLE = (
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,  # an infinite colour
    RecursionError,  # JSON that is nested too deep
    csv.Error,
)
"""What parsers raise about files that no tool wrote."""
