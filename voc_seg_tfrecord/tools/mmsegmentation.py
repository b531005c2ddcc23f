"""MMSegmentation: the layout of its pages on custom data."""

from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

MMSEGMENTATION = Tool(
    name="MMSegmentation",
    patterns=(
        FilePatterns(images="imgs/{id}_img.jpg", masks="gts/{id}_gt.png"),
        FilePatterns(images="img_dir/{split}/{id}.jpg", masks="ann_dir/{split}/{id}.png"),
    ),
    folder_row=FolderRow(
        written_by="MMSegmentation",
        images="`imgs/ID_img.jpg`",
        masks="`gts/ID_gt.png`",
        classes="`--class_names`",
        splits="`splits/*.txt`",
    ),
)
