"""A folder for each image, which holds the image and its mask."""

from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

FOLDER_PER_IMAGE = Tool(
    name="a folder for each image",
    patterns=(
        FilePatterns(images="{id}/image.jpg", masks="{id}/mask.png"),
        FilePatterns(images="{id}/rgb.png", masks="{id}/label.png"),
    ),
    folder_row=FolderRow(
        written_by="a folder for each image",
        images="`ID/image.jpg`, `ID/rgb.png`, `ID_json/img.png`",
        masks="`ID/mask.png`, `ID/label.png` or the like",
        classes="`--class_names`; the folders are the ids",
        splits="lists, or the folders `train`, `val`, `test`",
    ),
)
