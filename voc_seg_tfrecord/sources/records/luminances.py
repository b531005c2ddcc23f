"""Repairs masks that were decoded to gray, so that they hold luminances of VOC's palette.

0, 1, 2 and 255 of the palette become 0, 38, 75 and 220. TensorFlow's libpng drops fractions, so
that bicycle and sheep are both 75, bottle and tvmonitor both 52. Pillow's `convert('L')` rounds,
and other classes collide.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.names import VOC_CLASSES, VOID, voc_palette

ClassesByLuminance = Mapping[int, Sequence[int]]
"""The class indices whose colors of VOC's palette have a luminance."""


@dataclasses.dataclass(frozen=True)
class _GrayFormula:
    """How a decoder turns a color into a luminance: 0.299 red + 0.587 green + 0.114 blue.

    The weights are whole numbers, which are divided by a power of two at the end.

    Attributes:
      weights: of red, green and blue.
      bits: the exponent of the power of two.
      rounding: what is added before the fraction is dropped.
    """

    weights: tuple[int, int, int]
    bits: int
    rounding: int

    def luminance(self, color: Sequence[int]) -> int:
        """Returns the luminance of red, green and blue."""
        total = self.rounding
        for weight, value in zip(self.weights, color, strict=True):
            total += weight * value
        return total >> self.bits


# libpng, png_do_rgb_to_gray; Pillow, L24 in Convert.c. A test compares both.
_LIBPNG = _GrayFormula((9798, 19235, 3735), bits=15, rounding=0)
_PILLOW = _GrayFormula((19595, 38470, 7471), bits=16, rounding=1 << 15)


@functools.cache
def luminance_tables() -> tuple[ClassesByLuminance, ClassesByLuminance]:
    """Returns the classes of each luminance, for TensorFlow's decoder and for Pillow's."""
    return _luminance_table(_LIBPNG), _luminance_table(_PILLOW)


def _luminance_table(formula: _GrayFormula) -> ClassesByLuminance:
    table: dict[int, list[int]] = {}
    for index in (*range(len(VOC_CLASSES)), VOID):
        luminance = formula.luminance(voc_palette()[index].tolist())
        table.setdefault(luminance, []).append(index)
    return table


def are_luminances(values: Collection[int]) -> bool:
    """Returns whether the values of a set of masks can only be luminances of VOC's palette."""
    may_be_classes = all(value < len(VOC_CLASSES) or value == VOID for value in values)
    return not may_be_classes and bool(_fitting_tables(values))


def find_classes(values: Mapping[int, str]) -> dict[int, int]:
    """Returns the class index of each luminance of a set of masks.

    Args:
      values: all values of the masks, of which `are_luminances` is true, each with a record that
        has it, for errors.

    Raises:
      MaskError: if a luminance may be one of two classes, also of one in each decoder's table.
    """
    classes_by_luminance = {value: _possible_classes(value, values) for value in sorted(values)}
    for value, classes in classes_by_luminance.items():
        if len(classes) > 1:
            names = " or ".join(VOC_CLASSES[index] for index in classes)
            rows = _rows_to_complete(classes_by_luminance)
            raise MaskError(
                values[value],
                found=f"value {value}, which may be {names}",
                expected="luminances that belong to one class each",
                remedy="build from the original palette masks; or, if you know which decoder made "
                f"the values, name the class of each with --classes {rows}",
            )
    return {value: classes[0] for value, classes in classes_by_luminance.items()}


def _rows_to_complete(classes_by_luminance: Mapping[int, Sequence[int]]) -> str:
    """Returns rows of a table of classes, with NAME for a luminance of several classes."""
    rows = []
    for value, classes in classes_by_luminance.items():
        name = "NAME"
        if len(classes) == 1:
            name = "void" if classes[0] == VOID else VOC_CLASSES[classes[0]]
        rows.append(f"{value}={name}")
    return ",".join(rows)


def _possible_classes(value: int, values: Collection[int]) -> list[int]:
    """Returns the classes that a luminance may be, by every decoder that may have made `values`.

    Example: 75 beside 0 and 220 is bicycle or sheep of TensorFlow's, or bicycle of Pillow's.
    """
    tables = _fitting_tables(values)
    return sorted({index for table in tables for index in table[value]})


def _fitting_tables(values: Collection[int]) -> list[ClassesByLuminance]:
    """Returns the tables that have all of the values."""
    return [table for table in luminance_tables() if all(value in table for value in values)]
