"""How images are cut into tiles: which tiles an image has, and their names."""

from collections.abc import Iterator
import dataclasses
import math
import re
from typing import Any, Literal

from voc_seg_tfrecord.core.errors import option_error

TileFormat = Literal["png", "jpeg"]
"""How the pixels of tiles are stored; masks are PNGs in any case."""

_TILE_ID = re.compile(r"(.+)_r(\d+)_c(\d+)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class _Span:
    """One side of a tile, in pixels.

    Attributes:
      start: where it begins in the image.
      length: how long it is.
      shared: how many of its first pixels an earlier tile has too.
    """

    start: int
    length: int
    shared: int

    @property
    def own_length(self) -> int:
        """How many pixels no earlier tile has."""
        return self.length - self.shared


@dataclasses.dataclass(frozen=True)
class Tile:
    """One tile of an image. Lengths and places are pixels; rows and columns of tiles count from 0.

    Attributes:
      row: the number of its row of tiles.
      column: the number of its column of tiles.
      top: the image's row at which it begins.
      left: the image's column at which it begins.
      height: its height.
      width: its width.
      owned: top, left, height and width, within the tile, of the pixels that no earlier tile
        has. Tiles follow each other row by row. The owned parts of all tiles cover the image,
        each pixel once.
    """

    row: int
    column: int
    top: int
    left: int
    height: int
    width: int
    owned: tuple[int, int, int, int]

    def name(self, image_id: str) -> str:
        """Returns the tile's id, such as `wall_1_r0_c2`."""
        return f"{image_id}_r{self.row}_c{self.column}"

    @property
    def window(self) -> tuple[slice, slice]:
        """The tile's part of an array `[H, W, ...]` of its image."""
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)

    @property
    def own(self) -> tuple[slice, slice]:
        """The part of an array `[h, w, ...]` of the tile that no earlier tile has."""
        top, left, height, width = self.owned
        return slice(top, top + height), slice(left, left + width)


MAX_TILES = 100_000
"""How many tiles one image may have; all of them are in memory at once."""


@dataclasses.dataclass(frozen=True)
class Tiling:
    """How images are cut into tiles.

    Attributes:
      size: height and width of a tile, in pixels. The tile of a smaller image is as small.
      overlap: how many pixels neighbors share. Tiles at the lower and right border of an image
        share more, because they are moved inside.
      format: how the pixels are stored: `png` loses none, `jpeg` is smaller.

    Raises:
      ConfigError: if a number is out of range.
    """

    size: int
    overlap: int = 0
    format: TileFormat = "png"

    def __post_init__(self) -> None:
        _check_number("tile", self.size, 1, None, "a number of pixels, 1 or more")
        expected = f"0 to {self.size - 1}, less than the tile's {self.size} pixels"
        _check_number("tile_overlap", self.overlap, 0, self.size - 1, expected)

    def count(self, height: int, width: int) -> int:
        """Returns how many tiles an image has, at most `MAX_TILES` + 1."""
        return min(self._count_along(height) * self._count_along(width), MAX_TILES + 1)

    def tiles(self, height: int, width: int) -> Iterator[Tile]:
        """Yields the tiles of an image, row by row."""
        columns = self._spans(width)
        for row, vertical in enumerate(self._spans(height)):
            for column, horizontal in enumerate(columns):
                yield _make_tile(row, column, vertical, horizontal)

    def tile_at(self, height: int, width: int, top: int, left: int) -> Tile | None:
        """Returns the tile of an image that begins at a place; None if none does."""
        for row, vertical in enumerate(self._spans(height)):
            if vertical.start != top:
                continue
            for column, horizontal in enumerate(self._spans(width)):
                if horizontal.start == left:
                    return _make_tile(row, column, vertical, horizontal)
        return None

    def _count_along(self, side: int) -> int:
        """Returns how many tiles lie along a side of an image."""
        step = self.size - self.overlap
        beyond_first_tile = max(side - self.size, 0)
        return 1 + math.ceil(beyond_first_tile / step)

    def _spans(self, side: int) -> list[_Span]:
        """Returns the tiles along a side of an image, in ascending order.

        The last one is moved inside, so that none reaches over the border. A side that is not
        longer than a tile has one tile, as long as the side.
        """
        length = min(self.size, side)
        last_start = max(side - self.size, 0)
        spans = []
        end = 0
        for start in (*range(0, last_start, self.size - self.overlap), last_start):
            spans.append(_Span(start, length, shared=end - start))
            end = start + length
        return spans


def image_of(tile_id: str) -> str | None:
    """Returns the id of the image that a tile belongs to; None if this is not a tile's id."""
    match = _TILE_ID.fullmatch(tile_id)
    return match[1] if match else None


def _make_tile(row: int, column: int, vertical: _Span, horizontal: _Span) -> Tile:
    owned = (vertical.shared, horizontal.shared, vertical.own_length, horizontal.own_length)
    return Tile(
        row,
        column,
        top=vertical.start,
        left=horizontal.start,
        height=vertical.length,
        width=horizontal.length,
        owned=owned,
    )


def _check_number(
    option: str, number: Any, lowest: int, highest: int | None, expected: str
) -> None:
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    if not is_whole or number < lowest:
        raise option_error(option, number, expected)
    if highest is not None and number > highest:
        raise option_error(option, number, expected)
