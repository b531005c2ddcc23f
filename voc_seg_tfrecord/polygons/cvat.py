"""CVAT for images 1.1: one XML file for the images of a job, a task or a project.

References:
  CVAT's export `Segmentation mask 1.1`: pycocotools draws polygons and boxes, a group becomes one
    mask with the label of its largest shape, and a shape of a higher z-order lies above. Ellipses,
    which OpenCV draws, are polygons of its corners here. Polylines, points, cuboids and skeletons
    are not drawn.
"""

from array import array
import cmath
import collections
import math
import re
from typing import Any
import xml.etree.ElementTree as ET

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
_NUMBER = r"-?\d+(?:\.\d\d?)?"
_SHORT = re.compile(f"{_NUMBER},{_NUMBER}(?:;{_NUMBER},{_NUMBER})*")  # as CVAT writes points


def read(file: File) -> Sheet:
    """Reads a file of many images; an error if it is not CVAT's XML of images.

    What is wrong with a shape is the `error` of its image.
    """
    with as_written(file.where, "CVAT's XML"):
        try:
            if b"<!DOCTYPE" in file.data:  # it may stand for any amount of text
                raise ValueError("a document type")
            root = ET.fromstring(file.data)
        except (ET.ParseError, LookupError) as error:
            raise ValueError(f"not readable as XML: {str(error)[:200]}") from None
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
        height, width = _numbers(image, "height width", f"{where}, {place}")
        size = checked_size(height, width, f"{where}, {place}")
        elements = enumerate(image, 1)
        # CVAT makes polygons of rotated boxes, and adds them at the end.
        for n, element in sorted(
            elements, key=lambda pair: pair[1].tag == "box" and "rotation" in pair[1].attrib
        ):
            if element.tag in _NOT_DRAWN:
                left_out[element.tag] += 1
            elif element.tag != "tag":
                shapes.append(_shape(element, f"{place}, shape {n}", names, where))
    except MaskError as error:
        return Annotation(where, name, None, error=error)
    return Annotation(where, name, size, shapes, "level", left_out=left_out)


def _numbers(element: ET.Element, names: str, where: str) -> list[float]:
    with as_written(where, f"the numbers {names}"):
        numbers = [float(element.attrib[name]) for name in names.split()]
        if not all(abs(number) <= MAX_SIDE for number in numbers):
            raise ValueError(str(numbers)[:80])
    return numbers


def _shape(element: ET.Element, place: str, names: list[str], where: str) -> Shape:
    kind, label = element.tag, element.get("label", "").strip()
    place += f" ({label[:40]})"
    where = f"{where}, {place}"
    if label not in names:
        raise wrong(where, f"the label {label[:80]!r}", f"one of {', '.join(names)[:200]}")
    with as_written(where, "whole numbers as group_id and z_order"):
        number, level = (int(element.get(name, "0")) for name in ("group_id", "z_order"))
    group = str(number) if number else ""
    (angle,) = _numbers(element, "rotation", where) if "rotation" in element.attrib else (0,)
    if kind == "mask":
        box = [int(side) for side in _numbers(element, "left top width height", where)]
        words = element.get("rle", "").split(",")
        runs = [int(word) for word in words if word.strip().isdecimal() and len(word) < 16]
        if min(box) < 0 or len(runs) < len(words) or not 0 < sum(runs) == box[2] * box[3]:
            raise wrong(where, "runs of pixels that do not fill its box", "a mask of CVAT's")
        return Shape(label, "rows", place, data=[*box, *runs], group=group, level=level)
    points: list[Any]
    short = False
    if kind == "box":
        x1, y1, x2, y2 = _numbers(element, "xtl ytl xbr ybr", where)
        corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
        points = _rotated(corners, (x1 + (x2 - x1) / 2, y1 + (y2 - y1) / 2), angle)
    elif kind == "ellipse":
        # OpenCV, with which CVAT draws, takes whole numbers, some corners for small ellipses, and
        # the pixels on the edge too.
        x, y, a, b = (round(n) + 0.5 for n in _numbers(element, "cx cy rx ry", where))
        if min(a, b) < 0:
            raise wrong(where, "a negative radius", "an ellipse of CVAT's")
        step = next((step for side, step in _STEPS if max(a, b) < side), 5)
        turns = [math.radians(degree) for degree in range(0, 360, step)]
        edge = [(x + a * math.cos(turn), y + b * math.sin(turn)) for turn in turns]
        points = _rotated(edge, (x, y), round(angle))
    elif kind == "polygon":
        with as_written(where, "points as x,y;x,y;x,y"):
            text = element.attrib["points"]
            if short := _SHORT.fullmatch(text) is not None:
                points = [*map(float, text.replace(";", ",").split(","))]
            else:
                points = [[*map(float, pair.split(","))] for pair in text.split(";")]
    else:
        remedy = "make it a polygon or a mask in CVAT, or export as 'Segmentation mask 1.1'"
        known = "polygons, boxes, ellipses, masks"
        raise wrong(where, f"a shape of the kind {kind[:40]!r}", known, remedy)
    flat = checked_points(points, where, 3)
    if not short:  # CVAT keeps two digits before it draws
        flat = array("d", [round(number, 2) for number in flat])
    return Shape(label, "parts", place, flat, [0], group, level)


def _rotated(
    points: list[tuple[float, float]], middle: tuple[float, float], degrees: float
) -> list[list[float]]:
    """Returns points rotated clockwise around another one."""
    turn, middle_point = cmath.rect(1, math.radians(degrees)), complex(*middle)
    turned = [middle_point + turn * (complex(*point) - middle_point) for point in points]
    return [[point.real, point.imag] for point in turned]
