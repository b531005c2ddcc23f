"""The decision whether values or colours give the class of a pixel."""

import dataclasses
from typing import Literal

By = Literal["index", "color"]
"""What gives a pixel's class: its value, or its colour."""


@dataclasses.dataclass(frozen=True)
class Decision:
    """Whether values or colours give the class, and why.

    Attributes:
      by: `index` or `color`.
      reason: why, in a few words that are shown to the user.
      voc_colors: whether the colours are those of VOC's palette, not of a class file.
      voc_names: whether they mean VOC's classes by name; otherwise VOC's colour n is class n.
      grey_is_color: whether a grey value v stands for the colour (v, v, v) too.
      rgb_values: whether an RGB pixel (v, v, v) stands for the value v, because the user said
        that values decide, or nothing else fits.
      high_is_1: whether the value 255 stands for the class of the value 1.
      notes: what the user should look at.
    """

    by: By
    reason: str
    voc_colors: bool = False
    voc_names: bool = False
    grey_is_color: bool = False
    rgb_values: bool = False
    high_is_1: bool = False
    notes: tuple[str, ...] = ()


AS_SAID = Decision("index", "as you said", rgb_values=True)
"""The user said that values decide."""
