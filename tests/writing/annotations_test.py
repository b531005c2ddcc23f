import pytest

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.core.errors import AnnotationError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.writing import annotations

BOX = "<bndbox><xmin>10</xmin><ymin>20</ymin><xmax>50.5</xmax><ymax>40</ymax></bndbox>"
SIZE = "<size><width>100</width><height>80</height><depth>3</depth></size>"
TURNED = "<size><width>80</width><height>100</height></size>"


BOMB = (
    '<!DOCTYPE a [<!ENTITY a0 "dog">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]>"
)
"""Entities that would grow to three gigabytes; expat itself stops them."""


def read(xml, height=80, width=100):
    return annotations.read_objects(File(xml.encode(), "a.xml"), VOC_CLASSES, height, width)


def annotation(content, size=SIZE):
    return f"<annotation>{size}<object>{content}</object></annotation>"


def test_an_object_has_the_fields_of_tfds_voc():
    (found,) = read(
        annotation(
            "<name>dog</name><pose>Left</pose><truncated>1</truncated>"
            f"<difficult>0</difficult>{BOX}"
        )
    )
    assert found == {
        "label": "dog",
        "bbox": [0.25, 0.1, 0.5, 0.505],
        "pose": "left",
        "is_truncated": True,
        "is_difficult": False,
    }


@pytest.mark.parametrize(
    ("text", "flag"), [("1", True), ("True", True), ("yes", True), ("0", False), ("False", False)]
)
def test_a_flag_is_read_as_tools_write_it(text, flag):
    (found,) = read(annotation(f"<name>dog</name><difficult>{text}</difficult>{BOX}"))
    assert found["is_difficult"] is flag


def size_of(width, height):
    return f"<size><width>{width}</width><height>{height}</height></size>"


def test_boxes_that_reach_beyond_a_scaled_image_are_scaled_with_it():
    (found,) = read(annotation(f"<name>dog</name>{BOX}", size_of(100, 80)), height=20, width=25)
    assert found["bbox"] == [0.25, 0.1, 0.5, 0.505]


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ((200, 160), "a size of 200 x 160 .* for an image of 100 x 80, and all boxes lie inside"),
        ((50.5, 40.4), "and all boxes lie inside both"),
        ((80, 100), "a size of 80 x 100 .* turn the boxes too"),
        ((640, 480), "a size of 640 x 480"),
        ((80, 80), "a size of 80 x 80"),
    ],
)
def test_a_size_that_may_be_wrong_is_refused(size, words):
    with pytest.raises(AnnotationError, match=f"(?s){words}"):
        read(annotation(f"<name>dog</name>{BOX}", size_of(*size)))


@pytest.mark.parametrize("size", [(100, 80), (101, 80), (99, 79), (0, 0), ("", "")])
def test_a_size_that_is_rounded_or_not_there_does_no_harm(size):
    (found,) = read(annotation(f"<name>dog</name>{BOX}", size_of(*size)))
    assert found["bbox"] == pytest.approx([0.25, 0.1, 0.5, 0.505], abs=0.02)


def test_a_wrong_size_without_boxes_does_no_harm():
    assert read(f"<annotation>{size_of(7, 9)}</annotation>") == []


def test_sizes_of_official_annotations_are_taken_as_they_are():
    file = File(annotation(f"<name>dog</name>{BOX}", TURNED).encode(), "a.xml")
    (found,) = annotations.read_objects(file, VOC_CLASSES, 80, 100, official=True)
    assert found["bbox"] == [0.2, 0.125, 0.4, 0.63125]


def test_fields_that_later_years_leave_out_are_unspecified_or_no():
    (found,) = read(annotation(f"<name>Dog</name>{BOX}", size=""))
    assert (found["label"], found["pose"], found["is_difficult"]) == ("dog", "unspecified", False)
    assert found["bbox"] == [0.25, 0.1, 0.5, 0.505]


@pytest.mark.parametrize(
    ("xml", "words"),
    [
        ("", "not XML"),
        ("<annotation>", "not XML"),
        (annotation(f"<name>dragon</name>{BOX}"), "class 'dragon'"),
        (annotation(f"<name>dog</name><pose>upside</pose>{BOX}"), "pose 'upside'"),
        (annotation("<name>dog</name>"), "box"),
        (annotation(f"<name>dog</name>{BOX}".replace(">10<", ">nan<")), "box"),
        (annotation(f"<name>background</name>{BOX}"), "a box of class 'background'"),
        (annotation(f"<name>dog</name>{BOX}", SIZE.replace("100", "inf")), "width of inf"),
        (annotation(f"<name>dog</name>{BOX}", SIZE.replace("80", "nan")), "height of nan"),
        ("<a>" * 100_000, "not XML"),
        ("<a>" * 1_000_000 + "</a>" * 1_000_000, "7000000 bytes"),
        ('<?xml version="1.0" encoding="gb2312"?>' + annotation(""), "encoding"),
        ('<?xml version="1.0" encoding="no_such"?>' + annotation(""), "encoding"),
        ('<?xml version="1.0" encoding="zlib"?>' + annotation(""), "encoding"),
        (BOMB + annotation("<name>&a9;</name>"), "not XML"),
        (annotation(f"<name>dog</name>{BOX}".replace(">50.5<", ">101<")), "box"),
        (annotation(f"<name>dog</name><difficult>maybe</difficult>{BOX}"), "<difficult> 'maybe'"),
        (annotation(f"<name>dog</name>{BOX}", TURNED), "80 x 100 .* for an image of 100 x 80"),
    ],
)
def test_what_cannot_be_is_refused(xml, words):
    with pytest.raises(AnnotationError, match=words):
        read(xml)
