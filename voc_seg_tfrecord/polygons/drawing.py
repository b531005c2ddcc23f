"""Draws shapes to an index mask.

Kinds of shapes, and who draws them:

1. Pillow, as labelme: `polygon`, `rectangle`, `circle`, `line` (10 pixels wide), `strip` (a line
   with round joints), `point` (a disc of radius 5), `mask` (a PNG in base64). `fractions` is a
   polygon whose points are fractions of the image's sides.
2. pycocotools, as COCO and CVAT: `parts`, one or more polygons.
3. NumPy, from runs of pixels outside and inside a shape in turn: `columns` of the image, as COCO
   writes them, and `rows` of a box, as CVAT does.
"""

import base64
from collections.abc import Mapping, Sequence
import io
import itertools
import math
from typing import Literal, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.polygons.shapes import Annotation, Shape, wrong

_LINE_WIDTH, _POINT_RADIUS = 10, 5.0  # labelme's
_LONGEST = 10_000_000  # pixels of an outline; pycocotools takes some 100 bytes for each
_BACKGROUND = 254  # stands for background among shapes, where 0 is a pixel without any
_GOES_ON = bytes(range(80, 112))  # characters of a run's text but its last


class Patch(NamedTuple):
    """The pixels of a shape: uint8 `[h, w]` of 0 and 1, rows and columns, and how many are 1."""

    pixels: np.ndarray
    place: tuple[slice, slice]
    area: int


def _patch(pixels: np.ndarray, top: int, left: int) -> Patch:
    place = np.s_[top : top + pixels.shape[0], left : left + pixels.shape[1]]
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
    drawn = [(s, _rasterize(s, annotation.where, canvas)) for s in annotation.shapes]
    if annotation.order == "smaller":
        drawn.sort(key=lambda pair: -pair[1].area)
    elif annotation.order == "level":
        drawn = sorted(_merged(drawn, size), key=lambda pair: pair[0].level)
    numbers = _numbers([shape for shape, _ in drawn], values, annotation.where) if objects else ()
    # Arrays of the order of the patches, because NumPy is slow where they differ.
    order: Literal["C", "F"] = "F" if any(s.kind in ("parts", "columns") for s, _ in drawn) else "C"
    mask, contested = np.zeros(size, np.uint8, order), np.zeros(size, bool, order)
    object_mask = np.zeros(size if objects else (0, 0), np.uint8, order)
    for place, (shape, patch) in enumerate(drawn):
        value, where = values[shape.label] or _BACKGROUND, patch.pixels.view(bool)
        below = mask[patch.place]
        if below.any():
            contested[patch.place] |= where & (below != 0) & (below != value)
        np.copyto(below, value, where=where)
        if objects:
            np.copyto(object_mask[patch.place], numbers[place], where=where)
    mask[mask == _BACKGROUND] = 0
    counts = {
        "outside": sum(_outside(shape, size) for shape in annotation.shapes),
        "contested": int(np.count_nonzero(contested)),
        "empty": sum(not patch.area for _, patch in drawn),
        "boxes": sum(_is_box(shape, size) for shape in annotation.shapes),
        "discs": sum(shape.kind == "point" for shape in annotation.shapes),
    }
    return Drawn(np.ascontiguousarray(mask), object_mask if objects else None, counts)


def _union(patches: Sequence[Patch], size: tuple[int, int], order: Literal["C", "F"]) -> Patch:
    pixels = np.zeros(size, np.uint8, order)
    for patch in patches:
        pixels[patch.place] |= patch.pixels
    return _patch(pixels, 0, 0)


def _merged(
    drawn: Sequence[tuple[Shape, Patch]], size: tuple[int, int]
) -> list[tuple[Shape, Patch]]:
    """Makes one shape of those of a group, as CVAT does: its label is that of the largest."""
    groups: dict[str | int, list[tuple[Shape, Patch]]] = {}
    for place, pair in enumerate(drawn):
        groups.setdefault(pair[0].group or place, []).append(pair)
    merged = []
    # Those of no group lie below.
    for pairs in sorted(groups.values(), key=lambda pairs: int(pairs[0][0].group or 0)):
        largest, patch = max(pairs, key=lambda pair: pair[1].area)
        if len(pairs) > 1:
            patch = _union([part for _, part in pairs], size, "F")
        merged.append((largest, patch))
    return merged


def _numbers(shapes: Sequence[Shape], values: Mapping[str, int], where: str) -> list[int]:
    """Returns the object number of each shape."""
    known: dict[tuple[str, str | int], int] = {}
    numbers = []
    for place, shape in enumerate(shapes):
        number = VOID if shape.crowd else values[shape.label]
        if number not in (0, VOID):
            number = known.setdefault((shape.label, shape.group or place), len(known) + 1)
        numbers.append(number)
    if len(known) >= VOID:
        expected = f"at most {VOID - 1}, which is what an instance mask can number"
        raise wrong(where, f"{len(known)} objects", expected, "build without --instance_masks")
    return numbers


def _outside(shape: Shape, size: tuple[int, int]) -> int:
    height, width = (1, 1) if shape.kind == "fractions" else size
    points = np.asarray(shape.points)
    x, y = points[::2], points[1::2]
    return int(np.count_nonzero((x < 0) | (x > width) | (y < 0) | (y > height)))


def _is_box(shape: Shape, size: tuple[int, int]) -> bool:
    """Says whether a shape is a box, rotated or not, to within a pixel."""
    if len(shape.points) != 8 or (shape.kind == "parts" and len(shape.data) > 1):
        return shape.kind == "rectangle"
    a, b, c, d = np.reshape(shape.points, (4, 2)) * (size[::-1] if shape.kind == "fractions" else 1)
    diagonals = np.hypot(*(a - c)), np.hypot(*(b - d))
    return bool(np.abs(a + c - b - d).max() <= 1 and abs(diagonals[0] - diagonals[1]) <= 1)


class _Canvas:
    """An image of Pillow's whose pixels are NumPy's too. It is empty between two shapes."""

    def __init__(self, size: tuple[int, int]):
        self.size, self._pixels = size, np.zeros(size, np.uint8)
        image = Image.frombuffer("L", size[::-1], self._pixels, "raw", "L", 0, 1)
        image.readonly = 0  # or else Pillow draws on a copy
        self._pen = ImageDraw.Draw(image)

    def draw(self, kind: str, points: Sequence[float]) -> Patch:
        """Draws a shape, and takes it off."""
        x, y, reach = points[::2], points[1::2], 1.0
        if kind == "rectangle":
            self._pen.rectangle((min(x), min(y), max(x), max(y)), fill=1, outline=1)
        elif kind in ("line", "strip"):
            joint, reach = "curve" if kind == "strip" else None, _LINE_WIDTH
            self._pen.line([*points], fill=1, width=_LINE_WIDTH, joint=joint)
        elif kind in ("circle", "point"):
            r = math.sqrt((x[0] - x[1]) ** 2 + (y[0] - y[1]) ** 2) if x[1:] else _POINT_RADIUS
            self._pen.ellipse((x[0] - r, y[0] - r, x[0] + r, y[0] + r), fill=1, outline=1)
            reach += r
        else:
            self._pen.polygon([*points], fill=1, outline=1)
        left, top = max(int(min(x) - reach), 0), max(int(min(y) - reach), 0)
        right, bottom = max(int(max(x) + reach) + 1, 0), max(int(max(y) + reach) + 1, 0)
        drawn = self._pixels[top:bottom, left:right]
        patch = _patch(drawn.copy(), top, left)
        drawn[:] = 0
        return patch


def _rasterize(shape: Shape, where: str, canvas: _Canvas) -> Patch:
    size, where = canvas.size, f"{where}, {shape.place}"
    if shape.kind == "parts":
        return _by_pycocotools(shape.points, shape.data, where, size)
    if shape.kind == "columns":
        return _patch(_runs(shape.data, size[1], size[0]).T, 0, 0)
    if shape.kind == "rows":
        left, top, columns, rows = shape.data[:4]
        return _clipped(_runs(shape.data[4:], rows, columns), top, left, size)
    if shape.kind == "mask":
        return _stored_mask(shape, where, size)
    if shape.kind != "fractions":
        return canvas.draw(shape.kind, shape.points)
    points = (np.reshape(shape.points, (-1, 2)) * size[::-1]).ravel()
    # Decimals of a whole number of pixels may come out a hair nearer to 0.
    points += np.copysign(1e-6, points)
    return canvas.draw("polygon", points.tolist())


def _stored_mask(shape: Shape, where: str, size: tuple[int, int]) -> Patch:
    """Reads labelme's PNG of a shape, which lies between two corners."""
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
    if pixels.shape != box and (pixels.ndim != 2 or bool((corners == np.trunc(corners)).all())):
        raise wrong(where, f"a mask of {pixels.shape} pixels", f"{box}, as its corners say")
    return _clipped(pixels, top, left, size)


def _clipped(pixels: np.ndarray, top: int, left: int, size: tuple[int, int]) -> Patch:
    rows = slice(max(-top, 0), max(size[0] - top, 0))
    columns = slice(max(-left, 0), max(size[1] - left, 0))
    return _patch(pixels[rows, columns], max(top, 0), max(left, 0))


def _runs(runs: Sequence[int], rows: int, columns: int) -> np.ndarray:
    inside = np.zeros(len(runs), bool)
    inside[1::2] = True
    return np.repeat(inside, runs).reshape(rows, columns)


def _by_pycocotools(
    points: Sequence[float], starts: Sequence[int], where: str, size: tuple[int, int]
) -> Patch:
    parts = [[*points[a:b]] for a, b in itertools.pairwise([*starts, len(points)])]
    x, y = points[::2], points[1::2]
    top, bottom, right = min(y), max(y), max(x)
    if len(x) * (bottom - top + right - min(x)) > _LONGEST:
        length = sum(np.abs(np.diff(part[n::2])).sum() for part in parts for n in (0, 1))
        if length > _LONGEST:
            raise wrong(where, f"an outline of {length:.0f} pixels", f"at most {_LONGEST}")
    try:
        from pycocotools import mask as coco_masks
    except ImportError:
        raise ConfigError(
            where,
            found="a polygon, but pycocotools, which draws those of COCO and CVAT, is missing",
            expected="an installed pycocotools",
            remedy="pip install pycocotools",
        ) from None
    # Columns and rows behind the last point take time, and change nothing.
    height, width = (
        max(min(side, int(end) + 2), 1) for side, end in zip(size, (bottom, right), strict=True)
    )
    runs = coco_masks.frPyObjects(parts, height, width)
    counts = (runs[0] if len(parts) == 1 else coco_masks.merge(runs))["counts"]
    # Nor do the columns before the first pixel change anything. The first run ends there.
    first = counts[: 1 + len(counts) - len(counts.lstrip(_GOES_ON))]
    run = sum((c - 48 & 31) << 5 * n for n, c in enumerate(first))
    left = min(run // height, width - 1)
    before = run - left * height
    digits = [before & 31, before >> 5 & 31, before >> 10 & 31, before >> 15 & 31]
    counts = bytes(digit + 80 for digit in digits) + b"0" + counts[len(first) :]
    pixels = coco_masks.decode({"size": [height, width - left], "counts": counts})
    top = min(max(int(top) - 1, 0), height)
    return _patch(pixels[top:], top, left)
