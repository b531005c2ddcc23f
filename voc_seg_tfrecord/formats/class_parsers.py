"""How each labelling tool writes its class file: from the text to values, names and colours."""

from collections.abc import Collection
import csv
import dataclasses
import json
import re

from voc_seg_tfrecord.labels import VOID, voc_palette

Color = tuple[int, int, int]

_IGNORED = "__ignore__"  # what labelme calls void


@dataclasses.dataclass(frozen=True)
class Entry:
    """One class of a class file: the mask value, the name, the colour if the file has one."""

    value: int
    name: str
    color: Color | None = None


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
    meta = json.loads(text)
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
    """Labelme: one name per line; `__ignore__` before the first class counts as -1."""
    names = [line.strip() for line in text.splitlines() if line.strip()]
    first = -1 if names and names[0] == _IGNORED else 0
    return [Entry(v if v >= 0 else VOID, name) for v, name in enumerate(names, start=first)]


def _colors(text: str) -> list[Entry]:
    """Supervisely: `name R G B`; black is background, which is not listed."""
    entries = []
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, *rgb = line.rsplit(maxsplit=3)
        entries.append((name, _rgb(rgb)))
    if (0, 0, 0) not in [color for _, color in entries]:
        entries.insert(0, ("background", (0, 0, 0)))
    return [Entry(value, name, color) for value, (name, color) in enumerate(entries)]


def _classes_csv(text: str) -> list[Entry]:
    """Roboflow: a head line, then `value, name`."""
    rows = [row for row in csv.reader(text.splitlines(), skipinitialspace=True) if "".join(row)]
    if not rows or not re.fullmatch(r"\s*pixel value\s*", rows[0][0], re.I):
        raise ValueError("no head line 'Pixel Value, Class'")
    short = [row for row in rows if len(row) < 2]
    if short:
        raise ValueError(f"the line {short[0][0][:80]!r} has no comma")
    return [Entry(int(row[0]), row[1].strip()) for row in rows[1:]]


def _rgb(parts: Collection) -> Color:
    red, green, blue = (int(part) for part in parts)
    if not all(0 <= part <= 255 for part in (red, green, blue)):
        raise ValueError(f"colour {red}, {green}, {blue} is not 0 to 255")
    return red, green, blue


PARSERS = {
    "labelmap.txt": _labelmap,
    "dataset_meta.json": _dataset_meta,
    "class_names.txt": _class_names,
    "colors.txt": _colors,
    "_classes.csv": _classes_csv,
}
"""The function that reads each class file, in the order in which files are looked for."""

EXPECTED = {
    "labelmap.txt": "lines such as name:128,0,0::",
    "dataset_meta.json": "label_map and segmentation_colors, as datumaro writes them",
    "class_names.txt": "one name per line",
    "colors.txt": "lines such as name 128 0 0",
    "_classes.csv": "the line 'Pixel Value, Class', then lines such as 1, crack",
}
"""What each class file should hold, for errors."""

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
