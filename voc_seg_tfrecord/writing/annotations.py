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
    root = _parse_xml(file)
    image_size = (height, width)
    size = _read_size(root, image_size, file.where)
    elements = root.findall("object")
    if elements and not official:
        _check_size(size, image_size, elements, file.where)
    objects = []
    for number, element in enumerate(elements, start=1):
        objects.append(_read_object(element, class_names, size, f"{file.where}, object {number}"))
    return objects


def _parse_xml(file: File) -> ET.Element:
    if len(file.data) > _MAX_BYTES:
        expected = f"a VOC annotation of at most {_MAX_BYTES} bytes"
        remedy = "export the boxes again, one file for each image"
        raise _wrong(file.where, f"{len(file.data)} bytes", expected, remedy)
    try:
        return ET.fromstring(file.data)
    except ET.ParseError as error:
        found = f"not XML ({len(file.data)} bytes): {error}"
        raise _wrong(file.where, found, "a VOC annotation", "export the file again") from None
    except (ValueError, LookupError, RecursionError) as error:
        found = f"XML in an encoding that cannot be read: {error}"
        remedy = "save the file as UTF-8, and correct the encoding in its first line"
        raise _wrong(file.where, found, "a VOC annotation in UTF-8", remedy) from None


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


def _read_size(root: ET.Element, image_size: tuple[int, int], where: str) -> tuple[float, float]:
    """Returns the height and width that a file gives for its image; else those of the image."""
    height = _read_side(root, "height", where) or image_size[0]
    width = _read_side(root, "width", where) or image_size[1]
    return height, width


def _read_side(root: ET.Element, side: str, where: str) -> float:
    """Returns a side as the file has it; 0 if it does not."""
    try:
        pixels = float(_text(root, f"size/{side}"))
    except ValueError:
        return 0.0
    if not math.isfinite(pixels) or pixels < 0:
        raise _wrong(where, f"a {side} of {pixels:g} pixels", "the size of the image")
    return pixels


def _check_size(
    size: tuple[float, float],
    image_size: tuple[int, int],
    elements: Sequence[ET.Element],
    where: str,
) -> None:
    """Checks that boxes belong to the size that a file gives for its image.

    A size that is not the image's may be wrong, or the image was scaled after the boxes were drawn.
    The boxes are those of the size in the file if one of them reaches beyond the image.

    Raises:
      AnnotationError: if the image has another shape, or nothing shows that it was scaled.
    """
    height, width = image_size
    if abs(size[0] - height) <= 1 and abs(size[1] - width) <= 1:
        return
    found = (
        f"a size of {size[1]:g} x {size[0]:g} (width x height) for an image of {width} x {height}"
    )
    has_same_shape = abs(size[1] * height - size[0] * width) <= max(height, width)
    if not has_same_shape:
        raise _wrong(
            where,
            found,
            "the size of the image, or of the same image scaled",
            "export the boxes of this image again; if the image was turned, turn the boxes too",
        )
    if not _reach_beyond(elements, image_size):
        raise _wrong(
            where,
            f"{found}, and all boxes lie inside both",
            "the size of the image",
            "correct <size>; if the image was scaled after the boxes were drawn, scale them too",
        )


def _reach_beyond(elements: Sequence[ET.Element], image_size: tuple[int, int]) -> bool:
    """Says whether a box reaches beyond the image."""
    height, width = image_size
    for element in elements:
        try:
            bottom = float(_text(element, "bndbox/ymax"))
            right = float(_text(element, "bndbox/xmax"))
        except ValueError:
            continue  # an error of its own
        if bottom > height or right > width:
            return True
    return False


_FLAGS = {
    "": False,
    "0": False,
    "false": False,
    "no": False,
    "unspecified": False,
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
    corners = {name: _text(element, f"bndbox/{name}") for name in _BOX}
    height, width = size
    try:
        ymin = float(corners["ymin"]) / height
        ymax = float(corners["ymax"]) / height
        xmin = float(corners["xmin"]) / width
        xmax = float(corners["xmax"]) / width
        is_inside = 0 <= ymin <= ymax <= 1 and 0 <= xmin <= xmax <= 1
    except ValueError:
        is_inside = False
    if not is_inside:
        found = f"box {corners} in an image of {height:g} x {width:g}"
        raise _wrong(where, found, "a box inside the image")
    return [ymin, xmin, ymax, xmax]


def _wrong(
    where: str, found: str, expected: str, remedy: str = "correct the annotation"
) -> AnnotationError:
    return AnnotationError(where, found=found, expected=expected, remedy=remedy)


def _text(element: ET.Element, path: str) -> str:
    return (element.findtext(path) or "").strip()
