"""Masks that show the same picture as their image, scaled."""

from typing import Literal

Resizing = Literal["nearest"]
"""How masks of another size are scaled to their images: each pixel takes the nearest value."""


def is_scaled(size: tuple[int, int], other: tuple[int, int]) -> bool:
    """Says whether two pictures may be the same one at two sizes, by their proportions.

    The smaller picture is scaled to the longer side of the other. Its shorter side may then differ
    by less than one pixel of the smaller picture, which rounding explains.

    Args:
      size: height and width of one picture, in pixels.
      other: those of the other one.
    """
    small, large = sorted([size, other])
    is_upright = large[0] >= large[1]
    small_long, small_short = small if is_upright else reversed(small)
    large_long, large_short = large if is_upright else reversed(large)
    expected_short = large_short * small_long / large_long
    return small_long <= large_long and abs(small_short - expected_short) < 1
