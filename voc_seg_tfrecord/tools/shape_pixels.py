"""The pixels of one shape, as its tool draws it.

| kind of shape | drawn by | points | other fields |
|---|---|---|---|
| `polygon` | Pillow | corners of a polygon, and of its holes | `starts` |
| `rectangle` | Pillow | two opposite corners | |
| `circle` | Pillow | the center, and a point on the edge | |
| `strip` | Pillow, 10 pixels wide, with round joints | each joint | |
| `point` | Pillow, as a disc of radius 5 | the center | |
| `fractions` | Pillow, as a polygon | corners, as fractions of the image's sides | |
| `parts` | pycocotools | corners of one or more polygons | `starts` |
| `columns` | NumPy | | `runs` through the columns of the image |
| `rows` | NumPy | | `box`, and `runs` through its rows |
| `mask` | as stored | two opposite corners | `png` |
"""

import base64
from collections.abc import Sequence
import io
import itertools
import math
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.tools.shapes import Shape, shape_error

_LINE_WIDTH_PX = 10
_POINT_RADIUS_PX = 5.0
_MAX_OUTLINE_PX = 10_000_000  # pycocotools takes some 100 bytes for each


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

    def take_off(self, points: Sequence[float], reach: float) -> ShapePixels:
        """Returns what was drawn, up to a distance from points, and empties the image there."""
        x, y = points[::2], points[1::2]
        height, width = self.size
        left = _within(int(min(x) - reach), 0, width)
        top = _within(int(min(y) - reach), 0, height)
        right = _within(int(max(x) + reach) + 1, 0, width)
        bottom = _within(int(max(y) + reach) + 1, 0, height)
        drawn_pixels = self._pixels[top:bottom, left:right]
        shape_pixels = make_shape_pixels(drawn_pixels.copy(), top, left)
        drawn_pixels[:] = 0
        return shape_pixels


def _within(number: int, least: int, most: int) -> int:
    """Returns a number, or the bound that it is beyond."""
    return max(least, min(number, most))


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
    shape_where = f"{where}, {shape.position}"
    image_height, image_width = surface.size
    if shape.kind == "parts":
        return _draw_by_pycocotools(shape, surface.size, shape_where)
    if shape.kind == "columns":
        return make_shape_pixels(_expand_runs(shape.runs, image_width, image_height).T, 0, 0)
    if shape.kind == "rows":
        left, top, width, height = shape.box
        return _cut(_expand_runs(shape.runs, height, width), top, left, surface.size)
    if shape.kind == "mask":
        return _read_stored_mask(shape, surface.size, shape_where)
    return _draw_by_pillow(shape, surface)


def _draw_by_pillow(shape: Shape, surface: DrawingSurface) -> ShapePixels:
    """Draws a polygon, without its holes and their edges, or another shape of points."""
    points: Sequence[float] = [*shape.points]
    reach = 1.0
    if shape.kind in ("circle", "point"):
        x, y, *edge = points
        radius = _POINT_RADIUS_PX
        if shape.kind == "circle":
            radius = math.sqrt((x - edge[0]) ** 2 + (y - edge[1]) ** 2)
        box = (x - radius, y - radius, x + radius, y + radius)
        surface.pen.ellipse(box, fill=1, outline=1)
        reach += radius
    elif shape.kind == "strip":
        surface.pen.line(points, fill=1, width=_LINE_WIDTH_PX, joint="curve")
        reach = _LINE_WIDTH_PX
    elif shape.kind == "rectangle":
        x_sides, y_sides = points[::2], points[1::2]
        box = (min(x_sides), min(y_sides), max(x_sides), max(y_sides))
        surface.pen.rectangle(box, fill=1, outline=1)
    elif shape.kind == "fractions":
        pixels: np.ndarray = (np.reshape(points, (-1, 2)) * surface.size[::-1]).ravel()
        # Decimals of a whole number of pixels may come out a hair nearer to 0.
        points = (pixels + np.copysign(1e-6, pixels)).tolist()
        surface.pen.polygon(points, fill=1, outline=1)
    else:
        points, *holes = _split_polygons(shape)
        surface.pen.polygon(points, fill=1, outline=1)
        for hole in holes:
            surface.pen.polygon(hole, fill=0, outline=0)
    return surface.take_off(points, reach)


def _split_polygons(shape: Shape) -> list[list[float]]:
    """Returns the points of each polygon of a shape, whose `starts` say where they begin."""
    ends = [*shape.starts, len(shape.points)]
    return [[*shape.points[start:end]] for start, end in itertools.pairwise(ends)]


def _expand_runs(runs: Sequence[int], rows: int, columns: int) -> np.ndarray:
    """Returns the pixels of runs: bool `[rows, columns]`."""
    is_inside = np.zeros(len(runs), bool)
    is_inside[1::2] = True
    return np.repeat(is_inside, runs).reshape(rows, columns)


def _cut(pixels: np.ndarray, top: int, left: int, size: tuple[int, int]) -> ShapePixels:
    """Returns the pixels that lie in the image."""
    rows = slice(max(-top, 0), max(size[0] - top, 0))
    columns = slice(max(-left, 0), max(size[1] - left, 0))
    return make_shape_pixels(pixels[rows, columns], max(top, 0), max(left, 0))


# Masks that are stored as PNG.


def _read_stored_mask(shape: Shape, size: tuple[int, int], where: str) -> ShapePixels:
    """Reads the PNG of a shape, which lies between two corners."""
    try:
        image = _decode_png(base64.b64decode(shape.png), 4 * size[0] * size[1])
    except ValueError as error:
        raise shape_error(where, f"an unreadable mask: {error}", "a PNG in base64") from None
    pixels = np.asarray(image) != 0
    if pixels.ndim != 2:
        raise shape_error(where, "a mask PNG with colors", "a PNG with one value for each pixel")
    corners = np.array(shape.points)
    left, top, right, bottom = corners.round().astype(int).tolist()
    box_size = (bottom - top + 1, right - left + 1)
    is_rounded = not (corners == np.trunc(corners)).all()
    if pixels.shape != box_size and not is_rounded:  # labelme itself may have rounded otherwise
        expected = f"{box_size}, the height and width of the box between its corners"
        raise shape_error(where, f"a mask of {pixels.shape} pixels", expected)
    return _cut(pixels, top, left, size)


def opaque_pixels(png: bytes, most_pixels: int) -> np.ndarray:
    """Returns which pixels of a PNG show an object: bool `[h, w]`.

    They are those that are opaque, or those that are not 0 in a PNG without transparency.

    Raises:
      ValueError: if it cannot be read, has colors, or more than `most_pixels` pixels.
    """
    image = _decode_png(png, most_pixels)
    if "transparency" in image.info or image.mode in ("LA", "RGBA"):
        return np.asarray(image.convert("RGBA"))[..., 3] > 0
    if image.mode not in ("1", "L", "P"):
        raise ValueError(f"a PNG of the mode {image.mode}")
    return np.asarray(image) > 0


def _decode_png(png: bytes, most_pixels: int) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(png), formats=["PNG"])
        if image.width * image.height > most_pixels:
            raise ValueError("a PNG that is larger than the image")
        image.load()
    except (OSError, SyntaxError) as error:
        reason = str(error).partition(" <_io")[0]  # then follows the object that Pillow has read
        raise ValueError(f"not readable as PNG: {reason[:100]}") from None
    return image


# Polygons as pycocotools draws them, in the part of an image that they reach. It draws whole
# images, which takes time where shapes are small.


def _draw_by_pycocotools(shape: Shape, size: tuple[int, int], where: str) -> ShapePixels:
    """Draws the polygons of one object in an image of a height and width."""
    try:
        from pycocotools import mask as coco_masks
    except ImportError:
        raise ConfigError(
            where,
            found="a polygon, but pycocotools, which draws it, is not installed",
            expected="pycocotools",
            remedy="pip install pycocotools",
        ) from None
    points = np.reshape(shape.points, (-1, 2))
    steps = np.abs(np.diff(points, axis=0))
    steps_between_polygons = [start // 2 - 1 for start in shape.starts[1:]]
    length = np.delete(steps, steps_between_polygons, axis=0).sum()
    if length > _MAX_OUTLINE_PX:
        found = f"an outline of {length:.0f} pixels"
        raise shape_error(where, found, f"at most {_MAX_OUTLINE_PX}")
    # Columns and rows behind the last point take time, and change nothing.
    right, bottom = points.max(axis=0)
    height = _within(int(bottom) + 2, 1, size[0])
    width = _within(int(right) + 2, 1, size[1])
    polygons = _split_polygons(shape)
    runs = coco_masks.frPyObjects(polygons, height, width)
    merged = runs[0] if len(polygons) == 1 else coco_masks.merge(runs)
    # The columns before the first pixel inside are part of the first run, of pixels outside. It is
    # written anew, without them.
    counts = merged["counts"]
    first_run = counts[: len(counts) - len(counts.lstrip(_FOLLOWED_DIGITS)) + 1]
    pixels_outside = decode_run(first_run)
    left = min(pixels_outside // height, width - 1)
    counts = _encode_run(pixels_outside - left * height) + counts[len(first_run) :]
    pixels = coco_masks.decode({"size": [height, width - left], "counts": counts})
    top = _within(int(points[:, 1].min()) - 1, 0, height)
    return make_shape_pixels(pixels[top:], top, left)


# pycocotools writes runs of pixels outside and inside in turn, column by column, as text. A run is
# digits of five bits, the lowest first.

_CHARACTER_OF_DIGIT_0 = 48
_IS_FOLLOWED = 32  # is set in each digit of a run but its last
_FOLLOWED_DIGITS = bytes(range(_CHARACTER_OF_DIGIT_0 + 32, _CHARACTER_OF_DIGIT_0 + 64))


def decode_run(text: bytes) -> int:
    """Returns the number that the digits of a run stand for."""
    run = 0
    for exponent, character in enumerate(text):
        digit = (character - _CHARACTER_OF_DIGIT_0) & 31
        run += digit << (5 * exponent)
    return run


def _encode_run(run: int) -> bytes:
    """Returns a run below 2 ** 20 as four digits, and a last one that is 0."""
    text = bytearray()
    for exponent in range(4):
        digit = (run >> (5 * exponent)) & 31
        text.append(digit + _IS_FOLLOWED + _CHARACTER_OF_DIGIT_0)
    return bytes(text) + b"0"
