"""What 255 means where there are two classes: void, or the second class.

Programs write a mask of two classes as black and white. In such masks 255 is the second class, and
as void it would leave this class without pixels.
"""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.sources.arrays import can_be_read_twice

_OTHER_VALUE = 1
"""Stands for all values but 0 and 255."""


@dataclasses.dataclass(frozen=True, eq=False)
class MasksOfTwoClasses:
    """Masks whose value 255 has a meaning.

    Attributes:
      masks: integers `[H, W]` or `[H, W, 1]` each; 255 is void.
      was_255_second_class: whether 255 was the second class before, and is 1 now.
    """

    masks: Iterable[np.ndarray]
    was_255_second_class: bool = False


def read_255_as_second_class(
    masks: Iterable[np.ndarray], class_names: Sequence[str]
) -> MasksOfTwoClasses:
    """Finds out what 255 means in masks of two classes.

    | values in all masks | a list or an array | an iterator |
    | --- | --- | --- |
    | 0 and 255 | 255 becomes 1 | an error after the last mask |
    | 255 | an error | an error after the last mask |
    | others | 255 is void | 255 is void |

    Of an iterator the first masks are written when the last one is read.

    Args:
      masks: integers `[H, W]` or `[H, W, 1]` each.
      class_names: the two classes.

    Raises:
      MaskError: if the masks hold nothing but 255; or, when the last mask of an iterator is read,
        if they hold no value but 0 and 255.
    """
    if not can_be_read_twice(masks):
        return MasksOfTwoClasses(_check_that_255_is_void(masks))
    values: set[int] = set()
    for mask in masks:
        values |= _list_values(mask)
        if _OTHER_VALUE in values:
            return MasksOfTwoClasses(masks)
    if values == {VOID}:
        raise only_255_error("from_arrays, masks", class_names)
    if values == {0, VOID}:
        return MasksOfTwoClasses(map(_make_255_the_second_class, masks), was_255_second_class=True)
    return MasksOfTwoClasses(masks)


def only_255_error(where: str, class_names: Sequence[str]) -> MaskError:
    """Returns the error about masks of two classes that hold nothing but 255."""
    return MaskError(
        where,
        found=f"only the value {VOID}, of two classes",
        expected="masks that tell whether it is void or the second class",
        remedy=f"make it 1 if it is {class_names[1]}, or leave out what is all void",
    )


def _make_255_the_second_class(mask: np.ndarray) -> np.ndarray:
    """Returns a mask of 0 and 255 as uint8 0 and 1; masked pixels stay masked."""
    return (np.asanyarray(mask) == VOID).astype(np.uint8)


def _check_that_255_is_void(masks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yields the masks of an iterator; raises at the end if 255 may be the second class."""
    values: set[int] = set()
    for mask in masks:
        if _OTHER_VALUE not in values:
            values |= _list_values(mask)
        yield mask
    if VOID in values and _OTHER_VALUE not in values:
        raise MaskError(
            "from_arrays, masks",
            found=f"only the values 0 and {VOID}, of two classes, in masks from an iterator",
            expected=f"{VOID} as void beside both classes",
            remedy=f"give the masks as a list or an array, in which {VOID} is the second class "
            "then, or make it 1 yourself",
        )


def _list_values(mask: np.ndarray) -> set[int]:
    """Returns which of 0, 255 and `_OTHER_VALUE` a mask has; masked pixels do not count."""
    array = np.ma.compressed(mask) if np.ma.is_masked(mask) else np.asarray(mask)
    if array.dtype.kind not in "iu":
        return {_OTHER_VALUE}
    is_void = array == VOID
    is_zero = array == 0
    values = set[int]()
    if is_zero.any():
        values.add(0)
    if is_void.any():
        values.add(VOID)
    if not (is_void | is_zero).all():
        values.add(_OTHER_VALUE)
    return values
