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


@dataclasses.dataclass(frozen=True)
class _ValuesInUse:
    """Which values masks have: 0, 255, and any other one."""

    has_zero: bool = False
    has_void: bool = False
    has_other: bool = False

    def __or__(self, values: "_ValuesInUse") -> "_ValuesInUse":
        return _ValuesInUse(
            self.has_zero or values.has_zero,
            self.has_void or values.has_void,
            self.has_other or values.has_other,
        )


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

    With an iterator, the first masks are already written when the error is raised.

    Args:
      masks: integers `[H, W]` or `[H, W, 1]` each.
      class_names: the two classes.

    Raises:
      MaskError: if the masks hold nothing but 255; or, when the last mask of an iterator is read,
        if they hold no value but 0 and 255.
    """
    if not can_be_read_twice(masks):
        return MasksOfTwoClasses(_check_that_255_is_void(masks))
    values = _ValuesInUse()
    for mask in masks:
        values |= _find_values(mask)
        if values.has_other:
            return MasksOfTwoClasses(masks)
    if not values.has_void:
        return MasksOfTwoClasses(masks)
    if not values.has_zero:
        raise only_255_error("from_arrays, masks", class_names)
    return MasksOfTwoClasses(map(_make_255_the_second_class, masks), was_255_second_class=True)


def only_255_error(where: str, class_names: Sequence[str]) -> MaskError:
    """Returns the error about masks of two classes that hold nothing but 255."""
    return MaskError(
        where,
        found=f"masks of two classes with the value {VOID} alone, which may be void or "
        f"{class_names[1]}",
        expected="masks that also have the value 0 or 1",
        remedy=f"if {VOID} is {class_names[1]}, write 1 in its place; if it is void, leave these "
        "masks out",
    )


def _make_255_the_second_class(mask: np.ndarray) -> np.ndarray:
    """Returns a mask of 0 and 255 as uint8 0 and 1; masked pixels stay masked."""
    return (np.asanyarray(mask) == VOID).astype(np.uint8)


def _check_that_255_is_void(masks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yields the masks of an iterator; raises at the end if 255 may be the second class."""
    values = _ValuesInUse()
    for mask in masks:
        if not values.has_other:
            values |= _find_values(mask)
        yield mask
    if values.has_void and not values.has_other:
        found = f"the values 0 and {VOID}" if values.has_zero else f"the value {VOID}"
        raise MaskError(
            "from_arrays, masks",
            found=f"only {found} in masks of two classes from an iterator",
            expected=f"both classes, 0 and 1, if {VOID} is void",
            remedy=f"if {VOID} is the second class, write 1 in its place, or give the masks as a "
            "list or an array",
        )


def _find_values(mask: np.ndarray) -> _ValuesInUse:
    """Returns which values a mask has; masked pixels do not count."""
    array = np.ma.compressed(mask) if np.ma.is_masked(mask) else np.asarray(mask)
    if array.dtype.kind not in "iu":
        return _ValuesInUse(has_other=True)
    is_void = array == VOID
    is_zero = array == 0
    return _ValuesInUse(
        has_zero=bool(is_zero.any()),
        has_void=bool(is_void.any()),
        has_other=not (is_void | is_zero).all(),
    )
