"""COCO: one JSON file for many images, with polygons or runs of pixels per object.

References:
  https://cocodataset.org/#format-data, and pycocotools, `COCO.annToMask`. COCO does not say which
    of two objects lies above. Here it is the smaller one.
"""

from array import array
import collections
from collections.abc import Mapping
import re
from typing import Any

from voc_seg_tfrecord.base.errors import MaskError
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


def other_kind(data: Mapping[str, Any]) -> str:
    """Says what a file of COCO's holds in place of masks of objects; empty if it holds them."""
    shapes = [shape for shape in data["annotations"] if isinstance(shape, dict)]
    if any("segments_info" in shape for shape in shapes):
        return "panoptic segments, whose masks are PNGs"
    if any("keypoints" in category for category in data["categories"]):
        return "keypoints"
    return "boxes only" if shapes and not any(s.get("segmentation") for s in shapes) else ""


def read(file: File) -> Sheet:
    """Reads a file of many images; an error if it is not COCO's, or holds no masks of objects.

    What is wrong with a shape is the `error` of its image.
    """
    data = load_json(file, "images", "annotations", "categories")
    with as_written(file.where, "JSON as COCO writes it"):
        if kind := other_kind(data):
            raise wrong(file.where, kind, "polygons or masks of objects", "export those")
        names = {category["id"]: str(category["name"]).strip() for category in data["categories"]}
        names = {key: names[key] for key in sorted(names)}
        texts = all(isinstance(category["name"], str | int) for category in data["categories"])
        if not texts or "" in names.values() or len(names) < len(data["categories"]):
            raise ValueError("categories without a name or an id of their own")
        of_id = collections.Counter(image["id"] for image in data["images"])
        if repeated := [image_id for image_id, count in of_id.items() if count > 1]:
            raise ValueError(f"several images of the id {repeated[0]!r}")
        of_name: dict[str, list[Any]] = collections.defaultdict(list)
        for image in data["images"]:
            of_name[str(image["file_name"])].append(image["id"])
        by_image: dict[Any, list[Any]] = collections.defaultdict(list)
        for number, shape in enumerate(data["annotations"], 1):
            with as_written(f"{file.where}, annotation {number}", "an annotation of an image"):
                by_image[shape["image_id"]].append(shape)
        images = [
            _annotation(image, by_image.pop(image["id"], []), names, file.where, of_name)
            for image in data["images"]
        ]
        for image_id, (shape, *_) in by_image.items():
            where = f"{file.where}, annotation {shape.get('id')}"
            raise wrong(where, f"the image_id {image_id!r}", "the id of an image in the file")
        above = [(names[c["id"]], str(c.get("supercategory"))) for c in data["categories"]]
        groups = {group for _, group in above} - {name for name, group in above if name == group}
    shown = ", ".join(map(str, [*names][:12])) + (", ..." if len(names) > 12 else "")
    note = f"The ids of categories, {shown}, are not kept. Classes are numbered in their order."
    sparse = [*names] not in ([*range(len(names))], [*range(1, len(names) + 1)])
    # Roboflow writes one group.
    return Sheet([*dict.fromkeys(names.values())], images, [note] if sparse else [], groups)


def _annotation(
    image: Mapping[str, Any],
    shapes: list[Any],
    names: Mapping[Any, str],
    where: str,
    of_name: Mapping[str, list[Any]],
) -> Annotation:
    name = str(image["file_name"]).replace("\\", "/")
    place = f"{where}, image {name[-80:]}"
    try:
        if len(ids := of_name[str(image["file_name"])]) > 1:
            found = f"one file_name for the ids {' and '.join(map(repr, ids))[:99]}"
            remedy = "correct a file_name, or delete one image and give its shapes the other's id"
            raise wrong(place, found, "images that differ in file_name", remedy)
        size = checked_size(image.get("height"), image.get("width"), place)
        drawn = [_shape(shape, names, size, where) for shape in shapes]
    except MaskError as error:
        return Annotation(where, name, None, error=error)
    return Annotation(where, name, size, drawn, "smaller")


def _shape(
    shape: Mapping[str, Any], names: Mapping[Any, str], size: tuple[int, int], where: str
) -> Shape:
    place = f"annotation {str(shape.get('id'))[:40]}"
    if shape.get("category_id") not in names:
        found = f"the category_id {str(shape.get('category_id'))[:40]}"
        raise wrong(f"{where}, {place}", found, "the id of a category")
    label, crowd = names[shape["category_id"]], str(shape.get("iscrowd")) in ("1", "True")
    place = f"{place} ({label[:40]})"
    where, outline = f"{where}, {place}", shape.get("segmentation")
    if not outline:
        found = "no polygon" + (", but a box" if shape.get("bbox") else "")
        remedy = "draw the outline in the tool; a mask cannot be made of a box"
        raise wrong(where, found, "polygons or a mask of each object", remedy)
    with as_written(where, f"polygons, or runs that fill {size[1]} x {size[0]} pixels"):
        if isinstance(outline, list):
            points, starts = array("d"), list[int]()
            for part in outline:
                starts.append(len(points))
                points += checked_points(part, where, 3)
            return Shape(label, "parts", place, points, starts, crowd=crowd)
        runs = outline["counts"]
        runs = _from_text(runs) if isinstance(runs, str) else runs
        whole = all(type(run) is int and run >= 0 for run in runs)
        if not whole or sum(runs) != size[0] * size[1] or outline["size"] != [*size]:
            raise ValueError(f"runs of other pixels, for the size {str(outline['size'])[:40]}")
        runs = array("q", runs) if isinstance(runs, list) else runs
        return Shape(label, "columns", place, data=runs, crowd=crowd)


def _from_text(text: str) -> "array[int]":
    """Returns the runs that COCO writes as text: five bits per character, the lowest first."""
    runs = array("q")
    if re.search("[^0-o]|[P-o]{13}|[P-o]$", text):
        raise ValueError("characters that are none of runs")
    for word in re.finditer("[P-o]{0,12}[0-O]", text):
        digits = [ord(character) - ord("0") & 31 for character in word[0]]
        value = sum(digit << 5 * place for place, digit in enumerate(digits))
        value -= (digits[-1] & 16) << 5 * len(digits) - 4  # a negative number
        # From the fourth on a run is written as its difference to the last but one.
        runs.append(value + (runs[-2] if len(runs) > 2 else 0))
    return runs
