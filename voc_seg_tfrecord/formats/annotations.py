"""Annotations/*.xml: the boxes that VOC gives beside its masks."""

from collections.abc import Sequence
import math
from typing import Any
import xml.etree.ElementTree as ET

from voc_seg_tfrecord.core.errors import AnnotationError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOC_POSES, background_index

_BOX = ("ymin", "xmin", "ymax", "xmax")

# VOC's largest has 18 kB. A megabyte of nested tags is read in half a second; ten of them take
# many, and a gigabyte of memory.
_MAX_BYTES = 1 << 20


def read_objects(
    file: File, class_names: Sequence[str], height: int, width: int, *, official: bool = False
) -> list[dict[str, Any]]:
    """Reads the objects of one annotation, with the fields of TFDS's `voc`.

    Args:
      file: the XML file.
      class_names: the names that labels may have.
      height: the image's, in pixels.
      width: likewise.
      official: whether the file is one of VOC's own, whose sizes are not compared with the image's.

    Returns:
      One dictionary per object, in the order of the file: `label` (a name), `bbox` (ymin,
      xmin, ymax, xmax, each 0 to 1), `pose` (one of `VOC_POSES`), `is_truncated` and
      `is_difficult`. VOC2008 and later leave fields out; absent means unspecified or no.

    Raises:
      AnnotationError: if the file is not a VOC annotation, it is one of an image of another
        shape, or an object's class, pose, box or flag cannot be.
    """
    if len(file.data) > _MAX_BYTES:
        expected = f"a VOC annotation of at most {_MAX_BYTES} bytes"
        remedy = "export the boxes again, one file for each image"
        raise _wrong(file.where, f"{len(file.data)} bytes", expected, remedy)
    try:
        root = ET.fromstring(file.data)
    except ET.ParseError as error:
        found, remedy = (
            f"not XML ({len(file.data)} bytes): {error}",
            "copy or export the file again",
        )
        raise _wrong(file.where, found, "a VOC annotation", "export the file again") from None
    except (ValueError, LookupError, RecursionError) as error:
        found = f"XML in an encoding that cannot be read: {error}"
        remedy = "save the file as UTF-8, and correct the encoding in its first line"
        raise _wrong(file.where, found, "a VOC annotation in UTF-8", remedy) from None
    size = (_size(root, "height", file.where) or height, _size(root, "width", file.where) or width)
    if not official and not _have_one_shape(size, (height, width)):
        raise _wrong(
            file.where,
            f"a size of {size[1]:g} x {size[0]:g} (width x height) for an image of "
            f"{width} x {height}",
            "the size of the image, or of the same image scaled",
            "export the boxes of this image again; if the image was turned, turn the boxes too",
        )
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
        expected = f"one of {', '.join(class_names)}"
        remedy = "correct the annotation, or name all classes"
        raise _wrong(where, f"class {label[:80]!r}", expected, remedy)
    if class_names.index(label) == background_index(class_names):
        remedy = "remove the object from the annotation"
        expected = "boxes of objects; background has none"
        raise _wrong(where, f"a box of class {label!r}", expected, remedy)
    pose = _text(element, "pose").lower() or "unspecified"
    if pose not in VOC_POSES:
        raise _wrong(where, f"pose {pose!r}", " or ".join(VOC_POSES))
    return {
        "label": label,
        "bbox": _read_box(element, size, where),
        "pose": pose,
        "is_truncated": _read_flag(element, "truncated", where),
        "is_difficult": _read_flag(element, "difficult", where),
    }


def _have_one_shape(size: tuple[float, float], other: tuple[int, int]) -> bool:
    """Says whether two sizes, height and width, differ by a scale at most, up to one pixel."""
    height, width = other
    return abs(size[1] * height - size[0] * width) <= max(height, width)


_FLAGS = {"": False, "0": False, "false": False, "no": False, "unspecified": False} | {
    "1": True,
    "true": True,
    "yes": True,
}
"""What tools write for yes and no; VOC has 0 and 1."""


def _read_flag(element: ET.Element, name: str, where: str) -> bool:
    text = _text(element, name)
    flag = _FLAGS.get(text.lower())
    if flag is None:
        raise _wrong(where, f"<{name}> {text[:80]!r}", "0 or 1")
    return flag


def _read_box(element: ET.Element, size: tuple[float, float], where: str) -> list[float]:
    corners = [_text(element, f"bndbox/{name}") for name in _BOX]
    try:
        ymin, xmin, ymax, xmax = box = [
            float(corner) / side for corner, side in zip(corners, size * 2, strict=True)
        ]
    except ValueError:
        box = []
    if not box or not (0 <= ymin <= ymax <= 1 and 0 <= xmin <= xmax <= 1):
        found = f"box {dict(zip(_BOX, corners, strict=True))}"
        found += f" in an image of {size[0]:g} x {size[1]:g}"
        raise _wrong(where, found, "a box inside the image")
    return box


def _size(root: ET.Element, side: str, where: str) -> float:
    try:
        size = float(_text(root, f"size/{side}"))
    except ValueError:
        return 0.0
    if not math.isfinite(size) or size < 0:
        raise _wrong(where, f"a {side} of {size:g} pixels", "the size of the image")
    return size


def _wrong(
    where: str, found: str, expected: str, remedy: str = "correct the annotation"
) -> AnnotationError:
    return AnnotationError(where, found=found, expected=expected, remedy=remedy)


def _text(element: ET.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
