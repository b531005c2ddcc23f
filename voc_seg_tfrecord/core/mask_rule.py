"""The rule by which every mask of a set is read: decided once, then only applied."""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
from typing import Any, Literal

import numpy as np

from voc_seg_tfrecord.core.class_rows import VOID_CLASS, VOID_VALUES, Rows, check_rows, color_of
from voc_seg_tfrecord.core.names import VOID, Color

MaskKind = Literal["palette", "gray", "rgb", "equal"]
"""How a mask stores its pixels: a value and a color, a value, a color; or `equal`, of an RGB mask
in which red, green and blue are equal everywhere, so that red may be a value."""

Class = Any
"""The index of a class, or 255 for void. While it is decided what masks mean, it is the name of a
class of the masks, or 255."""


@dataclasses.dataclass(frozen=True)
class MaskRule:
    """What the masks of a set mean, decided once for all of them. Frozen and picklable.

    Attributes:
      values: the class of each value.
      colors: the class of each color, where colors decide; None where values do.
      gray_is_color: whether in a set that is read by color a gray value v is the color
        (v, v, v); otherwise it is a value.
      given_values: the classes that the user gave to values, which win over all others.
      given_colors: likewise those of colors.
      wildcard_classes: the classes that the user gave by `*` to all other values and colors.
        Where values decide, its colors are those of RGB masks.
      remedy: what the user can do about a value or color without a class.
    """

    values: Mapping[int, Class]
    colors: Mapping[Color, Class] | None = None
    gray_is_color: bool = False
    given_values: Mapping[int, Class] = dataclasses.field(default_factory=dict)
    given_colors: Mapping[Color, Class] = dataclasses.field(default_factory=dict)
    wildcard_classes: Mapping[int | Color, Class] = dataclasses.field(default_factory=dict)
    remedy: str = "say the class of each value or color with --classes, or correct the mask"

    def needs_colors(self, kind: str) -> bool:
        """Says whether colors may give the classes of a mask of a kind; see `class_of`.

        The colors of `wildcard_classes` do not count: where values decide, they are those of RGB
        masks, which are read by color in any case.
        """
        by_color = self.colors is not None
        if kind == "gray":
            return by_color and self.gray_is_color
        return by_color or bool(self.given_colors)

    @property
    def may_read_rgb_by_value(self) -> bool:
        """Whether an RGB mask with equal channels may hold values."""
        return self.colors is None or bool(self.given_values)

    def given_classes(self, value: int | None, color: Color | None) -> set[Class]:
        """Returns the classes that the user gave to a pixel; two if the rows contradict."""
        classes: set[Class] = set()
        if value is not None:
            classes.add(self.given_values.get(value))
        if color is not None:
            classes.add(self.given_colors.get(color))
        return classes - {None}

    def class_of(self, kind: str, value: int | None, color: Color | None) -> Class | None:
        """Returns the class of a pixel; None if the rule does not know it.

        Args:
          kind: the kind of its mask, a `MaskKind`.
          value: the pixel's value; None in an RGB mask.
          color: its color; None in a grayscale mask, and beyond the end of a palette.
        """
        given = self.given_classes(value, None if kind == "gray" else color)
        if len(given) == 1:
            return given.pop()
        if given:
            return None
        class_without_rows = self._class_without_rows(kind, value, color)
        if class_without_rows is not None:
            return class_without_rows
        if value is not None and value in self.wildcard_classes:
            return self.wildcard_classes[value]
        return None if color is None else self.wildcard_classes.get(color)

    def _class_without_rows(
        self, kind: str, value: int | None, color: Color | None
    ) -> Class | None:
        """Returns the class of a pixel without the user's rows; None if it has none."""
        if self.colors is not None and kind != "gray":
            return None if color is None else self.colors.get(color)
        if value is None:
            return None
        if self.colors is None or not self.gray_is_color:
            return self.values.get(value)
        white_is_void = value == VOID  # unless white has a class
        return self.colors.get((value, value, value), VOID if white_is_void else None)

    def with_classes(self, new_class: Callable[[Class], Class | None]) -> "MaskRule":
        """Returns the rule with other classes for all values and colors.

        Args:
          new_class: returns the new class of an old one; None if its values and colors have none.
        """

        def rename(classes: Mapping[Any, Class]) -> dict[Any, Class]:
            new_classes = {key: new_class(old) for key, old in classes.items()}
            return {key: new for key, new in new_classes.items() if new is not None}

        return dataclasses.replace(
            self,
            values=rename(self.values),
            colors=None if self.colors is None else rename(self.colors),
            given_values=rename(self.given_values),
            given_colors=rename(self.given_colors),
            wildcard_classes=rename(self.wildcard_classes),
        )

    @functools.cached_property
    def all_values(self) -> dict[int, Class]:
        """The class of each value of a mask that is read by value."""
        by_wildcard = {
            key: index for key, index in self.wildcard_classes.items() if isinstance(key, int)
        }
        return {**by_wildcard, **self.values, **self.given_values}

    @functools.cached_property
    def all_colors(self) -> dict[Color, Class]:
        """The class of each color of an RGB mask."""
        by_wildcard = {
            key: index for key, index in self.wildcard_classes.items() if isinstance(key, tuple)
        }
        return {**by_wildcard, **(self.colors or {}), **self.given_colors}

    @functools.cached_property
    def packed_colors(self) -> tuple[np.ndarray, np.ndarray]:
        """The known colors as ascending 24-bit numbers, int64, and their classes, uint8."""
        classes_by_number: dict[int, int] = {}
        for (red, green, blue), index in self.all_colors.items():
            classes_by_number[red << 16 | green << 8 | blue] = index
        numbers = sorted(classes_by_number)
        classes = [classes_by_number[number] for number in numbers]
        return np.array(numbers, np.int64), np.array(classes, np.uint8)


def index_rule(num_classes: int) -> MaskRule:
    """Returns the rule of VOC itself: 0 to `num_classes` - 1 are classes, 255 is void."""
    return MaskRule({value: value for value in (*range(num_classes), VOID)})


def rule_of_rows(rows: Rows, class_names: Sequence[str]) -> MaskRule:
    """Returns the rule of the table of a dataset that has these classes.

    Where it has colors, its values are those of grayscale masks alone.
    """
    index_of_name = {VOID_CLASS: VOID}
    index_of_name |= {name: index for index, name in enumerate(class_names)}
    values: dict[int, int] = dict(VOID_VALUES)
    colors: dict[Color, int] = {}
    for key, name in check_rows(rows):
        if name not in index_of_name:
            continue
        color = color_of(key)
        if color is not None:
            colors[color] = index_of_name[name]
        elif isinstance(key, int):
            values[key] = index_of_name[name]
    return MaskRule(values, colors or None)
