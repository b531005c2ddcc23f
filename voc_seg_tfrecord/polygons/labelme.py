"""labelme: one JSON file per image, with its shapes in the order in which they are drawn.

References:
  labelme 7.1.0, `shapes_to_label`. Before 7.0 strips had no round joints.
"""

import base64
from typing import Any

from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.polygons.shapes import (
    Annotation,
    Shape,
    Sheet,
    as_written,
    checked_points,
    checked_size,
    load_json,
    wrong,
)

# By the tool's name of a shape: the name here, and how many points it has; 0 for any number.
_KINDS = {
    "polygon": ("polygon", 3, 0),
    "oriented_rectangle": ("polygon", 4, 4),
    "rectangle": ("rectangle", 2, 2),
    "circle": ("circle", 2, 2),
    "line": ("line", 2, 2),
    "linestrip": ("strip", 2, 0),
    "point": ("point", 1, 1),
    "mask": ("mask", 2, 2),
}


def read(file: File) -> Sheet:
    """Reads the file of one image; an error if it has a shape that labelme would not draw."""
    data = load_json(file, "shapes")
    size = None
    if data.get("imageHeight") is not None and data.get("imageWidth") is not None:
        size = checked_size(data["imageHeight"], data["imageWidth"], file.where)
    shapes = [_shape(s, f"shape {n}", file.where) for n, s in enumerate(data["shapes"], 1)]
    image = str(data.get("imagePath") or "").replace("\\", "/")
    embedded = bool(data.get("imageData"))
    return Sheet((), [Annotation(file.where, image, size, shapes, embedded=embedded)])


def read_image(file: File) -> File:
    """Returns the image that a file holds."""
    with as_written(file.where, "an image in base64 as `imageData`"):
        return File(base64.b64decode(load_json(file, "shapes")["imageData"]), file.where)


def _shape(shape: Any, place: str, where: str) -> Shape:
    with as_written(f"{where}, {place}", "a shape of labelme's with a label"):
        label = shape["label"]
        if not isinstance(label, str) or not (label := label.strip()):
            raise ValueError(f"the label {str(shape['label'])[:40]!r}")
        place += f" ({label[:40]})"
        where = f"{where}, {place}"
        name = str(shape.get("shape_type") or "polygon")  # in old files all are polygons
        if name not in _KINDS:
            raise ValueError(f"the type {name[:40]!r}, not {', '.join(_KINDS)}")
        kind, least, most = _KINDS[name]
        points = checked_points(shape["points"], where, least)
        if name == "rectangle" and len(points) == 8:  # four corners, as X-AnyLabeling writes them
            kind, most = "polygon", 4
        if most and len(points) > 2 * most:
            raise wrong(where, f"{len(points) // 2} points", f"{most} of a {name}")
        group = "" if shape.get("group_id") is None else str(shape["group_id"])
    return Shape(label, kind, place, points, shape.get("mask"), group)
