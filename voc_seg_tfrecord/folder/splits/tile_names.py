"""Names of tiles: `scene2_512_1024` is the tile of `scene2_` in row 512 and column 1024."""

import collections
from collections.abc import Callable, Collection, Iterable, Sequence
import dataclasses
import itertools
import re

from voc_seg_tfrecord.folder.splits.words_before_numbers import (
    ends_with_axis,
    ends_with_date,
    ends_with_whole,
)

_MIN_STRIDE_PX = 8
_MIN_MAP_COORDINATE = 100
"""Rows and columns, and offsets in an image, begin at 0; coordinates of a map are larger."""
_MAX_SIDE_RATIO = 3  # of a grid; longer ones are numbers of films and frames
_MIN_SHARE_OF_TILES = 0.75  # of a grid
_BETWEEN_ROW_AND_COLUMN = re.compile(r"(?i)[\W_]+|[\W_]?x[\W_]?")
_PADDED = re.compile(r"0\d")


@dataclasses.dataclass(frozen=True)
class TileName:
    """A name with two numbers, which may be those of a tile.

    Attributes:
      front: what stands before the numbers.
      row_digits: the first number.
      between: what stands between the numbers.
      column_digits: the second number.
    """

    front: str
    row_digits: str
    between: str
    column_digits: str

    @property
    def row(self) -> int:
        """The row of the tile, or its offset."""
        return int(self.row_digits)

    @property
    def column(self) -> int:
        """The column of the tile, or its offset."""
        return int(self.column_digits)


def are_tiles(names: Collection[TileName]) -> bool:
    """Says whether the two numbers of most names are those of tiles.

    names                         the numbers are
    s_r1_c3                       rows and columns, because words say so
    s_0_512, s_512_0, s_512_512   offsets: multiples of a stride
    s_0_0, s_0_1, s_1_0, s_1_1    rows and columns of a grid of which most tiles are there
    """
    if _most(names, _has_words_for_axes):
        return True
    if not _most(names, _has_separator_between_numbers):
        return False
    return _are_offsets_in_both(names) or _are_rows_and_columns_of_grids(names)


def are_on_a_map(tiles: Iterable[TileName]) -> bool:
    """Says whether rows and columns of tiles are coordinates of a map, which begin far from 0."""
    return all(min(tile.row, tile.column) >= _MIN_MAP_COORDINATE for tile in tiles)


def _most(names: Collection[TileName], is_so: Callable[[TileName], bool]) -> bool:
    """Says whether something is so for more than half of the names."""
    return 2 * sum(1 for name in names if is_so(name)) > len(names)


def _has_words_for_axes(name: TileName) -> bool:
    """Says whether words say that two numbers are row and column: `r1_c3`, `x512_y0`."""
    return ends_with_axis(name.front) and ends_with_axis(name.between)


def _has_separator_between_numbers(name: TileName) -> bool:
    """Says whether a separator alone is between numbers, and the first is of no whole or day."""
    if ends_with_whole(name.front) or ends_with_date(name.front):
        return False
    return _BETWEEN_ROW_AND_COLUMN.fullmatch(name.between) is not None


def _are_offsets_in_both(names: Iterable[TileName]) -> bool:
    """Says whether both numbers are offsets of tiles in an image or on a map."""
    rows = {name.row for name in names}
    columns = {name.column for name in names}
    return _are_offsets(rows) and _are_offsets(columns)


def _are_offsets(values: Collection[int]) -> bool:
    """Says whether different values lie a multiple of a stride behind the first one.

    The stride is in pixels or meters.
    """
    if len(values) < 2:
        return False
    ascending = sorted(values)
    offsets = [value - ascending[0] for value in ascending[1:]]
    min_distance = min(after - before for before, after in itertools.pairwise(ascending))
    if _are_multiples(offsets, min_distance):
        return True
    # The last tile is often moved to the edge of the image, so its distance is shorter.
    first_distance = ascending[1] - ascending[0]
    return len(ascending) > 2 and _are_multiples(offsets, first_distance)


def _are_multiples(offsets: Sequence[int], stride: int) -> bool:
    """Says whether at least half of the offsets are multiples of a stride that tiles may have."""
    if stride < _MIN_STRIDE_PX:
        return False
    multiples = sum(1 for offset in offsets if offset % stride == 0)
    return 2 * multiples >= len(offsets)


def _are_rows_and_columns_of_grids(names: Collection[TileName]) -> bool:
    """Says whether most names are in grids that are counted from 0 and of which most is there."""
    if _most(names, _has_one_padded_number):
        return False
    positions_by_front: dict[str, set[tuple[int, int]]] = collections.defaultdict(set)
    for name in names:
        positions_by_front[name.front].add((name.row, name.column))
    tiles_in_filled_grids = 0
    for positions in positions_by_front.values():
        if _is_filled_grid(positions):
            tiles_in_filled_grids += len(positions)
    return 2 * tiles_in_filled_grids > len(names)


def _has_one_padded_number(name: TileName) -> bool:
    """Says whether two numbers are written differently, as those of a film and a frame are.

    Example: `v_1_0007`.
    """
    if len(name.row_digits) == len(name.column_digits):
        return False
    return any(_PADDED.match(digits) for digits in (name.row_digits, name.column_digits))


def _is_filled_grid(positions: set[tuple[int, int]]) -> bool:
    """Says whether rows and columns begin at 0 and most of their tiles are there.

    Args:
      positions: the row and column of each tile.
    """
    rows = {row for row, _ in positions}
    columns = {column for _, column in positions}
    if min(rows) != 0 or min(columns) != 0:
        return False
    row_count = max(rows) + 1
    column_count = max(columns) + 1
    shorter_side, longer_side = sorted((row_count, column_count))
    is_line = shorter_side == 1
    if is_line or longer_side > _MAX_SIDE_RATIO * shorter_side:
        return False
    return len(positions) >= _MIN_SHARE_OF_TILES * row_count * column_count
