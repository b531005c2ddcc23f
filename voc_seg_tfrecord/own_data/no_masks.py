"""Says what a tree holds in which there are no masks."""

import re

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.trees.layout import IMAGES, LISTS, MASK_FOLDERS, MASK_SUFFIXES, MASKS
from voc_seg_tfrecord.trees.listing import index_files

_SHOWN = 8  # names that the message lists

_KNOWN_LAYOUTS = f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC, CVAT)
    {IMAGES} and SegmentationClassPNG (labelme)
    {IMAGES} and SegmentationClassAug or SegmentationClassRaw
    imgs, gts and splits (MMSegmentation)
    NAME.jpg and NAME_mask.png in one folder (Roboflow)"""


def no_masks(root: epath.Path) -> LayoutError:
    """Returns the error about a tree without masks, which says what it holds instead."""
    there = sorted(path.name for path in root.iterdir() if not path.name.startswith("."))
    found = "no masks" + (f" among {', '.join(there[:_SHOWN])}" if there else " in an empty folder")
    expected = _KNOWN_LAYOUTS
    remedy = (
        "export in the Pascal VOC segmentation format, or name the folders with --images and "
        "--masks"
    )
    pngs = index_files(root, (".png",)).values()
    brush = sorted(name for name in pngs if re.search(r"task-\d+-annotation-\d+", name))
    if brush:
        found = (
            f"the brush export of Label Studio, which has one 0/255 PNG per label: {len(brush)} "
            f"files, the first is {brush[0]}"
        )
    others = _others_in_mask_folders(root)
    if others:
        found = f"no masks, but {others}"
        expected = f"masks: files that end with {', '.join(MASK_SUFFIXES)}"
        remedy = (
            "save masks without loss as PNG, of class indices; a JPEG changes the values of "
            "pixels. Export again, or name the folder of masks with --masks"
        )
    elif (root / "Annotations").is_dir():
        found = "boxes only: there is a folder Annotations, but there are no masks"
        expected = f"masks in one of {', '.join(MASK_FOLDERS)}"
        remedy = (
            "export segmentation masks; VoTT, makesense and Label Studio write only boxes under "
            "the name Pascal VOC"
        )
    return LayoutError(root, found=found, expected=expected, remedy=remedy)


def _others_in_mask_folders(root: epath.Path) -> str:
    """Says what lies in mask folders in place of masks; empty if there is nothing."""
    for folder in MASK_FOLDERS:
        images = index_files(root / folder, IMAGE_SUFFIXES)
        if images:
            name = min(images.values())
            count = f", the first of {len(images)} files" if len(images) > 1 else ""
            return f"{name} lies under {folder}{count}"
    return ""
