import pathlib

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools import cvat
from voc_seg_tfrecord.tools.drawing import draw

pytest.importorskip("pycocotools")

# The steps of CVAT's export "Segmentation mask 1.1" drew the mask once, with CVAT's own fork of
# datumaro (commit 8970bb7b), from an XML that was written for this test.
DATA = pathlib.Path(__file__).parent / "data"
XML = (DATA / "cvat.xml").read_text()


def read(text):
    return cvat.read(File(text.encode(), "job/annotations.xml"))


def one(element):
    head = XML[: XML.index("<polygon")]
    return read(f"{head}{element}</image></annotations>").annotations[0]


def names_of(sheet):
    return [listed.name for listed in sheet.classes]


def test_shapes_have_the_pixels_of_cvats_own_export():
    sheet = read(XML)
    values = {name: value for value, name in enumerate(names_of(sheet), 1)}
    street, empty = sheet.annotations
    drawn = draw(street, values, street.size, objects=True)
    np.testing.assert_array_equal(drawn.mask, np.array(Image.open(DATA / "cvat_class.png")))
    assert not draw(empty, values, empty.size).mask.any()


def test_labels_images_and_what_is_not_drawn_are_read():
    sheet = read(XML)
    assert names_of(sheet) == ["road", "car", "tree"]
    assert [image.image for image in sheet.annotations] == [
        "north/street 1.jpg",
        "north/street 2.jpg",
    ]
    assert sheet.annotations[0].left_out == {"polyline": 1}
    assert "in 1 images" in sheet.notes[0]


def test_a_shape_of_a_higher_z_order_lies_above():
    box = '<box label="{}" xtl="1" ytl="1" xbr="9" ybr="9" z_order="{}"/>'
    annotation = one(box.format("car", 5) + box.format("tree", -1) + box.format("road", 0))
    drawn = draw(annotation, {"road": 1, "car": 2, "tree": 3}, annotation.size)
    assert set(drawn.mask[1:9, 1:9].ravel()) == {2}


@pytest.mark.parametrize("rotation", [0, 30, 90, 215])
def test_an_ellipse_has_the_pixels_whose_centers_lie_in_it(rotation):
    ellipse = '<ellipse label="car" cx="20.4" cy="14.6" rx="9.7" ry="5.2" rotation="{}"/>'
    annotation = one(ellipse.format(rotation))
    drawn = draw(annotation, {"car": 1}, annotation.size).mask.astype(bool)
    y, x = np.indices(drawn.shape)
    turn = np.exp(-1j * np.deg2rad(rotation)) * ((x - 20) + 1j * (y - 15))
    inside = [np.hypot(turn.real / (10 + edge), turn.imag / (5 + edge)) < 1 for edge in (0, 1)]
    assert drawn[inside[0]].all()
    assert not drawn[~inside[1]].any()


def test_ellipses_differ_from_opencvs_by_single_pixels_at_their_edges():
    # OpenCV 5.0.0 drew the masks once, as CVAT's `EllipsesToMasks` calls it: `cv2.ellipse` with
    # the center and the radii rounded, filled.
    images = read((DATA / "cvat_ellipses.xml").read_text()).annotations
    masks = np.array(Image.open(DATA / "cvat_ellipses.png")).astype(bool)
    wrong = 0
    for image, mask in zip(images, np.split(masks, len(images)), strict=True):
        drawn = draw(image, {"cell": 1}, image.size).mask.astype(bool)
        rows, columns = image.size
        near = np.pad(mask, 1, mode="edge")
        near = [near[y : y + rows, x : x + columns] for y in range(3) for x in range(3)]
        assert not drawn[~np.any(near, axis=0)].any()
        assert drawn[np.all(near, axis=0)].all()
        wrong += np.count_nonzero(drawn != mask)
    assert wrong < 0.03 * np.count_nonzero(masks)


def test_a_rotated_ellipse_lies_below_a_later_box():
    ellipse = '<ellipse label="car" cx="9" cy="9" rx="5" ry="5" rotation="9"/>'
    annotation = one(ellipse + '<box label="road" xtl="1" ytl="1" xbr="19" ybr="19"/>')
    drawn = draw(annotation, {"road": 1, "car": 2}, annotation.size)
    assert set(drawn.mask[1:19, 1:19].ravel()) == {1}


@pytest.mark.parametrize(
    ("element", "found"),
    [
        ('<polygon label="bus" points="1,1;2,2;3,1"/>', "the label 'bus'"),
        ('<polygon label="car" points="1,1;2,2"/>', "4 coordinates"),
        ('<polygon label="car" points="1,1;2,2;x,1"/>', "'x', which is no number"),
        ('<polygon label="car" points="1,1;2,2;nan,1"/>', "the coordinate nan"),
        ('<polygon label="car"/>', "no 'points'"),
        ('<polygon label="car" points="1,1;2,2;3,1" z_order="x"/>', "'x', which is no whole numb"),
        ('<box label="car" xtl="1" ytl="1" xbr="9"/>', "no 'ybr'"),
        ('<box label="car" xtl="1" ytl="1" xbr="9" ybr="inf"/>', "inf"),
        ('<ellipse label="car" cx="9" cy="9" rx="2"/>', "no 'ry'"),
        ('<ellipse label="car" cx="9" cy="9" rx="2" ry="-3"/>', "a negative radius"),
        ('<heart label="car"/>', "the kind 'heart'"),
        ('<mask label="car" rle="1,2" left="0" top="0" width="2" height="2"/>', "do not fill"),
        (
            '<mask label="car" rle="1,x" left="0" top="0" width="2" height="2"/>',
            "the run of pixels 'x'",
        ),
    ],
)
def test_what_is_wrong_with_a_shape_is_the_error_of_its_image(element, found):
    error = str(one(element).error)
    assert error.startswith("job/annotations.xml, image 1 (north/street 1.jpg), shape 1")
    assert found in error


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "not readable as XML"),
        ("<annotation><object/></annotation>", "XML of <annotation>"),
        ("<annotations><track/></annotations>", "tracks of a video"),
        ("<!DOCTYPE a><annotations><image/></annotations>", "a document type"),
        ("<annotations><image/></annotations>", "no name"),
    ],
)
def test_xml_of_another_kind_is_an_error(text, found):
    with pytest.raises(MaskError) as caught:
        read(text)
    assert found in str(caught.value)
