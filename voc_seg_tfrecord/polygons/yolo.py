"""YOLO: a text file per image. A line is a class number, and each point as fractions of the sides.

References:
  https://docs.ultralytics.com/datasets/segment/ and its setting `overlap_mask`: the smaller of two
    polygons lies above. An image without a text file is background.
"""

from collections.abc import Container, Mapping
import posixpath
import re
from typing import Any

import yaml

from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.polygons.shapes import (
    Annotation,
    Shape,
    as_written,
    checked_points,
    read_lines,
)


def read(file: File, image: str, class_names: tuple[str, ...]) -> Annotation:
    """Reads the text file of an image; an error if a line is no polygon of a known class."""
    shapes = [
        _shape(line.split(), f"line {number}", file.where, class_names)
        for number, line in enumerate(read_lines(file), 1)
        if line
    ]
    return Annotation(file.where, image, None, shapes, "smaller")


def _shape(words: list[str], place: str, where: str, class_names: tuple[str, ...]) -> Shape:
    expected = f"a class number up to {len(class_names) - 1}, and x and y of three points or more"
    with as_written(f"{where}, {place}", expected):
        try:
            number, *points = map(float, words)
        except ValueError:
            raise ValueError(repr(" ".join(words)[:80])) from None
        if number not in range(len(class_names)):
            raise ValueError(f"the class number {words[0][:20]}")
        if len(points) == 4:
            raise ValueError("a box, of which no mask can be made")
        points = checked_points(points, 3)
        if far := [value for value in points if not -1 <= value <= 2]:
            raise ValueError(f"the coordinate {far[0]:g}, no fraction of the image's sides")
        label = class_names[int(number)]
        return Shape(label, "fractions", f"{place} ({label[:40]})", points)


def read_names(file: File) -> tuple[str, ...]:
    """Returns the class names in a file such as `data.yaml`; none if it names no classes.

    A text such as `classes.txt`, which other tools write beside YOLO's files, has one per line.
    """
    if file.where.lower().endswith(".txt"):
        return tuple(filter(None, read_lines(file)))
    data = _load_yaml(file)
    with as_written(file.where, "`names` of the classes 0, 1, 2 and so on"):
        names = data.get("names") or ()
        if names and "kpt_shape" in data:
            raise ValueError("kpt_shape, which says that the labels are keypoints")
        if isinstance(names, dict):
            names = [names[number] for number in range(len(names))]
        if other := [name for name in names if type(name) not in (str, int, float)]:
            raise ValueError(f"the name {other[0]}, which is no word without quotes")
        if names and data.get("nc", len(names)) != len(names):
            raise ValueError(f"{len(names)} names, and {str(data['nc'])[:40]} as nc")
        return tuple(str(name).strip() for name in names)


def read_splits(file: File, place: str, folders: Container[str]) -> dict[str, list[str]]:
    """Returns the folders of images that a file such as `data.yaml` names for its splits.

    Of a path that is named any end may be among `folders`, alone or below the file's `place`.
    """
    data = _load_yaml(file)
    splits: dict[str, list[str]] = {}
    for name in ("train", "val", "test"):
        said = data.get(name)
        for text in said if isinstance(said, list) else [said]:
            parts = [part for part in re.split(r"[/\\]", str(text)) if part.strip(".")]
            ends = ["/".join(parts[n:]) for n in range(len(parts))]
            there = (posixpath.join(top, end) for end in ends for top in (place, ""))
            splits.setdefault(name, []).extend([f for f in there if f in folders][:1])
    return splits


def _load_yaml(file: File) -> Mapping[Any, Any]:
    with as_written(file.where, "YAML as Ultralytics writes it"):
        try:
            data = yaml.safe_load(file.data)
        except yaml.YAMLError as error:
            raise ValueError(f"not readable as YAML: {str(error)[:100]}") from None
        return data if isinstance(data, dict) else {}
