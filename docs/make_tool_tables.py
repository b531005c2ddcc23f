"""Writes the tables of tools into the guides.

  python docs/make_tool_tables.py

A table is found in its page by its head line. tests/tools/guide_test.py checks that the pages hold
the tables that this script writes.
"""

import pathlib
import re

GUIDES = pathlib.Path(__file__).parent / "guides"
FOLDERS_HEAD = ("written by", "images", "masks", "class names from", "splits from")
SHAPES_HEAD = ("tool", "files", "where shapes overlap, the winner is", "classes")


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Returns a table in Markdown."""
    dashes = "|" + "---|" * len(head)
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return "\n".join([lines[0], dashes, *lines[1:]]) + "\n"


FOLDERS = [
    (
        'CVAT "Segmentation mask 1.1", "PASCAL VOC 1.1"',
        "`JPEGImages`",
        "`SegmentationClass`, RGB",
        "`labelmap.txt`, in its order",
        "`ImageSets/Segmentation/*.txt`; `default.txt` is `train`",
    ),
    (
        "datumaro",
        "`JPEGImages`",
        "`SegmentationClass`, RGB, or grayscale with the class's line number",
        "`labelmap.txt` or `dataset_meta.json`",
        "`ImageSets/Segmentation/*.txt`",
    ),
    (
        "labelme2voc",
        "`JPEGImages`",
        "`SegmentationClass` (PNG or `.npy`) or `SegmentationClassPNG`",
        "`class_names.txt`",
        "none; all images are `train`",
    ),
    (
        "Supervisely",
        "`VOCdevkit/VOC/JPEGImages`",
        "a palette per image, read by color",
        "`colors.txt`",
        "lists",
    ),
    (
        'Roboflow "Semantic segmentation masks"',
        "`train`, `valid`, `test`",
        "`NAME_mask.png` beside `NAME.jpg`",
        "`_classes.csv`",
        "the folders",
    ),
    (
        "MMSegmentation",
        "`imgs/ID_img.jpg`",
        "`gts/ID_gt.png`",
        "`--class_names`",
        "`splits/*.txt`",
    ),
    (
        "trainaug, DeepLab",
        "`JPEGImages`",
        "`SegmentationClassAug` or `SegmentationClassRaw`",
        "`--class_names voc`",
        "lists",
    ),
    (
        "nnU-Net, MONAI",
        "`imagesTr`, `NAME_0000.png` or `NAME.png`",
        "`labelsTr`, `NAME.png`",
        "`dataset.json`",
        "`labelsTs`, if it exists, is `test`",
    ),
    (
        "ADE20K",
        "`images/training`, `images/validation`",
        "`annotations/training`, `annotations/validation`",
        "`objectInfo150.txt` or `.csv`, and `--classes 0=void`",
        "the folders",
    ),
    (
        "CamVid",
        "`train`, `val`, `test`",
        "`trainannot`, or `train_labels` and `NAME_L.png`",
        "a class file, or `--class_names camvid` for SegNet's masks",
        "lists of pairs, or the folders",
    ),
    (
        "plain folders",
        "`images`, `img`, `Original`, `img_dir`, or the top folder",
        "`masks`, `labels`, `annotations`, `gt`, `ann_dir` and the like",
        "a class file or `--class_names`",
        "lists, or folders: `train/images` and `train/masks`, or `images/train` and `masks/train`",
    ),
    (
        "a flat folder",
        "`NAME.jpg`, `NAME_img.png`, `NAME_sat.jpg`",
        "`NAME.png`, `NAME_mask.png`, `NAME_L.png` or the like beside it",
        "a class file or `--class_names`",
        "lists, or the folders `train`, `val`, `test`",
    ),
    (
        "a folder for each image",
        "`ID/image.jpg`, `ID/rgb.png`, `ID_json/img.png`",
        "`ID/mask.png`, `ID/label.png` or the like",
        "`--class_names`",
        "lists, or the folders `train`, `val`, `test`",
    ),
]
"""Tools that write masks, and kinds of folders: a line of the table each."""

SHAPES = {
    "labelme": (
        "labelme",
        "one JSON per image, also in another folder or with the image inside",
        "the later one in the file",
        "in the order of `labels.txt`; without it, by name",
    ),
    "COCO": (
        "COCO",
        "one JSON, or one per split; Roboflow's `_annotations.coco.json`",
        "the one with fewer pixels",
        "in the order of the category ids",
    ),
    "YOLO": (
        "YOLO segmentation",
        "`images`, `labels` and `data.yaml`, as from Ultralytics or Roboflow",
        "the one with fewer pixels",
        "`names` of `data.yaml`, or `classes.txt`. The splits are the folders, or else `train`, "
        "`val` and `test` of `data.yaml`",
    ),
    "CVAT": (
        "CVAT for images 1.1",
        "`annotations.xml`, one or several",
        "the one with the higher z-order, then the later one",
        "in the order of the labels",
    ),
    "Supervisely": (
        "Supervisely",
        "a project with `meta.json`, `DATASET/img/NAME.jpg` and `DATASET/ann/NAME.jpg.json`",
        "the later one in the file",
        "in the order of `meta.json`",
    ),
    "VIA": (
        "VIA 1, 2 and 3",
        "`via_region_data.json` or `.csv`, or a project; one or several",
        "the one with fewer pixels",
        "the values of the attribute named class, label or category, or of the only attribute, by "
        "name; without attributes, one class, `region`",
    ),
}
"""Tools that write shapes: a line of the table each, by the tool's name in the registry."""

TABLES = {
    "own-data.md": table(FOLDERS_HEAD, FOLDERS),
    "polygons.md": table(SHAPES_HEAD, [*SHAPES.values()]),
}
"""By page: its table."""


def with_table(page: str, text: str) -> str:
    """Returns the text of a page with the table as it is here."""
    wanted = TABLES[page]
    head = re.escape(wanted.partition("\n")[0])
    (old,) = re.findall(rf"^{head}\n(?:\|.*\n)+", text, re.MULTILINE)
    return text.replace(old, wanted)


if __name__ == "__main__":
    for page in TABLES:
        path = GUIDES / page
        path.write_text(with_table(page, path.read_text()))
