"""Folders of images and folders of masks that no tool names."""

from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

PLAIN_FOLDERS = Tool(
    name="plain folders",
    patterns=(
        FilePatterns(images="images/{id}.jpg", masks="masks/{id}.png"),
        FilePatterns(images="img/{id}.jpg", masks="gt/{id}.png"),
        FilePatterns(images="{id}.jpg", masks="labels/{id}.png"),
        FilePatterns(images="{split}/images/{id}.jpg", masks="{split}/masks/{id}.png"),
        FilePatterns(images="images/{split}/{id}.jpg", masks="masks/{split}/{id}.png"),
    ),
    folder_row=FolderRow(
        written_by="plain folders",
        images="`images`, `img`, `Original`, `img_dir`, or the top folder",
        masks="`masks`, `labels`, `annotations`, `gt`, `segmentation`, `manual`, `ann_dir`, with "
        "the names of the images",
        classes="a class file or `--class_names`",
        splits="lists, or folders: `train/images` and `train/masks`, `images/train` and "
        "`masks/train`, or `train` and `val` with one `masks`",
    ),
)
