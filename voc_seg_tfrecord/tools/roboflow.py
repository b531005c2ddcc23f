"""Roboflow: masks beside their images, in a folder for each split."""

import re

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import parse_list
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool


def parse_classes_csv(text: str) -> list[ClassEntry]:
    """Reads the head line `Pixel Value, Class`, and lines such as `1, crack` below it."""
    if not re.match(r"\s*pixel value\s*,", text, re.IGNORECASE):
        raise ValueError("no head line 'Pixel Value, Class'")
    return parse_list(text)


ROBOFLOW = Tool(
    name="Roboflow",
    patterns=(FilePatterns(images="{split}/{id}.jpg", masks="{split}/{id}_mask.png"),),
    class_files=(
        ClassFileFormat(
            name="_classes.csv",
            parse=parse_classes_csv,
            expected="the line 'Pixel Value, Class', then lines such as 1, crack",
        ),
    ),
    folder_row=FolderRow(
        written_by='Roboflow "Semantic segmentation masks"',
        images="`train`, `valid`, `test`",
        masks="`NAME_mask.png` beside `NAME.jpg`",
        classes="`_classes.csv`",
        splits="the folders",
    ),
)
