"""One folder in which the masks lie beside their images."""

from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

FLAT_FOLDER = Tool(
    name="a flat folder",
    patterns=(
        FilePatterns(images="{id}.jpg", masks="{id}.png"),
        FilePatterns(images="{id}.jpg", masks="{id}_mask.png"),
        FilePatterns(images="{id}_sat.jpg", masks="{id}_mask.png"),
    ),
    folder_row=FolderRow(
        written_by="a flat folder",
        images="`NAME.jpg`, `NAME_img.png`, `NAME_sat.jpg`",
        masks="`NAME.png`, `NAME_mask.png`, `NAME_L.png` or the like beside it; other names with "
        "`--mask_name`",
        classes="a class file or `--class_names`",
        splits="lists in the folder, or the folders `train`, `val`, `test`",
    ),
)
