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
    by_columns = any(layer.shape.kind in ("parts", "columns") for layer in layers)
    # NumPy is slow where the memory orders of two arrays differ.
    memory_order: Literal["C", "F"] = "F" if by_columns else "C"
    mask = np.zeros(size, np.uint8, memory_order)
    is_contested = np.zeros(size, bool, memory_order)
    object_mask: np.ndarray | None = None
    object_numbers = [0] * len(layers)
    if objects:
        object_mask = np.zeros(size, np.uint8, memory_order)
        shapes = [layer.shape for layer in layers]
        object_numbers = _number_objects(shapes, values, annotation.where)
    for layer, object_number in zip(layers, object_numbers, strict=True):
        value = values[layer.shape.label] or _DRAWN_BACKGROUND
        region = layer.drawn.region
        is_inside = layer.drawn.pixels.view(bool)
        below = mask[region]
        if below.any():
            is_contested[region] |= is_inside & (below != 0) & (below != value)
        np.copyto(below, value, where=is_inside)
        if object_mask is not None:
            np.copyto(object_mask[region], object_number, where=is_inside)
    mask[mask == _DRAWN_BACKGROUND] = 0
    counts = {
        "outside": sum(_count_outside(shape, size) for shape in annotation.shapes),
        "contested": int(np.count_nonzero(is_contested)),
        "empty": sum(not layer.drawn.area for layer in layers),
        "boxes": sum(_is_box(shape, size) for shape in annotation.shapes),
        "discs": sum(shape.kind == "point" for shape in annotation.shapes),
    }
    if object_mask is not None:
        object_mask = np.ascontiguousarray(object_mask)
    return DrawnMask(np.ascontiguousarray(mask), object_mask, counts)


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
    """Makes one layer of those of each group, with the label of the largest.

    Layers without a group lie below all groups.
    """
    merged = []
    layers_by_group: dict[str, list[_ShapeLayer]] = {}
    for layer in layers:
        if layer.shape.group:
            layers_by_group.setdefault(layer.shape.group, []).append(layer)
        else:
            merged.append(layer)
    for group in sorted(layers_by_group, key=int):  # CVAT's groups are numbers
        layers_of_group = layers_by_group[group]
        largest = max(layers_of_group, key=lambda layer: layer.drawn.area)
        if len(layers_of_group) > 1:
            pixels = np.zeros(size, np.uint8, "F")
            for layer in layers_of_group:
                pixels[layer.drawn.region] |= layer.drawn.pixels
            largest = _ShapeLayer(largest.shape, make_shape_pixels(pixels, 0, 0))
        merged.append(largest)
    return merged


def _number_objects(shapes: Sequence[Shape], values: Mapping[str, int], where: str) -> list[int]:
    """Returns the object number of each shape: from 1 on, or 0 and 255 as in `DrawnMask`."""
    number_by_object: dict[tuple[str, str], int] = {}
    numbers = []
    for index, shape in enumerate(shapes):
        value = VOID if shape.crowd else values[shape.label]
        if value in (0, VOID):
            numbers.append(value)
            continue
        group = f"group {shape.group}" if shape.group else f"shape {index}"
        key = (shape.label, group)
        numbers.append(number_by_object.setdefault(key, len(number_by_object) + 1))
    if len(number_by_object) >= VOID:
        found = f"{len(number_by_object)} objects"
        expected = f"at most {VOID - 1}, which is what an instance mask can number"
        raise shape_error(where, found, expected, "build without --instance_masks")
    return numbers


_KINDS_OF_POLYGONS = ("polygon", "fractions", "parts")


def _count_outside(shape: Shape, size: tuple[int, int]) -> int:
    height, width = (1, 1) if shape.kind == "fractions" else size
    points = np.asarray(shape.points)
    x, y = points[::2], points[1::2]
    return int(np.count_nonzero((x < 0) | (x > width) | (y < 0) | (y > height)))


def _is_box(shape: Shape, size: tuple[int, int]) -> bool:
    """Says whether a shape is a box, rotated or not, to within a pixel.

    The diagonals of a box have one middle and one length.
    """
    if shape.kind == "rectangle":
        return True
    is_one_polygon = shape.kind in _KINDS_OF_POLYGONS and len(shape.starts) < 2
    if not is_one_polygon or len(shape.points) != 8:
        return False
    corners = np.reshape(shape.points, (4, 2))
    if shape.kind == "fractions":
        corners = corners * size[::-1]
    first, second, third, fourth = corners
    middle = (first + third) / 2
    other_middle = (second + fourth) / 2
    if np.abs(middle - other_middle).max() > 0.5:
        return False
    length = np.linalg.norm(first - third)
    other_length = np.linalg.norm(second - fourth)
    return bool(abs(length - other_length) <= 1)
