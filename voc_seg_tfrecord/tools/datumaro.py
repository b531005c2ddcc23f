"""datumaro: the layout of Pascal VOC, with or without colors."""

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_parsers import ClassFileFormat, load_json, read_name, read_rgb
from voc_seg_tfrecord.tools.cvat import LABELMAP
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool


def parse_dataset_meta(text: str) -> list[ClassEntry]:
    """Reads `{"label_map": {"0": "background"}, "segmentation_colors": [[0, 0, 0]]}`."""
    meta = load_json(text)
    colors = meta.get("segmentation_colors") or []
    labels = sorted((int(value), name) for value, name in meta["label_map"].items())
    entries = []
    for line, (value, name) in enumerate(labels):
        color = read_rgb(colors[line]) if line < len(colors) else None
        entries.append(ClassEntry(value, read_name(name), color))
    return entries


def background_of_dataset_meta(text: str) -> str:
    """Returns the class of `background_label`, which is given by its value or by its name."""
    meta = load_json(text)
    names = meta["label_map"]
    label = str(meta.get("background_label", ""))
    if label in names:
        return str(names[label]).strip()
    return label.strip() if label in names.values() else ""


DATUMARO = Tool(
    name="datumaro",
    patterns=(FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClass/{id}.png"),),
    class_files=(
        LABELMAP,
        ClassFileFormat(
            name="dataset_meta.json",
            parse=parse_dataset_meta,
            expected="label_map and segmentation_colors, as datumaro writes them",
            background_of=background_of_dataset_meta,
        ),
    ),
    folder_row=FolderRow(
        written_by="datumaro",
        images="the same",
        masks="RGB, or gray line numbers",
        classes="`labelmap.txt` (an empty color is VOC's), `dataset_meta.json`",
        splits="the same",
    ),
)
