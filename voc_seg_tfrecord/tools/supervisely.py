"""Supervisely: masks in the layout of Pascal VOC, and a JSON per image in its own format.

References:
  Supervisely's SDK, `Polygon._draw_impl`: OpenCV fills the outline, and then empties the holes, on
    points in whole numbers. `Bitmap.base64_2_data`: a mask is a PNG, packed by zlib. Its pixels are
    those that are opaque, or those that are not 0 in a PNG without transparency.
"""

from array import array
import base64
import collections
from collections.abc import Mapping
import posixpath
from typing import Any
import zlib

import numpy as np

from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.class_rows import read_rgb
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats.texts import load_json as load_any_json
from voc_seg_tfrecord.tools.class_file import ClassFileFormat, NumberingOfNames
from voc_seg_tfrecord.tools.class_texts import number_by_place
from voc_seg_tfrecord.tools.shape_pixels import opaque_pixels
from voc_seg_tfrecord.tools.shapes import (
    Annotation,
    AnnotationFile,
    Shape,
    as_written,
    checked_points,
    checked_size,
    load_json,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import (
    ClassList,
    ShapeTool,
)


def parse_colors(text: str) -> list[ClassEntry]:
    """Reads `name R G B`; a name may have blanks."""
    entries = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, *rgb = line.strip().rsplit(maxsplit=3)
        value = 0  # `number_by_place` replaces it
        entries.append(ClassEntry(value, name, read_rgb(rgb), by_place=True))
    return number_by_place(entries)


_KINDS_LEFT_OUT = ("point", "line", "graph", "cuboid")
_MAX_PNG_BYTES = 1 << 26


def parse_meta(text: str) -> list[str]:
    """Returns the names of the classes in a project's `meta.json`."""
    return [entry["title"] for entry in load_any_json(text)["classes"]]


def read(file: File) -> AnnotationFile:
    """Reads the file of one image.

    Raises:
      MaskError: if the file is not Supervisely's, or a shape cannot be drawn.
    """
    data = load_json(file, "objects")
    left_out: dict[str, int] = collections.Counter()
    shapes = []
    with as_written(file.where, "JSON as Supervisely writes it"):
        size = checked_size(data["size"]["height"], data["size"]["width"], file.where)
        for number, item in enumerate(data["objects"], 1):
            position = f"object {number}"
            with as_written(f"{file.where}, {position}", "an object with a class and a geometry"):
                kind = _kind_of(item)
                if kind in _KINDS_LEFT_OUT:
                    left_out[kind] += 1
                else:
                    shapes.append(_read_object(item, kind, size, position, file.where))
    image = _name_of_image(file.where)
    return AnnotationFile([Annotation(file.where, image, size, shapes, left_out=left_out)])


def _name_of_image(where: str) -> str:
    """Returns the image's path as seen from the file: `ann/a.jpg.json` belongs to `img/a.jpg`."""
    folder, name = posixpath.split(where)
    name = name[: -len(".json")]
    return f"../img/{name}" if posixpath.basename(folder) == "ann" else name


def _kind_of(item: Mapping[str, Any]) -> str:
    """Returns the kind of an object, which files of before 2019 do not name."""
    if "geometryType" in item:
        return str(item["geometryType"])
    return "bitmap" if item.get("bitmap") else "polygon"


def _read_object(
    item: Mapping[str, Any], kind: str, size: tuple[int, int], position: str, where: str
) -> Shape:
    label = item["classTitle"]
    if not label.strip():
        raise ValueError("an empty classTitle")
    shape_position = position_with_label(position, label)
    shape_where = f"{where}, {shape_position}"
    group = str(item.get("instance") or "")
    if kind == "polygon":
        points = array("d")
        starts = list[int]()
        for polygon in (item["points"]["exterior"], *item["points"]["interior"]):
            starts.append(len(points))
            points += _round_to_whole(polygon, shape_where, 3)
        return Shape(label, "polygon", shape_position, points, starts, group=group)
    if kind == "rectangle":
        points = _round_to_whole(item["points"]["exterior"], shape_where, 2)
        return Shape(label, "rectangle", shape_position, points, group=group, is_box=True)
    if kind != "bitmap":
        found = f"an object of the kind {kind[:40]!r}"
        raise shape_error(shape_where, found, "one of polygon, rectangle, bitmap")
    with as_written(shape_where, "a bitmap: a PNG packed by zlib, in base64, and its origin"):
        left, top = item["bitmap"]["origin"]
        image_height, image_width = size
        pixels = _decode_bitmap(item["bitmap"]["data"], 4 * image_height * image_width)
        height, width = pixels.shape
        box = (int(left), int(top), width, height)
        runs = array("q", _runs_of(pixels))
        return Shape(label, "rows", shape_position, runs=runs, box=box, group=group)


def _round_to_whole(points: Any, where: str, least: int) -> "array[float]":
    """Returns points in whole numbers, which Supervisely makes before it draws."""
    return array("d", [round(number) for number in checked_points(points, where, least)])


def _decode_bitmap(text: str, most_pixels: int) -> np.ndarray:
    """Returns the pixels of an object: bool `[h, w]`."""
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(base64.b64decode(text), _MAX_PNG_BYTES)
        if unpacker.unconsumed_tail:
            raise ValueError(f"more than {_MAX_PNG_BYTES >> 20} MiB")
    except zlib.error as error:
        raise ValueError(f"an unreadable bitmap: {error}") from None
    return opaque_pixels(data, most_pixels)


def _runs_of(pixels: np.ndarray) -> list[int]:
    """Returns the lengths of runs outside and inside the object in turn, row by row.

    The first run is outside: it has the length 0 if the first pixel is inside.
    """
    flat = pixels.ravel()
    ends = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    lengths: list[int] = np.diff([0, *ends, flat.size]).tolist()
    return [0, *lengths] if flat[0] else lengths


SUPERVISELY = ShapeTool(
    name="Supervisely",
    class_files=(
        ClassFileFormat(
            name="colors.txt",
            parse=parse_colors,
            expected="lines such as name 128 0 0",
            numbering=NumberingOfNames.OMITS_BACKGROUND,
        ),
    ),
    endings=(".json",),
    words=(b'"objects"',),
    pattern=rb'"classTitle"\s*:|"size"\s*:\s*\{\s*"(height|width)"',
    read=read,
    find_image="beside",
    class_list=ClassList(
        name="meta.json", parse=parse_meta, expected="the classes of a project of Supervisely"
    ),
)
