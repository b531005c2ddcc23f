"""The pixels of one shape, as its tool draws it.

| kind of shape | drawn by | points | other fields |
|---|---|---|---|
| `polygon` | Pillow | the corners | |
| `rectangle` | Pillow | two opposite corners | |
| `circle` | Pillow | the center, and a point on the edge | |
| `line` | Pillow, 10 pixels wide | the ends | |
| `strip` | Pillow, 10 pixels wide, with round joints | each joint | |
| `point` | Pillow, as a disc of radius 5 | the center | |
| `fractions` | Pillow, as a polygon | corners, as fractions of the image's sides | |
| `holed` | Pillow | corners of a polygon, and of its holes | `starts` |
| `parts` | pycocotools | corners of one or more polygons | `starts` |
| `columns` | NumPy | | `runs` through the columns of the image |
| `rows` | NumPy | | `box`, and `runs` through its rows |
| `mask` | as stored | two opposite corners | `png` |
"""

import base64
from collections.abc import Callable, Sequence
import dataclasses
import io
import itertools
import math
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.tools.coco_polygons import draw_polygons, within
from voc_seg_tfrecord.tools.shapes import Shape, shape_error

_LINE_WIDTH_PX = 10
_POINT_RADIUS_PX = 5.0


class ShapePixels(NamedTuple):
    """The pixels of a shape.

    Attributes:
      pixels: uint8 `[h, w]` of 0 and 1.
      region: the rows and columns of the image in which they lie.
      area: how many pixels are 1.
    """

    pixels: np.ndarray
    region: tuple[slice, slice]
    area: int


def make_shape_pixels(pixels: np.ndarray, top: int, left: int) -> ShapePixels:
    """Returns pixels, bool or uint8 `[h, w]`, whose first one is at a row and a column."""
    height, width = pixels.shape
    region = np.s_[top : top + height, left : left + width]
    return ShapePixels(pixels.view(np.uint8), region, int(np.count_nonzero(pixels.view(bool))))


def split_polygons(shape: Shape) -> list[list[float]]:
    """Returns the points of each polygon of a shape, whose `starts` say where they begin."""
    ends = [*shape.starts, len(shape.points)]
    return [[*shape.points[start:end]] for start, end in itertools.pairwise(ends)]


class DrawingSurface:
    """An image on which Pillow draws, whose pixels are NumPy's too. It is empty between shapes.

    Attributes:
      size: height and width.
      pen: draws on it.
    """

    def __init__(self, size: tuple[int, int]):
        self.size = size
        self._pixels = np.zeros(size, np.uint8)
        image = Image.frombuffer("L", size[::-1], self._pixels, "raw", "L", 0, 1)
        image.readonly = 0  # or else Pillow draws on a copy
        self.pen = ImageDraw.Draw(image)

    def take_off(self, points: Sequence[float], reach: float = 1.0) -> ShapePixels:
        """Returns what was drawn, up to a distance from points, and empties the image there."""
        x, y = points[::2], points[1::2]
        height, width = self.size
        left = within(int(min(x) - reach), 0, width)
        top = within(int(min(y) - reach), 0, height)
        right = within(int(max(x) + reach) + 1, 0, width)
        bottom = within(int(max(y) + reach) + 1, 0, height)
        drawn_pixels = self._pixels[top:bottom, left:right]
        shape_pixels = make_shape_pixels(drawn_pixels.copy(), top, left)
        drawn_pixels[:] = 0
        return shape_pixels


@dataclasses.dataclass(frozen=True)
class _Task:
    """A shape to draw.

    Attributes:
      shape: the shape.
      surface: an empty image of the size of the shape's image.
      where: the file and the shape, for errors.
    """

    shape: Shape
    surface: DrawingSurface
    where: str


def draw_shape(shape: Shape, surface: DrawingSurface, where: str) -> ShapePixels:
    """Draws a shape.

    Args:
      shape: the shape.
      surface: an empty image of the size of the shape's image; it is empty again afterwards.
      where: the file, for errors.

    Raises:
      MaskError: if the shape cannot be drawn.
      ConfigError: if pycocotools is needed and not installed.
    """
    draw_kind = _DRAW_BY_KIND[shape.kind]
    return draw_kind(_Task(shape, surface, f"{where}, {shape.position}"))


def _draw_polygon(task: _Task) -> ShapePixels:
    return _draw_points_as_polygon(task.shape.points, task.surface)


def _draw_points_as_polygon(points: Sequence[float], surface: DrawingSurface) -> ShapePixels:
    surface.pen.polygon([*points], fill=1, outline=1)
    return surface.take_off(points)


def _draw_fractions(task: _Task) -> ShapePixels:
    fractions = np.reshape(task.shape.points, (-1, 2))
    points: np.ndarray = (fractions * task.surface.size[::-1]).ravel()
    # Decimals of a whole number of pixels may come out a hair nearer to 0.
    points += np.copysign(1e-6, points)
    return _draw_points_as_polygon(points.tolist(), task.surface)


def _draw_polygon_with_holes(task: _Task) -> ShapePixels:
    """Draws a polygon without the pixels of its holes and of their edges."""
    outline, *holes = split_polygons(task.shape)
    task.surface.pen.polygon([*outline], fill=1, outline=1)
    for hole in holes:
        task.surface.pen.polygon([*hole], fill=0, outline=0)
    return task.surface.take_off(outline)


def _draw_rectangle(task: _Task) -> ShapePixels:
    points = task.shape.points
    x, y = points[::2], points[1::2]
    task.surface.pen.rectangle((min(x), min(y), max(x), max(y)), fill=1, outline=1)
    return task.surface.take_off(points)


def _draw_circle(task: _Task) -> ShapePixels:
    x, y, edge_x, edge_y = task.shape.points
    radius = math.sqrt((x - edge_x) ** 2 + (y - edge_y) ** 2)
    return _draw_disc(task, radius)


def _draw_point(task: _Task) -> ShapePixels:
    return _draw_disc(task, _POINT_RADIUS_PX)


def _draw_disc(task: _Task, radius: float) -> ShapePixels:
    points = task.shape.points
    x, y = points[:2]
    box = (x - radius, y - radius, x + radius, y + radius)
    task.surface.pen.ellipse(box, fill=1, outline=1)
    return task.surface.take_off(points, reach=1.0 + radius)


def _draw_line(task: _Task) -> ShapePixels:
    points = task.shape.points
    task.surface.pen.line([*points], fill=1, width=_LINE_WIDTH_PX)
    return task.surface.take_off(points, reach=_LINE_WIDTH_PX)


def _draw_strip(task: _Task) -> ShapePixels:
    points = task.shape.points
    task.surface.pen.line([*points], fill=1, width=_LINE_WIDTH_PX, joint="curve")
    return task.surface.take_off(points, reach=_LINE_WIDTH_PX)


def _draw_parts(task: _Task) -> ShapePixels:
    polygons = split_polygons(task.shape)
    drawn = draw_polygons(polygons, task.surface.size, task.where)
    return make_shape_pixels(drawn.pixels, drawn.top, drawn.left)


def _draw_columns(task: _Task) -> ShapePixels:
    height, width = task.surface.size
    return make_shape_pixels(_expand_runs(task.shape.runs, width, height).T, 0, 0)


def _draw_rows(task: _Task) -> ShapePixels:
    left, top, width, height = task.shape.box
    pixels = _expand_runs(task.shape.runs, height, width)
    return _cut(pixels, top, left, task.surface.size)


def _expand_runs(runs: Sequence[int], rows: int, columns: int) -> np.ndarray:
    """Returns the pixels of runs: bool `[rows, columns]`."""
    is_inside = np.zeros(len(runs), bool)
    is_inside[1::2] = True
    return np.repeat(is_inside, runs).reshape(rows, columns)


def _draw_stored_mask(task: _Task) -> ShapePixels:
    """Reads the PNG of a shape, which lies between two corners."""
    size = task.surface.size
    try:
        png = base64.b64decode(task.shape.png)
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            if image.width * image.height > 4 * size[0] * size[1]:
                raise ValueError("it is larger than the image")
            pixels = np.asarray(image) != 0
    except (ValueError, OSError, SyntaxError, TypeError) as error:
        found = f"an unreadable mask: {_without_object(error)[:100]}"
        raise shape_error(task.where, found, "a PNG in base64") from None
    if pixels.ndim != 2:
        raise shape_error(
            task.where, "a mask PNG with colors", "a PNG with one value for each pixel"
        )
    corners = np.array(task.shape.points)
    left, top, right, bottom = corners.round().astype(int).tolist()
    box_size = (bottom - top + 1, right - left + 1)
    is_rounded = not (corners == np.trunc(corners)).all()
    if pixels.shape != box_size and not is_rounded:  # labelme itself may have rounded otherwise
        expected = f"{box_size}, the height and width of the box between its corners"
        raise shape_error(task.where, f"a mask of {pixels.shape} pixels", expected)
    return _cut(pixels, top, left, size)


def opaque_pixels(png: bytes, most_pixels: int) -> np.ndarray:
    """Returns which pixels of a PNG show an object: bool `[h, w]`.

    They are those that are opaque, or those that are not 0 in a PNG without transparency.

    Raises:
      ValueError: if it cannot be read, has colors, or more than `most_pixels` pixels.
    """
    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            if image.width * image.height > most_pixels:
                raise ValueError("a PNG that is larger than the image")
            if "transparency" in image.info or image.mode in ("LA", "RGBA"):
                return np.asarray(image.convert("RGBA"))[..., 3] > 0
            if image.mode not in ("1", "L", "P"):
                raise ValueError(f"a PNG of the mode {image.mode}")
            return np.asarray(image) > 0
    except (OSError, SyntaxError) as error:
        raise ValueError(f"an unreadable bitmap: {_without_object(error)[:100]}") from None


def _without_object(error: Exception) -> str:
    """Returns the text of an error of Pillow, which ends with the object that it has read."""
    return str(error).partition(" <_io")[0]


def _cut(pixels: np.ndarray, top: int, left: int, size: tuple[int, int]) -> ShapePixels:
    """Returns the pixels that lie in the image."""
    rows = slice(max(-top, 0), max(size[0] - top, 0))
    columns = slice(max(-left, 0), max(size[1] - left, 0))
    return make_shape_pixels(pixels[rows, columns], max(top, 0), max(left, 0))


_DRAW_BY_KIND: dict[str, Callable[[_Task], ShapePixels]] = {
    "polygon": _draw_polygon,
    "rectangle": _draw_rectangle,
    "circle": _draw_circle,
    "line": _draw_line,
    "strip": _draw_strip,
    "point": _draw_point,
    "fractions": _draw_fractions,
    "holed": _draw_polygon_with_holes,
    "parts": _draw_parts,
    "columns": _draw_columns,
    "rows": _draw_rows,
    "mask": _draw_stored_mask,
}
