"""Says how the second image of a pair differs from the first, and outlines what both show."""

from collections.abc import Sequence
import dataclasses
import math

import numpy as np

from voc_seg_tfrecord.formats.picture_signs import ORIENTATIONS
from voc_seg_tfrecord.quality.similarity import Similarity

Size = tuple[int, int]
"""Height and width of an image, in pixels."""

Point = tuple[float, float]
"""x and y in an image, in pixels."""

_UPRIGHT = ORIENTATIONS[0].name
_TRANSPOSED_NAMES = frozenset(
    orientation.name for orientation in ORIENTATIONS if orientation.is_transposed
)

_MAX_UNNAMED_SCALING = 0.01  # of a whole image; sides are rounded to pixels
_MAX_UNNAMED_STRETCH = 0.03
_MAX_UNNAMED_SCALING_OF_PART = 0.05  # as exact as the size of a keypoint
_MIN_SHARE_OF_WHOLE = 0.95  # an image that is covered by so much of another is a part of it


def describe_change(transformation: str, first_size: Size | None, second_size: Size | None) -> str:
    """Returns what was done to the first image to get the second, such as `mirrored`.

    Args:
      transformation: the name of an orientation; see `picture_signs.ORIENTATIONS`.
      first_size: of the first image; None if the image is not at hand.
      second_size: of the second image.
    """
    changes = [] if transformation == _UPRIGHT else [transformation]
    if first_size is None or second_size is None:
        return ", ".join(changes) or "not turned"
    height, width = first_size
    if transformation in _TRANSPOSED_NAMES:
        height, width = width, height
    changes += _describe_scaling(second_size[0] / height, second_size[1] / width)
    return ", ".join(changes) or "same size and orientation"


def _describe_scaling(factor_of_height: float, factor_of_width: float) -> list[str]:
    if abs(math.log(factor_of_height / factor_of_width)) > _MAX_UNNAMED_STRETCH:
        width, height = _percent(factor_of_width), _percent(factor_of_height)
        return [f"scaled to {width} of the width and {height} of the height"]
    factor = math.sqrt(factor_of_height * factor_of_width)
    if abs(math.log(factor)) <= _MAX_UNNAMED_SCALING:
        return []
    return [f"scaled to {_percent(factor)}"]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


@dataclasses.dataclass(frozen=True)
class PartOutline:
    """Where two images show the same.

    Attributes:
      first: the corners of the part in the first image.
      second: the same in the second image.
      share_of_first: which share of the first image the part is, 0 to 1.
      share_of_second: which share of the second image it is.
    """

    first: Sequence[Point]
    second: Sequence[Point]
    share_of_first: float
    share_of_second: float


def outline_part(similarity: Similarity, first_size: Size, second_size: Size) -> PartOutline:
    """Returns where two images show the same.

    Args:
      similarity: carries the second image onto the first.
      first_size: of the first image.
      second_size: of the second image.
    """
    second_to_first = np.vstack([similarity.matrix(), [0, 0, 1]])
    first_frame = _frame_in_long_sides(first_size)
    second_frame = _frame_in_long_sides(second_size)
    frame_on_first = _apply_map(second_to_first, second_frame)
    right, bottom = first_frame.max(axis=0)
    part_on_first = _clip(frame_on_first, right, bottom)
    part_on_second = _apply_map(np.linalg.inv(second_to_first), part_on_first)
    return PartOutline(
        first=_as_pixels(part_on_first, first_size),
        second=_as_pixels(part_on_second, second_size),
        share_of_first=_area(part_on_first) / _area(first_frame),
        share_of_second=_area(part_on_second) / _area(second_frame),
    )


def _frame_in_long_sides(size: Size) -> np.ndarray:
    """Returns the corners of an image in shares of its long side, clockwise, float64 `[4, 2]`."""
    height, width = size
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    return corners / max(size)


def _as_pixels(points: np.ndarray, size: Size) -> list[Point]:
    """Returns points in shares of the long side, `[N, 2]`, in pixels."""
    return [(x, y) for x, y in (points * max(size)).tolist()]


def _apply_map(affine: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Returns points, float64 `[N, 2]`, carried by an affine map, float64 `[3, 3]`."""
    with_ones = np.column_stack([points, np.ones(len(points))])
    return (with_ones @ affine.T)[:, :2]


def _clip(polygon: np.ndarray, right: float, bottom: float) -> np.ndarray:
    """Returns the part of a convex polygon, float64 `[N, 2]`, between 0, right and bottom."""
    for axis, limit, sign in ((0, 0.0, 1), (0, right, -1), (1, 0.0, 1), (1, bottom, -1)):
        polygon = _clip_at_line(polygon, sign * (polygon[:, axis] - limit))
    return polygon


def _clip_at_line(polygon: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """Returns the part of a convex polygon on one side of a line (Sutherland and Hodgman).

    Args:
      polygon: its corners, float64 `[N, 2]`.
      distances: how far each corner is on the side that is kept; negative on the other, `[N]`.
    """
    kept: list[np.ndarray] = []
    for index, corner in enumerate(polygon):
        previous = polygon[index - 1]
        distance, previous_distance = distances[index], distances[index - 1]
        if (distance < 0) != (previous_distance < 0):
            share = previous_distance / (previous_distance - distance)
            kept.append(previous + share * (corner - previous))
        if distance >= 0:
            kept.append(corner)
    return np.array(kept).reshape(-1, 2)


def _area(polygon: np.ndarray) -> float:
    """Returns the area of a polygon, float64 `[N, 2]`; 0 if it has no corners."""
    x, y = polygon.T
    return abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2


def describe_part(
    transformation: str,
    similarity: Similarity,
    outline: PartOutline,
    first_size: Size,
    second_size: Size,
) -> str:
    """Returns which part two images share, and what was done to it to get the second image.

    Such as `the right image is 31 % of the left one, mirrored`.

    Args:
      transformation: how the part was turned; see `Similarity.describe`.
      similarity: carries the second image onto the first.
      outline: where the part is.
      first_size: of the first image, which stands on the left.
      second_size: of the second image, which stands on the right.
    """
    changes = [_describe_shares(outline)]
    if transformation != _UPRIGHT:
        changes.append(transformation)
    # Points are in shares of the long sides, so the scale is, too.
    scaling = max(second_size) / (similarity.scale * max(first_size))
    if abs(math.log(scaling)) > _MAX_UNNAMED_SCALING_OF_PART:
        changes.append(f"scaled to {_percent(scaling)}")
    return ", ".join(changes)


def _describe_shares(outline: PartOutline) -> str:
    if outline.share_of_second >= _MIN_SHARE_OF_WHOLE:
        return f"the right image is {_percent(outline.share_of_first)} of the left one"
    if outline.share_of_first >= _MIN_SHARE_OF_WHOLE:
        return f"the left image is {_percent(outline.share_of_second)} of the right one"
    return (
        f"the images share {_percent(outline.share_of_first)} of the left one and "
        f"{_percent(outline.share_of_second)} of the right one"
    )
