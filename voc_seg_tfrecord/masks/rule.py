"""The rule by which every mask of a set is read: decided once, then only applied."""

from collections.abc import Callable, Mapping
import dataclasses
import functools
from typing import Any

import numpy as np

from voc_seg_tfrecord.base.names import VOID, Color


@dataclasses.dataclass(frozen=True)
class MaskRule:
    """What the masks of a set mean, decided once for all of them. Frozen and picklable.

    A class is an index, or 255 for void; while it is decided what masks mean, it is a name.

    Attributes:
      values: the class of each value.
      colors: the class of each colour, where colours decide; None where values do.
      grey_is_color: whether in a set that is read by colour a grey value v is the colour
        (v, v, v); otherwise it is a value.
      said_values: the classes that the user gave to values, which win over all others.
      said_colors: likewise those of colours.
      remedy: what the user can do about a value or colour without a class.
    """

    values: Mapping[int, Any]
    colors: Mapping[Color, Any] | None = None
    grey_is_color: bool = False
    said_values: Mapping[int, Any] = dataclasses.field(default_factory=dict)
    said_colors: Mapping[Color, Any] = dataclasses.field(default_factory=dict)
    remedy: str = "say the class of each value or colour with --classes, or correct the mask"

    def needs_colors(self, kind: str) -> bool:
        """Says whether colours may give the classes of a mask of a kind of `stored.Samples`."""
        by_color = self.colors is not None
        if kind == "grey":
            return by_color and self.grey_is_color
        return by_color or bool(self.said_colors)

    def said_of(self, value: int | None, color: Color | None) -> set[Any]:
        """Returns the classes that the user gave to a pixel; two if the rows contradict."""
        classes = {self.said_values.get(value), self.said_colors.get(color)}  # type: ignore[arg-type]
        return classes - {None}

    def class_of(self, kind: str, value: int | None, color: Color | None) -> Any:
        """Returns the class of a pixel; None if the rule does not know it.

        Args:
          kind: the kind of its mask, `palette`, `grey`, or `rgb`; or `equal`, of an RGB mask in
            which red, green and blue are equal everywhere.
          value: the pixel's value; None in an RGB mask.
          color: its colour; None in a greyscale mask, and beyond the end of a palette.
        """
        classes = self.said_of(value, None if kind == "grey" else color)
        if classes:
            return classes.pop() if len(classes) == 1 else None
        if kind == "grey" and value is not None and self.needs_colors("grey"):
            white = VOID if value == VOID else None
            return (self.colors or {}).get((value, value, value), white)
        if value is not None and (kind == "grey" or self.colors is None):
            return self.values.get(value)
        return None if color is None or self.colors is None else self.colors.get(color)

    def renamed(self, new: Callable[[Any], Any]) -> "MaskRule":
        """Returns the rule with other classes; keys whose new class is None are left out."""

        def changed(classes: Mapping[Any, Any]) -> dict[Any, Any]:
            new_classes = {key: new(name) for key, name in classes.items()}
            return {key: name for key, name in new_classes.items() if name is not None}

        return dataclasses.replace(
            self,
            values=changed(self.values),
            colors=None if self.colors is None else changed(self.colors),
            said_values=changed(self.said_values),
            said_colors=changed(self.said_colors),
        )

    @functools.cached_property
    def all_values(self) -> dict[int, Any]:
        """The class of each value of a mask that is read by value."""
        return {**self.values, **self.said_values}

    @functools.cached_property
    def all_colors(self) -> dict[Color, Any]:
        """The class of each colour of an RGB mask."""
        return {**(self.colors or {}), **self.said_colors}

    @functools.cached_property
    def packed_colors(self) -> tuple[np.ndarray, np.ndarray]:
        """The known colours as sorted 24-bit numbers, and their classes."""
        packed = sorted((r << 16 | g << 8 | b, c) for (r, g, b), c in self.all_colors.items())
        keys, classes = zip(*packed, strict=True) if packed else ((), ())
        return np.array(keys, np.int64), np.array(classes, np.uint8)


def index_rule(num_classes: int) -> MaskRule:
    """Returns the rule of VOC itself: 0 to `num_classes` - 1 are classes, 255 is void."""
    return MaskRule({value: value for value in (*range(num_classes), VOID)})
