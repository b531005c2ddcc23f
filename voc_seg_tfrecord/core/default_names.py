"""Default names of classes: those of masks whose values say all but the names.

Names are not labels. Where each value stands for one class, the build goes on with names that say
no more than the value, and marks them: later names replace them.
"""

from collections.abc import Collection

from voc_seg_tfrecord.core.names import VOID

MAX_DEFAULT_CLASSES = 64
"""Masks with more values hold something else: object numbers, depths, probabilities."""

BINARY_NAMES = ("background", "foreground")


def name_values(values: Collection[int]) -> tuple[str, ...]:
    """Returns default names for the values of masks; none if the values do not number classes.

    | values | names |
    | --- | --- |
    | 0, 1; with 255 or without it | background, foreground |
    | 0, 255 | background, foreground; 255 is read as the second class |
    | 0 to N, with 255 or without it | class_0 to class_N |
    """
    classes = set(values) - {VOID}
    if classes == {0, 1} or set(values) == {0, VOID}:
        return BINARY_NAMES
    count = len(classes)
    if not 2 < count <= MAX_DEFAULT_CLASSES or classes != set(range(count)):
        return ()
    return tuple(f"class_{value}" for value in range(count))


def are_default_names(names: Collection[str]) -> bool:
    """Says whether names are those that `name_values` gives to as many values."""
    return tuple(names) == name_values(range(len(names)))
