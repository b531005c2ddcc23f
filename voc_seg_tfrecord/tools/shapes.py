"""Shapes on an image, which the files of all tools hold; `drawing` draws them."""

from array import array
import cmath
from collections.abc import Iterator, Mapping, Sequence
import contextlib
import dataclasses
import json
import math
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, from_json, plain_reason
from voc_seg_tfrecord.core.file import MAX_SIDE, File

UNUSABLE = "unusable polygons"
"""The kind of errors about shapes that do no harm if the folder has masks too."""

_MAX_SHOWN_LABEL_LENGTH = 40
"""Characters of a label that errors show."""

_MAX_OBJECTS = 4_000_000
"""Lists and objects in a JSON file. Each takes up to 90 bytes of memory."""

_MIN_BYTES_PER_OBJECT = 8
"""A file that has this many bytes for each list or object may have more of them."""

_ERRORS_OF_OTHER_STRUCTURES = (
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    ValueError,
    RecursionError,
)
"""What code raises that reads a file of another structure than it expects."""

ShapeKind = Literal[
    "polygon",
    "rectangle",
    "circle",
    "strip",
    "point",
    "fractions",
    "parts",
    "columns",
    "rows",
    "mask",
]
"""How a shape is drawn; see the table in `shape_pixels`."""

BOXES_ALONE = "boxes alone, which are no segmentation"
"""What is wrong with the labels of a folder in which no object has an outline."""

ADVICE_ON_BOXES = "draw the outlines of the objects; no mask is made of boxes"

ShapeOrder = Literal["later", "smaller", "level"]
"""Which of two shapes lies above the other; see `Annotation`."""


class Shape(NamedTuple):
    """One shape of an image.

    Attributes:
      label: name of its class, as the file has it.
      kind: how it is drawn.
      position: how errors name it, such as `shape 3 (crack)`.
      points: x and y of each point in turn, in pixels, or as fractions of the image's sides.
      starts: of `polygon` and `parts`, where in `points` each polygon begins.
      runs: of `columns` and `rows`, how many pixels outside and inside follow each other in turn.
        They go through the columns of the image, or through the rows of `box`.
      box: of `rows`, left, top, width and height in pixels.
      png: of `mask`, a PNG in base64.
      group: shapes of an image with one label and group are one object; empty for one by itself.
      level: see `Annotation.order`.
      crowd: whether it shows several objects.
      is_box: whether it was drawn as a box, also if it is stored as a polygon.
    """

    label: str
    kind: ShapeKind
    position: str
    points: Sequence[float] = ()
    starts: Sequence[int] = (0,)
    runs: Sequence[int] = ()
    box: Sequence[int] = ()
    png: str = ""
    group: str = ""
    level: int = 0
    crowd: bool = False
    is_box: bool = False


@dataclasses.dataclass(frozen=True)
class Annotation:
    """The shapes of one image.

    Attributes:
      where: the file that they stand in.
      image: the image's name, or its path, as the file has it; empty if it does not.
      size: height and width of the image as the file has them; None if it does not.
      shapes: in the file's order.
      order: which of two shapes lies above the other: the `later` one, the `smaller` one, or that
        of the higher `level`, where the shapes of a group are one.
      error: what is wrong with the file, in place of shapes that cannot be read.
      left_out: how many shapes there are of each kind that the tool does not draw.
      embedded: whether the file holds the image too.
      subset: the subset of the image, such as `Train`, as the file has it; empty if it has none.
    """

    where: str
    image: str
    size: tuple[int, int] | None
    shapes: Sequence[Shape] = ()
    order: ShapeOrder = "later"
    error: VocSegError | None = None
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    embedded: bool = False
    subset: str = ""

    def to_json(self) -> str:
        """Returns the annotation as text, for `from_json` on a worker."""
        error = None if self.error is None else self.error.to_json()
        data = {**vars(self), "error": error}
        return json.dumps(data, separators=(",", ":"), default=array.tolist)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Returns the annotation that `to_json` made text of."""
        data = json.loads(text)
        if data["size"] is not None:
            data["size"] = tuple(data["size"])
        if data["error"] is not None:
            data["error"] = from_json(data["error"])
        data["shapes"] = [Shape(*fields) for fields in data["shapes"]]
        return cls(**data)


class ListedClass(NamedTuple):
    """A class that an annotation file defines.

    Attributes:
      name: the name, as the file has it.
      position: where it stands in the file, such as `category 3`.
      is_group: whether it groups other classes, so that it is a class only if a shape of the set
        has it.
    """

    name: str
    position: str
    is_group: bool = False


class AnnotationFile(NamedTuple):
    """What one file of a tool holds.

    Attributes:
      annotations: of each image.
      classes: all classes in the tool's order, background and void among them; empty if the file
        does not define them.
      notes: what else a user should know.
      classes_file: the file that defines the classes, if it is another one.
      fault_beside_others: why this file is left out if another file of the tool in the folder has
        no such fault; empty if nothing is wrong. If all files have one, all are read.
    """

    annotations: Sequence[Annotation]
    classes: Sequence[ListedClass] = ()
    notes: Sequence[str] = ()
    classes_file: str = ""
    fault_beside_others: str = ""


def position_with_label(position: str, label: str) -> str:
    """Returns how errors name a shape, such as `shape 3 (crack)`."""
    return f"{position} ({label.strip()[:_MAX_SHOWN_LABEL_LENGTH]})"


def shape_error(where: str, found: str, expected: str, remedy: str = "") -> MaskError:
    """Returns the error about a shape, or about a file; `where` names both."""
    remedy = remedy or "correct it in the tool, or delete it there, and export again"
    return MaskError(where, found=found, expected=expected, remedy=remedy, kind=UNUSABLE)


@contextlib.contextmanager
def as_written(where: str, expected: str) -> Iterator[None]:
    """Turns errors of the code inside, about a file of another structure, into a `MaskError`.

    Args:
      where: the file, and the position in it.
      expected: what the file should hold there.
    """
    try:
        yield
    except _ERRORS_OF_OTHER_STRUCTURES as error:
        if isinstance(error, VocSegError):
            raise
        text = f"no {error}" if isinstance(error, KeyError) else plain_reason(error)
        raise shape_error(where, text[:200], expected) from None


def load_json(file: File, *names: str) -> dict[str, Any]:
    """Returns the object of a JSON file; an error if it does not hold a list for each name."""
    lists = f" with the lists {', '.join(names)}" if names else ""
    with as_written(file.where, f"a JSON object{lists}"):
        count = file.data.count(b"{") + file.data.count(b"[")
        if count > max(_MAX_OBJECTS, len(file.data) // _MIN_BYTES_PER_OBJECT):
            raise ValueError(f"{count} lists and objects in {len(file.data)} bytes")
        data = json.loads(file.data.decode("utf-8-sig"))
        if not isinstance(data, dict):
            raise ValueError("no object")
        for name in names:
            if not isinstance(data[name], list):
                raise ValueError(f"no list {name}")
    return data


def checked_points(values: object, where: str, least: int) -> "array[float]":
    """Returns x and y of each point in turn.

    Args:
      values: the coordinates in turn, or a pair for each point.
      where: the shape, for errors.
      least: how many points it needs.

    Returns:
      An array, which takes 8 bytes for each coordinate, where a list takes 32.

    Raises:
      MaskError: if they are something else, or too few.
    """
    if not isinstance(values, list | array):
        found = f"{str(values)[:40]!r} in place of a list of points"
        raise shape_error(where, found, "a list of x and y of each point")
    expected = f"x and y of each point, between {-MAX_SIDE} and {MAX_SIDE}"
    try:
        points = np.array(values)
    except ValueError:  # points of different lengths
        points = np.array("")
    if points.size and points.dtype.kind not in "iuf":
        raise shape_error(where, f"the coordinates {str(values)[:80]}", expected)
    is_in_range = (points >= -MAX_SIDE) & (points <= MAX_SIDE)  # NaN is not
    if not is_in_range.all():
        raise shape_error(where, f"the coordinate {points[~is_in_range][0]}", expected)
    is_list_of_points = points.shape == (points.size // 2, 2) or points.shape == (points.size,)
    if not is_list_of_points or points.size % 2 or points.size < 2 * least:
        found = f"{points.size} coordinates"
        raise shape_error(where, found, f"x and y of at least {least} points")
    return array("d", points.astype(np.float64).tobytes())


def ellipse_corners(
    center: complex, x_radius: float, y_radius: float, rotation: float, step: int
) -> list[list[float]]:
    """Returns x and y of the corners of a polygon that stands for an ellipse.

    Args:
      center: x and y of the middle.
      x_radius: half of its width before it is turned.
      y_radius: half of its height before it is turned.
      rotation: by how many radians it is turned clockwise.
      step: the degrees between two corners.
    """
    points = []
    for degrees in range(0, 360, step):
        angle = math.radians(degrees)
        corner = complex(x_radius * math.cos(angle), y_radius * math.sin(angle))
        turned = center + corner * cmath.rect(1, rotation)
        points.append([turned.real, turned.imag])
    return points


def checked_size(height: Any, width: Any, where: str) -> tuple[int, int]:
    """Returns the height and width that a file gives for an image; an error if they are none."""
    for side in (height, width):
        if type(side) not in (int, float) or not 1 <= side <= MAX_SIDE:
            found = f"{str((width, height))[:80]} pixels"
            raise shape_error(where, found, "width and height of the image")
    return int(height), int(width)
