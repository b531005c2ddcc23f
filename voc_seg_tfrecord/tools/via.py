"""VIA, the VGG Image Annotator: one JSON or CSV file for many images, with the regions of each.

VIA 1 and 2 write annotations and projects as JSON, and annotations as CSV. VIA 3 writes projects as
JSON of another form.

References:
  VIA 2.0, `via_region_shape_to_coco_annotation`: in VIA's export to COCO circles and ellipses are
    polygons with a corner every five degrees. It leaves out regions whose attributes are texts, and
    turns no ellipse, so the regions are read from VIA's own files. They are drawn as COCO's are.
  VIA 3, its page on code documentation, `_via_metadata.js`: the numbers of shapes, and what
    `metadata` hold.
"""

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
import csv
import dataclasses
import io
import json
from typing import Any

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.tools.shapes import (
    Annotation,
    AnnotationFile,
    Shape,
    as_written,
    checked_points,
    ellipse_corners,
    load_json,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import LABELS_TXT, ShapeTool

_DEGREES_BETWEEN_CORNERS = 5
_KINDS_LEFT_OUT = ("point", "line", "polyline")
_ATTRIBUTES_OF_CLASS = ("class", "class_name", "classname", "label", "category")
_CLASS_WITHOUT_ATTRIBUTE = "region"


Region = Mapping[str, Any]
"""A region as VIA 2 writes it: its `shape_attributes`, and its `region_attributes` by name."""


@dataclasses.dataclass(frozen=True)
class _ImageOfVia:
    """An image in a file of VIA's: its name, and its regions."""

    name: str
    regions: Sequence[Region]


def read(file: File) -> AnnotationFile:
    """Reads annotations or a project of VIA. What is wrong with a region is the image's `error`.

    Raises:
      MaskError: if the file is not VIA's, or it is not clear which attribute is the class.
    """
    if file.where.lower().endswith(".csv"):
        entries = _entries_of_csv(file)
    else:
        data = load_json(file)
        with as_written(file.where, "JSON as VIA writes it"):
            entries = _entries_of_via_3(data) if "view" in data else _entries_of_via_2(data)
    with as_written(file.where, "regions with attributes, as VIA writes them"):
        attribute = _find_class_attribute([entry.regions for entry in entries], file.where)
    count_by_name = collections.Counter(entry.name for entry in entries)
    images = []
    for entry in entries:
        images.append(_read_image(entry, attribute, file.where, count_by_name[entry.name]))
    notes = []
    if not attribute and any(entry.regions for entry in entries):
        notes.append(
            "VIA's regions have no attribute that names a class, so all are one, called "
            f"{_CLASS_WITHOUT_ATTRIBUTE}. --classes {_CLASS_WITHOUT_ATTRIBUTE}=NAME renames it."
        )
    return AnnotationFile(images, notes=notes)


def _entries_of_via_2(data: Mapping[str, Any]) -> list[_ImageOfVia]:
    """Returns the images of annotations or of a project; VIA 1 writes regions as an object."""
    entries = []
    for entry in data.get("_via_img_metadata", data).values():
        regions = entry["regions"]
        regions = regions.values() if isinstance(regions, dict) else regions
        entries.append(_ImageOfVia(str(entry["filename"]), [*regions]))
    return entries


_CSV_COLUMNS = ("filename", "region_shape_attributes", "region_attributes")


def _entries_of_csv(file: File) -> list[_ImageOfVia]:
    """Returns the images of VIA's CSV, which has a line for each region, and for each image.

    The line of an image without regions has an empty object as its shape.
    """
    regions_by_image: dict[tuple[str, str], list[Region]] = {}
    with as_written(file.where, "CSV as VIA 1 and 2 write it"):
        text = file.data.decode("utf-8-sig").removeprefix("#")  # VIA 1 begins with it
        rows = csv.DictReader(io.StringIO(text, newline=None), strict=True)
        try:
            for number, row in enumerate(rows, 1):
                name, shape, attributes = (row[column] for column in _CSV_COLUMNS)
                if not name or shape is None or attributes is None or None in row:
                    raise ValueError(f"line {number} below the head line has other columns")
                regions = regions_by_image.setdefault((name, row.get("file_size") or ""), [])
                shape_attributes = json.loads(shape)
                if shape_attributes:
                    region_attributes = json.loads(attributes)
                    regions.append(
                        {
                            "shape_attributes": shape_attributes,
                            "region_attributes": region_attributes,
                        }
                    )
        except csv.Error as error:
            raise ValueError(str(error)) from None
    return [_ImageOfVia(name, regions) for (name, _), regions in regions_by_image.items()]


# VIA 3 numbers the kinds of shapes and files, and the options of attributes.
_KINDS_OF_VIA_3 = {
    1: "point",
    2: "rect",
    3: "circle",
    4: "ellipse",
    5: "line",
    6: "polyline",
    7: "polygon",
    8: "extreme rectangle",
    9: "extreme circle",
}
_IMAGE_OF_VIA_3 = 2
_TEXT_OF_VIA_3 = 1
_CHECKBOX_OF_VIA_3 = 2


def _entries_of_via_3(data: Mapping[str, Any]) -> list[_ImageOfVia]:
    """Returns the images of a project of VIA 3.

    Its `metadata` belong to views of one file each, and those without `xy` describe the file.

    Raises:
      ValueError: if a view shows several files, or another file than an image.
    """
    regions_by_view: dict[str, list[Region]] = {view_id: [] for view_id in data["view"]}
    for metadata in data["metadata"].values():
        if metadata["xy"]:
            regions_by_view[metadata["vid"]].append(_region_of_via_3(metadata, data["attribute"]))
    entries = []
    for view_id, regions in regions_by_view.items():
        file_ids = data["view"][view_id]["fid_list"]
        if len(file_ids) != 1:
            raise ValueError(f"the view {view_id} of {len(file_ids)} files, not of one image")
        file = data["file"][str(file_ids[0])]
        if file["type"] != _IMAGE_OF_VIA_3:
            raise ValueError(f"{str(file['fname'])[:80]}, which is no image")
        entries.append(_ImageOfVia(str(file["fname"]), regions))
    return entries


def _region_of_via_3(metadata: Mapping[str, Any], attributes: Mapping[str, Any]) -> Region:
    """Returns a region of VIA 3 in the form of VIA 2."""
    number, *numbers = metadata["xy"]
    values = {}
    for attribute_id, value in metadata["av"].items():
        attribute = attributes[attribute_id]
        values[attribute["aname"]] = _value_of_via_3(attribute, value)
    return {
        "shape_attributes": _shape_of_via_3(_KINDS_OF_VIA_3[number], numbers),
        "region_attributes": values,
    }


def _shape_of_via_3(kind: str, numbers: Sequence[Any]) -> dict[str, Any]:
    """Returns the numbers of a shape by their names in VIA 2."""
    if kind == "extreme rectangle":  # has a point on each of its sides
        x, y = numbers[::2], numbers[1::2]
        numbers = [min(x), min(y), max(x) - min(x), max(y) - min(y)]
        kind = "rect"
    names = {
        "rect": ("x", "y", "width", "height"),
        "circle": ("cx", "cy", "r"),
        "ellipse": ("cx", "cy", "rx", "ry"),
    }
    if kind in names:
        return {"name": kind, **dict(zip(names[kind], numbers, strict=True))}
    return {"name": kind, "all_points_x": numbers[::2], "all_points_y": numbers[1::2]}


def _value_of_via_3(attribute: Mapping[str, Any], value: str) -> Any:
    """Returns the text of an attribute's value, which is the number of an option, or several."""
    if attribute["type"] == _TEXT_OF_VIA_3 or value == "":
        return value
    options = attribute["options"]
    if attribute["type"] == _CHECKBOX_OF_VIA_3:
        return {options[option_id]: True for option_id in value.split(",")}
    return options[value]


def _find_class_attribute(regions_by_image: Sequence[Sequence[Region]], where: str) -> str:
    """Returns the attribute that names the class; empty if no region has an attribute."""
    used = set[str]()
    for regions in regions_by_image:
        for region in regions:
            for name, value in region["region_attributes"].items():
                if _list_values(value):
                    used.add(name)
    if len(used) < 2:
        return next(iter(used), "")
    called_class = [name for name in used if name.strip().casefold() in _ATTRIBUTES_OF_CLASS]
    if len(called_class) == 1:
        return called_class[0]
    if _agree_everywhere(used, regions_by_image):
        return min(used)
    raise shape_error(
        where,
        f"the attributes {', '.join(sorted(used))[:200]} of regions",
        "one attribute, or one called class, label or category, that names the class",
        "in VIA, delete the attributes that do not name the class, or rename the one that does to "
        "class",
    )


def _agree_everywhere(
    attributes: Iterable[str], regions_by_image: Sequence[Sequence[Region]]
) -> bool:
    """Says whether attributes have one value in each region, so that they are one attribute."""
    for regions in regions_by_image:
        for region in regions:
            values = [region["region_attributes"].get(name) for name in attributes]
            if any(value != values[0] for value in values):
                return False
    return True


def _list_values(value: Any) -> list[Any]:
    """Returns the values of an attribute: a text, a number, or the options that are ticked."""
    values = [value]
    if isinstance(value, dict):
        values = [option for option, is_ticked in value.items() if is_ticked]
    return [one for one in values if one is not None and str(one).strip()]


def _class_of(value: Any) -> str:
    """Returns the class that a filled attribute names: a text, or the one option that is ticked."""
    name, *others = _list_values(value)
    if others:
        raise ValueError(f"several values of an attribute: {', '.join([name, *others])[:80]}")
    if not isinstance(name, str | int):
        raise ValueError(f"the value {str(name)[:80]} of an attribute")
    return str(name)


def _read_image(entry: _ImageOfVia, attribute: str, where: str, entries_of_name: int) -> Annotation:
    """Reads the regions of an image.

    Args:
      entry: the image.
      attribute: the attribute that names the class; empty if there is none.
      where: the file.
      entries_of_name: how many images the file has of this name. VIA tells images by name and
        bytes, so a file that was replaced has two.
    """
    name = entry.name.replace("\\", "/")
    left_out: dict[str, int] = collections.Counter()
    shapes = []
    try:
        if entries_of_name > 1:
            raise shape_error(
                f"{where}, image {name[-80:]}",
                f"{entries_of_name} images of one file name",
                "one image of each file name",
                "delete all of them but one in VIA, and export again",
            )
        for number, region in enumerate(entry.regions, 1):
            position = f"image {name[-80:]}, region {number}"
            with as_written(f"{where}, {position}", "a region with a shape and its attributes"):
                kind = region["shape_attributes"]["name"]
                if kind in _KINDS_LEFT_OUT:
                    left_out[kind] += 1
                else:
                    shapes.append(_read_region(region, attribute, position, where))
    except MaskError as error:
        return Annotation(where, name, None, error=error)
    return Annotation(where, name, None, shapes, "smaller", left_out=left_out)


def _read_region(region: Region, attribute: str, position: str, where: str) -> Shape:
    label = _CLASS_WITHOUT_ATTRIBUTE
    if attribute:
        value = region["region_attributes"].get(attribute)
        if not _list_values(value):
            found = f"no value of the attribute {attribute}, which names the class"
            raise shape_error(f"{where}, {position}", found, "a class of each region")
        label = _class_of(value)
    shape_position = position_with_label(position, label)
    shape_where = f"{where}, {shape_position}"
    shape = region["shape_attributes"]
    read_points = _POINTS_OF.get(shape["name"])
    if read_points is None:
        found = f"a shape of the kind {str(shape['name'])[:40]!r}"
        raise shape_error(shape_where, found, f"one of {', '.join(_POINTS_OF)}")
    points = checked_points(read_points(shape), shape_where, 3)
    is_box = shape["name"] == "rect"
    return Shape(label, "parts", shape_position, points, is_box=is_box)


def _points_of_polygon(shape: Mapping[str, Any]) -> list[Any]:
    pairs = zip(shape["all_points_x"], shape["all_points_y"], strict=True)
    return [[x, y] for x, y in pairs]


def _points_of_rectangle(shape: Mapping[str, Any]) -> list[Any]:
    left, top = shape["x"], shape["y"]
    right, bottom = left + shape["width"], top + shape["height"]
    return [[left, top], [right, top], [right, bottom], [left, bottom]]


def _points_of_circle(shape: Mapping[str, Any]) -> list[Any]:
    center = complex(shape["cx"], shape["cy"])
    return ellipse_corners(center, shape["r"], shape["r"], 0, _DEGREES_BETWEEN_CORNERS)


def _points_of_ellipse(shape: Mapping[str, Any]) -> list[Any]:
    center = complex(shape["cx"], shape["cy"])
    rotation = shape.get("theta", 0)
    return ellipse_corners(center, shape["rx"], shape["ry"], rotation, _DEGREES_BETWEEN_CORNERS)


_POINTS_OF: dict[str, Callable[[Mapping[str, Any]], list[Any]]] = {
    "polygon": _points_of_polygon,
    "rect": _points_of_rectangle,
    "circle": _points_of_circle,
    "ellipse": _points_of_ellipse,
}


VIA = ShapeTool(
    name="VIA",
    endings=(".json", ".csv"),
    words=(b'"file_attributes"', b'"fid_list"', b"region_shape_attributes"),
    pattern=rb'"regions"\s*:\s*[\[{]|"metadata"\s*:\s*\{|filename,file_size,',
    read=read,
    class_list=LABELS_TXT,
)
