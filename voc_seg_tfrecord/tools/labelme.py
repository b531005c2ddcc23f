"""labelme: one JSON file per image, with its shapes in the order in which they are drawn.

References:
  labelme 7.1.0, `shapes_to_label`. Before 7.0 strips had no round joints.
"""

import base64
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools.shapes import (
    Annotation,
    AnnotationFile,
    Shape,
    ShapeKind,
    as_written,
    checked_points,
    checked_size,
    load_json,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import LABELS_TXT, ShapeTool


@dataclasses.dataclass(frozen=True)
class _ShapeType:
    """A type of labelme's shapes: how it is drawn, and how many points it has.

    `most` is 0 if a shape may have any number of points.
    """

    kind: ShapeKind
    least: int
    most: int


_SHAPE_TYPES = {
    "polygon": _ShapeType("polygon", 3, 0),
    "oriented_rectangle": _ShapeType("polygon", 4, 4),
    "rectangle": _ShapeType("rectangle", 2, 2),
    "circle": _ShapeType("circle", 2, 2),
    "line": _ShapeType("strip", 2, 2),
    "linestrip": _ShapeType("strip", 2, 0),
    "point": _ShapeType("point", 1, 1),
    "mask": _ShapeType("mask", 2, 2),
}


def read(file: File) -> AnnotationFile:
    """Reads the file of one image.

    Raises:
      MaskError: if the file has a shape that labelme would not draw.
    """
    data = load_json(file, "shapes")
    size = None
    if data.get("imageHeight") is not None and data.get("imageWidth") is not None:
        size = checked_size(data["imageHeight"], data["imageWidth"], file.where)
    shapes = []
    for number, shape in enumerate(data["shapes"], 1):
        shapes.append(_read_shape(shape, f"shape {number}", file.where))
    image = str(data.get("imagePath") or "").replace("\\", "/")
    is_embedded = bool(data.get("imageData"))
    return AnnotationFile([Annotation(file.where, image, size, shapes, embedded=is_embedded)])


def read_image(file: File) -> File:
    """Returns the image that a file holds."""
    with as_written(file.where, "an image in base64 as `imageData`"):
        return File(base64.b64decode(load_json(file, "shapes")["imageData"]), file.where)


def _read_shape(shape: Any, position: str, where: str) -> Shape:
    with as_written(f"{where}, {position}", "a shape of labelme's with a label"):
        label = shape["label"]
        if not isinstance(label, str) or not label.strip():
            raise ValueError(f"the label {str(label)[:40]!r}")
        shape_position = position_with_label(position, label)
        shape_where = f"{where}, {shape_position}"
        name = str(shape.get("shape_type") or "polygon")  # in old files all are polygons
        if name not in _SHAPE_TYPES:
            raise ValueError(f"the type {name[:40]!r}, not {', '.join(_SHAPE_TYPES)}")
        shape_type = _SHAPE_TYPES[name]
        points = checked_points(shape["points"], shape_where, shape_type.least)
        if name == "rectangle" and len(points) == 8:  # four corners, as X-AnyLabeling writes them
            shape_type = _ShapeType("polygon", 4, 4)
        if shape_type.most and len(points) > 2 * shape_type.most:
            raise shape_error(
                shape_where, f"{len(points) // 2} points", f"{shape_type.most} of a {name}"
            )
        group = shape.get("group_id")
        png = shape.get("mask")
        return Shape(
            label,
            shape_type.kind,
            shape_position,
            points,
            png=png if isinstance(png, str) else "",
            group="" if group is None else str(group),
            is_box=name in ("rectangle", "oriented_rectangle"),
        )


LABELME = ShapeTool(
    name="labelme",
    endings=(".json",),
    words=(b'"shapes"',),
    pattern=rb'"image(Path|Data)"\s*:',
    read=read,
    find_image="beside",
    class_list=LABELS_TXT,
)
