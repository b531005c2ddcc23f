"""Annotations/*.xml: the boxes that VOC gives beside its masks."""

from collections.abc import Sequence
import math
from typing import Any
import xml.etree.ElementTree as ET

from voc_seg_tfrecord.base.errors import AnnotationError
from voc_seg_tfrecord.base.names import VOC_POSES, background_index
from voc_seg_tfrecord.formats.file import File

_BOX = ("ymin", "xmin", "ymax", "xmax")

# VOC's largest has 18 kB. A megabyte of nested tags is read in half a second; ten of them take
# many, and a gigabyte of memory.
_MAX_BYTES = 1 << 20


def read_objects(
    file: File, class_names: Sequence[str], height: int, width: int
) -> list[dict[str, Any]]:
    """Reads the objects of one annotation, with the fields of TFDS's `voc`.

    Args:
      file: the XML file.
      class_names: the names that labels may have.
      height: the image's, in pixels, for files that do not give it.
      width: likewise.

    Returns:
      One dictionary per object, in the order of the file: `label` (a name), `bbox` (ymin,
      xmin, ymax, xmax, each 0 to 1), `pose` (one of `VOC_POSES`), `is_truncated` and
      `is_difficult`. VOC2008 and later leave fields out; absent means unspecified or no.

    Raises:
      AnnotationError: if the file is not a VOC annotation, or an object's class, pose or box
        cannot be.
    """
    if len(file.data) > _MAX_BYTES:
        raise AnnotationError(
            file.where,
            found=f"{len(file.data)} bytes",
            expected=f"a VOC annotation of at most {_MAX_BYTES} bytes",
            remedy="export the boxes again, one file for each image",
        )
    try:
        root = ET.fromstring(file.data)
    except ET.ParseError as error:
        raise AnnotationError(
            file.where,
            found=f"not XML ({len(file.data)} bytes): {error}",
            expected="a VOC annotation",
            remedy="copy or export the file again",
        ) from None
    except (ValueError, LookupError, RecursionError) as error:
        raise AnnotationError(
            file.where,
            found=f"XML in an encoding that cannot be read: {error}",
            expected="a VOC annotation in UTF-8",
            remedy="save the file as UTF-8, and correct the encoding in its first line",
        ) from None
    size = (_size(root, "height", file.where) or height, _size(root, "width", file.where) or width)
    return [
        _read_object(element, class_names, size, f"{file.where}, object {number}")
        for number, element in enumerate(root.findall("object"), start=1)
    ]


def _read_object(
    element: ET.Element, class_names: Sequence[str], size: tuple[float, float], where: str
) -> dict[str, Any]:
    label = _text(element, "name")
    if label not in class_names:
        label = label.lower()
    if label not in class_names:
        raise AnnotationError(
            where,
            found=f"class {label[:80]!r}",
            expected=f"one of {', '.join(class_names)}",
            remedy="correct the annotation, or name all classes",
        )
    if class_names.index(label) == background_index(class_names):
        raise AnnotationError(
            where,
            found=f"a box of class {label!r}",
            expected="boxes of objects; background has none",
            remedy="remove the object from the annotation",
        )
    pose = _text(element, "pose").lower() or "unspecified"
    if pose not in VOC_POSES:
        raise AnnotationError(where, found=f"pose {pose!r}", expected=" or ".join(VOC_POSES))
    return {
        "label": label,
        "bbox": _read_box(element, size, where),
        "pose": pose,
        "is_truncated": _text(element, "truncated") == "1",
        "is_difficult": _text(element, "difficult") == "1",
    }


def _read_box(element: ET.Element, size: tuple[float, float], where: str) -> list[float]:
    corners = [_text(element, f"bndbox/{name}") for name in _BOX]
    try:
        ymin, xmin, ymax, xmax = box = [
            float(corner) / side for corner, side in zip(corners, size * 2, strict=True)
        ]
    except ValueError:
        box = []
    if not box or not (0 <= ymin <= ymax <= 1 and 0 <= xmin <= xmax <= 1):
        raise AnnotationError(
            where,
            found=f"box {dict(zip(_BOX, corners, strict=True))} in an image of "
            f"{size[0]:g} x {size[1]:g}",
            expected="a box inside the image",
            remedy="correct the annotation",
        )
    return box


def _size(root: ET.Element, side: str, where: str) -> float:
    try:
        size = float(_text(root, f"size/{side}"))
    except ValueError:
        return 0.0
    if not math.isfinite(size) or size < 0:
        raise AnnotationError(
            where,
            found=f"a {side} of {size:g} pixels",
            expected="the size of the image",
            remedy="correct the annotation",
        )
    return size


def _text(element: ET.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
