"""COCO: one JSON file for many images, with polygons or runs of pixels per object.

References:
  https://cocodataset.org/#format-data, and pycocotools, `COCO.annToMask`. COCO does not say which
    of two objects lies above. Here it is the smaller one.
"""

from array import array
import collections
from collections.abc import Mapping, Sequence
import dataclasses
import re
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, several
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.storage import open_file
from voc_seg_tfrecord.tools.shape_pixels import decode_run
from voc_seg_tfrecord.tools.shapes import (
    ADVICE_ON_BOXES,
    BOXES_ALONE,
    Annotation,
    AnnotationFile,
    ListedClass,
    Shape,
    as_written,
    checked_points,
    checked_size,
    load_json,
    position_with_label,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import ShapeTool

_MAX_SHOWN_IDS = 12
_MAX_READ_BYTES = 1 << 20


def read(file: File) -> AnnotationFile:
    """Reads a file of many images. What is wrong with a shape is the `error` of its image.

    Raises:
      MaskError: if the file is not COCO's, or holds no masks of objects.
    """
    data = load_json(file, "images", "annotations", "categories")
    with as_written(file.where, "JSON as COCO writes it"):
        found = _name_other_kind(data)
        if found:
            raise shape_error(file.where, found, "polygons or masks of objects", "export those")
        if not data["categories"]:
            raise shape_error(
                file.where,
                "no category, so no class",
                "categories, and polygons or masks of objects",
                "check what the export leaves out; VIA's leaves out regions whose attributes are "
                "texts, so give VIA's own JSON, which is read",
            )
        categories = _without_namesakes(data["categories"], data["annotations"])
        names = _read_categories(categories)
        groups = {str(category.get("supercategory")) for category in categories}
        groups -= _names_within_themselves(categories)
        images_of_id: dict[Any, list[Any]] = collections.defaultdict(list)
        ids_of_name: dict[str, list[Any]] = collections.defaultdict(list)
        for image in data["images"]:
            images_of_id[image["id"]].append(image)
            ids_of_name[str(image["file_name"])].append(image["id"])
        shapes_of_image = _shapes_by_image(data["annotations"], file.where)
        reader = _Reader(file.where, names, ids_of_name)
        annotations = []
        for image_id, images in images_of_id.items():
            if len(images) > 1:
                raise ValueError(f"several images of the id {image_id!r}")
            annotations.append(reader.read_image(images[0], shapes_of_image.pop(image_id, [])))
        for image_id, shapes in shapes_of_image.items():
            where = f"{file.where}, annotation {shapes[0].get('id')}"
            raise shape_error(where, f"the image_id {image_id!r}", "the id of an image in the file")
        has_keypoints = _has_keypoints(categories)
    return AnnotationFile(
        annotations,
        [ListedClass(name, f"category {key}", name in groups) for key, name in names.items()],
        notes=_notes_on_ids([*names]),
        fault_beside_others="keypoints" if has_keypoints else "",
    )


def _name_other_kind(data: Mapping[str, Any]) -> str:
    """Names what a file of COCO's holds in place of masks of objects; empty if it holds them."""
    shapes = [shape for shape in data["annotations"] if isinstance(shape, dict)]
    if any("segments_info" in shape for shape in shapes):
        return "panoptic segments, whose masks are PNGs"
    if any(shape.get("segmentation") for shape in shapes):
        return ""
    if _has_keypoints(data["categories"]):
        return "keypoints"
    return BOXES_ALONE if shapes else ""


def _has_keypoints(categories: Sequence[Any]) -> bool:
    """Says whether a file is one of keypoints. It may have the outlines of the objects, too."""
    return any(category.get("keypoints") for category in categories)


# Roboflow writes a category that groups others for each project, as the supercategory of all
# classes. One that has the name of a class is left out here, because two classes of one name are an
# error. Another one is marked, and `shape_classes` leaves it out if no file has a shape of it.


def _without_namesakes(categories: Sequence[Any], shapes: Sequence[Any]) -> list[Any]:
    """Returns the categories without groups that have the name of a class.

    Such a group has no supercategory and no shape, and another category of its name has this name
    as its supercategory, too.
    """
    ids_in_use = {shape.get("category_id") for shape in shapes if isinstance(shape, dict)}
    names_of_both = _names_within_themselves(categories)
    classes = []
    for category in categories:
        is_unused = category["id"] not in ids_in_use
        has_no_supercategory = category.get("supercategory") == "none"
        if not (is_unused and has_no_supercategory and str(category["name"]) in names_of_both):
            classes.append(category)
    return classes


def _names_within_themselves(categories: Sequence[Any]) -> set[str]:
    """Returns the names of categories whose supercategory has the same name."""
    pairs = [(str(category["name"]), str(category.get("supercategory"))) for category in categories]
    return {name for name, supercategory in pairs if name == supercategory}


def _read_categories(categories: Sequence[Any]) -> dict[Any, str]:
    """Returns the name of each category by its id, in the order of the ids."""
    names: dict[Any, str] = {}
    for category in categories:
        category_id, name = category["id"], category["name"]
        if not isinstance(name, str | int) or not str(name).strip():
            raise ValueError(f"the category {str(category_id)[:40]} without a name")
        if category_id in names:
            raise ValueError(f"two categories with the id {str(category_id)[:40]}")
        names[category_id] = str(name)
    return {category_id: names[category_id] for category_id in sorted(names)}


def _shapes_by_image(shapes: Sequence[Any], where: str) -> dict[Any, list[Any]]:
    """Returns the annotations of each image, by its id."""
    by_image: dict[Any, list[Any]] = collections.defaultdict(list)
    for number, shape in enumerate(shapes, 1):
        with as_written(f"{where}, annotation {number}", "an annotation of an image"):
            by_image[shape["image_id"]].append(shape)
    return by_image


def _notes_on_ids(ids: Sequence[Any]) -> list[str]:
    if ids in ([*range(len(ids))], [*range(1, len(ids) + 1)]):
        return []
    shown = several([*map(str, ids)], _MAX_SHOWN_IDS)
    return [f"The ids of categories, {shown}, are not kept. Classes are numbered in their order."]


@dataclasses.dataclass(frozen=True)
class _Reader:
    """Reads the images of a file.

    Attributes:
      where: the file.
      names: of categories, by their ids.
      ids_of_name: the ids of the images of each `file_name`.
    """

    where: str
    names: Mapping[Any, str]
    ids_of_name: Mapping[str, Sequence[Any]]

    def read_image(self, image: Mapping[str, Any], shapes: Sequence[Any]) -> Annotation:
        name = str(image["file_name"]).replace("\\", "/")
        position = f"{self.where}, image {name[-80:]}"
        try:
            ids = self.ids_of_name[str(image["file_name"])]
            if len(ids) > 1:
                raise shape_error(
                    position,
                    f"one file_name for the ids {' and '.join(map(repr, ids))[:99]}",
                    "images that differ in file_name",
                    "correct a file_name, or delete one image and give its shapes the other's id",
                )
            size = checked_size(image.get("height"), image.get("width"), position)
            read_shapes = [self._read_shape(shape, size) for shape in shapes]
        except MaskError as error:
            return Annotation(self.where, name, None, error=error)
        return Annotation(self.where, name, size, read_shapes, "smaller")

    def _read_shape(self, shape: Mapping[str, Any], size: tuple[int, int]) -> Shape:
        position = f"annotation {str(shape.get('id'))[:40]}"
        if shape.get("category_id") not in self.names:
            found = f"the category_id {str(shape.get('category_id'))[:40]}"
            raise shape_error(f"{self.where}, {position}", found, "the id of a category")
        label = self.names[shape["category_id"]]
        shape_position = position_with_label(position, label)
        where = f"{self.where}, {shape_position}"
        outline = shape.get("segmentation")
        if not outline:
            raise shape_error(
                where,
                "no polygon, but a box" if shape.get("bbox") else "no polygon",
                "polygons or a mask of each object",
                ADVICE_ON_BOXES,
            )
        is_crowd = str(shape.get("iscrowd")) in ("1", "True")
        with as_written(where, f"polygons, or runs that fill {size[1]} x {size[0]} pixels"):
            if isinstance(outline, list):
                points, starts = _read_polygons(outline, where)
                return Shape(label, "parts", shape_position, points, starts, crowd=is_crowd)
            runs = _read_runs(outline, size)
            return Shape(label, "columns", shape_position, runs=runs, crowd=is_crowd)


def _read_polygons(outline: Sequence[Any], where: str) -> tuple["array[float]", list[int]]:
    """Returns the points of several polygons, and where in them each polygon begins."""
    if all(isinstance(part, int | float) for part in outline):
        raise shape_error(
            where,
            f"one list of {len(outline)} numbers in place of a list of polygons",
            "a list of x and y for each polygon, within another list: [[x, y, x, y, x, y]]",
        )
    points = array("d")
    starts = list[int]()
    for part in outline:
        starts.append(len(points))
        points += checked_points(part, where, 3)
    return points, starts


def _read_runs(outline: Mapping[str, Any], size: tuple[int, int]) -> Any:
    """Returns the runs of pixels outside and inside an object in turn, column by column."""
    runs = outline["counts"]
    if isinstance(runs, str):
        runs = _decode_runs(runs)
    for run in runs:
        if type(run) is not int or run < 0:
            raise ValueError(f"the run {str(run)[:40]}")
    height, width = size
    if outline["size"] != [height, width] or sum(runs) != height * width:
        raise ValueError(f"runs of other pixels, for the size {str(outline['size'])[:40]}")
    return array("q", runs) if isinstance(runs, list) else runs


def _decode_runs(text: str) -> "array[int]":
    """Returns the runs that COCO writes as text: five bits per character, the lowest first."""
    runs = array("q")
    if re.search("[^0-o]|[P-o]{13}|[P-o]$", text):
        raise ValueError("characters that are none of runs")
    for word in re.finditer("[P-o]{0,12}[0-O]", text):
        digits = word[0].encode()
        value = decode_run(digits)
        last_digit = digits[-1] - ord("0")
        is_negative = last_digit & 16
        if is_negative:
            value -= 1 << 5 * len(digits)
        if len(runs) > 2:  # from the fourth on a run is its difference to the last but one
            value += runs[-2]
        runs.append(value)
    return runs


def find_panoptic_error(segments: epath.Path, masks: epath.Path) -> LayoutError | None:
    """Returns the error that a JSON file says that a folder of its name holds panoptic segments.

    None if it does not.
    """
    with open_file(segments) as file:
        text = file.read(_MAX_READ_BYTES)
    if b'"segments_info"' not in text:
        return None
    convert = command(
        "python",
        "converters/panoptic2semantic_segmentation.py",
        input_json_file=segments,
        segmentations_folder=masks,
        semantic_seg_folder=segments.parent / "masks",
        categories_json_file=segments,
    )
    return LayoutError(
        segments,
        found="COCO's panoptic format: the pixels of its PNGs are numbers of segments, and not "
        "classes",
        expected="masks whose values or colors are the classes",
        remedy=f"make masks of classes with panopticapi: {convert}",
    )


COCO = ShapeTool(
    name="COCO",
    endings=(".json",),
    words=(b'"annotations"',),
    pattern=rb'"images"\s*:\s*\[',
    read=read,
)
