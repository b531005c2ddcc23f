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
        masks="`masks`, `labels`, `annotations`, `gt`, `segmentation`, `manual`, `ann_dir`; a "
        "mask has the name of its image",
        classes="a class file or `--class_names`",
        splits="lists, or folders: `train/images` with `train/masks`, `images/train` with "
        "`masks/train`, or images in `train` and `val` with one folder `masks`",
    ),
)
