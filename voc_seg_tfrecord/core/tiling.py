"""How images are cut into tiles: which tiles an image has, and their names."""

from collections.abc import Iterator
import dataclasses
import math
import numbers
import re
from typing import Any, Literal

from voc_seg_tfrecord.core.errors import option_error

TileFormat = Literal["png", "jpeg"]
"""How the pixels of tiles are stored; masks are PNGs in any case."""

_TILE_ID = re.compile(r"(.+)_r(\d+)_c(\d+)", re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Span:
    """One side of a tile, in pixels.

    Attributes:
      start: where it begins in the image.
      length: how long it is.
      shared: how many of its first pixels the tile before it has too.
      shared_after: how many of its last pixels the tile after it has too.
    """

    start: int
    length: int
    shared: int
    shared_after: int

    @property
    def in_image(self) -> slice:
        """Its pixels in the image."""
        return slice(self.start, self.start + self.length)

    @property
    def own_part(self) -> slice:
        """The pixels, counted in the tile, that no earlier tile has."""
        return slice(self.shared, self.length)


@dataclasses.dataclass(frozen=True)
class Tile:
    """One tile of an image. Rows and columns of tiles count from 0; all else is pixels.

    Attributes:
      row: the number of its row of tiles.
      column: the number of its column of tiles.
      vertical: the rows of the image's pixels that it has.
      horizontal: the columns of the image's pixels that it has.
    """

    row: int
    column: int
    vertical: Span
    horizontal: Span

    def name(self, image_id: str) -> str:
        """Returns the tile's id, such as `wall_1_r0_c2`."""
        return f"{image_id}_r{self.row}_c{self.column}"

    @property
    def top(self) -> int:
        """The image's row at which it begins."""
        return self.vertical.start

    @property
    def left(self) -> int:
        """The image's column at which it begins."""
        return self.horizontal.start

    @property
    def height(self) -> int:
        """Its height."""
        return self.vertical.length

    @property
    def width(self) -> int:
        """Its width."""
        return self.horizontal.length

    @property
    def window(self) -> tuple[slice, slice]:
        """The tile's part of an array `[H, W, ...]` of its image."""
        return self.vertical.in_image, self.horizontal.in_image

    @property
    def own(self) -> tuple[slice, slice]:
        """The part of an array `[h, w, ...]` of the tile that no earlier tile has.

        Tiles follow each other row by row. The own parts of all tiles cover the image, each pixel
        once.
        """
        return self.vertical.own_part, self.horizontal.own_part


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
                yield Tile(row, column, vertical, horizontal)

    def tile_at(self, height: int, width: int, top: int, left: int) -> Tile | None:
        """Returns the tile of an image that begins at a pixel; None if none does."""
        for row, vertical in enumerate(self._spans(height)):
            if vertical.start != top:
                continue
            for column, horizontal in enumerate(self._spans(width)):
                if horizontal.start == left:
                    return Tile(row, column, vertical, horizontal)
        return None

    def _count_along(self, side: int) -> int:
        """Returns how many tiles lie along a side of an image."""
        step = self.size - self.overlap
        beyond_first_tile = max(side - self.size, 0)
        return 1 + math.ceil(beyond_first_tile / step)

    def _spans(self, side: int) -> list[Span]:
        """Returns the tiles along a side of an image, in ascending order.

        The last one is moved inside, so that none reaches over the border. A side that is not
        longer than a tile has one tile, as long as the side.
        """
        length = min(self.size, side)
        last_start = max(side - self.size, 0)
        starts = [*range(0, last_start, self.size - self.overlap), last_start]
        spans = []
        for number, start in enumerate(starts):
            shared = 0
            if number > 0:
                shared = starts[number - 1] + length - start
            shared_after = 0
            if number + 1 < len(starts):
                shared_after = start + length - starts[number + 1]
            spans.append(Span(start, length, shared, shared_after))
        return spans


def image_of(tile_id: str) -> str | None:
    """Returns the id of the image that a tile belongs to; None if this is not a tile's id."""
    match = _TILE_ID.fullmatch(tile_id)
    return match[1] if match else None


def _check_number(
    option: str, number: Any, lowest: int, highest: int | None, expected: str
) -> None:
    is_whole = isinstance(number, numbers.Integral) and not isinstance(number, bool)
    if not is_whole or number < lowest:
        raise option_error(option, number, expected)
    if highest is not None and number > highest:
        raise option_error(option, number, expected)
