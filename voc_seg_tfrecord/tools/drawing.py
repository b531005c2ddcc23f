"""Draws shapes to an index mask.

Kinds of shapes, and what draws them:

1. Pillow: `polygon`, `rectangle`, `circle`, `line` (10 pixels wide), `strip` (a line with round
   joints) and `point` (a disc of radius 5). `fractions` is a polygon whose points are fractions of
   the image's sides, and `holed` a polygon with the polygons of its holes.
2. pycocotools: `parts`, one or more polygons.
3. NumPy, from runs of pixels outside and inside a shape in turn: `columns` of the image, and `rows`
   of a box.
4. A picture of the shape: `mask`, a PNG in base64 between two corners.
"""

import base64
from collections.abc import Callable, Mapping, Sequence
import io
import itertools
import math
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.tools.shapes import Annotation, Shape, wrong

_LINE_WIDTH_PX = 10
_POINT_RADIUS_PX = 5.0
_MAX_OUTLINE_PX = 10_000_000  # pycocotools takes some 100 bytes for each
_BACKGROUND = 254  # stands for background among shapes, where 0 is a pixel without any
_ARRAY_ORDER = Literal["C", "F"]


class Patch(NamedTuple):
    """The pixels of a shape.

    Attributes:
      pixels: uint8 `[h, w]` of 0 and 1.
      place: the rows and columns of the image in which they lie.
      area: how many pixels are 1.
    """

    pixels: np.ndarray
    place: tuple[slice, slice]
    area: int


def _make_patch(pixels: np.ndarray, top: int, left: int) -> Patch:
    height, width = pixels.shape
    place = np.s_[top : top + height, left : left + width]
    return Patch(pixels.view(np.uint8), place, int(np.count_nonzero(pixels.view(bool))))


class Drawn(NamedTuple):
    """What was drawn of one image.

    Attributes:
      mask: uint8 `[H, W]`: the value of each pixel's class, 0 where no shape is.
      objects: uint8 `[H, W]`: from 1 on the number of each pixel's object, 0 of background, 255
        of void and crowds; None if it was not asked for.
      counts: of `outside`, points that lie outside the image; `contested`, pixels in shapes of two
        classes or more; `empty`, shapes without a pixel in the image; `boxes`, shapes that
        are such; and `discs`, shapes of one point.
    """

    mask: np.ndarray
    objects: np.ndarray | None
    counts: Mapping[str, int]


def draw(
    annotation: Annotation,
    values: Mapping[str, int],
    size: tuple[int, int],
    *,
    objects: bool = False,
) -> Drawn:
    """Draws the shapes of an image.

    Args:
      annotation: the shapes.
      values: the value of each label in the mask: 0 is background, 255 void.
      size: height and width of the image.
      objects: whether to number the objects too.

    Raises:
      MaskError: if a shape cannot be drawn, or there are too many objects.
      ConfigError: if pycocotools is needed and not installed.
    """
    if annotation.error:
        raise annotation.error
    canvas = _Canvas(size)
    drawn = [(shape, _rasterize(shape, annotation.where, canvas)) for shape in annotation.shapes]
    layers = _in_order(drawn, annotation.order, size)
    order = _array_order(layers)
    mask, contested = _paint_classes(layers, values, size, order)
    object_mask = None
    if objects:
        numbers = _number_objects([shape for shape, _ in layers], values, annotation.where)
        object_mask = np.zeros(size, np.uint8, order)
        for (_, patch), number in zip(layers, numbers, strict=True):
            np.copyto(object_mask[patch.place], number, where=patch.pixels.view(bool))
    counts = {
        "outside": sum(_count_outside(shape, size) for shape in annotation.shapes),
        "contested": contested,
        "empty": sum(not patch.area for _, patch in layers),
        "boxes": sum(_is_box(shape, size) for shape in annotation.shapes),
        "discs": sum(shape.kind == "point" for shape in annotation.shapes),
    }
    return Drawn(np.ascontiguousarray(mask), object_mask, counts)


# Which shape lies above.


def _in_order(
    drawn: list[tuple[Shape, Patch]], order: str, size: tuple[int, int]
) -> list[tuple[Shape, Patch]]:
    """Returns shapes so that each lies above those before it; see `Annotation.order`."""
    if order == "smaller":
        return sorted(drawn, key=lambda pair: -pair[1].area)
    if order == "level":
        return sorted(_merge_groups(drawn, size), key=lambda pair: pair[0].level)
    return drawn


def _merge_groups(
    drawn: Sequence[tuple[Shape, Patch]], size: tuple[int, int]
) -> list[tuple[Shape, Patch]]:
    """Makes one shape of those of a group; its label is that of the largest."""
    groups: dict[str | int, list[tuple[Shape, Patch]]] = {}
    for place, pair in enumerate(drawn):
        groups.setdefault(pair[0].group or place, []).append(pair)
    merged = []
    # Those of no group lie below.
    for pairs in sorted(groups.values(), key=lambda pairs: int(pairs[0][0].group or 0)):
        largest, patch = max(pairs, key=lambda pair: pair[1].area)
        if len(pairs) > 1:
            patch = _unite([part for _, part in pairs], size)
        merged.append((largest, patch))
    return merged


def _unite(patches: Sequence[Patch], size: tuple[int, int]) -> Patch:
    pixels = np.zeros(size, np.uint8, "F")
    for patch in patches:
        pixels[patch.place] |= patch.pixels
    return _make_patch(pixels, 0, 0)


# The masks of classes and of objects.


def _array_order(layers: Sequence[tuple[Shape, Patch]]) -> _ARRAY_ORDER:
    """Returns the order of the patches' arrays, because NumPy is slow where they differ."""
    by_columns = any(shape.kind in ("parts", "columns") for shape, _ in layers)
    return "F" if by_columns else "C"


def _paint_classes(
    layers: Sequence[tuple[Shape, Patch]],
    values: Mapping[str, int],
    size: tuple[int, int],
    order: _ARRAY_ORDER,
) -> tuple[np.ndarray, int]:
    """Returns the mask, and how many of its pixels lie in shapes of several classes."""
    mask = np.zeros(size, np.uint8, order)
    contested = np.zeros(size, bool, order)
    for shape, patch in layers:
        value = values[shape.label] or _BACKGROUND
        inside = patch.pixels.view(bool)
        below = mask[patch.place]
        if below.any():
            contested[patch.place] |= inside & (below != 0) & (below != value)
        np.copyto(below, value, where=inside)
    mask[mask == _BACKGROUND] = 0
    return mask, int(np.count_nonzero(contested))


def _number_objects(shapes: Sequence[Shape], values: Mapping[str, int], where: str) -> list[int]:
    """Returns the object number of each shape."""
    number_of_object: dict[tuple[str, str | int], int] = {}
    numbers = []
    for place, shape in enumerate(shapes):
        number = VOID if shape.crowd else values[shape.label]
        if number not in (0, VOID):
            key = (shape.label, shape.group or place)
            number = number_of_object.setdefault(key, len(number_of_object) + 1)
        numbers.append(number)
    if len(number_of_object) >= VOID:
        found = f"{len(number_of_object)} objects"
        expected = f"at most {VOID - 1}, which is what an instance mask can number"
        raise wrong(where, found, expected, "build without --instance_masks")
    return numbers


# What is counted.


def _count_outside(shape: Shape, size: tuple[int, int]) -> int:
    height, width = (1, 1) if shape.kind == "fractions" else size
    points = np.asarray(shape.points)
    x, y = points[::2], points[1::2]
    return int(np.count_nonzero((x < 0) | (x > width) | (y < 0) | (y > height)))


def _is_box(shape: Shape, size: tuple[int, int]) -> bool:
    """Says whether a shape is a box, rotated or not, to within a pixel."""
    if shape.kind == "rectangle":
        return True
    has_parts = shape.kind in ("parts", "holed") and len(shape.data) > 1
    has_four_corners = len(shape.points) == 8
    if has_parts or not has_four_corners:
        return False
    corners = np.reshape(shape.points, (4, 2))
    if shape.kind == "fractions":
        corners = corners * size[::-1]
    first, second, third, fourth = corners
    between_middles = (first + third) / 2 - (second + fourth) / 2
    if np.abs(between_middles).max() > 0.5:  # of the diagonals
        return False
    diagonal = np.linalg.norm(first - third)
    other_diagonal = np.linalg.norm(second - fourth)
    return bool(abs(diagonal - other_diagonal) <= 1)


# The pixels of one shape.


class _Canvas:
    """An image of Pillow's whose pixels are NumPy's too. It is empty between two shapes."""

    def __init__(self, size: tuple[int, int]):
        self.size = size
        self._pixels = np.zeros(size, np.uint8)
        image = Image.frombuffer("L", size[::-1], self._pixels, "raw", "L", 0, 1)
        image.readonly = 0  # or else Pillow draws on a copy
        self._pen = ImageDraw.Draw(image)

    def draw(self, kind: str, points: Sequence[float]) -> Patch:
        """Draws a shape, and takes it off."""
        x, y = points[::2], points[1::2]
        reach = 1.0
        if kind == "rectangle":
            self._pen.rectangle((min(x), min(y), max(x), max(y)), fill=1, outline=1)
        elif kind in ("line", "strip"):
            joint = "curve" if kind == "strip" else None
            self._pen.line([*points], fill=1, width=_LINE_WIDTH_PX, joint=joint)
            reach = _LINE_WIDTH_PX
        elif kind in ("circle", "point"):
            radius = _POINT_RADIUS_PX
            if kind == "circle":
                radius = math.sqrt((x[0] - x[1]) ** 2 + (y[0] - y[1]) ** 2)
            box = (x[0] - radius, y[0] - radius, x[0] + radius, y[0] + radius)
            self._pen.ellipse(box, fill=1, outline=1)
            reach += radius
        else:
            self._pen.polygon([*points], fill=1, outline=1)
        return self._take_off(x, y, reach)

    def draw_with_holes(self, parts: Sequence[Sequence[float]]) -> Patch:
        """Draws a polygon without the pixels of its holes and of their edges, and takes it off."""
        outline, *holes = parts
        self._pen.polygon([*outline], fill=1, outline=1)
        for hole in holes:
            self._pen.polygon([*hole], fill=0, outline=0)
        return self._take_off(outline[::2], outline[1::2], reach=1.0)

    def _take_off(self, x: Sequence[float], y: Sequence[float], reach: float) -> Patch:
        """Returns what was drawn around points, and empties the image there."""
        height, width = self.size
        left = _within(int(min(x) - reach), 0, width)
        top = _within(int(min(y) - reach), 0, height)
        right = _within(int(max(x) + reach) + 1, 0, width)
        bottom = _within(int(max(y) + reach) + 1, 0, height)
        drawn = self._pixels[top:bottom, left:right]
        patch = _make_patch(drawn.copy(), top, left)
        drawn[:] = 0
        return patch


def _rasterize(shape: Shape, where: str, canvas: _Canvas) -> Patch:
    draw_kind = _DRAWN_WITHOUT_PILLOW.get(shape.kind)
    if draw_kind:
        return draw_kind(shape, f"{where}, {shape.place}", canvas.size)
    if shape.kind == "holed":
        return canvas.draw_with_holes(_split_parts(shape))
    if shape.kind == "fractions":
        return canvas.draw("polygon", _in_pixels(shape.points, canvas.size))
    return canvas.draw(shape.kind, shape.points)


def _in_pixels(fractions: Sequence[float], size: tuple[int, int]) -> list[float]:
    points: np.ndarray = (np.reshape(fractions, (-1, 2)) * size[::-1]).ravel()
    # Decimals of a whole number of pixels may come out a hair nearer to 0.
    points += np.copysign(1e-6, points)
    return list(points.tolist())


def _draw_columns(shape: Shape, where: str, size: tuple[int, int]) -> Patch:
    del where
    height, width = size
    return _make_patch(_expand_runs(shape.data, width, height).T, 0, 0)


def _draw_rows(shape: Shape, where: str, size: tuple[int, int]) -> Patch:
    del where
    left, top, width, height = shape.data[:4]
    return _cut(_expand_runs(shape.data[4:], height, width), top, left, size)


def _expand_runs(runs: Sequence[int], rows: int, columns: int) -> np.ndarray:
    inside = np.zeros(len(runs), bool)
    inside[1::2] = True
    return np.repeat(inside, runs).reshape(rows, columns)


def _draw_stored_mask(shape: Shape, where: str, size: tuple[int, int]) -> Patch:
    """Reads the PNG of a shape, which lies between two corners."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(shape.data)), formats=["PNG"]) as image:
            if image.width * image.height > 4 * size[0] * size[1]:
                raise ValueError("it is larger than the image")
            pixels = np.asarray(image) != 0
    except (ValueError, OSError, SyntaxError, TypeError) as error:
        why = str(error).partition(" <_io")[0][:100]  # Pillow names the object it has read
        raise wrong(where, f"an unreadable mask: {why}", "a PNG in base64") from None
    corners = np.array(shape.points)
    left, top, right, bottom = corners.round().astype(int).tolist()
    box = (bottom - top + 1, right - left + 1)
    # Corners between pixels may be rounded in two ways.
    are_whole = bool((corners == np.trunc(corners)).all())
    if pixels.shape != box and (pixels.ndim != 2 or are_whole):
        raise wrong(where, f"a mask of {pixels.shape} pixels", f"{box}, as its corners say")
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
        reason = str(error).partition(" <_io")[0]  # Pillow names the object it has read
        raise ValueError(f"an unreadable bitmap: {reason[:100]}") from None


def _cut(pixels: np.ndarray, top: int, left: int, size: tuple[int, int]) -> Patch:
    """Returns the pixels that lie in the image."""
    rows = slice(max(-top, 0), max(size[0] - top, 0))
    columns = slice(max(-left, 0), max(size[1] - left, 0))
    return _make_patch(pixels[rows, columns], max(top, 0), max(left, 0))


# pycocotools draws whole images, which takes time where shapes are small. So it draws only the part
# of the image that a shape may reach.

_DIGIT_OF_TEXT = 48  # of the character for 0 in pycocotools' text of runs
_IS_FOLLOWED = 32  # is set in each digit of a run but its last
_FOLLOWED_DIGITS = bytes(range(_DIGIT_OF_TEXT + 32, _DIGIT_OF_TEXT + 64))


def _draw_parts(shape: Shape, where: str, size: tuple[int, int]) -> Patch:
    """Draws polygons as pycocotools does."""
    parts = _split_parts(shape)
    x, y = shape.points[::2], shape.points[1::2]
    left, right = min(x), max(x)
    top, bottom = min(y), max(y)
    longest_line = (right - left) + (bottom - top)
    _check_outline(parts, len(x) * longest_line, where)
    # Columns and rows behind the last point take time, and change nothing.
    height = _within(int(bottom) + 2, 1, size[0])
    width = _within(int(right) + 2, 1, size[1])
    pixels, first_column = _draw_from_first_column(parts, height, width, where)
    first_row = _within(int(top) - 1, 0, height)
    return _make_patch(pixels[first_row:], first_row, first_column)


def _within(number: int, least: int, most: int) -> int:
    """Returns a number, or the bound that it is beyond."""
    return max(least, min(number, most))


def _split_parts(shape: Shape) -> list[list[float]]:
    """Returns the points of each polygon of a shape."""
    ends = [*shape.data, len(shape.points)]
    return [[*shape.points[start:end]] for start, end in itertools.pairwise(ends)]


def _check_outline(parts: Sequence[Sequence[float]], most: float, where: str) -> None:
    """Checks that an outline, which has at most so many pixels, is not endless."""
    if most <= _MAX_OUTLINE_PX:
        return
    length = 0.0
    for part in parts:
        length += np.abs(np.diff(part[::2])).sum() + np.abs(np.diff(part[1::2])).sum()
    if length > _MAX_OUTLINE_PX:
        found = f"an outline of {length:.0f} pixels"
        raise wrong(where, found, f"at most {_MAX_OUTLINE_PX}")


def _draw_from_first_column(
    parts: Sequence[Sequence[float]], height: int, width: int, where: str
) -> tuple[np.ndarray, int]:
    """Returns the columns of polygons from that of their first pixel on, and its number.

    The columns before it are part of the first run of pixels outside. That run is written anew,
    without them, and then the text of runs is decoded.
    """
    try:
        from pycocotools import mask as coco_masks
    except ImportError:
        raise ConfigError(
            where,
            found="a polygon that pycocotools draws, which is missing",
            expected="an installed pycocotools",
            remedy="pip install pycocotools",
        ) from None
    runs = coco_masks.frPyObjects(parts, height, width)
    merged = runs[0] if len(parts) == 1 else coco_masks.merge(runs)
    counts = merged["counts"]
    followed_digits = len(counts) - len(counts.lstrip(_FOLLOWED_DIGITS))
    first, later = counts[: followed_digits + 1], counts[followed_digits + 1 :]
    pixels_outside = _decode_run(first)
    left = min(pixels_outside // height, width - 1)
    new_counts = _encode_run(pixels_outside - left * height) + later
    pixels = coco_masks.decode({"size": [height, width - left], "counts": new_counts})
    return pixels, left


def _decode_run(text: bytes) -> int:
    """Returns the run that pycocotools writes as digits of five bits, the lowest first."""
    run = 0
    for place, character in enumerate(text):
        digit = (character - _DIGIT_OF_TEXT) & 31
        run += digit << (5 * place)
    return run


def _encode_run(run: int) -> bytes:
    """Returns a run below 2 ** 20 as four digits, and a last one that is 0."""
    text = bytearray()
    for place in range(4):
        digit = (run >> (5 * place)) & 31
        text.append(digit + _IS_FOLLOWED + _DIGIT_OF_TEXT)
    return bytes(text) + b"0"


_DRAWN_WITHOUT_PILLOW: dict[str, Callable[[Shape, str, tuple[int, int]], Patch]] = {
    "parts": _draw_parts,
    "columns": _draw_columns,
    "rows": _draw_rows,
    "mask": _draw_stored_mask,
}
