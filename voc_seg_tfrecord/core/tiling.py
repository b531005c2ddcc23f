"""How images are cut into tiles: which tiles an image has, and their names."""

from collections.abc import Iterable, Iterator
import dataclasses
import itertools
import re
from typing import Any, Literal, NamedTuple

from voc_seg_tfrecord.core.errors import option_error

TileFormat = Literal["png", "jpeg"]
"""How the pixels of tiles are stored; masks are PNGs in any case."""

_NAME = re.compile(r"(.+)_r(\d+)_c(\d+)", re.DOTALL)


class _Span(NamedTuple):
    """Of one side of a tile: start in the image, first pixel of its own, and length."""

    start: int
    own: int
    length: int


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
        has, row by row. These parts of all tiles cover the image, each pixel once.
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


MOST_TILES = 100_000
"""Tiles of one image; all of them are in memory at once."""


@dataclasses.dataclass(frozen=True)
class Tiling:
    """How images are cut into tiles.

    Attributes:
      size: height and width of a tile; of a smaller image the tile has the image's.
      overlap: how many pixels neighbours share; those at the lower and right border of an
        image share more, because they are moved inside.
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
        """Returns how many tiles an image has; `MOST_TILES` + 1 stands for all that are more."""
        step = self.size - self.overlap
        rows, columns = (1 - max(side - self.size, 0) // -step for side in (height, width))
        return min(rows * columns, MOST_TILES + 1)

    def tiles(self, height: int, width: int) -> Iterator[Tile]:
        """Yields the tiles of an image, row by row."""
        return _tiles(enumerate(self._spans(height)), enumerate(self._spans(width)))

    def tile_at(self, height: int, width: int, top: int, left: int) -> Tile | None:
        """Returns the tile of an image that begins at a place, None if none does."""
        rows, columns = (
            [(number, span) for number, span in enumerate(self._spans(side)) if span.start == at]
            for side, at in ((height, top), (width, left))
        )
        return next(_tiles(rows, columns), None)

    def _spans(self, length: int) -> list[_Span]:
        """Returns the tiles along a side of an image, in ascending order.

        The last one is moved inside, so that none reaches over the border. A side that is not
        longer than a tile has one tile, as long as the side.
        """
        spans, end = [], 0
        side, last = min(self.size, length), max(length - self.size, 0)
        for start in (*range(0, last, self.size - self.overlap), last):
            spans.append(_Span(start, end - start, side))
            end = start + side
        return spans


def image_of(tile_id: str) -> str | None:
    """Returns the id of the image that a tile is of, None if this is no tile's id."""
    match = _NAME.fullmatch(tile_id)
    return match[1] if match else None


def _tiles(
    rows: Iterable[tuple[int, _Span]], columns: Iterable[tuple[int, _Span]]
) -> Iterator[Tile]:
    for (row, tall), (column, wide) in itertools.product(rows, columns):
        owned = (tall.own, wide.own, tall.length - tall.own, wide.length - wide.own)
        yield Tile(row, column, tall.start, wide.start, tall.length, wide.length, owned)


def _check_number(
    option: str, number: Any, lowest: int, highest: int | None, expected: str
) -> None:
    whole = isinstance(number, int) and not isinstance(number, bool)
    if not whole or number < lowest or (highest is not None and number > highest):
        raise option_error(option, number, expected)
