"""VIA 1 and 2, the VGG Image Annotator: one JSON file for many images, with the regions of each.

References:
  VIA 2.0, `via_region_shape_to_coco_annotation`: in VIA's export to COCO circles and ellipses are
    polygons with a corner every five degrees. It leaves out regions whose attributes are texts, and
    turns no ellipse, so the regions are read from VIA's own files. They are drawn as COCO's are.
"""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import json
import math
from typing import Any

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools.shapes import (
    Annotation,
    Shape,
    Sheet,
    as_written,
    checked_points,
    load_json,
    wrong,
)
from voc_seg_tfrecord.tools.tool import (
    LABELS_TXT,
    DrawnImage,
    ShapeExample,
    ShapeFiles,
    ShapesRow,
    Tool,
)

_DEGREES_BETWEEN_CORNERS = 5
_NOT_DRAWN = ("point", "polyline")
_ATTRIBUTES_OF_CLASS = ("class", "class_name", "classname", "label", "category")
_CLASS_WITHOUT_ATTRIBUTE = "region"


def read(file: File) -> Sheet:
    """Reads VIA's annotations or a project. What is wrong with a region is the image's `error`.

    Raises:
      MaskError: if the file is not VIA's, or it is not clear which attribute is the class.
    """
    data = load_json(file)
    with as_written(file.where, "JSON as VIA 2 writes it"):
        entries = [*data.get("_via_img_metadata", data).values()]
        regions_of = [_regions_of(entry) for entry in entries]
        attribute = _find_class_attribute(regions_of, file.where)
        images = []
        for entry, regions in zip(entries, regions_of, strict=True):
            images.append(_read_image(str(entry["filename"]), regions, attribute, file.where))
    notes = []
    if not attribute and any(regions_of):
        notes.append(
            "VIA's regions have no attribute that names a class, so all are one, called "
            f"{_CLASS_WITHOUT_ATTRIBUTE}. --classes {_CLASS_WITHOUT_ATTRIBUTE}=NAME renames it."
        )
    return Sheet((), images, notes)


def _regions_of(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the regions of an image, which VIA 1 writes as an object."""
    regions = entry["regions"]
    return [*(regions.values() if isinstance(regions, dict) else regions)]


def _find_class_attribute(regions_of: Sequence[Sequence[Mapping[str, Any]]], where: str) -> str:
    """Returns the attribute that names the class; empty if no region has an attribute."""
    used = set[str]()
    for regions in regions_of:
        for region in regions:
            for name, value in region["region_attributes"].items():
                if _text_of(value).strip():
                    used.add(name)
    if len(used) < 2:
        return next(iter(used), "")
    called_class = [name for name in used if name.strip().casefold() in _ATTRIBUTES_OF_CLASS]
    if len(called_class) == 1:
        return called_class[0]
    raise wrong(
        where,
        f"the attributes {', '.join(sorted(used))[:200]} of regions",
        "one attribute, or one called class, label or category, that names the class",
        "in VIA, delete the attributes that do not name the class, or rename the one that does to "
        "class",
    )


def _text_of(value: Any) -> str:
    """Returns the text of an attribute, or the one option of it that is ticked."""
    if isinstance(value, dict):
        ticked = [option for option, is_ticked in value.items() if is_ticked]
        if len(ticked) > 1:
            raise ValueError(f"several values of an attribute: {', '.join(ticked)[:80]}")
        value = ticked[0] if ticked else ""
    if not isinstance(value, str | int):
        raise ValueError(f"the value {str(value)[:80]} of an attribute")
    return str(value)


def _read_image(
    filename: str, regions: Sequence[Mapping[str, Any]], attribute: str, where: str
) -> Annotation:
    name = filename.replace("\\", "/")
    left_out: dict[str, int] = collections.Counter()
    shapes = []
    try:
        for number, region in enumerate(regions, 1):
            place = f"image {name[-80:]}, region {number}"
            with as_written(f"{where}, {place}", "a region with a shape and its attributes"):
                kind = region["shape_attributes"]["name"]
                if kind in _NOT_DRAWN:
                    left_out[kind] += 1
                else:
                    shapes.append(_read_region(region, attribute, place, where))
    except MaskError as error:
        return Annotation(where, name, None, error=error)
    return Annotation(where, name, None, shapes, "smaller", left_out=left_out)


def _read_region(region: Mapping[str, Any], attribute: str, place: str, where: str) -> Shape:
    label = _CLASS_WITHOUT_ATTRIBUTE
    if attribute:
        label = _text_of(region["region_attributes"].get(attribute, ""))
        if not label.strip():
            found = f"no value of the attribute {attribute}, which names the class"
            raise wrong(f"{where}, {place}", found, "a class of each region")
    place = f"{place} ({label.strip()[:40]})"
    shape = region["shape_attributes"]
    read_points = _POINTS_OF.get(shape["name"])
    if read_points is None:
        found = f"a shape of the kind {str(shape['name'])[:40]!r}"
        raise wrong(f"{where}, {place}", found, f"one of {', '.join(_POINTS_OF)}")
    points = checked_points(read_points(shape), f"{where}, {place}", 3)
    return Shape(label, "parts", place, points, [0])


def _points_of_polygon(shape: Mapping[str, Any]) -> list[Any]:
    pairs = zip(shape["all_points_x"], shape["all_points_y"], strict=True)
    return [[x, y] for x, y in pairs]


def _points_of_rectangle(shape: Mapping[str, Any]) -> list[Any]:
    left, top = shape["x"], shape["y"]
    right, bottom = left + shape["width"], top + shape["height"]
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def _points_of_circle(shape: Mapping[str, Any]) -> list[Any]:
    return _points_on_ellipse(shape, shape["r"], shape["r"], 0)


def _points_of_ellipse(shape: Mapping[str, Any]) -> list[Any]:
    return _points_on_ellipse(shape, shape["rx"], shape["ry"], shape.get("theta", 0))


def _points_on_ellipse(
    shape: Mapping[str, Any], x_radius: float, y_radius: float, rotation: float
) -> list[Any]:
    """Returns the corners of an ellipse, turned by an angle in radians."""
    points = []
    for degrees in range(0, 360, _DEGREES_BETWEEN_CORNERS):
        turn = math.radians(degrees)
        x, y = x_radius * math.cos(turn), y_radius * math.sin(turn)
        turned_x = x * math.cos(rotation) - y * math.sin(rotation)
        turned_y = x * math.sin(rotation) + y * math.cos(rotation)
        points.append([shape["cx"] + turned_x, shape["cy"] + turned_y])
    return points


_POINTS_OF: dict[str, Callable[[Mapping[str, Any]], list[Any]]] = {
    "polygon": _points_of_polygon,
    "rect": _points_of_rectangle,
    "circle": _points_of_circle,
    "ellipse": _points_of_ellipse,
}


def write_example(images: Mapping[str, DrawnImage]) -> Iterator[tuple[str, bytes]]:
    """Yields a JSON file in the folder of each split."""
    for split in ("train", "val"):
        entries = {}
        for image_id, image in images.items():
            folder, _, name = image_id.partition("/")
            if folder != split:
                continue
            regions = []
            for label, points in image.outlines.items():
                x, y = zip(*points, strict=True)
                outline = {"name": "polygon", "all_points_x": x, "all_points_y": y}
                regions.append({"shape_attributes": outline, "region_attributes": {"class": label}})
            entry = {"filename": f"{name}.jpg", "regions": regions, "file_attributes": {}}
            entries[f"{name}.jpg-1"] = {**entry, "size": -1}
        yield f"{split}/via_region_data.json", json.dumps(entries, indent=1).encode()


VIA = Tool(
    name="VIA",
    shapes=ShapeFiles(
        ending=".json",
        word=b'"file_attributes"',
        pattern=rb'"regions"\s*:\s*[\[{]',
        read=read,
        class_list=LABELS_TXT,
        not_drawn="which has no area",
    ),
    example=ShapeExample(images="{id}.jpg", has_splits=True, write=write_example),
    shapes_row=ShapesRow(
        tool="VIA 1 and 2",
        files="`via_region_data.json` or a project, one or several",
        pixels="pycocotools, as VIA's export to COCO; ellipses are turned too",
        above="the smaller one",
        classes="the regions' one attribute, or that called class, label or category; numbered as "
        "labelme's. Without attributes all are one class, `region`",
    ),
)
