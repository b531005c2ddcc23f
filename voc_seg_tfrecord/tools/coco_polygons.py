"""Draws polygons as pycocotools does, in the part of an image that they reach.

pycocotools draws whole images, which takes time where shapes are small.
"""

from collections.abc import Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.tools.shapes import shape_error

_MAX_OUTLINE_PX = 10_000_000  # pycocotools takes some 100 bytes for each


@dataclasses.dataclass(frozen=True)
class DrawnPolygons:
    """The part of an image in which polygons were drawn.

    Attributes:
      pixels: uint8 `[h, w]` of 0 and 1, in the order of columns.
      top: the row of the image at which the part begins.
      left: the column at which it begins.
    """

    pixels: np.ndarray
    top: int
    left: int


def draw_polygons(
    polygons: Sequence[Sequence[float]], size: tuple[int, int], where: str
) -> DrawnPolygons:
    """Draws the polygons of one object.

    Args:
      polygons: x and y of each point in turn, in pixels, for each polygon.
      size: height and width of the image.
      where: the object, for errors.

    Raises:
      MaskError: if an outline is too long to be drawn.
      ConfigError: if pycocotools is not installed.
    """
    x = [coordinate for polygon in polygons for coordinate in polygon[::2]]
    y = [coordinate for polygon in polygons for coordinate in polygon[1::2]]
    left, right = min(x), max(x)
    top, bottom = min(y), max(y)
    longest_line = (right - left) + (bottom - top)
    if len(x) * longest_line > _MAX_OUTLINE_PX:  # the outline has at most so many pixels
        _check_outline(polygons, where)
    # Columns and rows behind the last point take time, and change nothing.
    height = within(int(bottom) + 2, 1, size[0])
    width = within(int(right) + 2, 1, size[1])
    pixels, first_column = _draw_from_first_column(polygons, height, width, where)
    first_row = within(int(top) - 1, 0, height)
    return DrawnPolygons(pixels[first_row:], first_row, first_column)


def within(number: int, least: int, most: int) -> int:
    """Returns a number, or the bound that it is beyond."""
    return max(least, min(number, most))


def _check_outline(polygons: Sequence[Sequence[float]], where: str) -> None:
    """Checks that the outline of polygons is not endless."""
    length = 0.0
    for polygon in polygons:
        length += np.abs(np.diff(polygon[::2])).sum() + np.abs(np.diff(polygon[1::2])).sum()
    if length > _MAX_OUTLINE_PX:
        found = f"an outline of {length:.0f} pixels"
        raise shape_error(where, found, f"at most {_MAX_OUTLINE_PX}")


def _draw_from_first_column(
    polygons: Sequence[Sequence[float]], height: int, width: int, where: str
) -> tuple[np.ndarray, int]:
    """Returns the columns of polygons from that of their first pixel on, and its number."""
    try:
        from pycocotools import mask as coco_masks
    except ImportError:
        raise ConfigError(
            where,
            found="a polygon, but pycocotools, which draws it, is not installed",
            expected="pycocotools",
            remedy="pip install pycocotools",
        ) from None
    runs = coco_masks.frPyObjects(polygons, height, width)
    merged = runs[0] if len(polygons) == 1 else coco_masks.merge(runs)
    counts, first_column = _without_first_columns(merged["counts"], height, width)
    pixels = coco_masks.decode({"size": [height, width - first_column], "counts": counts})
    return pixels, first_column


# pycocotools writes runs of pixels outside and inside in turn, column by column, as text. A run is
# digits of five bits, the lowest first.

_CHARACTER_OF_DIGIT_0 = 48
_IS_FOLLOWED = 32  # is set in each digit of a run but its last
_FOLLOWED_DIGITS = bytes(range(_CHARACTER_OF_DIGIT_0 + 32, _CHARACTER_OF_DIGIT_0 + 64))


def _without_first_columns(counts: bytes, height: int, width: int) -> tuple[bytes, int]:
    """Returns runs without the columns before the first pixel inside, and how many these are.

    The columns are part of the first run, of pixels outside. It is written anew, without them.
    """
    followed_digits = len(counts) - len(counts.lstrip(_FOLLOWED_DIGITS))
    first_run = counts[: followed_digits + 1]
    later_runs = counts[followed_digits + 1 :]
    pixels_outside = decode_run(first_run)
    columns = min(pixels_outside // height, width - 1)
    return _encode_run(pixels_outside - columns * height) + later_runs, columns


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
