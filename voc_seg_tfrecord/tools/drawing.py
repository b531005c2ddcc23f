"""Draws the shapes of an image to an index mask, and to a mask of objects.

`shape_pixels` draws each shape alone. Here the shapes are put above each other.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.tools.shape_pixels import (
    DrawingSurface,
    ShapePixels,
    draw_shape,
    make_shape_pixels,
)
from voc_seg_tfrecord.tools.shapes import Annotation, Shape, ShapeOrder, shape_error

_DRAWN_BACKGROUND = 254  # stands for background among shapes, where 0 is a pixel without any

_MemoryOrder = Literal["C", "F"]
"""NumPy's name of the order of an array's pixels in memory: by rows, or by columns."""


class DrawnMask(NamedTuple):
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


class _ShapeLayer(NamedTuple):
    """A shape and its pixels. Of several layers, each lies above those before it."""

    shape: Shape
    drawn: ShapePixels


def draw(
    annotation: Annotation,
    values: Mapping[str, int],
    size: tuple[int, int],
    *,
    objects: bool = False,
) -> DrawnMask:
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
    surface = DrawingSurface(size)
    layers = []
    for shape in annotation.shapes:
        layers.append(_ShapeLayer(shape, draw_shape(shape, surface, annotation.where)))
    layers = _put_in_order(layers, annotation.order, size)
    memory_order = _find_memory_order(layers)
    mask, contested = _paint_classes(layers, values, size, memory_order)
    object_mask = None
    if objects:
        object_mask = _paint_objects(layers, values, size, memory_order, annotation.where)
    counts = {
        "outside": sum(_count_outside(shape, size) for shape in annotation.shapes),
        "contested": contested,
        "empty": sum(not layer.drawn.area for layer in layers),
        "boxes": sum(_is_box(shape, size) for shape in annotation.shapes),
        "discs": sum(shape.kind == "point" for shape in annotation.shapes),
    }
    return DrawnMask(mask, object_mask, counts)


def _put_in_order(
    layers: list[_ShapeLayer], order: ShapeOrder, size: tuple[int, int]
) -> list[_ShapeLayer]:
    """Returns layers so that each lies above those before it; see `Annotation.order`."""
    if order == "smaller":
        return sorted(layers, key=lambda layer: -layer.drawn.area)
    if order == "level":
        return sorted(_merge_groups(layers, size), key=lambda layer: layer.shape.level)
    return layers


def _merge_groups(layers: Sequence[_ShapeLayer], size: tuple[int, int]) -> list[_ShapeLayer]:
    """Makes one layer of those of each group; layers without a group lie below all groups."""
    merged = []
    layers_by_group: dict[str, list[_ShapeLayer]] = {}
    for layer in layers:
        if layer.shape.group:
            layers_by_group.setdefault(layer.shape.group, []).append(layer)
        else:
            merged.append(layer)
    for group in sorted(layers_by_group, key=int):  # CVAT's groups are numbers
        merged.append(_merge_layers(layers_by_group[group], size))
    return merged


def _merge_layers(layers: Sequence[_ShapeLayer], size: tuple[int, int]) -> _ShapeLayer:
    """Makes one layer of several; its label is that of the largest."""
    largest = max(layers, key=lambda layer: layer.drawn.area)
    if len(layers) == 1:
        return largest
    return _ShapeLayer(largest.shape, _unite([layer.drawn for layer in layers], size))


def _unite(parts: Sequence[ShapePixels], size: tuple[int, int]) -> ShapePixels:
    pixels = np.zeros(size, np.uint8, "F")
    for part in parts:
        pixels[part.region] |= part.pixels
    return make_shape_pixels(pixels, 0, 0)


def _find_memory_order(layers: Sequence[_ShapeLayer]) -> _MemoryOrder:
    """Returns the memory order of the shapes' arrays, because NumPy is slow where they differ."""
    by_columns = any(layer.shape.kind in ("parts", "columns") for layer in layers)
    return "F" if by_columns else "C"


def _paint_classes(
    layers: Sequence[_ShapeLayer],
    values: Mapping[str, int],
    size: tuple[int, int],
    memory_order: _MemoryOrder,
) -> tuple[np.ndarray, int]:
    """Returns the mask, and how many of its pixels lie in shapes of several classes."""
    mask = np.zeros(size, np.uint8, memory_order)
    is_contested = np.zeros(size, bool, memory_order)
    for layer in layers:
        value = values[layer.shape.label] or _DRAWN_BACKGROUND
        region = layer.drawn.region
        is_inside = layer.drawn.pixels.view(bool)
        below = mask[region]
        if below.any():
            is_contested[region] |= is_inside & (below != 0) & (below != value)
        np.copyto(below, value, where=is_inside)
    mask[mask == _DRAWN_BACKGROUND] = 0
    return np.ascontiguousarray(mask), int(np.count_nonzero(is_contested))


def _paint_objects(
    layers: Sequence[_ShapeLayer],
    values: Mapping[str, int],
    size: tuple[int, int],
    memory_order: _MemoryOrder,
    where: str,
) -> np.ndarray:
    """Returns the number of each pixel's object; see `DrawnMask`."""
    object_mask = np.zeros(size, np.uint8, memory_order)
    numbers = _number_objects([layer.shape for layer in layers], values, where)
    for layer, number in zip(layers, numbers, strict=True):
        is_inside = layer.drawn.pixels.view(bool)
        np.copyto(object_mask[layer.drawn.region], number, where=is_inside)
    return np.ascontiguousarray(object_mask)


def _number_objects(shapes: Sequence[Shape], values: Mapping[str, int], where: str) -> list[int]:
    """Returns the object number of each shape: from 1 on, or 0 and 255 as in `DrawnMask`."""
    number_by_object: dict[tuple[str, str], int] = {}
    numbers = []
    for index, shape in enumerate(shapes):
        value = VOID if shape.crowd else values[shape.label]
        if value in (0, VOID):
            numbers.append(value)
            continue
        key = _object_key(shape, index)
        numbers.append(number_by_object.setdefault(key, len(number_by_object) + 1))
    if len(number_by_object) >= VOID:
        found = f"{len(number_by_object)} objects"
        expected = f"at most {VOID - 1}, which is what an instance mask can number"
        raise shape_error(where, found, expected, "build without --instance_masks")
    return numbers


def _object_key(shape: Shape, index: int) -> tuple[str, str]:
    """Returns what the shapes of one object share: label and group. Without a group it is alone."""
    if shape.group:
        return shape.label, f"group {shape.group}"
    return shape.label, f"shape {index}"


_KINDS_OF_POLYGONS = ("polygon", "fractions", "parts", "holed")


def _count_outside(shape: Shape, size: tuple[int, int]) -> int:
    height, width = (1, 1) if shape.kind == "fractions" else size
    points = np.asarray(shape.points)
    x, y = points[::2], points[1::2]
    return int(np.count_nonzero((x < 0) | (x > width) | (y < 0) | (y > height)))


def _is_box(shape: Shape, size: tuple[int, int]) -> bool:
    """Says whether a shape is a box, rotated or not, to within a pixel."""
    if shape.kind == "rectangle":
        return True
    if shape.kind not in _KINDS_OF_POLYGONS or len(shape.points) != 8:
        return False
    has_several_polygons = shape.kind in ("parts", "holed") and len(shape.starts) > 1
    if has_several_polygons:
        return False
    corners = np.reshape(shape.points, (4, 2))
    if shape.kind == "fractions":
        corners = corners * size[::-1]
    first, second, third, fourth = corners
    distance_of_middles = np.abs((first + third) / 2 - (second + fourth) / 2).max()
    if distance_of_middles > 0.5:  # of the diagonals
        return False
    diagonal = np.linalg.norm(first - third)
    other_diagonal = np.linalg.norm(second - fourth)
    return bool(abs(diagonal - other_diagonal) <= 1)
