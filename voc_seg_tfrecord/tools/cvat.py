"""CVAT: masks in the layout of Pascal VOC."""

from voc_seg_tfrecord.base.names import VOID, voc_palette
from voc_seg_tfrecord.formats.class_parsers import (
    ClassFileFormat,
    Entry,
    lines_with_content,
    read_rgb,
)
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool


def parse_labelmap(text: str) -> list[Entry]:
    """Reads `name:r,g,b:parts:actions`; an empty color is VOC's of that line."""
    entries = []
    for value, line in enumerate(lines_with_content(text)):
        name, color, *_ = [*line.split(":"), ""]
        if color.strip():
            rgb = read_rgb(color.split(","))
        else:
            rgb = read_rgb(voc_palette()[min(value, VOID)])
        entries.append(Entry(value, name.strip(), rgb))
    return entries


LABELMAP = ClassFileFormat(
    name="labelmap.txt", parse=parse_labelmap, expected="lines such as name:128,0,0::"
)

CVAT = Tool(
    name="CVAT",
    patterns=(
        FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClass/{id}.png"),
        FilePatterns(
            images="JPEGImages/street/{id}.jpg", masks="SegmentationClass/street/{id}.png"
        ),
    ),
    class_files=(LABELMAP,),
    folder_row=FolderRow(
        written_by='CVAT "Segmentation mask 1.1", "PASCAL VOC 1.1"',
        images="`JPEGImages`, sub-folders too",
        masks="`SegmentationClass`, RGB",
        classes="`labelmap.txt`, in its order",
        splits="`ImageSets/Segmentation/*.txt`",
    ),
)
