"""CamVid: the sets of Cambridge's videos, as SegNet's and the original files lay them out."""

from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import parse_list
from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

CLASS_NAMES = (
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

CAMVID = Tool(
    name="CamVid",
    patterns=(
        FilePatterns(images="{split}/{id}.png", masks="{split}annot/{id}.png"),
        FilePatterns(images="{split}/{id}.png", masks="{split}_labels/{id}_L.png"),
    ),
    class_files=(
        ClassFileFormat(
            name="label_colors.txt", parse=parse_list, expected="lines such as 128 0 0 crack"
        ),
    ),
    class_names=CLASS_NAMES,
    folder_row=FolderRow(
        written_by="CamVid",
        images="`train`, `val`, `test`",
        masks="`trainannot`, or `train_labels` and `NAME_L.png`",
        classes="a class file, or `--class_names camvid` for SegNet's masks",
        splits="lists of pairs of paths, or the folders",
    ),
)
