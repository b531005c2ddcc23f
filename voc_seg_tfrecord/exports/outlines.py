"""Traces the parts of a mask as polygons that give back its pixels, with holes.

A polygon passes through the centers of the pixels on the border of a part, so a program that fills
a polygon and draws its edges, as OpenCV's `fillPoly` and Pillow do, gives back the part's pixels.
A hole is joined to the outline by a bridge: the polygon goes to the hole, around it, and the same
way back. The bridge lies within the part.

References:
  Suzuki and Abe, Topological structural analysis of digitized binary images by border following,
    1985, algorithm 1. Names of its steps stand at the code.
"""

from collections.abc import Iterator, Sequence
import dataclasses

import numpy as np

_OUTSIDE = 0
_INSIDE = 1
_ON_BORDER = 2
_ON_BORDER_WITH_EAST = 3
"""On a border that was followed with the pixel to the right, which is outside."""

_WEST = 0
_EAST = 4
"""Directions are numbered clockwise from the west: 1 is the north-west, 2 the north."""


def trace_parts(is_inside: np.ndarray) -> list[np.ndarray]:
    """Returns a polygon for each part of a mask; pixels that touch at a corner are one part.

    Args:
      is_inside: bool `[H, W]`.

    Returns:
      For each part int64 `[N, 2]`: x and y of the pixels at the polygon's corners. A part of one
      pixel or a straight line has fewer than three corners.
    """
    padded = np.pad(is_inside, 1)
    borders = _follow_borders(padded)
    width = padded.shape[1]
    polygons = []
    for chain in _join_holes(borders, padded):
        flat = np.array(chain)
        points = np.stack([flat % width - 1, flat // width - 1], axis=1)
        polygons.append(_drop_straight_points(points))
    return polygons


@dataclasses.dataclass(frozen=True)
class _Borders:
    """The borders of a mask. A pixel is its number in the padded mask, row by row.

    Attributes:
      outlines: the pixels along the outer border of each part, in order.
      holes: the pixels of the part along the border of each hole, in order.
    """

    outlines: Sequence[list[int]]
    holes: Sequence[list[int]]


def _follow_borders(padded: np.ndarray) -> _Borders:
    """Follows all borders of a mask, bool `[H, W]`, whose edges are outside."""
    width = padded.shape[1]
    states = bytearray(padded.tobytes())
    steps = (-1, -width - 1, -width, -width + 1, 1, width + 1, width, width - 1)
    is_west_outside = padded[:, 1:-1] & ~padded[:, :-2]
    is_east_outside = padded[:, 1:-1] & ~padded[:, 2:]
    rows, columns = np.nonzero(is_west_outside | is_east_outside)
    outlines = []
    holes = []
    for pixel in (rows * width + columns + 1).tolist():
        if states[pixel] == _INSIDE and states[pixel - 1] == _OUTSIDE:
            outlines.append(_follow_border(states, steps, pixel, _WEST))
        elif states[pixel] != _ON_BORDER_WITH_EAST and states[pixel + 1] == _OUTSIDE:
            holes.append(_follow_border(states, steps, pixel, _EAST))
    return _Borders(outlines, holes)


def _follow_border(states: bytearray, steps: Sequence[int], start: int, outside: int) -> list[int]:
    """Returns the pixels along a border in order, and marks them.

    Args:
      states: of each pixel.
      steps: from a pixel to its neighbor in each direction.
      start: the first pixel.
      outside: the direction of a neighbor of it that is outside.
    """
    last = _find_last_pixel(states, steps, start, outside)
    if last is None:
        states[start] = _ON_BORDER_WITH_EAST
        return [start]
    chain = []
    pixel = start
    direction_back = steps.index(last - start)
    while True:  # step 3.3
        chain.append(pixel)
        is_east_outside = False
        direction = direction_back
        while True:
            direction = (direction - 1) % 8
            neighbor = pixel + steps[direction]
            if states[neighbor] != _OUTSIDE:
                break
            if direction == _EAST:
                is_east_outside = True
        if is_east_outside:  # step 3.4
            states[pixel] = _ON_BORDER_WITH_EAST
        elif states[pixel] == _INSIDE:
            states[pixel] = _ON_BORDER
        if neighbor == start and pixel == last:  # step 3.5
            return chain
        direction_back = (direction + 4) % 8
        pixel = neighbor


def _find_last_pixel(
    states: bytearray, steps: Sequence[int], start: int, outside: int
) -> int | None:
    """Returns the pixel with which a border ends, step 3.1; None if it has one pixel alone."""
    for turn in range(1, 8):
        neighbor = start + steps[(outside + turn) % 8]
        if states[neighbor] != _OUTSIDE:
            return neighbor
    return None


def _join_holes(borders: _Borders, padded: np.ndarray) -> Iterator[list[int]]:
    """Yields the pixels of each outline, with its holes joined to it."""
    width = padded.shape[1]
    inside = padded.tobytes()
    holes_at: dict[int, list[list[int]]] = {}
    for hole in borders.holes:
        leftmost = min(range(len(hole)), key=lambda index: hole[index] % width)
        # To the left, the part ends at its outline, or at a hole that reaches further left.
        end_of_bridge = inside.rfind(_OUTSIDE, 0, hole[leftmost]) + 1
        from_leftmost = [*hole[leftmost:], *hole[: leftmost + 1]]
        holes_at.setdefault(end_of_bridge, []).append(from_leftmost)
    for outline in borders.outlines:
        yield list(_walk(outline, holes_at))


def _walk(outline: list[int], holes_at: dict[int, list[list[int]]]) -> Iterator[int]:
    """Yields the pixels of an outline, with a detour around each hole where its bridge ends.

    Args:
      outline: the pixels of the outline.
      holes_at: the pixels of holes by the pixel where their bridge ends; holes that are passed are
        removed.
    """
    paths = [iter(outline)]
    bridge_ends = list[int]()
    while paths:
        pixel = next(paths[-1], None)
        if pixel is None:
            paths.pop()
            if not bridge_ends:
                return
            pixel = bridge_ends.pop()  # the way back; other holes may begin here
        yield pixel
        holes = holes_at.get(pixel)
        if holes:
            paths.append(iter(holes.pop()))
            bridge_ends.append(pixel)


def _drop_straight_points(points: np.ndarray) -> np.ndarray:
    """Returns the corners of a polygon, int64 `[N, 2]`: points between which it is straight."""
    moves = np.diff(points, axis=0)
    points = points[np.append(True, moves.any(axis=1))]  # without repetitions
    directions = np.sign(np.diff(points, axis=0))
    if len(directions) < 2:
        return points
    turns = (directions[1:] != directions[:-1]).any(axis=1)
    return points[np.concatenate([[True], turns, [True]])]
