"""datumaro: the layout of Pascal VOC, with or without colors.

References:
  datumaro 1.x, `write_meta_file` in `data_formats/voc/format.py` and `save_meta_file` in
    `util/meta_file_util.py`, which write `dataset_meta.json`: `labels` has all classes, and
    `label_map` those that have a color. Older versions write `label_map` alone.
"""

from collections.abc import Mapping
from typing import Any

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_rows import read_rgb
from voc_seg_tfrecord.formats.texts import load_json
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import read_name
from voc_seg_tfrecord.tools.cvat import LABELMAP
from voc_seg_tfrecord.tools.tool import Tool


def parse_dataset_meta(text: str) -> list[ClassEntry]:
    """Reads the classes that masks can have.

    | the file has | the classes are |
    | --- | --- |
    | `"labels": ["background", "crack"]` | all labels, numbered by their positions |
    | `"label_map": {"0": "background"}` | those of the map |
    | both | those of the map, as a mask in colors holds no class without a color |

    `segmentation_colors` has the color of each class, or null, in the order of the values.

    Raises:
      ValueError: if `labels` and `label_map` name one value differently; see `UNREADABLE` for
        other errors.
    """
    meta = load_json(text)
    names = _read_names(meta)
    colors = meta.get("segmentation_colors") or []
    entries = []
    for position, (value, name) in enumerate(sorted(names.items())):
        color = None
        if position < len(colors) and colors[position] is not None:
            color = read_rgb(colors[position])
        entries.append(ClassEntry(value, name, color))
    return entries


def _read_names(meta: Mapping[str, Any]) -> dict[int, str]:
    """Returns the names of the classes that masks can have, by value."""
    labels = meta.get("labels", [])
    if not isinstance(labels, list):
        raise TypeError(f"labels is {labels!r:.80}, which is not a list")
    all_names = {value: read_name(name) for value, name in enumerate(labels)}
    if not meta.get("label_map"):
        return all_names
    mapped_names = {int(value): read_name(name) for value, name in meta["label_map"].items()}
    for value, name in mapped_names.items():
        if all_names and all_names.get(value) != name:
            raise ValueError(f"label_map has {name!r:.80} at {value}, and labels does not")
    return mapped_names


def background_of_dataset_meta(text: str) -> str:
    """Returns the class of `background_label`, which is given by its value or by its name."""
    meta = load_json(text)
    names = _read_names(meta)
    background = meta.get("background_label")
    if background is None:
        return ""
    label = str(background).strip()
    for value, name in names.items():
        if label == str(value):
            return name
    return label if label in names.values() else ""


DATUMARO = Tool(
    name="datumaro",
    class_files=(
        LABELMAP,
        ClassFileFormat(
            name="dataset_meta.json",
            parse=parse_dataset_meta,
            expected="labels, or label_map and segmentation_colors, as datumaro writes them",
            background_of=background_of_dataset_meta,
        ),
    ),
)
