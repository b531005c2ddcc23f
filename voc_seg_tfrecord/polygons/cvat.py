"""CVAT for images 1.1: one XML file for the images of a job, a task or a project.

References:
  CVAT's export `Segmentation mask 1.1`: pycocotools draws polygons and boxes, a group becomes one
    mask with the label of its largest shape, and a shape of a higher z-order lies above. Ellipses,
    which OpenCV draws, are polygons of its corners here. Polylines, points, cuboids and skeletons
    are not drawn.
"""

import cmath
import collections
import math
import xml.etree.ElementTree as ET

import numpy as np

from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.formats.file import MAX_SIDE, File
from voc_seg_tfrecord.polygons.shapes import (
    Annotation,
    Shape,
    Sheet,
    as_written,
    checked_points,
    checked_size,
    wrong,
)

_NOT_DRAWN = ("polyline", "points", "cuboid", "skeleton")
_STEPS = ((3, 90), (10, 30), (15, 18))  # degrees between corners of ellipses below a radius


def read(file: File) -> Sheet:
    """Reads a file of many images; an error if it is not CVAT's XML of images.

    What is wrong with a shape is the `error` of its image.
    """
    with as_written(file.where, "readable XML of CVAT's"):
        if b"<!DOCTYPE" in file.data:  # it may stand for any amount of text
            raise ValueError("a document type")
        root = ET.fromstring(file.data)
    video = root.find("track") is not None
    if root.tag != "annotations" or video or root.find("image") is None:
        found = "tracks of a video" if video else f"XML of <{root.tag[:40]}> without <image>"
        remedy = "export as 'CVAT for images 1.1'"
        raise wrong(file.where, found, "CVAT's <annotations> of images", remedy)
    labels = root.findall("./meta//labels/label/name")
    names = [name for label in labels if (name := (label.text or "").strip())]
    elements = enumerate(root.findall("image"), 1)
    images = [_annotation(image, number, names, file.where) for number, image in elements]
    grouped = [{(s.group, s.label) for s in image.shapes if s.group} for image in images]
    mixed = sum(len(pairs) > len(dict(pairs)) for pairs in grouped)
    note = f"Groups of shapes with several labels, in {mixed} images, have that of their largest "
    note += "shape, as in CVAT's own masks."
    return Sheet([*dict.fromkeys(names)], images, [note] if mixed else [])


def _annotation(image: ET.Element, number: int, names: list[str], where: str) -> Annotation:
    name = image.get("name", "").replace("\\", "/")
    place = f"image {number} ({name[-80:]})"
    if not name:
        raise wrong(f"{where}, {place}", "no name", "an image with a name", "export it again")
    left_out: dict[str, int] = collections.Counter()
    shapes = []
    try:
        with as_written(f"{where}, {place}", "height and width of the image"):
            size = checked_size(*_numbers(image, "height width"))
        # CVAT makes polygons of rotated boxes, and adds them at the end.
        for n, element in sorted(
            enumerate(image, 1),
            key=lambda pair: pair[1].tag == "box" and "rotation" in pair[1].attrib,
        ):
            if element.tag in _NOT_DRAWN:
                left_out[element.tag] += 1
            elif element.tag != "tag":
                shapes.append(_shape(element, f"{place}, shape {n}", names, where))
    except MaskError as error:
        return Annotation(where, name, None, error=error)
    return Annotation(where, name, size, shapes, "level", left_out=left_out)


def _numbers(element: ET.Element, names: str) -> list[float]:
    numbers = [float(element.attrib[name]) for name in names.split()]
    if not all(abs(number) <= MAX_SIDE for number in numbers):
        raise ValueError(f"{str(numbers)[:80]} as {names}")
    return numbers


def _shape(element: ET.Element, place: str, names: list[str], where: str) -> Shape:
    label = element.get("label", "").strip()
    place += f" ({label[:40]})"
    with as_written(f"{where}, {place}", "a polygon, box, ellipse or mask, as CVAT writes it"):
        if label not in names:
            raise ValueError(f"the label {label[:80]!r}, none of {', '.join(names)[:120]}")
        group, level = (int(element.get(name, "0")) for name in ("group_id", "z_order"))
        shape = Shape(label, "rows", place, group=str(group or ""), level=level)
        if element.tag == "mask":
            box = [int(side) for side in _numbers(element, "left top width height")]
            words = element.get("rle", "").split(",")
            runs = [int(word) for word in words if word.strip().isdecimal() and len(word) < 16]
            if min(box) < 0 or len(runs) < len(words) or not 0 < sum(runs) == box[2] * box[3]:
                raise ValueError("runs of pixels that do not fill its box")
            return shape._replace(data=[*box, *runs])
        points = checked_points(_outline(element), 3)
        # CVAT keeps two digits before it draws.
        return shape._replace(kind="parts", points=np.round(points, 2).tolist(), data=[0])


def _outline(element: ET.Element) -> list[list[float]]:
    """Returns x and y of each corner of a polygon, a box or an ellipse."""
    if element.tag == "polygon":
        return [[*map(float, pair.split(","))] for pair in element.attrib["points"].split(";")]
    (angle,) = _numbers(element, "rotation") if "rotation" in element.attrib else (0,)
    if element.tag == "box":
        x1, y1, x2, y2 = _numbers(element, "xtl ytl xbr ybr")
        middle = complex(x1 + (x2 - x1) / 2, y1 + (y2 - y1) / 2)
        corners = [complex(x, y) for x, y in ((x1, y1), (x2, y1), (x2, y2), (x1, y2))]
    elif element.tag == "ellipse":
        # OpenCV, with which CVAT draws, takes whole numbers, some corners for small ellipses, and
        # the pixels on the edge too.
        x, y, a, b = (round(n) + 0.5 for n in _numbers(element, "cx cy rx ry"))
        if min(a, b) < 0:
            raise ValueError("a negative radius")
        step = next((step for side, step in _STEPS if max(a, b) < side), 5)
        turns = [math.radians(degree) for degree in range(0, 360, step)]
        middle, angle = complex(x, y), round(angle)
        corners = [complex(x + a * math.cos(turn), y + b * math.sin(turn)) for turn in turns]
    else:
        raise ValueError(f"a shape of the kind {element.tag[:40]!r}")
    turn = cmath.rect(1, math.radians(angle))  # clockwise
    turned = [middle + turn * (corner - middle) for corner in corners]
    return [[corner.real, corner.imag] for corner in turned]
