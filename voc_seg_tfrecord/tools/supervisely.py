"""Supervisely: masks in the layout of Pascal VOC, each with a palette of its own."""

from voc_seg_tfrecord.formats.class_parsers import (
    ClassFileFormat,
    Entry,
    number_by_place,
    read_rgb,
)
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, RefusedFiles, Tool


def parse_colors(text: str) -> list[Entry]:
    """Reads `name R G B`; a name may have blanks."""
    entries = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, *rgb = line.strip().rsplit(maxsplit=3)
        entries.append(Entry(0, name, read_rgb(rgb), by_place=True))
    return number_by_place(entries)


SUPERVISELY = Tool(
    name="Supervisely",
    patterns=(
        FilePatterns(
            images="VOCdevkit/VOC/JPEGImages/{id}.jpg",
            masks="VOCdevkit/VOC/SegmentationClass/{id}.png",
        ),
    ),
    class_files=(
        ClassFileFormat(
            name="colors.txt", parse=parse_colors, expected="lines such as name 128 0 0"
        ),
    ),
    refused_files=(
        RefusedFiles(
            ending=".json",
            pattern=rb'"classTitle"\s*:',
            found="Supervisely's JSON",
            advice="export from Supervisely to COCO or to Pascal VOC",
        ),
    ),
    folder_row=FolderRow(
        written_by="Supervisely",
        images="`VOCdevkit/VOC/JPEGImages`",
        masks="one palette for each image, read by color",
        classes="`colors.txt`",
        splits="lists",
    ),
)
