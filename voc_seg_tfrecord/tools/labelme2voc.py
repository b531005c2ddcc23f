"""labelme2voc: the converter of labelme that writes masks in the layout of Pascal VOC."""

from voc_seg_tfrecord.tools.class_file import ClassFileFormat, NumberingOfNames
from voc_seg_tfrecord.tools.class_texts import parse_names
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

LABELME2VOC = Tool(
    name="labelme2voc",
    patterns=(
        FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClass/{id}.png"),
        FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClassPNG/{id}.png"),
    ),
    class_files=(
        ClassFileFormat(
            name="class_names.txt",
            parse=parse_names,
            expected="one name per line",
            numbering=NumberingOfNames.LABELME,
        ),
    ),
    folder_row=FolderRow(
        written_by="labelme2voc",
        images="`JPEGImages`",
        masks="`SegmentationClass`; before 2023-09, `SegmentationClassPNG`, or `.npy` in "
        "`SegmentationClass`",
        classes="`class_names.txt`",
        splits="none; all images are `train`",
    ),
)
