"""CVAT: masks in the layout of Pascal VOC, and shapes in "CVAT for images 1.1".

The shapes are one XML file for the images of a job, a task or a project.

References:
  CVAT's export `Segmentation mask 1.1`: pycocotools draws polygons and boxes, a group becomes one
    mask with the label of its largest shape, and a shape of a higher z-order lies above. Ellipses,
    which OpenCV draws, are polygons of its corners here. Polylines, points, cuboids and skeletons
    are not drawn.
"""

from array import array
import cmath
import collections
from collections.abc import Callable, Sequence, Set
import math
import re
from typing import Any
import xml.etree.ElementTree as ET

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_rows import read_rgb
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import MAX_SIDE, File
from voc_seg_tfrecord.core.names import VOID, voc_palette
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.class_texts import is_comment, split_lines
from voc_seg_tfrecord.tools.shapes import (
    Annotation,
    AnnotationFile,
    ListedClass,
    Shape,
    as_written,
    checked_points,
    checked_size,
    ellipse_corners,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import ShapeTool


def parse_labelmap(text: str) -> list[ClassEntry]:
    """Reads `name:r,g,b:parts:actions`; an empty color is VOC's of that line."""
    entries = []
    lines = [line for line in split_lines(text) if line and not _is_comment(line)]
    for value, line in enumerate(lines):
        name, color, *_ = [*line.split(":"), ""]
        if color.strip():
            rgb = read_rgb(color.split(","))
        else:
            rgb = read_rgb(voc_palette()[min(value, VOID)])
        entries.append(ClassEntry(value, name.strip(), rgb))
    return entries


def _is_comment(line: str) -> bool:
    """Says whether a line is a comment; `#cat:128,0,0::` is a class."""
    return is_comment(line) or (line.startswith("#") and ":" not in line)


LABELMAP = ClassFileFormat(
    name="labelmap.txt", parse=parse_labelmap, expected="lines such as name:128,0,0::"
)


_MAX_DIGITS_OF_RUN = 15
_KINDS_LEFT_OUT = ("polyline", "points", "cuboid", "skeleton")


def read(file: File) -> AnnotationFile:
    """Reads a file of many images. What is wrong with a shape is the `error` of its image.

    Raises:
      MaskError: if the file is not CVAT's XML of images.
    """
    root = _parse_xml(file)
    classes = _read_labels(root)
    class_names = {listed.name.strip() for listed in classes}
    images = []
    for number, image in enumerate(root.findall("image"), 1):
        images.append(_read_image(image, number, class_names, file.where))
    return AnnotationFile(images, classes, _notes_on_groups(images))


def _read_labels(root: ET.Element) -> list[ListedClass]:
    """Returns the labels of a job, a task or a project.

    The tasks of a project may list its labels again, and the parts of skeletons, which are not
    drawn, are listed behind the skeletons.
    """
    classes: list[ListedClass] = []
    for labels in root.findall("./meta//labels"):
        names_before = {listed.name for listed in classes}
        for number, label in enumerate(labels.findall("label"), 1):
            name = label.findtext("name") or ""
            is_part = label.find("parent") is not None
            if name.strip() and not is_part and name not in names_before:
                classes.append(ListedClass(name, f"label {number}"))
    return classes


def _parse_xml(file: File) -> ET.Element:
    with as_written(file.where, "CVAT's XML"):
        try:
            if b"<!DOCTYPE" in file.data:  # it may stand for any amount of text
                raise ValueError("a document type")
            root = ET.fromstring(file.data)
        except (ET.ParseError, LookupError) as error:
            raise ValueError(f"not readable as XML: {str(error)[:200]}") from None
    expected = "CVAT's <annotations> of images"
    remedy = "export as 'CVAT for images 1.1'"
    if root.find("track") is not None:
        raise shape_error(file.where, "tracks of a video", expected, remedy)
    if root.tag != "annotations" or root.find("image") is None:
        found = f"XML of <{root.tag[:40]}> without <image>"
        raise shape_error(file.where, found, expected, remedy)
    return root


def _notes_on_groups(images: Sequence[Annotation]) -> list[str]:
    """Returns a note if groups of shapes have several labels."""
    count = 0
    for image in images:
        label_of_group = {shape.group: shape.label for shape in image.shapes}
        grouped = (shape for shape in image.shapes if shape.group)
        if any(label_of_group[shape.group] != shape.label for shape in grouped):
            count += 1
    if not count:
        return []
    return [
        f"Groups of shapes with several labels, in {count} images, have that of their largest "
        "shape, as in CVAT's own masks."
    ]


def _read_image(image: ET.Element, number: int, class_names: Set[str], where: str) -> Annotation:
    name = image.get("name", "").replace("\\", "/")
    position = f"image {number} ({name[-80:]})"
    if not name:
        raise shape_error(
            f"{where}, {position}", "no name", "an image with a name", "export it again"
        )
    subset = image.get("subset", "").strip()
    left_out: dict[str, int] = collections.Counter()
    shapes = []
    try:
        height, width = _read_numbers(image, ("height", "width"), f"{where}, {position}")
        size = checked_size(height, width, f"{where}, {position}")
        numbered = [*enumerate(image, 1)]
        # CVAT makes polygons of rotated boxes, and adds them at the end.
        numbered.sort(key=lambda pair: _is_rotated_box(pair[1]))
        for shape_number, element in numbered:
            if element.tag in _KINDS_LEFT_OUT:
                left_out[element.tag] += 1
            elif element.tag != "tag":
                shape_position = f"{position}, shape {shape_number}"
                shapes.append(_read_shape(element, shape_position, class_names, where))
    except MaskError as error:
        return Annotation(where, name, None, error=error, subset=subset)
    return Annotation(where, name, size, shapes, "level", left_out=left_out, subset=subset)


def _is_rotated_box(element: ET.Element) -> bool:
    return element.tag == "box" and "rotation" in element.attrib


def _read_numbers(element: ET.Element, attributes: Sequence[str], where: str) -> list[float]:
    """Returns the numbers in some attributes of an element."""
    with as_written(where, f"the numbers {' '.join(attributes)}"):
        numbers = [float(element.attrib[attribute]) for attribute in attributes]
        if not all(abs(number) <= MAX_SIDE for number in numbers):
            raise ValueError(str(numbers)[:80])
    return numbers


def _read_shape(element: ET.Element, position: str, class_names: Set[str], where: str) -> Shape:
    label = element.get("label", "")
    shape_position = position_with_label(position, label)
    shape_where = f"{where}, {shape_position}"
    if label.strip() not in class_names:
        expected = f"one of {', '.join(sorted(class_names))[:200]}"
        raise shape_error(shape_where, f"the label {label[:80]!r}", expected)
    with as_written(shape_where, "whole numbers as group_id and z_order"):
        group_id = int(element.get("group_id", "0"))
        level = int(element.get("z_order", "0"))
    group = str(group_id) if group_id else ""
    if element.tag == "mask":
        sides = _read_numbers(element, ("left", "top", "width", "height"), shape_where)
        box = [int(side) for side in sides]
        runs = _read_runs(element, box, shape_where)
        return Shape(label, "rows", shape_position, runs=runs, box=box, group=group, level=level)
    read_points = _POINTS_OF.get(element.tag)
    if read_points is None:
        raise shape_error(
            shape_where,
            f"a shape of the kind {element.tag[:40]!r}",
            "polygons, boxes, ellipses, masks",
            "make it a polygon or a mask in CVAT, or export as 'Segmentation mask 1.1'",
        )
    points = read_points(element, shape_where)
    return Shape(
        label,
        "parts",
        shape_position,
        points,
        group=group,
        level=level,
        is_box=element.tag == "box",
    )


def _read_runs(element: ET.Element, box: Sequence[int], where: str) -> list[int]:
    """Returns the runs of pixels outside and inside a mask in turn, row by row of its box."""
    left, top, width, height = box
    runs = []
    for word in element.get("rle", "").split(","):
        if not word.strip().isdecimal() or len(word) > _MAX_DIGITS_OF_RUN:
            raise shape_error(where, f"the run of pixels {word[:20]!r}", "whole numbers")
        runs.append(int(word))
    has_pixels = width > 0 and height > 0
    if not has_pixels or min(left, top) < 0 or sum(runs) != width * height:
        raise shape_error(where, "runs of pixels that do not fill its box", "a mask of CVAT's")
    return runs


_NUMBER = r"-?\d+(?:\.\d\d?)?"
_ROUNDED_POINTS = re.compile(f"{_NUMBER},{_NUMBER}(?:;{_NUMBER},{_NUMBER})*")
"""Points of two digits at most behind the dot, as CVAT itself writes them: `5,3.25;7.5,8;9,1`."""


def _points_of_polygon(element: ET.Element, where: str) -> "array[float]":
    with as_written(where, "points as x,y;x,y;x,y"):
        text = element.attrib["points"]
        if _ROUNDED_POINTS.fullmatch(text):  # most are, and rounding takes most of the time
            coordinates = [float(word) for word in text.replace(";", ",").split(",")]
            return checked_points(coordinates, where, 3)
        points = []
        for pair in text.split(";"):
            points.append([float(word) for word in pair.split(",")])
    return _round_points(points, where)


def _points_of_box(element: ET.Element, where: str) -> "array[float]":
    """Returns the corners of a box, which may be rotated around its middle."""
    turn = cmath.rect(1, math.radians(_read_rotation(element, where)))
    x1, y1, x2, y2 = _read_numbers(element, ("xtl", "ytl", "xbr", "ybr"), where)
    center = complex(x1 + (x2 - x1) / 2, y1 + (y2 - y1) / 2)
    corners = []
    for x, y in ((x1, y1), (x2, y1), (x2, y2), (x1, y2)):
        turned = center + turn * (complex(x, y) - center)
        corners.append([turned.real, turned.imag])
    return _round_points(corners, where)


def _points_of_ellipse(element: ET.Element, where: str) -> "array[float]":
    """Returns the corners that OpenCV draws, with which CVAT draws ellipses.

    It takes whole numbers, some corners for small ellipses, and the pixels on the edge too.
    """
    rotation = math.radians(round(_read_rotation(element, where)))
    numbers = _read_numbers(element, ("cx", "cy", "rx", "ry"), where)
    x, y, x_radius, y_radius = (round(number) + 0.5 for number in numbers)
    if min(x_radius, y_radius) < 0:
        raise shape_error(where, "a negative radius", "an ellipse of CVAT's")
    step = _degrees_between_corners(max(x_radius, y_radius))
    corners = ellipse_corners(complex(x, y), x_radius, y_radius, rotation, step)
    return _round_points(corners, where)


def _degrees_between_corners(radius: float) -> int:
    if radius < 3:
        return 90
    if radius < 10:
        return 30
    return 18 if radius < 15 else 5


_POINTS_OF: dict[str, Callable[[ET.Element, str], "array[float]"]] = {
    "polygon": _points_of_polygon,
    "box": _points_of_box,
    "ellipse": _points_of_ellipse,
}


def _read_rotation(element: ET.Element, where: str) -> float:
    if "rotation" not in element.attrib:
        return 0
    (angle,) = _read_numbers(element, ("rotation",), where)
    return angle


def _round_points(points: list[Any], where: str) -> "array[float]":
    """Returns points with two digits, which CVAT keeps before it draws."""
    return array("d", [round(number, 2) for number in checked_points(points, where, 3)])


CVAT = ShapeTool(
    name="CVAT",
    class_files=(LABELMAP,),
    endings=(".xml",),
    words=(b"<annotations",),
    pattern=rb"<(image|track)\b",
    read=read,
)
