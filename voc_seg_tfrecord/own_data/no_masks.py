"""Says what a folder without masks holds instead: polygons, boxes, JPEGs, or other folders."""

from collections.abc import Mapping
import re

from etils import epath

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.base.storage import open_file
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data import plain_folders
from voc_seg_tfrecord.trees.layout import IMAGES, LISTS, MASK_FOLDERS, MASK_SUFFIXES, MASKS
from voc_seg_tfrecord.trees.listing import index_files

_SHOWN = 8  # folders that a message lists
_READ = 200_000  # bytes of an annotation that are looked at

_KNOWN_LAYOUTS = f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC, CVAT)
    {IMAGES} and SegmentationClassPNG, SegmentationClassAug or SegmentationClassRaw
    images and masks (or img, label, gt, annotations ...), with files of the same names
    the same in train, val and test, or train, val and test in each of both
    NAME.jpg and NAME.png, or NAME_mask.png, in one folder"""

_BY_CVAT = (
    "import the annotations into CVAT, in a task with the images, and export it as "
    "'Segmentation mask 1.1', which writes mask PNGs"
)
# What the text of an annotation holds, and what is to be done with it.
_FORMATS = (
    (
        ".json",
        r'"shapes"\s*:|"imagePath"\s*:',
        "labelme's JSON files of polygons",
        "run labelme2voc.py, which labelme has under examples/semantic_segmentation. It writes "
        "mask PNGs, and the folder that it writes can be built",
    ),
    (
        ".json",
        r'"annotations"\s*:|"categories"\s*:',
        "COCO's JSON of polygons",
        f"{_BY_CVAT} (import as 'COCO 1.0'), or draw them with COCO.annToMask of pycocotools",
    ),
    (
        ".xml",
        r"<image\b[^>]*\bname=",
        "CVAT's XML of polygons",
        f"{_BY_CVAT} (import as 'CVAT 1.1')",
    ),
    (
        ".txt",
        r"(?m)\A\s*\d+(?:[ \t]+[01]?\.\d+(?:e-\d+)?){6,}\s*$",
        "YOLO's text files of polygons",
        f"{_BY_CVAT} (import as 'Ultralytics YOLO Segmentation 1.0')",
    ),
    (
        ".txt",
        r"(?m)\A\s*\d+(?:[ \t]+[01]?\.\d+(?:e-\d+)?){4}\s*$",
        "YOLO's text files of boxes",
        "annotate masks or polygons; masks cannot be made of boxes",
    ),
)


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
    jpegs = _jpegs_in_mask_folders(root)
    annotations = _annotations(root)
    if jpegs:
        found = f"no masks, but {jpegs}"
        expected = f"masks: files that end with {', '.join(MASK_SUFFIXES)}"
        remedy = (
            "save masks without loss as PNG, of class indices; a JPEG changes the values of "
            "pixels. Export again, or name the folder of masks with --masks"
        )
    elif brush:
        found = (
            f"the brush export of Label Studio, which has one 0/255 PNG per label: {len(brush)} "
            f"files, the first is {brush[0]}"
        )
    elif annotations:
        found, remedy = annotations
        expected = "a mask PNG for each image"
    elif (root / "Annotations").is_dir():
        found = "boxes only: there is a folder Annotations, but there are no masks"
        expected = f"masks in one of {', '.join(MASK_FOLDERS)}"
        remedy = (
            "export segmentation masks; VoTT, makesense and Label Studio write only boxes under "
            "the name Pascal VOC"
        )
    elif proposals := plain_folders.unnamed(root):
        remedy = "name the folders: " + ", or ".join(proposals)
    return LayoutError(root, found=found, expected=expected, remedy=remedy)


def _jpegs_in_mask_folders(root: epath.Path) -> str:
    """Says what lies in mask folders in place of masks; empty if there is nothing."""
    folders = [name for name in plain_folders.subfolders(root) if plain_folders.holds(name)]
    masks = [name for name in folders if plain_folders.holds(name) == "masks"]
    for folder in dict.fromkeys([*MASK_FOLDERS, *masks]):
        images = index_files(root / folder, IMAGE_SUFFIXES)
        if images:
            name = min(images.values())
            count = f", the first of {len(images)} files" if len(images) > 1 else ""
            return f"{name} lies under {folder}{count}"
    return ""


def _annotations(root: epath.Path) -> tuple[str, str] | None:
    """Returns which annotations a folder holds in place of masks, and what to do with them."""
    files: dict[str, Mapping[str, str]] = {}
    for ending, pattern, what, remedy in _FORMATS:
        if ending not in files:
            files[ending] = index_files(root, (ending,))
        for name in sorted(files[ending].values())[:_SHOWN]:
            with open_file(root / name) as file:
                text = file.read(_READ).decode("utf-8", "replace")
            if re.search(pattern, text):
                return f"{what} and no masks: {len(files[ending])} files, such as {name}", remedy
    return None
