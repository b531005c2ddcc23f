"""trainaug and DeepLab: VOC's images, with masks that other people added or converted."""

from voc_seg_tfrecord.tools.tool import FilePatterns, FolderRow, Tool

TRAINAUG = Tool(
    name="trainaug",
    patterns=(
        FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClassAug/{id}.png"),
        FilePatterns(images="JPEGImages/{id}.jpg", masks="SegmentationClassRaw/{id}.png"),
    ),
    folder_row=FolderRow(
        written_by="trainaug, DeepLab",
        images="`JPEGImages`",
        masks="`SegmentationClassAug` or `SegmentationClassRaw`; if `SegmentationClass` is there "
        "too, give `--masks`",
        classes="`--class_names voc`",
        splits="lists",
    ),
)
