"""Folders of any names, and the class files that people write."""

from voc_seg_tfrecord.tools.class_file import ClassFileFormat, NumberingOfNames
from voc_seg_tfrecord.tools.class_texts import TABLE, parse_json, parse_list
from voc_seg_tfrecord.tools.tool import FolderRow, Tool

_LINES = "lines such as crack, or 1,crack, or crack,128,0,0"

BY_HAND = Tool(
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
    folder_row=FolderRow(
        written_by="by hand",
        images="any name with `--images`",
        masks="any name with `--masks`; palette, gray of 1 to 16 bits, RGB, `.npy`, BMP, TIFF",
        classes="`--class_names`",
        splits="lists, or `--splits`",
    ),
)
