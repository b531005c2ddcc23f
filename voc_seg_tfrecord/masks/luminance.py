"""Masks that hold luminances where class indices should be, because a palette was lost."""

from collections.abc import Collection
import functools

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID, voc_palette

# Weights of red, green and blue, 0.299, 0.587 and 0.114 as fractions of a power of two; the
# power; and what is added before the fraction is dropped.
_LIBPNG = ((9798, 19235, 3735), 15, 0)
_PILLOW = ((19595, 38470, 7471), 16, 1 << 15)


@functools.cache
def tables() -> tuple[dict[int, tuple[int, ...]], ...]:
    """Returns the classes of each luminance, for TensorFlow's decoder and for Pillow's.

    0, 1, 2 and 255 of VOC's palette become 0, 38, 75 and 220. TensorFlow's libpng drops
    fractions, so that bicycle and sheep are both 75, bottle and tvmonitor both 52; Pillow's
    `convert('L')` rounds, and other classes collide.

    References:
      libpng, png_do_rgb_to_gray; Pillow, L24 in Convert.c. A test compares both.
    """
    both = []
    for weights, bits, rounding in (_LIBPNG, _PILLOW):
        table: dict[int, list[int]] = {}
        for index in (*range(len(VOC_CLASSES)), VOID):
            color = voc_palette()[index].tolist()
            grey = sum(w * c for w, c in zip(weights, color, strict=True)) + rounding >> bits
            table.setdefault(grey, []).append(index)
        both.append({grey: tuple(indices) for grey, indices in table.items()})
    return tuple(both)


def looks_ruined(values: Collection[int]) -> bool:
    """Tells whether mask values can only be luminances of VOC's palette.

    Args:
      values: all values that occur in a set of masks.
    """
    classes = range(len(VOC_CLASSES))
    beyond = [v for v in values if v not in classes and v != VOID]
    return bool(beyond) and any(set(values) <= set(table) for table in tables())


def repair(values: Collection[int], where: object) -> dict[int, int]:
    """Returns the class index of each luminance, if no two classes share one.

    Args:
      values: all luminances that occur in a set of masks.
      where: the set, for the error.

    Raises:
      MaskError: if a luminance may be either of two classes.
    """
    fits = [table for table in tables() if set(values) <= set(table)]
    for table in fits:
        if all(len(table[value]) == 1 for value in values):
            return {value: table[value][0] for value in values}
    table = fits[0]
    shared = next(value for value in sorted(values) if len(table[value]) > 1)
    names = " or ".join(VOC_CLASSES[index] for index in table[shared])
    raise MaskError(
        where,
        found=f"value {shared}, which may be {names}",
        expected="luminances that belong to one class each",
        remedy="build from the original palette masks",
    )


def ruined_error(values: Collection[int], where: object) -> MaskError:
    """Returns the error that explains ruined masks."""
    shown = ", ".join(map(str, sorted(values)[:8]))
    return MaskError(
        where,
        found=f"luminances of VOC's palette ({shown}) where class indices should be",
        expected="0 to 20, or 255. Palette masks were decoded as grey here: 0, 1, 2, 255 became "
        "0, 38, 75, 220. Bicycle and sheep became the same value, and so did bottle and tvmonitor",
        remedy="build from the original palette masks. --repair maps the values back if no value "
        "belongs to two classes",
    )
