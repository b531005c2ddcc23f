"""What tools write in place of masks is refused with advice."""

import json

import pytest
from support import drawing
from support.folders import refused

from voc_seg_tfrecord.core.errors import VocSegError

IMAGE = "images/a.jpg", None
BOX = "0 0.5 0.5 0.2 0.2\n"
VOC_XML = "<annotation><object><bndbox/></object></annotation>"


def of_json(**content):
    return json.dumps(content)


# The files of a folder, and words of the error. A file without content is an image or a mask.
REFUSED = {
    "Label Studio's brushes": (
        [IMAGE, ("task-7-annotation-3-by-1-tag-car-0.png", None)],
        "brush export of Label Studio, .*: 1 files, the first is task-7",
    ),
    "Label Studio's JSON": (
        [IMAGE, ("export.json", of_json(original_width=9))],
        "Label Studio's JSON",
    ),
    "NIfTI": ([("imagesTr/a.nii.gz", ""), ("labelsTr/a.nii.gz", "")], "volumes of NIfTI"),
    "YOLO's boxes": (
        [IMAGE, ("labels/a.txt", BOX)],
        "boxes alone, which are no segmentation: 1 text of YOLO, such as labels/a.txt",
    ),
    "YOLO's boxes as wide as the image": (
        [IMAGE, ("labels/a.txt", "0 0.5 0.5 1 1\n")],
        "boxes alone, which are no segmentation: 1 text of YOLO, such as labels/a.txt",
    ),
    "boxes of VOC": (
        [("JPEGImages/a.jpg", None), ("Annotations/a.xml", VOC_XML)],
        "boxes alone, which are no segmentation(?s:.*)makesense and Label Studio write only boxes",
    ),
    "masks without images": (
        [("SegmentationClass/a.png", None)],
        "no image with a mask among 1 .png called masks(?s:.*)in CVAT, tick 'Save images'",
    ),
    "masks of other names": (
        [*((f"images/{n}.jpg", None) for n in "ab"), *((f"masks/{n}.png", None) for n in "xy")],
        "no mask fits an image by its name",
    ),
    "JPEGs as masks": (
        [("images/a.jpg", None), ("masks/other.jpg", None)],
        "1 .jpg called masks, such as masks/other.jpg",
    ),
}


def write(root, files):
    for name, content in files:
        if content is not None:
            drawing.put(root, name, content)
        elif name.endswith(".png"):
            drawing.put_mask(root, name, drawing.truth(name))
        else:
            drawing.put_image(root, name)


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_folder_holds_in_place_of_masks_is_said(tmp_path, case):
    files, words = REFUSED[case]
    write(tmp_path, files)
    refused(tmp_path, words, VocSegError)
