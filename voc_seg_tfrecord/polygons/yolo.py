"""YOLO: a text file per image. A line is a class number, and each point as fractions of the sides.

References:
  https://docs.ultralytics.com/datasets/segment/ and its setting `overlap_mask`: the smaller of two
    polygons lies above. An image without a text file is background.
"""

from array import array
from collections.abc import Set
import posixpath
import re

import yaml

from voc_seg_tfrecord.formats.class_parsers import lines_of_names
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.polygons.shapes import (
    Annotation,
    Shape,
    as_written,
    checked_points,
    wrong,
)


def read(file: File, image: str, class_names: tuple[str, ...]) -> Annotation:
    """Reads the text file of an image; an error if a line is no polygon of a known class."""
    lines = file.data.decode("utf-8-sig", "replace").splitlines()
    shapes = [
        _shape(line, f"line {number}", file.where, class_names)
        for number, line in enumerate(lines, 1)
        if line.strip()
    ]
    return Annotation(file.where, image, None, shapes, "smaller")


def _shape(line: str, place: str, where: str, class_names: tuple[str, ...]) -> Shape:
    where = f"{where}, {place}"
    try:
        numbers = array("d", (float(word[0]) for word in re.finditer(r"\S+", line)))
    except ValueError:
        expected = "a class number, and x and y of each point"
        raise wrong(where, repr(" ".join(line.split(None, 80)[:80])[:80]), expected) from None
    number, points = numbers[0], numbers[1:]
    if number not in range(len(class_names)):
        expected = f"0 to {len(class_names) - 1}, as data.yaml names the classes"
        raise wrong(where, f"the class number {line.split(None, 1)[0][:20]}", expected)
    if len(points) == 4:
        remedy = "export polygons; a mask cannot be made of boxes"
        raise wrong(where, "a box", "polygons, which have at least three points", remedy)
    points = checked_points(points, where, 3)
    if min(points) < -1 or max(points) > 2:
        far = next(value for value in points if not -1 <= value <= 2)
        raise wrong(where, f"the coordinate {far:g}", "fractions of the image's sides, 0 to 1")
    label = class_names[int(number)]
    return Shape(label, "fractions", f"{place} ({label[:40]})", points)


def read_names(file: File) -> tuple[str, ...]:
    """Returns the class names in a file such as `data.yaml`; none if it names no classes.

    A text such as `classes.txt`, which other tools write beside YOLO's files, has one per line.
    """
    if file.where.lower().endswith(".txt"):
        with as_written(file.where, "the name of a class on each line"):
            return tuple(lines_of_names(file.data.decode("utf-8-sig", "replace")))
    with as_written(file.where, "`names` of the classes 0, 1, 2 and so on"):
        try:
            data = yaml.safe_load(file.data)
        except yaml.YAMLError as error:
            raise ValueError(f"not readable as YAML: {str(error)[:100]}") from None
        names = data.get("names") if isinstance(data, dict) else None
        if isinstance(names, list | dict) and "kpt_shape" in data:
            raise ValueError("kpt_shape, which says that the labels are keypoints")
        if isinstance(names, dict):
            names = [names[number] for number in range(len(names))]
        if other := [name for name in names or () if type(name) not in (str, int, float)]:
            raise ValueError(f"the name {other[0]}, which is no word without quotes")
        if names and data.get("nc", len(names)) != len(names):
            raise ValueError(f"{len(names)} names, and {str(data['nc'])[:40]} as nc")
        return tuple(str(name).strip() for name in names or ())


def text_of(image: str, texts: Set[str]) -> str | None:
    """Returns the text file of an image: beside it, or in `labels` if it is in `images`."""
    stem = posixpath.splitext(image)[0]
    *above, name = stem.split("/")
    places = [stem]
    for place, folder in enumerate(above):
        if folder == "images":
            places.append("/".join([*above[:place], "labels", *above[place + 1 :], name]))
    return next((f"{place}.txt" for place in places[::-1] if f"{place}.txt" in texts), None)
