"""Tools and public sets without code of their own: their class files, and the classes of masks.

ADE20K's masks have 1 to 150 for the classes, and 0 for all else, which the benchmark does not
score. Its table does not say so, so the question asks what 0 is.
"""

from collections.abc import Collection, Mapping, Sequence
import csv
import re

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.tools.class_file import ClassFileFormat, NumberingOfNames
from voc_seg_tfrecord.tools.class_texts import (
    TABLE,
    parse_json,
    parse_list,
    parse_names,
    read_name,
    read_value,
    split_lines,
)
from voc_seg_tfrecord.tools.tool import Tool


def parse_classes_csv(text: str) -> list[ClassEntry]:
    """Reads the head line `Pixel Value, Class`, and lines such as `1, crack` below it."""
    if not re.match(r"\s*pixel value\s*,", text, re.IGNORECASE):
        raise ValueError("no head line 'Pixel Value, Class'")
    return parse_list(text)


_SYNONYM_SIGNS = re.compile(r"[;,]")
"""What stands between the names of one class: `building;edifice`, or `building, edifice`."""


def parse_object_info(text: str) -> list[ClassEntry]:
    """Reads ADE20K's table of classes, in which commas or tabs stand between the cells.

    The first of several names of a class is taken. If two classes have the same first name, both
    keep all their names.
    """
    lines = [line for line in split_lines(text) if line]
    delimiter = "\t" if "\t" in lines[0] else ","
    head, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    heads = [cell.strip().casefold() for cell in head]
    column_of_value = heads.index("idx")
    column_of_name = heads.index("name")
    all_names = [read_name(row[column_of_name]) for row in rows]
    first_names = [_SYNONYM_SIGNS.split(name)[0].strip() for name in all_names]
    entries: list[ClassEntry] = []
    for row, name, first_name in zip(rows, all_names, first_names, strict=True):
        is_unique = first_name and first_names.count(first_name) == 1
        value = read_value(row[column_of_value])
        entries.append(ClassEntry(value, first_name if is_unique else name))
    return entries


_LINES = "lines such as crack, or 1,crack, or crack,128,0,0"
_OBJECT_INFO = "a head line with Idx and Name, then lines such as 1,0.1576,11664,1172,1,wall"

LAYOUTS = (
    Tool(
        name="labelme2voc",
        class_files=(
            ClassFileFormat(
                name="class_names.txt",
                parse=parse_names,
                expected="one name per line",
                numbering=NumberingOfNames.LABELME,
            ),
        ),
    ),
    Tool(
        name="Roboflow",
        class_files=(
            ClassFileFormat(
                name="_classes.csv",
                parse=parse_classes_csv,
                expected="the line 'Pixel Value, Class', then lines such as 1, crack",
            ),
        ),
    ),
    Tool(
        name="ADE20K",
        class_files=tuple(
            ClassFileFormat(name=name, parse=parse_object_info, expected=_OBJECT_INFO)
            for name in ("objectInfo150.csv", "objectInfo150.txt", "object150_info.csv")
        ),
    ),
    Tool(
        name="CamVid",
        class_files=(
            ClassFileFormat(
                name="label_colors.txt", parse=parse_list, expected="lines such as 128 0 0 crack"
            ),
        ),
    ),
    Tool(
        name="by hand",
        class_files=(
            ClassFileFormat(
                name="class_dict.csv",
                parse=parse_list,
                expected="lines such as crack,128,0,0 below the line name,r,g,b",
            ),
            ClassFileFormat(name="labelmap.csv", parse=parse_list, expected=_LINES),
            ClassFileFormat(name="classes.txt", parse=parse_list, expected=_LINES, is_common=True),
            ClassFileFormat(
                name="classes.json",
                parse=parse_json,
                expected='a list of names, or an object such as {"background": 0, "crack": 1}',
                is_common=True,
            ),
            ClassFileFormat(
                name="labels.txt",
                parse=parse_list,
                expected=_LINES,
                is_common=True,
                numbering=NumberingOfNames.MOSTLY_SKIPS_IGNORED,  # labelme reads it so
            ),
            ClassFileFormat(name=TABLE, parse=parse_list, expected=_LINES, is_common=True),
        ),
    ),
)

CAMVID_CLASSES = (
    "sky",
    "building",
    "pole",
    "road",
    "pavement",
    "tree",
    "signsymbol",
    "fence",
    "car",
    "pedestrian",
    "bicyclist",
    "void",
)
"""The 11 classes of the masks in `trainannot`, as SegNet's tutorial numbers them; 11 is void."""

CITYSCAPES_CLASSES = {
    7: "road",
    8: "sidewalk",
    11: "building",
    12: "wall",
    13: "fence",
    17: "pole",
    19: "traffic light",
    20: "traffic sign",
    21: "vegetation",
    22: "terrain",
    23: "sky",
    24: "person",
    25: "rider",
    26: "car",
    27: "truck",
    28: "bus",
    31: "train",
    32: "motorcycle",
    33: "bicycle",
}
"""The 19 classes of the benchmark, by their ids in `*_labelIds.png`. In `*_labelTrainIds.png` they
have the ids 0 to 18, in this order. Source: labels.py of cityscapesScripts."""

CLASS_NAMES_BY_WORD: Mapping[str, Sequence[str]] = {
    "voc": VOC_CLASSES,
    "camvid": CAMVID_CLASSES,
    "cityscapes": tuple(CITYSCAPES_CLASSES.values()),
}
"""The class names of public sets, by the word that stands for them in `--class_names`."""


def advise_classes(mask_names: Collection[str]) -> str:
    """Returns a sentence with the option that reads Cityscapes' masks; empty for other names.

    Args:
      mask_names: the patterns of the masks' names.
    """
    if mask_names and all(name.endswith("_labelIds.png") for name in mask_names):
        rows = ",".join(f"{value}={name}" for value, name in CITYSCAPES_CLASSES.items())
        options = command(classes=f"{rows},*=void")
    elif mask_names and all(name.endswith("_labelTrainIds.png") for name in mask_names):
        options = command(class_names="cityscapes")
    else:
        return ""
    return f"take the 19 classes of Cityscapes' benchmark, if these are its ids: {options}"
