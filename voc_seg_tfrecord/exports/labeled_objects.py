"""Splits a mask into what tools of objects call annotations: the pixels of one class and object."""

from collections.abc import Iterator
import dataclasses

import numpy as np

from voc_seg_tfrecord.core.names import VOID

_VALUES = 256


@dataclasses.dataclass(frozen=True, eq=False)
class LabeledObject:
    """The pixels of one object, or all pixels of a class in an image without instance masks.

    Attributes:
      class_index: the class in the dataset.
      top: the first row.
      left: the first column.
      is_inside: its pixels, bool `[h, w]`, from the first row and column on.
    """

    class_index: int
    top: int
    left: int
    is_inside: np.ndarray


def split_by_object(
    mask: np.ndarray, instance_mask: np.ndarray | None, background: int | None
) -> Iterator[LabeledObject]:
    """Yields what an image shows, by class, then by the number of the object.

    Each pixel of a class is in exactly one object. Pixels of a class that are in no object of the
    instance mask are one of their own.

    Args:
      mask: class indices, uint8 `[H, W]`; pixels of `VOID` are in no object.
      instance_mask: the number of each pixel's object, uint8 `[H, W]`, if the dataset has it.
      background: the class whose pixels are in no object; None if there is none.
    """
    keys = mask.astype(np.uint16) * _VALUES
    if instance_mask is not None:
        keys += instance_mask
    for key in np.unique(keys).tolist():
        class_index = key // _VALUES
        if class_index in (background, VOID):
            continue
        is_inside = keys == key
        rows = np.flatnonzero(is_inside.any(axis=1))
        columns = np.flatnonzero(is_inside.any(axis=0))
        top, left = int(rows[0]), int(columns[0])
        box = is_inside[top : rows[-1] + 1, left : columns[-1] + 1]
        yield LabeledObject(class_index, top, left, box)
