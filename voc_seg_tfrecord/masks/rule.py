"""What values and colours of a set's masks mean."""

from collections.abc import Mapping
import dataclasses
import functools

import numpy as np

from voc_seg_tfrecord.formats.class_files import Color
from voc_seg_tfrecord.labels import VOID


@dataclasses.dataclass(frozen=True)
class MaskRule:
    """What the masks of a set mean, decided once for all of them. Frozen and picklable.

    Attributes:
      values: class index, or 255, by the value that a file has.
      colors: class index, or 255, by colour, where colours decide.
      grey_is_color: whether in a set that is read by colour a grey value v is the colour
        (v, v, v); otherwise it is a value.
    """

    values: Mapping[int, int]
    colors: Mapping[Color, int] | None = None
    grey_is_color: bool = False

    @functools.cached_property
    def packed_colors(self) -> tuple[np.ndarray, np.ndarray]:
        """The known colours as sorted 24-bit numbers, and their classes."""
        packed = sorted((r << 16 | g << 8 | b, c) for (r, g, b), c in self.colors.items())
        keys, classes = zip(*packed, strict=True)
        return np.array(keys), np.array(classes, np.uint8)


def index_rule(num_classes: int) -> MaskRule:
    """Returns the rule of VOC itself: 0 to `num_classes` - 1 are classes, 255 is void."""
    return MaskRule({value: value for value in (*range(num_classes), VOID)})
